// SPDX-License-Identifier: MIT
// The other forms of code, and the ways of writing the first.
//: layer: lockdown
//: why: every way in which a model writes what it was asked for

//// F001 a function with a name
//: input: [1,2,3]
//: value: 3
function count(data) { return data.length; }

//// F002 an anonymous function
//: input: [1,2,3]
//: value: 6
function (data) { return data.reduce((a, b) => a + b); }

//// F003 an async arrow in brackets, with a semicolon
//: why: the semicolon is taken off by the structural check, which is on by default
//: expect: SYNTAX
//: guard: VALUE
//: input: 5
//: value: 6
(async (x) => { return x + 1; });

//// F004 comments before and after
//: input: 5
//: value: 5
// Returns the input.
/* As it is. */ (x) => x // end

//// F005 destructured input
//: input: {"a":{"b":[1,2]},"c":3}
//: value: [2,3,"d"]
({ a: { b: [, second] }, c, d = "d" }) => [second, c, d]

//// F006 no input
//: value: null
(data) => data

//// F007 execute: helpers and constants beside it
//: form: execute
//: input: {"n":3}
//: value: [0,1,4]
const SQUARE = (x) => x * x;
function helper(n) { return Array.from({ length: n }, (_, i) => SQUARE(i)); }
function execute(input) { return helper(input.n); }

//// F008 execute: async, as a constant
//: form: execute
//: input: 2
//: value: 3
const execute = async (input) => { await null; return input + 1; };

//// F009 execute: a function called run
//: form: execute
//: input: 2
//: value: 4
class Doubler { double(x) { return x * 2; } }
let helper = new Doubler();
function run(input) { return helper.double(input); }

//// F010 body: parameters, environment and bindings
//: form: body
//: bindings: {"params":{"a":2,"b":3},"env":{"KEY":"k"},"user":{"name":"Ann"}}
//: value: [5,"k","Ann"]
const { a, b } = params;
return [a + b, env.KEY, user.name];

//// F011 body: await and early return
//: form: body
//: bindings: {"params":{"ids":[1,2]}}
//: value: [1,2]
if (!params.ids) return null;
const all = await Promise.all(params.ids.map(async (id) => id));
return all;

//// F012 script: the last expression
//: form: script
//: value: 6
const list = [1, 2, 3];
let sum = 0;
for (const x of list) sum += x;
sum

//// F013 script: an object as the last expression
//: form: script
//: value: {"a":1}
const a = 1;
({ a })

//// F014 script: return
//: form: script
//: value: "early"
if (1 < 2) return "early";
"late"

//// F015 script: top-level await and return
//: form: script
//: value: 3
const x = await Promise.resolve(1);
return x + 2;

//// F016 script: variables of every kind
//: form: script
//: value: [1,2,3,4,5]
var v = 1; let l = 2; const c = 3; function f() { return 4; } class K { static s = 5; }
[v, l, c, f(), K.s]

//// F017 script: names that are short
//: form: script
//: value: 45
const a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9;
a + b + c + d + e + f + g + h + i

//// F018 script: input as a global
//: form: script
//: input: [1,2,3]
//: value: 3
input.length

//// F019 script: a function that calls itself
//: form: script
//: value: 120
function fact(n) { return n <= 1 ? 1 : n * fact(n - 1); }
fact(5)

//// F020 script: no value
//: form: script
//: value: undefined
const x = 1;

//// F021 a large literal
//: value: 1000
() => [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24].flatMap((x) => Array.from({ length: 40 }, (_, i) => x * 40 + i)).length

//// F022 strings of every kind of quote
//: value: ["it's","say \"hi\"","back`tick","line\nbreak","\ttab","☃"]
() => ['it\'s', "say \"hi\"", `back\`tick`, `line
break`, "\ttab", "\u2603"]

//// F023 names in other alphabets
//: value: {"größe":1,"名前":2,"été":3}
() => { const größe = 1, 名前 = 2, été = 3; return { größe, 名前, été }; }

//// F024 getters of a module pattern
//: value: [1,2]
() => { const mod = (function () { let n = 0; return { inc() { return ++n; } }; })(); return [mod.inc(), mod.inc()]; }

//// F025 recursion to a depth of 5,000
//: value: 12502500
() => { const sum = (n) => n === 0 ? 0 : n + sum(n - 1); return sum(5000); }

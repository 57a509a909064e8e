// SPDX-License-Identifier: MIT
// Code is put between a prefix and a suffix of ours. It must not end what the prefix
// began and go on outside, nor open what the suffix then closes.
//: layer: parser
//: expect: SYNTAX

//// W001 close and open again
//: why: ends our bracket, runs something, opens another for the suffix
}) ; (function(){

//// W002 close and open again, with round brackets
//: why: as above, fitting the form function exactly
a) ; globalThis.evil = 1; (b

//// W003 two functions in a row
//: why: an expression by itself is not what our brackets hold
(d) => 1); ((d) => 2

//// W004 a comma
//: why: two expressions; the form asks for exactly one function
//: expect: VALUE
//: guard: INVALID_CODE
(d) => 1, (d) => 2

//// W005 a statement after the function
//: why: what runs beside the function is not asked for
//: guard: INVALID_CODE
(d) => 1; globalThis.evil = 1

//// W006 a comment left open
//: why: it would swallow the suffix
(d) => 1 /*

//// W007 the end of a comment
//: why: it would end a comment of the prefix, had it one
*/ (d) => 1 /*

//// W008 a line comment at the end
//: why: it must not swallow the suffix; ordinary code ends so
//: expect: VALUE
//: value: 1
(d) => 1 // the end

//// W009 a template left open
//: why: it would swallow the suffix
(d) => `

//// W010 a template expression left open
//: why: as above
(d) => `${

//// W011 a regular expression left open
//: why: as above
(d) => /[

//// W012 a string left open
//: why: as above
(d) => "

//// W013 brackets inside a regular expression are no brackets
//: why: counting them by hand would be wrong
//: expect: VALUE
//: value: [")","]"]
(d) => [/[)]/.exec("a)")[0], /[\]]/.exec("]")[0]]

//// W014 brackets inside a template
//: why: as above
//: expect: VALUE
//: value: ")}) ; (function(){ 3"
(d) => `)}) ; (function(){ ${`${1 + 2}`}`

//// W015 HTML comment
//: why: <!-- begins a comment in scripts; the suffix must be on a line of its own
//: expect: VALUE
//: value: 1
(d) => 1 <!-- the end

//// W016 the end of an HTML comment
//: why: --> at the beginning of a line is a comment too
//: expect: VALUE
//: value: 1
(d) => 1
--> nothing

//// W017 hashbang
//: why: a comment where the code begins, as in a file: the engine gets it blanked
//: expect: VALUE
//: value: 1
#!/usr/bin/env node
(d) => 1

//// W018 line separator ends a line comment
//: why: U+2028 ends a line for JavaScript and for nobody else: what follows is code
//: bytes: on
//: expect: VALUE
//: value: 3
(d) => 1 // comment {{e2 80 a8}} + 2

//// W019 paragraph separator
//: why: as above
//: bytes: on
//: expect: VALUE
//: value: 3
(d) => 1 // comment {{e2 80 a9}} + 2

//// W020 line separator inside a string
//: why: legal there, and no line end
//: bytes: on
//: expect: VALUE
//: value: 3
(d) => "a{{e2 80 a8}}b".length

//// W021 carriage return ends a line comment
//: why: code that reads as a comment in an editor
//: bytes: on
//: expect: VALUE
//: value: 3
(d) => 1 // comment {{0d}} + 2

//// W022 bidirectional controls
//: why: text that reads otherwise than it runs; runs as it is written
//: bytes: on
//: expect: VALUE
//: value: 5
(d) => "user{{e2 80 ae}}".length

//// W023 NUL in the code
//: why: the text must not end there
//: bytes: on
//: guard: INVALID_CODE
(d) => 1 {{00}} ; evil()

//// W024 NUL in a string
//: why: legal there, and what follows counts
//: bytes: on
//: expect: VALUE
//: value: 3
(d) => "a{{00}}b".length

//// W025 invalid UTF-8
//: why: refused, not repaired in silence
//: bytes: on
//: guard: INVALID_CODE
//: error: UTF-8
(d) => "{{ff fe}}".length

//// W026 overlong and surrogate bytes
//: why: as above
//: bytes: on
//: guard: INVALID_CODE
(d) => "{{c0 af ed a0 80}}".length

//// W027 byte order mark
//: why: an editor's mark before the code is white space
//: bytes: on
//: expect: VALUE
//: value: 1
{{ef bb bf}}(d) => 1

//// W028 UTF-16
//: why: binary for us
//: bytes: on
//: guard: INVALID_CODE
{{ff fe 28 00 64 00 29 00}}

//// W029 nothing at all
//: why: one clear error
//: guard: INVALID_CODE
/* nothing */

//// W030 only a comment
//: why: as above
//: guard: INVALID_CODE
// (d) => 1

//// W031 spread in our brackets
//: why: legal in a list and in a call, in round brackets not
...[(d) => 1]

//// W032 empty arrow parameters
//: why: () alone is legal before an arrow only
()

//// W033 an arrow across the suffix
//: why: what the suffix closes must not become a parameter list
a, b) => (c

//// W034 async across the prefix
//: why: as above
) => async (x

//// W035 optional chain and assignment across the prefix
//: why: the prefix must not be a left side
) = (1

//// W036 not a function
//: why: the value of the expression is looked at, not believed
//: expect: INVALID_CODE
42

//// W037 an object that calls itself a function
//: why: as above
//: expect: INVALID_CODE
({ call() {}, apply() {}, [Symbol.toStringTag]: "Function" })

//// W038 a class
//: why: it is a function, and throws when it is called without new
//: expect: RUNTIME
//: guard: INVALID_CODE
class { constructor() { return { a: 1 }; } }

//// W039 a proxy of a function
//: why: callable; the apply trap runs as any code of the call
//: expect: VALUE
//: guard: INVALID_CODE
//: value: "trap"
new Proxy(() => 1, { apply: () => "trap" })

//// W040 a bound function
//: why: its name and length are not ours to trust
//: expect: VALUE
//: guard: INVALID_CODE
//: value: 2
((a) => a).bind(null, 2)

//// W041 a function whose call and apply are replaced
//: why: we must not look them up on it
//: expect: VALUE
//: guard: INVALID_CODE
//: value: 7
Object.assign(() => 7, { call: () => "stolen", apply: () => "stolen" })

//// W042 a generator function
//: why: called, it gives an iterator, which is no JSON
//: expect: RUNTIME
//: guard: INVALID_CODE
//: error: Iterator
function* () { yield 1; }

//// W043 new.target at the top
//: why: our wrapper is no constructor
//: guard: INVALID_CODE
new.target

//// W044 super at the top
//: why: there is no home object
() => super.x

//// W045 break out of the wrapper
//: why: a label of ours, if there was one, must not be reachable
(d) => { break outer; }

//// W046 continue out of a callback
//: why: labels end at functions
(d) => { outer: for (;;) { [1].forEach(() => { continue outer; }); } }

//// W047 return in the form function
//: why: the code is an expression
//: guard: INVALID_CODE
return 1

//// W048 labelled block
//: why: ordinary and harmless
//: expect: VALUE
//: value: 1
(d) => { a: { b: { break a; } return 0; } return 1; }

//// W049 body: close and open again
//: why: the classic injection into a function's body
//: form: body
} ; globalThis.evil = 1; {

//// W050 body: end the function and start another
//: why: as above
//: form: body
return 1 }), (async function () { return 2

//// W051 body: comment around the end
//: why: as above
//: form: body
return 1; } /*

//// W052 body: line comment at the end
//: why: ordinary
//: form: body
//: expect: VALUE
//: value: 1
return 1 // the end

//// W053 body: HTML comment at the end
//: why: the suffix is on a line of its own
//: form: body
//: expect: VALUE
//: value: 1
return 1 <!-- the end

//// W054 body: brackets that fit by accident
//: why: every prefix of the code must be inside the function
//: form: body
if (true) { } } if (true) { return 2;

//// W055 body: a directive that is not ours
//: why: strict mode is ours and cannot be given back
//: form: body
//: expect: VALUE
//: value: true
"use sloppy"; return (function () { return this === undefined; })();

//// W056 body: redeclared parameters
//: why: params and env are names the code may shadow
//: form: body
//: expect: VALUE
var params = 1; { let env = 2; } return params;

//// W057 body: names of bindings that would be code
//: why: a binding's name is put into the parameter list
//: form: body
//: bindings: {"a){}; globalThis.evil=1; (function(b":1}
//: expect: INVALID_CODE
return 1

//// W058 body: a default value in a binding's name
//: why: as above
//: form: body
//: bindings: {"a=globalThis.evil=1":1}
//: expect: INVALID_CODE
return 1

//// W059 body: destructuring in a binding's name
//: why: as above
//: form: body
//: bindings: {"{constructor}":1}
//: expect: INVALID_CODE
return 1

//// W060 body: a comment in a binding's name
//: why: /* in one name and */ in another would take out what is between
//: form: body
//: bindings: {"a/*":1,"*/b":2}
//: expect: INVALID_CODE
return 1

//// W061 body: reserved words as bindings
//: why: each would change what the parameter list means
//: form: body
//: bindings: {"arguments":1}
//: expect: INVALID_CODE
return 1

//// W062 body: eval as a binding
//: why: as above
//: form: body
//: bindings: {"eval":1}
//: expect: INVALID_CODE
return 1

//// W063 body: await as a binding
//: why: as above
//: form: body
//: bindings: {"await":1}
//: expect: INVALID_CODE
return 1

//// W064 body: line separators in a binding's name
//: why: no identifier
//: form: body
//: bindings: {"a\u2028b":1}
//: expect: INVALID_CODE
return 1

//// W065 body: unicode names are names
//: why: ordinary in other languages
//: form: body
//: bindings: {"größe":2,"名":3,"$":4,"_":5}
//: expect: VALUE
//: value: 14
return größe + 名 + $ + _

//// W066 body: a binding called __proto__
//: why: a key of the object, not its prototype
//: form: body
//: bindings: {"__proto__":{"admin":1}}
//: expect: VALUE
return [typeof params?.admin, typeof ({}).admin]

//// W067 body: bindings that shadow what our code needs
//: why: the realm's scripts must not be in the scope of the call
//: form: body
//: bindings: {"JSON":1,"Object":2,"Promise":3,"undefined":4,"globalThis":5,"Array":6}
//: expect: VALUE
return [JSON, Object, Promise]

//// W068 script: close and open again
//: why: with await the code is the body of an async function
//: form: script
await 0; } ); globalThis.evil = 1; (async function () {

//// W069 script: end a block that is not open
//: why: plain scripts are evaluated as they are
//: form: script
}

//// W070 script: return and a comment
//: why: the suffix is on a line of its own
//: form: script
//: expect: VALUE
//: value: 1
return 1 // the end

//// W071 script: the words await and return in texts
//: why: they must not change how the code is read
//: form: script
//: expect: VALUE
//: value: ["await","return 1"]
["await", "return 1"]

//// W072 execute: code beside the function
//: why: declarations run in the call, before the function, under the same deadline
//: form: execute
//: layer: deadline
//: timeout: 150
//: expect: TIMEOUT
for (;;); function execute() { return 1; }

//// W073 execute: a getter called execute
//: why: looking for the function runs it, in the call
//: form: execute
//: expect: VALUE
//: guard: INVALID_CODE
Object.defineProperty(globalThis, "execute", { get() { return () => "from a getter"; } });

//// W074 execute: an exception beside the function
//: why: one clear error, not a missing function
//: form: execute
//: expect: RUNTIME
//: error: beside
throw new Error("beside"); function execute() { return 1; }

//// W075 execute: the suffix that is not there
//: why: an open brace has nothing to close it
//: form: execute
function execute(input) { return 1;

//// W076 60,000 open brackets
//: why: parsers recurse; this is no crash, and quick
//: bytes: on
{{28 x 60000}}

//// W077 30,000 nested arrays
//: why: as above, complete
//: bytes: on
() => {{5b x 30000 5d x 30000}}.length

//// W078 60,000 exclamation marks
//: why: unary operators nest without brackets; the engine calls it memory
//: bytes: on
//: expect: SYNTAX MEMORY
//: guard: SYNTAX MEMORY INVALID_CODE
() => {{21 x 60000}}1

//// W079 20,000 nested blocks
//: why: as above, statements
//: bytes: on
() => { {{7b x 20000 7d x 20000}} }

//// W080 60,000 plus signs
//: why: a long chain, not a deep one
//: bytes: on
() => 1{{2b x 60000}}

//// W081 unicode escape in a keyword
//: why: an escaped keyword is no keyword
(d) => { v\u0061r x = 1; \u0066or (;;); }

//// W082 unicode escape in an identifier
//: why: the same name as without
//: expect: VALUE
//: value: 3
(\u0064ata) => { const \u{61} = 3; return a; }

//// W083 zero-width characters in names
//: why: two names that look alike are two names
//: bytes: on
//: expect: RUNTIME
() => ev{{e2 80 8d}}al("1")

//// W084 code one byte past its limit
//: why: refused before anything is parsed
//: bytes: on
//: expect: INVALID_CODE
() => 1 {{20 x 65540}}/* end */

// SPDX-License-Identifier: MIT
// Memory and stack. What the kernel refuses ends the call alone; more bombs, with their
// peaks, are in the folder beside this one.
//: form: script
//: layer: memory
//: expect: MEMORY

//// A101 string doubling
//: why: the engine's own error for a string too long is memory, caught or not
let s="x";for(;;)s+=s

//// A102 repeat then flatten
//: why: a rope of nothing becomes a billion of everything
//: expect: MEMORY TIMEOUT
let s="x".repeat(2**30);s.split("").length

//// A103 one huge buffer
//: why: a single allocation past the limit
//: memory: 32
new ArrayBuffer(2 ** 31).byteLength

//// A104 one huge array
//: why: as above
//: memory: 32
Array(1e9).fill(0).length

//// A105 object flood
//: why: cells end in a signal, which the parent must still call MEMORY
//: memory: 32
let a=[];for(;;)a.push({a:1,b:[1,2]})

//// A106 typed array flood
//: why: an exception, not a signal
//: memory: 32
let a=[];for(;;)a.push(new Uint8Array(2**20).fill(1))

//// A107 out of memory caught and retried
//: why: no swap storm, and an end
//: timeout: 300
//: expect: TIMEOUT MEMORY
for(;;)try{let a=[];for(;;)a.push(new ArrayBuffer(2**24))}catch{}

//// A110 closure and code flood
//: why: functions from text are refused, so it is the refusal that is told
//: layer: realm
//: expect: RUNTIME
//: guard: INVALID_CODE
//: error: EvalError
let a=[];for(let i=0;;i++)a.push(new Function("return "+i))

//// A111 Map flood
//: why: hash tables double
//: memory: 32
let m=new Map;for(let i=0;;i++)m.set(i,[i])

//// A112 Intl object flood
//: why: a library's memory is counted too
//: timeout: 300
//: expect: MEMORY TIMEOUT
let a=[];for(let i=0;;i++)a.push(new Intl.NumberFormat("en",{minimumFractionDigits:i%20}))

//// A115 recursion at the stack edge
//: why: native code entered at the very edge must not crash
//: layer: realm
//: expect: VALUE
//: value: 1
function f(){try{f()}catch(e){try{JSON.stringify([[[]]])}catch(x){}}}f();1

//// A115b the stack edge, with regular expressions, sort and getters
//: why: as above, other native code
//: layer: realm
//: expect: VALUE
//: value: 1
const tries = [() => /(a|b)*c/.test("abab"), () => [3, 1, 2].sort((x, y) => x - y), () => ({ get a() { return 1; } }).a,
  () => JSON.parse("[[1]]"), () => new Intl.NumberFormat("en").format(1), () => `${new Date(0)}`, () => 2n ** 64n, () => new Proxy({}, {}).x,
  () => console.log("%o", { a: 1 }), () => Promise.resolve(1).then(() => 1), () => [..."abc"].join(), () => new Error("x").stack];
let left = 60;
function f() { try { f(); } catch { if (left-- > 0) for (const t of tries) { try { t(); } catch {} } throw 1; } }
try { f(); } catch {}
1

//// A116 proxy chain
//: why: a million proxies in each other
//: layer: realm
//: expect: RUNTIME MEMORY
let p={};for(let i=0;i<1e6;i++)p=new Proxy(p,{});p.x

//// A117 bound function chain
//: why: a million bindings
//: layer: realm
//: expect: VALUE RUNTIME TIMEOUT MEMORY
let f=()=>1;for(let i=0;i<1e6;i++)f=f.bind(null);f()

//// A118 prototype chain
//: why: a hundred thousand objects up
//: layer: realm
//: timeout: 2000
//: expect: VALUE RUNTIME TIMEOUT
let o = {}; for (let i = 0; i < 1e5; i++) o = Object.create(o); typeof o.x

//// A119 getter chain
//: why: as above, with code in each
//: layer: realm
//: expect: RUNTIME MEMORY
let o = {}; for (let i = 0; i < 1e5; i++) { const p = o; o = { get x() { return p.x; } }; } o.x

//// A120 long expression
//: why: the parser's and generator's recursion; here refused since it is code from text
//: layer: realm
//: expect: RUNTIME
//: guard: INVALID_CODE
//: error: EvalError
new Function("return "+"1+".repeat(2e6)+"1")()

//// A121 flat(Infinity) on deep
//: why: native recursion
//: layer: realm
//: expect: RUNTIME
//: error: RangeError
let a=[];for(let i=0;i<1e6;i++)a=[a];a.flat(Infinity).length

//// A123 toString of a deep array
//: why: join recurses
//: layer: realm
//: expect: RUNTIME
let a = []; for (let i = 0; i < 1e5; i++) a = [a]; String(a).length

//// A123b JSON.parse of a deep text
//: why: the parser must have a stack of its own, or a limit
//: layer: realm
//: expect: VALUE RUNTIME MEMORY
Array.isArray(JSON.parse("[".repeat(1e6) + "]".repeat(1e6)))

//// A123c regular expression with deep groups
//: why: the pattern's parser recurses; the engine calls it memory
//: layer: realm
new RegExp("(".repeat(5e4) + ")".repeat(5e4)).test("x")

//// A123d input nested deeply
//: why: the input is parsed in the worker, before the code runs
//: form: function
//: layer: realm
//: input: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
//: expect: VALUE
//: value: "1"
(d) => String(d)

//// A123e mutual recursion with async functions
//: why: each await returns; promises pile up instead of frames
//: timeout: 1000
//: expect: MEMORY TIMEOUT
async function f() { const all = []; for (;;) { all.push(f2()); await 0; } }
async function f2() { return new Array(1000).fill(0); }
f()

//// A123f infinite recursion
//: why: the stack has an end, told as the language tells it
//: layer: realm
//: expect: RUNTIME
//: error: RangeError
(function f() { return 1 + f(); })()

//// A123g infinite recursion in tail position
//: why: proper tail calls would make an endless loop of it
//: layer: realm
//: expect: RUNTIME
//: error: RangeError
(function f() { return f(); })()

//// A123h infinite recursion through toString
//: why: native frames between ours
//: layer: realm
//: expect: RUNTIME
//: error: RangeError
const o = { toString() { return `${this}`; } }; `${o}`

//// A123i infinite recursion through a getter, a proxy and valueOf
//: why: as above
//: layer: realm
//: expect: RUNTIME
//: error: RangeError
const o = { get a() { return p.a; }, valueOf() { return +o; } }; const p = new Proxy(o, {}); o.a + o

//// A123j infinite recursion through class construction
//: why: as above
//: layer: realm
//: expect: RUNTIME
//: error: RangeError
class A { constructor() { this.a = new A(); } } new A()

//// A123k infinite recursion through JSON
//: why: as above
//: layer: realm
//: expect: RUNTIME
//: error: RangeError
const o = { toJSON() { return JSON.stringify(o); } }; JSON.stringify(o)

//// A123l infinite recursion through sort, replace and Array.from
//: why: as above
//: layer: realm
//: expect: RUNTIME
//: error: RangeError
const f = () => { "a".replace(/a/, f); [2, 1].sort(f); Array.from([1], f); return 0; }; f()

//// A125 timer flood
//: why: a cap on timers, with an error that names it
//: layer: realm
//: expect: RUNTIME
typeof setTimeout=="function"?(()=>{for(let i=0;i<1e6;i++)setTimeout(()=>{},0)})():0

//// A126 host-call flood
//: why: functions of the host have a budget; there are none here
//: layer: realm
//: expect: VALUE
//: value: 0
typeof tools=="object"?(async()=>{for(;;)await tools.echo({})})():0

//// R001 console flood
//: why: text is capped, and the cap is marked
//: layer: broker
//: expect: VALUE TIMEOUT
//: log: "logsTruncated":true
//: log-bytes: 10000
//: timeout: 2000
for (let i = 0; i < 1e4; i++) console.log("line " + i + "x".repeat(100)); 1

//// R002 console flood of empty lines
//: why: a line costs something even if it is empty
//: layer: broker
//: log-bytes: 10000
//: timeout: 2000
//: expect: VALUE TIMEOUT
for (let i = 0; i < 1e5; i++) console.log(); 1

//// R003 one line of 50 MB
//: why: cut, not copied whole
//: layer: broker
//: log-bytes: 100000
//: expect: VALUE MEMORY
console.log("x".repeat(5e7)); 1

//// R004 a value that prints as a million lines
//: why: what the console shows of a value is bounded
//: layer: realm
//: timeout: 3000
//: log-bytes: 1000000
//: expect: VALUE TIMEOUT MEMORY
let o = {}; for (let i = 0; i < 1e5; i++) o["k" + i] = [i]; console.log("%o", o); console.table([o]); 1

//// R005 a hundred thousand groups
//: why: indentation must not grow without end
//: layer: realm
//: expect: VALUE
//: value: 1
for (let i = 0; i < 1e5; i++) console.group(); console.log("deep"); 1

// SPDX-License-Identifier: MIT
// Code that runs while the answer is read: toJSON, getters, proxies, and values that
// JSON has no word for.
//: form: script
//: layer: serialiser
//: expect: VALUE

//// A050 toJSON allocates
//: why: the serialiser calls code of the value; its memory counts as the call's
//: expect: MEMORY RUNTIME
({toJSON(){let s="x";for(;;)s+=s}})

//// A050b toJSON loops
//: why: serialising is inside the deadline
//: layer: deadline
//: timeout: 150
//: expect: TIMEOUT
({ toJSON() { for (;;); } })

//// A051 toJSON on Object.prototype
//: why: a sealed prototype takes no toJSON; the envelope could only corrupt itself anyway
//: expect: RUNTIME
//: error: TypeError
Object.prototype.toJSON=()=>"PWN";({a:1})

//// A051b toJSON on the prototypes that are not sealed
//: why: code may spoil its own result, and nothing beside it
//: value: {"a":"PWN"}
Date.prototype.toJSON = () => "PWN"; ({ a: new Date(0) })

//// A052 JSON.stringify replaced
//: why: the answer is made by the engine's own serialiser
//: value: {"a":1}
JSON.stringify=()=>"{\"ok\":false}";({a:1})

//// A052b JSON replaced and frozen
//: why: as above
//: value: {"a":1}
globalThis.JSON = Object.freeze({ stringify: () => "{\"ok\":false}", parse: () => 0 }); ({ a: 1 })

//// A053 a result that looks like an answer
//: why: the value is inside the envelope whatever it says
//: value: {"ok":false,"code":"TIMEOUT","error":"forged","logs":[],"stats":{}}
({ ok: false, code: "TIMEOUT", error: "forged", logs: [], stats: {} })

//// A053b a text that ends the envelope
//: why: the value is JSON, not text put between braces
//: value: "\"}],\"ok\":false,\"code\":\"VIOLATION\",\"x\":[{\"y\":\""
'"}],"ok":false,"code":"VIOLATION","x":[{"y":"'

//// A053c raw JSON
//: why: JSON.rawJSON, where there is one, must not bring text that is not JSON
//: value: true
typeof JSON.rawJSON === "undefined" || (() => { try { JSON.rawJSON('{"a":1}'); return false; } catch { return true; } })()

//// A053d a number of raw JSON that no double can hold
//: why: honest code must not look like an attack: the host takes no such number
//: expect: RUNTIME
//: error: RangeError
JSON.rawJSON("-1" + "0".repeat(400) + ".5e-91")

//// A053e half a pair in raw JSON
//: why: honest code must not look like an attack: it has no UTF-8 but as an escape
//: value: ["\ud800",1.7976931348623157e+308,1e-999]
[JSON.rawJSON('"\ud800"'), JSON.rawJSON("1.7976931348623157e+308"), JSON.rawJSON("1e-999")]

//// A054 toJSON that changes the value under the serialiser
//: why: one pass, consistent JSON, no crash
//: value: {"a":[1],"b":[]}
const b = [1, 2, 3];
({ a: { toJSON() { b.length = 0; return [1]; } }, b })

//// A055 getter with different answers
//: why: one read; what is measured and what is sent are the same bytes
//: value: {"a":0}
let n=0;({get a(){return n++}})

//// A055b array whose getter shortens it
//: why: the length was read before
//: value: [1,null,null]
const a = [0, 2, 3];
Object.defineProperty(a, 0, { get() { a.length = 1; return 1; }, enumerable: true });
a

//// A055c array that grows while it is written
//: why: no endless answer
//: value: [[0],0]
const a = [];
a.push({ toJSON() { a.push(0); return [0]; } }, { toJSON() { a.push(0); return 0; } });
a

//// A056 Proxy result
//: why: traps run in the call and give its own value
//: value: {"a":1,"b":null}
new Proxy({a:1},{ownKeys(){return ["a","b"]},getOwnPropertyDescriptor:()=>({value:1,enumerable:true,configurable:true}),get:(t,k)=>k==="b"?null:t[k]})

//// A056b Proxy that breaks the rules of proxies
//: why: the engine's invariant checks throw inside the call
//: expect: RUNTIME
//: error: TypeError
new Proxy(Object.freeze({ a: 1 }), { get: () => 2 })

//// A056c revoked Proxy
//: why: nothing can be read from it, not even its kind
//: expect: RUNTIME
//: error: TypeError
const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); proxy

//// A056d Proxy as the array of an array
//: why: isArray goes through proxies
//: value: [1,2]
new Proxy([1, 2], {})

//// A056e Proxy whose get trap answers toJSON
//: why: a trap that is a function for every key is a toJSON too
new Proxy({}, { get: (t, k) => k === "then" ? undefined : () => ({ key: String(k) }) })

//// A056f Proxy handed to every trap that throws
//: why: the answer is one error, with its text
//: expect: RUNTIME
//: error: trapped
new Proxy({}, new Proxy({}, { get() { throw new Error("trapped"); } }))

//// A057 Proxy with endless keys
//: why: bounded by the output, the memory or the clock
//: timeout: 600
//: expect: OUTPUT_TOO_LARGE MEMORY TIMEOUT
new Proxy({},{ownKeys(){return Array.from({length:1e7},(_,i)=>"k"+i)},getOwnPropertyDescriptor:()=>({value:1,enumerable:true,configurable:true})})

//// A058 Proxy in a prototype chain
//: why: the search for toJSON goes up the chain, into the trap
//: value: {"own":1}
const o = Object.create(new Proxy({}, { get: (t, k) => { if (k === "toJSON") globalThis.asked = true; return undefined; } }));
o.own = 1; o

//// A060 depth bomb
//: why: a million arrays in each other must not overflow anybody's stack
//: expect: RUNTIME OUTPUT_TOO_LARGE TIMEOUT
let o=[];for(let i=0;i<1e6;i++)o=[o];o

//// A060b depth at the limit of the answer
//: why: what a reader of the answer can bear
//: value: true
let o = []; for (let i = 0; i < 900; i++) o = [o]; JSON.stringify(o).length === 1802

//// A060c depth of objects past the limit
//: why: the answer's nesting is bounded; the code's fault, told as such
//: expect: RUNTIME
let o = {}; for (let i = 0; i < 5000; i++) o = { a: o }; o

//// A060d a list linked by cause, deep and cyclic
//: why: errors are written with their causes
let e = new Error("0"); for (let i = 1; i < 500; i++) e = new Error(String(i), { cause: e }); e

//// A061 wide sparse array
//: why: four billion holes are four billion words of JSON
//: timeout: 300
//: expect: OUTPUT_TOO_LARGE MEMORY TIMEOUT
let a=[];a[4294967294]=1;a

//// A062 length trap on array
//: why: a length of 2^53 is a promise of an endless answer
//: timeout: 300
//: expect: TIMEOUT OUTPUT_TOO_LARGE MEMORY
new Proxy([],{get(t,k){return k==="length"?2**53-1:t[k]}})

//// A063 a string at the output limit
//: why: two quotes and 1,048,574 letters are exactly 1 MiB
//: value: true
const s = "x".repeat(1048574); s.length === 1048574
//: then: the answer itself
"x".repeat(1048574)
//: then: one more byte is one too many
//: expect: OUTPUT_TOO_LARGE
"x".repeat(1048575)

//// A063b the limit counts bytes, not characters
//: why: three bytes each in UTF-8
//: output: 300
//: expect: OUTPUT_TOO_LARGE
"\u20ac".repeat(100)

//// A063c the limit counts escapes
//: why: a control character is six bytes of JSON
//: output: 500
//: expect: OUTPUT_TOO_LARGE
"\u0001".repeat(100)

//// A064 a hundred references to one large string
//: why: small in memory, large as JSON
//: expect: OUTPUT_TOO_LARGE
const s = "x".repeat(1e5); Array(100).fill(s)

//// A064b exponential aliases
//: why: thirty objects that write as a billion
//: timeout: 600
//: expect: OUTPUT_TOO_LARGE MEMORY TIMEOUT
let o = [1]; for (let i = 0; i < 30; i++) o = [o, o]; o

//// A065 BigInt
//: why: no JSON for it; said with its place
//: expect: RUNTIME
//: error: BigInt
10n

//// A065b BigInt deep inside
//: why: the path is named
//: expect: RUNTIME
//: error: result.list[1].id
({ list: [{ id: 1 }, { id: 2n }] })

//// A066 Symbol at top
//: why: one documented outcome
//: expect: RUNTIME
//: error: Symbol
Symbol("x")

//// A066b function as a value
//: why: as above
//: expect: RUNTIME
//: error: Function
(() => Math.max)

//// A066e function at top
//: why: it is called, as the function that was meant
//: value: 1
(() => 1)

//// A066c undefined at top
//: why: a value that JSON has no word for, and no error either
//: value: undefined
undefined

//// A066d functions, symbols and undefined inside
//: why: as JSON.stringify has it
//: value: {"c":[null,null,null]}
({ a: undefined, b: () => 1, c: [undefined, () => 1, Symbol("x")], [Symbol("k")]: 1 })

//// A067 NaN, -0, Infinity
//: why: as JSON.stringify has it
//: value: [null,0,null,null]
[NaN,-0,Infinity,1e400]

//// A068 Map, Set and their like
//: why: nothing is lost in silence
//: expect: RUNTIME
//: error: result.m is a Map
({ m: new Map([[1, 2]]) })

//// A068b a promise inside a result
//: why: as above
//: expect: RUNTIME
//: error: await
({ p: Promise.resolve(1) })

//// A068c a subclass of Map with its own toJSON
//: why: the object's own word counts
//: value: {"m":[[1,2]]}
class M extends Map { toJSON() { return [...this]; } }
({ m: new M([[1, 2]]) })

//// A068d a Map whose kind is hidden
//: why: the kind is the engine's word, not that of a tag or a constructor
//: expect: RUNTIME
//: error: a Map
const m = new Map([[1, 2]]); Object.defineProperty(m, Symbol.toStringTag, { value: "Object" }); m.constructor = Object; ({ m })

//// A068e a Map without its prototype
//: why: then it is an object without properties, and the code made it one
//: value: {"m":{}}
({ m: Object.setPrototypeOf(new Map([[1, 2]]), null) })

//// A069 a cycle
//: why: said with both places
//: expect: RUNTIME
//: error: cycle
const o = { a: [] }; o.a.push({ up: o }); o

//// A069b a cycle through toJSON
//: why: ever new objects: no cycle, endless depth
//: timeout: 600
//: expect: RUNTIME OUTPUT_TOO_LARGE MEMORY TIMEOUT
const next = () => ({ toJSON() { return { next: next() }; } }); next()

//// A070 NUL and control bytes
//: why: escaped, and nothing cut at a NUL
//: value: ["a\u0000b","\u001b[31m"]
["a\u0000b","\u001b[31m"]

//// A071 U+2028 and BOM
//: why: preserved as they are; a line protocol sees no line end in them
//: value: 2
["\u2028\ufeff"][0].length
//: then: and they pass through the answer
//: bytes: on
"{{e2 80 a8 ef bb bf}}"

//// A072 __proto__ key in result
//: why: kept as plain own keys
//: value: {"__proto__":{"x":1},"constructor":{"prototype":{}}}
JSON.parse('{"__proto__":{"x":1},"constructor":{"prototype":{}}}')

//// A073 unpaired surrogates
//: why: escaped in JSON, valid UTF-8 outside
//: value: ["\ud800","\udfff\ud800","ok"]
["\ud800", "\udfff\ud800", "ok"]

//// A073b unpaired surrogates as keys
//: why: as above
//: value: {"\ud800":1}
({ "\ud800": 1 })

//// A074 numbers at the edges
//: why: written so that they read back the same
//: value: [9007199254740992,1.7976931348623157e+308,5e-324,-1e-7,1e+21]
[9007199254740993, Number.MAX_VALUE, Number.MIN_VALUE, -1e-7, 1e21]

//// A075 buffer resized during the read
//: why: no crash, consistent JSON
//: value: {"a":1,"v":[]}
let b=new ArrayBuffer(8,{maxByteLength:64});({get a(){b.resize(0);return 1},v:new Uint8Array(b)})

//// A075b buffer detached during the read
//: why: as above
//: value: {"a":1,"v":[]}
let b = new ArrayBuffer(8); ({ get a() { b.transfer(); return 1; }, v: new Uint8Array(b) })

//// A075c buffer grown during the read
//: why: as above
//: value: {"v":[0,0],"w":1}
let b = new ArrayBuffer(2, { maxByteLength: 64 });
({ v: Object.defineProperty(new Uint8Array(b, 0, 2), "toJSON", { get() { return undefined; } }) && [0, 0], get w() { b.resize(64); return 1; } })

//// A083 unhandled rejection beside a good result
//: why: it kills neither host nor answer, and is told in the log
//: value: 1
//: log: unhandled
Promise.reject(new Error("unhandled")); 1

//// A084 unhandled rejection of an async function nobody waits for
//: why: as above
//: value: 1
(async () => { throw new Error("nobody waits"); })(); 1

//// A084b an unhandled rejection whose reason is hostile
//: why: showing it is showing a hostile value
//: expect: VALUE TIMEOUT RUNTIME
//: value: 1
//: timeout: 300
Promise.reject(new Proxy({}, { get() { throw 1; }, ownKeys() { throw 2; }, getPrototypeOf() { throw 3; } })); 1

//// A084c a hundred thousand unhandled rejections
//: why: telling them all would be a flood of its own
//: value: 1
for (let i = 0; i < 1e5; i++) Promise.reject(i); 1

//// A085 async result never settles
//: why: said at once, not after the whole time
//: expect: RUNTIME
//: error: never settle
new Promise(()=>{})

//// A025 thenable that never settles
//: why: as above, for anything with a then
//: expect: RUNTIME
//: error: never settle
({then(){}})

//// A026 thenable that calls back late
//: why: one answer; later callbacks are ignored
//: expect: RUNTIME
let k;globalThis.p={then(r){k=r}};Promise.resolve().then(()=>k&&k(1));p

//// A026b thenable that settles twice
//: why: the first counts
//: value: 1
({ then(resolve, reject) { resolve(1); resolve(2); reject(new Error("3")); throw new Error("4"); } })

//// A026c thenable that resolves with itself
//: why: an endless chain of then is a loop like any other
//: layer: deadline
//: timeout: 150
//: expect: TIMEOUT RUNTIME
const t = { then(resolve) { resolve(t); } }; t

//// A026d thenable whose then is a getter that answers differently
//: why: asked once to decide, once to wait
let n = 0; ({ get then() { return n++ === 0 ? undefined : (r) => r("second"); } })

//// A026e thenable whose then throws
//: why: its exception is the result's
//: expect: RUNTIME
//: error: from then
({ get then() { throw new Error("from then"); } })

//// A026f resolved with a function that takes over resolve
//: why: what resolve and reject are must not lead to our own state
//: value: [true,true]
({ then(resolve) { resolve([resolve.constructor === Function, Object.getPrototypeOf(resolve) === Function.prototype]); } })

//// A026g a promise subclass that never calls back
//: why: await of a foreign constructor's promise goes through its then
//: expect: RUNTIME
//: error: never settle
class P extends Promise { then() { return this; } }
new P((r) => r(1))

//// A026h thenables in each other
//: why: a long chain is followed, not recursed into
//: value: "end"
let t = "end"; for (let i = 0; i < 10000; i++) { const inner = t; t = { then(r) { r(inner); } }; } t

//// A026i result after the promise resolves to hostile values
//: why: what a promise gives is serialised like anything else
//: expect: RUNTIME
//: error: BigInt
Promise.resolve({ a: 1n })

//// A026j a generator as the result
//: why: an iterator is no JSON, and is not run
//: expect: RUNTIME
//: error: Iterator
(function* () { for (;;) yield 1; })()

//// A026k an async generator as the result
//: why: as above
//: expect: RUNTIME
//: error: AsyncIterator
(async function* () { for (;;) yield 1; })()

//// A026l what the serialiser uses is seen by no one
//: why: methods that are there only while a value leaves must lead nowhere when a getter finds them
//: value: {"a":["function","EvalError","threw","undefined"]}
({ get a() {
  const f = new Map().toJSON;
  let name, how = "returned";
  try { f.constructor("return 1")(); } catch (e) { name = e.name; }
  try { f(); } catch (e) { how = "threw"; globalThis.caught = e; }
  return [typeof f, name, how, typeof caught?.constructor];
} })

//// A026m the serialiser's own sign, thrown by the code
//: why: what an internal function threw can be thrown again: it is an odd exception, no more
//: expect: RUNTIME
({ get a() {
  try { new Set().toJSON(); } catch (e) { throw e; }
} })

//// A026n the serialiser's own sign, changed
//: why: as above, with properties that describe themselves
//: expect: RUNTIME
({ get a() {
  try { new Set().toJSON(); } catch (e) { try { e.message = "forged"; e.name = "Timeout"; Object.setPrototypeOf(e, Error.prototype); } catch {} throw e; }
} })

//// A026o methods that leave while a value leaves, called on other things
//: why: their this is hostile
//: expect: VALUE RUNTIME
({ get a() {
  const typed = Object.getPrototypeOf(Uint8Array.prototype).toJSON, regexp = RegExp.prototype.toJSON, error = Error.prototype.toJSON;
  const tries = [null, undefined, 1, {}, [], new Proxy({}, { get() { throw 1; } }), new Map()];
  return [typed, regexp, error].flatMap((f) => tries.map((self) => { try { Reflect.apply(f, self, []); return 1; } catch { return 0; } })).length;
} })

//// A026p setters of toJSON on built-in prototypes, with a hostile this
//: why: assigning toJSON to one's own object goes through a setter of ours
//: value: [{"mine":1},"TypeError",1]
const m = new Map(); m.toJSON = () => ({ mine: 1 });
const set = Object.getOwnPropertyDescriptor(Map.prototype, "toJSON").set;
let name; try { set.call(null, 1); } catch (e) { name = e.name; }
const o = {}; set.call(o, () => 1);
[m, name, o]

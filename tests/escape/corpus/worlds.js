// SPDX-License-Identifier: MIT
// The other settings of an engine: no capabilities, few globals, no just-in-time
// compiler. What is off has no name, and the same attacks end the same way.
//: form: script
//: layer: realm
//: expect: VALUE

//// O001 capabilities that are off have no names
//: why: what is absent cannot be misused
//: world: closed
//: value: ["undefined","undefined","undefined","undefined","undefined","undefined"]
[typeof console, typeof setTimeout, typeof clearTimeout, typeof setInterval, typeof clearInterval, typeof sleep]

//// O002 nor on the global object
//: why: as above, by key
//: world: closed
//: value: []
["console", "setTimeout", "clearTimeout", "setInterval", "clearInterval", "sleep"].filter((name) => name in globalThis)

//// O003 nor in any property of any object
//: why: as above, by walking
//: world: closed
//: value: []
const seen = new Set(), found = [];
(function walk(o) {
  if ((typeof o !== "object" && typeof o !== "function") || o === null || seen.has(o)) return;
  seen.add(o);
  for (const key of Reflect.ownKeys(o)) {
    if (["sleep", "setTimeout", "setInterval", "log", "warn", "emit", "table"].includes(key) && o !== Math) found.push(key);
    const d = Object.getOwnPropertyDescriptor(o, key);
    walk(d.value), walk(d.get), walk(d.set);
  }
  walk(Object.getPrototypeOf(o));
})(globalThis);
found

//// O004 a rejection without a console
//: why: told nowhere, and no crash
//: world: closed
//: value: 1
Promise.reject(new Error("x")); 1

//// O005 waiting without timers
//: why: nothing could ever settle it: said at once
//: world: closed
//: expect: RUNTIME
//: error: never settle
await new Promise(() => {})

//// O006 a console of one's own
//: why: the name is free
//: world: closed
//: value: ["mine"]
const lines = []; globalThis.console = { log: (x) => lines.push(x) }; console.log("mine"); lines

//// O007 an error of a missing capability names it
//: why: whoever repairs the code must see what is off
//: world: closed
//: expect: RUNTIME
//: error: setTimeout
setTimeout(() => {}, 1)

//// O010 minimal globals: what is there
//: why: exactly the names of the manual, and the capabilities that are on
//: world: minimal
//: value: []
[typeof JSON, typeof Math, typeof Date, typeof Array, typeof Map, typeof Set, typeof Promise, typeof Object, typeof String, typeof Number,
  typeof Boolean, typeof RegExp, typeof Error, typeof TypeError, typeof RangeError, typeof SyntaxError, typeof URIError, typeof parseInt,
  typeof parseFloat, typeof isNaN, typeof isFinite, typeof encodeURIComponent, typeof decodeURIComponent, typeof encodeURI,
  typeof decodeURI, typeof NaN, typeof Infinity, typeof console, typeof setTimeout, typeof clearTimeout].filter((t) => t === "undefined")

//// O011 minimal globals: what is not
//: why: as above
//: world: minimal
//: value: []
[typeof globalThis, typeof Reflect, typeof Proxy, typeof Symbol, typeof Function, typeof eval, typeof BigInt, typeof Intl, typeof ArrayBuffer,
  typeof Uint8Array, typeof DataView, typeof WeakMap, typeof WeakSet, typeof Iterator, typeof EvalError, typeof ReferenceError,
  typeof AggregateError, typeof escape, typeof unescape, typeof sleep, typeof Float64Array, typeof WebAssembly, typeof Atomics].filter((t) => t !== "undefined")

//// O012 minimal globals: Function by a constructor
//: why: a name that is gone is no protection; the switch is
//: world: minimal
//: expect: RUNTIME
//: error: EvalError
(() => {}).constructor("return this")()

//// O013 minimal globals: console, errors, promises and dates still work
//: why: internals must not lean on names that the code lost
//: world: minimal
//: log: "text":"[ 1, Map(1)
//: value: ["1970-01-01T00:00:00.000Z",3,"TypeError"]
console.log([1, new Map([["a", 1]])]); console.table([{ a: 1 }]);
let name; try { null.x; } catch (e) { name = e.name; }
await new Promise((r) => setTimeout(r, 1)); const n = await Promise.all([1, 2]).then(([a, b]) => a + b);
return [new Date(0).toISOString(), n, name]

//// O014 minimal globals: values that JSON cannot hold are told as ever
//: why: as above
//: world: minimal
//: expect: RUNTIME
//: error: result.m is a Map
({ m: new Map() })

//// O015 minimal globals: the error of a missing name
//: why: it is a ReferenceError although that name is gone
//: world: minimal
//: expect: RUNTIME
//: error: ReferenceError
Reflect.ownKeys({})

//// O020 without the compiler: code from text
//: why: the switch is the engine's, not the compiler's
//: world: jit-off
//: expect: RUNTIME
//: error: EvalError
(() => {}).constructor("return 1")()

//// O021 without the compiler: endless loop
//: why: the interpreter looks at no clock either
//: world: jit-off
//: layer: deadline
//: timeout: 120
//: expect: TIMEOUT
for (;;);

//// O022 without the compiler: catastrophic regex
//: why: regular expressions are interpreted too
//: world: jit-off
//: layer: deadline
//: timeout: 120
//: expect: TIMEOUT
/(a+)+$/.test("a".repeat(40) + "b")

//// O023 without the compiler: promise loop
//: why: as ever
//: world: jit-off
//: layer: deadline
//: timeout: 120
//: expect: TIMEOUT
(async () => { for (;;) await 0; })(), 1

//// O024 without the compiler: memory
//: why: as ever
//: world: jit-off
//: layer: memory
//: expect: MEMORY
const a = []; for (;;) a.push({ a: 1, b: [1, 2] });

//// O025 without the compiler: recursion
//: why: the interpreter's frames have an end too
//: world: jit-off
//: expect: RUNTIME
//: error: RangeError
(function f() { return f() + 1; })()

//// O026 without the compiler: regular expressions by the stack edge
//: why: another matcher, with a stack of its own
//: world: jit-off
//: expect: VALUE RUNTIME MEMORY
/(?:a|b)*c/.test("ab".repeat(2e6))

//// O027 with the compiler: functions compiled in the worker
//: why: a hot loop is compiled under the seal, without a new executable page
//: value: 49999995000000
let s = 0; for (let i = 0; i < 1e7; i++) s += i; s

//// O028 with the compiler: a type that changes under compiled code
//: why: leaving compiled code in the middle is where engines break
//: value: [2000001,"1000000x"]
const f = (a, b) => a + b; let n = 1; for (let i = 0; i < 1e6; i++) n = f(n, 2); const s = f(1e6, "x"); [n, s]

//// O029 with the compiler: arrays that change their kind under compiled code
//: why: as above
//: value: [499999500000,0.5,"x",null]
const a = Array.from({ length: 1e6 }, (_, i) => i); const sum = (list) => { let s = 0; for (let i = 0; i < list.length; i++) s += list[i]; return s; };
let s = sum(a); sum(a); a[0] = 0.5; const half = a[0]; sum(a); a[1] = "x"; sum(a.slice(0, 3)); delete a[2]; [s, half, a[1], a[2] ?? null]

//// O030 with the compiler: a prototype changed while a loop runs
//: why: as above
//: value: [1000,1000]
class A { get v() { return 1; } } class B { get v() { return 1; } }
let n = 0, m = 0; for (let i = 0; i < 2000; i++) { const o = i < 1000 ? new A() : Object.setPrototypeOf(new A(), B.prototype); if (o instanceof A) n += o.v; else m += o.v; } [n, m]

//// O031 with the compiler: arguments and spread past every register
//: why: large frames
Math.max(...Array.from({ length: 60000 }, (_, i) => i))

//// O032 with the compiler: very many arguments
//: why: past the stack
//: expect: RUNTIME
//: error: RangeError
Math.max(...new Array(1e6).fill(1))

//// O033 with the compiler: switch, try and generator in a hot loop
//: why: what compilers find hardest, under the seal
//: value: 600000
function* g(n) { for (let i = 0; i < n; i++) { try { switch (i % 3) { case 0: yield 1; break; case 1: throw 2; default: yield 3; } } catch (e) { yield e; } } }
let s = 0; for (const x of g(3e5)) s += x; s

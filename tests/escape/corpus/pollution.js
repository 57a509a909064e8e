// SPDX-License-Identifier: MIT
// One call leaves something behind, the next one looks for it: every call has a process
// of its own, so there is nothing that could stay.
//: form: script
//: layer: process
//: expect: VALUE

//// A035 prototype pollution
//: why: properties on shared prototypes, refused here and gone in the next call
//: expect: RUNTIME
//: error: TypeError
Object.prototype.admin=true;Array.prototype.map=()=>"PWN";({}).admin
//: then: the next call sees neither
//: value: ["undefined",[2]]
[typeof ({}).admin, [1].map((x) => x * 2)]

//// A035b prototype pollution that is not refused
//: why: existing methods can be replaced for the rest of the call, and no longer
//: value: "PWN"
Array.prototype.map=()=>"PWN"; Map.prototype.extra = 1; [1].map((x) => x)
//: then: the next call has the original
//: value: [[2],"undefined"]
[[1].map((x) => x * 2), typeof new Map().extra]

//// A036 global replaced
//: why: built-in objects and functions replaced
//: value: 1
JSON.parse=()=>"PWN";globalThis.Math={random:()=>0};1
//: then: the next call has originals
//: value: [{"a":1},3,true]
[JSON.parse('{"a":1}'), Math.max(1, 3), Math.random() !== 0]

//// A037 Symbol.for registry
//: why: the registry of symbols is the engine's, beside any realm
//: value: "leak"
globalThis.k=Symbol.for("leak");k.description
//: then: the next call cannot learn that the key was there
//: value: ["undefined",true]
[typeof k, Symbol.keyFor(Symbol.for("leak")) === "leak"]

//// A038 promise jobs that outlive their call
//: why: a job queued at the very end must not run in the next call
//: value: 1
(function again(n) { Promise.resolve().then(() => { globalThis.leak = n; if (n < 1000) again(n + 1); }); })(0);
1
//: then: nothing of it runs in the next call
//: value: ["undefined","undefined"]
const first = typeof leak;
await 0; await sleep(20);
return [first, typeof leak]

//// A039 callbacks of the collector
//: why: a FinalizationRegistry would run code after its call; there is none
//: expect: RUNTIME
//: error: ReferenceError
new FinalizationRegistry(() => { globalThis.leak = 1; }).register({}, 1); 1
//: then: nothing of it in the next call
//: value: "undefined"
typeof leak

//// A040 timers from call 1
//: why: a timer set and not awaited must not fire after the result
//: value: true
const id = typeof setTimeout=="function"?setTimeout(()=>{globalThis.leak=1; console.log("late")},50):0;
id !== undefined
//: then: nothing fires in the next call
//: value: "undefined"
//: lacks: late
await sleep(120);
return typeof leak

//// A040b intervals from call 1
//: why: as above, repeated
//: value: true
setInterval(() => { globalThis.leak = 1; console.log("late"); }, 1) !== undefined
//: then: nothing fires in the next call
//: value: "undefined"
//: lacks: late
await sleep(50);
return typeof leak

//// A041 input object aliasing
//: why: the input is changed in place; the host's copy and the next call's are not
//: form: function
//: input: {"list":[1,2,3]}
//: value: [9,1]
(data) => { data.list.length = 0; data.list.push(9); data.x = 1; return [data.list[0], data.x]; }
//: then: the next call sees the original
//: form: function
//: input: {"list":[1,2,3]}
//: value: [[1,2,3],"undefined"]
(data) => [data.list, typeof data.x]

//// A042 getter planted on the input's type
//: why: defineProperty instead of assignment
//: expect: RUNTIME
//: error: TypeError
Object.defineProperty(Object.prototype,"secret",{get(){return "PWN"},configurable:true});1
//: then: the next call's input has no such property
//: form: function
//: input: {"a":1}
//: value: "undefined"
(data) => typeof data.secret

//// A042b setters of the input's keys on prototypes
//: why: JSON.parse defines its properties; a setter on the way must never be called
//: value: 0
let hits = 0;
for (const proto of [Map.prototype, Promise.prototype, Error.prototype, Date.prototype])
  Object.defineProperty(proto, "secret", { set() { hits++; }, configurable: true });
JSON.parse('{"secret":1}');
hits

//// A043 a canary on the global object
//: why: the plainest thing to leave behind
//: value: 1
globalThis.__canary = 1; __canary
//: then: the next call has none
//: value: "undefined"
typeof __canary

//// A043b a canary as a global variable
//: why: declarations live beside the global object's properties
//: value: 1
var __canaryVar = 1; let __canaryLet = 1; const __canaryConst = 1; function __canaryFunction() {} class __canaryClass {}
__canaryVar
//: then: the next call has none
//: value: []
[typeof __canaryVar, typeof __canaryLet, typeof __canaryConst, typeof __canaryFunction, typeof __canaryClass].filter((t) => t !== "undefined")

//// A043c a canary hung on a function of the host
//: why: console and its methods are objects that could carry something
//: value: true
console.log.__canary = 1; console.__canary = 1; sleep.__canary = 1;
console.log.__canary === 1
//: then: the next call has none
//: value: ["undefined","undefined","undefined"]
[typeof console.log.__canary, typeof console.__canary, typeof sleep.__canary]

//// A043d a canary in counters of the console
//: why: console.count, time and group keep state between lines
//: value: 1
console.count("canary"); console.count("canary"); console.time("canary"); console.group("canary");
1
//: then: the next call counts from one, without indentation
//: log: "text":"canary: 1"
//: value: 1
console.count("canary");
1

//// A043e a canary in a WeakMap keyed by a built-in
//: why: built-ins live as long as the realm, and so would their entries
//: value: true
globalThis.w = new WeakMap([[Array.prototype, "canary"]]);
w.has(Array.prototype)
//: then: the map is gone
//: value: "undefined"
typeof w

//// A043f a canary in RegExp's statics
//: why: the last match is the engine's own global state
//: value: "canary"
/(canary)/.test("x canary x"); RegExp.$1
//: then: the next call sees no match
//: value: ""
RegExp.$1

//// A043g a canary in a regular expression's lastIndex
//: why: state in an object of a literal
//: value: 3
const r = /a/g; r.lastIndex = 3; r.lastIndex
//: then: literals are new
//: value: 0
/a/g.lastIndex

//// A043h a canary in template strings' identity
//: why: template objects are cached by place; the same place in the next call is another
//: value: true
const tag = (s) => s; const f = () => tag`x`; f() === f() && Object.isFrozen(f())
//: then: still a fresh one
//: value: "undefined"
const tag = (s) => s; const f = () => tag`x`; typeof f().canary

//// A044 the next call after a hang
//: why: an answer that was never given must not be given to the next call
//: timeout: 120
//: expect: TIMEOUT
globalThis.__canary = 1; for (;;);
//: then: the next call is fresh
//: value: "undefined"
typeof __canary

//// A044b the next call after memory ran out
//: why: as above
//: expect: MEMORY
globalThis.__canary = []; for (;;) __canary.push(new Array(1000).fill(1));
//: then: the next call is fresh
//: value: "undefined"
typeof __canary

//// A044c the next call after an exception in the middle of serialising
//: why: as above, for the flag that is up while a value leaves
//: expect: RUNTIME
//: error: boom
({ toJSON() { throw new Error("boom"); } })
//: then: ordinary code does not see the flag
//: value: ["{}","undefined"]
[JSON.stringify(new Map([[1, 2]])), typeof new Map().toJSON]

//// A045 timezone
//: why: the zone is UTC whatever the host's is, before and after anyone asked for another
//: value: 0
new Date(0).getTimezoneOffset()
//: then: formatting in other zones changes nothing for the next call
//: value: ["1970-01-01T00:00:00.000Z",0]
new Intl.DateTimeFormat("en", { timeZone: "Asia/Tokyo" }).format(0); [new Date(0).toISOString(), new Date(0).getTimezoneOffset()]

//// A046 console text after result
//: why: a job of the finished call may still write; into its own log or nowhere
//: value: 1
Promise.resolve().then(()=>console.log("late")),1
//: then: nothing in the next call's log
//: value: 1
//: lacks: late
await sleep(20); return 1

//// A047 Intl default locale
//: why: the locale is a constant, not the host's LANG
//: value: "en-US"
Intl.DateTimeFormat().resolvedOptions().locale

//// A048 JSON.parse with __proto__
//: why: a parsed key must be a key, never the prototype
//: form: function
//: input: {"__proto__":{"admin":true},"a":{"constructor":{"prototype":{"admin":true}}}}
//: value: ["undefined","undefined",["__proto__","a"]]
(data) => [typeof data.admin, typeof ({}).admin, Object.keys(data)]

//// A048b merging hostile input deeply
//: why: the merge that everybody writes must not reach Object.prototype
//: form: function
//: input: {"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}
//: value: ["undefined"]
(data) => {
  const merge = (to, from) => {
    for (const k of Object.keys(from)) {
      if (typeof from[k] === "object" && from[k] !== null) merge(to[k] ??= {}, from[k]);
      else { try { to[k] = from[k]; } catch {} }
    }
  };
  merge({}, data);
  return [typeof ({}).admin];
}
//: then: the next call is not admin
//: value: "undefined"
typeof ({}).admin

//// A049 twenty names of pollution at once
//: why: whatever survived would show in the next call and in the walk over its realm
//: value: true
for (const key of ["toString", "valueOf", "hasOwnProperty", "isPrototypeOf", "then", "toJSON", "get", "set", "value",
  "writable", "enumerable", "configurable", "length", "name", "message", "stack", "code", "ok", "0", "1"])
  for (const at of [Object.prototype, Array.prototype, Function.prototype, Promise.prototype, Error.prototype, String.prototype])
    { try { at[key] = "canary"; } catch {} }
true
//: then: nothing is a canary
//: value: []
["toString", "valueOf", "hasOwnProperty", "then", "toJSON", "get", "value", "0", "ok"].filter((key) =>
  [{}, [], () => {}, Promise.resolve(), new Error(), ""].some((o) => o[key] === "canary"))

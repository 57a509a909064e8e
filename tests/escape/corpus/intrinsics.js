// SPDX-License-Identifier: MIT
// Prototypes without a global name: each has a constructor or shares one, and each is a
// place where one call could leave something for the engine's own code.
//: form: script
//: layer: realm
//: expect: VALUE

//// I001 every hidden prototype's constructor is harmless
//: why: the walk from each hidden object to a function that takes code must end in EvalError
//: value: []
const hidden = {
  generator: (function* () {})(),
  generatorFunction: function* () {},
  asyncFunction: async function () {},
  asyncGenerator: (async function* () {})(),
  asyncGeneratorFunction: async function* () {},
  arrayIterator: [][Symbol.iterator](),
  mapIterator: new Map().entries(),
  setIterator: new Set().values(),
  stringIterator: ""[Symbol.iterator](),
  regExpStringIterator: "x".matchAll(/x/g),
  iteratorHelper: [].values().map((x) => x),
  wrapForValidIterator: Iterator.from({ next() { return { done: true }; } }),
  segmenter: new Intl.Segmenter("en").segment("x"),
  segmentIterator: new Intl.Segmenter("en").segment("x")[Symbol.iterator](),
  typedArray: new Uint8Array(1),
  throwTypeError: Object.getOwnPropertyDescriptor((function () { "use strict"; return arguments; })(), "callee").get,
  boundFunction: function () {}.bind(),
  revoke: Proxy.revocable({}, {}).revoke,
  asyncIterator: (async function* () {})()[Symbol.asyncIterator](),
};
const runs = [];
for (const [name, start] of Object.entries(hidden))
  for (let at = start; at !== null; at = Object.getPrototypeOf(at)) {
    let c;
    try { c = at.constructor; } catch { continue; }
    for (let i = 0; i < 4 && typeof c === "function"; i++, c = c.constructor) {
      try {
        const made = c("return 7", "yield 7");
        if (typeof made === "function" && made() === 7) runs.push(name);
      } catch {}
    }
  }
runs

//// I002 generator prototype is frozen
//: why: a next() of the attacker's would be called by for-of in anyone's code
//: value: ["TypeError",true]
const proto = Object.getPrototypeOf(function* () {}).prototype;
let name;
try { proto.next = () => ({ done: true }); } catch (e) { name = e.name; }
[name, Object.isFrozen(proto)]

//// I003 async generator prototype is frozen
//: why: as above
//: value: ["TypeError",true]
const proto = Object.getPrototypeOf(async function* () {}).prototype;
let name;
try { proto.next = () => ({ done: true }); } catch (e) { name = e.name; }
[name, Object.isFrozen(proto)]

//// I004 async function prototype is frozen
//: why: constructor could be replaced by one that records what it is given
//: value: ["TypeError",true]
const proto = Object.getPrototypeOf(async function () {});
let name;
try { proto.constructor = class {}; } catch (e) { name = e.name; }
[name, Object.isFrozen(proto)]

//// I005 Function.prototype is frozen
//: why: call, apply and bind are what every library leans on
//: value: ["TypeError","TypeError","TypeError",true]
const names = ["call", "apply", "extra"].map((key) => {
  try { Function.prototype[key] = () => 1; } catch (e) { return e.name; }
});
[...names, Object.isFrozen(Function.prototype)]

//// I006 Object.prototype and Array.prototype are sealed
//: why: nothing may be added to what everything inherits from
//: value: ["TypeError","TypeError",true,true]
const names = [Object.prototype, Array.prototype].map((proto) => {
  try { proto.extra = 1; } catch (e) { return e.name; }
});
[...names, Object.isSealed(Object.prototype), Object.isSealed(Array.prototype)]

//// I007 nothing can be deleted from the sealed prototypes
//: why: hasOwnProperty gone would turn checks into errors
//: value: ["TypeError","TypeError"]
[[Object.prototype, "hasOwnProperty"], [Array.prototype, "push"]].map(([proto, key]) => {
  try { delete proto[key]; } catch (e) { return e.name; }
})

//// I008 prototypes of sealed prototypes cannot be changed
//: why: a prototype below Object.prototype would be a back door into every object
//: value: ["TypeError","TypeError","TypeError"]
[Object.prototype, Array.prototype, Function.prototype].map((proto) => {
  try { Object.setPrototypeOf(proto, { extra: 1 }); return "no error"; } catch (e) { return e.name; }
})

//// I009 the global object's prototype cannot bring names in
//: why: unknown names would be looked up there, by our own scripts too
//: value: true
try { Object.setPrototypeOf(globalThis, { process: 1 }); } catch {}
typeof process === "undefined" || Object.getPrototypeOf(globalThis) !== Object.prototype

//// I010 index setters on the sealed prototypes
//: why: an internal script's own list would call them
//: value: "TypeError"
try { Object.defineProperty(Array.prototype, "0", { set(v) { globalThis.stolen = v; } }); } catch (e) { e.name }

//// I011 __defineSetter__ on Object.prototype
//: why: the old way around defineProperty
//: value: "TypeError"
try { Object.prototype.__defineSetter__("0", (v) => { globalThis.stolen = v; }); } catch (e) { e.name }

//// A014 __lookupGetter__ from everywhere
//: why: what it finds are functions of this realm, whatever it is called on
//: value: ["EvalError","EvalError"]
[["size", Map.prototype], ["__proto__", Object.prototype]].map(([key, at]) => {
  try { return at.__lookupGetter__(key).constructor("return 1")(); } catch (e) { return e.name; }
})

//// A015 __lookupGetter__ on __proto__
//: why: the getter of __proto__ gives prototypes of this realm only
//: value: true
({}).__lookupGetter__("__proto__").call([])===Array.prototype

//// A022 species on arrays
//: why: the host must not read a result by methods that ask its species
//: value: 0
class X extends Array{static get [Symbol.species](){return function(){return new Proxy([],{defineProperty:()=>true})}}};new X(1,2).map(x=>x).length

//// A022b a subclass of Array with a hostile species as the result
//: why: serialising must not construct anything
//: value: [1,2]
class X extends Array { static get [Symbol.species]() { throw new Error("asked"); } }
X.from([1, 2])

//// A023 species on promises
//: why: our own waiting must not be given the attacker's promise
//: value: 5
class P extends Promise { static get [Symbol.species]() { return function (f) { f(() => {}, () => {}); }; } }
new P((r) => r(5))

//// A024 Promise.prototype.then replaced
//: why: awaiting a native promise must not look at then
//: value: {"real":true}
Promise.prototype.then = function (f) { f({ real: false }); };
Promise.resolve({ real: true })

//// A024b Promise.prototype.constructor replaced
//: why: await asks a promise's constructor; another one costs a round, not the value
//: value: {"real":true}
const then = Promise.prototype.then;
Promise.prototype.constructor = class { constructor(f) { f((v) => { globalThis.seen = v; }, () => {}); } };
Promise.resolve({ real: true })

//// I012 Symbol.iterator of arrays replaced
//: why: our scripts must not spread or destructure by the guest's iterator
//: value: [1,2,3]
Array.prototype[Symbol.iterator] = function* () { yield "stolen"; };
console.log("a", "b");
[1, 2, 3]

//// I013 the array iterator's next replaced
//: why: as above, one step deeper
//: value: {"a":[1,2]}
Object.getPrototypeOf([][Symbol.iterator]()).next = () => ({ done: true });
console.log("%s", "x", { a: [1] });
({ a: [1, 2] })

//// I014 Symbol.toPrimitive on Object.prototype
//: why: a key that every conversion asks for
//: value: "TypeError"
try { Object.prototype[Symbol.toPrimitive] = () => "x"; } catch (e) { e.name }

//// I015 Symbol.species of built-ins cannot be replaced
//: why: the getter is not writable; redefining it must stay in this call
//: value: ["TypeError",true]
let name;
try { Array[Symbol.species] = Object; } catch (e) { name = e.name; }
[name, [1].map((x) => x) instanceof Array]

//// I016 Reflect replaced
//: why: our scripts captured what they need before the guest ran
//: value: {"a":1}
for (const key of Reflect.ownKeys(Reflect)) { try { Reflect[key] = () => { throw new Error("asked"); }; } catch {} }
globalThis.Reflect = null;
console.log({ a: [1] }, new Map([[1, 2]]));
({ a: 1 })

//// I017 Object's functions replaced
//: why: as above
//: value: {"a":1}
for (const key of Object.getOwnPropertyNames(Object))
  if (typeof Object[key] === "function") { try { Object[key] = () => { throw new Error("asked"); }; } catch {} }
console.log({ a: [1] }, [1], new Error("x"));
({ a: 1 })

//// I018 every method of every built-in replaced
//: why: the whole way of a result out of the realm must run on captured functions
//: value: {"list":[1,"two",null,true],"nested":{"deep":[[]]}}
const { getOwnPropertyNames, getPrototypeOf } = Object;
const { ownKeys } = Reflect;
const { String, Error } = globalThis;
function break_(at) {
  if ((typeof at !== "function" && typeof at !== "object") || at === null || at === globalThis) return;
  const keys = ownKeys(at);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    try { if (typeof at[key] === "function" && key !== "constructor") at[key] = () => { throw new Error("asked for " + String(key)); }; } catch {}
  }
}
const arrayIterators = getPrototypeOf([].values()), names = getOwnPropertyNames(globalThis);
for (let i = 0; i < names.length; i++) {
  let value; try { value = globalThis[names[i]]; } catch {} /* helpers are made of what is left */
  break_(value);
  break_(value?.prototype);
}
break_(arrayIterators);
({ list: [1, "two", null, true], nested: { deep: [[]] } })

//// I019 every global deleted
//: why: as above, and nothing is looked up by name any more
//: value: {"a":[1]}
const all = Object.getOwnPropertyNames(globalThis);
for (const name of all) { try { delete globalThis[name]; } catch {} }
({ a: [1] })

//// I020 a thrown error after every method was replaced
//: why: describing an exception must not run on the guest's functions either
//: expect: RUNTIME
//: error: TypeError: plain
const E = TypeError;
const { getOwnPropertyNames } = Object;
const { ownKeys } = Reflect;
const { String, Error } = globalThis;
function break_(at) {
  if ((typeof at !== "function" && typeof at !== "object") || at === null || at === globalThis) return;
  const keys = ownKeys(at);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    try { if (typeof at[key] === "function" && key !== "constructor") at[key] = () => { throw new Error("asked for " + String(key)); }; } catch {}
  }
}
const names = getOwnPropertyNames(globalThis);
for (let i = 0; i < names.length; i++) {
  let value; try { value = globalThis[names[i]]; } catch {} /* helpers are made of what is left */
  break_(value);
  break_(value?.prototype);
}
throw new E("plain")

//// I021 legacy static properties of RegExp
//: why: what an internal expression matched may show, but only what the code itself wrote
//: value: ["",true]
console.log("%s %o", "secret-internal", { key: /x/ });
[RegExp.$1, ["", "key"].includes(RegExp.lastMatch)]

//// I022 uninitialised memory
//: why: a fresh buffer must be zeros, not what was there before
//: value: 0
let sum = 0;
for (let i = 0; i < 64; i++) for (const x of new Uint8Array(65536)) sum += x;
sum

//// I023 holes and lengths in a fresh array
//: why: an array made by its length must not show old cells
//: value: [0,null]
const a = new Array(100000);
[a.filter(() => true).length, a[5] ?? null]

//// I024 Symbol.for cannot reach host keys
//: why: a registry shared with the host would be a channel (util.inspect's symbol and the like)
//: value: {"a":1}
const o = { a: 1 };
for (const key of ["nodejs.util.inspect.custom", "nodejs.rejection", "nodejs.dispose", "immer-state"])
  Object.defineProperty(o, Symbol.for(key), { value: () => ({ stolen: true }), enumerable: true });
o

//// A124 inspect's custom symbol in the console
//: why: showing a value must not run a function that the value brings
//: log: a: 1
//: value: 0
//: lacks: PWN
globalThis.ran = 0;
console.log({ a: 1, [Symbol.for("nodejs.util.inspect.custom")]: () => { globalThis.ran++; return "P" + "WN"; } });
globalThis.ran

//// I025 names of internal scripts in the code's scope
//: why: what an internal script declares at its top would be a variable of every call
//: value: []
[typeof a, typeof b, typeof c, typeof d, typeof e, typeof f, typeof g, typeof h, typeof i, typeof j, typeof k, typeof l,
  typeof m, typeof n, typeof o, typeof p, typeof q, typeof r, typeof s, typeof t, typeof u, typeof v, typeof w, typeof x,
  typeof y, typeof z, typeof ok, typeof list, typeof value, typeof error, typeof realm, typeof natives, typeof global,
  typeof control, typeof keep, typeof seed, typeof inspect, typeof emit].filter((type) => type !== "undefined")

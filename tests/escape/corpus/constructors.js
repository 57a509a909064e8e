// SPDX-License-Identifier: MIT
// From any value, through constructors and prototypes, to a function that makes code
// or to something that belongs to the host.
//: form: script
//: layer: realm
//: expect: RUNTIME
//: error: EvalError

//// A001 constructor.constructor
//: why: the classic walk from an object literal to Function; no code may come from text
({}).constructor.constructor("return typeof process+typeof require+typeof globalThis.Bun")()

//// A002 Function through an arrow
//: why: the same from a function, whose constructor is Function at once
(()=>{}).constructor("return this")()===globalThis

//// A003 AsyncFunction through an async arrow
//: why: the constructor of async functions has no global name and is forgotten first
(async()=>{}).constructor("return typeof process")()

//// A004 GeneratorFunction
//: why: the same for generators
(function*(){}).constructor("yield typeof process")().next().value

//// A005 AsyncGeneratorFunction
//: why: the same for async generators
(async function*(){}).constructor("yield 1")

//// A006 subclass of Function
//: why: the switch must cover constructors that end in Function by super()
new (class X extends Function{})("return 40+2")()

//// A007 Reflect.construct on Function
//: why: construction without the keyword new
Reflect.construct(Function,["return typeof process"])()

//// A008 Reflect.apply on Function
//: why: a call without call syntax
Reflect.apply(Function, null, ["return 1"])()

//// A009 subclass of the async function constructor
//: why: super() into a hidden constructor
const AF = (async () => {}).constructor;
new (class extends AF {})("return 1")()

//// A010 host callback's constructor
//: why: functions of the host must belong to this realm, or their constructor is the host's
console.log.constructor("return typeof process")()

//// A011 host callback's prototype chain walk
//: why: the chain of a host object must end at this realm's Object.prototype
//: expect: VALUE
//: value: [true,true]
let o = console, n = 0, last;
while (o = Object.getPrototypeOf(o)) { n++; last = o; }
[n <= 2, last === Object.prototype]

//// A012 host callback with new
//: why: a native callback must not be a constructor, and not crash as one
//: expect: VALUE
//: value: "TypeError"
try{new console.log()}catch(e){e.name}

//// A013 host callback as newTarget
//: why: the third argument of Reflect.construct reaches native code by another way
//: expect: VALUE
//: value: "TypeError"
try { Reflect.construct(Object, [], console.log); "no error" } catch (e) { e.name }

//// A013b every method of console and every timer has this realm's Function
//: why: one foreign function is enough
//: expect: VALUE
//: value: []
const list = [...Object.values(console), setTimeout, clearTimeout, setInterval, clearInterval, sleep, Math.random];
list.filter((f) => f.constructor !== Function || Object.getPrototypeOf(f) !== Function.prototype).map((f) => f.name)

//// A013c properties of host callbacks lead nowhere else
//: why: an object of another realm anywhere below a host function would have another Object
//: expect: VALUE
//: value: true
const seen = new Set();
let foreign = 0;
(function walk(o) {
  if ((typeof o !== "object" && typeof o !== "function") || o === null || seen.has(o)) return;
  seen.add(o);
  if (!(o instanceof Object) && o !== Object.prototype && Object.getPrototypeOf(o) !== null) foreign++;
  for (const key of Reflect.ownKeys(o)) {
    const d = Object.getOwnPropertyDescriptor(o, key);
    walk(d.value), walk(d.get), walk(d.set);
  }
  walk(Object.getPrototypeOf(o));
})(globalThis);
seen.size > 100 && foreign === 0

//// A013d what a promise of the host is made by
//: why: sleep answers with a promise; one of another realm would carry its Function
//: expect: VALUE
//: value: [true,true]
const p = sleep(1);
[p.constructor === Promise, Object.getPrototypeOf(p) === Promise.prototype]

//// A013e the input and its parts belong to this realm
//: why: data handed in by the host must be plain objects of the call's own realm
//: form: function
//: input: {"list":[{"a":1}],"text":"x"}
//: expect: VALUE
//: value: [true,true,true,true]
(data) => [data instanceof Object, data.list instanceof Array, data.list[0].constructor === Object, data.list.map.constructor === Function]

//// A013f the bindings belong to this realm
//: why: params and env come by another way than the input
//: form: body
//: input: null
//: bindings: {"params":{"a":[1]},"env":{"k":"v"},"extra":{"deep":{}}}
//: expect: VALUE
//: value: [true,true,true,true]
return [params instanceof Object, params.a instanceof Array, env.constructor === Object, Object.getPrototypeOf(extra.deep) === Object.prototype];

//// A013g constructor of what the body form calls arguments
//: why: the arguments object of our wrapper must not show its caller
//: form: body
//: input: null
//: error: EvalError
return arguments.constructor.constructor("return 1")();

//// A013h the way up through caller
//: why: from a callback to whoever called it: strict code must not tell
//: error: TypeError
(function f() { return f.caller; })()

//// A013i the way up through arguments.callee
//: why: as above
//: error: TypeError
(function () { return arguments.callee; })()

//// A013j caller of an engine function that calls back
//: why: sort, replace and the like stand between two of our frames
//: error: TypeError
[2, 1].sort(function cmp() { return cmp.caller ? 0 : 1; })

//// A013k Function.prototype.caller by its getter
//: why: the poison pill must be poison for every function, ours too
//: expect: VALUE
//: value: []
const d = Object.getOwnPropertyDescriptor(Function.prototype, "caller");
[console.log, setTimeout, sleep, Math.random, JSON.stringify].filter((f) => {
  try { return d?.get.call(f) != null; } catch { return false; }
}).map((f) => f.name)

//// A013l constructor of a class's static block
//: why: static blocks have a this of their own
let found;
class C { static { found = this.constructor; } }
found("return 1")()

//// A013m constructor of an accessor
//: why: getters found by descriptors are functions like any other
Object.getOwnPropertyDescriptor(Map.prototype, "size").get.constructor("return 1")()

//// A013n constructor of a proxy's apply trap
//: why: handlers run for the engine; what they are given must be of this realm
new Proxy(function () {}, { apply: (t, self, args) => args.constructor.constructor("return 1")() })()

//// A013o constructor of a tag's strings
//: why: template objects are made by the engine
((s) => s.raw.constructor.constructor("return 1")())`x`

//// A013p constructor of a match's groups
//: why: groups has no prototype, so the walk ends; indices go on
//: expect: VALUE
//: value: [null,"EvalError"]
const m = /(?<a>.)/d.exec("x");
let name;
try { m.indices.constructor.constructor("return 1")(); } catch (e) { name = e.name; }
[Object.getPrototypeOf(m.groups), name]

//// A013q Function from a bound function
//: why: bound functions keep Function.prototype whatever they are bound to
(function () {}).bind(null).constructor("return 1")()

//// A013r Function from a proxy of a function
//: why: property reads go through to the target
new Proxy(() => {}, {}).constructor("return 1")()

//// A013s Function as a species
//: why: the engine calls constructors that the code names: here Function itself
//: error: EvalError
class X extends Array { static get [Symbol.species]() { return Function; } }
new X("return 1", "x").map((x) => x)

//// A013t Function as a promise's species
//: why: as above, from promise jobs
class P extends Promise { static get [Symbol.species]() { return Function; } }
P.resolve(1).then((x) => x)

//// A013u Function by Array.from
//: why: Array.from calls its this as a constructor
Array.from.call(Function, ["return 1"])

//// A013v Function by Array.of
//: why: the same with a number as its argument
Array.of.call(Function, "return 1")

//// A013w Function through JSON.parse's reviver
//: why: a reviver may give Function the text of a hostile input
//: guard: INVALID_CODE
JSON.parse('["return 1"]', (k, v) => typeof v === "string" ? Function(v) : v)

//// A013x Function by String.replace
//: why: Function as the callback of an engine function
"return 1".replace(/.*/, Function)

//// A013y Function by tagged template
//: why: Function`...` is a call without parentheses
//: guard: INVALID_CODE
Function`return 1```

//// A013z Function by instanceof
//: why: Symbol.hasInstance as the call
//: guard: INVALID_CODE
({}) instanceof { [Symbol.hasInstance]: () => Function("return 1")() }

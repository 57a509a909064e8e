// SPDX-License-Identifier: MIT
// Objects, classes and functions: what a lockdown breaks first, and must not.
//: form: function
//: layer: lockdown
//: why: own properties named like built-in ones, subclasses, accessors, iterators

//// B001 own toString
//: value: "point 1,2"
() => { const p = { x: 1, y: 2 }; p.toString = function () { return `point ${this.x},${this.y}`; }; return String(p); }

//// B002 own constructor, valueOf, hasOwnProperty, isPrototypeOf, toLocaleString
//: value: ["c",7,true,"l",1]
() => { const o = {}; o.constructor = "c"; o.valueOf = () => 7; o.hasOwnProperty = () => true; o.toLocaleString = () => "l"; o.isPrototypeOf = 1; return [o.constructor, o + 0, o.hasOwnProperty("zzz"), o.toLocaleString(), o.isPrototypeOf]; }

//// B003 own toString on a function
//: value: "mine"
() => { function f() {} f.toString = () => "mine"; return `${f}`; }

//// B004 own call, apply, bind and constructor on a function
//: value: ["call","apply","bind","ctor"]
() => { const f = () => {}; f.call = () => "call"; f.apply = () => "apply"; f.bind = () => "bind"; f.constructor = "ctor"; return [f.call(), f.apply(), f.bind(), f.constructor]; }

//// B005 own toString on an array, and length
//: value: ["list",0]
() => { const a = [1, 2]; a.toString = () => "list"; const s = `${a}`; a.length = 0; return [s, a.length]; }

//// B006 own map and filter on an array
//: value: [1,2]
() => { const a = [3]; a.map = () => 1; a.filter = () => 2; return [a.map(), a.filter()]; }

//// B007 prototypes of old: functions as classes
//: value: ["Rex barks","Animal","Dog"]
() => { function Animal(n) { this.n = n; } Animal.prototype.speak = function () { return this.n + " speaks"; }; function Dog(n) { Animal.call(this, n); } Dog.prototype = Object.create(Animal.prototype); Dog.prototype.constructor = Dog; Dog.prototype.speak = function () { return this.n + " barks"; }; const d = new Dog("Rex"); return [d.speak(), Animal.prototype.constructor.name, d.constructor.name]; }

//// B008 prototype replaced by a literal
//: value: [3,"[object Object]"]
() => { function P(x) { this.x = x; } P.prototype = { constructor: P, twice() { return this.x * 2; }, toString() { return "P" + this.x; } }; const p = new P(1.5); return [p.twice(), Object.prototype.toString.call(p)]; }

//// B009 class with getters, setters, statics and privates
//: value: [25,100,"Temp",1,true]
() => { class Temp { #c = 0; static count = 0; static #made = 0; constructor(c) { this.#c = c; Temp.count++; Temp.#made++; } get c() { return this.#c; } set c(v) { if (v < -273) throw new RangeError("cold"); this.#c = v; } static made() { return Temp.#made; } static is(x) { return #c in x; } } const t = new Temp(25); const first = t.c; t.c = 100; return [first, t.c, Temp.name, Temp.made(), Temp.is(t)]; }

//// B010 private methods and accessors
//: value: [6,12]
() => { class A { #n = 3; #double() { return this.#n * 2; } get #four() { return this.#double() * 2; } all() { return [this.#double(), this.#four]; } } return new A().all(); }

//// B011 static blocks
//: value: {"a":1,"b":2}
() => { class C { static map = {}; static { for (const [i, k] of ["a", "b"].entries()) C.map[k] = i + 1; } } return C.map; }

//// B012 a class that extends Array
//: value: [6,true,true,2,"Stack"]
() => { class Stack extends Array { sum() { return this.reduce((a, b) => a + b, 0); } peek() { return this[this.length - 1]; } } const s = Stack.from([1, 2, 3]); return [s.sum(), s.map((x) => x) instanceof Stack, Array.isArray(s), s.filter((x) => x > 1).length, s.constructor.name]; }

//// B013 a class that extends Error
//: value: ["NotFound","no such thing",404,true,true,"NotFound: no such thing"]
() => { class NotFound extends Error { constructor(m) { super(m); this.name = "NotFound"; this.status = 404; } } try { throw new NotFound("no such thing"); } catch (e) { return [e.name, e.message, e.status, e instanceof NotFound, e instanceof Error, String(e)]; } }

//// B014 errors with name as a class field and a cause
//: value: ["E","outer","inner"]
() => { class E extends Error { name = "E"; } try { try { throw new Error("inner"); } catch (cause) { throw new E("outer", { cause }); } } catch (e) { return [e.name, e.message, e.cause.message]; } }

//// B015 properties assigned to errors
//: value: ["CustomError","changed","E_X",{"a":1}]
() => { const e = new Error("first"); e.name = "CustomError"; e.message = "changed"; e.code = "E_X"; e.details = { a: 1 }; e.toString = () => "x"; return [e.name, e.message, e.code, e.details]; }

//// B016 a class that extends Map
//: value: [2,"fallback",[["a",1],["b",2]]]
() => { class DefaultMap extends Map { constructor(d, it) { super(it); this.d = d; } get(k) { return this.has(k) ? super.get(k) : this.d; } } const m = new DefaultMap("fallback", [["a", 1], ["b", 2]]); return [m.size, m.get("z"), [...m]]; }

//// B017 a class that extends Set
//: value: [1,2,3]
() => { class S extends Set { add(x) { return super.add(Math.abs(x)); } } return [...new S([1, -1, -2, 3])]; }

//// B018 a class that extends Promise
//: value: ["Later",3,true]
async () => { class Later extends Promise { static of(x) { return new Later((r) => r(x)); } plus(n) { return this.then((x) => x + n); } } const p = Later.of(1).plus(2); return [p.constructor.name, await p, p instanceof Later]; }

//// B019 a class that extends Function is not needed: a callable with properties
//: value: [3,2]
() => { const add = (a, b) => { add.calls++; return a + b; }; add.calls = 0; add(1, 1); return [add(1, 2), add.calls]; }

//// B020 a class that extends RegExp, Date, String and Number
//: value: [true,2000,"AB",10]
() => { class R extends RegExp { test(s) { return super.test(s.trim()); } } class D extends Date { y() { return this.getFullYear(); } } class S extends String { up() { return this.toUpperCase(); } } class N extends Number { tenfold() { return this * 10; } } return [new R("^a$").test(" a "), new D(Date.UTC(2000, 1, 1)).y(), new S("ab").up(), new N(1).tenfold()]; }

//// B021 a class that extends Object and null
//: value: [1,"undefined"]
() => { class A extends Object { x = 1; } const o = Object.create(null); return [new A().x, typeof o.toString]; }

//// B022 abstract classes, super, new.target
//: value: ["abstract","square 4"]
() => { class Shape { constructor() { if (new.target === Shape) throw new TypeError("abstract"); } toString() { return `${this.name} ${this.area()}`; } } class Square extends Shape { name = "square"; constructor(s) { super(); this.s = s; } area() { return this.s ** 2; } } let m; try { new Shape(); } catch (e) { m = e.message; } return [m, `${new Square(2)}`]; }

//// B023 mixins
//: value: ["fly swim"]
() => { const Flies = (B) => class extends B { fly() { return "fly"; } }; const Swims = (B) => class extends B { swim() { return "swim"; } }; class Duck extends Swims(Flies(Object)) {} const d = new Duck(); return [`${d.fly()} ${d.swim()}`]; }

//// B024 getters and setters of a literal
//: value: [2,"set 5"]
() => { const o = { _v: 1, get v() { return this._v * 2; }, set v(x) { this._v = `set ${x}`; } }; const a = o.v; o.v = 5; return [a, o._v]; }

//// B025 defineProperty and defineProperties
//: value: [42,["b"],"TypeError"]
() => { const o = {}; Object.defineProperty(o, "a", { value: 42, enumerable: false }); Object.defineProperties(o, { b: { value: 1, enumerable: true } }); let n; try { o.a = 1; } catch (e) { n = e.name; } return [o.a, Object.keys(o), n]; }

//// B026 freeze, seal, preventExtensions
//: value: [true,true,false,"TypeError"]
() => { const f = Object.freeze({ a: 1 }); const s = Object.seal({ a: 1 }); s.a = 2; let n; try { f.a = 2; } catch (e) { n = e.name; } return [Object.isFrozen(f), Object.isSealed(s), Object.isExtensible(Object.preventExtensions({})), n]; }

//// B027 Symbol.iterator on a class
//: value: [[1,2,3],[1,[2,3]],6]
() => { class Range { constructor(a, b) { this.a = a; this.b = b; } *[Symbol.iterator]() { for (let i = this.a; i <= this.b; i++) yield i; } } const r = new Range(1, 3); const [first, ...rest] = r; let s = 0; for (const x of r) s += x; return [[...r], [first, rest], s]; }

//// B028 an iterator by hand, with return
//: value: [[0,1],"closed"]
() => { let state = "open"; const it = { [Symbol.iterator]() { let i = 0; return { next: () => ({ value: i++, done: false }), return() { state = "closed"; return {}; } }; } }; const got = []; for (const x of it) { if (x > 1) break; got.push(x); } return [got, state]; }

//// B029 Symbol.toPrimitive, Symbol.toStringTag, Symbol.hasInstance
//: value: [42,"forty-two","[object Answer]",true]
() => { const o = { [Symbol.toPrimitive]: (h) => h === "string" ? "forty-two" : 42, [Symbol.toStringTag]: "Answer" }; class Even { static [Symbol.hasInstance](n) { return n % 2 === 0; } } return [+o, `${o}`, Object.prototype.toString.call(o), 2 instanceof Even]; }

//// B030 Proxy and Reflect
//: value: [1,"no zzz",["get a","get zzz"]]
() => { const log = []; const p = new Proxy({ a: 1 }, { get(t, k, r) { log.push(`get ${String(k)}`); return Reflect.has(t, k) ? Reflect.get(t, k, r) : `no ${String(k)}`; } }); return [p.a, p.zzz, log]; }

//// B031 Proxy that validates
//: value: ["TypeError: age",30]
() => { const p = new Proxy({}, { set(t, k, v) { if (k === "age" && typeof v !== "number") throw new TypeError("age"); t[k] = v; return true; } }); let m; try { p.age = "x"; } catch (e) { m = String(e); } p.age = 30; return [m, p.age]; }

//// B032 generators: next, return, throw and delegation
//: value: [1,"got x","caught boom",true,[1,2,3]]
() => { function* g() { const x = yield 1; try { yield `got ${x}`; } catch (e) { yield `caught ${e}`; } } const it = g(); const out = [it.next().value, it.next("x").value, it.throw("boom").value, it.next().done]; function* inner() { yield 2; return 3; } function* outer() { yield 1; yield yield* inner(); } return [...out, [...outer()]]; }

//// B033 own next, return and throw assigned to a generator object
//: value: [7,8]
() => { function* g() { yield 1; } const it = g(); it.next = () => 7; it.return = () => 8; return [it.next(), it.return()]; }

//// B034 closures and currying
//: value: [6,[1,2,1]]
() => { const add = (a) => (b) => (c) => a + b + c; const counter = () => { let n = 0; return () => ++n; }; const x = counter(), y = counter(); return [add(1)(2)(3), [x(), x(), y()]]; }

//// B035 call, apply, bind, this
//: value: ["Ann!","Bob?",[1,2,3,4]]
() => { function greet(p) { return this.name + p; } const bound = greet.bind({ name: "Bob" }); return [greet.call({ name: "Ann" }, "!"), bound("?"), Array.prototype.concat.apply([1, 2], [[3], 4])]; }

//// B036 default parameters, rest, arguments
//: value: [3,[2,3],3,1]
() => { const f = (a, b = a + 1) => a + b; const g = (a, ...r) => r; function h() { return arguments.length; } return [f(1), g(1, 2, 3), h(1, 2, 3), ((a, b = 2) => {}).length]; }

//// B037 tagged templates
//: value: ["a|b|c:1,2","x\\ny"]
() => { const tag = (s, ...v) => s.join("|") + ":" + v; return [tag`a${1}b${2}c`, String.raw`x\ny`]; }

//// B038 labels, break and continue
//: value: [[0,0],[0,1],[2,0],[2,1]]
() => { const out = []; outer: for (let i = 0; i < 4; i++) { for (let j = 0; j < 3; j++) { if (i === 1) continue outer; if (i === 3) break outer; if (j === 2) break; out.push([i, j]); } } return out; }

//// B039 try, catch, finally
//: value: ["t","c boom","f","returned"]
() => { const log = []; const f = () => { try { log.push("t"); throw "boom"; } catch (e) { log.push("c " + e); return "returned"; } finally { log.push("f"); } }; const r = f(); return [...log, r]; }

//// B040 switch with fall-through, comma, void, in, instanceof, typeof
//: value: [["b","c"],2,true,true,"function"]
() => { const out = []; switch (2) { case 1: out.push("a"); case 2: out.push("b"); case 3: out.push("c"); break; default: out.push("d"); } return [out, (1, 2), "a" in { a: 1 }, [] instanceof Array, typeof (() => void 0)]; }

//// B041 logical assignment, nullish, exponent, optional call
//: value: [1,"d",8,null,5]
() => { let a = null; a ??= 1; let b = ""; b ||= "d"; let c = 2; c **= 3; let d = null; d &&= 9; const o = { f: () => 5 }; return [a, b, c, d, o.f?.() ?? o.g?.()]; }

//// B042 computed keys, shorthand, symbols as keys
//: value: [{"a1":1,"x":2},"s"]
() => { const x = 2, k = "a"; const s = Symbol("s"); const o = { [`${k}1`]: 1, x, [s]: 3 }; return [o, Object.getOwnPropertySymbols(o)[0].description]; }

//// B043 Object.entries, fromEntries, assign, is
//: value: [{"a":2,"b":4},{"a":1,"c":3},[false,true]]
() => [Object.fromEntries(Object.entries({ a: 1, b: 2 }).map(([k, v]) => [k, v * 2])), Object.assign({}, { a: 1 }, null, { c: 3 }), [Object.is(0, -0), Object.is(NaN, NaN)]]

//// B044 getOwnPropertyNames, getPrototypeOf, setPrototypeOf
//: value: [["length","0"],true,"hi"]
() => { const base = { hi() { return "hi"; } }; const o = Object.setPrototypeOf({}, base); return [Object.getOwnPropertyNames([1]).sort().reverse(), Object.getPrototypeOf(o) === base, o.hi()]; }

//// B045 WeakMap and WeakSet
//: value: [1,false,true]
() => { const w = new WeakMap(), k = {}; w.set(k, 1); const s = new WeakSet([k]); return [w.get(k), w.has({}), s.has(k)]; }

//// B046 an event emitter
//: value: ["a1","b1","a2"]
() => { class Emitter { constructor() { this.h = {}; } on(e, f) { (this.h[e] ??= []).push(f); return this; } emit(e, ...a) { this.h[e]?.forEach((f) => f.apply(this, a)); } } const out = []; const em = new Emitter().on("x", (v) => out.push("a" + v)).on("x", function (v) { if (v === 1) out.push("b" + v); }); em.emit("x", 1); em.emit("x", 2); return out; }

//// B047 a linked list, a queue and a heap
//: value: [[1,2,3],1,[1,2,5,9]]
() => { class Node { constructor(v, n = null) { this.v = v; this.n = n; } *[Symbol.iterator]() { let c = this; while (c) { yield c.v; c = c.n; } } } const heap = []; const push = (x) => { heap.push(x); heap.sort((a, b) => a - b); }; [5, 1, 9, 2].forEach(push); const q = [1, 2]; return [[...new Node(1, new Node(2, new Node(3)))], q.shift(), heap]; }

//// B048 JSON.stringify with a replacer, an indent and toJSON
//: value: ["{\n  \"a\": 1\n}","{\"a\":1}","{\"d\":\"D\"}","[1,null]"]
() => [JSON.stringify({ a: 1, b: 2 }, (k, v) => k === "b" ? undefined : v, 2), JSON.stringify({ a: 1, b: 2 }, ["a"]), JSON.stringify({ d: { toJSON: () => "D" } }), JSON.stringify([1, undefined])]

//// B049 JSON.stringify of what JSON has no word for
//: value: ["{}","{}","{\"0\":1}",null,"TypeError"]
() => { let n; try { JSON.stringify(1n); } catch (e) { n = e.name; } return [JSON.stringify(new Map([[1, 2]])), JSON.stringify(new Set([1])), JSON.stringify(new Uint8Array([1])), JSON.stringify(() => 1) ?? null, n]; }

//// B050 JSON.parse with a reviver
//: value: [2020,{"a":2}]
() => [JSON.parse('{"d":"2020-05-05T00:00:00Z"}', (k, v) => k === "d" ? new Date(v) : v).d.getUTCFullYear(), JSON.parse('{"a":1}', (k, v) => typeof v === "number" ? v + 1 : v)]

//// B051 structured comparison
//: value: [true,false]
() => { const eq = (a, b) => a === b || (typeof a === "object" && typeof b === "object" && a && b && Object.keys(a).length === Object.keys(b).length && Object.keys(a).every((k) => eq(a[k], b[k]))); return [eq({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }), !!eq({ a: 1 }, { a: 2 })]; }

//// B052 toJSON of one's own class in the result
//: value: {"amount":"12.50 EUR"}
() => { class Money { constructor(v) { this.v = v; } toJSON() { return `${this.v.toFixed(2)} EUR`; } } return { amount: new Money(12.5) }; }

//// B053 dates, errors and class instances in a result
//: value: {"d":"1970-01-01T00:00:00.000Z","p":{"x":1,"y":2}}
() => { class P { x = 1; #h = 3; y = 2; get z() { return this.#h; } } return { d: new Date(0), p: new P() }; }

//// B054 this in a method handed on
//: value: ["TypeError",1]
() => { class A { v = 1; get = () => this.v; lost() { return this.v; } } const { get, lost } = new A(); let n; try { lost(); } catch (e) { n = e.name; } return [n, get()]; }

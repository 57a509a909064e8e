// SPDX-License-Identifier: MIT
// console and timers: functions of the host's, with the attacker's arguments. What they
// show is text in an answer; it must cost no more and say no more than that.
//: form: script
//: layer: realm
//: expect: VALUE
//: value: 1

//// C101 console replaced
//: why: the code may, for itself; errors and rejections are told all the same
//: log: Unhandled promise rejection
globalThis.console = { log() { throw new Error("asked"); }, error() { throw new Error("asked"); } };
Promise.reject(new Error("told")); 1

//// C102 methods of console replaced
//: why: as above
//: log: Unhandled promise rejection
for (const key of Object.keys(console)) console[key] = () => { throw new Error("asked"); };
Promise.reject(new Error("told")); 1

//// C103 methods called on something else
//: why: this is not looked at
//: log: "text":"called"
console.log.call(null, "called"); const { log } = console; log.apply(new Proxy({}, { get() { throw 1; } }), ["x"]); 1

//// C104 toString that throws
//: why: formatting throws nothing into the code
console.log("%s", { toString() { throw new Error("x"); } }); console.log({ toString() { throw new Error("x"); } }); 1

//// C105 every conversion that throws
//: why: as above
//: value: 0
let asked = 0;
const bomb = { [Symbol.toPrimitive]() { asked++; throw 1; }, toString() { asked++; throw 2; }, valueOf() { asked++; throw 3; } };
console.log(bomb, [bomb], { bomb }); console.log("%o %O %j", bomb, bomb, 1); console.dir(bomb); console.table([bomb]);
asked

//// C106 a Proxy
//: why: showing a proxy must not run its traps; %d alone asks for a number, as in Node
//: value: 0
let asked = 0;
const p = new Proxy({ a: 1 }, new Proxy({}, { get(t, trap) { asked++; return undefined; } }));
console.log(p, [p], { p }); console.log("%s %o %O", p, p, p); console.dir(p); console.table(p); console.table([p]); console.error(p);
asked

//// C107 a Proxy of a function
//: why: as above
//: value: 0
let asked = 0;
const p = new Proxy(() => 1, new Proxy({}, { get(t, trap) { asked++; return undefined; } }));
console.log(p, [p]); console.log("%o %O", p, p);
asked

//// C108 a revoked Proxy
//: why: nothing can be read from it
const { proxy, revoke } = Proxy.revocable({}, {}); revoke();
console.log(proxy, [proxy], { proxy }); console.log("%o", proxy); 1

//// C109 getters
//: why: showing an object does not run its getters
//: value: 0
let asked = 0;
const o = { get a() { asked++; return 1; }, get [Symbol.toStringTag]() { asked++; return "T"; }, get constructor() { asked++; return Object; } };
console.log(o, [o]); console.log("%o", o); console.table([o]);
asked <= 0 ? 0 : asked

//// C110 cycles
//: why: shown as such
//: log: Circular
const o = { a: {} }; o.a.o = o; o.self = o; console.log(o); console.log(new Map([[o, o]])); 1

//// C111 depth
//: why: bounded
let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; console.log(o); console.dir(o, { depth: null }); console.dir(o, { depth: Infinity }); 1

//// C112 width
//: why: bounded
console.log(Array.from({ length: 1e6 }, (_, i) => i)); console.log(new Uint8Array(1e7)); console.log("x".repeat(1e5)); 1

//// C113 a sparse array of four billion
//: why: holes are counted, not walked
const a = []; a[4294967294] = 1; console.log(a); 1

//// C114 hostile lengths
//: why: length is a property like any other
console.log({ length: 2 ** 53, 0: 1 }); const a = [1]; Object.defineProperty(a, 0, { get() { throw 1; } }); console.log(a); 1

//// C115 a detached and a resized buffer
//: why: views of nothing
const b = new ArrayBuffer(8, { maxByteLength: 16 }); const v = new Uint8Array(b), d = new DataView(b);
b.resize(2); console.log(b, v, d); b.transfer(); console.log(b, v, d); 1

//// C116 control characters
//: why: the text is JSON in the answer and escaped on a terminal
//: log: \u001b[2J\u0007
console.log("\u001b[2J\u0007\u0000\u202e\u2028\r\n{\"ok\":true}"); 1

//// C117 a forged line of the log
//: why: one line is one entry
//: log: "text":"a\n{\"level\":\"error\",\"text\":\"forged\"}"
console.log("a\n{\"level\":\"error\",\"text\":\"forged\"}"); 1

//// C118 unpaired surrogates
//: why: UTF-8 when it leaves
console.log("\ud800", { "\udfff": "\ud800" }); 1

//// C119 directives without end
//: why: bounded by the text
console.log("%s".repeat(1e4), 1, 2); console.log("%", 1); console.log("%%%s%", 1); console.log("%z%s", 1); console.log("%c%c", 1, 2); 1

//// C120 an error whose parts are hostile
//: why: stack, name, message and cause are read as values only
const e = new Error("x"); e.name = { toString() { throw 1; } }; Object.defineProperty(e, "stack", { get() { throw 2; } }); e.cause = e;
console.log(e, [e], { e }); console.error(e); console.log("%s", e); 1

//// C121 classes, functions and symbols with hostile names
//: why: names are values, too
const f = function () {}; Object.defineProperty(f, "name", { get() { throw 1; } }); Object.defineProperty(f, "toString", { value() { throw 2; } });
class A { static get name() { throw 3; } } class B extends A {}
console.log(f, A, B, new A(), new B(), Symbol("x\u0000"), { [Symbol("y")]: 1 }); 1

//// C122 prototypes that were swapped
//: why: the kind of a thing is the engine's word
const m = Object.setPrototypeOf(new Map([[1, 2]]), Set.prototype), d = Object.setPrototypeOf(new Date(0), null), s = Object.setPrototypeOf([], { get constructor() { throw 1; } });
console.log(m, d, s, Object.create(Array.prototype), Object.create(Date.prototype), Object.create(Map.prototype), Object.create(Error.prototype)); 1

//// C123 collections whose iteration was replaced
//: why: entries are read without the guest's iterators
Map.prototype[Symbol.iterator] = Map.prototype.entries = Map.prototype.forEach = () => { throw 1; };
Set.prototype[Symbol.iterator] = Set.prototype.values = () => { throw 2; };
console.log(new Map([[1, { a: 1 }]]), new Set([1, 2])); 1

//// C124 a promise in each state
//: why: looked at without then
//: log: Promise
Promise.prototype.then = () => { throw 1; };
console.log(Promise.resolve(1), new Promise(() => {})); 1

//// C125 console.table of hostile rows
//: why: columns and rows are bounded and read as values
console.table([{ a: { toString() { throw 1; } } }, null, 5, { get b() { throw 2; } }], ["a", "b", "__proto__"]); console.table(new Map([[1, 2]])); 1

//// C126 console.table's columns are a hostile list
//: why: as above; what the traps throw is the code's own
//: expect: RUNTIME
console.table([{ a: 1 }], new Proxy([], { get() { throw 1; } })); 1

//// C127 labels of count and time
//: why: a label is a text, whatever is given
console.count({ toString() { return "__proto__"; } }); console.count("__proto__"); console.countReset("constructor"); console.time("constructor"); console.timeEnd("toString");
try { console.count(Symbol("x")); } catch {} try { console.time({ toString() { throw 1; } }); } catch {} 1

//// C128 what console's methods give
//: why: nothing
//: value: []
Object.keys(console).filter((key) => console[key]() !== undefined)

//// C129 console.log from inside toString of its own argument
//: why: entered again in the middle
let n = 0; const o = { toString() { if (n++ < 5) console.log("%s", o); return "o"; } }; console.log("%s", o); 1

//// C130 console.log changes its own arguments
//: why: the list is the engine's copy
const args = ["%s %s", { toString() { args.length = 0; return "x"; } }, "y"]; console.log(...args); 1

//// C131 internals cannot be had by throwing from a conversion
//: why: an exception that crosses our frames must not carry them
//: lacks: formatWith emit@
try { console.log("%d", { valueOf() { throw new Error("through"); } }); } catch (e) { console.log(e.stack); } 1

//// C132 setTimeout's handler is no function
//: why: refused at once
//: value: ["TypeError","TypeError","TypeError"]
[null, "x()", {}].map((h) => { try { setTimeout(h, 1); return "no"; } catch (e) { return e.name; } })

//// C133 setTimeout's delay is hostile
//: why: converted in the call, or taken as zero
const e = await new Promise((r) => { try { setTimeout(r, { valueOf() { throw new Error("x"); } }); } catch (x) { r(1); } }); return 1;

//// C134 delays at the edges
//: why: no wrapping to the past, no endless sleep by accident
await new Promise((r) => setTimeout(r, -Infinity)); await new Promise((r) => setTimeout(r, 0.5)); const id = setTimeout(() => {}, 2 ** 31 - 1); clearTimeout(id); return 1;

//// C135 clearing what is not there
//: why: nothing happens
for (const x of [0, -1, 1e9, NaN, null, undefined, "1", {}, Symbol.iterator && [], { valueOf() { return 1; } }]) clearTimeout(x), clearInterval(x); 1

//// C136 a timer cleared from inside itself and from another
//: why: lists that change while they are walked
//: value: 3
let n = 0; const ids = [];
for (let i = 0; i < 5; i++) ids.push(setTimeout(() => { n++; for (const id of ids.slice(2, 4)) clearTimeout(id); }, 1));
await sleep(10); return n;

//// C137 an interval that clears itself
//: why: as above
//: value: 3
let n = 0;
await new Promise((done) => { const id = setInterval(() => { if (++n === 3) { clearInterval(id); done(); } }, 1); });
await sleep(20); return n;

//// C138 an exception in a timer
//: why: nobody awaits it: the call fails with it, or it is told in the log
//: expect: RUNTIME
//: lacks: layout.js timers.c
setTimeout(() => { throw new Error("from a timer"); }, 1); await sleep(20); return 1;

//// C139 this and arguments of a handler
//: why: no object of ours
//: value: [true,2]
let seen; setTimeout(function (...args) { seen = [this === undefined || this === globalThis, args.length]; }, 1, "a", "b"); await sleep(10); return seen;

//// C140 timers are kept by number, and numbers belong to this call
//: why: an object per timer could carry something of ours
//: value: true
const id = setTimeout(() => {}, 1); typeof id === "number" || (typeof id === "object" && Object.getPrototypeOf(id) !== null)

//// C141 sleep's argument is an object
//: why: converted once, in the call
let n = 0; await sleep({ valueOf() { n++; return 1; } }); return n <= 1 ? 1 : n;

//// C142 the result is there although timers wait
//: why: a result does not wait for what nobody awaits
//: timeout: 1000
setTimeout(() => {}, 30000); setInterval(() => {}, 1000); 1

//// C143 two thousand operations on timers
//: why: sets, clears and intervals from inside each other, in an order of chance
//: seed: 7
//: value: true
const ids = []; let ran = 0;
const step = (depth) => () => {
  ran++;
  for (let i = 0; i < 3; i++) {
    const x = Math.random();
    if (x < 0.4 && depth < 8) ids.push(setTimeout(step(depth + 1), Math.random() * 5));
    else if (x < 0.5 && depth < 8) ids.push(setInterval(step(depth + 2), 1));
    else clearTimeout(ids[Math.floor(Math.random() * ids.length)]);
  }
  if (ran > 2000) ids.forEach((id) => clearInterval(id));
};
for (let i = 0; i < 50; i++) ids.push(setTimeout(step(0), i % 7));
for (let i = 0; i < 50 && ran < 2000; i++) await sleep(2);
ids.forEach((id) => clearTimeout(id));
return ran > 50;

//// C144 as many timers as there may be, cleared and set again
//: why: slots are used again; none twice at once
//: value: [10000,"RangeError",10000,3]
const make = () => { const ids = []; try { for (;;) ids.push(setTimeout(() => {}, 1000)); } catch (e) { return [ids, e.name]; } };
const [first, name] = make();
first.forEach((id) => clearTimeout(id));
const [second] = make();
second.forEach((id) => clearTimeout(id));
let n = 0; for (let i = 0; i < 3; i++) setTimeout(() => n++, 1);
await sleep(20);
return [first.length, name, second.length, n]

//// C145 a timer set while its delay is converted
//: why: a list that grows while an entry is added
//: value: ["inner","outer"]
const log = [];
setTimeout(() => log.push("outer"), { valueOf() { for (let i = 0; i < 200; i++) clearTimeout(setTimeout(() => {}, 1)); setTimeout(() => log.push("inner"), 0); return 5; } });
await sleep(30);
return log

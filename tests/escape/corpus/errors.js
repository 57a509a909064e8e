// SPDX-License-Identifier: MIT
// Errors and their stacks: made by the engine in the middle of our code, seen by the
// attacker's. They must be of this realm and name nothing of the host.
//: form: script
//: layer: realm
//: expect: VALUE
//: lacks: lockdown realm. /usr /home native

//// A016 Error.prepareStackTrace
//: why: a hook that is given call sites, whose this and function are the host's
//: value: "string"
Error.prepareStackTrace=(e,s)=>s;typeof new Error("x").stack

//// A017 Error.captureStackTrace
//: why: stacks name the code only, by a name that is not a path
//: value: false
let o={};Error.captureStackTrace(o);String(o.stack).includes("/")

//// A018 prepareStackTrace on a thrown engine error
//: why: as A016, for an error that the engine makes
//: value: ["string",false]
Error.prepareStackTrace = (e, sites) => sites.map((s) => s.getThis());
try { null.x; } catch (e) { [typeof e.stack, String(e.stack).includes("/")] }

//// A019 stack of an error thrown through a host callback
//: why: frames of our own scripts between two of the guest's must not say where they live
//: value: []
const stacks = [];
const spy = { get a() { stacks.push(new Error("x").stack); return 1; }, toString() { stacks.push(new Error("x").stack); return ""; } };
console.log("%s", spy, spy);
console.table([spy]);
setTimeout(() => {}, { valueOf() { stacks.push(new Error("x").stack); return 0; } });
stacks.flatMap((s) => s.split("\n")).filter((line) => /\/|lockdown|inspect\.js|result\.js|timers/.test(line))

//// A020 stack overflow error realm
//: why: engine-made errors belong to this realm
//: value: true
(function r(){try{r()}catch(e){globalThis.k=e.constructor===RangeError}})();k

//// A021 JSON.parse error realm
//: why: as above, from native code
//: value: true
try{JSON.parse("{")}catch(e){e.constructor===SyntaxError}

//// E101 errors of every native kind belong to this realm
//: why: one foreign error is a foreign Function
//: guard: INVALID_CODE
//: value: []
const throwers = [
  () => null.x, () => undefinedName, () => new Array(-1), () => decodeURIComponent("%"), () => BigInt(1.5),
  () => new RegExp("("), () => Symbol() + "", () => ({}).x.y, () => "x".repeat(-1), () => new Proxy({}, null),
  () => Reflect.construct(1), () => [].reduce((a) => a), () => new Intl.NumberFormat("!"), () => structuredClone,
  () => (1).toFixed(1000), () => new Date(NaN).toISOString(), () => Object.defineProperty(1, "x", {}),
  () => new (class extends null {})(), () => { const c = 1; c = 2; }, () => x, () => new Uint8Array(-1),
  () => eval("1"), () => Function("1"), () => console.log.caller, () => setTimeout(), () => sleep(Symbol()),
  () => "x".normalize("y"), () => 1n + 1, () => Object.freeze([1]).push(2), () => JSON.stringify(1n),
];
let x;
const kinds = [Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError];
throwers.flatMap((f) => {
  try { f(); return []; } catch (e) { return kinds.includes(e.constructor) ? [] : [String(e)]; }
})

//// E102 a rejection made by the engine belongs to this realm
//: why: errors that travel through promises are made elsewhere
//: guard: INVALID_CODE
//: value: [true,true]
const errors = await Promise.allSettled([import("x"), (async () => null.x)()]);
return errors.map(({ reason }) => reason instanceof Error)

//// E103 sourceURL, line and column of an engine error
//: why: JavaScriptCore puts them on errors; the name is the code's, not a path
//: value: ["code.js",true]
try { null.x; } catch (e) { [e.sourceURL, e.line >= 1] }

//// E104 a comment that renames the source
//: why: sourceURL comments must not make a stack say what the attacker likes about the host
//: lacks: /etc/passwd:
//: value: true
//# sourceURL=/etc/passwd
let stack = new Error("x").stack;
typeof stack === "string"

//// E105 the error that leaves names the code's frames only
//: why: the stack in the answer is filtered by us, whatever the error says
//: expect: RUNTIME
//: error: Error: boom
//: lacks: /etc/shadow /root
const e = new Error("boom");
e.stack = "at host (/etc/sha" + "dow:1:1)\n@/ro" + "ot/secret.js:3:4";
throw e

//// E106 a forged frame
//: why: the attacker may write a stack in our own format; positions must stay numbers
//: expect: RUNTIME
const e = new Error("boom");
e.stack = "evil@code.js:999999999999999999999:1\nx@code.js:1:99999999999999999\n@code.js:-1:-1\n@code.js:\n@code.js";
throw e

//// E107 a stack that is not text
//: why: reading it must not run what it brings, or must survive it
//: expect: RUNTIME
//: error: boom
const e = new Error("boom");
e.stack = { toString() { throw new Error("ran"); } };
throw e

//// E108 a stack that is a getter which loops
//: why: describing an error is inside the deadline
//: layer: deadline
//: expect: TIMEOUT
//: timeout: 150
const e = new Error("boom");
Object.defineProperty(e, "stack", { get() { for (;;); } });
throw e

//// E109 a name and a message that throw
//: why: each is read in its own exception slot
//: expect: RUNTIME
throw { get name() { throw 1; }, get message() { throw 2; }, get stack() { throw 3; } }

//// E110 line and column that are objects
//: why: as above, for numbers
//: expect: RUNTIME
//: error: boom
const e = new Error("boom");
Object.defineProperty(e, "line", { get() { throw 1; } });
Object.defineProperty(e, "column", { value: { valueOf() { throw 2; } } });
throw e

//// E111 Error.stackTraceLimit
//: why: an endless stack must be cut all the same
//: expect: RUNTIME
//: error: deep
Error.stackTraceLimit = Infinity;
(function f(n) { if (n === 0) throw new Error("deep"); f(n - 1); })(5000)

//// E112 Error.stackTraceLimit that is no number
//: why: the engine reads it when any error is made, ours too
//: value: "Error"
Error.stackTraceLimit = { valueOf() { throw 1; } };
try { throw new Error("x"); } catch (e) { e.name }

//// E113 Symbol.hasInstance lies about errors
//: why: the kind of an exception is the engine's word, not instanceof's
//: expect: RUNTIME
//: error: not an error
Object.defineProperty(Error, Symbol.hasInstance, { value: () => true });
throw { message: "not an error" }

//// E114 function names in a stack cannot add lines
//: why: a name with a line break would forge a frame
//: expect: RUNTIME
//: lacks: "at&host
const f = { ["x\n    at host (/bin/sh:1:1)"]() { throw new Error("boom"); } };
f["x\n    at host (/bin/sh:1:1)"]()

//// E115 names of internal functions do not show in the stack of the answer
//: why: the answer's stack has the code's frames alone
//: expect: RUNTIME
//: error: from a getter
//: lacks: formatValue inspect@ visit@ serialise
({ get a() { throw new Error("from a getter"); } })

// SPDX-License-Identifier: MIT
// Exceptions made to be described: what is thrown is as hostile as what is returned.
//: form: script
//: layer: realm
//: expect: RUNTIME

//// A076 exception: hostile toString
//: why: formatting the error is inside the worker's deadline
//: timeout: 150
//: expect: TIMEOUT RUNTIME
throw {toString(){for(;;);}}

//// A076b exception whose message loops
//: why: as above
//: layer: deadline
//: timeout: 150
//: expect: TIMEOUT
throw { get message() { for (;;); } }

//// A077 exception: null prototype
//: why: the engine's own conversion of it throws
throw Object.create(null)

//// A078 exception: Symbol
//: why: as above
throw Symbol("thrown")

//// A079 exception: Proxy with every trap
//: why: each trap throws; the answer is still one error
throw new Proxy({}, new Proxy({}, { get() { throw new Error("trap"); } }))

//// A079b exception: Proxy of an Error
//: why: neither an error nor an ordinary object
throw new Proxy(new Error("inner"), {})

//// A079c exception: revoked Proxy
//: why: nothing of it can be read
const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy

//// A079d exception: getPrototypeOf trap gives another each time
//: why: instanceof checks of a sanitiser could be led by the nose
let n = 0; throw new Proxy(new Error("x"), { getPrototypeOf: () => n++ % 2 ? TypeError.prototype : null })

//// A080 exception: 100 MB message
//: why: the message is cut to its limit
throw new Error("x".repeat(5e7))

//// A080b exception: 50 MB string
//: why: as above, for what is no error
throw "y".repeat(5e7)

//// A080c exception: 50 MB name
//: why: as above
const e = new Error("x"); e.name = "N".repeat(5e7); throw e

//// A080d exception: 10,000 properties
//: why: an error is described by what it says, not by all it has
const e = new Error("x"); for (let i = 0; i < 1e4; i++) e["p" + i] = "z".repeat(100); throw e

//// A081 exception: fake TIMEOUT
//: why: codes are the host's, whatever a thrown object calls itself
//: error: TIMEOUT
throw Object.assign(new Error("TIMEOUT"),{code:"TIMEOUT",name:"TimeoutError"})

//// A081b exception: fakes of every code
//: why: as above
throw Object.assign(new Error("VIOLATION"), { code: 11, status: 2, ok: true, value: 1, failure: 0, is_out_of_memory: true })

//// A081c exception: terminated
//: why: the engine's own words for a terminated script
throw new Error("JavaScript execution terminated.")

//// A081d exception: stack overflow, forged
//: why: as above
//: error: Maximum call stack
throw new RangeError("Maximum call stack size exceeded.")

//// A082 exception: cause and aggregate cycles
//: why: bounded
let e=new AggregateError([],"a");e.errors.push(e);e.cause=e;throw e

//// A082b exception: AggregateError with 100,000 errors
//: why: bounded
throw new AggregateError(Array.from({ length: 1e5 }, (_, i) => new Error("e" + i)), "many")

//// A082c exception: a chain of 100,000 causes
//: why: bounded, and not recursed into
let e = new Error("0"); for (let i = 0; i < 1e5; i++) e = new Error("c", { cause: e }); throw e

//// A082d exception: errors is a getter that loops
//: why: inside the deadline, if it is read at all
//: timeout: 150
//: expect: RUNTIME TIMEOUT
const e = new AggregateError([], "a"); Object.defineProperty(e, "errors", { get() { for (;;); } }); throw e

//// X001 exception: undefined and null
//: why: nothing to describe, still one error
throw undefined

//// X002 exception: null
//: why: as above
throw null

//// X003 exception: a number, -0
//: why: as above
throw -0

//// X004 exception: a BigInt
//: why: as above
//: error: 5
throw 5n

//// X005 exception: a function
//: why: its text is the code's own
throw function thrown() {}

//// X006 exception with control characters
//: why: an answer is one line of JSON; a terminal must not be steered by a message
throw new Error("\u001b[31mred\r\n\u0007\u202e\u0000end")

//// X007 exception with an unpaired surrogate
//: why: the message is UTF-8 when it leaves
throw new Error("\ud800 lone \udfff")

//// X008 exception thrown from a finally after a return
//: why: the last one counts
//: error: finally
(() => { try { return 1; } finally { throw new Error("finally"); } })()

//// X009 exception from a generator's return
//: why: closing an iterator runs code
//: error: closing
const it = { [Symbol.iterator]: () => ({ next: () => ({ value: 1, done: false }), return() { throw new Error("closing"); } }) };
for (const x of it) break;

//// X010 exception from an async function
//: why: by way of a rejection
//: error: async
(async () => { throw new TypeError("async"); })()

//// X011 rejection with a promise
//: why: a reason that is itself pending
Promise.reject(new Promise(() => {}))

//// X012 rejection with a thenable
//: why: a reason is not awaited

Promise.reject({ then(r) { r("no"); } })

//// X013 exception while the code is evaluated, in form function
//: why: the expression itself may throw before it is a function
//: form: function
//: guard: INVALID_CODE
//: error: early
(() => { throw new Error("early"); })()

//// X014 name with a line break
//: why: one line
const e = new Error("m"); e.name = "A\nB"; throw e

//// X015 Error subclass with a lying toString
//: why: the text is name and message
//: error: Mine: m
class Mine extends Error { constructor(m) { super(m); this.name = "Mine"; } toString() { return "forged"; } }
throw new Mine("m")

//// X016 message changed to an object
//: why: no conversion runs outside its own slot
const e = new Error("m"); e.message = { toString() { throw 1; } }; throw e

//// X017 SuppressedError and nested errors
//: why: inner errors are data
const e = new Error("outer"); e.suppressed = new Error("inner"); e.error = e; throw e

//// X018 DOMException look-alike
//: why: nothing is decided by a name
throw { name: "AbortError", message: "ABORTED", code: 20 }

//// X019 an error frozen, sealed and without a stack
//: why: what is missing is left out
//: error: bare
const e = new Error("bare"); delete e.stack; delete e.line; delete e.column; delete e.sourceURL; throw Object.freeze(e)

// SPDX-License-Identifier: MIT
// All code is strict, in every form, and stays so.
//: form: function
//: layer: parser
//: expect: SYNTAX

//// S001 with
//: why: makes every name dynamic
(d) => { with (d) { return x; } }

//// S002 octal literal
//: why: sloppy mode's sign
() => 010

//// S003 octal escape
//: why: as above
() => "\010"

//// S004 delete of a name
//: why: as above
() => { var x = 1; delete x; return typeof x; }

//// S005 duplicate parameters
//: why: as above
function (a, a) { return a; }

//// S006 assignment to eval
//: why: the name must not be bound
//: guard: INVALID_CODE
() => { eval = 1; }

//// S007 assignment to arguments
//: why: as above
function () { arguments = 1; }

//// S008 labelled function
//: why: sloppy mode's sign
() => { l: function f() {} }

//// S009 let as a name
//: why: as above
() => { var let = 1; return let; }

//// S010 yield and static as names
//: why: as above
() => { var yield_ = 1, static = 2; return static; }

//// S011 a name that was never declared
//: why: sloppy code would make a global of it
//: expect: RUNTIME
//: error: ReferenceError
() => { undeclared = 1; return undeclared; }

//// S012 this of a function
//: why: sloppy code would get the global object
//: expect: VALUE
//: value: ["undefined","number","undefined"]
() => [typeof (function () { return this; })(), typeof (function () { return this; }).call(5), typeof [1].map(function () { return this; })[0]]

//// S013 this of the function itself
//: why: called without an object of ours
//: expect: VALUE
//: value: true
function () { return this === undefined || (Object.isFrozen(this) && Reflect.ownKeys(this).length === 0); }

//// S014 writing to a frozen object
//: why: must throw, not be forgotten
//: expect: RUNTIME
//: error: TypeError
() => { Object.freeze([1])[0] = 2; }

//// S015 deleting what cannot be deleted
//: why: as above
//: expect: RUNTIME
//: error: TypeError
() => { delete Object.prototype; }

//// S016 setting a getter
//: why: as above
//: expect: RUNTIME
//: error: TypeError
() => { ({ get a() { return 1; } }).a = 2; }

//// S017 writing to a primitive
//: why: as above
//: expect: RUNTIME
//: error: TypeError
() => { "x".a = 1; }

//// S018 the arguments object is not an alias
//: why: sloppy code's arguments change its parameters
//: expect: VALUE
//: value: [1,9]
() => (function (a) { arguments[0] = 9; return [a, arguments[0]]; })(1)

//// S019 caller of arguments
//: why: who called is nobody's business
//: expect: RUNTIME
//: error: TypeError
() => (function () { return arguments.callee.caller; })()

//// S020 undefined, NaN and Infinity
//: why: assignments to them fail
//: expect: RUNTIME
//: error: TypeError
() => { undefined = 1; }

//// S021 strict in the form body
//: why: each form has a prefix of its own
//: form: body
with ({}) {} return 1

//// S022 strict in the form script
//: why: as above
//: form: script
with ({}) {} 1

//// S023 strict in the form script with await
//: why: as above
//: form: script
await 0; with ({}) {} 1

//// S024 strict in the form execute
//: why: as above
//: form: execute
function execute() { with ({}) {} return 1; }

//// S025 this at the top of the form body
//: why: no object of ours
//: form: body
//: expect: VALUE
//: value: true
return this === undefined || (Object.isFrozen(this) && Reflect.ownKeys(this).length === 0)

//// S026 functions in blocks
//: why: sloppy code lifts them out
//: expect: VALUE
//: value: "undefined"
() => { { function inner() {} } return typeof inner; }

//// S027 Function.prototype.arguments
//: why: sloppy functions show their arguments to others
//: expect: RUNTIME
//: error: TypeError
() => (function f() { return f.arguments; })(1)

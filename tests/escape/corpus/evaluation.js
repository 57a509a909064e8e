// SPDX-License-Identifier: MIT
// Code from text: eval under all its names.
//: form: script
//: layer: realm
//: expect: RUNTIME
//: error: EvalError
//: guard: INVALID_CODE

//// V001 eval
//: why: no code from text
eval("1+1")

//// V002 indirect eval
//: why: another reference makes it global and sloppy, where it works at all
(0, eval)("typeof process")

//// V003 eval by another name
//: why: a name is not what must be refused
//: guard: RUNTIME
const e = globalThis["ev" + "al"];
e("1")

//// V004 eval bound
//: why: bind hides the function's identity
eval.bind(null, "1")()

//// V005 eval by call
//: why: as above
eval.call(null, "1")

//// V006 eval by apply
//: why: as above
eval.apply(null, ["1"])

//// V007 eval by Reflect.apply
//: why: as above
Reflect.apply(eval, null, ["1"])

//// V008 eval as a callback
//: why: the engine itself calls it
["1"].map(eval)

//// V009 eval by unicode escape
//: why: the identifier is the same, the bytes are not
\u0065val("1")

//// V010 eval by a longer unicode escape
//: why: as above
\u{65}\u{76}al("1")

//// V011 eval by destructuring
//: why: found without writing it as a reference
//: guard: RUNTIME
const { eval: f } = globalThis;
f("1")

//// V012 eval through a with of a proxy
//: why: with is no statement of strict code; nothing else makes names dynamic
//: expect: SYNTAX
//: error: SyntaxError
with (globalThis) eval("1")

//// V013 eval optional call
//: why: eval?.() is indirect
eval?.("1")

//// V014 eval of something that is no text gives it back
//: why: by the standard nothing is evaluated then, and nothing need be refused
//: expect: VALUE
(0, eval)(42)

//// V015 setTimeout with text
//: why: browsers evaluate it; here it must be refused, not run and not forgotten
//: guard: RUNTIME
//: error: TypeError
setTimeout("globalThis.x = 1", 0)

//// V016 setInterval with text
//: why: as above
//: guard: RUNTIME
//: error: TypeError
setInterval("globalThis.x = 1", 1)

//// V017 Function's prototype has the constructor still
//: why: removing the global name alone would be no protection
//: guard: RUNTIME
Function.prototype.constructor("return 1")()

//// V018 constructor put back by Reflect.setPrototypeOf
//: why: a function whose prototype is another function is called as before
//: guard: RUNTIME
const f = () => {};
Reflect.setPrototypeOf(f, Function);
f.prototype === Function.prototype && f.constructor("return 1")()

//// V019 a generator function without a generator
//: why: GeneratorFunction by the prototype of its prototype
//: guard: RUNTIME
const G = Object.getPrototypeOf(function* () {}).constructor;
G("yield 1")

//// V020 RegExp and its flags evaluate nothing
//: why: replacement patterns are no code
//: expect: VALUE
//: guard: VALUE
//: value: "$(1)\\u0031"
"x".replace("x", "$(1)\\u0031")

//// V021 ShadowRealm is not there to import a value
//: why: another realm would have its own eval
//: guard: RUNTIME
//: error: ReferenceError
new ShadowRealm().evaluate("1")

//// V022 eval turned on by the internal name of the switch
//: why: nothing that JavaScript can set is asked
globalThis.evalEnabled = true;
Function.evalEnabled = true;
eval("1")

//// V023 eval's error cannot be made to run code by its message
//: why: the engine's message for a refused eval is fixed text
//: expect: VALUE
//: value: ["EvalError",true]
try { eval("`${globalThis.hit = 1}`"); } catch (e) { [e.name, globalThis.hit === undefined] }

//// V024 Function.prototype.toString gives text that cannot be run
//: why: the source of an internal function may be read, but not made into another
const text = Math.random.toString();
typeof text === "string" && Function(`return ${text}`)()

// SPDX-License-Identifier: MIT
// Names and syntax that load code, or that other environments have and this has not.
//: form: script
//: layer: realm
//: expect: VALUE

//// A027 dynamic import of a file
//: why: rejected, and nothing opened: the filter kills a process that opens
//: guard: INVALID_CODE
//: value: 0
import("/etc/hostname").then(()=>globalThis.z="LOADED",e=>globalThis.z="no"),0

//// A027b what dynamic import rejects with
//: why: the error names no path of the host
//: guard: INVALID_CODE
//: value: ["rejected",false]
const r = await import("/etc/hostname").then((m) => ["loaded", m], (e) => ["rejected", /work|usr|home|No such file/.test(String(e))]);
return r

//// A028 import of a data URL
//: why: code from text by way of a module
//: guard: INVALID_CODE
//: value: "rejected"
return await import("data:text/javascript,export default 1").then(() => "loaded", () => "rejected")

//// A029 import with attributes and a hostile specifier
//: why: the specifier is converted by the attacker's toString, the options are read
//: guard: INVALID_CODE
//: value: "rejected"
return await import({ toString() { return "fs"; } }, { with: { type: "json" } }).then(() => "loaded", () => "rejected")

//// M001 import.meta
//: why: it would name where the code lives; scripts have none
//: expect: SYNTAX
//: guard: INVALID_CODE
import.meta.url

//// M002 static import
//: why: a script has no imports
//: expect: SYNTAX
//: guard: INVALID_CODE
import fs from "fs"; fs

//// M003 export
//: why: the word is left out, and nothing is exported
//: value: 1
export default 1

//// M003b export of what another module has
//: why: there is none
//: expect: SYNTAX
export { readFile } from "fs"

//// M004 import source and import defer
//: why: newer forms of the same
//: expect: SYNTAX
//: guard: INVALID_CODE
import.source("x")

//// A030 ShadowRealm, Loader, $vm
//: why: what a hostile environment of the host's process could switch on
//: value: "undefinedundefinedundefinedundefined"
typeof ShadowRealm+typeof Loader+typeof $vm+typeof $

//// A031 jsc shell globals
//: why: names of the engine's own shell
//: value: ""
["print","load","readFile","read","run","quit","gc","noInline","loadString","checkSyntax"].filter(n=>n in globalThis).join()

//// A032 WebAssembly
//: why: another compiler, and a way to shared memory
//: value: "undefined"
typeof WebAssembly

//// A033 shared memory and waiting
//: why: SharedArrayBuffer makes a fine clock, Atomics.wait a sleep that nobody counts
//: value: ["undefined","undefined","undefined"]
[typeof SharedArrayBuffer, typeof Atomics, typeof globalThis.WebAssembly?.Memory]

//// A034 sight of the collector
//: why: WeakRef and FinalizationRegistry show when memory is freed, and run code later
//: value: ["undefined","undefined"]
[typeof WeakRef, typeof FinalizationRegistry]

//// M005 globals of Node
//: why: none of them, under any spelling
//: value: []
["process", "require", "module", "exports", "Buffer", "global", "__dirname", "__filename", "setImmediate", "clearImmediate",
  "fetch", "WebSocket", "navigator", "MessageChannel", "BroadcastChannel", "Blob", "Worker", "Deno", "Bun",
  "localStorage"].filter((name) => name in globalThis)

//// M006 globals of browsers
//: why: nor of these
//: value: []
["window", "self", "document", "location", "XMLHttpRequest", "importScripts", "alert", "history", "indexedDB", "postMessage",
  "requestAnimationFrame", "EventSource", "SharedWorker", "caches", "top", "parent", "frames"].filter((name) => name in globalThis)

//// M007 require
//: why: refused before it runs where the check is on, unknown where it is not
//: expect: RUNTIME
//: guard: INVALID_CODE
//: error: ReferenceError
require("fs").readFileSync("/etc/passwd")

//// M008 require under another name
//: why: a name built at run time is no name that a parser sees
//: expect: RUNTIME
//: error: TypeError
globalThis["req" + "uire"]("child_" + "process").execSync("id")

//// M009 process.binding
//: why: the back door of Node's front door
//: expect: RUNTIME
//: guard: INVALID_CODE
//: error: ReferenceError
process.binding("spawn_sync")

//// M010 process.mainModule by constructor
//: why: the walk of every published vm escape
//: expect: RUNTIME
//: error: EvalError
this.constructor.constructor("return this.process.mainModule.require('child_process')")()

//// M011 what this is at the top
//: why: the top-level this must not be an object of the host
//: value: true
const t = this;
t === undefined || Object.getPrototypeOf(t) === null || t === globalThis || t instanceof Object

//// M012 this inside a plain function
//: why: strict code has none
//: value: true
(function () { return this; })() === undefined

//// M013 the list of all globals is what it is documented to be
//: why: a new engine version may bring new names: they are to be looked at
//: value: ["AbortController","AbortSignal","AggregateError","Array","ArrayBuffer","BigInt","BigInt64Array","BigUint64Array","Boolean","DOMException","DataView","Date","Error","EvalError","Event","EventTarget","Float16Array","Float32Array","Float64Array","Function","Infinity","Int16Array","Int32Array","Int8Array","Intl","Iterator","JSON","Map","Math","NaN","Number","Object","Promise","Proxy","RangeError","ReferenceError","Reflect","RegExp","Set","String","Symbol","SyntaxError","TextDecoder","TextEncoder","TypeError","URIError","URL","URLSearchParams","Uint16Array","Uint32Array","Uint8Array","Uint8ClampedArray","WeakMap","WeakSet","atob","btoa","clearInterval","clearTimeout","console","crypto","decodeURI","decodeURIComponent","encodeURI","encodeURIComponent","escape","eval","globalThis","isFinite","isNaN","parseFloat","parseInt","performance","queueMicrotask","setInterval","setTimeout","sleep","structuredClone","undefined","unescape"]
Object.getOwnPropertyNames(globalThis).sort()

//// M014 datasets of nobody
//: why: without a dataset there is nothing to find
//: value: ["undefined",false]
[typeof datasets, "datasets" in globalThis]

//// M015 globals that are hidden by enumerability
//: why: for-in and keys must not show internals either
//: value: []
const names = [];
for (const name in globalThis) names.push(name);
names.filter((n) => /gbx|internal|native|realm/i.test(n))

//// M016 symbols on the global object
//: why: an internal slot under a symbol would be found by ownKeys
//: value: []
Object.getOwnPropertySymbols(globalThis).map(String)

//// A122 structuredClone and queueMicrotask
//: why: helpers that only compute, as documented
//: value: "functionfunction"
typeof structuredClone+typeof queueMicrotask

/* SPDX-License-Identifier: MIT */
/*
 * head - the beginning of a script whose middle esbuild makes: fetch, or a package of
 * npm. It binds the built-ins by name, so code that later replaces or removes a global
 * does not affect the script. Names that a realm does not have (a window, a process)
 * are undefined.
 *
 * Both scripts use the prototypes of built-ins, which code may change: that only
 * affects what the code itself gets and requests. The host checks what reaches it.
 */
(function (natives, host) {
  'use strict';
  const {
    Array, ArrayBuffer, BigInt, BigInt64Array, BigUint64Array, Boolean, DataView, Date, Error,
    EvalError, Float32Array, Float64Array, Function, Int8Array, Int16Array, Int32Array, Iterator,
    JSON, Map, Math, Number, Object, Promise, Proxy, RangeError, ReferenceError, Reflect, RegExp,
    Set, String, Symbol, SyntaxError, TypeError, Uint8Array, Uint8ClampedArray, Uint16Array,
    Uint32Array, URIError, WeakMap, WeakSet, decodeURI, decodeURIComponent, encodeURI,
    encodeURIComponent, isFinite, isNaN, parseFloat, parseInt,
  } = globalThis;
  const builtIns = { /* what globalThis stands for */
    __proto__: null,
    Array, ArrayBuffer, BigInt, BigInt64Array, BigUint64Array, Boolean, DataView, Date, Error,
    EvalError, Float32Array, Float64Array, Function, Int8Array, Int16Array, Int32Array, Iterator,
    JSON, Map, Math, Number, Object, Promise, Proxy, RangeError, ReferenceError, Reflect, RegExp,
    Set, String, Symbol, SyntaxError, TypeError, Uint8Array, Uint8ClampedArray, Uint16Array,
    Uint32Array, URIError, WeakMap, WeakSet, decodeURI, decodeURIComponent, encodeURI,
    encodeURIComponent, isFinite, isNaN, parseFloat, parseInt,
  };
  let ActiveXObject, Bun, Deno, DOMQuad, ErrorEvent, File, ImageData, MessageChannel,
    TransformStream, console, dispatchEvent, document, global, process, self, window;
  /* Without shared memory no object is an instance. A package calls the getters. */
  const SharedArrayBuffer = class {
    get byteLength() {
      throw new TypeError('code has no shared memory');
    }

    get growable() {
      return this.byteLength;
    }
  };

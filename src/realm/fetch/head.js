/* SPDX-License-Identifier: MIT */
/*
 * head - the beginning of a script of which esbuild makes the middle: of fetch, or of a
 * package of npm. It gives that the built-ins by name: what code later puts in the place of a
 * global, or removes, is not what it uses. What is not part of a realm (a window, a process)
 * it finds undefined.
 *
 * Both use the prototypes of built-ins, which code may change: it then changes what it
 * gets, and what it asks for itself. What goes to the host is checked there.
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
  /* None is one, since there is no shared memory; a package asks its getters. */
  const SharedArrayBuffer = class {
    get byteLength() {
      throw new TypeError('there is no shared memory');
    }

    get growable() {
      return this.byteLength;
    }
  };

/* SPDX-License-Identifier: MIT */
/*
 * lazy_globals - global names beyond the language that scripts for Node and the web expect. A
 * name is an accessor until it is used. Then the script behind it is evaluated, in the worker,
 * so that a call that does not use it pays nothing.
 *
 * If code has changed the built-ins before, that affects only what it gets here. The C
 * functions of the scripts only compute.
 *
 * Evaluates to a function of (natives, evaluate). Its value has load(name of a script),
 * which returns what that script makes, and what the C side calls.
 */
(function (natives, evaluate) {
  'use strict';
  const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const { isArray } = Array, { isView } = ArrayBuffer, { slice } = String.prototype, { toStringTag } = Symbol;
  const { keys } = Object;
  const ByteArray = Uint8Array, toText = String, TypeErrorOf = TypeError, global = globalThis;
  let isGlobal = false;

  const SCRIPTS = {
    __proto__: null,
    exception: ['DOMException'],
    abort: ['Event', 'EventTarget', 'AbortController', 'AbortSignal'],
    text: ['TextEncoder', 'TextDecoder', 'atob', 'btoa'],
    clone: ['structuredClone'],
    url: ['URL'],
    params: ['URLSearchParams'],
    small: ['queueMicrotask', 'performance', 'crypto'],
    encodings: [],
    none: [],
  };
  const made = { __proto__: null };
  const functions = { __proto__: null }; /* of scripts that were evaluated in the template */
  const getters = { __proto__: null };
  const granted = { __proto__: null }; /* the names that a capability made global, by its bit */

  /* For the console: views of objects with private state, { fields }, { pairs } or { text }. */
  const seers = natives.views = [];
  natives.view = (value) => {
    for (let i = 0; i < seers.length; i++) {
      const seen = seers[i](value);
      if (seen !== undefined) return seen;
    }
    return undefined;
  };

  /* ---- for several scripts, even if code has changed the built-ins before ---- */

  /* Returns the object. */
  const put = natives.put = (object, name, value, enumerable) => {
    defineProperty(object, name, { __proto__: null, value, writable: true, enumerable, configurable: true });
    return object;
  };
  natives.withCode = (error, code) => put(error, 'code', code, true);
  /* Sets what Object.prototype.toString returns. */
  natives.tag = (object, value) => {
    defineProperty(object, toStringTag, { __proto__: null, value, configurable: true });
  };

  natives.need = (args, count, name) => {
    if (args.length < count) throw new TypeErrorOf(`${name} needs ${count} argument${count === 1 ? '' : 's'}`);
  };

  /* Describes a received value without running its code. */
  natives.received = (what) => {
    if (what === null || what === undefined) return `Received ${what}`;
    if (typeof what === 'function') return 'Received a function';
    if (typeof what === 'object') return isArray(what) ? 'Received an array' : 'Received an object';
    if (typeof what === 'symbol') return 'Received a symbol';
    if (typeof what !== 'string') return `Received type ${typeof what} (${toText(what)})`;
    return `Received type string ('${what.length > 28 ? `${apply(slice, what, [0, 25])}...` : what}')`;
  };

  const getter = (proto, name) => {
    const { get } = getOwnPropertyDescriptor(proto, name);
    return (self) => apply(get, self, []);
  };
  const arrays = getPrototypeOf(ByteArray.prototype), views = DataView.prototype;
  const arrayBuffer = getter(arrays, 'buffer'), arrayOffset = getter(arrays, 'byteOffset');
  const arrayLength = getter(arrays, 'byteLength');
  const viewBuffer = getter(views, 'buffer'), viewOffset = getter(views, 'byteOffset');
  const viewLength = getter(views, 'byteLength'), bufferLength = getter(ArrayBuffer.prototype, 'byteLength');
  const NONE = new ByteArray(0);

  /* The current bytes of a buffer or view; undefined if it is neither. A view of a detached
   * buffer has no bytes. */
  natives.bytesOf = (data) => {
    if (isView(data)) {
      const type = natives.typedArray(data);
      if (type === 'Uint8Array') return data;
      if (type !== undefined)
        return arrayLength(data) === 0 ? NONE : new ByteArray(arrayBuffer(data), arrayOffset(data), arrayLength(data));
      try {
        return new ByteArray(viewBuffer(data), viewOffset(data), viewLength(data));
      } catch {
        return NONE;
      }
    }
    let length;
    try {
      length = bufferLength(data);
    } catch {
      return undefined;
    }
    return length === 0 ? NONE : new ByteArray(data, 0, length);
  };

  /* Bytes as text and back. Encodings are numbers: 0 UTF-8, 1 UTF-16LE, 2 Latin-1, 3 ASCII
   * (gbx_bytes_as), and: */
  const BASE64 = 4, BASE64URL = 5, HEX = 6, BYTES = 7;
  /* By every name that Node accepts, in lower case. */
  natives.encodings = {
    __proto__: null, utf8: 0, 'utf-8': 0, utf16le: 1, 'utf-16le': 1, ucs2: 1, 'ucs-2': 1, latin1: 2, binary: 2,
    ascii: 3, base64: BASE64, base64url: BASE64URL, hex: HEX, buffer: BYTES,
  };
  const PADDED = { __proto__: null }, URL_SAFE = { __proto__: null, alphabet: 'base64url', omitPadding: true };
  const { text } = natives, { fromBase64 } = ByteArray, { toBase64, toHex } = ByteArray.prototype;
  const syntaxError = SyntaxError.prototype;

  natives.encoded = (bytes, as) => {
    if (as < BASE64) return text(bytes, as);
    return as === HEX ? apply(toHex, bytes, []) : apply(toBase64, bytes, [as === BASE64URL ? URL_SAFE : PADDED]);
  };
  /* Decodes base64, with or without padding; undefined if it is not valid. */
  natives.fromBase64 = (digits, as) => {
    try {
      return fromBase64(digits, as === BASE64URL ? URL_SAFE : PADDED);
    } catch (error) {
      if (getPrototypeOf(error) !== syntaxError) throw error;
      return undefined;
    }
  };

  function load(script) {
    return made[script] ??= (functions[script] ?? evaluate(script))(natives, load);
  }

  function define(script, name) {
    const get = getters[name] = () => {
      const value = load(script)[name];
      if (getOwnPropertyDescriptor(global, name)?.get === get) put(global, name, value, false);
      return value;
    };
    defineProperty(global, name, {
      __proto__: null, get, set: (value) => put(global, name, value, false), enumerable: false, configurable: true,
    });
  }

  /* Restores name, or all names if it is undefined. */
  function restore(name) {
    if (!isGlobal) return;
    for (const script in SCRIPTS)
      for (let i = 0; i < SCRIPTS[script].length; i++)
        if (name === undefined || SCRIPTS[script][i] === name) define(script, SCRIPTS[script][i]);
  }

  /* Globals that a preload has put in their place stay. */
  function withdrawHelpers() {
    if (!isGlobal) return;
    for (const script in SCRIPTS)
      for (let i = 0; i < SCRIPTS[script].length; i++) {
        const name = SCRIPTS[script][i], own = getOwnPropertyDescriptor(global, name);
        if (own !== undefined && (own.get === undefined ? own.value === made[script]?.[name] : own.get === getters[name]))
          deleteProperty(global, name);
      }
  }

  /* Makes global what the script of a capability, which has this bit, has made. */
  function grant(bit, values) {
    const names = keys(values);
    granted[bit] = names;
    for (let i = 0; i < names.length; i++) put(global, names[i], values[names[i]], false);
  }

  /* For a call without these capabilities, a set of bits. A capability's name may be a
   * helper's again. */
  function withdraw(lost, helpers) {
    if (helpers) withdrawHelpers();
    for (const bit in granted)
      for (let i = 0; (lost & bit) !== 0 && i < granted[bit].length; i++) {
        deleteProperty(global, granted[bit][i]);
        if (!helpers) restore(granted[bit][i]);
      }
  }

  /* Makes room for a host function of that name; false: not a helper, or already
   * made. */
  function giveWay(name) {
    const own = getOwnPropertyDescriptor(global, name);
    return own?.get !== undefined && own.get === getters[name] && deleteProperty(global, name);
  }

  /* In the template of many workers: compiles what a first use runs. The results are
   * discarded, and nothing else sees them. */
  function warm() {
    const all = { __proto__: null };
    const apart = { ...natives, views: [], refuse() {} };
    function loadApart(script) {
      functions[script] ??= evaluate(script);
      all[script] ??= functions[script](apart, loadApart);
      return all[script];
    }
    const { AbortController } = loadApart('abort'), { URL } = loadApart('url');
    const { TextEncoder, TextDecoder, atob, btoa } = loadApart('text');
    const { performance } = loadApart('small');
    loadApart('clone').structuredClone({ a: [1] });
    new TextDecoder().decode(new TextEncoder().encode(atob(btoa('a'))));
    new URL('https://a.example/b?c=d').searchParams.get('c');
    const controller = new AbortController();
    controller.signal.addEventListener('abort', () => {});
    controller.abort();
    performance.now();
    if (!isGlobal) return;
    define('none', 'none');
    getOwnPropertyDescriptor(global, 'none').get();
    deleteProperty(global, 'none');
  }

  function makeGlobal() {
    isGlobal = true;
    restore(undefined);
  }

  return { load, grant, withdraw, giveWay, warm, makeGlobal, isGlobal: () => isGlobal };
})

/* SPDX-License-Identifier: MIT */
/*
 * fs - readFile in Node's shape. The host decides what may be read; this script only
 * checks the form of a path and an encoding. readFileSync is not supported: a call
 * never blocks while the host works.
 *
 * Evaluates to a function of (natives, host); its value becomes global.
 */
(function (natives, host) {
  'use strict';
  const { encoded } = natives;
  const { call } = host;
  const { apply, defineProperty } = Reflect;
  const { freeze } = Object;
  const PromiseOf = Promise, TypeErrorOf = TypeError, ByteArray = Uint8Array;
  const { then } = Promise.prototype;
  const { slice, toLowerCase } = String.prototype;

  /* Numbers of lazy.js, by every name that Node accepts. */
  const UTF8 = 0, UTF16LE = 1, LATIN1 = 2, ASCII = 3, BASE64 = 4, BASE64URL = 5, HEX = 6, BYTES = 7;
  const ENCODINGS = {
    __proto__: null, utf8: UTF8, 'utf-8': UTF8, utf16le: UTF16LE, 'utf-16le': UTF16LE,
    ucs2: UTF16LE, 'ucs-2': UTF16LE, latin1: LATIN1, binary: LATIN1, ascii: ASCII,
    base64: BASE64, base64url: BASE64URL, hex: HEX, buffer: BYTES,
  };

  const NAMES = 'utf8, utf16le, latin1, ascii, base64, base64url, hex; without one the bytes are read';

  function fail(code, message) {
    const error = new TypeErrorOf(`fs.readFile: ${message}`);
    defineProperty(error, 'code', {
      __proto__: null, value: code, writable: true, enumerable: true, configurable: true,
    });
    return error;
  }

  /* Describes a received value without running its code. */
  function received(what) {
    if (what === null || what === undefined) return `Received ${what}`;
    if (typeof what === 'function') return 'Received a function';
    if (typeof what === 'object') return 'Received an object';
    if (typeof what === 'symbol') return 'Received a symbol';
    if (typeof what !== 'string') return `Received type ${typeof what}`;
    return `Received '${what.length > 28 ? `${apply(slice, what, [0, 25])}...` : what}'`;
  }

  function wrongType(name, expected, what) {
    return fail('ERR_INVALID_ARG_TYPE',
      `the "${name}" argument must be ${expected}. ${received(what)}`);
  }

  function wrongValue(message) {
    return fail('ERR_INVALID_ARG_VALUE', message);
  }

  function encodingOf(name) {
    if (name === undefined || name === null) return BYTES;
    const known = typeof name === 'string' && name.length < 16
      ? ENCODINGS[apply(toLowerCase, name, [])] : undefined;
    if (known === undefined)
      throw wrongValue(`the "encoding" is one of ${NAMES}. ${received(name)}`);
    return known;
  }

  /* Options are an encoding or an object that contains one. */
  function read(path, options, done, failed) {
    if (typeof path !== 'string') throw wrongType('path', 'a string', path);
    let encoding = options;
    if (typeof options === 'object' && options !== null) {
      encoding = options.encoding;
      const { flag, signal } = options;
      if (flag !== undefined && flag !== null && flag !== 'r')
        throw wrongValue('files are only read: the "flag" is \'r\'');
      if (signal !== undefined && signal !== null)
        throw wrongValue('a "signal" cannot end a read: leave it out');
    }
    const as = encodingOf(encoding);
    apply(then, call('fs.readFile', [path]), [({ bytes = new ByteArray(0) }) => {
      done(as === BYTES ? bytes : encoded(bytes, as));
    }, failed]);
  }

  const promises = {
    readFile(path, options) {
      return new PromiseOf((resolve, reject) => read(path, options, resolve, reject));
    },
  };
  const fs = {
    readFile(path, options, callback) {
      const done = typeof options === 'function' && callback === undefined ? options : callback;
      if (done === undefined) return promises.readFile(path, options);
      if (typeof done !== 'function') throw wrongType('callback', 'a function', done);
      read(path, done === options ? undefined : options,
        (data) => done(null, data), (error) => done(error));
      return undefined;
    },
    promises,
  };
  freeze(fs.readFile);
  freeze(promises.readFile);
  freeze(promises);
  return { fs: freeze(fs) };
})

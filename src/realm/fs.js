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
  const { encoded, encodings, received, withCode } = natives;
  const { call } = host;
  const { apply } = Reflect;
  const { freeze } = Object;
  const PromiseOf = Promise, TypeErrorOf = TypeError, ByteArray = Uint8Array;
  const { then } = Promise.prototype;
  const { toLowerCase } = String.prototype;

  const BYTES = 7; /* as in lazy_globals.js */
  const NAMES = 'utf8, utf16le, latin1, ascii, base64, base64url, hex; without one the bytes are read';

  function fail(code, message) {
    return withCode(new TypeErrorOf(`fs.readFile: ${message}`), code);
  }

  function wrongType(name, expected, what) {
    return fail('ERR_INVALID_ARG_TYPE', `the "${name}" argument must be ${expected}. ${received(what)}`);
  }

  function wrongValue(message) {
    return fail('ERR_INVALID_ARG_VALUE', message);
  }

  function encodingOf(name) {
    if (name === undefined || name === null) return BYTES;
    const known = typeof name === 'string' && name.length < 16
      ? encodings[apply(toLowerCase, name, [])] : undefined;
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

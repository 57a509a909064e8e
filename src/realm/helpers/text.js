/* SPDX-License-Identifier: MIT */
/* text - TextEncoder, TextDecoder, atob and btoa. Encodings other than Unicode and
 * Latin-1 come from a package (encodings). */
(function (natives, load) {
  'use strict';
  const { defineProperty } = Reflect;
  const { isView } = ArrayBuffer;
  const Bytes = Uint8Array;
  const { kind, typedArray, utf8, decode, base64, unbase64 } = natives;

  const UTF8 = 0, UTF16LE = 1, UTF16BE = 2, LATIN1 = 3;
  const NAMES = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'];

  /* A view of the bytes; empty for undefined input. */
  function bytesOf(input) {
    if (input === undefined) return new Bytes(0);
    if (typedArray(input) === 'Uint8Array') return input;
    if (isView(input)) return new Bytes(input.buffer, input.byteOffset, input.byteLength);
    if (kind(input) !== 'ArrayBuffer')
      throw new TypeError('TextDecoder.decode needs an ArrayBuffer or a view of one');
    return new Bytes(input);
  }

  function encodingOf(label) {
    const labels = {
      __proto__: null,
      'unicode-1-1-utf-8': UTF8, unicode11utf8: UTF8, unicode20utf8: UTF8, 'utf-8': UTF8, utf8: UTF8,
      'x-unicode20utf8': UTF8,
      csunicode: UTF16LE, 'iso-10646-ucs-2': UTF16LE, 'ucs-2': UTF16LE, unicode: UTF16LE,
      unicodefeff: UTF16LE, 'utf-16': UTF16LE, 'utf-16le': UTF16LE,
      unicodefffe: UTF16BE, 'utf-16be': UTF16BE,
      'ansi_x3.4-1968': LATIN1, ascii: LATIN1, cp1252: LATIN1, cp819: LATIN1, csisolatin1: LATIN1,
      ibm819: LATIN1, 'iso-8859-1': LATIN1, 'iso-ir-100': LATIN1, 'iso8859-1': LATIN1,
      iso88591: LATIN1, 'iso_8859-1': LATIN1, 'iso_8859-1:1987': LATIN1, l1: LATIN1, latin1: LATIN1,
      'us-ascii': LATIN1, 'windows-1252': LATIN1, 'x-cp1252': LATIN1,
    };
    return labels[label.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '').toLowerCase()];
  }

  function tag(of, value) {
    defineProperty(of.prototype, Symbol.toStringTag, { value, configurable: true });
  }

  function withCode(error, value) {
    defineProperty(error, 'code', { value, writable: true, enumerable: true, configurable: true });
    return error;
  }

  function otherOf(label, fatal, ignoreBOM) {
    const { TextDecoder: Other } = load('encodings');
    try {
      return new Other(label, { fatal, ignoreBOM });
    } catch {
      throw withCode(new RangeError(`The "${label}" encoding is not supported`), 'ERR_ENCODING_NOT_SUPPORTED');
    }
  }

  class TextEncoder {
    get encoding() { return 'utf-8'; }

    encode(input = '') { return utf8(`${input}`); }

    encodeInto(source, destination) {
      const text = `${source}`;
      if (!isView(destination) || typedArray(destination) !== 'Uint8Array')
        throw new TypeError('TextEncoder.encodeInto needs a Uint8Array');
      let read = 0, written = 0;
      while (read < text.length) {
        const point = text.codePointAt(read);
        const size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        if (written + size > destination.length) break;
        read += size === 4 ? 2 : 1;
        written += size;
      }
      destination.set(utf8(text.slice(0, read)));
      return { read, written };
    }
  }

  function join(before, bytes) {
    if (before === undefined) return bytes;
    const all = new Bytes(before.length + bytes.length);
    all.set(before);
    all.set(bytes, before.length);
    return all;
  }

  class TextDecoder {
    #own;

    constructor(label = 'utf-8', options = undefined) {
      const encoding = label === 'utf-8' ? UTF8 : encodingOf(`${label}`);
      const fatal = !!options?.fatal, ignoreBOM = !!options?.ignoreBOM;
      this.#own = {
        __proto__: null, encoding, fatal, ignoreBOM, started: false,
        pending: undefined, /* the beginning of a character */
        other: encoding === undefined ? otherOf(`${label}`, fatal, ignoreBOM) : undefined, /* the package's */
      };
    }

    get encoding() { return this.#own.other?.encoding ?? NAMES[this.#own.encoding]; }

    get fatal() { return this.#own.fatal; }

    get ignoreBOM() { return this.#own.ignoreBOM; }

    decode(input = undefined, options = undefined) {
      const own = this.#own, stream = !!options?.stream, bytes = join(own.pending, bytesOf(input));
      if (own.other !== undefined) return own.other.decode(bytes, { stream });
      const { text, left } = decode(bytes, own.encoding, own.fatal, stream);
      own.pending = left > 0 ? new Bytes(bytes).slice(bytes.length - left) : undefined;
      const isFirst = !own.started && text !== '';
      own.started = stream && text !== undefined && (own.started || text !== '');
      if (text === undefined)
        throw withCode(new TypeError(`The encoded data was not valid for encoding ${this.encoding}`),
          'ERR_ENCODING_INVALID_ENCODED_DATA');
      return isFirst && !own.ignoreBOM && own.encoding !== LATIN1 && text[0] === '\ufeff'
        ? text.slice(1) : text;
    }
  }
  tag(TextEncoder, 'TextEncoder');
  tag(TextDecoder, 'TextDecoder');

  function need(args, name) {
    if (args.length === 0) throw new TypeError(`${name} needs 1 argument`);
  }

  function refuse(message) {
    throw new (load('exception').DOMException)(message, 'InvalidCharacterError');
  }

  /* Like functions of the language: without a prototype, not constructors. */
  const functions = {
    atob(data) {
      need(arguments, 'atob');
      const text = unbase64(`${data}`);
      return text === undefined ? refuse('The string to be decoded is not correctly encoded.') : text;
    },
    btoa(data) {
      need(arguments, 'btoa');
      const text = base64(`${data}`);
      return text === undefined
        ? refuse('Invalid character: btoa takes text of characters up to U+00FF; encode others with TextEncoder')
        : text;
    },
  };
  return { TextEncoder, TextDecoder, ...functions };
})

/* SPDX-License-Identifier: MIT */
/* text - TextEncoder, TextDecoder, atob and btoa. Encodings other than Unicode and
 * Latin-1 come from a package (encodings). */
(function (natives, load) {
  'use strict';
  const { isView } = ArrayBuffer;
  const Bytes = Uint8Array;
  const { need, tag, typedArray, withCode, bytes: bytesOfText, text: textOf } = natives;

  /* As in lazy_globals.js, except UTF16BE. */
  const UTF8 = 0, UTF16LE = 1, LATIN1 = 2, UTF16BE = 3, BASE64 = 4;
  const NAMES = ['utf-8', 'utf-16le', 'windows-1252', 'utf-16be'];

  /* Empty for undefined input. */
  function bytesOf(input) {
    const bytes = input === undefined ? new Bytes(0) : natives.bytesOf(input);
    if (bytes === undefined) throw new TypeError('TextDecoder.decode needs an ArrayBuffer or a view of one');
    return bytes;
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

    encode(input = '') { return bytesOfText(`${input}`, UTF8); }

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
      destination.set(bytesOfText(text.slice(0, read), UTF8));
      return { read, written };
    }
  }

  /* The 32 characters that windows-1252, which the web calls Latin-1, has at 0x80 to
   * 0x9F. */
  const WINDOWS = '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f' +
    '\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

  function decodeWindows(bytes) {
    return textOf(bytes, LATIN1).replace(/[\x80-\x9f]/g, (control) => WINDOWS[control.charCodeAt(0) - 0x80]);
  }

  /* The number of bytes at the end that begin a character without completing it. */
  function unfinishedUTF8(bytes) {
    for (let n = 1; n < 4 && n <= bytes.length; n++) {
      const lead = bytes[bytes.length - n];
      if (lead < 0xc0) continue;
      const size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
      return lead >= 0xc2 && lead <= 0xf4 && n < size && textOf(bytes.slice(-n), UTF8) === '\ufffd' ? n : 0;
    }
    return 0;
  }

  function decodeUTF8(bytes, fatal, stream) {
    const left = stream ? unfinishedUTF8(bytes) : 0;
    return { left, text: textOf(left > 0 ? bytes.slice(0, bytes.length - left) : bytes, UTF8, fatal) };
  }

  function swap(bytes) {
    const swapped = new Bytes(bytes.length);
    for (let i = 0; i < bytes.length; i++) swapped[i] = bytes[i ^ 1] ?? bytes[i];
    return swapped;
  }

  /* Half a unit at the end counts as one error, also after half a pair. */
  function decodeUTF16(bytes, fatal, stream) {
    const half = bytes.length % 2, units = textOf(bytes, UTF16LE);
    const isCut = /[\ud800-\udbff]$/.test(units), whole = isCut && (stream || half) ? units.slice(0, -1) : units;
    const all = stream || half === 0 ? whole : `${whole}\ufffd`;
    if (fatal && (!all.isWellFormed() || (half && !stream))) return { left: 0, text: undefined };
    return { left: stream ? half + (isCut ? 2 : 0) : 0, text: all.toWellFormed() };
  }

  function decode(bytes, encoding, fatal, stream) {
    switch (encoding) {
      case UTF8: return decodeUTF8(bytes, fatal, stream);
      case UTF16LE: return decodeUTF16(bytes, fatal, stream);
      case UTF16BE: return decodeUTF16(swap(bytes), fatal, stream);
      default: return { left: 0, text: decodeWindows(bytes) };
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
  tag(TextEncoder.prototype, 'TextEncoder');
  tag(TextDecoder.prototype, 'TextDecoder');

  function refuse(message) {
    throw new (load('exception').DOMException)(message, 'InvalidCharacterError');
  }

  /* Like functions of the language: without a prototype, not constructors. */
  const functions = {
    atob(data) {
      need(arguments, 1, 'atob');
      const bytes = natives.fromBase64(`${data}`, BASE64);
      return bytes === undefined ? refuse('The string to be decoded is not correctly encoded.') : textOf(bytes, LATIN1);
    },
    btoa(data) {
      need(arguments, 1, 'btoa');
      const text = `${data}`;
      return /[^\0-\xff]/.test(text)
        ? refuse('Invalid character: btoa takes text of characters up to U+00FF; encode others with TextEncoder')
        : natives.encoded(bytesOfText(text, LATIN1), BASE64);
    },
  };
  return { TextEncoder, TextDecoder, ...functions };
})

/* SPDX-License-Identifier: MIT */
/* text - TextEncoder, TextDecoder, atob and btoa. Encodings other than UTF-8 come from a
 * package (encodings). */
(function (natives, load) {
  'use strict';
  const { isView } = ArrayBuffer;
  const Bytes = Uint8Array;
  const { need, tag, typedArray, withCode, bytes: bytesOfText, text: textOf } = natives;

  const UTF8 = 0, LATIN1 = 2, BASE64 = 4; /* as in lazy_globals.js */

  /* Empty for undefined input. */
  function bytesOf(input) {
    const bytes = input === undefined ? new Bytes(0) : natives.bytesOf(input);
    if (bytes === undefined) throw new TypeError('TextDecoder.decode needs an ArrayBuffer or a view of one');
    return bytes;
  }

  function otherOf(label, fatal, ignoreBOM) {
    const { TextDecoder: Other } = load('encodings');
    try {
      return new Other(label, { fatal, ignoreBOM });
    } catch {
      throw withCode(new RangeError(`The "${label}" encoding is not supported`), 'ERR_ENCODING_NOT_SUPPORTED');
    }
  }

  function decodeOther(other, bytes, stream) {
    try {
      return other.decode(bytes, { stream });
    } catch (error) {
      if (other.fatal && error instanceof TypeError) return undefined;
      throw error;
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
      const fatal = !!options?.fatal, ignoreBOM = !!options?.ignoreBOM;
      const isOther = !/^[\t\n\f\r ]*utf-?8[\t\n\f\r ]*$/i.test(label);
      this.#own = {
        __proto__: null, fatal, ignoreBOM, started: false,
        pending: undefined, /* the beginning of a character */
        other: isOther ? otherOf(`${label}`, fatal, ignoreBOM) : undefined, /* the package's */
      };
    }

    get encoding() { return this.#own.other?.encoding ?? 'utf-8'; }

    get fatal() { return this.#own.fatal; }

    get ignoreBOM() { return this.#own.ignoreBOM; }

    decode(input = undefined, options = undefined) {
      const text = this.#decode(bytesOf(input), !!options?.stream);
      if (text === undefined)
        throw withCode(new TypeError(`The encoded data was not valid for encoding ${this.encoding}`),
          'ERR_ENCODING_INVALID_ENCODED_DATA');
      return text;
    }

    /* undefined: the bytes are not valid. */
    #decode(input, stream) {
      const own = this.#own;
      if (own.other !== undefined) return decodeOther(own.other, input, stream);
      const bytes = join(own.pending, input), left = stream ? unfinishedUTF8(bytes) : 0;
      const text = textOf(left > 0 ? bytes.slice(0, bytes.length - left) : bytes, UTF8, own.fatal);
      own.pending = left > 0 ? new Bytes(bytes).slice(bytes.length - left) : undefined;
      const isFirst = !own.started && text !== '';
      own.started = stream && text !== undefined && (own.started || text !== '');
      return isFirst && !own.ignoreBOM && text?.[0] === '\ufeff' ? text.slice(1) : text;
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

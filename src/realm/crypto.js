/* SPDX-License-Identifier: MIT */
/*
 * crypto - hashes and message authentication codes in Node's shape, the digest of Web
 * Crypto, and randomness. All computed in this process: the host is not involved.
 *
 * Data is a string or bytes, never a value that converts to one: no method of the guest
 * is called on it. Evaluates to a function of (natives); its value becomes
 * global.
 */
(function (natives) {
  'use strict';
  const { open, openMac, copy, bytes, text, value, once, random, equal } = natives;
  const { scratch, words, longest } = natives;
  const {
    bytes: bytesOfText, bytesOf, encoded, encodings, fromBase64, put: own, received, typedArray: typeOf, withCode,
  } = natives.common;
  const ALGORITHM = 0, LENGTH = 1, COUNT = 2, ENCODING = 3; /* indexes of words, as in crypto.c */
  const { apply, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, setPrototypeOf } = Reflect;
  const { floor, min } = Math;
  const ErrorOf = Error, TypeErrorOf = TypeError, RangeErrorOf = RangeError;
  const ByteArray = Uint8Array, { fromHex } = Uint8Array, toText = String;
  const { isView } = ArrayBuffer;
  const uncurry = (f) => (self, ...args) => apply(f, self, args);
  const getter = (proto, name) => {
    const { get } = getOwnPropertyDescriptor(proto, name);
    return (self) => apply(get, self, []);
  };
  const arrays = getPrototypeOf(ByteArray.prototype);
  const bufferOf = getter(arrays, 'buffer');
  const offsetOf = getter(arrays, 'byteOffset');
  const lengthOf = getter(arrays, 'byteLength');
  const put = uncurry(arrays.set);
  const plainString = uncurry(arrays.toString);
  const slice = uncurry(String.prototype.slice);
  const unitAt = uncurry(String.prototype.charCodeAt);
  const indexOf = uncurry(String.prototype.indexOf);
  const exec = uncurry(RegExp.prototype.exec);
  const toLowerCase = uncurry(String.prototype.toLowerCase);
  const PIECE = scratch.length, HALF = PIECE / 2;
  const QUOTA = 65536; /* of getRandomValues, by its specification */
  const SIZE_MAX = 2147483647;
  const SHORT = 1024; /* characters */

  /* Tables without a prototype: names from the guest find only what is in them. */
  const ALGORITHMS = natives.algorithms;
  setPrototypeOf(ALGORITHMS, null);
  const utf8 = 0, utf16le = 1, latin1 = 2, ascii = 3, base64 = 4, base64url = 5, hex = 6, AS_BYTES = 7; /* as in lazy_globals.js */
  const INPUT_NAMES = 'utf8, hex, base64, base64url, latin1, utf16le';
  const OUTPUT_NAMES = 'hex, base64, base64url, latin1; without one the bytes are returned';
  const SUBTLE = {
    __proto__: null, 'sha-1': 'sha1', 'sha-256': 'sha256', 'sha-384': 'sha384', 'sha-512': 'sha512',
  };
  const UUID_DASHES = { __proto__: null, 4: true, 6: true, 8: true, 10: true };

  const NAMES = [], KEYED_NAMES = [];
  for (let i = 0, keys = ownKeys(ALGORITHMS); i < keys.length; i++) {
    if (!getOwnPropertyDescriptor(ALGORITHMS, keys[i]).enumerable) continue; /* another name */
    NAMES[NAMES.length] = keys[i];
    if (!ALGORITHMS[keys[i]][2]) KEYED_NAMES[KEYED_NAMES.length] = keys[i];
  }

  function joined(names) {
    let all = '';
    for (let i = 0; i < names.length; i++) all += i === 0 ? names[i] : `, ${names[i]}`;
    return all;
  }

  /* ---- errors: Node's names and codes ----------------------------------------- */

  function fail(Kind, code, message) {
    return withCode(new Kind(message), code);
  }

  /* An error of Web Crypto; code is the number that browsers use for its name. */
  function failAs(name, code, message) {
    return own(fail(ErrorOf, code, message), 'name', name, false);
  }

  function wrongType(name, expected, what) {
    return fail(TypeErrorOf, 'ERR_INVALID_ARG_TYPE',
      `The "${name}" argument must be ${expected}. ${received(what)}`);
  }

  const BYTES = 'an instance of ArrayBuffer, TypedArray or DataView';

  function finalized() {
    return fail(ErrorOf, 'ERR_CRYPTO_HASH_FINALIZED',
      'Digest already called: make a new hash for more data');
  }

  function outOfRange(name, range, what) {
    return fail(RangeErrorOf, 'ERR_OUT_OF_RANGE',
      `The value of "${name}" is out of range. It must be ${range}. Received ${toText(what)}`);
  }

  /* A whole number from 0 to most. */
  function checkSize(name, what, most) {
    if (typeof what !== 'number') throw wrongType(name, 'of type number', what);
    if (what !== floor(what)) throw outOfRange(name, 'an integer', what);
    if (!(what >= 0 && what <= most)) throw outOfRange(name, `>= 0 && <= ${most}`, what);
    return what;
  }

  /* ---- data ---------------------------------------------------------------------- */

  function algorithmOf(name) {
    if (typeof name !== 'string') throw wrongType('algorithm', 'of type string', name);
    return name.length < 32 ? ALGORITHMS[toLowerCase(name)] : undefined;
  }

  /* The number of an encoding: of text that is given, or of a value that is returned. */
  function encodingOf(name, isGiven) {
    if (typeof name !== 'string') throw wrongType('encoding', 'of type string', name);
    const found = name.length < 32 ? encodings[toLowerCase(name)] : undefined;
    if (isGiven ? found < AS_BYTES : found === latin1 || found >= base64) return found === ascii ? latin1 : found;
    throw fail(TypeErrorOf, 'ERR_UNKNOWN_ENCODING',
      `Unknown encoding: ${slice(name, 0, 32)}. There are ${isGiven ? INPUT_NAMES : OUTPUT_NAMES}`);
  }

  function outputOf(name) {
    return name === undefined || name === null ? AS_BYTES : encodingOf(name, false);
  }

  /* A copy in memory that only a native sees: natives pin the memory that they read. */
  function copied(array) {
    const copy = new ByteArray(lengthOf(array));
    if (lengthOf(copy) > 0) put(copy, array);
    return copy;
  }

  /* Copies size bytes of array, from at on, to offset `to` of scratch. */
  function load(array, at, size, to) {
    put(scratch, at === 0 && size === lengthOf(array) ? array
      : new ByteArray(bufferOf(array), offsetOf(array) + at, size), to);
  }

  function feedBytes(state, array) {
    const length = lengthOf(array);
    for (let at = 0; at < length; at += PIECE) {
      const size = min(PIECE, length - at);
      load(array, at, size, 0);
      words[COUNT] = size;
      bytes(state);
    }
  }

  /* A piece never splits a surrogate pair. */
  function feedText(state, data, encoding) {
    const { length } = data;
    words[ENCODING] = encoding;
    if (length <= PIECE) {
      text(state, data);
      return;
    }
    for (let at = 0; at < length;) {
      let end = min(at + PIECE, length);
      if (encoding === utf8 && end < length && (unitAt(data, end - 1) & 0xfc00) === 0xd800) end--;
      text(state, slice(data, at, end));
      at = end;
    }
  }

  /* As lenient as Node's: hex ends at the first invalid pair. */
  function bytesOfHex(data) {
    const wrong = exec(/[^0-9a-f]/i, data);
    const end = wrong === null ? data.length : wrong.index;
    return fromHex(slice(data, 0, end - end % 2));
  }

  const DIGITS = { __proto__: null, '-': 62, _: 63 };
  for (let i = 0; i < 64; i++)
    DIGITS['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'[i]] = i;

  /* Base64 skips what is not a digit, of either alphabet, and ends at "=". */
  function bytesOfBase64(data, as) {
    const strict = fromBase64(data, as);
    if (strict !== undefined) return strict;
    const made = new ByteArray(data.length);
    let bits = 0, count = 0, used = 0;
    for (let i = 0; i < data.length && data[i] !== '='; i++) {
      const digit = DIGITS[data[i]];
      if (digit === undefined) continue;
      bits = (bits << 6 | digit) & 0xffff;
      count += 6;
      if (count < 8) continue;
      count -= 8;
      made[used++] = bits >> count;
    }
    return new ByteArray(bufferOf(made), 0, used);
  }

  /* Checks data before it is fed. Returns its encoding if it is a string to be hashed
   * directly, else its bytes. */
  function prepare(name, data, encoding) {
    if (typeof data === 'string') {
      const as = encoding === undefined || encoding === null ? utf8
        : encodingOf(encoding, true);
      if (as === hex && data.length % 2 !== 0)
        throw fail(TypeErrorOf, 'ERR_INVALID_ARG_VALUE',
          `The argument 'encoding' is invalid for data of length ${data.length}. Received 'hex'`);
      if (as < base64) return as;
      return as === hex ? bytesOfHex(data) : bytesOfBase64(data, as);
    }
    const array = bytesOf(data);
    if (array === undefined) throw wrongType(name, `of type string or ${BYTES}`, data);
    return array;
  }

  /* Feeds what prepare() returned. If this throws, because memory or stack ran out, the
   * state must not be used again. */
  function feed(state, data, prepared) {
    if (typeof prepared === 'number') feedText(state, data, prepared);
    else feedBytes(state, prepared);
  }

  /* ---- bytes that are returned ------------------------------------------------------ */

  /* Code written for Node calls digest().toString('hex'). */
  const { toString } = {
    toString(encoding) {
      if (encoding === undefined || typeOf(this) !== 'Uint8Array') return plainString(this);
      const as = encodingOf(encoding, false);
      return as === AS_BYTES ? plainString(this) : encoded(copied(this), as);
    },
  };

  function returned(array) {
    return own(array, 'toString', toString, false);
  }

  /* made: bytes, or a short value in hex. */
  function finish(made, output) {
    if (typeof made === 'string') return made;
    return output === AS_BYTES ? returned(made) : encoded(made, output);
  }

  function take(state, output) {
    words[ENCODING] = output;
    return finish(value(state), output);
  }

  function takeOnce(plan, data, output) {
    words[ALGORITHM] = plan.algorithm;
    words[LENGTH] = plan.length;
    words[ENCODING] = output;
    return finish(once(data), output);
  }

  /* ---- hashes ------------------------------------------------------------------------ */

  function start(plan) {
    words[ALGORITHM] = plan.algorithm;
    words[LENGTH] = plan.length;
    return open();
  }

  const COPY = {}; /* in place of an algorithm: the second argument is a state */

  function planOf(name, options) {
    const algorithm = algorithmOf(name);
    if (algorithm === undefined)
      throw fail(ErrorOf, 'ERR_CRYPTO_INVALID_DIGEST',
        `Digest method not supported: ${slice(name, 0, 32)}. There are ${joined(NAMES)}`);
    const wanted = typeof options === 'object' && options !== null ? options.outputLength : undefined;
    if (wanted === undefined) return { __proto__: null, algorithm: algorithm[0], length: algorithm[1] };
    const length = checkSize('options.outputLength', wanted, longest);
    if (length !== algorithm[1] && !algorithm[2])
      throw fail(ErrorOf, 'ERR_OSSL_EVP_NOT_XOF_OR_INVALID_LENGTH',
        `The outputLength of ${slice(name, 0, 32)} is ${algorithm[1]}; shake128 and shake256 have any`);
    return { __proto__: null, algorithm: algorithm[0], length };
  }

  /* If a short text is all the data, as is common, it waits for digest() and needs
   * no state: that saves half the cost of hashing it. */
  class Hash {
    #plan; /* undefined: finished, or an operation failed */
    #first; /* a text that is not fed yet */
    #state; /* undefined: nothing was fed */

    constructor(algorithm, options) {
      if (algorithm === COPY) {
        this.#plan = options.plan;
        this.#state = options.state;
      } else this.#plan = planOf(algorithm, options);
    }

    /* The state, after feeding the text that waited. */
    #open(plan) {
      if (this.#state === undefined) this.#state = start(plan);
      if (this.#first !== undefined) feedText(this.#state, this.#first, utf8);
      this.#first = undefined;
      return this.#state;
    }

    update(data, inputEncoding) {
      const plan = this.#plan;
      if (plan === undefined) throw finalized();
      const prepared = prepare('data', data, inputEncoding);
      if (prepared === utf8 && data.length <= SHORT && this.#state === undefined && this.#first === undefined)
        this.#first = data;
      else {
        this.#plan = undefined;
        feed(this.#open(plan), data, prepared);
        this.#plan = plan;
      }
      return this;
    }

    digest(encoding) {
      const plan = this.#plan;
      if (plan === undefined) throw finalized();
      const output = outputOf(encoding);
      this.#plan = undefined;
      return this.#state === undefined ? takeOnce(plan, this.#first ?? '', output)
        : take(this.#open(plan), output);
    }

    copy() {
      const plan = this.#plan;
      if (plan === undefined) throw finalized();
      this.#plan = undefined;
      const made = new Hash(COPY, { __proto__: null, plan, state: copy(this.#open(plan)) });
      this.#plan = plan;
      return made;
    }
  }

  class Hmac {
    #state; /* undefined: finished, or an operation failed */

    constructor(name, key, options) {
      const algorithm = algorithmOf(name);
      if (algorithm === undefined || algorithm[2])
        throw fail(TypeErrorOf, 'ERR_CRYPTO_INVALID_DIGEST',
          `Invalid digest: ${slice(name, 0, 32)}. There are ${joined(KEYED_NAMES)}`);
      const encoding = typeof options === 'object' && options !== null ? options.encoding : undefined;
      const prepared = prepare('key', key, encoding);
      const isText = typeof prepared === 'number';
      const all = !isText ? copied(prepared) : key.length <= PIECE ? key : bytesOfText(key, prepared);
      words[ALGORITHM] = algorithm[0];
      words[ENCODING] = isText ? prepared : utf8;
      this.#state = openMac(all);
    }

    update(data, inputEncoding) {
      const state = this.#state;
      if (state === undefined) throw finalized();
      const prepared = prepare('data', data, inputEncoding);
      this.#state = undefined;
      feed(state, data, prepared);
      this.#state = state;
      return this;
    }

    digest(encoding) {
      const state = this.#state;
      if (state === undefined) throw finalized();
      const output = outputOf(encoding);
      this.#state = undefined;
      return take(state, output);
    }
  }

  /* ---- Web Crypto ---------------------------------------------------------------------- */

  function subtleDigest(algorithm, data) {
    const named = typeof algorithm === 'object' && algorithm !== null ? algorithm.name : algorithm;
    const name = toText(named);
    const found = name.length < 32 ? SUBTLE[toLowerCase(name)] : undefined;
    if (found === undefined)
      throw failAs('NotSupportedError', 9,
        `Unrecognized algorithm name: ${slice(name, 0, 32)}. There are SHA-1, SHA-256, SHA-384, SHA-512`);
    const array = bytesOf(data);
    if (array === undefined)
      throw wrongType('data', `${BYTES} (of a string: new TextEncoder().encode(data))`, data);
    const state = start({ __proto__: null, algorithm: ALGORITHMS[found][0], length: ALGORITHMS[found][1] });
    feedBytes(state, array);
    words[ENCODING] = AS_BYTES;
    return bufferOf(value(state));
  }

  /* ---- randomness ------------------------------------------------------------------------ */

  /* Puts size random bytes into scratch. */
  function draw(size) {
    words[COUNT] = size;
    if (!random())
      throw fail(ErrorOf, 'ERR_OPERATION_FAILED', 'This call has no randomness');
  }

  function fillRandom(array) {
    const length = lengthOf(array);
    for (let at = 0; at < length; at += PIECE) {
      const size = min(PIECE, length - at);
      draw(size);
      put(array, size === PIECE ? scratch : new ByteArray(bufferOf(scratch), 0, size), at);
    }
    return array;
  }

  const HEX_BYTES = [];
  for (let i = 0; i < 256; i++)
    HEX_BYTES[i] = '0123456789abcdef'[i >> 4] + '0123456789abcdef'[i & 15];

  const crypto = {
    createHash(algorithm, options) {
      return new Hash(algorithm, options);
    },
    createHmac(algorithm, key, options) {
      return new Hmac(algorithm, key, options);
    },
    hash(algorithm, data, options) {
      const isList = typeof options === 'object' && options !== null;
      const encoding = isList ? options.outputEncoding : options;
      const output = encoding === undefined ? hex : outputOf(encoding);
      const plan = planOf(algorithm, options);
      if (typeof data === 'string' && data.length <= SHORT) return takeOnce(plan, data, output);
      const prepared = prepare('input', data, undefined), state = start(plan);
      feed(state, data, prepared);
      return take(state, output);
    },
    getHashes() {
      const names = [];
      for (let i = 0; i < NAMES.length; i++) names[i] = NAMES[i];
      return names;
    },
    timingSafeEqual(a, b) {
      const left = bytesOf(a), right = bytesOf(b);
      if (left === undefined) throw wrongType('buf1', BYTES, a);
      if (right === undefined) throw wrongType('buf2', BYTES, b);
      const length = lengthOf(left);
      if (length !== lengthOf(right))
        throw fail(RangeErrorOf, 'ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH',
          'Input buffers must have the same byte length');
      let same = true;
      for (let at = 0; at < length; at += HALF) {
        const size = min(HALF, length - at);
        load(left, at, size, 0);
        load(right, at, size, HALF);
        words[COUNT] = size;
        same = equal() && same;
      }
      return same;
    },
    randomBytes(size, callback) {
      checkSize('size', size, SIZE_MAX);
      if (callback !== undefined)
        throw fail(TypeErrorOf, 'ERR_INVALID_ARG_VALUE',
          'randomBytes takes no callback here: use what it returns');
      return returned(fillRandom(new ByteArray(size)));
    },
    randomUUID(options) {
      if (options !== undefined && (typeof options !== 'object' || options === null))
        throw wrongType('options', 'of type object', options);
      draw(16);
      scratch[6] = (scratch[6] & 0x0f) | 0x40;
      scratch[8] = (scratch[8] & 0x3f) | 0x80;
      let all = '';
      for (let i = 0; i < 16; i++)
        all += UUID_DASHES[i] ? `-${HEX_BYTES[scratch[i]]}` : HEX_BYTES[scratch[i]];
      return all;
    },
    getRandomValues(array) {
      const type = isView(array) ? typeOf(array) : undefined;
      if (type === undefined || type === 'Float32Array' || type === 'Float64Array' || type === 'Float16Array')
        throw failAs('TypeMismatchError', 17, 'The data argument must be an integer-type TypedArray');
      if (lengthOf(array) > QUOTA)
        throw failAs('QuotaExceededError', 22, 'The requested length exceeds 65,536 bytes');
      fillRandom(bytesOf(array));
      return array;
    },
    subtle: {
      /* An async function: every error rejects. */
      async digest(algorithm, data) {
        return subtleDigest(algorithm, data);
      },
    },
  };

  return { crypto };
})

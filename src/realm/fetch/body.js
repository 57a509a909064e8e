/* SPDX-License-Identifier: MIT */
/*
 * body - what a request or a response carries: bytes that are there already, and can be
 * read once. There are no streams.
 */
import {
  bufferLength, copyBytes, defineProperty, getPrototypeOf, isArray, parse, slice, viewBuffer,
} from './primordials.js';

/* By the engine, or what is not UTF-8 is replaced. */
export function decodeText(bytes) {
  const text = natives.text(bytes);
  if (text !== undefined) return text;
  const all = natives.decode(bytes, 0, false, false).text;
  return all[0] === '\ufeff' ? slice(all, 1) : all;
}

const plain = (message) => new TypeError(message);

/* null: none. Bytes that two bodies share are copied when they are read. */
export function makeBody(bytes) {
  return { __proto__: null, bytes, isUsed: false, isShared: false };
}

/* wrong(message), here and below, makes the error of what cannot be. */
export function cloneBody(body, wrong = plain) {
  if (body === null) return null;
  if (body.isUsed) throw wrong(USED);
  body.isShared = true;
  const other = makeBody(body.bytes);
  other.isShared = true;
  return other;
}

const USED = 'the body has been read already: clone() before the first read, or keep its value';

function take(body) {
  if (body === null) return new Uint8Array(0);
  if (body.isUsed) throw new TypeError(USED);
  body.isUsed = true;
  return body.isShared || bufferLength(viewBuffer(body.bytes)) !== body.bytes.length
    ? copyBytes(body.bytes) : body.bytes;
}

/* What a body may be made of: its bytes, and the type that they have then. */
export function extract(value, isSearchParams, wrong = plain) {
  if (typeof value === 'object' && value !== null) {
    const bytes = copyBytes(value);
    if (bytes !== undefined) return { __proto__: null, bytes, type: null };
    if (isSearchParams(value))
      return text(`${value}`, 'application/x-www-form-urlencoded;charset=UTF-8');
    const proto = getPrototypeOf(value);
    if (proto === null || proto === Object.prototype || isArray(value))
      throw wrong(`the body is ${isArray(value) ? 'an array' : 'an object'}: ` +
        'use JSON.stringify() and the header content-type: application/json');
  }
  return text(`${value}`, 'text/plain;charset=UTF-8');
}

function text(value, type) {
  return { __proto__: null, bytes: natives.utf8(value), type };
}

/* Give an interface the methods that read a body; bodyOf knows an object's own. */
export function addBodyMethods(proto, bodyOf) {
  const methods = {
    async arrayBuffer() {
      return viewBuffer(take(bodyOf(this)));
    },
    async bytes() {
      return take(bodyOf(this));
    },
    async json() {
      return parse(decodeText(take(bodyOf(this))));
    },
    async text() {
      return decodeText(take(bodyOf(this)));
    },
  };
  const names = ['arrayBuffer', 'bytes', 'json', 'text'];
  for (let i = 0; i < names.length; i++)
    defineProperty(proto, names[i], {
      value: methods[names[i]], writable: true, configurable: true,
    });
  defineProperty(proto, 'bodyUsed', {
    get() {
      const body = bodyOf(this);
      return body !== null && body.isUsed;
    },
    configurable: true,
  });
}

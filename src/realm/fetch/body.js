/* SPDX-License-Identifier: MIT */
/*
 * body - the content of a request or a response: bytes that are complete from the start
 * and can be read once. Streams are not supported.
 */
import {
  bufferLength, copyBytes, defineProperty, getPrototypeOf, isArray, isParams, parse, slice, viewBuffer,
} from './primordials.js';

const UTF8 = 0;

export function decodeText(bytes) {
  const all = natives.text(bytes, UTF8);
  return all[0] === '\ufeff' ? slice(all, 1) : all;
}

const plain = (message) => new TypeError(message);

/* Makes a body; null stands for none. Bytes that two bodies share are copied when read. */
export function makeBody(bytes) {
  return { __proto__: null, bytes, isUsed: false, isShared: false };
}

/* wrong(message), here and below, makes the error to throw. */
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

/* Converts a value to a body: its bytes, and their default type. */
export function extract(value, wrong = plain) {
  if (typeof value === 'object' && value !== null) {
    const bytes = copyBytes(value);
    if (bytes !== undefined) return { __proto__: null, bytes, type: null };
    if (isParams(value))
      return text(`${value}`, 'application/x-www-form-urlencoded;charset=UTF-8');
    const proto = getPrototypeOf(value);
    if (proto === null || proto === Object.prototype || isArray(value))
      throw wrong(`the body is ${isArray(value) ? 'an array' : 'an object'}: ` +
        'use JSON.stringify() and the header content-type: application/json');
  }
  return text(`${value}`, 'text/plain;charset=UTF-8');
}

function text(value, type) {
  return { __proto__: null, bytes: natives.bytes(value, UTF8), type };
}

export const isUsed = (body) => body !== null && body.isUsed;

/* Adds the methods that read a body to an interface; bodyOf returns an object's
 * body. */
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
      return isUsed(bodyOf(this));
    },
    configurable: true,
  });
}

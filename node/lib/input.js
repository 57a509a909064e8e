// SPDX-License-Identifier: MIT
//
// input - a JavaScript value as JSON text, and what in it JSON cannot hold.
//
// JSON.stringify takes a snapshot at once: nothing else is that quick, and nothing that is
// changed afterwards gets in. All the rest is done in slices with the event loop between:
// handing the text over, and looking for values that JSON.stringify leaves out silently.
import { addon } from './native.js';

/** Texts up to here are looked through at once, and up to there handed over at once: both
 *  take well below 1 ms. */
const SMALL = 65536;
const MEDIUM = 262144;

/** Characters of longer ones that are handed over at once: below 1 ms. */
const PIECE = 1048576;

/** Of them in one call of the addon, which copies those that are ASCII. */
const PART = 16384;

/** How long one slice of looking may take. */
const SLICE_MS = 2;

const { stringify } = JSON;

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Input that JSON cannot hold, and where. */
export class InvalidData extends Error {
  constructor(what, path, hint) {
    super(path === '' ? `the input is ${what}` : `the input holds ${what} at ${path}`);
    this.path = path;
    this.hint = hint;
  }
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

function pathOf(stack, key) {
  let path = 'data';
  for (let i = 2; i < stack.length; i++) path += step(stack[i].name);
  return key === undefined ? path : path + step(key);
}

const step = (key) =>
  typeof key === 'number' ? `[${key}]` : IDENTIFIER.test(key) ? `.${key}` : `[${stringify(key)}]`;

const tag = Function.prototype.call.bind(Object.prototype.toString);
const TypedArray = Object.getPrototypeOf(Uint8Array);

/** Objects whose contents JSON.stringify drops without a word. */
function lossy(value) {
  if (value instanceof Map) return ['a Map', 'use Object.fromEntries(map) or [...map]'];
  if (value instanceof Set) return ['a Set', 'use [...set]'];
  if (value instanceof TypedArray) return ['a typed array', 'use Array.from(array)'];
  if (value instanceof ArrayBuffer) return ['an ArrayBuffer', 'encode it as text, base64 say'];
  if (value instanceof Promise) return ['a Promise', 'await it first'];
  if (value instanceof RegExp) return ['a regular expression', 'use its source'];
  if (value instanceof Error) return ['an Error', 'use its message'];
  if (value instanceof WeakMap || value instanceof WeakSet) return ['a weak collection', ''];
  return undefined;
}

function primitive(value, path) {
  if (typeof value === 'function') {
    return new InvalidData('a function', path, 'expose() gives functions of the host to the code');
  }
  if (typeof value === 'symbol') return new InvalidData('a symbol', path, 'use a string');
  return new InvalidData('a BigInt', path, 'use a number, or a string');
}

/**
 * Look through a value, in slices: a generator that yields when its time is up, and throws
 * InvalidData at the first thing that JSON cannot hold. What has a toJSON speaks for itself.
 */
function* look(root) {
  const top = { value: root, keys: undefined, next: 0, name: '' };
  const stack = [top];
  const open = new Set();
  let until = performance.now() + SLICE_MS;
  let count = 0;

  const enter = (value, name) => {
    const type = typeof value;
    if (type === 'function' || type === 'symbol' || type === 'bigint') {
      if (typeof value.toJSON === 'function') return;
      throw primitive(value, name === undefined ? '' : pathOf(stack, name));
    }
    if (type !== 'object' || value === null || typeof value.toJSON === 'function') return;
    const path = () => (name === undefined ? '' : pathOf(stack, name));
    if (open.has(value)) throw new InvalidData('a cycle', path(), 'give ids instead of references');
    const keys = Array.isArray(value) ? undefined : Object.keys(value);
    if (keys !== undefined) {
      const plain = Object.getPrototypeOf(value);
      const loss = plain === Object.prototype || plain === null ? undefined : lossy(value);
      if (loss !== undefined) throw new InvalidData(loss[0], path(), loss[1]);
    }
    open.add(value);
    stack.push({ value, keys, next: 0, name });
  };

  enter(root, undefined);
  while (stack.length > 1) {
    const at = stack[stack.length - 1];
    const length = at.keys === undefined ? at.value.length : at.keys.length;
    if (at.next >= length) {
      open.delete(at.value);
      stack.pop();
      continue;
    }
    const key = at.keys === undefined ? at.next++ : at.keys[at.next++];
    const value = at.value[key];
    const type = typeof value;
    if (type !== 'string' && type !== 'number' && type !== 'boolean' && type !== 'undefined') {
      enter(value, key);
    }
    if ((++count & 1023) === 0 && performance.now() > until) {
      yield;
      until = performance.now() + SLICE_MS;
    }
  }
}

function lookAtOnce(value) {
  for (const _ of look(value));
}

async function lookInSlices(value) {
  for (const _ of look(value)) await turn();
}

/** What JSON.stringify threw, with the place of what it threw at. */
function explain(error, value) {
  try {
    lookAtOnce(value);
  } catch (found) {
    if (found instanceof InvalidData) return found;
  }
  if (error instanceof RangeError) {
    return /string/i.test(error.message)
      ? new InvalidData('too long as a text of JSON', '', 'load() parts of it as datasets')
      : new InvalidData('nested too deeply', '', 'flatten it');
  }
  return new InvalidData(`what cannot be turned into JSON: ${error?.message ?? error}`, '', '');
}

/** A large text in the addon's memory. */
async function handOver(text) {
  const gather = addon.gather(text.length + 3 * PART);
  for (let at = 0; at < text.length;) {
    await turn(); // JSON.stringify has just taken its time
    for (const until = at + PIECE; at < until && at < text.length;) {
      let end = Math.min(at + PART, text.length);
      // Not between the halves of a character.
      if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end++;
      addon.append(gather, text.slice(at, end));
      at = end;
    }
  }
  return gather;
}

async function handOverBytes(bytes) {
  const gather = addon.gather(bytes.length);
  const length = bytes.length;
  for (let at = 0; at < length; at += PIECE) {
    if (bytes.length !== length) throw new TypeError('inputJson was detached while it was read');
    addon.append(gather, bytes.subarray(at, Math.min(at + PIECE, length)));
    if (at + PIECE < length) await turn();
  }
  return gather;
}

/** The promise may be rejected before anybody waits for it. */
function quiet(promise) {
  promise.catch(() => {});
  return promise;
}

/**
 * Take a snapshot of a value. Throws InvalidData.
 *
 * text: JSON, if it is short; undefined with no input, and if there is `ready`:
 * ready: a promise of the text in the addon's memory;
 * look: if it has not been looked through. Returns a promise, rejected with InvalidData.
 */
export function snapshot(value) {
  if (value === undefined) return { text: undefined, ready: undefined, look: undefined };
  let text;
  try {
    text = stringify(value);
  } catch (error) {
    throw explain(error, value);
  }
  if (text === undefined) throw primitive(value, '');
  const isPlain = typeof value !== 'object' || value === null;
  if (text.length <= SMALL && !isPlain) lookAtOnce(value);
  const look = text.length <= SMALL || isPlain ? undefined : () => quiet(lookInSlices(value));
  if (text.length <= MEDIUM) return { text, ready: undefined, look };
  return { text: undefined, ready: quiet(handOver(text)), look };
}

/** The same for JSON that is one already: a string, or bytes. */
export function given(json) {
  if (typeof json === 'string') {
    if (json.length <= MEDIUM) return { text: json, ready: undefined, look: undefined };
    return { text: undefined, ready: quiet(handOver(json)), look: undefined };
  }
  if (json instanceof Uint8Array) {
    return { text: undefined, ready: quiet(handOverBytes(json)), look: undefined };
  }
  throw new TypeError('inputJson must be a string or a Uint8Array');
}

/** What snapshot() or given() has taken, once it is known to be sound. */
export async function whole({ text, ready, look }) {
  if (look !== undefined) await look();
  return ready === undefined ? text : ready;
}

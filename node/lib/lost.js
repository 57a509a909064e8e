// SPDX-License-Identifier: MIT
//
// lost - finds what JSON cannot hold: what JSON.stringify drops silently, and the place of
// what it throws at. The value belongs to the embedder: reading it runs getters and traps of
// proxies, which may throw.
import { messageOf } from './thrown.js';

const { isArray } = Array;
const { isView } = ArrayBuffer;
const { getPrototypeOf, keys: keysOf, prototype: plain } = Object;
const { stringify } = JSON;

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** A value's name in messages, and how paths in it begin. */
export const INPUT = { subject: 'the input', root: 'data' };
export const BOUND = { subject: 'what is bound', root: 'bindings' };

/** A value that JSON cannot hold, and its place. Where the embedder gave it, it is wrong use. */
export class InvalidData extends TypeError {
  constructor(what, place, names, hint) {
    const path = names.reduce((all, name) => all + step(name), place.root);
    super(names.length === 0 ? `${place.subject} is ${what}` : `${place.subject} holds ${what} at ${path}`);
    this.path = path;
    this.hint = hint;
  }
}

const step = (key) =>
  typeof key === 'number' ? `[${key}]` : IDENTIFIER.test(key) ? `.${key}` : `[${stringify(key)}]`;

const tag = Function.prototype.call.bind(plain.toString);

const FUNCTION = ['a function', 'expose() gives functions of the host to the code'];
const SYMBOL = ['a symbol', 'use a string'];
const BIGINT = ['a BigInt', 'use a number, or a string'];
const TYPED = ['a typed array', 'use Array.from(array)'];
const ITERATOR = ['an iterator', 'use [...iterator]'];
const ERROR = ['an Error', 'use its message'];
const WEAK = ['a weak collection', ''];
const BYTES = 'encode it as text, base64 say';
const ENTRIES = 'use Object.fromEntries(it)';

/** Objects that JSON.stringify nearly empties, by their Object.prototype.toString name:
 * unlike their constructors it is the same in every realm. */
const LOST = {
  __proto__: null,
  Map: ['a Map', 'use Object.fromEntries(map) or [...map]'],
  Set: ['a Set', 'use [...set]'],
  WeakMap: WEAK,
  WeakSet: WEAK,
  WeakRef: ['a WeakRef', 'use what it refers to'],
  ArrayBuffer: ['an ArrayBuffer', BYTES],
  SharedArrayBuffer: ['a SharedArrayBuffer', BYTES],
  Promise: ['a Promise', 'await it first'],
  RegExp: ['a regular expression', 'use its source'],
  Error: ERROR,
  Symbol: SYMBOL,
  BigInt: BIGINT,
  Generator: ITERATOR,
  AsyncGenerator: ITERATOR,
  Blob: ['a Blob', BYTES],
  File: ['a File', BYTES],
  Headers: ['a Headers', ENTRIES],
  URLSearchParams: ['a URLSearchParams', ENTRIES],
  FormData: ['a FormData', ENTRIES],
  Request: ['a Request', 'use what is needed of it'],
  Response: ['a Response', 'use its text or json'],
};

/** [what, hint] if JSON.stringify drops the contents of this object. */
export function lossOf(object) {
  const prototype = getPrototypeOf(object);
  if (prototype === plain || prototype === null || isArray(object)) return undefined;
  const kind = tag(object).slice(8, -1);
  if (kind === 'Object') return undefined;
  if (isView(object)) return kind === 'DataView' ? ['a DataView', BYTES] : TYPED;
  if (kind.endsWith(' Iterator')) return ITERATOR;
  return LOST[kind] ?? (object instanceof Error ? ERROR : undefined);
}

/* ---- the quick look: nearly everything is plain --------------------------------------- */

function isPlainArray(list) {
  const { length } = list;
  for (let i = 0; i < length; i++) {
    const value = list[i];
    const type = typeof value;
    if (type === 'object') {
      if (value !== null && !(isArray(value) ? isPlainArray(value) : isPlainObject(value))) return false;
    } else if (type === 'function' || type === 'symbol' || type === 'bigint') return false;
  }
  return true;
}

function isPlainObject(object) {
  const prototype = getPrototypeOf(object);
  if (prototype !== plain && prototype !== null) {
    if (typeof object.toJSON === 'function') return true;
    if (lossOf(object) !== undefined) return false;
  }
  for (const key in object) {
    const value = object[key];
    const type = typeof value;
    if (type === 'object') {
      if (value !== null && !(isArray(value) ? isPlainArray(value) : isPlainObject(value))) return false;
    } else if (type === 'function' || type === 'symbol' || type === 'bigint') return false;
  }
  return true;
}

/* JSON.stringify has just gone through it, so it has no cycle. */
function isPlain(object) {
  try {
    return isArray(object) ? isPlainArray(object) : isPlainObject(object);
  } catch {
    return false;
  }
}

/* ---- the search, which knows the path -------------------------------------------------- */

const isHeld = (value) => {
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' || value === null || value === undefined;
};

function lossAt(value) {
  if (typeof value === 'object') return lossOf(value);
  return typeof value === 'bigint' ? BIGINT : typeof value === 'symbol' ? SYMBOL : FUNCTION;
}

/** Looks at the members of objects in the order of JSON.stringify. Throws InvalidData at the
 *  first loss. */
class Search {
  #place;
  #callsToJson; // to find why JSON.stringify threw; otherwise what has a toJSON is not lost
  #names = [];
  #open = new Set();

  constructor(place, callsToJson) {
    this.#place = place;
    this.#callsToJson = callsToJson;
  }

  #fail([what, hint]) {
    throw new InvalidData(what, this.#place, this.#names, hint);
  }

  /** read(): the value, or it throws. name: as toJSON() gets it. */
  visit(read, name) {
    let value;
    let keys;
    let loss;
    try {
      value = read();
      if (!isHeld(value) && typeof value.toJSON === 'function') value = this.#callsToJson ? value.toJSON(String(name)) : null;
      if (isHeld(value)) return;
      loss = lossAt(value);
      if (loss === undefined) keys = isArray(value) ? value.keys() : keysOf(value);
    } catch (error) {
      if (isOutOfStack(error)) throw error;
      this.#fail([`what cannot be read (${messageOf(error)})`, '']);
    }
    if (loss !== undefined) this.#fail(loss);
    if (this.#open.has(value)) this.#fail(['a cycle', 'give ids instead of references']);
    this.#open.add(value);
    for (const key of keys) {
      this.#names.push(key);
      this.visit(() => value[key], key);
      this.#names.pop();
    }
    this.#open.delete(value);
  }
}

/** A getter may throw a RangeError of its own. */
const isOutOfStack = (error) => error instanceof RangeError && /call stack/.test(error.message);

/** The first loss in the value, or undefined. */
function findLoss(value, place, callsToJson) {
  try {
    new Search(place, callsToJson).visit(() => value, '');
    return undefined;
  } catch (found) {
    if (found instanceof InvalidData) return found;
    if (!isOutOfStack(found)) throw found;
    return new InvalidData('nested too deeply', place, [], 'flatten it');
  }
}

/** Why JSON.stringify threw this, or returned undefined, with the place. */
export function explain(error, value, place) {
  if (error instanceof RangeError && /^Invalid string length/.test(error.message)) {
    return new InvalidData('too long as a text of JSON', place, [], 'load() parts of it as datasets');
  }
  if (isOutOfStack(error)) return findLoss(value, place, true) ?? new InvalidData('nested too deeply', place, [], 'flatten it');
  return findLoss(value, place, true) ?? (error === undefined
    ? new InvalidData('what its toJSON() makes undefined', place, [], '')
    : new InvalidData(`what cannot be turned into JSON: ${messageOf(error)}`, place, [], ''));
}

/** Throws InvalidData if JSON.stringify has just dropped a part of this object. */
export function check(object, place) {
  const loss = isPlain(object) ? undefined : findLoss(object, place, false);
  if (loss !== undefined) throw loss;
}

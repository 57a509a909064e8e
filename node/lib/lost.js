// SPDX-License-Identifier: MIT
//
// lost - finds what JSON cannot hold: values that JSON.stringify drops silently, and the place
// of one at which it throws. The value is the embedder's: reading it runs getters and proxy
// traps, which may throw, and it may change between two slices of the search.
import { now, turn } from './clock.js';
import { messageOf } from './thrown.js';

/** Time of one slice of the search, and of the first, which comes after JSON.stringify's
 * time. */
const SLICE_MS = 2;
const FIRST_MS = 1;

/** Values that are checked in one go: microseconds. */
const GO = 1024;

/** JSON.stringify runs out of stack long before. */
const DEEPEST = 100000;

const { isArray } = Array;
const { isView } = ArrayBuffer;
const { getPrototypeOf, hasOwn, keys: keysOf, prototype: plain } = Object;
const { parse, stringify } = JSON;

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** A value's name in messages, and how paths in it begin. */
export const INPUT = { subject: 'the input', root: 'data' };
export const BOUND = { subject: 'what is bound', root: 'bindings' };

/** A value that JSON cannot hold, and its place. */
export class InvalidData extends Error {
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

/* ---- what is plain, which nearly everything is -------------------------------------- */

let fuel = 0;

function isPlainArray(list) {
  const { length } = list;
  if ((fuel -= length + 1) < 0) return false;
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
  if ((fuel -= 8) < 0) return false;
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

/**
 * True if nothing in this object is lost; false also if so many values take too long to
 * check. For a value that JSON.stringify has just accepted, so it has no cycle.
 */
export function isPlain(object, most) {
  fuel = most;
  try {
    return isArray(object) ? isPlainArray(object) : isPlainObject(object);
  } catch {
    return false;
  }
}

/* ---- the walk, for paths and in slices ---------------------------------------------- */

const isHeld = (value) => {
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' || value === null || value === undefined;
};

class Walk {
  #place;
  #isWhy;
  #room;
  #stack = []; // {value, keys, length, next, name}
  #open = new Set();
  #snapshot; // the value's JSON, once it can have changed

  /**
   * isWhy: JSON.stringify has thrown, and we search for the reason, which includes values
   * that throw when read. Otherwise JSON.stringify succeeded, and a value that throws has
   * changed since. room: the most objects that it had.
   */
  constructor(place, isWhy, room) {
    this.#place = place;
    this.#isWhy = isWhy;
    this.#room = room;
  }

  /** From now on the value may have changed; text was its JSON. */
  compareWith(text) {
    this.#snapshot = { text, value: undefined };
  }

  #namesTo(name) {
    const names = this.#stack.slice(1).map((each) => each.name);
    return name === undefined ? names : [...names, name];
  }

  #report(value, [what, hint], name) {
    const names = this.#namesTo(name);
    if (this.#snapshot !== undefined && !this.#wasLost(value, names)) return;
    throw new InvalidData(what, this.#place, names, hint);
  }

  /** Does the snapshot look as if this value had been in it? Where it has something else, the
    * value was put there afterwards. It is parsed only for a loss. */
  #wasLost(value, names) {
    try {
      const left = stringify(value);
      const list = names.slice(0, -1);
      const last = names[names.length - 1];
      let at = this.#snapshot.value ??= parse(this.#snapshot.text);
      if (last === undefined) return left === this.#snapshot.text;
      for (const name of list) at = at[name];
      if (left !== undefined) return hasOwn(at, last) && stringify(at[last]) === left;
      return isArray(at) ? at[last] === null : !hasOwn(at, last);
    } catch {
      return false; // even the objects on the way there are missing
    }
  }

  /** The value with which JSON.stringify would continue, or undefined if nothing is left to
   * check. */
  #read(holder, name) {
    try {
      let value = name === undefined ? holder : holder[name];
      if (isHeld(value)) return undefined;
      if (typeof value.toJSON === 'function') {
        if (!this.#isWhy) return undefined; // its own error is enough
        value = value.toJSON(name === undefined ? '' : String(name));
        if (isHeld(value)) return undefined;
      }
      const isObject = typeof value === 'object';
      if (isObject && !this.#isWhy && isPlain(value, GO)) return undefined;
      const keys = !isObject || isArray(value) ? undefined : keysOf(value);
      const length = keys === undefined ? value.length : keys.length;
      return { value, loss: this.#lossOf(value, isObject), keys, length };
    } catch (error) {
      if (this.#isWhy) this.#report(undefined, [`what cannot be read (${messageOf(error)})`, ''], name);
      return undefined;
    }
  }

  #lossOf(value, isObject) {
    if (isObject) return this.#isWhy && tag(value) === '[object BigInt]' ? BIGINT : lossOf(value);
    if (typeof value === 'bigint') return this.#isWhy ? BIGINT : undefined;
    return typeof value === 'symbol' ? SYMBOL : FUNCTION;
  }

  #see(holder, name) {
    const found = this.#read(holder, name);
    if (found === undefined) return;
    const { value, loss, keys, length } = found;
    if (loss !== undefined) this.#report(value, loss, name);
    else if (this.#open.has(value)) {
      if (this.#isWhy) this.#report(value, ['a cycle', 'give ids instead of references'], name);
    } else if (typeof value === 'object' && --this.#room >= 0) {
      this.#open.add(value);
      this.#stack.push({ value, keys, length, next: 0, name });
      if (!this.#isWhy && keys !== undefined && length <= GO) this.#seeMembers(value, keys);
    }
  }

  /** A loss among the direct members, before everything below; of the input itself at
   * once. */
  #seeMembers(object, keys) {
    for (const key of keys) {
      let isLost;
      try {
        const value = object[key];
        isLost = !isHeld(value) && (typeof value !== 'object' || lossOf(value) !== undefined);
      } catch {
        continue; // #see() handles it
      }
      if (isLost) this.#see(object, key);
    }
  }

  /** Yields when the time of a slice is up; throws InvalidData at the first loss. */
  *over(root) {
    const stack = this.#stack;
    let until = now() + FIRST_MS;

    this.#see(root, undefined);
    for (let count = 1; stack.length > 0 && stack.length < DEEPEST; count++) {
      const at = stack[stack.length - 1];
      if (at.next >= at.length) {
        this.#open.delete(at.value);
        stack.pop();
        continue;
      }
      const i = at.next++;
      this.#see(at.value, at.keys === undefined ? i : at.keys[i]);
      if ((count & 31) === 0 && now() > until) {
        yield;
        until = now() + SLICE_MS;
      }
    }
  }
}

/** The error for what JSON.stringify threw or lost, with its place. */
export function explain(error, value, place) {
  if (error instanceof RangeError && /string/i.test(error.message)) {
    return new InvalidData('too long as a text of JSON', place, [], 'load() parts of it as datasets');
  }
  try {
    for (const _ of new Walk(place, true, Infinity).over(value));
  } catch (found) {
    if (found instanceof InvalidData) return found;
  }
  if (error === undefined) return new InvalidData('what its toJSON() makes undefined', place, [], '');
  if (error instanceof RangeError) return new InvalidData('nested too deeply', place, [], 'flatten it');
  return new InvalidData(`what cannot be turned into JSON: ${messageOf(error)}`, place, [], '');
}

/** Throws InvalidData if JSON.stringify has just dropped something of the value from
 * `text`. */
export function lookAtOnce(value, text, place) {
  if (isPlain(value, Infinity)) return;
  for (const _ of new Walk(place, false, text.length).over(value));
}

/**
 * The same for the first slice. If that is not all, returns a function that does the rest;
 * its promise is rejected only with InvalidData.
 */
export function lookInSlices(value, text, place) {
  const walk = new Walk(place, false, text.length);
  const slices = walk.over(value);
  if (slices.next().done) return undefined;
  return async () => {
    walk.compareWith(text);
    do await turn();
    while (!slices.next().done);
  };
}

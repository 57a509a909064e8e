// SPDX-License-Identifier: MIT
/*
 * argument - errors for wrong use: a TypeError that names the argument, says what it must be
 * and what was passed. Sandboxed code never causes one.
 */
import { lossOf } from './lost.js';
import { isSignal } from './listeners.js';

/* Describes a value that was passed; the text of a string is shown only if it is short. */
export function received(value) {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string')
    return value.length > 40 ? 'a string' : `the string ${JSON.stringify(value)}`;
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'symbol') return 'a symbol';
  return `the ${typeof value} ${String(value)}`;
}

export function wrong(name, expected, value) {
  return new TypeError(`${name} must be ${expected}, not ${received(value)}`);
}

export function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/* True if the object is not an instance of a class. Objects of any realm count. */
export function isPlainObject(value) {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

export function needObject(value, name, expected = 'an object') {
  if (!isObject(value)) throw wrong(name, expected, value);
  return value;
}

/* Names and values: not a Map or anything else that JSON would leave empty. */
export function needValues(value, name) {
  const loss = lossOf(needObject(value, name));
  if (loss !== undefined) throw new TypeError(`${name} must be an object of values, not ${loss[0]}`);
  return value;
}

export function needText(value, name) {
  if (typeof value !== 'string') throw wrong(name, 'a string', value);
  return value;
}

export function needName(value, name) {
  if (typeof value !== 'string' || value.trim() === '') throw wrong(name, 'a name', value);
  return value;
}

export function needFunction(value, name) {
  if (typeof value !== 'function') throw wrong(name, 'a function', value);
  return value;
}

export function needNumber(value, name, least, most = Number.MAX_SAFE_INTEGER) {
  if (typeof value !== 'number' || !(value >= least && value <= most))
    throw wrong(name, `a number from ${least} to ${most}`, value);
  return value;
}

export function needTexts(value, name) {
  if (!Array.isArray(value) || value.some((each) => typeof each !== 'string'))
    throw wrong(name, 'an array of strings', value);
  return value;
}

/* Refuses unknown options, which are misspelt, and a signal passed without its name, which has
 * no members of its own. */
export function needKnown(options, known, name) {
  if (isSignal(options)) throw new TypeError(`${name} must be an object, such as { signal }, not an AbortSignal itself`);
  for (const key of Object.keys(options))
    if (!known.includes(key))
      throw new TypeError(`${name}.${key} is not an option: ${insteadOf(key, known)}`);
}

/* ---- the likely name behind one that does not exist ---- */

/* Names are untrusted: the search for the nearest one is bounded. */
const LONGEST = 48;
const MOST = 200;

/* The number of edits between two names: letters inserted, deleted, replaced or swapped. */
function distance(from, to) {
  let before = [], last = [], now = [];
  for (let j = 0; j <= to.length; j++) last[j] = j;
  for (let i = 1; i <= from.length; i++) {
    now = [i];
    for (let j = 1; j <= to.length; j++) {
      now[j] = Math.min(last[j] + 1, now[j - 1] + 1, last[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        now[j] = Math.min(now[j], before[j - 2] + 1);
    }
    before = last;
    last = now;
  }
  return last[to.length];
}

/** The most similar of names, or undefined if none is similar. */
export function nearest(name, names) {
  let found, least = Math.max(2, Math.floor(name.length / 3)) + 1;
  if (name.length > LONGEST) return undefined;
  for (const each of names.slice(0, MOST)) {
    if (each.length > LONGEST || Math.abs(each.length - name.length) >= least) continue;
    const edits = distance(name.toLowerCase(), each.toLowerCase());
    if (edits < least && edits < each.length) {
      least = edits;
      found = each;
    }
  }
  return found;
}

/** Advice for a name that does not exist: the likely one, or else all of them. */
export function insteadOf(name, names) {
  const meant = nearest(name, names);
  return meant === undefined ? `there are ${names.join(', ')}` : `did you mean '${meant}'?`;
}

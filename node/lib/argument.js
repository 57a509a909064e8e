// SPDX-License-Identifier: MIT
/*
 * argument - errors for wrong use: a TypeError that names the argument, says what it must be
 * and what was passed. Sandboxed code never causes one.
 */
import { lossOf } from './lost.js';
import { insteadOf } from './nearest.js';
import { isSignal } from './signals.js';

/* What was passed, in a few words; its own text appears only if it is short. */
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

/* Is it an object that is not an instance of a class? Objects of any realm count. */
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

/* An unknown option is misspelt, and never ignored. So is a signal passed without its name,
 * which has no own members. */
export function needKnown(options, known, name) {
  if (isSignal(options)) throw new TypeError(`${name} must be an object, such as { signal }, not an AbortSignal itself`);
  for (const key of Object.keys(options))
    if (!known.includes(key))
      throw new TypeError(`${name}.${key} is not an option: ${insteadOf(key, known)}`);
}

// SPDX-License-Identifier: MIT
/*
 * runner-world - the surroundings of code under memory(), and the handling of its result: as
 * in a sandbox, as far as this process can do it.
 */
import { Console } from 'node:console';
import { types } from 'node:util';

import { clearTimeout, setInterval, setTimeout } from './clock.js';
import { jsonOf, InvalidData } from './input.js';
import { lossOf } from './lost.js';

/* The methods of a sandbox's console, by the level of their lines. */
const METHODS = {
  log: ['log', 'dir', 'table', 'count', 'countReset', 'group', 'groupCollapsed', 'groupEnd', 'time', 'timeLog', 'timeEnd'],
  info: ['info'],
  debug: ['debug'],
  warn: ['warn', 'assert'],
  error: ['error', 'trace'],
};

/** A console whose lines go to tell(level, text), with Node's own formatting. */
export function consoleOf(tell) {
  let level;
  const stream = { write: (text) => tell(level, text.slice(0, -1)) }; /* each ends in a line break */
  const inner = new Console({ stdout: stream, stderr: stream, colorMode: false, ignoreErrors: false });
  const made = {};
  for (const [name, methods] of Object.entries(METHODS))
    for (const method of methods)
      made[method] = (...args) => {
        level = name;
        inner[method](...args);
      };
  return made;
}

/** Timers of one call: an exception in a callback fails the call, which ends them. */
export function timersOf(fail) {
  const running = new Map(); /* by the number that the code gets */
  let last = 0;
  const starting = (start, isOnce) => (callback, ms, ...args) => {
    if (typeof callback !== 'function') throw new TypeError('The callback of a timer must be a function');
    const id = ++last;
    running.set(id, start(() => {
      if (isOnce) running.delete(id);
      try {
        callback(...args);
      } catch (error) {
        fail(error);
      }
    }, ms));
    return id;
  };
  const ending = (id) => {
    clearTimeout(running.get(id));
    running.delete(id);
  };
  const own = {
    setTimeout: starting(setTimeout, true), clearTimeout: ending,
    setInterval: starting(setInterval, false), clearInterval: ending,
  };
  return {
    own: { ...own, sleep: (ms) => new Promise((resolve) => own.setTimeout(resolve, ms)) },
    end: () => [...running.keys()].forEach(ending),
  };
}

/* ---- the result ------------------------------------------------------------------------ */

const RESULT = { subject: 'the result', root: 'result' };

/* Values that a sandbox writes as JSON and JSON.stringify does not: an Error, a RegExp, a
 * typed array. A cycle's copy has one too, and is refused afterwards. */
function readable(given, copies, key = '') {
  const isMade = typeof given?.toJSON === 'function'; /* then toJSON() makes the value */
  const value = isMade ? given.toJSON(key) : given;
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (copies.has(value)) return copies.get(value);
  if (types.isBoxedPrimitive(value)) return value.valueOf();
  if (types.isRegExp(value) && !isMade) return String(value);
  const isList = Array.isArray(value) || types.isTypedArray(value);
  const isError = types.isNativeError(value) && !isMade;
  if (!isList && !isError && !isMade && lossOf(value) !== undefined) return value;
  const copy = isList ? [] : {};
  copies.set(value, copy);
  if (isError) Object.assign(copy, { name: value.name, message: value.message });
  const names = isList ? [...value.keys()] : Object.keys(value);
  if (isError && Object.hasOwn(value, 'cause') && !names.includes('cause')) names.push('cause');
  for (const name of names)
    Object.defineProperty(copy, name, { value: readable(value[name], copies, String(name)), enumerable: true, configurable: true, writable: true });
  return copy;
}

/** The result as it leaves a sandbox. If it could not, throws a text with the reason. */
export function resultOf(value) {
  if (value === undefined) return undefined;
  const isLost = typeof value === 'function' || typeof value === 'symbol';
  const copy = isLost ? value : readable(value, new Map());
  if (copy === undefined) return undefined;
  try {
    return JSON.parse(jsonOf(copy, RESULT));
  } catch (error) {
    if (error instanceof InvalidData) throw `${error.message}, which JSON cannot hold`;
    throw error;
  }
}

// SPDX-License-Identifier: MIT
/*
 * tool-context - a handler's context: the embedder's, and the request's members. An instance
 * of a class keeps its methods and getters, which a copy of its members would lack.
 */
import { isPlainObject } from './argument.js';

/* Methods run on the instance itself: a proxy would lack its private members. */
function read(given, key) {
  const value = Reflect.get(given, key, given);
  const isMethod = typeof value === 'function' && key !== 'constructor' && !Object.hasOwn(given, key);
  return isMethod ? value.bind(given) : value;
}

/** own: the request's members; what handlers write goes there, too, and ends with the
 * request. */
export function contextFor(given, own) {
  if (isPlainObject(given)) return { ...given, ...own };
  const get = (key) => (Object.hasOwn(own, key) ? own[key] : read(given, key));
  return new Proxy({}, {
    get: (_, key) => get(key),
    set(_, key, value) {
      own[key] = value;
      return true;
    },
    has: (_, key) => Object.hasOwn(own, key) || key in given,
    ownKeys: () => [...new Set([...Reflect.ownKeys(given), ...Reflect.ownKeys(own)])],
    getOwnPropertyDescriptor(_, key) {
      const found = Reflect.getOwnPropertyDescriptor(own, key) ?? Reflect.getOwnPropertyDescriptor(given, key);
      return found && { value: get(key), writable: true, enumerable: found.enumerable, configurable: true };
    },
  });
}

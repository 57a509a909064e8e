// SPDX-License-Identifier: MIT
/*
 * tool-context - what a handler has: the embedder's context, and what is of the request. An
 * instance of a class keeps its methods and getters, which a copy of its members would lack.
 */
import { isPlainObject } from './argument.js';

/* A method finds the private members of the instance, and not of what stands for it. */
function read(given, key) {
  const value = Reflect.get(given, key, given);
  const isMethod = typeof value === 'function' && key !== 'constructor' && !Object.hasOwn(given, key);
  return isMethod ? value.bind(given) : value;
}

/** own: what is of the request; what handlers write goes there, too, and ends with it. */
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

/* SPDX-License-Identifier: MIT */
/*
 * preload - names that exist only while a library is loaded.
 *
 * Scripts that were built for several environments look for `self`, `window` or
 * `global` and attach themselves to it. Here all three are the global object. They are
 * removed when the last preload has run, except one that a preload has set itself.
 *
 * A preload may leave a function at globalThis[Symbol.for('glovebox.warm')]. It is
 * called with 0 in the template, where every host function answers {} at once, so that
 * the preload's code is compiled before calls run it. It is called again with a number,
 * in the template and in each worker before its call, to do what a short call with that
 * many host calls would do. Calls do not find the function.
 *
 * It may leave functions at globalThis[Symbol.for('glovebox.digits')], for integers beyond
 * 2^53 - 1. input(code, text) returns the value of an input, if the code or the input may have
 * such integers. result(text) returns other text for the JSON of a result with them, or
 * undefined. An object `servers` beside them means that the code has other servers' tools.
 * Calls that name a dataset use none of these.
 *
 * At globalThis[Symbol.for('glovebox.ask')] a preload finds ask(name, args, resolve,
 * reject, check) of host.js, which calls a host function and leaves promises and errors
 * to the preload. resolve returns the value that the code got as a result.
 *
 * Evaluates to a function of ask. Its value removes the names and returns what was left:
 * { warm, input, result, servers }.
 */
(function (ask) {
  'use strict';
  const global = globalThis;
  const { defineProperty, deleteProperty, getOwnPropertyDescriptor } = Reflect;
  const NAMES = ['self', 'window', 'global'];
  const WARM = Symbol.for('glovebox.warm');
  const DIGITS = Symbol.for('glovebox.digits');
  const ASK = Symbol.for('glovebox.ask');
  defineProperty(global, ASK, { value: ask, enumerable: false, configurable: true });

  const getters = { __proto__: null };
  for (let i = 0; i < NAMES.length; i++) {
    const name = NAMES[i];
    const accessor = {
      get() {
        return global;
      },
      set(own) {
        defineProperty(global, name, {
          value: own, writable: true, enumerable: true, configurable: true,
        });
      },
      enumerable: false,
      configurable: true,
    };
    getters[name] = accessor.get;
    defineProperty(global, name, accessor);
  }

  return function () {
    for (let i = 0; i < NAMES.length; i++) {
      const now = getOwnPropertyDescriptor(global, NAMES[i]);
      if (now !== undefined && now.get === getters[NAMES[i]]) deleteProperty(global, NAMES[i]);
    }
    const warm = global[WARM];
    const digits = global[DIGITS];
    deleteProperty(global, WARM);
    deleteProperty(global, DIGITS);
    deleteProperty(global, ASK);
    return { __proto__: null, ...digits, warm: typeof warm === 'function' ? warm : undefined };
  };
})

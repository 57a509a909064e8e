/* SPDX-License-Identifier: MIT */
/*
 * preload - what a library looks for while it is loaded, and finds at no other time.
 *
 * Scripts that were built for several surroundings ask for `self`, `window` or
 * `global` and attach themselves to it. Here all three are the global object. They go
 * again when the last preload has run, but for one that a preload has set itself.
 *
 * A preload may leave a function at globalThis[Symbol.for('glovebox.warm')]. It is called
 * with 0 in the template, where every function of the host answers {} in no time, so that
 * code of the preload that calls run is compiled by then, and again with a number, there and
 * in each worker before its call, for what a short call that calls the host so often would
 * do; no call finds it.
 *
 * And it finds, at globalThis[Symbol.for('glovebox.ask')], host.js's own way to call a function
 * of the host, for promises and errors that it makes itself: ask(name, args, resolve, reject).
 *
 * Evaluates to a function of ask; its value takes the names away, and gives back the function
 * that was left, or undefined.
 */
(function (ask) {
  'use strict';
  const global = globalThis;
  const { defineProperty, deleteProperty, getOwnPropertyDescriptor } = Reflect;
  const NAMES = ['self', 'window', 'global'];
  const WARM = Symbol.for('glovebox.warm');
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
    deleteProperty(global, WARM);
    deleteProperty(global, ASK);
    return typeof warm === 'function' ? warm : undefined;
  };
})

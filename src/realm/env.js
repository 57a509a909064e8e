/* SPDX-License-Identifier: MIT */
/*
 * env - the values that the policy lists, as a frozen object without a prototype, which
 * has no other names.
 *
 * Evaluates to a function without arguments. Its value's env becomes global. make(json),
 * which only the C side sees, makes env from the JSON of a call's values.
 */
(function () {
  'use strict';
  const { parse } = JSON;
  const { freeze } = Object;
  const { defineProperty, setPrototypeOf } = Reflect;

  function make(json) {
    const env = parse(json);
    setPrototypeOf(env, null);
    return freeze(env);
  }

  const made = { env: make('{}') };
  defineProperty(made, 'make', { value: make, enumerable: false });
  return made;
})

/* SPDX-License-Identifier: MIT */
/*
 * env - the values that the policy lists, as an object that cannot be extended and that
 * has no other names, since it has no prototype.
 *
 * Evaluates to a function without arguments. Its value becomes global, with `make`, of
 * the JSON of a call's values, which only the C side sees.
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

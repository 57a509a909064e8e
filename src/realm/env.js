/* SPDX-License-Identifier: MIT */
/*
 * env - the values that the policy lists, as an object that nothing can be added to and
 * that has no names but theirs: there is no prototype to find others in.
 *
 * Evaluates to a function of nothing; its value is what becomes global, and `make`, of
 * the JSON of a call's values, which is seen by the C side alone.
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

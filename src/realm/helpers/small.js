/* SPDX-License-Identifier: MIT */
/* small - queueMicrotask, performance.now() in whole milliseconds, crypto.randomUUID(). */
(function (natives) {
  'use strict';
  const { apply } = Reflect;
  const { then } = Promise.prototype;
  const { floor } = Math;
  const TypeErrorOf = TypeError;
  const resolved = Promise.resolve();
  const begin = natives.clock();
  const tagged = (object, value) => {
    natives.tag(object, value);
    return object;
  };

  const { queueMicrotask } = {
    queueMicrotask(callback) {
      if (typeof callback !== 'function')
        throw new TypeErrorOf('The callback of queueMicrotask must be a function');
      apply(then, resolved, [() => {
        callback();
      }]);
    },
  };
  const performance = tagged({
    now() {
      return floor(natives.clock() - begin);
    },
  }, 'Performance');
  const crypto = tagged({
    randomUUID() {
      return natives.uuid();
    },
  }, 'Crypto');
  return { queueMicrotask, performance, crypto };
})

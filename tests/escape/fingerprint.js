/* SPDX-License-Identifier: MIT */
/*
 * fingerprint - everything that can be reached in a realm, as one number: objects,
 * prototypes, properties, their attributes, functions and plain values. Two calls that
 * see the same realm give the same text; a property, a setter or a value that an
 * earlier call left behind gives another.
 */
() => {
  const { getOwnPropertyDescriptor, getOwnPropertyNames, getOwnPropertySymbols } = Object;
  const seen = new Map();
  const queue = [];
  let hash = 0x811c9dc5;

  const add = (text) => {
    for (let i = 0; i < text.length; i++)
      hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    hash = Math.imul(hash ^ 0x1f, 0x01000193);
  };
  const visit = (value) => {
    if ((typeof value === 'object' && value !== null) || typeof value === 'function') {
      if (!seen.has(value)) {
        seen.set(value, seen.size);
        queue.push(value);
      }
      add(`#${seen.get(value)}`);
    } else {
      add(typeof value === 'symbol' ? String(value) : `${typeof value} ${value}`);
    }
  };

  if (typeof globalThis === 'object') visit(globalThis);
  else [JSON, Math, Date, Map, Set, TypeError, RangeError, parseInt, isNaN].forEach(visit);
  [
    function* () {}, async function () {}, async function* () {}, (function* () {})(),
    [].values(), 'x'.matchAll(/x/g), [].values().map?.((x) => x), (async function* () {})(),
    Promise.resolve(), new Date(0),
  ].forEach(visit);
  try {
    null.x;
  } catch (error) {
    visit(Object.getPrototypeOf(error));
  }

  for (const object of queue) {
    visit(Object.getPrototypeOf(object));
    add(`${Object.isExtensible(object)} ${Object.prototype.toString.call(object)}`);
    if (typeof object === 'function') add(visit.toString.call(object));
    for (const key of [...getOwnPropertyNames(object), ...getOwnPropertySymbols(object)]) {
      const own = getOwnPropertyDescriptor(object, key);
      add(`${String(key)} ${own.writable} ${own.enumerable} ${own.configurable}`);
      if ('value' in own) visit(own.value);
      else [own.get, own.set].forEach(visit);
    }
  }
  [RegExp.$1, RegExp.input, RegExp.lastMatch].forEach(visit);
  return `${(hash >>> 0).toString(16)} of ${seen.size}`;
}

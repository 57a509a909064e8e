/* SPDX-License-Identifier: MIT */
/*
 * lockdown - removes what the realm of a call must not have. Runs once, after the other
 * internal scripts, in two steps. The first removes what no code may have, not even
 * capabilities and the host's preloads, since they could keep it. The second, after these
 * have run, freezes or seals what must not change for calls.
 *
 * Evaluates to a function of (state of Math.random), which takes the first step. Its
 * value is called with the names to keep, or null, before the preloads; the value of
 * that call takes the second step. Names are removed rather than replaced: what is
 * absent cannot be misused.
 */
(function (seed) {
  'use strict';
  const global = globalThis;
  const {
    apply, defineProperty, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys,
  } = Reflect;
  const { freeze, seal } = Object;

  /* Fine clocks, shared memory, observation of the collector, ways to load code, and
   * functions of the engine's shell. */
  const ABSENT = [
    'SharedArrayBuffer', 'Atomics', 'WebAssembly', 'WeakRef', 'FinalizationRegistry',
    'ShadowRealm', 'Loader', '$vm', '$', 'print', 'load', 'readFile', 'read', 'run', 'quit',
    'gc', 'noInline', 'loadString', 'checkSyntax', 'console', 'process', 'require', 'module',
    'exports', 'fs', 'Buffer', 'fetch', 'global', '__dirname', '__filename',
  ];

  /*
   * A frozen prototype makes `object.name = value` throw for every inheriting object
   * without such a property of its own. For names that people do assign, the frozen
   * property is an accessor whose setter gives the object its own property.
   */
  function frozenButAssignable(proto, names) {
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      const now = getOwnPropertyDescriptor(proto, name);
      /* A preload may have made it an accessor, or deleted it. */
      if (now === undefined || now.get !== undefined || now.set !== undefined) continue;
      const { value, enumerable } = now;
      defineProperty(proto, name, {
        get() {
          return value;
        },
        set(own) {
          if (this === proto) throw new TypeError('Attempted to assign to readonly property.');
          defineProperty(this, name, {
            value: own, writable: true, enumerable: true, configurable: true,
          });
        },
        enumerable,
        configurable: false,
      });
    }
    freeze(proto);
  }

  /* xoshiro128++; the worker writes the state before each call. */
  const rotl = (x, k) => (x << k) | (x >>> (32 - k));
  const random = {
    random() {
      let a = seed[0], b = seed[1], c = seed[2], d = seed[3], high = 0, low = 0;
      for (let i = 0; i < 2; i++) {
        const sum = (rotl((a + d) | 0, 7) + a) >>> 0;
        const t = b << 9;
        c ^= a;
        d ^= b;
        b ^= c;
        a ^= d;
        c ^= t;
        d = rotl(d, 11);
        if (i === 0) high = sum >>> 5;
        else low = sum >>> 6;
      }
      seed[0] = a;
      seed[1] = b;
      seed[2] = c;
      seed[3] = d;
      return (high * 67108864 + low) / 9007199254740992;
    },
  }.random;
  defineProperty(Math, 'random', { value: random, writable: true, configurable: true });

  /* rawJSON() is the only way to put JSON in the code's own spelling into a result or an
   * argument. The host accepts what stringify() can write: finite numbers, and text
   * that is valid as UTF-8. */
  const { parse, rawJSON, stringify } = JSON;
  const { isWellFormed } = String.prototype;
  const RangeErrorOf = RangeError;
  const bounded = {
    rawJSON(text) {
      const raw = rawJSON(text);
      const value = parse(raw.rawJSON);
      if (value === Infinity || value === -Infinity)
        throw new RangeErrorOf('JSON.rawJSON: the number is beyond the range of a double: use a string');
      return apply(isWellFormed, raw.rawJSON, []) ? raw : rawJSON(stringify(value));
    },
  }.rawJSON;
  if (rawJSON !== undefined)
    defineProperty(JSON, 'rawJSON', { value: bounded, writable: true, configurable: true });

  for (let i = 0; i < ABSENT.length; i++) deleteProperty(global, ABSENT[i]);

  const names = ownKeys(global);

  /* The names to remove if only those in `keep` may stay. */
  function surplusOf(keep) {
    const surplus = [];
    for (let i = 0; keep !== null && i < names.length; i++) {
      let kept = false;
      for (let k = 0; k < keep.length; k++) kept = kept || keep[k] === names[i];
      if (!kept)
        surplus[surplus.length] = { __proto__: null, name: names[i], value: global[names[i]] };
    }
    return surplus;
  }

  const generators = [
    function* () {}, async function* () {},
  ];
  const asyncFunctions = getPrototypeOf(async function () {});
  const functions = Function.prototype, arrays = Array.prototype, objects = Object.prototype;

  function finish(surplus) {
    for (let i = 0; i < generators.length; i++) {
      const kind = getPrototypeOf(generators[i]);
      frozenButAssignable(kind.prototype, ['next', 'return', 'throw']);
      freeze(kind);
    }
    freeze(asyncFunctions);
    frozenButAssignable(functions, ['apply', 'bind', 'call', 'toString', 'constructor']);
    seal(arrays);
    seal(objects);
    for (let i = 0; i < surplus.length; i++) {
      const { name, value } = surplus[i];
      /* A value that a preload has put in its place stays. */
      if (global[name] === value) deleteProperty(global, name);
    }
  }

  return (keep) => {
    const surplus = surplusOf(keep);
    return () => finish(surplus);
  };
})

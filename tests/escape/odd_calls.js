/* SPDX-License-Identifier: MIT */
/*
 * odd_calls - calls the engine's own functions, as they come, with arguments that they
 * were not made for. Numbers from Math.random: each seed is another run. What it gives
 * does not matter; that the process stays within its system calls does.
 */
() => {
  const functions = [];
  const objects = [];
  const seen = new Set();
  function walk(o) {
    if ((typeof o !== 'object' && typeof o !== 'function') || o === null || seen.has(o)) return;
    seen.add(o);
    objects.push(o);
    if (typeof o === 'function') functions.push(o);
    for (const key of Reflect.ownKeys(o)) {
      const own = Object.getOwnPropertyDescriptor(o, key);
      walk(own.value), walk(own.get), walk(own.set);
    }
    walk(Object.getPrototypeOf(o));
  }
  walk(globalThis);

  const { random, floor } = Math;
  const any = (list) => list[floor(random() * list.length)];
  const buffer = new ArrayBuffer(64, { maxByteLength: 4096 });
  const values = [
    undefined, null, true, 0, -0, 1, -1, 0.5, NaN, Infinity, -Infinity, 2 ** 31, 2 ** 32, 2 ** 53, 1e300, 10n, -(2n ** 70n),
    '', 'a', 'length', '__proto__', 'constructor', '\ud800', 'x'.repeat(1000), 'UTC', 'en', 'de-u-co-phonebk', '2020-01-01', '[1,2', '(a|b)*',
    Symbol.iterator, Symbol('s'), [], [1, , 3], [[[1]]], {}, { length: 5 }, { valueOf: () => 3 }, { toString: () => 'x' },
    () => 1, function () { return this; }, class {}, async () => 1, function* () { yield 1; }, new Date(0), new Date(NaN), /a/g, /(?<n>.)/dv,
    new Map([[1, 2]]), new Set([1]), new WeakMap(), new Proxy({}, {}), new Proxy(() => 1, {}), buffer, new Uint8Array(buffer), new Float64Array(4),
    new DataView(buffer), Promise.resolve(1), Promise.reject(1), new Error('e'), new Intl.NumberFormat('en'), [1, 2].values(), globalThis,
  ];
  /* Native code of ours is few among many: more often. */
  if (typeof crypto === 'object') {
    const hash = crypto.createHash('sha256');
    const before = functions.length;
    walk(hash);
    walk(crypto.createHmac('md5', 'k'));
    walk(crypto.createHash('md5').digest());
    const ours = functions.slice(before);
    for (const name of Object.keys(crypto)) ours.push(crypto[name].digest ?? crypto[name]);
    for (let i = 0; i < 40; i++) functions.push(...ours);
    values.push(hash, 'md5', 'SHA-256', 'shake128', 'hex', 'base64', { outputLength: 9 }, { outputLength: 1e5 }, { name: 'SHA-1' }, new Uint8Array(70000));
  }
  const outcomes = [];
  for (let i = 0; i < 2000; i++) {
    const f = any(functions);
    if (f === sleep || f === console.log) continue;
    const args = Array.from({ length: floor(random() * 4) }, () => any(values));
    try {
      const made = random() < 0.2 ? Reflect.construct(f, args) : Reflect.apply(f, any(values), args);
      if (values.length < 400 && made !== undefined) values.push(made);
      outcomes.push(1);
    } catch {
      outcomes.push(0);
    }
  }
  return outcomes.length;
}

// SPDX-License-Identifier: MIT
// work - records, memory bombs, and the lines that kill or hang sandboxes made of one process.

// 100,000 records, about 9 MB of JSON, those of data.c.
export function records(count = 100000) {
  const list = [];
  let random = 1;
  for (let i = 0; i < count; i++) {
    random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
    list.push({ id: i, name: `Customer ${String(i).padStart(6, '0')}`, email: `c${i}@example.com`,
      region: ['north', 'south', 'east', 'west'][random >>> 30],
      score: ((random >>> 16) % 100) + ((random >>> 8) % 10) / 10, active: random >>> 31 === 1 });
  }
  return JSON.stringify(list);
}

export const bombs = {
  objects: `() => { const a = []; for (;;) a.push({ x: 1, y: [1, 2, 3] }); }`,
  'typed arrays': `() => { const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1)); }`,
  'one buffer': `() => new ArrayBuffer(2 ** 30).byteLength`,
  'growing buffer': `() => { const b = new ArrayBuffer(1024, { maxByteLength: 2 ** 30 });
    for (let n = 1024; ; n *= 2) { b.resize(n); new Uint8Array(b).fill(1); } }`,
  'string doubling': `() => { let s = 'x'; for (;;) s += s; }`,
  'flat strings': `() => { const a = []; for (let i = 0; ; i++) a.push('k'.repeat(1000) + i); }`,
  arrays: `() => { const a = []; for (;;) a.push(new Array(1e6).fill(7)); }`,
  'array fill': `() => Array(1e9).fill(0).length`,
  map: `() => { const m = new Map(); for (let i = 0; ; i++) m.set(i, { i }); }`,
  set: `() => { const s = new Set(); for (let i = 0; ; i++) s.add('v' + i); }`,
  bigint: `() => { let a = 3n; const all = []; for (;;) { a = a * a; all.push(a); } }`,
  'many bigints': `() => { const a = []; for (let i = 1n; ; i++) a.push(i << 4096n); }`,
  closures: `() => { const a = []; for (;;) a.push(() => a); }`,
  symbols: `() => { const a = []; for (;;) a.push(Symbol('s' + a.length)); }`,
  'new shapes': `() => { const a = []; for (let i = 0; ; i++) { const o = {}; o['p' + i] = i; o['q' + i] = i; a.push(o); } }`,
  properties: `() => { const o = {}; for (let i = 0; ; i++) o['k' + i] = i; }`,
  promises: `async () => { const a = []; for (;;) a.push(new Promise(() => {})); }`,
  'split of a repeat': `() => 'a'.repeat(5e8).split('').length`,
  'regular expressions': `() => { const a = []; for (let i = 0; ; i++) { const r = new RegExp('a{' + (i % 50) + '}b' + i); r.test('x'); a.push(r); } }`,
  'number formats': `() => { const a = []; for (let i = 0; ; i++) a.push(new Intl.NumberFormat('en', { minimumFractionDigits: i % 20 })); }`,
  proxies: `() => { const a = []; for (;;) a.push(new Proxy({}, {})); }`,
};

// Code, and which results are one clear answer.
export const killers = {
  'split of 5e8': [`() => 'a'.repeat(5e8).split('')`, 'MEMORY'],
  'fill of 1e9': [`() => Array(1e9).fill(0)`, 'MEMORY'],
  'BigInt squaring': [`() => { let x = 3n; for (;;) x = x * x; }`, 'TIMEOUT MEMORY RUNTIME'],
  'promise loop': [`async () => { const f = () => Promise.resolve().then(f); await f(); }`, 'TIMEOUT MEMORY'],
  'await loop': [`async () => { for (;;) await 0; }`, 'TIMEOUT'],
  'lying sort': [`() => Array.from({ length: 3e5 }, (_, i) => i).sort(() => { for (let i = 0; i < 1e5; i++); return 1; })`, 'TIMEOUT'],
  'regular expression 1': [`() => /(a+)+$/.test('a'.repeat(40) + 'b')`, 'TIMEOUT'],
  'regular expression 2': [`() => /^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(60))`, 'TIMEOUT'],
  'join over 2^53': [`() => Array.prototype.join.call({ length: 2 ** 53 - 1 }, '').length`, 'TIMEOUT'],
  'loop that catches': [`() => { for (;;) try { for (;;); } catch {} }`, 'TIMEOUT'],
};

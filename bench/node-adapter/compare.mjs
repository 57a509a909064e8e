#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// compare - the same programs in several sandboxes: what each makes of them, and where that
// is not what we make of them. Adapters have the shape that glovebox.mjs beside this shows.
//
//     node --no-node-snapshot compare.mjs ADAPTER.mjs...
//
// One JSON line for each program and adapter that differ; a summary at the end.
import { pathToFileURL } from 'node:url';

import { create } from './glovebox.mjs';

const records = Array.from({ length: 200 }, (_, i) => ({
  id: i, name: `Server ${i}`, risk: (i * 37) % 101, at: `2025-0${(i % 9) + 1}-01`, tags: [`t${i % 7}`, 'prod'],
}));

const PROGRAMS = {
  filter: ['(d) => d.filter((x) => x.risk > 90).map((x) => x.name)', records],
  sum: ['(d) => d.reduce((a, x) => a + x.risk, 0)', records],
  group: ['(d) => { const g = {}; for (const x of d) (g[x.tags[0]] ??= []).push(x.id); return g; }', records],
  sort: ['(d) => [...d].sort((a, b) => b.risk - a.risk || a.id - b.id).slice(0, 5)', records],
  spread: ['(d) => d.slice(0, 2).map(({ id, ...rest }) => ({ ...rest, n: id }))', records],
  map: ['(d) => [...new Map(d.map((x) => [x.tags[0], x.id]))]', records],
  unique: ['(d) => [...new Set(d.flatMap((x) => x.tags))].sort()', records],
  regexp: ['(d) => d.map((x) => x.at.replace(/^(\\d+)-(\\d+)-(\\d+)$/, "$3.$2.$1")).slice(0, 3)', records],
  named: ['(d) => /(?<y>\\d{4})-(?<m>\\d\\d)/.exec(d[3].at).groups.m', records],
  unicode: ['(d) => ["ä€😀".length, [..."ä€😀"].length, "ß".toUpperCase(), "é".normalize("NFD").length]', null],
  numbers: ['(d) => [0.1 + 0.2, 1e21, -0, 2 ** 53, 5e-324, (1234.5678).toFixed(2), (255).toString(16)]', null],
  notNumbers: ['(d) => [NaN, Infinity, -Infinity]', null],
  nothing: ['(d) => undefined', null],
  dates: ['(d) => new Date(Date.UTC(2024, 1, 29, 12)).toISOString()', null],
  dateValue: ['(d) => ({ at: new Date(0) })', null],
  json: ['(d) => JSON.parse(JSON.stringify(d[7]))', records],
  holes: ['(d) => [1, , 3]', null],
  omitted: ['(d) => ({ a: undefined, b: () => 1, c: Symbol("x"), d: 1 })', null],
  mapValue: ['(d) => new Map([[1, 2]])', null],
  deep: ['(d) => { let o = { n: 0 }; for (let i = 1; i < 50; i++) o = { n: i, o }; return o; }', null],
  closure: ['(d) => { const f = (n) => (n < 2 ? n : f(n - 1) + f(n - 2)); return f(15); }', null],
  generator: ['(d) => { function* g() { for (let i = 0; i < 4; i++) yield i * i; } return [...g()]; }', null],
  classes: ['(d) => { class A { #x = 3; get x() { return this.#x; } } class B extends A {} return new B().x; }', null],
  labels: ['(d) => { let n = 0; a: for (;;) for (;;) if (++n > 4) break a; return n; }', null],
  destructured: ['([{ id: a }, { id: b = 9 } = {}]) => [a, b]', records],
  named_function: ['function pick(d) { return d[1].name; }', records],
  throws: ['(d) => { throw new TypeError("not this"); }', null],
  missing: ['(d) => d.items.length', {}],
  cycle: ['(d) => { const a = {}; a.a = a; return a; }', null],
  bigint: ['(d) => 10n', null],
};

const short = (result) =>
  (result.ok ? `ok ${JSON.stringify(result.value) ?? 'undefined'}` : 'error').slice(0, 120);

async function outcomes(make) {
  const sandbox = await make({ timeoutMs: 5000, memMB: 128 });
  const all = {};
  for (const [name, [code, data]] of Object.entries(PROGRAMS)) {
    try {
      all[name] = short(await sandbox.run(code, data));
    } catch {
      all[name] = 'error';
    }
  }
  sandbox.dispose();
  return all;
}

const ours = await outcomes(create);
const lines = [];
for (const file of process.argv.slice(2)) {
  const adapter = await import(pathToFileURL(file).href);
  const theirs = await outcomes(adapter.create);
  let same = 0;
  for (const name of Object.keys(PROGRAMS)) {
    if (theirs[name] === ours[name]) same++;
    else console.log(JSON.stringify({ program: name, ours: ours[name], [adapter.meta.id]: theirs[name] }));
  }
  lines.push(`${adapter.meta.id}: ${same} of ${Object.keys(PROGRAMS).length} the same`);
}
console.log(lines.join('\n'));
process.exit(0);

// SPDX-License-Identifier: MIT
/*
 * A program written for a SandboxEngine over isolated-vm. The line of the import is all that
 * differs; it prints what became of each function.
 */
import { SandboxEngine } from 'the-package';

const records = Array.from({ length: 50 }, (_, i) => ({ id: i, name: `Server ${i}`, risk: (i * 37) % 101, tags: ['t', i % 3] }));
const FUNCTIONS = [
  ['(data) => data.filter((d) => d.risk > 90).map((d) => d.name)', records],
  ['(data) => data.length', [1, 2, 3]],
  ['data => data', { a: [1, { b: null }], c: 'größe \u{1F600} "quoted"', d: -0.5 }],
  ['function (data) { return data.reduce((s, n) => s + n, 0); }', [1, 2, 3]],
  ['function total(data) { const m = {}; for (const d of data) m[d.tags[1]] = (m[d.tags[1]] || 0) + d.risk; return m; }', records],
  ['(data) => ({ when: new Date(0), nan: NaN, gone: undefined, list: [undefined] })', null],
  ['() => undefined', null],
  ['() => null', null],
  ['(d) => Object.keys(globalThis).length >= 0 && typeof process + typeof require + typeof fetch + typeof Buffer', null],
  ['(d) => { globalThis.left = 1; return typeof left; }', null],
  ['(d) => typeof left', null],
  ['(d) => { Object.prototype.polluted; return [1, 2].map(String).join(); }', null],
  ['(d) => [..."größe"].sort().reverse().join("")', null],
  ['(d) => JSON.stringify(JSON.parse(d))', '{"b":1,"a":[2]}'],
  ['(d) => [...d.matchAll(/(\\w)(\\d)/g)].map((m) => m[0])', 'a1 b2'],
  ['(d) => { class A { #x = 2; get x() { return this.#x; } } return new A().x ** 3; }', null],
  ['(d) => { try { null.x } catch { return "caught"; } }', null],
  ['(d) => 0.1 + 0.2', null],
  ['(d) => [10, 9, 1].sort()', null],
  ['(d) => [..."ab"].flatMap((c) => [c, c]).at(-1)', null],
  ['(d) => new Map([[1, 2]]).get(1) + new Set([1, 1]).size', null],
  ['(d) => d.missing.name', {}],
  ['(d) => { throw new Error("own words"); }', null],
  ['(d) => nothing', null],
  ['(d) => { for (;;); }', null],
  ['(d) => { const a = []; for (;;) a.push(new Array(1000).fill(a.length)); }', null],
  ['(d) => "x".repeat(3000000)', null],
  ['(d) => (', null],
  ['42', null],
  ['', null],
  ['(d) => require("fs")', null],
  ['(d) => eval("1")', null],
];

const engine = new SandboxEngine({ timeout: 3000, memoryLimit: 32, maxOutputBytes: 1048576 });

for (const [code, data] of FUNCTIONS) {
  const result = await engine.execute(code, data);
  console.log(JSON.stringify(result.ok ? { code, ok: true, value: result.value }
    : { code, ok: false, error: typeof result.error, errorCode: result.code }));
}
const aborted = await engine.execute('() => 1', null, { signal: AbortSignal.abort() });
console.log(JSON.stringify({ aborted: aborted.code }));
engine.dispose();
engine.dispose();
const late = await engine.execute('() => 1', null);
console.log(JSON.stringify({ late: late.code, isDisposed: engine.isDisposed }));
process.exit(0);

// SPDX-License-Identifier: MIT
//
// Single lines that other sandboxes hang on, or that end their host.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';

import { SandboxEngine } from '../lib/index.js';
import { boxes, until } from './support/processes.mjs';
import { longestStall } from './support/stall.mjs';

const CAP = 64;

const LINES = [
  ['endless loop', '(d) => { while (true) {} }', ['TIMEOUT']],
  // The engine gives one match up after a while, on a quick machine before the time is over.
  ['regular expression', "(d) => { for (;;) /^(a+)+$/.test('a'.repeat(64) + 'b'); }", ['TIMEOUT']],
  ['sort', '(d) => { const a = new Array(3e5).fill(0).map((x, i) => (i * 7919) % 1000003); for (;;) a.slice().sort(); }', ['TIMEOUT']],
  ['lying sort', '(d) => { for (;;) [3, 1, 2].sort(() => Math.random() - 0.5); }', ['TIMEOUT']],
  ['promise loop', '(d) => { const f = () => Promise.resolve().then(f); f(); return new Promise(() => {}); }', ['TIMEOUT', 'MEMORY']],
  ['await loop', 'async (d) => { for (;;) await null; }', ['TIMEOUT', 'MEMORY']],
  ['BigInt', '(d) => { let x = 3n; for (;;) x = x * x; }', ['TIMEOUT', 'MEMORY', 'RUNTIME']],
  ['array bomb', '(d) => { const a = []; for (;;) a.push([1, 2, 3, a.length]); }', ['MEMORY']],
  ['typed-array bomb', '(d) => { const a = []; for (;;) { const b = new Uint8Array(1 << 20); b.fill(1); a.push(b); } }', ['MEMORY']],
  ['string bomb', "(d) => { const a = []; for (let i = 0; ; i++) a.push(('x' + i).repeat(1e5).split('').join('' + i)); }", ['MEMORY']],
  ['split', "(d) => 'a'.repeat(5e8).split('').length", ['MEMORY']],
  ['fill', '(d) => Array(1e9).fill(0).length', ['MEMORY']],
  ['log flood', '(d) => { for (;;) console.log("x".repeat(1000)); }', ['TIMEOUT', 'MEMORY']],
  ['deep result', '(d) => { let a = []; for (let i = 0; i < 1e6; i++) a = [a]; return a; }', ['RUNTIME', 'MEMORY', 'TIMEOUT']],
  ['endless getter', '(d) => ({ get x() { for (;;); } })', ['TIMEOUT']],
  ['endless toString of an error', '(d) => { throw { get message() { for (;;); }, toString() { for (;;); } }; }', ['TIMEOUT', 'RUNTIME']],
];

const engine = new SandboxEngine({ memoryLimit: CAP, timeout: 120000 });
after(() => engine.close());

const resident = (processes) => processes.reduce((sum, { pid }) => {
  try {
    return sum + Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1024;
  } catch {
    return sum;
  }
}, 0);

/* The template and the one worker that is kept while nobody calls. */
const atRest = () => until(() => boxes().length === 2);

for (const [name, code, expected] of LINES) {
  test(`${name} ends as ${expected.join(' or ')}, and the host does not stall`, async () => {
    assert.equal((await engine.execute('(d) => d.length', [1, 2, 3])).value, 3);
    // Only a line that can run until its time is over needs little of it.
    const limits = { timeoutMs: expected.includes('TIMEOUT') ? 400 : 120000 };
    const stalls = [];
    for (let i = 0; i < 8 && !(Math.min(...stalls) <= 50); i++) {
      const { value, stall } = await longestStall(() => engine.run({ code, input: null, limits }));
      stalls.push(stall);

      assert.ok(expected.includes(value.code), `${value.code}: ${value.error}`);
      assert.equal((await engine.execute('(d) => d.length', [1, 2, 3])).value, 3);
    }
    assert.ok(Math.min(...stalls) <= 50, `stalled for ${Math.min(...stalls)} ms`);
  });
}

test(`no bomb adds more than its ${CAP} MB and 48`, async () => {
  for (const [name, code, expected] of LINES) {
    if (!expected.includes('MEMORY')) continue;
    await atRest();
    const processes = boxes(); // without those that fill the pool meanwhile
    const before = resident(processes);
    let peak = before;
    const watch = setInterval(() => { peak = Math.max(peak, resident(processes)); }, 5);
    const result = await engine.run({ code, input: null, limits: { timeoutMs: expected.includes('TIMEOUT') ? 2000 : 120000 } });
    clearInterval(watch);
    assert.equal(result.ok, false);
    assert.ok(peak - before <= CAP + 48, `${name}: ${peak - before} MB`);
    assert.ok((result.stats.peakMemoryBytes ?? 0) <= (CAP + 48) * 1048576, name);
  }
});

test('an endless loop ends when its time is over and not before, and the next call works', async () => {
  const from = performance.now();
  const result = await engine.run({ code: '() => { while (true) {} }', limits: { timeoutMs: 1000 } });
  assert.ok(performance.now() - from >= 999, `${performance.now() - from} ms`);
  assert.equal(result.code, 'TIMEOUT');
  assert.equal((await engine.execute('() => 1')).value, 1);
});

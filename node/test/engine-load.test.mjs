// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

import { SandboxEngine } from '../lib/index.js';
import { boxes, descriptors, until } from './support/processes.mjs';

test('64 calls at once, of every kind, each end as they should', async () => {
  const engine = new SandboxEngine({ timeout: 20000, memoryLimit: 64 });
  await engine.expose({ ask: async (n) => n * 2, fail: async () => { throw new Error('no'); } });
  const kinds = [
    ['value', (i) => engine.execute('(d) => d + 1', i), (r, i) => r.value === i + 1],
    ['host', (i) => engine.run({ form: 'script', code: `await ask(${i})` }), (r, i) => r.value === 2 * i],
    ['error', () => engine.execute('() => null.x'), (r) => r.code === 'RUNTIME'],
    ['host error', () => engine.run({ form: 'script', code: 'await fail()' }), (r) => r.code === 'RUNTIME'],
    ['timeout', () => engine.run({ code: '() => { for (;;); }', limits: { timeoutMs: 3000 } }), (r) => r.code === 'TIMEOUT'],
    ['memory', () => engine.execute('() => { const a = []; for (;;) a.push(new Array(1e4).fill(1)); }'), (r) => r.code === 'MEMORY'],
    ['large', (i) => engine.execute('(d) => d.length', 'x'.repeat(100000 + i)), (r, i) => r.value === 100000 + i],
    ['abort', (i) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), i);
      return engine.execute('() => { for (;;); }', i, { signal: controller.signal });
    }, (r) => r.code === 'ABORTED'],
  ];
  const calls = Array.from({ length: 64 }, (_, i) => kinds[i % kinds.length][1](i));
  const results = await Promise.all(calls);

  results.forEach((result, i) => {
    const [name, , isRight] = kinds[i % kinds.length];
    assert.ok(isRight(result, i), `${i} ${name}: ${JSON.stringify(result)}`);
  });
  await engine.close();
  assert.equal(boxes().length, 0);
});

/** In a process of its own, with a collector that comes when it is called, without optimized code
 * (it counts as heap), with a young generation that cannot grow (garbage would stay resident). */
const LEAK = `
  import { SandboxEngine } from ${JSON.stringify(new URL('../lib/index.js', import.meta.url).href)};
  import { boxes, descriptors, until } from ${JSON.stringify(new URL('./support/processes.mjs', import.meta.url).href)};
  const engine = new SandboxEngine();
  await engine.expose({ ask: async (n) => n });
  const rows = [];
  // A box that ends holds descriptors until it is gone, and so does one that is being made:
  // what counts is what stays, 40 looks of the same boxes and descriptors in a row.
  const settle = async () => {
    let last = '';
    let same = 0;
    await until(() => {
      const now = [descriptors(), ...boxes().map((one) => one.pid).sort()].join();
      same = now === last ? same + 1 : 0;
      last = now;
      return same === 40;
    });
  };
  // When nobody calls a pool lets workers go, down to one.
  const rest = () => until(async () => (await engine.report()).pool.kept <= 1);
  // While the collector still sweeps, the heap looks larger than it is, so the least look counts.
  const measure = async () => {
    let heap = Infinity;
    for (let i = 0; i < 3; i++) {
      await settle();
      globalThis.gc();
      heap = Math.min(heap, process.memoryUsage().heapUsed);
    }
    rows.push([heap, descriptors(), process.memoryUsage().rss]);
  };
  const one = (i) => {
    switch (i % 8) {
      case 0: return engine.run({ form: 'script', code: 'await ask(1)' });
      case 1: return engine.execute('() => { console.log("x"); throw new Error("y"); }');
      case 2: return engine.execute('(d) => d', () => 1);
      case 3: return engine.execute('(d) => d.length', 'x'.repeat(i % 400 === 3 ? 200000 : 100), { signal: AbortSignal.timeout(60000) });
      default: return engine.execute('(d) => d.a', { a: i });
    }
  };
  const block = async (n) => {
    for (let i = 0; i < n; i += 16) await Promise.all(Array.from({ length: 16 }, (_, k) => one(i + k)));
  };
  await block(1008);
  await rest();
  await measure();
  await block(2000);
  await rest();
  await measure();
  await engine.close();
  await measure();
  console.log(JSON.stringify({ rows, boxes: boxes().length }));
`;

test('2,000 calls leave heap and descriptors as they were', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath,
    ['--expose-gc', '--no-opt', '--max-semi-space-size=1', '--input-type=module', '-e', LEAK], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const { rows: [before, after, closed], boxes: left } = JSON.parse(stdout);

  // At most 10 bytes a call, and no descriptor; resident memory includes what malloc keeps.
  assert.ok(after[0] - before[0] <= 20000, `${after[0] - before[0]} bytes of heap`);
  assert.ok(after[1] <= before[1] + 4, `${before[1]} descriptors became ${after[1]}`);
  assert.ok(closed[1] < before[1], `${closed[1]} descriptors after the end`);
  assert.ok(after[2] - before[2] < 8 * 1048576, `${after[2] - before[2]} resident bytes`);
  assert.equal(left, 0);
});

test('20 engines, one after the other, leave no descriptor and no process', async () => {
  const round = async () => {
    const engine = new SandboxEngine({ poolSize: 1 });
    assert.equal((await engine.execute('() => 1')).value, 1);
    await engine.close();
  };
  await round();
  const before = descriptors();
  for (let i = 0; i < 20; i++) await round();

  assert.ok(descriptors() <= before, `${before} descriptors became ${descriptors()}`);
  await until(() => boxes().length === 0);
});

// SPDX-License-Identifier: MIT
/* Under the fakes of a test runner, which stand still: here they throw, so that who asks one
 * fails and does not wait for ever. */
import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import timers from 'node:timers';

import { createCodeMode, createSandboxClient, memory, SandboxEngine } from '../lib/index.js';

const TIMERS = ['setImmediate', 'setTimeout', 'setInterval', 'clearTimeout'];
const PLACES = [
  [globalThis, [...TIMERS, 'queueMicrotask']], [timers, TIMERS], [performance, ['now']],
];

async function withFakes(use) {
  const real = PLACES.flatMap(([object, names]) =>
    names.map((name) => [object, name, Object.getOwnPropertyDescriptor(object, name)]));
  for (const [object, name] of real)
    Object.defineProperty(object, name, { value: () => { throw new Error(`a fake ${name} was asked`); }, configurable: true, writable: true });
  syncBuiltinESMExports();
  try {
    return await use();
  } finally {
    for (const [object, name, descriptor] of real) {
      if (descriptor === undefined) delete object[name];
      else Object.defineProperty(object, name, descriptor);
    }
    syncBuiltinESMExports();
  }
}

const records = Array.from({ length: 60000 }, (_, i) => ({ id: i, name: `Server ${i}`, tags: ['a', { b: i }] }));

test('large inputs, datasets, answers and log lines need no timers that can be faked', async () => {
  const engine = new SandboxEngine({ timeout: 60000, memoryLimit: 512 });
  await engine.run({ form: 'script', code: '1' });
  const { large, bytes, asked, lines } = await withFakes(async () => {
    await engine.load('records', records);
    await engine.expose({ all: async () => records });
    return {
      large: await engine.execute('(data) => data.length', records),
      bytes: await engine.run({ code: '(data) => data.length', inputJson: new TextEncoder().encode(JSON.stringify(records)) }),
      asked: await engine.run({ form: 'script', code: '(await all()).length + datasets.records.length' }),
      lines: await engine.execute('() => { for (let i = 0; i < 20000; i++) console.log(i, "x".repeat(100)); }'),
    };
  });
  await engine.close();

  assert.deepEqual([large.value, bytes.value, asked.value], [60000, 60000, 120000]);
  assert.equal(lines.logs.length, 20000);
});

test('code mode and memory() wait by real timers', async () => {
  const codeMode = createCodeMode({ servers: { shop: { list: () => records.slice(0, 20000) } } });
  const sandbox = createSandboxClient({ adapter: memory() });
  const [outcome, { result }] = await withFakes(() => Promise.all([
    codeMode.run('await sleep(1); return (await servers.shop.list({})).length'),
    sandbox.execute({ code: 'await sleep(1); return params.a', executionParams: { a: 1 }, timeout: 60000 }),
  ]));
  codeMode.dispose();
  await sandbox.dispose();

  assert.deepEqual([outcome.result, result], [20000, 1]);
});

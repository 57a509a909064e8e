// SPDX-License-Identifier: MIT
/* engine-bindings - large values by name are taken over as the input is. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { createSandboxClient, glovebox, memory, SandboxEngine } from '../lib/index.js';

const engine = new SandboxEngine({ timeout: 60000, memoryLimit: 512 });
const clients = [glovebox({ workerMemoryMb: 512 }), memory()].map((adapter) => createSandboxClient({ adapter }));
after(() => Promise.all([engine.close(), ...clients.map((client) => client.dispose())]));

const records = (n) => Array.from({ length: n }, (_, i) => ({ id: i, name: `Sérver ${i}`, risk: (i * 37) % 101 }));
const many = records(100000);
const body = (code, bindings, more) => engine.run({ form: 'body', code, bindings, ...more });

test('large bindings and a large input arrive side by side', async () => {
  const { value, error } = await body('return [params.length, rows.at(-1).name, small]', { rows: many, small: 7 }, { input: many });
  assert.deepEqual(value, [100000, 'Sérver 99999', 7], error);
  assert.deepEqual((await body('return params.length', { params: records(300000) })).value, 300000); /* is not lent */
});

test('a snapshot is taken of bindings', async () => {
  const rows = records(20000);
  const running = body('return rows.length', { rows });
  rows.length = 0;
  assert.equal((await running).value, 20000);
});

test('what JSON cannot hold is found in large bindings, too', async () => {
  const rows = records(50000);
  rows[49999].m = new Map();
  const { code, path } = await body('return 1', { rows });
  assert.deepEqual([code, path], ['INVALID_DATA', 'bindings.rows[49999].m']);
  const acting = new SandboxEngine({ memoryLimit: 512 });
  await acting.expose({ act() { assert.fail('the code has acted'); } });
  assert.equal((await acting.run({ form: 'body', code: 'await act()', bindings: { rows } })).path, path);
  await acting.close();
});

test('a call is aborted while its bindings are handed over', async () => {
  const controller = new AbortController();
  const running = body('return 1', { many }, { signal: controller.signal });
  controller.abort();
  assert.equal((await running).code, 'ABORTED');
});

test('large parameters of a custom tool arrive', async () => {
  for (const client of clients) {
    const { result } = await client.execute({ code: 'return rows.length', executionParams: { rows: many }, isCustomTool: true });
    assert.equal(result, 100000);
  }
});

test('parameters of a custom tool are names and params alike, whatever they are', async () => {
  class Params {
    constructor(values) {
      Object.assign(this, values);
    }
    toJSON() {
      return { ...this, more: 1 };
    }
  }
  const dated = { toJSON: () => 'date' };
  const executionParams = { a: { b: 'é' }, none: undefined, 'a-b': 1, env: 2, both: 3, ['__proto__']: 4, dated };
  const contextVariables = { both: 'context', own: 'context' };
  const code = `return [a, typeof none, params['a-b'], env, params.env, both, own, dated, Object.keys(params)]`;
  for (const client of clients) {
    const { result } = await client.execute({ code, executionParams, contextVariables, envVars: { E: 'v' }, isCustomTool: true });
    assert.deepEqual(result, [{ b: 'é' }, 'undefined', 1, { E: 'v' }, 2, 3, 'context', 'date', ['a', 'a-b', 'env', 'both', '__proto__', 'dated']]);
    const { result: made } = await client.execute({ code: 'return [a, params.more]', executionParams: new Params({ a: 5 }), isCustomTool: true });
    assert.deepEqual(made, [5, 1]);
    const failed = await client.attempt({ code: 'return 1', executionParams: { rows: [1, new Set()] }, isCustomTool: true });
    assert.equal(failed.error.message, 'what is bound holds a Set at executionParams.rows[1]');
  }
});

test('bindings with another form are wrong use', async () => {
  await assert.rejects(engine.run({ form: 'script', code: 'a', bindings: { a: 1 } }),
    { name: 'TypeError', message: 'bindings are for form body alone' });
});

// SPDX-License-Identifier: MIT
/*
 * The two adapters give the same: names and messages of what code throws, the names that it
 * sees, its console and its results. What differs is in docs/node-tools.md.
 */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';

import { createSandboxClient, glovebox, memory } from '../lib/index.js';

const clients = [glovebox({ workerMemoryMb: 64 }), memory()].map((adapter) => createSandboxClient({ adapter }));
after(() => Promise.all(clients.map((client) => client.dispose())));

describe('names that code sees', () => {
  const both = async (args) => Promise.all(clients.map(async (client) => (await client.execute(args)).result));

  it('are not those of the language; such parameters are in params', async () => {
    const words = ['default', 'let', 'static', 'implements', 'interface', 'package', 'private', 'protected', 'public', 'yield', 'await', 'eval', 'arguments', 'enum', 'null', 'a-b'];
    const executionParams = Object.fromEntries([...words.map((word, i) => [word, i]), ['plain', 7]]);
    const code = 'return [params.default, params.arguments, plain]';
    assert.deepEqual(await both({ code, executionParams, isCustomTool: true }), Array(2).fill([0, 12, 7]));
    const long = { ['x'.repeat(300)]: 1 };
    assert.deepEqual(await both({ code: 'return Object.keys(params).length', executionParams: long, isCustomTool: true }), [1, 1]);
    for (const word of words) await assert.rejects(both({ code: '1', contextVariables: { [word]: 1 } }), /contextVariables\['.*'\] is no name/);
  });

  it('may have any letters', async () => {
    assert.deepEqual(await both({ code: 'return größe + 名', contextVariables: { größe: 1, 名: 2 } }), [3, 3]);
    assert.deepEqual(await both({ code: 'return größe', executionParams: { größe: 1 }, isCustomTool: true }), [1, 1]);
    for (const client of clients)
      await assert.rejects(client.execute({ code: '1', contextVariables: { größe: [() => 1] } }), { code: 'INVALID_DATA', message: /a function at contextVariables\.größe\[0\]/ });
  });
});

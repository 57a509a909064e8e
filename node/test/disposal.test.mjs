// SPDX-License-Identifier: MIT
/* What holds processes ends with `using`, and options that are undefined are not there. */
import assert from 'node:assert/strict';
import { it } from 'node:test';

import {
  createCodeMode, createSandboxClient, createSandboxTools, glovebox, SandboxedToolForge, SandboxEngine, validateSandboxCode,
} from '../lib/index.js';

/* Node 18 before 18.18 has neither. */
const skip = Symbol.dispose === undefined || Symbol.asyncDispose === undefined;

it('everything that holds processes can be disposed of by its symbol', { skip }, async () => {
  const engine = new SandboxEngine();
  const forge = new SandboxedToolForge();
  const mode = createCodeMode({ servers: { own: { f: () => 1 } } });
  const tools = createSandboxTools();
  const client = createSandboxClient({ adapter: glovebox() });
  tools.query('t').sandboxed().handle(async (_, { sandbox }) => (await sandbox.execute('() => 1')).code);

  for (const each of [engine, forge, mode, tools]) each[Symbol.dispose]();
  await client[Symbol.asyncDispose]();
  await engine[Symbol.asyncDispose]();

  assert.equal(engine.isDisposed, true);
  assert.equal((await forge.execute({ code: 'function run() {}' })).code, 'UNAVAILABLE');
  assert.equal((await mode.run('1')).error.code, 'UNAVAILABLE');
  assert.equal((await tools.callTool('t')).content[0].text, 'UNAVAILABLE');
  await assert.rejects(client.execute({ code: '' }), { code: 'UNAVAILABLE' });
});

it('an option that is undefined is as one that is not there', async () => {
  const none = undefined;
  const engine = new SandboxEngine({ timeout: none, fetch: none, policy: none, limits: { timeoutMs: none }, runner: none, jit: none });
  const run = await engine.run({ code: '() => 1', form: none, signal: none, limits: none, seed: none, onLog: none, bindings: none });
  assert.equal(run.value, 1);
  await engine.close();
  const forge = new SandboxedToolForge({ memoryMB: none, fetchDomains: none, fsReadRoots: none });
  assert.equal((await forge.execute({ code: 'function run() { return 2 }', input: none, allowlist: none, timeoutMs: none, signal: none })).output, 2);
  forge.dispose();
  const client = createSandboxClient({ adapter: glovebox({ maxWorkers: none, workerMemoryMb: none }) });
  assert.deepEqual(await client.execute({ code: 'return 3', envVars: none, isCustomTool: none, timeout: none, consoleSink: none }), { result: 3 });
  await client.dispose();
  const tools = createSandboxTools({ context: none });
  tools.query('t').sandboxed({ timeout: none }).annotate({ title: none }).withOptionalString('a', none, { min: none }).handle(() => 4);
  assert.equal((await tools.callTool('t', none, { signal: none })).content[0].text, '4');
  const mode = createCodeMode({ servers: { own: { f: () => 1 } }, allow: none, timeoutMs: none, name: none, maxCalls: none });
  assert.equal((await mode.run('5', { input: none, timeoutMs: none, signal: none, onProgress: none })).result, 5);
  mode.dispose();
  assert.equal(validateSandboxCode('() => 1', { form: none, crypto: none, policy: none }).ok, true);
});

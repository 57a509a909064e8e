// SPDX-License-Identifier: MIT
/* codemode-clients - what code is told when a client of the SDK cannot make the call. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createCodeMode, createSandboxTools } from '../lib/index.js';
import { connect, sdks } from './support/sdk.mjs';

/* [code, retryable, message] of what a call of `tool` threw. */
async function thrownBy(client, tool, args) {
  const mode = createCodeMode({ servers: { up: client }, memoryMB: 32 });
  try {
    const { result, error } = await mode.run(`
      try { return await servers.up.call(${JSON.stringify(tool)}, ${JSON.stringify(args)}) }
      catch (e) { return [e.code, e.retryable, e.message] }`);
    return result ?? error;
  } finally {
    mode.dispose();
  }
}

for (const sdk of sdks)
  describe(`a client of ${sdk.name}`, () => {
    const withClient = async (use) => {
      const server = new sdk.McpServer({ name: 'upstream', version: '1' });
      const tools = createSandboxTools();
      tools.query('add').withNumber('a').handle(({ a }) => ({ sum: a }));
      tools.query('fail').handle(() => tools.error('NO_STOCK', 'nothing left'));
      tools.register(server);
      const client = await connect(sdk, server);
      try {
        await use(client);
      } finally {
        await client.close();
      }
    };

    it('that was never connected is unavailable, and may be asked again', async () => {
      const [code, isRetryable] = await thrownBy(new sdk.Client({ name: 'test', version: '1' }), 'add', {});
      assert.deepEqual([code, isRetryable], ['UNAVAILABLE', true]);
    });

    it('has no tool of that name', () => withClient(async (client) =>
      assert.deepEqual(await thrownBy(client, 'ad', { a: 1 }), ['NOT_FOUND', false, "the server 'up' has no tool 'ad': did you mean 'add'?"])));

    it('has the tool, for other arguments', () => withClient(async (client) => {
      const [code, , message] = await thrownBy(client, 'add', { a: 'x' });
      assert.equal(code, 'INVALID_ARGS', message);
    }));

    it('has a tool that fails', () => withClient(async (client) =>
      assert.deepEqual(await thrownBy(client, 'fail', {}), ['TOOL_ERROR', false, 'NO_STOCK: nothing left'])));
  });

it('a tool that is only a task is described as one that cannot be called', async () => {
  const tools = ['required', 'optional'].map((taskSupport) => ({
    name: taskSupport, description: 'Study it', inputSchema: { type: 'object' }, execution: { taskSupport } }));
  const client = { listTools: async () => ({ tools }), callTool: async () => ({ content: [] }) };
  const mode = await createCodeMode({ servers: { up: client }, memoryMB: 32 }).prepare();
  const { result } = await mode.run('[await servers.up.tools(), await discover("study")]');
  mode.dispose();
  const expected = ['[cannot be called here: only as a task] Study it', 'Study it'];
  const [listed, found] = result;
  assert.deepEqual(listed.map(({ description }) => description), expected);
  assert.deepEqual(found.map(({ summary }) => summary).sort(), [...expected].sort());
  for (const each of expected) assert.ok(mode.definition.description.includes(`// ${each}`), each);
});

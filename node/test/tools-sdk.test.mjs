// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, describe, it } from 'node:test';

import { createSandboxTools } from '../lib/index.js';
import { busyWorkers, gone } from './support/processes.mjs';
import { makeProject } from './support/project.mjs';
import { connect, sdks } from './support/sdk.mjs';

const INFO = { name: 'test', version: '1' };
const textOf = (result) => result.content.map(({ text }) => text).join('\n');

const f = createSandboxTools({ context: { orders: [{ total: 5 }, { total: 7 }] } });
after(() => f.dispose());
f.query('compute').describe('Computes over orders.').sandboxed({ timeout: 60000 }).withString('code')
  .handle(async ({ code }, ctx) => f.result(await ctx.sandbox.execute(code, ctx.orders)));
f.mutation('remove').withNumber('id').handle(({ id }) => f.error('NOT_FOUND', `no order ${id}`).suggest('List them.'));

for (const sdk of sdks) {
  const kinds = {
    McpServer: () => new sdk.McpServer(INFO),
    Server: () => new sdk.Server(INFO, { capabilities: {} }),
  };

  for (const [kind, make] of Object.entries(kinds)) {
    describe(`tools on ${kind} of ${sdk.name}`, async () => {
      const server = make();
      f.register(server);
      const client = await connect(sdk, server);
      after(() => client.close());

      it('are listed with their schemas and hints', async () => {
        const { tools } = await client.listTools();
        assert.deepEqual(tools.map(({ name }) => name), ['compute', 'remove']);
        const { $schema, ...schema } = tools[0].inputSchema;
        assert.deepEqual(schema, f.tools[0].inputSchema);
        assert.equal(tools[0].description, f.tools[0].description);
        assert.deepEqual(tools[0].annotations, { readOnlyHint: true });
        assert.equal(tools[1].annotations.destructiveHint, true);
      });

      it('run code in a sealed process', async () => {
        const result = await client.callTool({ name: 'compute', arguments: { code: '(orders) => orders.reduce((s, o) => s + o.total, 0)' } });
        assert.equal(textOf(result), '12');
        assert.ok(!result.isError);
      });

      it('answer what cannot be done with an error that helps', async () => {
        const broken = await client.callTool({ name: 'compute', arguments: { code: '(orders) => orders.first.total' } });
        assert.equal(broken.isError, true);
        assert.match(textOf(broken), /^RUNTIME: /);
        const missing = await client.callTool({ name: 'remove', arguments: { id: 9 } });
        assert.equal(textOf(missing), 'NOT_FOUND: no order 9\nWhat to do: List them.');
        assert.equal(missing.structuredContent.error.code, 'NOT_FOUND');
        const wrong = await client.callTool({ name: 'remove', arguments: { id: '9' } });
        assert.match(textOf(wrong), /^INVALID_ARGUMENTS: id must be a number, not the string "9": send it without quotes/);
      });

      it('end with the request that the client cancels: the process is gone', async () => {
        const request = new AbortController();
        const called = sdk.call(client, { name: 'compute', arguments: { code: '() => { for (;;); }' } }, { signal: request.signal });
        const rejected = assert.rejects(called);

        const busy = await busyWorkers(process.pid);
        request.abort();
        await rejected;
        await gone(busy);
        assert.equal(textOf(await client.callTool({ name: 'compute', arguments: { code: '() => 1' } })), '1');
      });

      it('end with the connection: every process that worked for it is gone', async () => {
        const other = make();
        f.register(other);
        const leaving = await connect(sdk, other);
        const calls = [1, 2].map(() => assert.rejects(
          sdk.call(leaving, { name: 'compute', arguments: { code: '() => { for (;;); }' } })));

        const busy = await busyWorkers(process.pid, 2);
        await leaving.close();
        await Promise.all(calls);
        await gone(busy);
      });
    });
  }

  describe(`tools on a server of ${sdk.name} that has its own`, () => {
    it('stand beside them, and are found first', async () => {
      const server = new sdk.Server(INFO, { capabilities: { tools: {} } });
      const own = (name) => ({ name, inputSchema: { type: 'object' } });
      sdk.onList(server, ({ params }) => (params?.cursor === 'more' ? { tools: [own('third')] }
        : { tools: [own('first'), own('compute')], nextCursor: 'more' }));
      sdk.onCall(server, ({ params }) => ({ content: [{ type: 'text', text: `own ${params.name}` }] }));
      f.register(server);
      const client = await connect(sdk, server);

      const page = await client.listTools(sdk.name === 'SDK 1' ? undefined : {});
      const names = page.tools.map(({ name }) => name);
      if (page.nextCursor !== undefined)
        names.push(...(await client.listTools({ cursor: page.nextCursor })).tools.map(({ name }) => name));
      assert.deepEqual(names.filter((name) => name !== 'third'), ['compute', 'remove', 'first']);
      assert.ok(names.includes('third'));
      assert.equal(textOf(await client.callTool({ name: 'first', arguments: {} })), 'own first');
      assert.equal(textOf(await client.callTool({ name: 'compute', arguments: { code: '() => 5' } })), '5');
      await client.close();
    });

    it('leave McpServer able to register more', async () => {
      const server = new sdk.McpServer(INFO);
      server.registerTool('before', { description: 'x' }, () => ({ content: [{ type: 'text', text: 'before' }] }));
      const registered = f.register(server);
      server.registerTool('after', { description: 'x' }, () => ({ content: [{ type: 'text', text: 'after' }] }));
      const client = await connect(sdk, server);

      assert.deepEqual((await client.listTools()).tools.map(({ name }) => name), ['before', 'compute', 'remove', 'after']);
      registered.remove.disable();
      assert.deepEqual((await client.listTools()).tools.map(({ name }) => name), ['before', 'compute', 'after']);
      await client.close();
    });

    it('give data with a content of its own to the client as data', async () => {
      const tools = createSandboxTools();
      tools.query('doc').handle(() => ({ title: 'doc', content: ['a', 'b'] }));
      const server = new sdk.McpServer(INFO);
      tools.register(server);
      const client = await connect(sdk, server);
      assert.equal(textOf(await client.callTool({ name: 'doc', arguments: {} })), '{"title":"doc","content":["a","b"]}');
      await client.close();
    });

    it('are refused by the name of no tool', async () => {
      const server = new sdk.Server(INFO, { capabilities: {} });
      f.register(server);
      const client = await connect(sdk, server);
      await assert.rejects(client.callTool({ name: 'nothing', arguments: {} }), /unknown tool "nothing"/);
      await client.close();
    });
  });
}

describe('a client of standard input and output that has gone', () => {
  it('ends its calls: the server, which computed for nobody, exits', async () => {
    const project = makeProject({ 'server.mjs': `
      import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
      import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
      import { createSandboxTools } from 'glovebox';
      const f = createSandboxTools();
      f.query('spin').sandboxed({ timeout: 600000 }).handle(async (_, ctx, meta) => {
        const { code } = await ctx.sandbox.execute('() => { for (;;); }', 1, { signal: meta.signal });
        process.stderr.write(code);
      });
      const server = new McpServer({ name: 'a', version: '1' });
      f.register(server);
      await server.connect(new StdioServerTransport());` });
    const child = spawn(process.execPath, ['server.mjs'], { cwd: project.path });
    const words = [];
    child.stderr.on('data', (text) => words.push(String(text)));
    const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: INFO } });
    send({ method: 'notifications/initialized' });
    send({ id: 2, method: 'tools/call', params: { name: 'spin', arguments: {} } });
    const busy = await busyWorkers(child.pid);
    child.stdin.end();
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    await gone(busy);
    assert.deepEqual(words, ['ABORTED']);
    project.remove();
  });
});

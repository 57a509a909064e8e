// SPDX-License-Identifier: MIT
// prompts: what a person picks in a host, and the names that are completed for them.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const folder = mkdtempSync(join(tmpdir(), 'glovebox-prompts-'));
after(() => rmSync(folder, { recursive: true }));
const orders = join(folder, 'orders.json');
writeFileSync(orders, '[{"id":1,"total":2}]');
const config = join(folder, 'servers.json');
writeFileSync(config, JSON.stringify({
  mcpServers: { files: { command: 'true' }, fetch: { command: 'true' }, off: { command: 'true', disabled: true } },
  glovebox: { toolNames: 'mcp_' },
}));

async function connect() {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport({
    command: process.env.GLOVEBOX, stderr: 'inherit',
    env: { GLOVEBOX_WORKER: process.env.GLOVEBOX_WORKER },
    args: ['mcp', '--data', `orders=${orders}`, '--data', `old=${orders}`, '--config', config],
  }));
  return client;
}

const complete = async (client, name, argument, value) => (await client.complete({
  ref: { type: 'ref/prompt', name }, argument: { name: argument, value },
})).completion.values;

test('the prompts are those of the tools, by their names', async () => {
  const client = await connect();
  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts.map((p) => p.name).sort(), ['compute', 'mcp_execute']);
  const { tools } = await client.listTools();
  for (const { name } of prompts) assert.ok(tools.some((t) => t.name === name), name);
  await client.close();
});

test('a prompt has the task, and what it is about if that is known', async () => {
  const client = await connect();
  const get = async (name, args) => (await client.getPrompt({ name, arguments: args })).messages[0].content.text;
  const text = await get('compute', { task: 'How "many"?\nExactly.', dataset: 'orders' });
  assert.match(text, /^How "many"\?\nExactly\.\n\nThis is about the dataset orders\.\n\nUse the tool compute, which/);
  assert.match(await get('mcp_execute', { task: 'x' }), /^x\n\nUse the tool mcp_execute, which/);
  await assert.rejects(get('compute', { task: 'x', dataset: 'ordres' }), /did you mean 'orders'/);
  for (const dataset of [5, ['orders'], 'orders\0', 'orders\ud800'])
    await assert.rejects(get('compute', { task: 'x', dataset }), { code: -32602, message: /'dataset' is not the name of a dataset/ });
  for (const dataset of [null, '', undefined])
    assert.match(await get('compute', { task: 'x', dataset }), /^x\n\nUse the tool/);
  await assert.rejects(get('compute', {}), /needs the argument 'task'/);
  await client.close();
});

test('datasets and servers are completed; tasks, and servers that are off, are not', async () => {
  const client = await connect();
  assert.deepEqual(await complete(client, 'compute', 'dataset', 'o'), ['orders', 'old']);
  assert.deepEqual(await complete(client, 'compute', 'dataset', 'ol'), ['old']);
  assert.deepEqual(await complete(client, 'mcp_execute', 'server', 'f'), ['files', 'fetch']);
  assert.deepEqual(await complete(client, 'mcp_execute', 'server', 'off'), []);
  assert.deepEqual(await complete(client, 'compute', 'task', ''), []);
  await assert.rejects(complete(client, 'execute', 'server', 'f'),
    /there is no prompt 'execute'/);
  await client.close();
});

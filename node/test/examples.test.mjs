// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { SANDBOX_SYSTEM_INSTRUCTION } from '../lib/index.js';
import { makeProject } from './support/project.mjs';
import { busyWorkers, gone, noneBelow, boxes } from './support/processes.mjs';

const folder = fileURLToPath(new URL('../../examples/node/', import.meta.url));
const examples = readdirSync(folder).filter((name) => name.endsWith('.mjs'));
const project = makeProject(Object.fromEntries(examples.map((name) => [name, readFileSync(join(folder, name), 'utf8')])));
after(() => project.remove());

const textOf = (result) => result.content.map(({ text }) => text).join('\n');

describe('the example of an MCP server', () => {
  async function start() {
    const transport = new StdioClientTransport({
      command: process.execPath, args: ['mcp-server.mjs'], cwd: project.path, env: process.env, stderr: 'inherit',
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    return { client, pid: transport.pid };
  }
  const spin = { name: 'orders_compute', arguments: { expression: '() => { for (;;); }' } };

  it('tells its tools, and how code for them is written', async () => {
    const { client } = await start();
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(({ name }) => name), ['orders_compute', 'orders_pay']);
    assert.ok(tools[0].description.endsWith(SANDBOX_SYSTEM_INSTRUCTION));
    assert.equal(tools[0].annotations.readOnlyHint, true);
    assert.equal(tools[1].annotations.destructiveHint, true);
    await client.close();
  });

  it('computes, refuses what cannot be done, and changes what it says it changes', async () => {
    const { client } = await start();
    const compute = async (expression) => client.callTool({ name: 'orders_compute', arguments: { expression } });
    const open = '(orders) => orders.filter((o) => !o.isPaid).length';
    assert.equal(textOf(await compute(open)), '2');
    assert.match(textOf(await compute('(orders) => process.exit()')), /^VALIDATION_ERROR: .*\nWhat to do: .*\ncode: INVALID_CODE$/);
    assert.match(textOf(await client.callTool({ name: 'orders_pay', arguments: { id: 9 } })), /^NOT_FOUND: there is no order 9/);
    await client.callTool({ name: 'orders_pay', arguments: { id: 2 } });
    assert.equal(textOf(await compute(open)), '1');
    await client.close();
  });

  it('kills the process of a call that the client cancels, and that alone', async () => {
    const { client, pid } = await start();
    const request = new AbortController();
    const cancelled = assert.rejects(client.callTool(spin, undefined, { signal: request.signal }));
    const other = new AbortController();
    const spinning = assert.rejects(client.callTool(spin, undefined, { signal: other.signal }));

    const [first, second] = await busyWorkers(pid, 2);
    request.abort();
    await cancelled;
    const left = await Promise.race([gone([first]).then(() => second), gone([second]).then(() => first)]);
    assert.ok(boxes(pid).some((worker) => worker.pid === left));

    const counted = await client.callTool({ name: 'orders_compute', arguments: { expression: '(orders) => orders.length' } });
    assert.equal(textOf(counted), '3');
    other.abort();
    await spinning;
    await gone([left]);
    await client.close();
  });

  it('leaves no process when the client goes in the middle of a call', async () => {
    const { client, pid } = await start();
    const lost = assert.rejects(client.callTool(spin));
    const busy = await busyWorkers(pid);
    await client.close();
    await lost;
    await gone([...busy, pid]);
    await noneBelow(pid);
  });
});

describe('the examples', () => {
  const run = (name) => execFileSync(process.execPath, [name], { cwd: project.path, encoding: 'utf8', timeout: 60000 });

  it('forge.mjs runs a tool with what it is allowed', () => {
    assert.equal(run('forge.mjs').replace(/\s+/g, ' '),
      "[ 'crypto access is not in the allowlist' ] [ 'ca978112', '3e23e816' ] ");
  });

  it('runner.mjs runs code of a user, which fetches through the host', () => {
    assert.equal(run('runner.mjs'), "user code: asking for Oslo\n{ city: 'Oslo', fahrenheit: 41, unit: 'F' }\n");
  });

  it('code-mode.mjs calls tools from code', () => {
    assert.match(run('code-mode.mjs'), /^execute \d+ characters of description\n\{"large":12,"first":\{"id":12,"total":84\}\}\n\[5 calls, \d+ ms, \d+\.\d MB\]\n$/);
  });
});

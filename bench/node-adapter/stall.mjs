#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// stall - how long the event loop comes to nothing else while input is handed over, beside
// what JSON.stringify takes of it. Nothing else should run on the machine.
import { createSandboxClient, glovebox, SandboxEngine } from '../../node/lib/index.js';
import { longestStall } from '../../node/test/support/stall.mjs';

const ROUNDS = 15;
const now = () => performance.now();
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

const records = Array.from({ length: 100000 }, (_, i) => ({
  id: i, name: `Server ${i}`, risk: (i * 37) % 101, category: 'db', amount: i / 100, tags: [`t${i % 17}`, 'prod'],
}));
const bytes = Buffer.from(`["${'x'.repeat(100_000_000)}"]`);
const engine = new SandboxEngine({ memoryLimit: 1024, timeout: 60000 });
const client = createSandboxClient({ adapter: glovebox({ workerMemoryMb: 1024 }) });
const ways = {
  input: () => engine.execute('(d) => d.length', records),
  bindings: () => engine.run({ form: 'body', code: 'return rows.length', bindings: { rows: records } }),
  'parameters of a custom tool': () =>
    client.execute({ code: 'return rows.length', executionParams: { rows: records }, isCustomTool: true }),
};
const run = async (use, wanted) => {
  const { value, stall } = await longestStall(use, now);
  if ((value.value ?? value.result) !== wanted) throw new Error(value.error ?? 'a wrong value');
  return stall;
};
const line = (what, value, unit) => console.log(JSON.stringify({ what, value: +value.toFixed(3), unit }));

for (const [way, use] of Object.entries(ways)) {
  await run(use, 100000);
  const plain = [];
  const stalls = [];
  for (let i = 0; i < ROUNDS; i++) {
    const from = now();
    JSON.stringify(records);
    plain.push(now() - from);
    stalls.push(await run(use, 100000));
  }
  line('JSON.stringify of 100,000 records', median(plain), 'ms');
  line(`longest stall while they go in as ${way}`, median(stalls), 'ms');
  line('longest stall over JSON.stringify', median(stalls.map((stall, i) => stall / plain[i])), 'x');
}
const large = [];
for (let i = 0; i < 5; i++)
  large.push(await run(() => engine.run({ code: '(d) => d[0].length', inputJson: bytes }), 100_000_000));
line('longest stall while 100 MB of JSON go in as bytes', median(large), 'ms');
await engine.close();
await client.dispose();

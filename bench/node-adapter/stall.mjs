#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// stall - how long the event loop comes to nothing else while input is handed over, beside
// what JSON.stringify takes of it. Nothing else should run on the machine.
import { SandboxEngine } from '../../node/lib/engine.js';
import { longestStall } from '../../node/test/support/stall.mjs';

const ROUNDS = 15;
const now = () => performance.now();
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

const records = Array.from({ length: 100000 }, (_, i) => ({
  id: i, name: `Server ${i}`, risk: (i * 37) % 101, category: 'db', amount: i / 100, tags: [`t${i % 17}`, 'prod'],
}));
const bytes = Buffer.from(`["${'x'.repeat(100_000_000)}"]`);
const engine = new SandboxEngine({ memoryLimit: 1024, timeout: 60000 });
await engine.execute('() => 1');

const plain = [];
const stalls = [];
const ratios = [];
for (let i = 0; i < ROUNDS; i++) {
  const from = now();
  JSON.stringify(records);
  plain.push(now() - from);
  const { stall } = await longestStall(() => engine.execute('(d) => d.length', records), now);
  stalls.push(stall);
  ratios.push(stall / plain[i]);
}
const large = [];
for (let i = 0; i < 5; i++) {
  large.push((await longestStall(() => engine.run({ code: '(d) => d[0].length', inputJson: bytes }), now)).stall);
}
await engine.close();

const line = (what, value, unit) => console.log(JSON.stringify({ what, value: +value.toFixed(3), unit }));
line('JSON.stringify of 100,000 records', median(plain), 'ms');
line('longest stall while they go in', median(stalls), 'ms');
line('longest stall over JSON.stringify', median(ratios), 'x');
line('longest stall while 100 MB of JSON go in as bytes', median(large), 'ms');

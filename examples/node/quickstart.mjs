#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// quickstart - code from a stranger, over 4,000 orders that must not leak: first what it is
// for, then what becomes of code that will not end, wants memory or wants out.
//
//     make node && node examples/node/quickstart.mjs
//
// It runs in these sources, where the package has no name for the compiler to find:
// @ts-nocheck
import { readFileSync } from 'node:fs';

import { SandboxEngine } from '../../node/lib/index.js';

const orders = JSON.parse(readFileSync(new URL('../data/orders.json', import.meta.url), 'utf8'));
const code = readFileSync(new URL('../risky-orders.js', import.meta.url), 'utf8');

const engine = new SandboxEngine({ timeout: 5000, memoryLimit: 64 });

const result = await engine.execute(code, orders);
if (!result.ok) throw new Error(`${result.code}: ${result.error}`);
console.log(JSON.stringify(result.value));

for (const hostile of [
  '(orders) => { for (;;); }',
  '(orders) => { const a = []; for (;;) a.push(new Uint8Array(1e6)); }',
  '(orders) => require("fs").readFileSync("/etc/passwd", "utf8")',
  '(orders) => globalThis.constructor.constructor("return process")().env',
]) {
  const { code: outcome, error } = await engine.execute(hostile, orders);
  console.log(`${outcome}: ${error}`);
}

await engine.close();

// SPDX-License-Identifier: MIT
// crowd: about as many calls at once as the layer of the protocol takes.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { Wire, killAll } from './wire.mjs';

const folder = mkdtempSync(join(tmpdir(), 'crowd-'));
const file = (name, text) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const served = ['mcp', '--timeout', '60000', '--data', `rows=${file('rows.json', '[1,2]')}`,
  '--config', file('mcp.json', '{"mcpServers":{}}')];
afterEach(killAll);
after(() => rmSync(folder, { recursive: true }));

/** How often each answer came. */
async function answers(wire, count, name, code) {
  const told = await Promise.all(Array.from({ length: count }, () => wire.call(name, { code })));
  const counts = {};
  for (const { error, result } of told) {
    const s = result?.structuredContent;
    const what = error?.message ?? s?.error ?? s?.value ?? s?.result;
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return counts;
}

test('a thousand calls at once are answered', async () => {
  const wire = new Wire(process.env.GLOVEBOX, served);
  await wire.initialize();
  assert.deepEqual(await answers(wire, 1000, 'compute', 'data.length'), { 2: 1000 });
  assert.deepEqual(await answers(wire, 1000, 'execute', 'return 2'), { 2: 1000 });
  await wire.close();
});

// SPDX-License-Identifier: MIT
// crowd: about as many calls at once as the layer of the protocol takes, also where few
// descriptors are allowed at first.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { folder, put } from './box.mjs';
import { Wire, killAll } from './wire.mjs';

const served = ['mcp', '--timeout', '240000', '--data', `rows=${put('rows.json', '[1,2]')}`,
  '--config', put('mcp.json', { mcpServers: { limited: { command: 'sh',
    args: ['-c', 'ulimit -Sn > "$0"; exec "$1" "$2"', join(folder, 'limit'), process.execPath,
      fileURLToPath(new URL('told-upstream.mjs', import.meta.url))] } } })];
afterEach(killAll);

/** A sanitizer makes each slower. */
const MANY = process.env.SANITIZED ? 600 : 1000;

/** How often each answer came. */
async function answers(wire, count, name, code) {
  const told = await Promise.all(Array.from({ length: count }, () => wire.call(name, { code })));
  const counts = {};
  for (const { error, result } of told) {
    const s = result?.structuredContent;
    const what = error?.message ?? s?.error?.message ?? s?.error ?? s?.value ?? s?.result;
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return counts;
}

test(`${MANY} calls at once are answered`, async () => {
  const wire = new Wire(process.env.GLOVEBOX, served);
  await wire.initialize();
  const half = MANY / 2;
  assert.deepEqual(await Promise.all([answers(wire, half, 'compute', 'data.length'), answers(wire, half, 'execute', 'return 2')]),
    [{ 2: half }, { 2: half }]);
  await wire.close();
});

test('where the soft limit of descriptors is low the hard one counts, and servers get what there was', async () => {
  const wire = new Wire('sh', ['-c', 'ulimit -Sn 256 && exec "$0" "$@"', process.env.GLOVEBOX, ...served]);
  await wire.initialize();
  assert.deepEqual(await answers(wire, 300, 'execute', 'return 2'), { 2: 300 });
  await wire.call('provision', { server: 'limited' });
  assert.equal(readFileSync(join(folder, 'limit'), 'utf8').trim(), '256');
  await wire.close();
});

test('a hundred scripts that wait hold up no other', async () => {
  const wire = new Wire(process.env.GLOVEBOX, served);
  await wire.initialize();
  await wire.call('execute', { code: 'return 1' });
  const waiting = answers(wire, 100, 'execute', 'await sleep(20000); return 1');
  const { result } = await wire.call('execute', { code: 'return 2', timeout_ms: 15000 });
  assert.equal(result.structuredContent.result, 2, result.content[0].text);
  wire.child.kill('SIGTERM');
  await Promise.allSettled([waiting, wire.exited]);
});

test('thousands of questions that a script asks at once hold up no other, nor its end', async () => {
  const tools = `Array.from({ length: 4000 }, (_, i) => ({ name: 'read_' + i,
    description: 'Reads the file of that number. '.repeat(20), inputSchema: { type: 'object' } }))`;
  const wire = new Wire(process.env.GLOVEBOX, ['mcp', '--config', put('many.json', ({
    mcpServers: { many: { command: process.execPath,
      args: [fileURLToPath(new URL('told-upstream.mjs', import.meta.url)), tools] } } }))]);
  await wire.initialize();
  await wire.call('provision', { server: 'many' });
  wire.say({ id: 'asks', method: 'tools/call', params: { name: 'execute', arguments: { timeout_ms: 60000,
    code: "console.log('asks'); await Promise.all(Array.from({ length: 2500 }, (_, i) => discover(`read file ${i}`)))" },
  _meta: { progressToken: 'asks' } } });
  await wire.hear(({ method }) => method === 'notifications/progress');
  const { result } = await wire.call('execute', { code: 'return 2' });
  assert.equal(result.structuredContent.result, 2);
  assert.ok(!wire.told.some(({ id }) => id === 'asks'), 'it asks on meanwhile');
  wire.say({ method: 'notifications/cancelled', params: { requestId: 'asks' } });
  assert.equal((await wire.call('execute', { code: 'return 3' })).result.structuredContent.result, 3);
  await wire.close();
});

test('a script that has not begun in its time is told so', async () => {
  const wire = new Wire(process.env.GLOVEBOX, served);
  await wire.initialize();
  await wire.call('execute', { code: 'return 1' });
  const waiting = answers(wire, 256, 'execute', 'await sleep(20000); return 1');
  const { result } = await wire.call('execute', { code: 'return 2', timeout_ms: 1000 });
  const { error } = result.structuredContent;
  assert.equal(error.code, 'UNAVAILABLE', result.content[0].text);
  assert.match(error.message, /^has not begun within the time limit/);
  wire.child.kill('SIGTERM');
  await Promise.allSettled([waiting, wire.exited]);
});

test('where the hard one is low, too, calls wait or are told so, and none that runs ends', async () => {
  const wire = new Wire('sh', ['-c', 'ulimit -n 256 && exec "$0" "$@"', process.env.GLOVEBOX, ...served]);
  await wire.initialize();
  const { 2: done, ...others } = await answers(wire, 300, 'execute', 'return 2');
  assert.ok(done > 0);
  for (const why of Object.keys(others)) assert.match(why, /Too many open files/);
  await wire.close();
});

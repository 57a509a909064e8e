// SPDX-License-Identifier: MIT
// hostile: transcripts of what no client should say, and clients that flood or do not
// read. tests/mcp/transcripts/*.txt say what each line means:
//
//     > a line that the client says, as it is; >> TIMES LINE says it so often
//     < what must come: a JSON object of which each member must be there, "*" is anything
//     = nothing comes before the answer to a ping
//
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { peakMib, until, within } from './processes.mjs';
import { Wire, killAll } from './wire.mjs';

afterEach(killAll);

/** Comes true when answers wait in the server's memory. */
function filled(wire) {
  const { pid } = wire.child;
  const before = peakMib(pid);
  return () => peakMib(pid) > before + 3;
}

/** A sanitizer keeps books on every byte. */
const overhead = process.env.SANITIZED ? 10 : 1;

const folder = new URL('transcripts/', import.meta.url);

/** Is all of part in whole? An array must have the same length. */
function fits(part, whole) {
  if (part === '*') return whole !== undefined;
  if (part === null || typeof part !== 'object') return part === whole;
  if (whole === null || typeof whole !== 'object') return false;
  if (Array.isArray(part) && (!Array.isArray(whole) || part.length !== whole.length)) return false;
  return Object.keys(part).every((key) => (part[key] === '-' ? !(key in whole) : fits(part[key], whole[key])));
}

let pings = 0;

async function quiet(wire) {
  const id = `quiet-${pings++}`;
  await wire.ask('ping', {}, id);
  assert.deepEqual(wire.told, []);
}

for (const name of readdirSync(folder).sort()) {
  test(`transcript ${name}`, async () => {
    const wire = new Wire(process.env.FIXTURE);
    for (const line of readFileSync(new URL(name, folder), 'utf8').split('\n')) {
      const [, what, times, rest] = /^(>>|[<>=#])? ?(\d+ (?=.))?(.*)$/.exec(line);
      if (what === '>') wire.sayLine((times ?? '') + rest);
      if (what === '>>') for (let i = 0; i < Number(times); i++) wire.sayLine(rest);
      if (what === '=') await quiet(wire);
      if (what !== '<') continue;
      await until(() => wire.told.length > 0 || wire.child.exitCode !== null);
      const told = wire.told.shift();
      assert.ok(fits(JSON.parse((times ?? '') + rest), told), `${line}\nbut came ${JSON.stringify(told)}`);
    }
    await quiet(wire);
    assert.equal((await wire.close()).code, 0);
  });
}

test('a line of 64 MB is refused, costs no more than the longest may, and harms nothing', async () => {
  const wire = new Wire(process.env.FIXTURE);
  await wire.initialize();
  const chunk = 'x'.repeat(1 << 20);
  wire.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":"');
  for (let i = 0; i < 64; i++) {
    if (!wire.child.stdin.write(chunk)) await new Promise((resolve) => { wire.child.stdin.once('drain', resolve); });
  }
  const refused = wire.hear((m) => m.error?.code === -32600 && !('id' in m));
  wire.sayLine('"}}}');
  await refused;
  await quiet(wire);
  assert.ok(peakMib(wire.child.pid) < 40 * overhead, `${peakMib(wire.child.pid)} MiB`);
  await wire.close();
});

test('a message of 15 MB is answered', async () => {
  const wire = new Wire(process.env.FIXTURE);
  await wire.initialize();
  const a = 'x'.repeat(15e6);
  const { result } = await wire.call('echo', { a });
  assert.equal(result.structuredContent.a, a);
  await wire.close();
});

test('arguments of a million values cost what their text does, with a rule about them too', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-hostile-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const config = join(folder, 'mcp.json');
  writeFileSync(config, JSON.stringify({
    mcpServers: { plain: { command: process.execPath, args: [join(import.meta.dirname, 'plain-upstream.mjs')] } },
    glovebox: { rules: [{ action: 'deny', tool: 'wait', args: { 'a[].path': '/etc/**' } }] },
  }));
  const wire = new Wire(process.env.GLOVEBOX, ['mcp', '--config', config]);
  await wire.initialize();
  const { result } = await wire.call('execute', { code: `
    const a = new Array(1e6).fill({});
    const made = await Promise.all([1, 2, 3, 4].map(() => servers.plain.wait({ ms: 500, a })));
    a[999999] = { path: '/etc/x' };
    return [made.join(), await servers.plain.wait({ a }).catch((e) => e.code)].join();` });
  assert.match(result.content[0].text, /^waited,waited,waited,waited,DENIED$/m);
  assert.ok(peakMib(wire.child.pid) < 150 * overhead, `${peakMib(wire.child.pid)} MiB`);
  await wire.close();
});

test('a flood of 100,000 messages is answered', async () => {
  const wire = new Wire(process.env.FIXTURE);
  let answers = 0;
  await wire.initialize();
  wire.told.push = (message) => { answers += message.id === 7; return 0; };
  wire.child.stdin.write('{"jsonrpc":"2.0","id":7,"method":"ping"}\n'.repeat(100000));
  await until(() => answers === 100000, 60000);
  await wire.close();
});

test('a client that does not read costs a bounded amount, and is served when it reads', async () => {
  const wire = new Wire(process.env.FIXTURE);
  await wire.initialize();
  const full = filled(wire);
  wire.child.stdout.pause();
  const calls = Array.from({ length: 200 }, () => wire.call('big', { bytes: 1 << 20 }));
  // Its pipe is full, its queue too: it has stopped reading, and what it holds is bounded.
  await until(full);
  const { pid } = wire.child;
  wire.child.stdout.resume();
  const answers = await Promise.all(calls);
  for (const { result } of answers) assert.equal(result.content[0].text.length, 1 << 20);
  assert.ok(peakMib(pid) < 160 * overhead, `${peakMib(pid)} MiB`);
  await wire.close();
});

test('a client that never reads does not hold up the end', async () => {
  await within(1000, async () => {
    const wire = new Wire(process.env.FIXTURE);
    await wire.initialize();
    const full = filled(wire);
    wire.child.stdout.pause();
    for (let i = 0; i < 50; i++) wire.say({ id: i, method: 'tools/call', params: { name: 'big', arguments: { bytes: 1 << 20 } } });
    await until(full);
    const begin = performance.now();
    wire.child.kill('SIGTERM');
    await new Promise((resolve) => { wire.child.on('exit', resolve); });
    wire.child.stdout.destroy();
    return performance.now() - begin;
  });
});

test('a client that closes its side and never reads is known to be gone', async () => {
  const wire = new Wire(process.env.FIXTURE);
  await wire.initialize();
  const full = filled(wire);
  wire.child.stdout.pause();
  for (let i = 0; i < 50; i++) wire.say({ id: i, method: 'tools/call', params: { name: 'big', arguments: { bytes: 1 << 20 } } });
  await until(full);
  const exit = new Promise((resolve) => { wire.child.on('exit', resolve); });
  wire.child.stdin.end();
  assert.equal(await exit, 0);
  wire.child.stdout.destroy();
});

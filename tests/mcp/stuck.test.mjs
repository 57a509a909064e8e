// SPDX-License-Identifier: MIT
// stuck: what others do not do, a name server that answers or a person who reads, holds up
// nobody but who asked for it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { folder, open, put } from './box.mjs';
import { Wire, killAll } from './wire.mjs';

afterEach(killAll);

/** The C library looks for a name without a dot in this file first: to open it is to wait. */
function lookUpForEver() {
  const path = join(folder, 'aliases');
  execFileSync('mkfifo', [path]);
  return { HOSTALIASES: path };
}

/** What is held up is so for ever: a loaded machine has time. */
const soon = (what, promise) => {
  const { promise: late, reject } = Promise.withResolvers();
  const timer = setTimeout(() => reject(new Error(`${what}: not within 30 s`)), 30000);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

test('a name that is looked up for ever ends its call in time, and holds up nothing else', async () => {
  const wire = await open({ mcpServers: { far: { type: 'http', url: 'http://nowhere/mcp', glovebox: { startMs: 500 } } } },
    { env: { ...process.env, ...lookUpForEver() } });

  const { result } = await soon('the call', wire.call('call', { server: 'far', tool: 'x', args: {} }));
  await soon('an answer', wire.ask('ping'));
  const again = wire.call('call', { server: 'far', tool: 'x', args: {} });
  wire.child.kill('SIGTERM');
  const { code } = await soon('the end', wire.exited);

  assert.match(result.content[0].text, /^UPSTREAM_START/);
  assert.equal(code, 0);
  again.catch(() => {});
});

/** A pipe that is full, for somebody's standard error. read(): what was written since. */
function fullPipe(t, name) {
  const path = join(folder, name);
  execFileSync('mkfifo', [path]);
  const own = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const theirs = openSync(path, constants.O_WRONLY);
  const full = () => {
    try {
      for (;;) writeSync(own, Buffer.alloc(4096));
    } catch (error) {
      assert.equal(error.code, 'EAGAIN');
    }
  };
  full();
  t.after(() => [own, theirs].forEach(closeSync));
  const read = () => {
    const parts = [];
    const part = Buffer.alloc(65536);
    try {
      for (;;) parts.push(Buffer.from(part.subarray(0, readSync(own, part))));
    } catch (error) {
      assert.equal(error.code, 'EAGAIN');
    }
    return Buffer.concat(parts).toString().replaceAll('\0', '');
  };
  return { theirs, read };
}

test('a security log on standard error that nobody reads holds up neither calls nor the end', async (t) => {
  const config = put('audit.json', { mcpServers: { idle: { command: 'cat' } }, glovebox: { audit: '-' } });
  const pipe = fullPipe(t, 'audit');
  const wire = new Wire(process.env.GLOVEBOX, ['mcp', '--config', config],
    { stdio: ['pipe', 'pipe', pipe.theirs] });
  await wire.initialize();

  const first = await soon('a call', wire.call('execute', { code: 'return 1' }));
  pipe.read();
  await soon('another', wire.call('execute', { code: 'return 2' }));
  const lines = pipe.read();
  wire.child.kill('SIGTERM');
  const { code } = await soon('the end', wire.exited);

  assert.equal(first.result.structuredContent.result, 1);
  assert.match(lines, /"event":"call.started"/); // he reads again, and gets lines again
  assert.match(pipe.read(), /cannot write the security log 'standard error': nobody reads from it/);
  assert.equal(code, 74);
});

test('a security log that has no room is said at once, at the end by its name, and calls go on', async () => {
  const config = put('full.json', { mcpServers: { idle: { command: 'cat' } }, glovebox: { audit: '/dev/full' } });
  const wire = new Wire(process.env.GLOVEBOX, ['mcp', '--config', config]);
  const lines = () => wire.stderr.split('\n').filter(Boolean);
  await wire.initialize();

  const first = await wire.call('execute', { code: 'return 1' });
  const second = await wire.call('execute', { code: 'return 2' });
  while (lines().length === 0) await new Promise(setImmediate); // the other pipe was first
  const before = lines();
  wire.child.kill('SIGTERM');
  const { code } = await soon('the end', wire.exited);

  const why = "cannot write the security log '/dev/full': No space left on device";
  assert.equal(first.result.structuredContent.result, 1);
  assert.equal(second.result.structuredContent.result, 2);
  assert.deepEqual(before, [`glovebox: ${why}; calls go on without it`]);
  assert.equal(lines().length, 2);
  assert.ok(lines()[1].includes(why), lines()[1]);
  assert.equal(code, 74);
});

for (const [what, name, option] of [
  ['a dataset that cannot be read', 'd.ndjson', (path) => ['--data', `d=${path}`]],
  ['servers that are not there', 'none.json', (path) => ['--config', path]],
])
  test(`a warning of ${what} that nobody reads holds up neither answers nor the end`, async (t) => {
    const path = put(name, name === 'none.json' ? '{"mcpServers":{}}' : '{"a":\n');
    const wire = new Wire(process.env.GLOVEBOX, ['mcp', ...option(path)],
      { stdio: ['pipe', 'pipe', fullPipe(t, `pipe-${name}`).theirs] });

    await soon('the beginning', wire.initialize());
    await soon('the list', wire.ask('tools/list'));
    wire.child.kill('SIGTERM');
    const { code } = await soon('the end', wire.exited);

    assert.equal(code, 0);
  });

// SPDX-License-Identifier: MIT
// stuck: what others do not do, a name server that answers or a person who reads, holds up
// nobody but who asked for it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { Wire, killAll } from './wire.mjs';

const folder = mkdtempSync(join(tmpdir(), 'glovebox-stuck-'));
afterEach(killAll);
after(() => rmSync(folder, { recursive: true }));

/** The C library looks for a name without a dot in this file first: to open it is to wait. */
function lookUpForEver() {
  const path = join(folder, 'aliases');
  execFileSync('mkfifo', [path]);
  return { HOSTALIASES: path };
}

const soon = (what, promise, ms = 1000) => {
  const { promise: late, reject } = Promise.withResolvers();
  const timer = setTimeout(() => reject(new Error(`${what}: not within ${ms} ms`)), ms);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

test('a name that is looked up for ever ends its call in time, and holds up nothing else', async () => {
  const config = join(folder, 'far.json');
  writeFileSync(config, JSON.stringify({ mcpServers: {
    far: { type: 'http', url: 'http://nowhere/mcp', glovebox: { startMs: 500 } } } }));
  const wire = new Wire(process.env.GLOVEBOX, ['mcp', '--config', config],
    { env: { ...process.env, ...lookUpForEver() } });
  await wire.initialize();

  const { result } = await soon('the call', wire.call('call', { server: 'far', tool: 'x', args: {} }), 5000);
  await soon('an answer', wire.ask('ping'));
  const again = wire.call('call', { server: 'far', tool: 'x', args: {} });
  wire.child.kill('SIGTERM');
  const { code } = await soon('the end', wire.exited);

  assert.match(result.content[0].text, /^UPSTREAM_START/);
  assert.equal(code, 0);
  again.catch(() => {});
});

// SPDX-License-Identifier: MIT
// together: several that change one configuration at the same time lose nothing of it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { glovebox, user } from './user.mjs';

const ROUNDS = 10;

/** Somebody who changes a file of the folder now: its lock, held while the script runs. */
async function holding(path, script) {
  const holder = spawn('flock', ['-F', path, 'sh', '-c', `echo held; ${script}`, path],
    { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(holder.stdout, 'data');
  return holder;
}

test('import: what somebody else changes at the same time is not lost', async () => {
  const u = user({
    'home/.config/glovebox/mcp.json': { mcpServers: { a: { command: 'x' } } },
    'project/host.json': { mcpServers: { b: { command: 'y' } } },
  });
  const other = JSON.stringify({ mcpServers: { a: { command: 'x' } },
    glovebox: { rules: [{ action: 'allow', server: 'a', tool: 't' }] } });
  const holder = await holding(dirname(u.own), `sleep 0.7; echo '${other}' >"$0/new"; mv "$0/new" "$0/mcp.json"`);
  const result = u.run('import', '--from', 'host.json');
  assert.equal(result.status, 0, result.stderr);
  const own = u.json('home/.config/glovebox/mcp.json');
  assert.deepEqual(own.glovebox.rules, [{ action: 'allow', server: 'a', tool: 't' }]);
  assert.deepEqual(own.mcpServers, { a: { command: 'x' }, b: { command: 'y' } });
  if (holder.exitCode === null) await once(holder, 'exit');
});

test('import: a file that somebody else goes on changing is left alone, and can be looked at', async () => {
  const u = user({
    'home/.config/glovebox/mcp.json': '{}',
    'project/host.json': { mcpServers: { b: { command: 'y' } } },
  });
  const holder = await holding(dirname(u.own), 'exec sleep 60');
  assert.equal(u.run('import', '--from', 'host.json', '--dry-run').status, 0);
  const result = u.run('import', '--from', 'host.json');
  holder.kill();
  assert.equal(result.status, 74);
  assert.match(result.stderr, /cannot write '.*glovebox': .*busy\n.*hint: somebody else is changing it: try again\n$/s);
  assert.equal(u.read('home/.config/glovebox/mcp.json'), '{}');
});

/** The exit status of an import that runs beside others, and what it has said. */
async function start(u, ...args) {
  const child = spawn(glovebox, ['mcp', 'import', ...args], { cwd: u.project, env: { PATH: process.env.PATH, HOME: u.home } });
  const said = [];
  child.stdout.on('data', (data) => said.push(data));
  child.stderr.on('data', (data) => said.push(data));
  const [status] = await once(child, 'close');
  return { status, said: said.join('') };
}

const two = { 'project/a.json': { mcpServers: { a: { command: 'x' } } }, 'project/b.json': { mcpServers: { b: { command: 'y' } } } };

test('import: what two have taken at once is there, though there was no file before', async () => {
  for (let i = 0; i < ROUNDS; i++) {
    const u = user(two);
    const ended = await Promise.all(['a.json', 'b.json'].map((from) => start(u, '--from', from)));
    for (const { status, said } of ended) assert.equal(status, 0, said);
    assert.deepEqual(Object.keys(u.servers()).sort(), ['a', 'b']);
  }
});

test('import: a new file waits for who is about to write the first, and leaves no other in the folder', async () => {
  const u = user(two);
  mkdirSync(dirname(u.own), { recursive: true });
  const holder = await holding(dirname(u.own), `sleep 0.7; echo '{"mcpServers": {"c": {"command": "z"}}}' >"$0/mcp.json"`);
  const { status, said } = await start(u, '--from', 'a.json');
  assert.equal(status, 0, said);
  assert.deepEqual(Object.keys(u.servers()), ['c', 'a']);
  assert.deepEqual(readdirSync(dirname(u.own)).sort(), ['mcp.json', 'mcp.json.backup']);
  if (holder.exitCode === null) await once(holder, 'exit');
});

test('import: a look makes no folder', async () => {
  const u = user(two);
  assert.equal((await start(u, '--from', 'a.json', '--dry-run')).status, 0);
  assert.ok(!existsSync(dirname(u.own)));
});

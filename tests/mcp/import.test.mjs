// SPDX-License-Identifier: MIT
// import: what users have in the files of their hosts besides plain servers, and what has
// to become of it. Most of it is in tables/import.txt.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { follow } from './steps.mjs';
import { user } from './user.mjs';

follow('import');

test('import: what a project has is taken as disabled, unless its file is named', () => {
  const u = user({
    'project/.mcp.json': { mcpServers: { a: { command: 'a' }, b: { command: 'b', disabled: true } } },
    'project/.cursor/mcp.json': { mcpServers: { c: { command: 'c' } } },
    'project/.vscode/mcp.json': { servers: { d: { command: 'd' }, x: { type: 'http', url: 'unix:///x' } } },
    'project/.codex/config.toml': '[mcp_servers.e]\ncommand = "e"\n',
    'home/.claude.json': '{"projects": {"@PROJECT@": {"mcpServers": {"p": {"command": "p"}}}}, "mcpServers": {"f": {"command": "f"}}}',
    'home/.cursor/mcp.json': { mcpServers: { g: { command: 'g' } } },
  });
  const off = () => Object.entries(u.servers()).filter(([, server]) => server.disabled).map(([name]) => name);
  const result = u.run('import');
  assert.equal(result.status, 0);
  assert.deepEqual(off(), ['a', 'b', 'c', 'd', 'e']);
  assert.match(result.stdout, /a: taken\n {4}note: it is taken as disabled, since it comes with the folder: enable it if you trust it\n {2}b: taken\nClaude/);
  assert.match(result.stdout, /x: not taken\n/);
  assert.deepEqual(result.stdout.match(/^next: take .*?,? out of/gm), ['next: take p out of', 'next: take f out of', 'next: take g out of']);
  // Somebody has looked: that is said here, or to import.
  const looked = u.json('home/.config/glovebox/mcp.json');
  for (const server of Object.values(looked.mcpServers))
    if (server.disabled) server.disabled = server.cwd.endsWith('/project') ? false : undefined;
  writeFileSync(u.own, JSON.stringify(looked));
  assert.match(u.run('import').stdout, /a: is there already[^]*c: is there already[^]*nothing to write/);
  const named = u.run('import', '--from', '.mcp.json', '--from', '.codex/config.toml', '--config', 'named.json');
  assert.equal(named.status, 0, named.stdout);
  assert.deepEqual(Object.entries(u.json('project/named.json').mcpServers).map(([name, server]) => [name, server.disabled]),
    [['a', undefined], ['b', true], ['e', undefined]]);
});

test('import: dollars before what a host fills in stay dollars, and a folder stays a folder', () => {
  const u = user({ 'home/.cursor/mcp.json': { mcpServers: { a: { command: 'x', args: ['$${env:HOME}', '$$${userHome}', '$${x', '${x'] } } } });
  const odd = join(u.root, 'a${HOME}');
  mkdirSync(join(odd, '.vscode'), { recursive: true });
  const text = { servers: { v: { command: 'v', cwd: 'sub', args: ['$${workspaceFolder}', '${workspaceFolderBasename}'] } } };
  assert.equal(u.runAs({ cwd: odd }, 'import', '--from', 'cursor').status, 0);
  assert.deepEqual(u.servers().a.args, ['$$${HOME}', '$$$$${HOME}', '$$$${x', '$${x']);
  writeFileSync(join(odd, '.vscode/mcp.json'), JSON.stringify(text));
  assert.equal(u.runAs({ cwd: odd }, 'import', '--from', '.vscode/mcp.json').status, 0);
  const folder = odd.replace('${', () => '$${');
  assert.deepEqual(u.servers().v, { command: 'v', cwd: `${folder}/sub`, args: [`$${folder}`, 'a$${HOME}'] });
});

test('a byte order mark before a configuration is none of it', () => {
  const mark = '\ufeff';
  const u = user({
    'home/.cursor/mcp.json': `${mark}{"mcpServers": {"a": {"command": "x"}}, "b": 1}`,
    'home/.codex/config.toml': `${mark}[mcp_servers.c]\ncommand = "z"\n\n[tui]\nx = 1\n`,
    'home/.config/glovebox/mcp.json': `${mark}{"mcpServers": {"d": {"command": "x", "disabled": true}}}`,
    'project/bad.json': `${mark}{"glovebox": 5}`,
    'project/worse.json': `${mark}{"a" 5}`,
  });
  const result = u.run('import');
  assert.equal(result.status, 0, result.stderr);
  assert.equal(u.read('home/.config/glovebox/mcp.json'), mark +
    JSON.stringify({ mcpServers: { d: { command: 'x', disabled: true }, a: { command: 'x' }, c: { command: 'z' } } }, null, 2));
  assert.match(u.run('doctor').stdout, /^d +disabled$/m);
  assert.match(u.run('doctor', '--config', 'bad.json').stderr, /bad\.json:1:14: /);
  assert.match(u.run('import', '--from', 'worse.json').stderr, /worse\.json:1:6: colon expected/);
});

test('import: a pipe where a host has a file is said, and not waited for', () => {
  const u = user({ 'home/.cursor/mcp.json': { mcpServers: { a: { command: 'x' } } } });
  execFileSync('mkfifo', [join(u.project, '.mcp.json')]);
  const result = u.runAs({ timeout: 60000 }, 'import');
  assert.equal(result.status, 66, result.error);
  assert.match(result.stderr, /^glovebox: cannot read '.*\/\.mcp\.json': it is not a file\n$/);
  assert.deepEqual(u.servers(), { a: { command: 'x' } });
});

test('import and doctor: a file that others can change is refused, unless all files are trusted', () => {
  const u = user({
    'home/.cursor/mcp.json': { mcpServers: { a: { command: 'x' } } },
    'project/.mcp.json': { mcpServers: { b: { command: 'y' } } },
    'project/own.json': { mcpServers: { c: { command: 'z', disabled: true } } },
  });
  const [host, own] = ['project/.mcp.json', 'project/own.json'].map((name) => join(u.root, name));
  chmodSync(host, 0o622);
  const some = u.run('import');
  assert.equal(some.status, 66);
  assert.match(some.stderr, /^glovebox: '.*\/\.mcp\.json' is refused, since others may write it, .*: run chmod go-w \/.*\/\.mcp\.json \(.*\)\n$/);
  assert.deepEqual(u.servers(), { a: { command: 'x' } });
  u.run('import', '--trust-files');
  assert.deepEqual(Object.keys(u.servers()), ['a', 'b']);

  for (const [args, status] of [[['doctor'], 0], [['import', '--from', 'cursor'], 0], [[], null]]) {
    chmodSync(own, 0o622);
    const refused = u.run(...args, '--config', own);
    assert.deepEqual([refused.status, refused.stderr.includes(`run chmod go-w ${own} (`)], [66, true], refused.stderr);
    if (status !== null) assert.equal(u.run(...args, '--config', own, '--trust-files').status, status);
  }
});

test('without a home directory, what needs one says so', () => {
  const u = user({ 'project/mine.json': { mcpServers: {} } });
  const env = { HOME: undefined, XDG_CONFIG_HOME: undefined };
  const missing = "glovebox: no home directory: give the file by '--config'\n";
  for (const words of [['doctor'], ['import'], ['allow', 'a', 'b', '--yes']]) {
    const result = u.runAs({ env }, ...words);
    assert.deepEqual([result.status, result.stdout, result.stderr], [64, '', missing], words.join(' '));
  }
  const json = u.runAs({ env }, 'doctor', '--json');
  assert.deepEqual([json.status, JSON.parse(json.stdout).status, json.stderr], [64, 'GBX_E_USAGE', '']);
  assert.equal(u.runAs({ env }, 'doctor', '--config', 'mine.json').status, 0);
});

test('import: a file of ours that does not load is refused with its place', () => {
  const host = { mcpServers: { a: { command: 'x' } } };
  for (const [ours, place] of [
    ['{"mcpServers": null}', '1:16: mcpServers: '],
    ['{\n "mcpServers": []}', '2:16: mcpServers: '],
    ['{"servers": 5}', '1:13: servers: '],
    ['[]', '1:1: '],
    ['{"glovebox": {"rule": []}}', '1:15: '],
  ]) {
    const u = user({ 'home/.config/glovebox/mcp.json': ours, 'project/host.json': host });
    for (const more of [[], ['--dry-run']]) {
      const result = u.run('import', '--from', 'host.json', ...more);
      assert.equal(result.status, 78, ours + result.stdout + result.stderr);
      assert.ok(result.stderr.startsWith(`glovebox: ${u.own}:${place}`), ours + result.stderr);
      assert.match(result.stderr, /hint: nothing has been written\n$/);
      assert.doesNotMatch(result.stdout, /: taken|wr(o|i)te/, ours);
    }
    assert.equal(u.read('home/.config/glovebox/mcp.json'), ours);
    assert.deepEqual(u.json('project/host.json'), host);
  }
});

test('import: more servers than a configuration has are refused before anything is written', () => {
  const many = Object.fromEntries([...Array(257).keys()].map((i) => [`s${i}`, { command: 'x' }]));
  const u = user({ 'project/host.json': { mcpServers: many } });
  const result = u.run('import', '--from', 'host.json');
  assert.equal(result.status, 78);
  assert.match(result.stderr, /there are more than 256 servers/);
  assert.ok(!existsSync(u.own));
  assert.deepEqual(u.json('project/host.json').mcpServers, many);
});

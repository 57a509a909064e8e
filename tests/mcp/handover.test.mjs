// SPDX-License-Identifier: MIT
// handover: what a server was in its host, it is behind us; where it cannot be, the host
// keeps it, and that is said.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { user } from './user.mjs';

test('import: what its host takes as it is written becomes no variable', () => {
  const u = user({
    'home/.config/Claude/claude_desktop_config.json': { mcpServers: { d: { command: 'x', args: ['${userHome}', '$${A}', '$5 {'], env: { P: 'pa${HOME}word' } } } },
    'home/.codex/config.toml': '[mcp_servers.c]\ncommand = "y"\nenv = {P = "pa${HOME}word"}\nenv_http_headers = {}\n\n[mcp_servers.r]\nurl = "https://r.example/"\nbearer_token_env_var = "HOME"\nhttp_headers = {X = "${HOME}"}\n',
  });
  const result = u.run('import');
  assert.equal(result.status, 0, result.stderr);
  assert.deepEqual(u.servers(), {
    d: { command: 'x', args: ['$${userHome}', '$$$${A}', '$5 {'], env: { P: 'pa$${HOME}word' } },
    c: { command: 'y', env: { P: 'pa$${HOME}word' } },
    r: { url: 'https://r.example/', headers: { X: '$${HOME}', Authorization: 'Bearer ${HOME}' } },
  });
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

test('print-config and import --rewrite: a host that would fill in a path is not given it', () => {
  const u = user({ 'home/.cursor/mcp.json': { mcpServers: { a: { command: 'x' } } }, 'home/.codex/config.toml': '[mcp_servers.b]\ncommand = "y"\n' });
  for (const host of ['claude-code', 'cursor', 'vscode']) {
    for (const given of [['--data', 'o=/srv/${HOME}.json'], ['--config', '/srv/${HOME}.json'], ['--data', 'd=sqlite:/o.db?query=SELECT "${x}"']]) {
      const { status, stdout, stderr } = u.run('print-config', host, ...given);
      assert.deepEqual([status, stdout], [64, ''], host);
      assert.match(stderr, /^glovebox: (Claude Code|Cursor|VS Code) fills in '\$\{\.\.\.\}', and '.*\$\{.*' cannot be written for it\n/);
    }
  }
  for (const host of ['claude', 'codex'])
    assert.match(u.run('print-config', host, '--data', 'o=/srv/${HOME}.json').stdout, /"o=\/srv\/\$\{HOME\}\.json"/);
  const before = u.read('home/.cursor/mcp.json');
  const result = u.run('import', '--rewrite', '--config', join(u.root, '${HOME}.json'));
  assert.equal(result.status, 65, result.stderr);
  assert.match(result.stdout, /not rewritten: .*\.cursor\/mcp\.json has no way to write '\$\{'/);
  assert.equal(u.read('home/.cursor/mcp.json'), before);
  assert.match(u.read('home/.codex/config.toml'), /\$\{HOME\}\.json/);
});

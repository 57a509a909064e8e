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

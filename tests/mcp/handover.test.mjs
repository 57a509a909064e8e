// SPDX-License-Identifier: MIT
// handover: what a server was in its host, it is behind us; where it cannot be, that is said.
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

test('import: what a host does for a server and we do not is said', () => {
  const url = 'https://r.example/mcp';
  for (const [lost, note] of [
    [{ headersHelper: '/bin/token' }, /its "headersHelper" is not run: give it a header/],
    [{ oauth: { clientId: 'x' } }, /it signs in by OAuth \("oauth"\): do that here by 'glovebox mcp login'/],
    [{ auth: { CLIENT_ID: 'x' } }, /it signs in by OAuth \("auth"\)/],
    [{ envFile: '.env' }, /its "envFile" is left out, since the host does not read it either/],
    [{ oauth: null, auth: false }, null],
  ]) {
    const u = user({ 'home/.claude.json': { mcpServers: { a: { type: 'http', url, ...lost } } } });
    const result = u.run('import');
    assert.equal(result.status, 0, result.stderr);
    if (note === null) assert.doesNotMatch(result.stdout, /note:/);
    else assert.match(result.stdout, note);
  }
});

test('import: a variable of Codex\'s that is no name is not passed over', () => {
  const u = user({ 'home/.codex/config.toml': '[mcp_servers.a]\ncommand = "x"\nenv_vars = [{name = "T", source = "remote"}]\n' });
  const result = u.run('import');
  assert.equal(result.status, 0);
  assert.match(result.stdout, /a: not taken\n {4}note: it is left alone: glovebox\.env\[0\]: /);
});

test('import: a timeout that is longer than the longest becomes that', () => {
  const u = user({ 'home/.codex/config.toml': '[mcp_servers.a]\ncommand = "x"\ntool_timeout_sec = 7200\nstartup_timeout_sec = 7200\n' });
  assert.equal(u.run('import').status, 0);
  assert.deepEqual(u.servers().a.glovebox, { timeoutMs: 3600000, startMs: 600000 });
});

test('import: what a host says of tools is not taken, and that is said', () => {
  const host = { mcpServers: { a: { command: 'x' } } };
  const said = (files) => {
    const u = user(files);
    const result = u.run('import');
    assert.equal(result.status, 0, result.stderr);
    assert.deepEqual(Object.keys(u.json('home/.config/glovebox/mcp.json')), ['mcpServers']);
    return result.stdout;
  };
  for (const permissions of [{ deny: ['Bash(rm:*)', 'mcp__a__drop'] }, { ask: ['mcp__a'] }])
    assert.match(said({ 'home/.claude.json': host, 'home/.claude/settings.json': { permissions } }),
      /a: taken\n {2}note: what .*\/\.claude\/settings\.json denies, or asks about, is not taken: write rules, or use 'glovebox mcp deny'\n/);
  assert.doesNotMatch(said({ 'home/.claude.json': host, 'home/.claude/settings.json': { permissions: { deny: ['Bash(rm:*)'], allow: ['mcp__a'] } } }), /note/);
  for (const line of ['enabled_tools = ["get"]', 'disabled_tools = ["drop"]', 'default_tools_approval_mode = "prompt"'])
    assert.match(said({ 'home/.codex/config.toml': `[mcp_servers.a]\ncommand = "x"\n${line}\n` }),
      new RegExp(`a: taken\\n {4}note: what its "${line.split(' ')[0]}" says of tools is not taken`));
  assert.match(said({ 'home/.codex/config.toml': '[mcp_servers.a]\ncommand = "x"\n[mcp_servers.a.tools.create]\napproval_mode = "prompt"\n' }),
    /a: taken\n {4}note: what its "tools" says of tools is not taken/);
  assert.match(said({ 'home/.config/Code/User/mcp.json': { servers: { a: { command: 'x', sandboxEnabled: true, sandbox: {} } } } }),
    /a: taken\n {4}note: its "sandboxEnabled" is not done here: the server runs as it is/);
  assert.doesNotMatch(said({ 'home/.claude.json': { mcpServers: { a: { command: 'x', tools: ['*'], sandboxEnabled: false } } } }), /note/);
});

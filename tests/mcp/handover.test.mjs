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

test('print-config: a host that would fill in a path is not given it', () => {
  const u = user({});
  for (const host of ['claude-code', 'cursor', 'vscode']) {
    for (const given of [['--data', 'o=/srv/${HOME}.json'], ['--config', '/srv/${HOME}.json'], ['--data', 'd=sqlite:/o.db?query=SELECT "${x}"']]) {
      const { status, stdout, stderr } = u.run('print-config', host, ...given);
      assert.deepEqual([status, stdout], [64, ''], host);
      assert.match(stderr, /^glovebox: (Claude Code|Cursor|VS Code) fills in '\$\{\.\.\.\}', and '.*\$\{.*' cannot be written for it\n/);
    }
  }
  for (const host of ['claude', 'codex'])
    assert.match(u.run('print-config', host, '--data', 'o=/srv/${HOME}.json').stdout, /"o=\/srv\/\$\{HOME\}\.json"/);
});

test('print-config: Codex is told of every variable that we need', () => {
  const own = '{"mcpServers": {"a": {"command": "x", "args": ["${HOME}/${DIR}", "$${NOT}"], "envFile": "${NOT_READ}/.env", "glovebox": {"env": ["GIVEN", "LANG"]}}, /* off */ "b": {"disabled": true, "url": "${env:URL:-https://b/}", "headers": {"H": "${DIR}"}}}, "glovebox": {"secrets": {"L": {"from": "KEY_OF_L", "servers": ["a"]}}}}';
  const u = user({ 'home/.config/glovebox/mcp.json': own });
  assert.ok(u.run('print-config', 'codex').stdout.endsWith(`\nargs = ["mcp", "--config", "${u.own}"]\nenv_vars = ["DIR", "GIVEN", "URL", "KEY_OF_L"]\n`));
  for (const host of ['claude', 'claude-code', 'cursor', 'vscode'])
    assert.doesNotMatch(u.run('print-config', host).stdout, /env_vars|DIR/);
});

test('import: what a host does for a server and we do not is said', () => {
  const url = 'https://r.example/mcp';
  for (const [lost, note] of [
    [{ headersHelper: '/bin/token' }, /its "headersHelper" is not run: give it a header/],
    [{ oauth: { clientId: 'x' } }, /it signs in by OAuth \("oauth"\), which is not done here/],
    [{ auth: { CLIENT_ID: 'x' } }, /it signs in by OAuth \("auth"\)/],
    [{ envFile: '.env' }, /its "envFile" is not read/],
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

const rules = (u) => JSON.parse(u.read('home/.config/glovebox/mcp.json')).glovebox?.rules;

test('import: tools that Claude Code denies, or asks about, are that here', () => {
  const servers = (...names) => ({ mcpServers: Object.fromEntries(names.map((name) => [name, { command: name }])) });
  const u = user({
    'home/.claude.json': servers('github', 'my.docs', 'internal', 'git', 'free'),
    'project/.mcp.json': servers('github', 'mine'),
    'home/.cursor/mcp.json': servers('cursor'),
    'home/.claude/settings.json': { permissions: { deny: ['mcp__github__get_secret_alerts', 'mcp__internal', 'Bash(rm:*)', 'mcp__my_docs__drop*'], ask: ['mcp__github__*'], allow: ['mcp__free'] } },
    'project/.claude/settings.json': { permissions: { deny: ['mcp__mine__x?', 'mcp__*__drop', 'mcp__mine__y', 5] } },
    'project/.claude/settings.local.json': { permissions: { ask: ['mcp__gi*'] } },
  });
  const result = u.run('import', '--from', '.mcp.json', '--from', 'claude-code', '--from', 'cursor');
  assert.equal(result.status, 0, result.stdout + result.stderr);
  const said = (server, action) => rules(u).filter((rule) => rule.server === server && rule.action === action).map((rule) => [rule.tool ?? '*'].flat());
  assert.deepEqual(said('github', 'deny'), [['drop', 'get?secret?alerts']]);
  assert.deepEqual(said('github', 'ask'), [['*']]);
  assert.deepEqual(said('my.docs', 'deny'), [['drop', 'drop*']]);
  assert.deepEqual(said('internal', 'deny'), [['*']]);
  assert.deepEqual([said('git', 'deny'), said('git', 'ask')], [[['drop']], [['*']]]);
  assert.deepEqual(said('mine', 'deny'), [['x\\?', 'drop', 'y']]);
  assert.deepEqual([said('free', 'deny'), said('cursor', 'deny')], [[['drop']], []]);
  assert.ok(rules(u).every((rule) => rule.action !== 'allow'));
  assert.match(result.stdout, /internal: taken\n {4}note: as the host has it for tools of it, there is the rule \{"action":"deny","server":"internal"\}\n/);
  assert.match(u.run('import', '--from', 'claude-code').stdout, /nothing to write/);
});

test('import: a rule that is taken overrules none that is there, and is overruled by none', () => {
  const host = { 'home/.claude.json': { mcpServers: { a: { command: 'x' } } }, 'home/.claude/settings.json': { permissions: { deny: ['mcp__a__d'], ask: ['mcp__a__q'] } } };
  const [deny, ask] = [{ action: 'deny', server: 'a', tool: 'd' }, { action: 'ask', server: 'a', tool: 'q' }];
  const [no, yes] = [{ action: 'deny', tool: 'q' }, { action: 'allow', tool: '*' }];
  for (const [glovebox, wanted, fits] of [
    [{}, [deny, ask], true],
    [{ rules: [no, yes] }, [deny, no, ask, yes], true],
    [{ rules: [yes, no] }, [deny, yes, no], false],
    [{ rules: [yes, ask, no, deny] }, [yes, ask, no, deny], true],
    [{ defaults: { other: 'deny' } }, [deny], false],
  ]) {
    const u = user({ ...host, 'home/.config/glovebox/mcp.json': { glovebox } });
    const result = u.run('import');
    assert.equal(result.status, 0, result.stdout + result.stderr);
    assert.deepEqual(rules(u), wanted);
    assert.equal(/write \{"action":"ask","server":"a","tool":"q"\} among the rules/.test(result.stdout), !fits);
  }
});

test('import: the lists of tools of Codex are rules, or are said to have to be', () => {
  const toml = '[mcp_servers.a]\ncommand = "x"\ndisabled_tools = ["drop_all", "b*"]\n';
  const u = user({ 'home/.codex/config.toml': toml });
  assert.equal(u.run('import').status, 0);
  assert.deepEqual(rules(u), [{ action: 'deny', server: 'a', tool: ['drop_all', 'b\\*'] }]);
  const asked = user({ 'home/.codex/config.toml': '[mcp_servers.a]\ncommand = "x"\n[mcp_servers.a.tools.get]\n'
    + 'approval_mode = "prompt"\n[mcp_servers.a.tools.put]\napproval_mode = "approve"\n'
    + '[mcp_servers.b]\ncommand = "y"\ndefault_tools_approval_mode = "prompt"\n'
    + '[mcp_servers.c]\ncommand = "z"\ndefault_tools_approval_mode = "writes"\n' });
  assert.equal(asked.run('import').status, 0);
  assert.deepEqual(rules(asked), [{ action: 'ask', server: 'b' }, { action: 'ask', server: 'a', tool: 'get' }]);
  const only = user({ 'home/.codex/config.toml': '[mcp_servers.a]\ncommand = "x"\nenabled_tools = ["get"]\n' });
  const result = only.run('import');
  assert.match(result.stdout, /such as \{"action":"ask","server":"a","tool":\["get"\]\}\n.*write \{"action":"deny","server":"a"\} after the rules that speak of them\n/);
  const own = only.json('home/.config/glovebox/mcp.json');
  writeFileSync(only.own, JSON.stringify({ ...own, glovebox: { rules: [{ action: 'allow', server: 'a', tool: 'get' }, { action: 'deny', server: 'a' }] } }));
  assert.doesNotMatch(only.run('import').stdout, /write \{/);
});

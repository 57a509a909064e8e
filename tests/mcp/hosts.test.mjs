// SPDX-License-Identifier: MIT
// hosts: the configurations of hosts taken over; and what the doctor says of servers, good
// and bad.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { user } from './user.mjs';

const CODEX = `model = "o5" # keep
[profiles.x]
a = """multi
[mcp_servers.fake]
"""

[mcp_servers.docs]
command = "npx"
args = ["-y",   # comment
  'docs-mcp',
]
env = { A = "b", "C.d" = "e\\u00e9" }
startup_timeout_sec = 20
tool_timeout_sec = 1.5

[mcp_servers.docs.extra]
x = 1

[mcp_servers."remote one"]
url = "https://r.example/mcp"
bearer_token_env_var = "HOME"
http_headers = { "X-A" = "b" }

[tui]
theme = "dark"
`;

const ALL = {
  'home/.config/Claude/claude_desktop_config.json': '{"mcpServers": {"files": {"command": "uvx", "args": ["x"]}}, "scale": 1}',
  'home/.claude.json': '{"n": 1.50, "projects": {"@PROJECT@": {"mcpServers": {"local": {"command": "./run"}}, "enabledMcpjsonServers": ["db"]}}, "mcpServers": {"s": {"type": "sse", "url": "https://s.example/sse"}}}',
  'project/.mcp.json': '{"mcpServers": {"db": {"command": "db", "env": {"U": "${DB:-none}"}}}}',
  'home/.cursor/mcp.json': '{\n  // mine\n  "mcpServers": {\n    "files": {"command": "npx", "args": ["${userHome}/d", "${env:HOME}"], "autoApprove": ["r"]},\n    "my tickets": {"url": "https://t.example/mcp"},\n  },\n  "other": 1.50\n}\n',
  'project/.vscode/mcp.json': '{"inputs": [{"id": "api-key"}], "servers": {"perp": {"type": "stdio", "command": "npx", "args": ["${workspaceFolder}/x.js"], "env": {"KEY": "${input:api-key}"}}}}',
  'home/.config/Code/User/settings.json': '{"editor.x": 1, "mcp": {"servers": {"user": {"command": "u"}}}}',
  'home/.codex/config.toml': CODEX,
};

test('import: every host is read, and nothing of an entry is lost', () => {
  const u = user(ALL);
  const result = u.run('import');
  assert.equal(result.status, 0, result.stderr);
  assert.deepEqual(u.json('home/.config/glovebox/mcp.json').mcpServers, {
    files: { command: 'uvx', args: ['x'] },
    local: { command: './run', cwd: u.project },
    db: { command: 'db', env: { U: '${DB:-none}' }, cwd: u.project },
    s: { type: 'sse', url: 'https://s.example/sse' },
    'files-cursor': { command: 'npx', args: ['${HOME}/d', '${HOME}'], autoApprove: ['r'] },
    'my-tickets': { url: 'https://t.example/mcp' },
    perp: { type: 'stdio', command: 'npx', args: [`${u.project}/x.js`], env: { KEY: '${INPUT_API_KEY}' }, cwd: u.project, disabled: true },
    user: { command: 'u', cwd: '~' },
    docs: { command: 'npx', args: ['-y', 'docs-mcp'], env: { A: 'b', 'C.d': 'eé' }, extra: { x: 1 }, glovebox: { startMs: 20000, timeoutMs: 1500 } },
    'remote-one': { url: 'https://r.example/mcp', headers: { 'X-A': 'b', Authorization: 'Bearer ${HOME}' } },
  });
  assert.match(result.stdout, /files: taken as files-cursor/);
  assert.match(result.stdout, /set it as the variable INPUT_API_KEY/);
  assert.equal(statSync(u.own).mode & 0o777, 0o600);
  for (const name of Object.keys(ALL)) assert.equal(u.read(name), ALL[name].replaceAll('@PROJECT@', u.project));
});

test('import: twice takes nothing twice, and writes nothing', () => {
  const u = user(ALL);
  u.run('import');
  const before = u.read('home/.config/glovebox/mcp.json');
  const again = u.run('import');
  assert.equal(again.status, 0);
  assert.match(again.stdout, /files: is there already/);
  assert.match(again.stdout, /nothing to write/);
  assert.equal(u.read('home/.config/glovebox/mcp.json'), before);
  assert.equal(existsSync(`${u.own}.backup`), false);
});

test('import --dry-run: says the same and writes nothing', () => {
  const u = user(ALL);
  const dry = u.run('import', '--dry-run');
  assert.match(dry.stdout, /would write .*mcp\.json/);
  assert.equal(existsSync(u.own), false);
  for (const name of Object.keys(ALL)) assert.equal(u.read(name), ALL[name].replaceAll('@PROJECT@', u.project));
});

test('import: our file keeps its comments, order, numbers and keys, and has a backup', () => {
  const mine = '{\n  // by hand\n  "glovebox": {"rules": [{"action": "ask"}]}, "x": 1.50,\n  "mcpServers": {\n    "files": {"command": "mine"}, // stays\n  }\n}\n';
  const u = user({ ...ALL, 'home/.config/glovebox/mcp.json': mine });
  chmodSync(u.own, 0o640);
  const result = u.run('import', '--from', 'claude');
  assert.equal(result.status, 0, result.stderr);
  assert.equal(u.read('home/.config/glovebox/mcp.json'), mine.replace('{"command": "mine"},',
    '{\n      "command": "mine"\n    },\n    "files-claude": {\n      "command": "uvx",\n      "args": [\n        "x"\n      ]\n    },'));
  assert.equal(u.read('home/.config/glovebox/mcp.json.backup'), mine);
  assert.equal(statSync(u.own).mode & 0o777, 0o640);
});

test('import: a server is added after the last one, and comments stay', () => {
  for (const [before, after] of [
    ['{}', '{\n  "mcpServers": {\n    "new": {\n      "command": "x"\n    }\n  }\n}'],
    ['{"mcpServers": {\r\n}}\r\n', '{\r\n  "mcpServers": {\r\n    "new": {\r\n      "command": "x"\r\n    }\r\n}}\r\n'],
    ['{"mcpServers": {\n  "a": {"command": "y"\n  }, // a\n  // b\n}}',
      '{"mcpServers": {\n  "a": {"command": "y"\n  },\n  "new": {\n    "command": "x"\n  }, // a\n  // b\n}}'],
    ['\uFEFF{"mcpServers": {"a": {"command": "y"}}, /* z */ "n": 1.50}',
      '\uFEFF{\n  "mcpServers": {\n    "a": {\n      "command": "y"\n    },\n    "new": {\n      "command": "x"\n    }\n  }, /* z */\n  "n": 1.50\n}'],
    ['{\n\t"mcpServers": { /* none */ }}', '{\n\t"mcpServers": {\n\t\t"new": {\n\t\t\t"command": "x"\n\t\t} /* none */\n\t}\n}'],
  ]) {
    const u = user({ 'home/.config/glovebox/mcp.json': before, 'home/.cursor/mcp.json': { mcpServers: { new: { command: 'x' } } } });
    const result = u.run('import', '--from', 'cursor');
    assert.equal(result.status, 0, result.stderr);
    assert.equal(u.read('home/.config/glovebox/mcp.json'), after);
  }
});

test('import: what hosts keep besides their servers may be anything', () => {
  const u = user({ 'home/.claude.json': '{"history": ["\\ud83d", "\\u0000", 1e400], "a": {"b": 1, "b": 2},\n' +
    ' "projects": {"\\u0000": {"mcpServers": {}}, "x": 5}, "mcpServers": {"s": {"command": "x", "env": {"N": 1.50}}}}',
  'home/.cursor/mcp.json': '{"mcpServers": {"s": {"command": "x\\u0000"}}}',
  'home/.codex/config.toml': 'a = "\u00e9' });
  const { status, stdout, stderr } = u.run('import');
  assert.equal(status, 65);
  assert.deepEqual(u.servers(), { s: { command: 'x', env: { N: '1.50' } } });
  assert.match(stdout, /s: taken/);
  assert.match(stderr, /mcp\.json:1:34: a string here cannot hold NUL, or half a character/);
  assert.match(stderr, /config\.toml:1:\d+: /);
});

test('import: what cannot be taken is said', () => {
  const u = user({ 'home/.cursor/mcp.json': { mcpServers: { good: { command: 'x' }, bad: { args: [] }, worse: 5 } } });
  const result = u.run('import');
  assert.equal(result.status, 0, result.stderr);
  assert.match(result.stdout, /bad: not taken\n {4}note: it is left alone: 'command' is missing, or a 'url'\n/);
  assert.match(result.stdout, /worse: not taken/);
  assert.deepEqual(u.servers(), { good: { command: 'x' } });
});

test('import: a link is followed, and stays one', () => {
  const u = user({ 'home/.cursor/mcp.json': { mcpServers: { a: { command: 'x' } } }, 'home/real.json': { mcpServers: {} } });
  mkdirSync(dirname(u.own), { recursive: true });
  symlinkSync('../../real.json', u.own);
  assert.equal(u.run('import').status, 0);
  assert.deepEqual(Object.keys(u.json('home/real.json').mcpServers), ['a']);
  assert.ok(existsSync(join(u.home, 'real.json.backup')));
});

test('import: files that are none are refused with their place, and nothing is written', () => {
  for (const [name, text, status, message] of [
    ['project/x.json', '{"mcpServers": {', 65, /x\.json:1:17: /],
    ['project/x.json', '{"mcpServers": {}, "mcpServers": {}}', 65, /duplicate/],
    ['project/x.toml', '[a]\nb = "x\n', 65, /x\.toml:2:7: control characters are not allowed in strings\n$/],
    ['project/x.json', '{"other": {}}', 65, /no servers in '.*x\.json'/],
  ]) {
    const u = user({ [name]: text });
    const result = u.run('import', '--from', join(u.root, name));
    assert.equal(result.status, status, text + result.stderr);
    assert.match(result.stderr, message);
    assert.equal(existsSync(u.own), false);
  }
  const none = user({}).run('import');
  assert.equal(none.status, 66);
  assert.match(none.stderr, /no host has any servers here/);
});

test('mcp: a command after options, and limits of nothing that is served, are refused', () => {
  const u = user({ 'project/mcp.json': {} });
  const late = u.run('--config', 'mcp.json', 'doctor');
  assert.equal(late.status, 64);
  assert.match(late.stderr, /^glovebox: a command comes before its options: write 'mcp doctor' first\n/);
  assert.match(u.run('--config', 'mcp.json', 'doctr').stderr, /unknown command 'mcp doctr': did you mean 'mcp doctor'\?/);
  for (const limit of ['--timeout=500', '--cpu=500', '--memory=64', '--max-output=1000']) {
    const { status, stderr } = u.run('--config', 'mcp.json', limit);
    assert.equal(status, 64, limit);
    assert.ok(stderr.startsWith(`glovebox: '${limit.split('=')[0]}' is a limit of --data: those of scripts are "limits" under "glovebox" in the file of --config\n`), stderr);
  }
});

test('import and doctor: what was meant is said, and how to begin', () => {
  const u = user({});
  const { status, stderr } = u.run('import', '--from', 'claud');
  assert.deepEqual([status, stderr], [66, "glovebox: cannot read 'claud': no such file\n  hint: did you mean the host 'claude'?\n"]);
  assert.match(u.run('import', '--from', 'nowhere.json').stderr, /no such file\n$/);
  const doctor = u.run('doctor');
  assert.equal(doctor.status, 66);
  assert.match(doctor.stderr, /no such file\n {2}hint: 'glovebox mcp import' makes one of the servers that hosts have\n$/);
  assert.match(u.run('doctor', '--config', 'nowhere.json').stderr, /no such file\n$/);
  for (const command of ['import', 'doctor'])
    assert.match(u.run(command, '--config=').stderr, /^glovebox: cannot read the configuration '': no such file\n$/);
});

test('mcp --config: what is wrong with a file is said as doctor says it', () => {
  const u = user({ 'project/bad.json': '{\n  "glovebox": 5}' });
  const said = u.run('--config', 'bad.json');
  assert.match(said.stderr, /^glovebox: bad\.json:2:15: glovebox: this is a number/);
  assert.equal(said.stderr, u.run('doctor', '--config', 'bad.json').stderr);
});

test('doctor: each server with its era, tools and time; the broken ones with their reason', () => {
  const u = user({});
  const counting = [join(import.meta.dirname, 'counting-upstream.mjs'), join(u.root, 'calls')];
  writeFileSync(join(u.project, 'mcp.json'), JSON.stringify({
    mcpServers: {
      good: { command: process.execPath, args: counting },
      off: { command: 'x', disabled: true },
      unset: { command: 'x', env: { A: '${SURELY_NOT_SET}' } },
      wrong: { type: 'ws', url: 'ws://x' },
      broken: { command: '/bin/sh', args: ['-c', 'echo key is $API_TOKEN >&2; exit 3'], env: { API_TOKEN: 'sk-0123456789' } },
    },
  }));
  const result = u.run('doctor', '--config', 'mcp.json', '--json');
  assert.equal(result.status, 69);
  const said = JSON.parse(result.stdout);
  assert.equal(said.ok, false);
  const [good, off, unset, wrong, broken] = said.servers;
  const { startMs, containment, ...facts } = good;
  assert.deepEqual(facts, {
    name: 'good', state: 'serves', era: '2025-11-25', server: 'counting 1', tools: 3, readOnlyTools: 1,
    leftOutTools: 0,
  });
  assert.ok(startMs > 0);
  assert.match(containment, /namespace/); // there is one, or the words for there being none
  assert.deepEqual(off, { name: 'off', state: 'disabled' });
  assert.equal(unset.state, 'fails');
  assert.match(unset.error, /'SURELY_NOT_SET' is not set/);
  assert.equal(wrong.state, 'fails');
  assert.match(wrong.error, /^its configuration is wrong at line 1, column \d+: mcpServers\.wrong\.type: this is "stdio", "http" or "sse"$/);
  assert.match(broken.error, /UPSTREAM_START/);
  assert.ok(!result.stdout.includes('sk-0123456789'), result.stdout);
  const table = u.run('doctor', '--config', 'mcp.json');
  assert.match(table.stdout, /^good +serves +2025-11-25 +3 tools \(1 only read\) +\d+ ms {2}counting 1( {2}\(.*namespace.*\))?$/m);
  assert.match(table.stdout, /^off +disabled$/m);
  assert.match(table.stdout, /^unset +fails .*'SURELY_NOT_SET' is not set/m);
  assert.match(table.stdout, /^wrong +fails .*wrong at line 1, column \d+/m);
  assert.match(table.stdout, /^broken +fails /m);
});

test('import: numbers of an entry stay as they were written', () => {
  const u = user({ 'home/.config/Claude/claude_desktop_config.json': { mcpServers: { geo: { command: 'x', lat: 48.1, of: [0.1] } } } });
  assert.equal(u.run('import').status, 0);
  assert.match(u.read('home/.config/glovebox/mcp.json'), /"lat": 48\.1,\s+"of": \[\s+0\.1\s/);
});

test('doctor: patterns of rules that fit no tool are said, but of servers that do not tell', () => {
  const rules = [{ action: 'deny', tool: ['LOOK', 'delete_repo', 'd*'] }, { action: 'allow', server: 'good', tool: ['look', 'Look'] },
    { action: 'deny', server: ['good', 'broken'], tool: 'other' }];
  const u = user({});
  const good = { command: process.execPath, args: [join(import.meta.dirname, 'counting-upstream.mjs'), join(u.root, 'calls')] };
  const doctor = (mcpServers, some, ...args) => {
    writeFileSync(join(u.project, 'mcp.json'), JSON.stringify({ mcpServers, glovebox: { rules: some } }));
    return u.run('doctor', '--config', 'mcp.json', ...args).stdout;
  };
  assert.deepEqual(JSON.parse(doctor({ good }, rules.slice(0, 2), '--json')).idlePatterns,
    [{ rule: 1, tool: 'delete_repo' }, { rule: 1, tool: 'd*' }, { rule: 2, tool: 'Look' }]);
  assert.match(doctor({ good }, rules.slice(0, 2)), /^rule 1: no tool fits 'delete_repo'$/m);
  assert.deepEqual(JSON.parse(doctor({ good, broken: { command: '/nowhere' } }, rules, '--json')).idlePatterns,
    [{ rule: 2, tool: 'Look' }]);
});

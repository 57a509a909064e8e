// SPDX-License-Identifier: MIT
// import: what users have in the files of their hosts besides plain servers, and what has
// to become of it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { user } from './user.mjs';

test('import: the files of hosts stay, and what to take out of them is said', () => {
  const files = {
    'home/.cursor/mcp.json': '{"mcpServers": {"fs": {"command": "x"}, "off": {"command": "x", "disabled": true}, "bad": {}, "rows": {"command": "glovebox", "args": ["mcp", "--data", "a=/b"]}}}',
    'home/.codex/config.toml': '[mcp_servers.a]\ncommand = "y"\n\n[mcp_servers."b c"]\ncommand = "y"\n\n[mcp_servers.box]\ncommand = "glovebox"\nargs = ["mcp", "--config", "@HOME@/.config/glovebox/mcp.json"]\n',
    'project/.cursor/mcp.json': '{"mcpServers": {"new": {"command": "z"}}}',
  };
  const u = user(files);
  assert.doesNotMatch(u.run('import', '--dry-run').stdout, /next:/);
  const result = u.run('import');
  assert.equal(result.status, 0, result.stderr);
  assert.match(result.stdout, /rows: that is glovebox, with something else\n/);
  assert.match(result.stdout, /box: that is glovebox\n/);
  assert.deepEqual(result.stdout.match(/^next: .*$/gm), [
    `next: take fs out of ${u.home}/.cursor/mcp.json, and put in glovebox, as docs/mcp.md shows: 'glovebox mcp --config ${u.own}'`,
    `next: take a, b c out of ${u.home}/.codex/config.toml`,
  ]);
  for (const [name, text] of Object.entries(files)) assert.equal(u.read(name), u.fill(text));
  assert.equal(u.run('import', '--rewrite').status, 64);
});

test('import: from the home directory every file is read once', () => {
  const u = user({
    'home/.cursor/mcp.json': { mcpServers: { c: { command: 'x' } } },
    'home/.codex/config.toml': '[mcp_servers.d]\ncommand = "y"\n',
  });
  const home = { cwd: u.home };
  const result = u.runAs(home, 'import', '--from', 'cursor', '--from', 'codex', '--from', 'cursor', '--from', '.cursor/mcp.json');
  assert.equal(result.status, 0, result.stderr);
  assert.deepEqual(u.servers(), { c: { command: 'x' }, d: { command: 'y' } });
  assert.equal(result.stdout.match(/^next: /gm).length, 2, result.stdout);
});

test('import: a file that is broken is said with its place, and keeps no other from being taken', () => {
  const u = user({
    'home/.config/Claude/claude_desktop_config.json': { mcpServers: { a: { command: 'x' } } },
    'home/.cursor/mcp.json': '{"mcpServers": {\n  "b": {"command": "y"\n}}\n',
    'home/.claude.json': '{',
    'home/.codex/config.toml': '[mcp_servers.c]\ncommand = "z"\n',
    'project/x.json': { mcpServers: { d: { command: 'x' } } },
    'project/none.json': {},
  });
  const result = u.run('import');
  assert.equal(result.status, 65);
  assert.match(result.stderr, /^glovebox: .*\/\.claude\.json:1:2: .*\nglovebox: .*\/\.cursor\/mcp\.json:4:\d+: .*\n$/);
  assert.deepEqual(u.servers(), { a: { command: 'x' }, c: { command: 'z' } });
  const files = u.run('import', '--from', 'none.json', '--from', 'not-there.json', '--from', 'x.json');
  assert.equal(files.status, 65);
  assert.match(files.stderr, /no servers in 'none\.json'.*\n.*'not-there\.json'/);
  assert.deepEqual(u.servers().d, { command: 'x' });
});

test('import: servers that were rejected in Claude Code are taken as disabled', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const u = user({
    'project/.mcp.json': { mcpServers: Object.fromEntries(names.map((name) => [name, { command: name }])) },
    'project/.claude/settings.json': { disabledMcpjsonServers: ['a'] },
    'project/.claude/settings.local.json': { disabledMcpjsonServers: ['b', 5], enabledMcpjsonServers: ['a'] },
    'home/.claude/settings.json': { disabledMcpjsonServers: ['c', 'user'], enableAllProjectMcpServers: true },
    'home/.claude.json': '{"projects": {"@PROJECT@": {"disabledMcpjsonServers": ["d", "user"], "disabledMcpServers": ["e", "off"]}}, "mcpServers": {"user": {"command": "u"}, "off": {"command": "${SURELY_NOT_SET}"}}}',
  });
  const result = u.run('import');
  assert.equal(result.status, 0, result.stderr);
  const servers = u.servers();
  assert.deepEqual(Object.keys(servers).filter((name) => servers[name].disabled), ['a', 'b', 'c', 'd', 'e', 'off']);
  assert.match(result.stdout, /a: taken\n {4}note: it is taken as disabled, as '.*project\/\.claude\/settings\.json' has it\n {2}b: /);
  assert.match(result.stdout, /off: taken\n {4}note: it is taken as disabled, as '.*home\/\.claude\.json' has it\n/);
});

test('import: what a project has and nobody has approved is taken as disabled', () => {
  const files = {
    'project/.mcp.json': { mcpServers: { a: { command: 'a' }, b: { command: 'b' } } },
    'project/.cursor/mcp.json': { mcpServers: { c: { command: 'c' } } },
    'project/.vscode/mcp.json': { servers: { d: { command: 'd' }, x: { type: 'http', url: 'unix:///x' } } },
    'project/.codex/config.toml': '[mcp_servers.e]\ncommand = "e"\n',
    // It comes with the project, too.
    'project/.claude/settings.json': { enableAllProjectMcpServers: true },
    'project/.claude/settings.local.json': { enabledMcpjsonServers: ['b'] },
    'home/.claude.json': '{"projects": {"@PROJECT@": {"enabledMcpjsonServers": ["a"]}}, "mcpServers": {"f": {"command": "f"}}}',
    'home/.cursor/mcp.json': { mcpServers: { g: { command: 'g' } } },
  };
  const u = user(files);
  const off = () => Object.entries(u.servers()).filter(([, server]) => server.disabled).map(([name]) => name);
  const result = u.run('import');
  assert.equal(result.status, 0);
  assert.deepEqual(off(), ['b', 'c', 'd', 'e']);
  assert.match(result.stdout, /b: taken\n {4}note: it is taken as disabled, since it comes with the folder, and no approval of it is known\n/);
  assert.match(result.stdout, /x: not taken\n/);
  assert.deepEqual(result.stdout.match(/^next: take .*?,? out of/gm), ['next: take a out of', 'next: take f out of', 'next: take g out of']);
  // Somebody has looked: that is said here, or to import.
  const looked = u.json('home/.config/glovebox/mcp.json');
  for (const server of Object.values(looked.mcpServers))
    if (server.disabled) server.disabled = server.cwd.endsWith('/project') ? false : undefined;
  writeFileSync(u.own, JSON.stringify(looked));
  assert.deepEqual(off(), []);
  assert.match(u.run('import').stdout, /b: is there already[^]*c: is there already[^]*nothing to write/);
  const seen = u.run('import', '--from', 'cursor');
  assert.deepEqual([seen.status, seen.stdout.includes('note')], [0, false], seen.stdout);
  assert.deepEqual(seen.stdout.match(/^next: take .*? out of/gm), ['next: take c out of', 'next: take g out of']);
  const named = u.run('import', '--from', '.mcp.json', '--from', '.codex/config.toml');
  assert.equal(named.status, 0, named.stdout);
  assert.deepEqual(Object.keys(u.servers()), ['a', 'b', 'f', 'c', 'g', 'd', 'e']);
  assert.deepEqual(off(), []);
});

test('import: approval is read where hosts keep it, the project\'s own if its folder is trusted', () => {
  const project = { 'project/.mcp.json': { mcpServers: { a: { command: 'a' }, b: { command: 'b' } } } };
  const off = (files, ...more) => {
    const u = user({ ...project, ...files });
    assert.equal(u.run('import', ...more).status, 0);
    return Object.entries(u.servers()).filter(([, server]) => server.disabled).map(([name]) => name);
  };
  const settings = (value) => ({ 'project/.claude/settings.local.json': value });
  const state = (value) => ({ 'home/.claude.json': `{"projects": {"@PROJECT@": ${JSON.stringify(value)}}}` });
  const all = { enableAllProjectMcpServers: true };
  assert.deepEqual(off({}), ['a', 'b']);
  assert.deepEqual(off({ 'home/.claude/settings.json': all }), []);
  assert.deepEqual(off(state(all)), []);
  assert.deepEqual(off(settings(all)), ['a', 'b']);
  assert.deepEqual(off({ ...settings(all), ...state({ hasTrustDialogAccepted: true }) }), []);
  assert.deepEqual(off({ ...settings({ enabledMcpjsonServers: ['b'] }), ...state({ hasTrustDialogAccepted: true }) }), ['a']);
  assert.deepEqual(off({ ...settings({ disabledMcpjsonServers: ['b'] }) }, '--from', '.mcp.json'), ['b']);
  const codex = { 'project/.codex/config.toml': '[mcp_servers.c]\ncommand = "c"\n', 'home/.claude/settings.json': all };
  const trust = (level) => ({ 'home/.codex/config.toml': `[projects."@PROJECT@"]\ntrust_level = "${level}"\n` });
  assert.deepEqual(off({ ...codex, ...trust('untrusted') }), ['c']);
  assert.deepEqual(off({ ...codex, ...trust('trusted') }), []);
});

test('import: where nobody can tell what was rejected, nothing is taken', () => {
  const u = user({
    'project/.mcp.json': { mcpServers: { a: { command: 'x' } } },
    'project/.claude/settings.json': '{"disabledMcpjsonServers": ["a"',
    'home/.claude.json': { mcpServers: { b: { command: 'y' } } },
    'home/.cursor/mcp.json': { mcpServers: { c: { command: 'z' } } },
  });
  const result = u.run('import');
  assert.equal(result.status, 65);
  assert.match(result.stdout, /not taken: which of them are switched off cannot be read/);
  assert.match(result.stderr, /^glovebox: .*\/\.claude\/settings\.json:1:\d+: .*\n$/);
  assert.deepEqual(u.servers(), { c: { command: 'z' } });
});

test('import: numbers and null are taken as hosts mean them', () => {
  const u = user({
    'project/.vscode/mcp.json': '{"servers": {"a": {"command": "x", "env": {"V": 1.50, "N": null, /* 3, */ "P": 8080, "T": "t"}}}}',
    'home/.config/Claude/claude_desktop_config.json': '{"mcpServers": {"b": {"command": "y", "args": null, "env": null}, "c": {"command": "z", "args": [5], "env": {"B": true}}}}',
  });
  const result = u.run('import');
  assert.equal(result.status, 0, result.stderr);
  assert.deepEqual(u.servers(), {
    b: { command: 'y', args: null, env: null },
    c: { command: 'z', args: [5], env: { B: true } },
    a: { command: 'x', env: { V: '1.50', N: null, P: '8080', T: 't' }, cwd: u.project, disabled: true },
  });
});

test('import --from FILE: a file that hosts know is what it is without being named', () => {
  const u = user({
    'project/.mcp.json': { mcpServers: { z: { command: './z.sh' }, y: { command: 'y' } } },
    'project/.claude/settings.json': { disabledMcpjsonServers: ['y'] },
    'home/.cursor/mcp.json': { mcpServers: { c: { command: 'x' } } },
    'other/.vscode/mcp.json': { servers: { v: { command: './v', args: ['${workspaceFolder}/a'] } } },
  });
  const other = join(u.root, 'other');
  assert.equal(u.run('import', '--from', '.mcp.json', '--from', join(u.home, '.cursor/mcp.json'), '--from', '../other/.vscode/mcp.json').status, 0);
  assert.deepEqual(u.servers(), {
    z: { command: './z.sh', cwd: u.project },
    y: { command: 'y', cwd: u.project, disabled: true },
    c: { command: 'x' },
    v: { command: './v', args: [`${other}/a`], cwd: other },
  });
  assert.match(u.run('import').stdout, /z: is there already\n[^]*nothing to write/);
});

test('import: CLAUDE_CONFIG_DIR and CODEX_HOME say where the files are', () => {
  const u = user({
    'claude/.claude.json': '{"projects": {"@PROJECT@": {"disabledMcpServers": ["b"]}}, "mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}',
    'codex/config.toml': '[mcp_servers.c]\ncommand = "z"\n',
    'home/.claude.json': { mcpServers: { not: { command: 'x' } } },
  });
  const env = { CLAUDE_CONFIG_DIR: join(u.root, 'claude'), CODEX_HOME: join(u.root, 'codex') };
  assert.equal(u.runAs({ env }, 'import').status, 0);
  assert.deepEqual(u.servers(), { a: { command: 'x' }, b: { command: 'y', disabled: true }, c: { command: 'z' } });
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

test('import: a folder that a server of a project names is below the project', () => {
  const file = (cwds) => Object.fromEntries(Object.entries(cwds).map(([name, cwd]) => [name, { command: 'x', cwd }]));
  const u = user({
    'project/.mcp.json': { mcpServers: file({ a: 'sub', b: '../up', c: '/whole', d: '${HOME}/d', n: null }) },
    'project/.vscode/mcp.json': { servers: file({ e: '${workspaceFolder}/pkg', f: 'pkg' }) },
    'project/.codex/config.toml': '[mcp_servers.g]\ncommand = "x"\ncwd = "sub"\n',
    'home/.cursor/mcp.json': { mcpServers: file({ h: 'sub' }) },
    'home/.claude/settings.json': { enableAllProjectMcpServers: true },
  });
  const result = u.run('import');
  assert.equal(result.status, 0, result.stderr);
  assert.deepEqual(Object.fromEntries(Object.entries(u.servers()).map(([name, server]) => [name, server.cwd])), {
    a: `${u.project}/sub`, b: `${u.project}/../up`, c: '/whole', d: '${HOME}/d',
    n: u.project, e: `${u.project}/pkg`, f: `${u.project}/pkg`, g: `${u.project}/sub`, h: 'sub',
  });
  assert.equal(result.stdout.match(/note: its "cwd" is relative: here that is below the folder of the configuration\n/g).length, 1, result.stdout);
});

test('import: an entry of VS Code starts its server as VS Code does', () => {
  const u = user({
    'project/.vscode/mcp.json': { servers: {
      a: { command: '~/bin/a', args: ['~/in', '\\~/text', 'x'], cwd: '~/work', env: { PATH: '/opt/bin' } },
      b: { command: 'bin/b', env: { PATH: '${env:PATH}:/x' } },
      f: { command: 'f', envFile: '.env' } } },
    'project/.env': 'A=b',
    'home/.config/Code/User/mcp.json': { servers: {
      c: { command: './c', args: ['~'] }, d: { command: 'd', cwd: 'sub' }, e: { url: 'https://e.example/' } } },
  });
  const result = u.run('import', '--from', '.vscode/mcp.json', '--from', 'vscode');
  assert.equal(result.status, 0, result.stderr);
  assert.deepEqual(u.servers(), {
    a: { command: '~/bin/a', args: ['~/in', '\\\\~/text', 'x'], cwd: '~/work', env: { PATH: '${PATH}:/opt/bin' } },
    b: { command: 'bin/b', env: { PATH: '${PATH}:${PATH}:/x' }, cwd: u.project },
    f: { command: 'f', envFile: `${u.project}/.env`, cwd: u.project },
    c: { command: './c', args: ['~'], cwd: '~' }, d: { command: 'd', cwd: '~/sub' }, e: { url: 'https://e.example/' },
  });
  assert.doesNotMatch(result.stdout, /note:/);
});

test('import: what a host does not read as the home directory is text here, and what is relative is said', () => {
  const u = user({
    'home/.cursor/mcp.json': { mcpServers: {
      a: { command: 'a', args: ['~/in', '~'], env: { PATH: '/opt/bin' } }, b: { command: './b' } } },
  });
  const result = u.run('import');
  assert.equal(result.status, 0, result.stderr);
  assert.deepEqual(u.servers(), {
    a: { command: 'a', args: ['\\~/in', '\\~'], env: { PATH: '/opt/bin' } }, b: { command: './b' },
  });
  assert.match(result.stdout, /b: taken\n {4}note: its "command" is relative: here that is below the folder of the configuration\n/);
});

test('import: servers of one name from many files are taken once, however often it is run', () => {
  const file = (command) => ({ mcpServers: { db: { command } } });
  const u = user({ 'project/a.json': file('a'), 'project/b.json': file('b'), 'project/c.json': file('c'), 'project/d.json': file('d') });
  const from = ['a', 'b', 'c', 'd'].flatMap((name) => ['--from', `${name}.json`]);
  assert.equal(u.run('import', ...from).status, 0);
  const first = u.servers();
  assert.deepEqual(Object.keys(first), ['db', 'db-claude-code', 'db-claude-code-2', 'db-claude-code-3']);
  const again = u.run('import', ...from);
  assert.equal(again.stdout.match(/db: is there already/g).length, 4, again.stdout);
  assert.match(again.stdout, /nothing to write/);
  assert.deepEqual(u.servers(), first);
  // A number that somebody has taken out leaves the others what they are.
  delete first['db-claude-code-2'];
  writeFileSync(u.own, JSON.stringify({ mcpServers: first }));
  assert.match(u.run('import', '--from', 'd.json').stdout, /db: is there already/);
});

test('import: a server that is no JSON of ours is said where it is, behind what is not looked at', () => {
  const u = user({ 'home/.claude.json': '{"history": "\\ud83d",\n "mcpServers": {"a":\n {"command": "\\ud83d"}}}' });
  const result = u.run('import');
  assert.equal(result.status, 65);
  assert.match(result.stderr, /^glovebox: .*\/\.claude\.json:3:\d+: .*\n$/);
  // What is wrong is what the language says is wrong, not what stands before it.
  const broken = user({ 'home/.claude.json': '{"history": "\\ud83d",\n "mcpServers": {"a" {}}}' }).run('import');
  assert.match(broken.stderr, /^glovebox: .*\/\.claude\.json:2:21: colon expected\n$/);
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

test('import and doctor: what settles approval is refused as the servers are', () => {
  const u = user({
    'home/.claude.json': { projects: {} },
    'home/.claude/settings.json': { enabledMcpjsonServers: ['b'] },
    'project/.mcp.json': { mcpServers: { b: { command: 'y' } } },
  });
  chmodSync(join(u.home, '.claude/settings.json'), 0o622);
  const result = u.run('import');
  assert.equal(result.status, 66);
  assert.match(result.stdout, /not taken: which of them are switched off cannot be read/);
  assert.match(result.stderr, /\/\.claude\/settings\.json' is refused/);
});

test('import and doctor: why a file cannot be read is said', () => {
  const u = user({ 'home/.cursor/mcp.json': { mcpServers: { a: { command: 'x' } } } });
  const missing = "'nowhere.json': no such file\n";
  assert.equal(u.run('import', '--from', 'nowhere.json').stderr, `glovebox: cannot read ${missing}`);
  assert.equal(u.run('import', '--from', 'cursor', '--config', '.').stderr, "glovebox: cannot read the configuration '.': it is a directory\n");
  const doctor = u.run('doctor', '--config', 'nowhere.json');
  assert.deepEqual([doctor.status, doctor.stderr], [66, `glovebox: cannot read the configuration ${missing}`]);
  const server = u.run('--config', 'nowhere.json');
  assert.deepEqual([server.status, server.stderr], [66, `glovebox: cannot read the configuration ${missing}`]);
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

test('import: a rule may wait for a server that is taken', () => {
  const u = user({
    'home/.config/glovebox/mcp.json': '{"glovebox": {"rules": [{"action": "deny", "server": "a"}]}}',
    'project/host.json': { mcpServers: { a: { command: 'x' } } },
  });
  const result = u.run('import', '--from', 'host.json');
  assert.equal(result.status, 0, result.stderr);
  assert.deepEqual(u.servers(), { a: { command: 'x' } });
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

test('import: nobody may read in our file what he may not in the file of the host', () => {
  const u = user({
    'home/.claude.json': { mcpServers: { a: { command: 'x', env: { T: 'for one person' } } } },
    'home/.cursor/mcp.json': { mcpServers: { b: { command: 'y' } } },
    'home/.config/glovebox/mcp.json': { mcpServers: {} },
  });
  const mode = () => (statSync(u.own).mode & 0o777).toString(8);
  chmodSync(u.own, 0o644);
  chmodSync(join(u.home, '.cursor/mcp.json'), 0o640);
  chmodSync(join(u.home, '.claude.json'), 0o600);

  const open = u.run('import', '--from', 'cursor', '--dry-run');
  assert.match(open.stdout, /would write .*mcp\.json, with no more rights for others/);
  assert.equal(mode(), '644');
  u.run('import', '--from', 'cursor');
  assert.equal(mode(), '640');
  const narrow = u.run('import');
  assert.match(narrow.stdout, /wrote .*mcp\.json, with no more rights for others than the files of the hosts have; as it was: /);
  assert.equal(mode(), '600');
});

test('import: a server that two hosts have, with defaults written out or not, is taken once', () => {
  const u = user({
    'home/.claude.json': { mcpServers: { fs: { type: 'stdio', command: 'x', args: [], env: {} }, far: { type: 'http', url: 'https://f.test' } } },
    'home/.cursor/mcp.json': { mcpServers: { fs: { command: 'x', disabled: false, enabled: true, env: null, headers: {} }, far: { url: 'https://f.test', headers: {} } } },
    'home/.config/Code/User/mcp.json': { servers: { fs: { command: 'x', env: { A: 'b' } }, far: { type: 'sse', url: 'https://f.test' } } },
  });
  const result = u.run('import');
  assert.equal(result.status, 0, result.stderr);
  assert.deepEqual(Object.keys(u.servers()), ['fs', 'far', 'fs-vscode', 'far-vscode']);
  // Nor is it another if it got a name of the one host's, since its own was another's.
  writeFileSync(u.own, JSON.stringify({ mcpServers: { fs: { command: 'mine' } } }));
  const once = u.run('import');
  assert.match(once.stdout, /fs: is there already/);
  assert.deepEqual(Object.keys(u.servers()).filter((name) => name.startsWith('fs')), ['fs', 'fs-claude-code', 'fs-vscode']);
});

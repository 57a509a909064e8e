// SPDX-License-Identifier: MIT
// hosts: the configurations of hosts taken over; and what the doctor says of servers, good
// and bad. Most of the former is in tables/hosts.txt.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { follow } from './steps.mjs';
import { user } from './user.mjs';

follow('hosts');

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

test('import: a link is followed, and stays one', () => {
  const u = user({ 'home/.cursor/mcp.json': { mcpServers: { a: { command: 'x' } } }, 'home/real.json': { mcpServers: {} } });
  mkdirSync(dirname(u.own), { recursive: true });
  symlinkSync('../../real.json', u.own);
  assert.equal(u.run('import').status, 0);
  assert.deepEqual(Object.keys(u.json('home/real.json').mcpServers), ['a']);
  assert.ok(existsSync(join(u.home, 'real.json.backup')));
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

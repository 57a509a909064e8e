// SPDX-License-Identifier: MIT
// filled: what hosts fill in in the texts of their servers, and what has to become of it.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { user } from './user.mjs';

test('import: what an editor alone fills in, and every variable that is not set, is said', () => {
  const u = user({
    'home/.cursor/mcp.json': { mcpServers: {
      a: { command: 'x', args: ['${workspaceFolder}/y'] },
      b: { command: '${env:SURELY_NOT_SET}', args: ['${env:NOR_THIS}${env:AND_NOT_THAT}'], env: { K: '${env:NOR_THIS}' } },
    } },
  });
  const { stdout } = u.run('import');
  assert.match(stdout, /a: not taken\n {4}note: it is left alone: args\[0\]: '\$\{workspaceFolder\.\.\.' is filled in by an editor alone: write \$\{VAR\}\n/);
  assert.match(stdout, /note: the environment variables 'SURELY_NOT_SET', 'NOR_THIS' and 'AND_NOT_THAT' are not set: set them \(some hosts pass on only what "env" of the entry of glovebox has\), or write \$\{SURELY_NOT_SET:-default\}\n/);
  assert.match(u.run('--config', join(u.home, '.cursor/mcp.json')).stderr, /or take the file over with 'glovebox mcp import'/);
});

test('import: a name alone is text in Cursor and VS Code, and a variable in Claude Code', () => {
  const entry = { command: 'printenv', args: ['Authorization:${AUTH_HEADER}', '$${A}', '${A:-b}${env:HOME}', '${userHome}${/}a${pathSeparator}b', '${cwd}'],
    env: { AUTH_HEADER: 'Bearer x' } };
  const u = user({
    'home/.cursor/mcp.json': { mcpServers: { a: entry } },
    'home/.config/Code/User/mcp.json': { servers: { b: entry } },
    'home/.claude.json': { mcpServers: { c: entry } },
  });
  const result = u.run('import');
  assert.equal(result.status, 0, result.stderr);
  const text = ['Authorization:$${AUTH_HEADER}', '$$$${A}', '$${A:-b}${HOME}', '${HOME}/a/b', '${cwd}'];
  assert.deepEqual(u.servers().a.args, text);
  assert.deepEqual(u.servers().b.args, text);
  assert.deepEqual(u.servers().c.args, ['Authorization:${AUTH_HEADER}', '$$${A}', '${A:-b}${HOME}', '${HOME}${/}a${pathSeparator}b', '${cwd}']);
  assert.match(result.stdout, /a: taken\n {4}note: the environment variable 'cwd' is not set/);
});

test('import: a host that fills nothing in has plain text', () => {
  const texts = ['', '$', '${', 'a$${HOME}b$$${c', '$ $$ {$', '{', '${input:x}${env:HOME}$', '$$$$$${'];
  const u = user({ 'home/.config/Claude/claude_desktop_config.json': { mcpServers: { a: { command: 'x', args: texts } } } });
  assert.equal(u.run('import').status, 0);
  assert.deepEqual(u.servers().a.args,
    ['', '$', '$${', 'a$$$${HOME}b$$$$$${c', '$ $$ {$', '{', '$${input:x}$${env:HOME}$', '$$$$$$$$$$$${']);
});

test('import: the folder of a project, its name, and inputs with a default are filled in', () => {
  const inputs = [{ id: 'api-key', type: 'promptString', password: true },
    { id: 'region', type: 'pickString', options: ['eu', 'us'], default: 'eu' },
    { id: 'empty', type: 'promptString', default: '' },
    { id: 'braces', type: 'promptString', default: '{a}' }, { id: 'odd', default: 5 }, 7];
  const entry = { command: 'x', args: ['${workspaceFolder:project}/a', '${workspaceFolderBasename}.db',
    '${input:api-key}', '${input:region}', '${input:empty}', '${input:braces}', '${input:odd}'] };
  const u = user({
    'project/.vscode/mcp.json': { inputs, servers: { a: entry } },
    'project/.vscode/settings.json': { inputs: [], mcp: { inputs: [inputs[1]], servers: {
      b: { type: 'http', url: 'https://${input:region}.test/${input:other}' } } } },
    'project/.cursor/mcp.json': { inputs, mcpServers: { c: { command: '${workspaceFolderBasename}' } } },
    'home/.cursor/mcp.json': { mcpServers: { d: { command: '${workspaceFolderBasename}' } } },
  });
  const { stdout, stderr, status } = u.run('import');
  assert.equal(status, 0, stderr);
  assert.deepEqual(u.servers(), {
    c: { command: 'project', cwd: u.project, disabled: true },
    a: { command: 'x', cwd: u.project, disabled: true, args: [`${u.project}/a`, 'project.db', '${INPUT_API_KEY}',
      '${INPUT_REGION:-eu}', '${INPUT_EMPTY:-}', '${INPUT_BRACES}', '${INPUT_ODD}'] },
    b: { type: 'http', url: 'https://${INPUT_REGION:-eu}.test/${INPUT_OTHER}', disabled: true },
  });
  assert.match(stdout, /note: the editor asks for a value: set it as the variable INPUT_API_KEY\n/);
  assert.match(stdout, /note: the editor asks for a value: without the variable INPUT_REGION it is the default\n/);
  assert.match(stdout, /d: not taken\n/);
});

test('import: another folder of a workspace is not taken for the one of the project', () => {
  const entry = (name) => ({ command: `\${workspaceFolder:${name}}/x` });
  const u = user({ 'project/.vscode/mcp.json': { servers: { a: entry('other'), b: entry('project'), c: entry('proj'), d: entry('') } } });
  const { stdout } = u.run('import');
  assert.deepEqual(u.servers(), { b: { command: `${u.project}/x`, cwd: u.project, disabled: true } });
  assert.match(stdout, /a: not taken\n {4}note: it is left alone: command: '\$\{workspaceFolder\.\.\.' is filled in by an editor alone/);
});

test('import: an input is no variable that is set for something else, and no other input', () => {
  const inputs = [{ id: 'user', default: 'postgres' }, { id: 'path' }, { id: 'api key' }, { id: 5 },
    { id: 'api-key', default: 'x' }, { id: '9' }, { id: 'ä' }, { id: 'ö' }, { id: 'API_KEY' }];
  const ids = ['user', 'path', 'api key', 'api-key', '9', 'ä', 'ö', 'API_KEY', 'api.key', 'unlisted'];
  const u = user({ 'project/.vscode/mcp.json': { inputs, servers: { a: { command: 'x', args: ids.map((id) => `\${input:${id}}`) } } } });
  const result = u.run('import');
  assert.equal(result.status, 0, result.stderr);
  assert.deepEqual(u.servers().a.args, ['${INPUT_USER:-postgres}', '${INPUT_PATH}', '${INPUT_API_KEY}', '${INPUT_API_KEY_2:-x}',
    '${INPUT_9}', '${INPUT___}', '${INPUT____2}', '${INPUT_API_KEY_3}', '${INPUT_API_KEY_4}', '${INPUT_UNLISTED}']);
});

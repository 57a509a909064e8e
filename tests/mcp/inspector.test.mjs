// SPDX-License-Identifier: MIT
// inspector: the official inspector's command line against the server, in both eras.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { folder, put } from './box.mjs';

const cli = fileURLToPath(import.meta.resolve('@modelcontextprotocol/inspector/package.json'))
  .replace('package.json', 'clients/launcher/build/index.js');

const upstreams = put('upstreams.json', { mcpServers: {} });
const servers = put('servers.json', { mcpServers: {
  glovebox: { command: process.env.GLOVEBOX, args: ['mcp', '--config', upstreams], env: { GLOVEBOX_WORKER: process.env.GLOVEBOX_WORKER } },
  fixture: { command: process.env.FIXTURE },
} });

/** Runs it; its exit status, and its output as JSON. */
const inspect = (server, ...args) => new Promise((resolve) => {
  const all = [cli, '--cli', '--config', servers, '--server', server, '--format', 'json', '-q', ...args];
  execFile(process.execPath, all, { env: { ...process.env, HOME: folder } }, (error, stdout, stderr) => {
    resolve({ status: error ? error.code : 0, result: stdout ? JSON.parse(stdout).result : undefined, stderr });
  });
});

for (const server of ['glovebox', 'fixture']) {
  test(`${server}: tools/list --strict finds no error in the schemas`, async () => {
    const { status, result, stderr } = await inspect(server, '--method', 'tools/list', '--strict');
    assert.equal(status, 0, stderr);
    assert.ok(result.tools.length > 0);
  });
}

for (const era of ['legacy', 'modern']) {
  const inEra = ['--protocol-era', era];

  test(`${era}: a script is executed`, async () => {
    const { status, result, stderr } = await inspect('glovebox', ...inEra, '--method', 'tools/call',
      '--tool-name', 'execute', '--tool-args-json', '{"code":"return 6 * 7"}');
    assert.equal(status, 0, stderr);
    assert.equal(result.structuredContent.result, 42);
    assert.equal('resultType' in result || '_meta' in result, era === 'modern');
  });

  test(`${era}: an unknown tool is an error of the inspector, not a hang`, async () => {
    const { status, stderr } = await inspect('fixture', ...inEra, '--method', 'tools/call', '--tool-name', 'ecko');
    assert.equal(status, 5, stderr);
  });

  test(`${era}: resources are read`, async () => {
    const resource = await inspect('fixture', ...inEra, '--method', 'resources/read', '--uri', 'test://watched');
    assert.equal(resource.result.contents[0].text, 'read');
  });
}

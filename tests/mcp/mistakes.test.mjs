// SPDX-License-Identifier: MIT
// What models get wrong in code mode, and what they are told: a reply that names the mistake
// saves the next one.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Wire, killAll } from './wire.mjs';

const folder = mkdtempSync(join(tmpdir(), 'mistakes-'));
const plain = { command: process.execPath,
  args: [fileURLToPath(new URL('plain-upstream.mjs', import.meta.url))] };

async function open(limits = {}) {
  const path = join(folder, 'mcp.json');
  writeFileSync(path, JSON.stringify({
    mcpServers: { up: plain, unset: { ...plain, env: { KEY: '${NOT_SET_ANYWHERE}' } },
      off: { ...plain, disabled: true } },
    glovebox: { rules: [{ action: 'allow' }], limits } }));
  const wire = new Wire(process.env.GLOVEBOX, ['mcp', '--config', path], { env: {
    GLOVEBOX_WORKER: process.env.GLOVEBOX_WORKER, PATH: process.env.PATH, HOME: folder } });
  await wire.initialize();
  return wire;
}

let wire;
before(async () => { wire = await open(); });
after(async () => {
  await wire.close();
  killAll();
  rmSync(folder, { recursive: true });
});

const call = async (name, args) => (await wire.call(name, args)).result;
const execute = async (code) => (await call('execute', { code }));
const errorOf = async (code) => (await execute(code)).structuredContent.error;
const valueOf = async (code) => (await execute(code)).structuredContent.result;
const textOf = (result) => result.content[0].text;

test('a server whose variable is not set is reported by the name of that', async () => {
  const why = /'unset' cannot start: the environment variable 'NOT_SET_ANYWHERE' is not set/;
  for (const [name, args] of [['provision', { server: 'unset' }], ['discover', { server: 'unset' }],
    ['call', { server: 'unset', tool: 'wait' }]]) {
    const result = await call(name, args);
    assert.equal(result.isError, true);
    assert.match(textOf(result), why);
  }
  for (const code of ['await servers.unset.wait()', 'await servers.unset.tools()',
    "await discover({ server: 'unset' })"]) {
    const error = await errorOf(code);
    assert.equal(error.code, 'UPSTREAM_START');
    assert.match(error.message, why);
  }
  assert.match(textOf(await call('discover', {})), /\[unset is not there: .*NOT_SET_ANYWHERE/);
  assert.match(textOf(await call('call', { server: 'off', tool: 'wait' })),
    /^NOT_FOUND: the server 'off' is disabled in the configuration$/);
  assert.equal((await errorOf('servers.off')).code, 'NOT_FOUND');
});

// SPDX-License-Identifier: MIT
// shortage: the machine has not what is asked of it, and whoever asks is told so.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { allow, folder, open, put } from './box.mjs';
import { Wire, killAll } from './wire.mjs';

afterEach(killAll);

// A sanitizer has an allocator of its own.
const skip = process.env.SANITIZED ? 'built with a sanitizer' : false;

async function start(settings = {}) {
  const wire = await open(allow({ fixture: { command: process.env.FIXTURE } }, settings),
    { env: { ...process.env, LD_PRELOAD: process.env.SHORT_MEMORY } });
  await wire.call('execute', { code: 'return await servers.fixture.echo({})' });
  return wire;
}

test('memory that is out ends the server, which says so', { skip }, async () => {
  const wire = await start();
  let ended = false;
  const exited = wire.exited.then((how) => {
    ended = true;
    return how;
  });

  for (let nth = 1; nth < 400 && !ended; nth++)
    await Promise.race([exited, wire.call('call', { server: 'fixture', tool: 'fail', args: {} }, { nth }).catch(() => {})]);

  assert.ok(ended);
  assert.equal((await exited).code, 71);
  assert.match(wire.stderr, /^glovebox: memory is out$/m);
});

for (const [what, args, audit] of [
  ['by the option', ['--security-log', join(folder, 'none/log')]],
  ['in the configuration', [], join(folder, 'none/log')],
]) {
  test(`a security log named ${what} that cannot be opened ends the start with status 74`, async () => {
    const config = put('log.json', { mcpServers: { fixture: { command: process.env.FIXTURE } }, glovebox: { audit } });
    const wire = new Wire(process.env.GLOVEBOX, ['mcp', '--config', config, ...args]);

    const { code } = await wire.exited;

    assert.match(wire.stderr, /^glovebox: cannot open the security log '.*none.log': no such folder\n$/);
    assert.equal(code, 74);
  });
}

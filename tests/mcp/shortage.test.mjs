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

const asked = [
  ['a call that fails', 'call', { server: 'fixture', tool: 'fail', args: {} }],
  ['a call of no tool', 'call', { server: 'fixture', tool: 'fial', args: {} }],
  ['a call of no server', 'call', { server: 'fixtrue', tool: 'fail', args: {} }],
  ['tools that are looked up', 'discover', { query: 'echo', server: 'fixture' }],
  ['a script of calls', 'execute', { code: `
    const a = await Promise.all([1, 2, 3].map((i) => servers.fixture.echo({ i })));
    await artifact('a', a);
    await artifact('b', new Uint8Array(9));
    progress(1, 2, 'half');
    return [a, await discover('echo'), await servers.fixture.tools()].length;` }],
  ['a script that meets errors', 'execute', { code: `
    const said = [];
    for (const ask of [() => servers.fixture.fail({}), () => servers.fixture.fial({}),
      () => discover('x', { server: 'fixtrue' }), () => artifact('a', 1, 'none')])
      await ask().catch((e) => said.push(e.code));
    return said;` }],
  ['code that fails', 'execute', { code: 'return nothing.is.here' }],
  ['code that is none', 'execute', { code: 'return (' }],
];

for (const [what, name, args] of asked) {
  test(`${what}: answered, or the server ends and says why, whichever allocation fails`, { skip }, async () => {
    let wire = await start();

    for (let nth = 1; nth < 400; nth += 7) {
      const answer = await wire.call(name, args, { nth }).catch(() => undefined);

      if (answer === undefined) {
        assert.equal((await wire.exited).code, 71, `of the allocation ${nth}`);
        assert.match(wire.stderr, /^glovebox: memory is out$/m);
        wire = await start();
        continue;
      }
      const text = answer.error?.message ?? answer.result.content[0].text;
      assert.doesNotMatch(text, /^(No value returned|No tool fits.*\n)?$/, `of the allocation ${nth}`);
    }
    assert.equal((await wire.close()).code, 0);
  });
}

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

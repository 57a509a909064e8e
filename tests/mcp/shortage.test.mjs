// SPDX-License-Identifier: MIT
// shortage: the machine has not what is asked of it, and whoever asks is told so.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { Wire, killAll } from './wire.mjs';

const folder = mkdtempSync(join(tmpdir(), 'glovebox-shortage-'));
afterEach(killAll);
after(() => rmSync(folder, { recursive: true }));

// A sanitizer has an allocator of its own.
const skip = process.env.SANITIZED ? 'built with a sanitizer' : false;

async function start(settings = {}) {
  const config = join(folder, 'servers.json');
  writeFileSync(config, JSON.stringify({
    mcpServers: { fixture: { command: process.env.FIXTURE } },
    glovebox: { rules: [{ action: 'allow' }], ...settings },
  }));
  const wire = new Wire(process.env.GLOVEBOX, ['mcp', '--config', config],
    { env: { ...process.env, LD_PRELOAD: process.env.SHORT_MEMORY } });
  await wire.initialize();
  await wire.call('execute', { code: 'return await servers.fixture.echo({})' });
  return wire;
}

const asked = [
  ['code that fails', 'execute', { code: 'return nothing.is.here' }],
  ['code that is none', 'execute', { code: 'return (' }],
];

for (const [what, name, args] of asked) {
  test(`${what}: answered, whichever allocation fails`, { skip }, async () => {
    const wire = await start();

    for (let nth = 1; nth < 400; nth++) {
      const answer = await wire.call(name, args, { nth });
      const text = answer.error?.message ?? answer.result.content[0].text;

      assert.notEqual(text, '', `of the allocation ${nth}`);
    }
    assert.equal((await wire.close()).code, 0);
  });
}

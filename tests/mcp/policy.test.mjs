// SPDX-License-Identifier: MIT
// The command's own policy beside its tools: what it gives to code comes on top of what
// code has without it, and is told to models and hosts.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Wire, killAll } from './wire.mjs';

const folder = mkdtempSync(join(tmpdir(), 'policy-'));
const file = (name, value) => {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(value));
  return path;
};
const config = file('mcp.json', {
  mcpServers: { up: { command: process.execPath,
    args: [fileURLToPath(new URL('plain-upstream.mjs', import.meta.url))] } },
  glovebox: { rules: [{ action: 'allow' }] } });
const data = file('d.json', [{ a: 1 }]);
after(() => {
  killAll();
  rmSync(folder, { recursive: true });
});

async function open(...args) {
  const wire = new Wire(process.env.GLOVEBOX, ['mcp', ...args], { env: {
    GLOVEBOX_WORKER: process.env.GLOVEBOX_WORKER, PATH: process.env.PATH, HOME: folder,
    A_TOKEN: 'the value of it' } });
  await wire.initialize();
  return wire;
}

const console_ = { console: true, timers: true };
for (const [args, code, value] of [
  [['--allow', 'console'], '0', 0],
  [['--allow', 'timers'], 'await sleep(1)', undefined],
  [['--allow', 'crypto'], "crypto.createHash('md5').update('').digest('hex').length", 32],
  [['--allow', 'env=X=1'], 'env.X', '1'],
  [['--allow', 'fetch=example.com'], 'typeof fetch', 'function'],
  [['--allow', `file=${folder}`], `(await fs.promises.readFile('${data}', 'utf8')).length`, 9],
  [['--allow', 'functions=db.*'], '1', 1],
  [['--allow', 'functions=*'], '1', 1],
  [['--allow', 'functions=codemode'], '1', 1],
  [['--secret', 'TOKEN=A_TOKEN@example.com'], '1', 1],
  [['--policy', file('p.json', console_)], 'await sleep(1)', undefined],
  [['--policy', file('empty.json', {})], 'typeof console', 'undefined'],
  [['--allow', 'crypto', '--data', `d=${data}`], 'typeof crypto.createHash', 'function'],
]) {
  test(`code has the servers as well as what is given to it: ${args.join(' ')
    .replaceAll(folder, '.')}`, async () => {
    const wire = await open('--config', config, ...args);
    const { result: { structuredContent: s } } = await wire.call('execute', {
      code: `const kept = await artifact('a', 'text');
        return [(await servers.up.list_items()).items.length, (await servers.up.tools()).length,
          (await discover('items')).length > 0, kept.bytes, ${code}];` });
    assert.deepEqual(s.error, undefined);
    assert.deepEqual(s.result, [2, 7, true, 4, value ?? null]);
    await wire.close();
  });
}

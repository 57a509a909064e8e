// SPDX-License-Identifier: MIT
/*
 * engine-nats - an engine whose calls run where `glovebox runner` waits: another process, over a
 * real nats-server. What is wrong with the option is said before anything is started.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { SandboxEngine } from '../lib/index.js';
import { takeOptions } from '../lib/options.js';

const command = join(process.env.GLOVEBOX_BUILD, 'bin/glovebox');
const server = ['/usr/sbin/nats-server', '/usr/bin/nats-server'].find(existsSync);
const plugin = existsSync(join(process.env.GLOVEBOX_BUILD, 'lib/libglovebox-runner-nats.so.0'));
const lacks = server === undefined ? 'there is no nats-server' : !plugin && 'built without libnats';

test('the option becomes one address', () => {
  const address = (runner) => takeOptions({ runner, baseDir: '/base' }).runner;
  assert.equal(address('process'), 'process');
  assert.equal(address({ nats: 'nats://a:1' }), 'nats://a:1');
  assert.equal(address({ nats: 'tls://a', pool: 'gpu', creds: 'my creds', tlsCa: '/ca.pem', nkey: undefined }),
    'tls://a?pool=gpu&creds=/base/my creds&tls-ca=/ca.pem');
  assert.equal(address({ nats: 'nats://a?nkey=k', pool: 'gpu' }), 'nats://a?nkey=k&pool=gpu');
});

describe('calls over NATS', { skip: lacks }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-nats-'));
  const processes = [];
  let nats;

  const start = (program, args) => processes.push(spawn(program, args, { stdio: 'ignore' }));
  const until = async (what) => {
    for (let i = 0; i < 300; i++) {
      const found = what();
      if (found) return found;
      await new Promise((done) => setTimeout(done, 100));
    }
    throw new Error('it takes too long');
  };

  before(async () => {
    start(server, ['-a', '127.0.0.1', '-p', '-1', '--ports_file_dir', folder, '-l', join(folder, 'log')]);
    const file = await until(() => readdirSync(folder).find((name) => name.endsWith('.ports')));
    [nats] = await until(() => /nats:\/\/[\d.:]+/.exec(readFileSync(join(folder, file), 'utf8')));
    start(command, ['runner', '--nats', nats]);
    await until(() => spawnSync(command, ['runners', '--nats', nats], { encoding: 'utf8' }).stdout.includes('serving'));
  });
  after(() => {
    for (const process of processes) process.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  test('give what local ones give, and name the machine', async (t) => {
    const engine = new SandboxEngine({ runner: { nats } });
    t.after(() => engine.close());
    await engine.expose({ ask: async (n) => n * 2 });
    const result = await engine.run({ form: 'script', code: 'console.log("hello"); return await ask(input) + 1', input: 20 }).catch((error) => error);
    assert.equal(result.value ?? result.error, 41);
    assert.equal(result.machine, hostname());
    assert.equal(result.runner, 'nats');
    assert.equal(result.isolated, undefined);
    assert.equal(result.logs[0].text, 'hello');
    const failed = await engine.execute('() => missing.member');
    assert.equal(failed.code, 'RUNTIME');
    assert.match(failed.hint, /declare/);
    assert.equal(failed.location.line, 1);
  });

  test('run at once, and are aborted', async (t) => {
    const engine = new SandboxEngine({ runner: { nats } });
    t.after(() => engine.close());
    const results = await Promise.all(Array.from({ length: 40 }, (_, i) => engine.execute('(n) => n * n', i)));
    assert.deepEqual(results.map(({ value }) => value), Array.from({ length: 40 }, (_, i) => i * i));
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 100);
    const { code } = await engine.execute('() => { for (;;); }', null, { signal: controller.signal });
    assert.equal(code, 'ABORTED');
  });

  test('are not begun where no server is', async (t) => {
    const engine = new SandboxEngine({ runner: { nats: 'nats://127.0.0.1:1' } });
    t.after(() => engine.close());
    const { code, error } = await engine.execute('() => 1');
    assert.equal(code, 'UNAVAILABLE');
    assert.match(error, /no connection to the NATS server/);
  });
});

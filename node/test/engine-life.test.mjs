// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

import { SandboxEngine } from '../lib/index.js';
import { boxes, isAlive, until } from './support/processes.mjs';

const LIB = new URL('../lib/index.js', import.meta.url).href;
const ENDLESS = '() => { for (;;); }';

/** Run a program in a Node of its own: {code, signal, out, err, ms}. */
function program(text, flags = [], onLine) {
  const from = performance.now();
  const child = spawn(process.execPath, [...flags, '--input-type=module', '-e',
    `import { SandboxEngine } from ${JSON.stringify(LIB)};\n${text}`], { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.on('data', (data) => {
    out += data;
    onLine?.(out, child);
  });
  child.stderr.on('data', (data) => { err += data; });
  return new Promise((resolve) => {
    child.on('close', (code, signal) =>
      resolve({ code, signal, out, err, pid: child.pid, ms: performance.now() - from }));
  });
}

test('dispose() is idempotent, and results say UNAVAILABLE afterwards', async () => {
  const engine = new SandboxEngine();
  assert.equal(engine.isDisposed, false);
  await engine.execute('() => 1');
  engine.dispose();
  engine.dispose();

  assert.equal(engine.isDisposed, true);
  const result = await engine.execute('() => 1');
  assert.equal(result.code, 'UNAVAILABLE');
  await engine.close();
});

test('disposed of while calls are in flight: each ends, and every process is gone', async () => {
  for (let i = 0; i < 6; i++) {
    const engine = new SandboxEngine();
    if (i % 2) await engine.execute('() => 1');
    const calls = Array.from({ length: 6 }, (_, k) => engine.execute(k % 2 ? ENDLESS : '(d) => d', k));
    const large = engine.execute('(d) => d.length', Array.from({ length: 40000 }, (_, k) => ({ k })));
    if (i % 3) await new Promise((resolve) => setTimeout(resolve, i));
    await engine.close();

    for (const result of await Promise.all([...calls, large])) {
      assert.ok(result.ok || result.code === 'ABORTED' || result.code === 'UNAVAILABLE', result.code);
    }
  }
  assert.equal(boxes().length, 0);
});

test('Symbol.dispose and Symbol.asyncDispose end an engine', async () => {
  if (!Symbol.dispose || !Symbol.asyncDispose) return;
  const one = new SandboxEngine();
  one[Symbol.dispose]();
  assert.equal(one.isDisposed, true);
  const two = new SandboxEngine();
  await two.execute('() => 1');
  await two[Symbol.asyncDispose]();
  assert.equal(two.isDisposed, true);
  await until(() => boxes().length === 0);
});

test('a forgotten engine is collected, with a warning, and leaves no process behind', async () => {
  const { code, out, err } = await program(`
    import { readdirSync, readFileSync } from 'node:fs';
    const boxes = () => readdirSync('/proc').filter((pid) => /^\\d+$/.test(pid)).filter((pid) => {
      try {
        const stat = readFileSync('/proc/' + pid + '/stat', 'latin1');
        return stat.includes('(glovebox-worker)') && stat.split(') ')[1].split(' ')[1] === String(process.pid);
      } catch { return false; }
    }).length;
    async function forget() {
      const engine = new SandboxEngine();
      await engine.expose({ self: () => engine });
      await engine.execute('() => 1');
    }
    await forget();
    console.log('started', boxes() > 0);
    for (let i = 0; i < 500 && boxes() > 0; i++) {
      globalThis.gc();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    console.log('left', boxes());
  `, ['--expose-gc']);

  assert.equal(code, 0, err);
  assert.equal(out, 'started true\nleft 0\n');
  assert.match(err, /GLOVEBOX_UNDISPOSED.*GloveboxWarning.*dispose\(\)/);
});

test('an engine that was disposed of is collected without a warning', async () => {
  const { code, err } = await program(`
    await (async () => { const e = new SandboxEngine(); await e.execute('() => 1'); e.dispose(); })();
    for (let i = 0; i < 20; i++) { globalThis.gc(); await new Promise((r) => setTimeout(r, 5)); }
  `, ['--expose-gc']);

  assert.equal(code, 0);
  assert.equal(err, '');
});

test('calls go on although nobody holds the engine', async () => {
  const { code, out } = await program(`
    const start = () => {
      const engine = new SandboxEngine();
      void engine.expose({ later: () => new Promise((resolve) => setTimeout(resolve, 100, 'answer')) });
      return engine.run({ form: 'script', code: 'await later()' });
    };
    const call = start();
    const gc = setInterval(() => globalThis.gc(), 5);
    console.log((await call).value);
    clearInterval(gc);
  `, ['--expose-gc', '--no-warnings']);

  assert.equal(code, 0);
  assert.equal(out, 'answer\n');
});

test('a process with an idle engine ends by itself, one that awaits a call does not', async () => {
  const idle = await program(`
    const engine = new SandboxEngine();
    console.log((await engine.execute('() => 1')).value);
    new SandboxEngine();
  `);
  const waiting = await program(`
    const engine = new SandboxEngine({ timeout: 300 });
    engine.execute(${JSON.stringify(ENDLESS)}).then((result) => console.log(result.code));
  `);
  const loading = await program(`
    const engine = new SandboxEngine();
    engine.load('a', [1]).then(() => console.log('loaded'));
  `);

  assert.deepEqual([idle.code, idle.out, idle.err], [0, '1\n', '']);
  assert.deepEqual([waiting.code, waiting.out], [0, 'TIMEOUT\n']);
  assert.deepEqual([loading.code, loading.out], [0, 'loaded\n']);
});

test('what nobody awaits ends no process when it fails: calls tell, and so does the promise', async () => {
  const { code, err, out } = await program(`
    const early = new SandboxEngine();
    early.load('d', [1]);
    early.expose({ a() {} });
    early.preload('a', '1');
    early.dispose();
    const broken = new SandboxEngine({ preload: [{ name: 'a', source: '(' }] });
    broken.expose({ a() {} });
    console.log((await broken.execute('() => 1')).code);
    await broken.expose({ b() {} }).catch((error) => console.log(error.message));
    broken.dispose();`);
  assert.equal(code, 0, err);
  assert.match(out, /^UNAVAILABLE\ncannot preload a:1: SyntaxError/);
});

const { GLOVEBOX_HOSTILE_WORKER: HOSTILE, GLOVEBOX_LIBRARYLESS: LIBRARYLESS } = process.env;
const skip = HOSTILE === undefined || LIBRARYLESS === undefined;

test('why no worker can be started is what calls and report() say', { skip }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'glovebox-'));
  const worker = join(folder, 'hostile-worker@hello-version=9');
  t.after(() => rm(folder, { recursive: true }));
  await copyFile(HOSTILE, worker);
  for (const [path, why] of [
    [worker, /^the worker program is of another version \(its protocol is 9, the library's \d+\)/],
    [LIBRARYLESS, /^the worker program died before it was ready: the shared library 'lib\S+' is missing$/],
  ]) {
    const { code, err, out } = await program(`
      process.env.GLOVEBOX_WORKER = ${JSON.stringify(path)};
      const engine = new SandboxEngine();
      console.log((await engine.execute('() => 1')).error);
      await engine.report().catch((error) => console.log(error.message));`);
    assert.equal(code, 0, err);
    const [called, reported] = out.trim().split('\n');
    assert.match(called, why);
    assert.equal(reported, called);
  }
});

test('wrong use that nobody awaits is not silent', async () => {
  const wrong = await program('new SandboxEngine().expose(5)');
  assert.equal(wrong.code, 1);
  assert.match(wrong.err, /TypeError: functions must be/);
  const broken = await program(`
    const engine = new SandboxEngine();
    engine.preload('lib.js', 'globalThis.lib = {');
    await engine.execute('() => typeof lib');`);
  assert.equal(broken.code, 1);
  assert.match(broken.err, /TypeError: cannot preload lib\.js:1: SyntaxError/);
});

test('process.exit() with calls in flight ends the process and every box', async () => {
  for (const ms of [0, 10]) {
    const { code, signal, out, err } = await program(`
      const engine = new SandboxEngine();
      for (let i = 0; i < 3; i++) void engine.execute(${JSON.stringify(ENDLESS)});
      void engine.execute('(d) => d.length', Array.from({ length: 50000 }, (_, k) => ({ k })));
      await engine.execute('() => 1');
      setTimeout(() => { console.log(process.pid); process.exit(7); }, ${ms});
    `);
    assert.deepEqual([code, signal], [7, null], err);
    assert.equal(err, '');
    await until(() => boxes(Number(out)).length === 0);
  }
});

test('an uncaught exception with calls in flight ends the process as it should', async () => {
  const { code, err } = await program(`
    const engine = new SandboxEngine();
    for (let i = 0; i < 3; i++) void engine.execute(${JSON.stringify(ENDLESS)});
    setTimeout(() => { throw new Error('on purpose'); }, 60);
  `);
  assert.equal(code, 1);
  assert.match(err, /on purpose/);
});

test('a host that is killed leaves no orphan', async () => {
  let inside = [];
  const { signal } = await program(`
    const engine = new SandboxEngine();
    await engine.execute('() => 1');
    for (let i = 0; i < 4; i++) void engine.execute(${JSON.stringify(ENDLESS)});
    setInterval(() => {}, 1000);
    console.log('ready');
  `, [], async (out, child) => {
    if (out !== 'ready\n') return;
    await until(() => {
      inside = boxes(child.pid).map((one) => one.pid);
      return inside.length >= 2;
    });
    child.kill('SIGKILL');
  });

  assert.equal(signal, 'SIGKILL');
  await until(() => !inside.some(isAlive));
});

const thread = (text) => new Worker(`
  const { parentPort, workerData } = require('node:worker_threads');
  import(${JSON.stringify(LIB)}).then(async ({ SandboxEngine }) => { ${text} });
`, { eval: true });

test('threads have engines of their own, side by side', async () => {
  const sums = await Promise.all([1, 2, 3].map((n) => new Promise((resolve, reject) => {
    const worker = thread(`
      const engine = new SandboxEngine();
      await engine.expose({ mine: () => ${n} });
      let sum = 0;
      const calls = Array.from({ length: 40 }, () => engine.run({ form: 'script', code: 'await mine()' }));
      for (const result of await Promise.all(calls)) sum += result.value;
      await engine.close();
      parentPort.postMessage(sum);
    `);
    worker.on('message', resolve);
    worker.on('error', reject);
  })));

  assert.deepEqual(sums, [40, 80, 120]);
  await until(() => boxes().length === 0);
});

test('a thread that ends takes its engines along, whatever they are doing', async () => {
  for (let i = 0; i < 6; i++) {
    const worker = thread(`
      const engine = new SandboxEngine();
      const idle = new SandboxEngine();
      for (let i = 0; i < 3; i++) void engine.execute(${JSON.stringify(ENDLESS)});
      ${i % 2 ? "await engine.execute('() => 1');" : ''}
      parentPort.postMessage('ready');
      ${i % 3 === 0 ? '' : 'void engine.load("a", Array.from({length: 50000}, (_, k) => ({k})));'}
    `);
    await new Promise((resolve, reject) => {
      worker.on('message', resolve);
      worker.on('error', reject);
    });
    if (i % 4 === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await worker.terminate();
  }
  assert.equal(boxes().length, 0);
});

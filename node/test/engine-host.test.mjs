// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { SandboxEngine } from '../lib/index.js';

const require = createRequire(import.meta.url);

/** What an engine with these options makes of it. */
async function withEngine(options, use) {
  const engine = new SandboxEngine(options);
  try {
    return await use(engine);
  } finally {
    await engine.close();
  }
}

const script = (engine, code) => engine.run({ form: 'script', code });

test('functions of the host are called with values and answer with values', () =>
  withEngine({}, async (engine) => {
    const seen = [];
    await engine.expose({
      add: (a, b) => a + b,
      db: { query: async (text, options) => (seen.push([text, options]), [{ text }]), none: () => undefined },
      'tools.list': async () => ['x'],
    });
    const result = await script(engine, `
      [await add(1, 2), await db.query('select', {n: [1]}), await db.none(), await tools.list()]
    `);

    assert.deepEqual(result.value, [3, [{ text: 'select' }], null, ['x']]);
    assert.deepEqual(seen, [['select', { n: [1] }]]);
    assert.equal(result.stats.hostCalls, 4);
  }));

test('what functions of the host throw keeps name, message and code', () =>
  withEngine({}, async (engine) => {
    await engine.expose({
      fails: () => { throw Object.assign(new RangeError('too far'), { code: 'EFAR' }); },
      rejects: async () => { throw new TypeError('not this'); },
      odd: () => { throw 'a text'; },
      own: () => { const e = new Error('mine'); e.name = 'NotFound'; throw e; },
      never: () => { throw undefined; },
    });
    const result = await script(engine, `
      const seen = [];
      for (const f of [fails, rejects, odd, own, never]) {
        try { await f(); } catch (e) { seen.push([e.name, e.message, e.code, e instanceof Error]); }
      }
      seen`);

    assert.deepEqual(result.value, [
      ['RangeError', 'too far', 'EFAR', true], ['TypeError', 'not this', null, true],
      ['Error', 'a text', null, true], ['NotFound', 'mine', null, true],
      ['Error', 'undefined', null, true],
    ]);
  }));

test('whatever functions of the host throw, the code is answered', () =>
  withEngine({}, async (engine) => {
    const thrown = [
      { message: Object.create(null) }, Object.create(null), { get message() { throw new Error('unseen'); } },
      new Proxy({}, { get() { throw new Error('unseen'); } }), { message: Symbol('sign'), name: {}, code: 7 }, Symbol('sign'),
      Object.assign(() => {}, { message: 'said' }), null,
    ];
    await engine.expose({ fails: (i) => { throw thrown[i]; } });
    const result = await script(engine, `
      const seen = [];
      for (let i = 0; i < ${thrown.length}; i++) try { await fails(i); } catch (e) { seen.push([e.name, e.message]); }
      seen`);

    const unread = ['Error', 'what was thrown cannot be read'];
    assert.deepEqual(result.value, [
      unread, ['Error', ''], unread, unread, ['Error', 'Symbol(sign)'], ['Error', 'Symbol(sign)'], ['Error', 'said'], ['Error', 'null'],
    ]);
  }));

test('an answer that JSON cannot hold is an error in the box, not a loss', () =>
  withEngine({}, async (engine) => {
    const cycle = {};
    cycle.self = cycle;
    await engine.expose({ give: (i) => [() => 1, { a: 1n }, cycle, new Map()][i] });
    const result = await script(engine, `
      const seen = [];
      for (let i = 0; i < 4; i++) try { seen.push(await give(i)); } catch (e) { seen.push(e.message); }
      seen`);

    assert.match(result.value[0], /the answer of give is a function/);
    assert.match(result.value[1], /a BigInt at answer\.a/);
    assert.match(result.value[2], /a cycle at answer\.self/);
    assert.match(result.value[3], /a Map/);
  }));

test('arguments that are nested too deep are an error of the call, and harm nothing', () =>
  withEngine({}, async (engine) => {
    await engine.expose({ echo: (a) => a });
    const result = await script(engine, `
      let a = 1;
      for (let i = 0; i < 5000; i++) a = [a];
      let said;
      try { await echo(a); } catch (e) { said = [e.name, e.message]; }
      [said, await echo(2)]`);

    assert.deepEqual(result.value, [['TypeError', 'the arguments are nested deeper than 1000 levels'], 2]);
  }));

test('large arguments and answers arrive', () =>
  withEngine({ memoryLimit: 512 }, async (engine) => {
    await engine.expose({ echo: (text) => text });
    const result = await script(engine, `const t = 'ä'.repeat(2000000); (await echo(t)) === t`);

    assert.equal(result.value, true, result.error);
  }));

test('a thousand calls of the host at once are all answered', () =>
  withEngine({}, async (engine) => {
    await engine.expose({ later: (i) => new Promise((resolve) => setTimeout(resolve, i % 7, i)) });
    const result = await script(engine, `
      (await Promise.all(Array.from({length: 1000}, (_, i) => later(i)))).reduce((a, b) => a + b)`);

    assert.equal(result.value, 499500);
  }));

test('an answer after the call has ended finds nobody and does no harm', () =>
  withEngine({}, async (engine) => {
    let answer;
    await engine.expose({ wait: () => new Promise((resolve) => { answer = resolve; }) });
    const result = await engine.run({ form: 'script', code: 'await wait()', limits: { timeoutMs: 200 } });
    assert.equal(result.code, 'TIMEOUT');
    answer('late');

    assert.equal((await engine.execute('() => 1')).value, 1);
  }));

test('a function can be replaced, and an exposed name is not taken from the language', () =>
  withEngine({}, async (engine) => {
    await engine.expose({ get: () => 1 });
    await engine.expose({ get: () => 2 });
    assert.equal((await script(engine, 'await get()')).value, 2);
    await assert.rejects(engine.expose({ Array: () => 1 }), { name: 'TypeError', message: /Array/ });
    await assert.rejects(engine.expose({ 'no name': () => 1 }), TypeError);
    await assert.rejects(engine.expose({ x: 5 }), { name: 'TypeError', message: /functions\.x/ });
    await assert.rejects(engine.expose(7), { name: 'TypeError', message: /functions/ });
    assert.equal((await script(engine, 'Array.isArray([])')).value, true);
  }));

test('what would give code this whole process is refused, unless it is asked for', () =>
  withEngine({}, async (engine) => {
    const host = { read: (name) => name, require };
    for (const [functions, name] of [
      [{ require }, /^functions\.require is require of Node\.js, with which code could do whatever this process can: expose a function/],
      [{ process }, /^functions\.process is process of Node/], [{ host }, /^functions\.host\.require is require/],
      [{ a: { b: { process } } }, /^functions\.a\.b\.process is process/], [{ run: eval }, /is eval/], [{ run: Function }, /is Function/],
      [{ fs }, /^functions\.fs is fs /], [{ fs: require('fs') }, /is fs /], [{ get: require('fs/promises').readFile }, /is fs\/promises\.readFile/],
      [{ sh: require('child_process').exec }, /is child_process\.exec/], [{ end: process.exit }, /is process\.exit/], [{ all: globalThis }, /is globalThis/],
    ])
      await assert.rejects(engine.expose(functions), { name: 'TypeError', message: name });
    assert.equal((await script(engine, 'typeof host + typeof process + typeof require')).value, 'undefined'.repeat(3));
    await engine.expose({ process: (order) => `done ${order}`, orders: { require: (n) => n } });
    assert.equal((await script(engine, 'await globalThis["process"](await orders.require(7))')).value, 'done 7');

    await engine.expose({ node: { process, version: process.version } }, { unsafe: true });
    assert.equal((await script(engine, 'await node.process.cwd()')).value, process.cwd());
    await assert.rejects(engine.expose({}, { unsave: true }), /options\.unsave is not an option.*unsafe/);
  }));

test('expose() that is refused leaves everything as it was', () =>
  withEngine({}, async (engine) => {
    await engine.expose({ ok: () => 1 });

    await assert.rejects(engine.expose({ ok: () => 2, fine: () => 3, JSON: () => 4 }), { name: 'TypeError', message: /JSON/ });
    assert.deepEqual((await script(engine, '[await ok(), typeof fine]')).value, [1, 'undefined']);

    await assert.rejects(engine.expose({ ok: () => 2, late: () => 3, 'no name': () => 4 }), TypeError);
    assert.deepEqual((await script(engine, '[await ok(), await late().catch((e) => [e.message, e.code])]')).value,
      [1, ['this call has no function of that name', 'ERR_NOT_ALLOWED']]);

    await engine.expose({ ok: () => 5, fine: () => 6, late: () => 7 });
    assert.deepEqual((await script(engine, '[await ok(), await fine(), await late()]')).value, [5, 6, 7]);
  }));

test('of two functions of one name the later one is called, awaited or not', () =>
  withEngine({}, async (engine) => {
    void engine.expose({ get: () => 1 });
    void engine.expose({ get: () => 2 });
    assert.equal((await script(engine, 'await get()')).value, 2);
  }));

test('an object without a function of its own is no object of functions', () =>
  withEngine({}, async (engine) => {
    class Store {
      get() {}
    }
    await assert.rejects(engine.expose({ store: new Store() }), { name: 'TypeError', message: /^functions\.store has no function of its own/ });
    await assert.rejects(engine.expose(new Store()), { name: 'TypeError', message: /^functions has no function of its own/ });
    await assert.rejects(engine.expose({ a: { b: {} } }), { name: 'TypeError', message: /^functions\.a\.b has no function/ });
    await engine.expose({});
  }));

test('not awaited, a function is there for the next call all the same', () =>
  withEngine({}, async (engine) => {
    void engine.expose({ soon: () => 'yes' });
    assert.equal((await script(engine, 'await soon()')).value, 'yes');
  }));

test('console lines are captured, streamed, or off', async () => {
  const lines = [];
  const sink = { log: (text) => lines.push(['log', text]), error: (text) => lines.push(['error', text]) };
  await withEngine({ console: sink }, async (engine) => {
    const heard = [];
    const result = await engine.run({
      code: '() => { console.log("a", 1); console.error("b"); console.info("c"); return 1; }',
      onLog: (level, text, timeMs) => heard.push([level, text, typeof timeMs]),
    });
    assert.deepEqual(result.logs.map((one) => one.text), ['a 1', 'b', 'c']);
    assert.deepEqual(lines, [['log', 'a 1'], ['error', 'b']]);
    assert.deepEqual(heard, [['log', 'a 1', 'number'], ['error', 'b', 'number'], ['info', 'c', 'number']]);
  });
  await withEngine({ console: false }, async (engine) => {
    assert.equal((await script(engine, 'typeof console')).value, 'undefined');
  });
});

/* The warnings of what listeners have thrown while use() ran. */
async function warningsOf(use) {
  const warnings = [];
  const heard = (warning) => warning.code === 'GLOVEBOX_LISTENER' && warnings.push(warning.message);
  process.on('warning', heard);
  try {
    await use();
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off('warning', heard);
  }
  return warnings.sort();
}

const unseen = { get message() { throw new Error('unseen'); } };

for (const [kind, fails, says] of [
  ['throws', () => { throw unseen; }, () => { throw new Error('no room'); }],
  ['is async and throws', async () => { throw unseen; }, async () => { throw new Error('no room'); }],
]) {
  test(`a listener that ${kind} is a warning, once, and the process lives`, async () => {
    const warnings = await warningsOf(() =>
      withEngine({ console: { log: fails, error: says, warn: undefined }, securityLog: says }, async (engine) => {
        engine.telemetry(says);
        for (let i = 0; i < 2; i++) {
          const result = await engine.run({
            form: 'script', code: 'console.log(1); console.log(2); console.error(3); console.warn(4); require("x")', onLog: says,
          });
          assert.equal(result.code, 'INVALID_CODE');
          const logged = await engine.run({ form: 'script', code: 'console.log(1); console.log(2); console.error(3); 7', onLog: says });
          assert.deepEqual([logged.value, logged.logs.length], [7, 3]);
        }
      }));
    assert.deepEqual(warnings, [
      'console.error of a SandboxEngine threw: no room', 'console.log of a SandboxEngine threw: what was thrown cannot be read',
      'onLog of a SandboxEngine threw: no room', 'securityLog of a SandboxEngine threw: no room',
      'the telemetry sink of a SandboxEngine threw: no room',
    ]);
  });
}

test('a console has functions', () => {
  for (const console of [{ log: 5 }, { warn: null }, { error: {} }])
    assert.throws(() => new SandboxEngine({ console }), { name: 'TypeError', message: new RegExp(`^console\\.${Object.keys(console)[0]} must be a function`) });
});

test('console lines come while the code runs, and survive a timeout', () =>
  withEngine({}, async (engine) => {
    const controller = new AbortController();
    const result = await engine.run({
      form: 'script',
      code: 'console.log("here"); await sleep(60000);',
      signal: controller.signal,
      limits: { timeoutMs: 5000 },
      onLog: () => controller.abort(),
    });
    assert.equal(result.code, 'ABORTED');
    assert.deepEqual(result.logs.map((one) => one.text), ['here']);
  }));

test('fetch reaches listed sites alone', async () => {
  const server = createServer((request, response) => response.end(`hello ${request.url}`));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  const code = `const seen = [];
    for (const site of ['http://127.0.0.1:${port}/a', 'http://127.0.0.1:${port + 1}/a']) {
      try { seen.push(await (await fetch(site + '')).text()); } catch (e) { seen.push('refused'); }
    }
    seen`;
  try {
    await withEngine({ fetch: [`http://127.0.0.1:${port}`] }, async (engine) => {
      assert.deepEqual((await script(engine, code)).value, ['hello /a', 'refused']);
    });
    await withEngine({ fetch: [] }, async (engine) => {
      assert.equal((await script(engine, 'typeof fetch')).value, 'undefined');
      assert.equal((await script(engine, 'await fetch("https://example.com")')).code, 'INVALID_CODE');
    });
  } finally {
    server.close();
  }
});

test('a transport answers in place of the network', () =>
  withEngine({
    fetch: ['api.example.com'],
    secrets: { KEY: { value: 'top-secret-value', sites: ['api.example.com'] } },
    transport: async (request) => {
      if (request.url.endsWith('/fail')) throw new Error('no line');
      return {
        status: 201, statusText: 'Made', headers: { 'x-seen': `${request.method} é` },
        body: JSON.stringify([request.url, Object.fromEntries(request.headers).authorization, request.body?.toString()]),
      };
    },
  }, async (engine) => {
    const result = await script(engine, `
      const r = await fetch('https://api.example.com/x', {method: 'POST', body: 'in', headers: {authorization: 'Bearer {{secret:KEY}}'}});
      const all = [r.status, r.headers.get('x-seen'), await r.json()];
      try { await fetch('https://api.example.com/fail'); } catch (e) { all.push(e.message.includes('no line')); }
      all`);

    assert.deepEqual(result.value.slice(0, 2), [201, 'POST é'], result.error);
    assert.equal(result.value[2][0], 'https://api.example.com/x');
    assert.equal(result.value[2][2], 'in');
    assert.doesNotMatch(JSON.stringify(result), /top-secret-value/);
    assert.equal(result.value[3], true);
  }));

test('files are read below listed folders alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-'));
  writeFileSync(join(folder, 'a.txt'), 'inside');
  try {
    await withEngine({ fs: [folder] }, async (engine) => {
      const result = await script(engine, `
        const seen = [await fs.readFile(${JSON.stringify(join(folder, 'a.txt'))}, 'utf8')];
        try { await fs.readFile('/etc/passwd', 'utf8'); } catch (e) { seen.push('refused'); }
        seen`);
      assert.deepEqual(result.value, ['inside', 'refused']);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('crypto and env are there when they are asked for', () =>
  withEngine({ crypto: true, env: { REGION: 'eu' } }, async (engine) => {
    const result = await script(engine, `[crypto.createHash('sha256').update('x').digest('hex').slice(0, 8), env.REGION]`);

    assert.deepEqual(result.value, ['2d711642', 'eu']);
    assert.equal((await script(engine, 'env.HOME')).value, undefined);
  }));

test('a policy is taken as it is, and a call may have a narrower one', () =>
  withEngine({ policy: { console: true, functions: ['db.*'] } }, async (engine) => {
    await engine.expose({ db: { read: () => 1, write: () => 2 }, other: () => 3 });
    assert.deepEqual((await script(engine, '[await db.read(), typeof other]')).value, [1, 'undefined']);
    const narrow = await engine.run({ form: 'script', code: 'typeof db.write', policy: { functions: ['db.read'] } });
    assert.equal(narrow.value, 'undefined');
    await assert.rejects(
      engine.run({ code: '() => 1', policy: { functions: ['other'] } }),
      { name: 'TypeError', code: 'GBX_E_POLICY' },
    );
  }));

test('a call may have a policy of its own where the engine has none', () =>
  withEngine({}, async (engine) => {
    await engine.expose({ db: { read: () => 1, write: () => 2 } });
    const under = async (policy) => {
      const result = await engine.run({ form: 'script', code: '[typeof console, typeof setTimeout, typeof db?.read, typeof db?.write]', policy });
      return result.value ?? result.error;
    };
    const [none, all] = ['undefined', 'function'];

    assert.deepEqual(await under({ console: true, timers: true, functions: ['*'] }), ['object', all, all, all]);
    assert.deepEqual(await under({ console: true, functions: ['db.read'] }), ['object', none, all, none]);
    assert.deepEqual((await engine.run({ form: 'script', code: 'typeof console', policy: { timers: true } })).value, none);
    assert.equal((await engine.run({ code: '() => { for (;;); }', policy: { limits: { timeoutMs: 1000 } } })).code, 'TIMEOUT');
    for (const wider of [{ crypto: true }, { fetch: { allow: ['example.com'] } }, { env: { A: 'b' } }, { secrets: { KEY: { value: 'x'.repeat(20), sites: ['example.com'] } } }])
      await assert.rejects(engine.run({ code: '() => 1', policy: wider }), { name: 'TypeError', code: 'GBX_E_POLICY' });
  }));

test('capabilities leave only what they name', () =>
  withEngine({ capabilities: ['crypto'] }, async (engine) => {
    assert.deepEqual((await script(engine, '[typeof console, typeof setTimeout, typeof crypto]')).value,
      ['undefined', 'undefined', 'object']);
  }));

test('preloaded scripts are there in every call', () =>
  withEngine({ preload: [{ name: 'twice.js', source: 'globalThis.twice = (n) => 2 * n;' }] }, async (engine) => {
    await engine.preload('thrice.js', 'globalThis.thrice = (n) => 3 * n;');
    assert.deepEqual((await script(engine, '[twice(2), thrice(2)]')).value, [4, 6]);
    await assert.rejects(engine.preload('bad.js', 'throw new Error("x")'), { name: 'TypeError', code: 'GBX_E_DATA', line: 1 });
    await assert.rejects(engine.preload('open.js', '\n{'), { name: 'TypeError', code: 'GBX_E_DATA', message: /^cannot preload open\.js:/ });
    await assert.rejects(engine.preload(1, 'x'), { name: 'TypeError', message: /name/ });
  }));

test('the security log has lines of the calls, with their ids', async () => {
  const lines = [];
  await withEngine({ securityLog: (line) => lines.push(JSON.parse(line)) }, async (engine) => {
    const result = await engine.execute('() => require("fs")');
    assert.equal(result.code, 'INVALID_CODE');
    assert.ok(lines.some((line) => JSON.stringify(line).includes(result.callId)));
  });
});

// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { Readable } from 'node:stream';
import { after, describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';

import {
  createSandboxClient, glovebox, memory, memoryAdapter, nodeWorkerAdapter, SandboxExecutionError, WORKER_SOURCE,
} from '../lib/index.js';
import { busyWorkers, descendants, gone } from './support/processes.mjs';

const all = {
  executionParams: {}, envVars: {}, contextVariables: {}, isCustomTool: false, timeout: 5000,
};

/* What an adapter promises, held by each. */
function behaves(name, make, isIsolated) {
  describe(`${name}: code of a user`, () => {
    const client = createSandboxClient({ adapter: make() });
    after(() => client.dispose());
    const run = async (code, more = {}) => (await client.execute({ ...all, code, ...more })).result;

    it('is the body of an async function, whose value is the result', async () => {
      assert.equal(await run('return params.a + params.b', { executionParams: { a: 1, b: 2 } }), 3);
      assert.equal(await run('return await Promise.resolve(4)'), 4);
      assert.equal(await run('const a = 1;'), undefined);
      assert.deepEqual(await run('return { when: new Date(0), list: [1, undefined] }'), { when: '1970-01-01T00:00:00.000Z', list: [1, null] });
    });

    it('sees its parameters, variables of the environment, and of the context by their names', async () => {
      const code = 'return [params.x, env.KEY, environmentVariables.KEY, order.id, typeof x]';
      const given = { executionParams: { x: 1 }, envVars: { KEY: 'k' }, contextVariables: { order: { id: 7 } } };
      assert.deepEqual(await run(code, given), [1, 'k', 'k', 7, 'undefined']);
      assert.deepEqual(await run(code, { ...given, isCustomTool: true }), [1, 'k', 'k', 7, 'number']);
    });

    it('gets no value that JSON would lose: each is refused with its place', async () => {
      const cycle = {};
      cycle.self = cycle;
      const cases = [
        [{ executionParams: { a: { m: new Map() } } }, /a Map at executionParams\.a\.m/],
        [{ executionParams: { a: [() => 1] }, isCustomTool: true }, /a function at executionParams\.a\[0\]/],
        [{ contextVariables: { list: [1n] } }, /a BigInt at contextVariables\.list\[0\]/],
        [{ contextVariables: { cycle } }, /a cycle at contextVariables\.cycle\.self/],
        [{ envVars: { 'not a name': Symbol('x') } }, /a symbol at envVars\["not a name"\]/],
      ];
      for (const [given, message] of cases) await assert.rejects(run('return 1', given), { code: 'INVALID_DATA', message });
      for (const name of ['executionParams', 'contextVariables', 'envVars'])
        await assert.rejects(run('return 1', { [name]: new Map() }), { name: 'TypeError', message: new RegExp(`args\\.${name} .*not a Map`) });
    });

    it('gets values as JSON has them', async () => {
      const given = { executionParams: { when: new Date(0), none: undefined, not: NaN }, contextVariables: { own: { toJSON: () => 'said' } } };
      assert.deepEqual(await run('return [params.when, "none" in params, params.not, own]', given), ['1970-01-01T00:00:00.000Z', false, null, 'said']);
    });

    it('that fails rejects with an error that has a code, whatever failed', async () => {
      for (const [code, why, about] of [
        ['', 'INVALID_CODE', /^the code is empty$/], [' // a\n/* b */ //', 'INVALID_CODE', /^the code is only comments$/],
        ['x =', 'SYNTAX', /./], ['let params = 1', 'SYNTAX', /params/], ['} ); (() => {', 'SYNTAX', /./], ['throw new RangeError("far")', 'RUNTIME', /^far$/],
        ['throw 7', 'RUNTIME', /^7$/], ['throw null', 'RUNTIME', /^null$/], ['throw { name: "N", message: "m" }', 'RUNTIME', /^m$/],
        ['throw Object.assign(new Error("e"), { code: "X" })', 'RUNTIME', /^e$/], ['return nothing', 'RUNTIME', /nothing/],
        ['return 1n', 'RUNTIME', /BigInt/], ['return new Map()', 'RUNTIME', /Map/], ['return () => 1', 'RUNTIME', /unction/],
        ['const a = {}; a.a = a; return a', 'RUNTIME', /cycle/],
      ]) {
        await assert.rejects(run(code), (error) => {
          assert.ok(error instanceof SandboxExecutionError, code);
          assert.equal(error.code, why, code);
          assert.match(error.message, about);
          assert.ok(Array.isArray(error.logs) && error.executionMs >= 0);
          return true;
        });
      }
      assert.deepEqual(await run('return [/* a */ 1, () => 1]'), [1, null]);
      await assert.rejects(run('console.log("seen"); throw new Error("x")'), ({ logs }) => logs[0].text === 'seen' && logs[0].level === 'log');
    });

    it('fetches from what answers with plain objects, or as the web does', async () => {
      const code = `const r = await fetch({ url: 'https://a.example/', method: 'PUT' });
        return [r.ok, r.status, r.headers.get('A'), [...r.headers], await r.text()]`;
      const asked = [];
      for (const [response, seen] of [
        [() => ({ body: 'hi' }), [true, 200, null, [], 'hi']], [() => ({ body: { a: 1 }, status: 404, headers: { A: 'b' } }), [false, 404, 'b', [['a', 'b']], '{"a":1}']],
        [() => new Response('web', { status: 201, headers: { a: 'b', 'content-type': 'text/plain' } }), [true, 201, 'b', [['a', 'b'], ['content-type', 'text/plain']], 'web']],
      ]) {
        const secureFetchImpl = async (url, init) => {
          asked.push([url, init.method]);
          return response();
        };
        assert.deepEqual(await run(code, { secureFetchImpl }), seen);
      }
      assert.deepEqual(asked, Array(3).fill(['https://a.example/', 'PUT']));
      assert.deepEqual(await run('return (await fetch("x")).json()', { secureFetchImpl: () => ({ body: '{"a":1}' }) }), { a: 1 });
      assert.equal(await run('const fetch = 1, console = 2; return fetch + console'), 3);
    });

    it('loses no header of several with one name', async () => {
      const cookies = new Headers([['set-cookie', 'a=1'], ['set-cookie', 'b=2'], ['x', '1'], ['x', '2']]);
      for (const headers of [cookies, [...cookies], { 'set-cookie': ['a=1', 'b=2'], x: '1, 2' }])
        assert.deepEqual(await run('return [...(await fetch("x")).headers]', { secureFetchImpl: () => ({ headers, body: '' }) }),
          [['set-cookie', 'a=1, b=2'], ['x', '1, 2']]);
      assert.deepEqual(await run('return (await fetch("x", { headers: [["Accept", "a"], ["accept", "b"], ["__proto__", "c"]] })).json()', {
        secureFetchImpl: (_, { headers }) => ({ body: Object.entries(headers) }),
      }), [['accept', 'a, b'], ['__proto__', 'c']]);
    });

    it('fetches bytes as text, and no stream', async () => {
      const text = (body) => run('return (await fetch("x")).text()', { secureFetchImpl: () => ({ body }) });
      const bytes = new TextEncoder().encode('h\u00e9llo');
      for (const body of [Buffer.from(bytes), bytes, bytes.buffer, new DataView(bytes.buffer)]) assert.equal(await text(body), 'h\u00e9llo');
      assert.equal(await text([1]), '[1]');
      for (const [body, message] of [
        [new Response('x').body, /is a stream: read it first/], [Readable.from(['x']), /is a stream/],
        [new Map(), /^the body of the response is a Map$/], [{ a: () => 1 }, /holds a function at body\.a$/],
      ])
        await assert.rejects(text(body), { name: 'TypeError', message });
    });

    it('fetches with what its own execute() was given', async () => {
      const answers = await Promise.all(Array.from({ length: 12 }, (_, i) =>
        run(`${i % 2 ? `/* ${'-'.repeat(5000)} */ ` : ''}return (await fetch("x")).text()`, { secureFetchImpl: () => ({ body: String(i) }) })));
      assert.deepEqual(answers, answers.map((_, i) => String(i)));
    });

    it('that throws rejects with its name, message and stack', async () => {
      await assert.rejects(run('throw new TypeError("no good")'), (error) => {
        assert.equal(error.name, 'TypeError');
        assert.equal(error.message, 'no good');
        assert.match(error.stack, /^TypeError: no good\n/);
        return true;
      });
      await assert.rejects(run('return a.b.c'), /a/);
    });

    it('that does not parse rejects', async () => {
      await assert.rejects(run('return ('), { name: 'SyntaxError' });
    });

    it('that waits too long rejects as TIMEOUT', async () => {
      await assert.rejects(run('await new Promise((resolve) => setTimeout(resolve, 9000))', { timeout: 1000 }), { code: 'TIMEOUT', message: /1000 ms/ });
    });

    it('as a value: attempt() rejects for wrong use alone', async () => {
      assert.deepEqual(await client.attempt({ code: 'return 1' }), { ok: true, result: 1 });
      const { ok, error } = await client.attempt({ code: 'null.x' });
      assert.equal(ok, false);
      assert.equal(error.name, 'TypeError');
      assert.equal(error.code, 'RUNTIME');
      await assert.rejects(client.attempt({ code: 1 }), /args\.code must be a string/);
    });

    it('writes to the sink while it runs, whatever methods the sink has', async () => {
      const lines = [];
      const consoleSink = { log: (m) => lines.push(`log ${m}`), warn: (m) => lines.push(`warn ${m}`), error: (m) => lines.push(`error ${m}`) };
      await run('console.log("a", 1); console.warn("b"); console.error("c"); console.info("d"); console.debug("e")', { consoleSink });
      assert.deepEqual(lines, ['log a 1', 'warn b', 'error c', 'log d', 'log e']);
    });

    it('fetches through secureFetchImpl alone, which sees every request', async () => {
      const seen = [];
      const secureFetchImpl = async (url, init) => {
        seen.push([url, init.method, init.body]);
        if (url.includes('internal')) throw new Error(`${url} is not allowed`);
        return new Response(JSON.stringify({ n: 1 }), { status: 201, statusText: 'Made', headers: { 'X-Kind': 'json' } });
      };
      const code = `
        const response = await fetch('https://api.example/x', { method: 'POST', headers: { A: 'b' }, body: 'hello' });
        return [response.ok, response.status, response.statusText, response.headers.get('x-kind'), await response.json()];`;
      assert.deepEqual(await run(code, { secureFetchImpl }), [true, 201, 'Made', 'json', { n: 1 }]);
      await assert.rejects(run('await fetch("http://internal/")', { secureFetchImpl }), /http:\/\/internal\/ is not allowed/);
      assert.deepEqual(seen.map(([url, method, body]) => [url, method ?? 'GET', body]),
        [['https://api.example/x', 'POST', 'hello'], ['http://internal/', 'GET', undefined]]);
    });

    it('without secureFetchImpl has no fetch', async () => {
      assert.equal(await run('return typeof fetch'), 'undefined');
    });

    it('keeps nothing for the next one', async () => {
      if (!isIsolated) return;
      await run('globalThis.left = 1; Array.prototype.push = 1').catch(() => {});
      assert.deepEqual(await run('const a = []; a.push(typeof left); return a'), ['undefined']);
    });
  });
}

behaves('glovebox()', () => glovebox({ workerMemoryMb: 64, maxWorkers: 8 }), true);
behaves('memory()', memory, false);

describe('glovebox()', () => {
  const client = createSandboxClient({ adapter: glovebox({ workerMemoryMb: 32 }) });
  after(() => client.dispose());

  it('ends a loop and a bomb, and says which it was', async () => {
    await assert.rejects(client.execute({ code: 'for (;;);', timeout: 1000 }), { name: 'SandboxError', code: 'TIMEOUT' });
    await assert.rejects(client.execute({ code: 'const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))', timeout: 60000 }), { code: 'MEMORY' });
    await assert.rejects(client.execute({ code: 'throw new Error("out of memory")' }), { code: 'RUNTIME' });
  });

  it('ends with the signal', async () => {
    const call = new AbortController();
    const running = client.execute({ code: 'for (;;);', signal: call.signal, timeout: 60000 });
    const rejected = assert.rejects(running, { code: 'ABORTED' });
    const busy = await busyWorkers(process.pid);
    call.abort();
    await rejected;
    await gone(busy);
  });

  it('has no fetch without secureFetchImpl, nor any other way out', async () => {
    await assert.rejects(client.execute({ code: 'return fetch("https://example.com")' }), { code: 'INVALID_CODE' });
    for (const name of ['process', 'require', 'fetch', 'fs', 'Buffer', 'XMLHttpRequest', 'WebSocket'])
      assert.equal((await client.execute({ code: `return typeof globalThis['${name}']` })).result, 'undefined');
  });

  it('tells each secureFetchImpl of its own code alone, however many run', async () => {
    const code = 'await sleep(params.n % 3); const r = await fetch(`https://a/${params.n}`); return r.text()';
    const one = async (n) => (await client.execute({
      code, executionParams: { n }, secureFetchImpl: async (url) => ({ ok: true, status: 200, body: `${url} by ${n}` }),
    })).result;
    const numbers = Array.from({ length: 12 }, (_, n) => n);
    assert.deepEqual(await Promise.all(numbers.map(one)), numbers.map((n) => `https://a/${n} by ${n}`));
  });

  it('gives the fetch of the box what it may have, as text', async () => {
    const of = async (response, code) => (await client.execute({ code, secureFetchImpl: () => response })).result;
    assert.deepEqual(await of({ status: 404, headers: { 'X-A': 'b' } }, 'const r = await fetch("https://a"); return [r.ok, r.status, r.headers.has("x-a"), await r.text(), [...r.headers]]'),
      [false, 404, true, '', [['x-a', 'b']]]);
    assert.deepEqual(await of({ body: { a: 1 } }, 'const r = await fetch("https://a"); return [r.ok, await r.json()]'), [true, { a: 1 }]);
    await assert.rejects(of({ body: 'x' }, 'const r = await fetch("https://a"); await r.text(); await r.text()'), /read already/);
    await assert.rejects(of(undefined, 'await fetch("https://a")'), /must be a response/);
    await assert.rejects(of({}, 'await fetch("https://a", { body: new Uint8Array(1) })'), /the body must be a string/);
  });

  it('rejects with what the sink threw: that is its owner\'s fault', async () => {
    const consoleSink = { log() { throw new RangeError('full'); } };
    await assert.rejects(client.execute({ code: 'console.log(1); return 1', consoleSink }), { name: 'RangeError', message: 'full' });
  });

  it('keeps console lines, and says how long it took, in the error', async () => {
    await assert.rejects(client.execute({ code: 'console.log("before"); throw new Error("x")' }), (error) => {
      assert.ok(error instanceof SandboxExecutionError);
      assert.equal(error.logs[0].text, 'before');
      assert.ok(error.executionMs > 0);
      assert.equal(error.location.line, 1);
      return true;
    });
  });

  it('after dispose() does not run', async () => {
    const ended = createSandboxClient({ adapter: glovebox() });
    await ended.execute({ code: 'return 1' });
    const processes = descendants().map(({ pid }) => pid);
    await ended.dispose();
    assert.ok(descendants().length < processes.length);
    await assert.rejects(ended.execute({ code: 'return 1' }), { code: 'UNAVAILABLE' });
  });
});

describe('memory()', () => {
  it('says in its name that it isolates nothing', () => {
    assert.equal(memory().name, 'memory (no isolation)');
  });

  it('warns when it is first used, and once', () => {
    const script = `
      import { createSandboxClient, memory } from ${JSON.stringify(new URL('../lib/index.js', import.meta.url).href)};
      const warnings = [];
      process.on('warning', (warning) => warnings.push([warning.name, warning.code]));
      const client = createSandboxClient({ adapter: memory() });
      await new Promise(setImmediate);
      const before = warnings.length;
      await client.execute({ code: 'return 1' });
      await createSandboxClient({ adapter: memory() }).execute({ code: 'return 2' });
      await new Promise(setImmediate);
      console.log(JSON.stringify([before, warnings]));`;
    const out = execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], { encoding: 'utf8' });
    assert.deepEqual(JSON.parse(out), [0, [['GloveboxWarning', 'GLOVEBOX_NO_ISOLATION']]]);
  });
});

describe('the port takes an adapter of anybody', () => {
  it('and passes on what is executed, returned and thrown', async () => {
    const seen = [];
    const client = createSandboxClient({
      adapter: {
        name: 'mine',
        async execute(args) {
          seen.push(args);
          if (args.code === 'bad') throw Object.assign(new Error('no'), { name: 'Refused' });
          return { result: args.code.length };
        },
        async dispose() {
          seen.push('disposed');
        },
      },
    });
    const args = { ...all, code: 'abc' };
    assert.equal(client.name, 'mine');
    assert.deepEqual(await client.execute(args), { result: 3 });
    assert.deepEqual(Object.keys(seen[0]), [...Object.keys(args).slice(-1), ...Object.keys(all), 'secureFetchImpl', 'consoleSink', 'signal']);
    await client.execute({ code: 'x' });
    const { secureFetchImpl, consoleSink, ...given } = seen[1];
    assert.deepEqual(given, { ...all, code: 'x', signal: undefined });
    await assert.rejects(secureFetchImpl('https://a.example/', {}), /^Error: fetch is off/);
    for (const level of ['log', 'info', 'warn', 'error', 'debug']) consoleSink[level]('unheard');
    await assert.rejects(client.execute({ ...all, code: 'bad' }), { name: 'Refused' });
    assert.equal((await client.attempt({ ...all, code: 'bad' })).error.name, 'Refused');
    await client.dispose();
    assert.equal(seen.at(-1), 'disposed');
    await assert.rejects(client.execute(args), { code: 'UNAVAILABLE', message: 'dispose() was called' });
  });

  it('and lets what runs end first, if it is asked to', async () => {
    const client = createSandboxClient({ adapter: glovebox() });
    const slow = client.execute({ code: 'await new Promise((resolve) => setTimeout(resolve, 300)); return 7' });
    const drained = client.dispose({ drain: true });
    await assert.rejects(client.execute({ code: 'return 1' }), { code: 'UNAVAILABLE' });
    assert.deepEqual(await slow, { result: 7 });
    await drained;
    await assert.rejects(client.dispose({ drian: true }), /options\.drian is not an option.*drain/);
  });

  /* A thread of the published source, and the messages that its author passes on. */
  function threadAdapter() {
    const worker = new Worker(WORKER_SOURCE, { eval: true });
    let next = 0;
    return {
      name: 'thread',
      execute: ({ code, executionParams, envVars, contextVariables, isCustomTool, timeout, consoleSink, secureFetchImpl }) => new Promise((resolve, reject) => {
        const execId = next++;
        const answer = async ({ id, url, init }) => {
          const told = await secureFetchImpl(url, init).then(
            async (response) => ({ ok: response.ok, status: response.status, statusText: response.statusText, headers: Object.fromEntries(response.headers), body: await response.text() }),
            ({ message: error }) => ({ ok: false, status: 0, statusText: '', headers: {}, body: '', error }));
          worker.postMessage({ type: 'fetch_response', id, ...told });
        };
        worker.on('message', function listen(message) {
          if (message.type === 'console') consoleSink[message.level](message.message);
          if (message.type === 'fetch') void answer(message);
          if (message.execId !== execId) return;
          worker.off('message', listen);
          if (message.type === 'result') resolve({ result: message.value });
          else reject(Object.assign(new Error(message.error.message), message.error));
        });
        worker.postMessage({ type: 'execute', execId, code, executionParams, envVars, contextVariables, isCustomTool, syncTimeout: timeout });
      }),
      dispose: async () => void (await worker.terminate()),
    };
  }

  it('and the same program gives the same with each', async () => {
    const lines = [];
    const program = async (adapter) => {
      const client = createSandboxClient({ adapter });
      const args = { ...all, executionParams: { a: 20, b: 22 }, contextVariables: { unit: 'EUR' }, consoleSink: { log: (m) => lines.push(m) } };
      const good = await client.execute({ ...args, code: 'console.log("sum of", params.a); return `${params.a + params.b} ${unit}`' });
      const bad = await client.execute({ ...args, code: 'throw new RangeError("far")' }).catch(({ name, message }) => ({ name, message }));
      const tool = await client.execute({
        ...args, isCustomTool: true, secureFetchImpl: async (url) => new Response(`{"url":"${url}"}`, { status: 201, headers: { a: 'b' } }),
        code: 'const r = await fetch("https://a.example/"); return [a, environmentVariables, r.ok, r.status, r.headers.get("A"), (await r.json()).url]',
      });
      await client.dispose();
      return [good, bad, tool];
    };
    const expected = [
      { result: '42 EUR' }, { name: 'RangeError', message: 'far' }, { result: [20, {}, true, 201, 'b', 'https://a.example/'] },
    ];
    for (const adapter of [threadAdapter(), glovebox(), memory()]) assert.deepEqual(await program(adapter), expected);
    assert.deepEqual(lines, ['sum of 20', 'sum of 20', 'sum of 20']);
  });

  it('and has the adapters under the names of others', () => {
    assert.equal(nodeWorkerAdapter({ maxWorkers: 4, workerMemoryMb: 256 }).name, 'glovebox');
    assert.equal(memoryAdapter, memory);
  });
});

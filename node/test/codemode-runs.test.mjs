// SPDX-License-Identifier: MIT
/* codemode-runs - several runs of code mode beside each other, and what outlives them. */
import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { describe, it } from 'node:test';

import { createCodeMode } from '../lib/index.js';
import { until } from './support/processes.mjs';

async function withMode(options, use) {
  const mode = createCodeMode({ memoryMB: 32, ...options });
  try {
    return await use(mode);
  } finally {
    mode.dispose();
  }
}

describe('a listener of progress', () => {
  for (const [kind, onProgress] of [
    ['throws', () => { throw new Error('no room'); }],
    ['is async and throws', async () => { throw new Error('no room'); }],
  ])
    it(`that ${kind} is a warning, and the process lives`, () =>
      withMode({ servers: { s: { f: () => 1 } } }, async (mode) => {
        const warned = once(process, 'warning');
        const run = await mode.run('progress(1, 2); await servers.s.f({}); return 7', { onProgress });
        assert.equal(run.result, 7);
        const [{ code, message }] = await warned;
        assert.deepEqual([code, message], ['GLOVEBOX_LISTENER', 'onProgress of code mode threw: no room']);
      }));
});

describe('progress', () => {
  it('has no half of a character, whoever tells it and wherever it is cut', () =>
    withMode({ servers: { s: { f: (_, { onProgress }) => onProgress({ progress: 1, message: `${'x'.repeat(1994)}\u{1f600}` }) } } },
      async (mode) => {
        const told = [];
        await mode.run(`progress('a\\ud800'); progress('x'.repeat(1999) + '\u{1f600}'); await servers.s.f({})`,
          { onProgress: ({ message }) => told.push(message) });
        assert.deepEqual(told, ['a\ufffd', `${'x'.repeat(1999)}\ufffd`, `s.f: ${'x'.repeat(1994)}\ufffd`]);
      }));
});

describe('what nobody sees', () => {
  it('is seen in the text and the logs of an answer, and exact in its result', () =>
    withMode({ servers: { s: { f: () => 1 } } }, async (mode) => {
      const sly = '"\\u202e\\x9b\\u{e0041}"';
      const { content: [{ text }], structuredContent } = await mode.handler({ code: `console.log(${sly}); return [${sly}]` });
      assert.match(text, /^\["\\u202e\\u009b\\udb40\\udc41"\]\nLog:\n\\u\{202e\}\\u\{9b\}\\u\{e0041\}\n/);
      assert.deepEqual(structuredContent.result, ['\u202e\x9b\u{e0041}']);
      assert.equal(structuredContent.logs[0].text, '\\u{202e}\\u{9b}\\u{e0041}');
      const failed = await mode.handler({ code: `throw new Error(${sly})` });
      for (const said of [failed.content[0].text, failed.structuredContent.error.message])
        assert.ok(said.includes('\\u{202e}\\u{9b}\\u{e0041}'), said);
      const told = [];
      await mode.handler({ code: `progress(${sly}); return 1` }, { _meta: { progressToken: 1 },
        sendNotification: ({ params }) => told.push(params.message) });
      assert.deepEqual(told, ['\\u{202e}\\u{9b}\\u{e0041}']);
    }));
});

describe('what code says past the functions that it has', () => {
  it('of its line is bounded', () =>
    withMode({ servers: { s: { f: () => 1 } } }, async (mode) => {
      const { calls } = await mode.run(`for (const line of [3, 1e300, -5, 0.5, 'x', 10000001])
        await codemode('call', 's', 'f', {}, { line });`);
      assert.deepEqual(calls.map(({ line }) => line), [3, 0, 0, 0, 0, 0]);
    }));

  it('of the type of an artifact is a type, or refused', () =>
    withMode({ servers: { s: { f: () => 1 } } }, async (mode) => {
      const { result, artifacts } = await mode.run(`const all = [];
        for (const type of ['text/csv', 'text/plain; charset=utf-8', '', null, 'csv', 'a/b\\nc: d', 'a/b\\ud800', 'a/' + 'b'.repeat(100)])
          all.push(await artifact('a', 'b', type).then((kept) => kept.mimeType, (error) => error.code));
        return all;`);
      const refused = Array(4).fill('INVALID_ARGS');
      assert.deepEqual(result, ['text/csv', 'text/plain;charset=utf-8', 'text/plain', 'text/plain', ...refused]);
      assert.equal(artifacts.length, 4);
    }));
});

describe('discover', () => {
  it('says which servers are not in what it has found', () =>
    withMode({ servers: { s: { f: () => 1 },
      gone: { listTools: async () => { throw new Error('no key'); }, callTool: async () => ({}) } } }, async (mode) => {
      const { result, logs } = await mode.run('return (await discover("f")).map((found) => found.tool)');
      assert.deepEqual(result, ['f']);
      assert.match(JSON.stringify(logs), /not in what discover\(\) found: gone; /);
    }));
});

/* Long code is submitted on a thread, short code is not. */
const LONG = `/* ${'-'.repeat(5000)} */ `;

/* A tool that answers when it is told to. */
function holding() {
  const waiting = [];
  return { tool: () => new Promise((resolve) => waiting.push(resolve)), waiting, go: () => waiting.splice(0).forEach((resolve) => resolve(1)) };
}

describe('a run that is over its time', () => {
  const never = () => new Promise(() => {});
  for (const [code, awaited] of [
    ['await servers.s.never({ a: 1 })', ', waiting for s.never'],
    ['await Promise.all(["b", "a", "b", "c"].map((tool) => servers.s.call(tool)))', ', waiting for s.b, s.a, s.c'],
    ['for (const tool of "dcba") servers.s.call(tool); await sleep(9e9)', ', waiting for s.d, s.c, s.b, ...'],
    ['await discover("x")', ', waiting for discover()'],
    ['for (;;);', ''],
  ])
    it(`names what it was waiting for: ${code}`, () =>
      withMode({
        timeoutMs: 1000, servers: {
          s: { never, a: never, b: never, c: never, d: never }, late: { listTools: never, callTool: never },
        },
      }, async (mode) => {
        const { error } = await mode.run(code);
        assert.deepEqual([error.code, error.message], ['TIMEOUT', `ran past the time limit of 1000 ms${awaited}`]);
      }));

  it('tells of calls how far they had come, and no more afterwards', () =>
    withMode({ timeoutMs: 1000, servers: { s: { never } } }, async (mode) => {
      const { calls } = await mode.run('await servers.s.never({})');
      const told = structuredClone(calls);
      assert.ok(calls[0].ms > 0, `${calls[0].ms} ms`);
      await mode.run('return 1');
      assert.deepEqual(calls, told);
    }));
});

describe('runs beside each other', () => {
  it('have each their own calls, artifacts and answers', () =>
    withMode({ servers: { s: { same: ({ i }) => i } } }, async (mode) => {
      const runs = await Promise.all(Array.from({ length: 12 }, (_, i) =>
        mode.run(`${i % 2 ? LONG : ''}await artifact("a${i}", ${i}); return await servers.s.same({ i: ${i} })`)));
      assert.deepEqual(runs.map(({ result, calls, artifacts }) => [result, calls.length, artifacts[0].name]), runs.map((_, i) => [i, 1, `a${i}`]));
    }));

  it('are at most so many at once', async () => {
    let now = 0, most = 0;
    const f = async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 20));
      now--;
    };
    await withMode({ servers: { s: { f } }, maxWorkers: 2 }, async (mode) => {
      const runs = await Promise.all(Array.from({ length: 8 }, () => mode.run('await servers.s.f({}); return 1')));
      assert.deepEqual(runs.map(({ result }) => result), Array(8).fill(1));
    });
    assert.ok(most <= 2, `${most} at once`);
  });

  it('that wait for a place can be aborted, and wait no longer than they may run', () => {
    const { tool, waiting, go } = holding();
    return withMode({ servers: { s: { tool } }, maxWorkers: 1 }, async (mode) => {
      const first = mode.run('return await servers.s.tool({})');
      await until(() => waiting.length === 1);
      const controller = new AbortController();
      const second = mode.run('return 2', { signal: controller.signal });
      assert.equal((await mode.run('return 3', { timeoutMs: 50 })).error.code, 'UNAVAILABLE');
      controller.abort();
      assert.equal((await second).error.code, 'ABORTED');
      go();
      assert.equal((await first).result, 1);
    });
  });

  it('that share a signal share one listener', () => {
    const { tool, waiting } = holding();
    return withMode({ servers: { s: { tool } } }, async (mode) => {
      const controller = new AbortController();
      const { signal } = controller;
      const runs = Array.from({ length: 12 }, () => mode.run('await servers.s.tool({})', { signal }));
      await until(() => waiting.length === 12);
      assert.equal(getEventListeners(signal, 'abort').length, 1);
      controller.abort();
      assert.deepEqual((await Promise.all(runs)).map(({ error }) => error.code), Array(12).fill('ABORTED'));
      assert.equal(getEventListeners(signal, 'abort').length, 0);
    });
  });
});

it('what waits for its turn when the run ends is not asked for', async () => {
  const asked = [];
  let hasSent = false;
  const controller = new AbortController();
  const allow = ({ args }) => asked.push(args.i) > 0;
  await withMode({ servers: { s: { never: () => new Promise(() => {}) } }, allow, maxCallsAtOnce: 1 }, async (mode) => {
    const run = mode.run('const all = [1, 2, 3].map((i) => servers.s.never({ i })); progress("sent"); await Promise.all(all)',
      { signal: controller.signal, onProgress: () => { hasSent = true; } });
    await until(() => hasSent && asked.length === 1);
    controller.abort();
    const { error, calls } = await run;
    assert.deepEqual([error.code, calls.length], ['ABORTED', 3]);
    await until(() => calls.every(({ ms }) => ms > 0));
  });
  assert.deepEqual(asked, [1]);
});

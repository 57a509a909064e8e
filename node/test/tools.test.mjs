// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { after, describe, it } from 'node:test';

import { createSandboxTools, SANDBOX_SYSTEM_INSTRUCTION, SandboxEngine } from '../lib/index.js';
import { busyWorkers, gone } from './support/processes.mjs';

const spin = '() => { for (;;); }';
const textOf = (result) => result.content.map(({ text }) => text).join('\n');

describe('a tool is declared', () => {
  const f = createSandboxTools();
  const tool = f.query('data.compute').describe('Computes.').sandboxed({ timeout: 3000 })
    .withString('expression', 'a function', { max: 100 })
    .withOptionalNumber('count', 'how many', { min: 1, integer: true })
    .withBoolean('deep')
    .withEnum('order', ['up', 'down'], 'which way')
    .withOptionalArray('tags', 'string')
    .withArray('points', (p) => p.withNumber('x').withOptionalNumber('y'))
    .withOptionalObject('options', (p) => p.withString('name'), 'more')
    .handle(() => 1);

  it('has the JSON Schema of its parameters', () => {
    assert.deepEqual(tool.inputSchema, {
      type: 'object',
      properties: {
        expression: { type: 'string', maxLength: 100, description: 'a function' },
        count: { type: 'integer', minimum: 1, description: 'how many' },
        deep: { type: 'boolean' },
        order: { type: 'string', enum: ['up', 'down'], description: 'which way' },
        tags: { type: 'array', items: { type: 'string' } },
        points: {
          type: 'array',
          items: {
            type: 'object', properties: { x: { type: 'number' }, y: { type: 'number' } },
            required: ['x'], additionalProperties: false,
          },
        },
        options: {
          type: 'object', properties: { name: { type: 'string' } }, required: ['name'],
          additionalProperties: false, description: 'more',
        },
      },
      required: ['expression', 'deep', 'order', 'points'],
      additionalProperties: false,
    });
  });

  it('says how its code is written, once and after what it is for', () => {
    assert.equal(tool.description, `Computes.\n\n${SANDBOX_SYSTEM_INSTRUCTION}`);
    assert.match(SANDBOX_SYSTEM_INSTRUCTION, /^\[SANDBOX\]/);
    assert.equal(f.action('plain').describe('Does.').handle(() => 1).description, 'Does.');
  });

  it('says what its own code has, and nothing that it has not', () => {
    const of = (config) => f.query(`says${f.tools.length}`).sandboxed(config).handle(() => 1).description;
    const all = of({ fetch: ['a.example', '*.b.example'], fs: ['.'], crypto: true, env: { REGION: 'eu' } });
    assert.doesNotMatch(all, /no file system|no network/);
    assert.match(all, /there is\nno require, no import and no process\.\nawait fetch\(url\) reaches these sites and no others: a\.example, \*\.b\.example\.\n/);
    for (const said of [/fs\.readFile/, /crypto has createHash/, /env has: REGION\./]) assert.match(all, said);
    assert.match(of({ fetch: ['a.example'] }), /no process and no file system\.\nawait fetch/);
    assert.match(of({ policy: { file: { allow: ['.'] } } }), /no process and no network\.\nawait fs\.readFile/);
    for (const config of [{}, { fetch: [] }, { fs: false, env: {} }, { timeout: 5, console: false }])
      assert.equal(of(config), SANDBOX_SYSTEM_INSTRUCTION);
  });

  it('has the hints of its verb, and those that are given', () => {
    const of = (name) => f.tools.find((each) => each.name === name).annotations;
    f.mutation('drop').handle(() => 1);
    f.action('poke').annotate({ title: 'Poke', idempotentHint: true }).handle(() => 1);
    assert.deepEqual(of('data.compute'), { readOnlyHint: true });
    assert.deepEqual(of('drop'), { readOnlyHint: false, destructiveHint: true });
    assert.deepEqual(of('poke'), { title: 'Poke', idempotentHint: true });
  });

  it('may read what its environment has not yet', () => {
    f.query('later').sandboxed({ env: { KEY: { from: 'NOT_THERE_YET' } }, secrets: { KEY: { from: 'NOT_THERE_YET', sites: ['a.example'] } } })
      .annotate({ title: undefined }).handle(() => 1);
  });
});

describe('what a client sends is held against the parameters', () => {
  const f = createSandboxTools();
  f.query('t').withString('code', '', { min: 2 }).withOptionalNumber('count', '', { min: 1, max: 9, integer: true })
    .withOptionalEnum('order', ['ascending', 'descending']).withOptionalArray('list', 'number', '', { max: 2 })
    .withOptionalObject('box', (p) => p.withBoolean('open')).handle((input) => input);

  for (const [input, said] of [
    [{}, /^INVALID_ARGUMENTS: code is required\n/],
    [{ cod: 'ab' }, /code is required; cod is not a parameter: did you mean 'code'\?/],
    [{ code: 1 }, /code must be a string, not the number 1/],
    [{ code: 'a' }, /code must have at least 2 characters, and has 1/],
    [{ code: 'ab', count: '3' }, /count must be a number, not the string "3": send it without quotes/],
    [{ code: 'ab', count: 2.5 }, /count must be a whole number, not 2\.5/],
    [{ code: 'ab', count: 10 }, /count must be at most 9, not 10/],
    [{ code: 'ab', count: null }, /count must be a number, not null/],
    [{ code: 'ab', order: 'ascendin' }, /order must be one of "ascending", "descending", not the string "ascendin": did you mean "ascending"\?/],
    [{ code: 'ab', list: [1, 'x'] }, /list\[1\] must be a number, not the string "x"/],
    [{ code: 'ab', list: [1, 2, 3] }, /list must have at most 2 items, and has 3/],
    [{ code: 'ab', box: { opened: true } }, /box\.open is required; box\.opened is not a parameter: did you mean 'open'\?/],
    [{ code: 'ab', toString: 1 }, /toString is not a parameter/],
    [{ code: 'ab', __proto__: { code: 'x' } }, undefined],
    [[], /the arguments must be an object, not an array/],
  ]) {
    it(`${JSON.stringify(input)} is ${said === undefined ? 'right' : 'refused'}`, async () => {
      const result = await f.callTool('t', input);
      assert.equal(result.isError, said === undefined ? undefined : true);
      if (said !== undefined) assert.match(textOf(result), said);
    });
  }

  it('names at most so many problems', async () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`no${i}`, 1]));
    assert.match(textOf(await f.callTool('t', many)), /; and 43 more\n/);
  });

  it('counts the characters of a string as JSON Schema does', async () => {
    const g = createSandboxTools();
    g.query('t').withString('s', '', { min: 2, max: 2 }).handle(({ s }) => `${[...s].length}`);
    for (const s of ['ab', '\u{1f600}\u{1f600}', '\ud83d\ud83d', '\ude00\ud83d']) assert.equal(textOf(await g.callTool('t', { s })), '2');
    assert.match(textOf(await g.callTool('t', { s: '\u{1f600}' })), /s must have at least 2 characters, and has 1/);
    assert.match(textOf(await g.callTool('t', { s: 'a\u{1f600}b' })), /s must have at most 2 characters, and has 3/);
  });

  it('suggests the name of a tool that was meant', async () => {
    const g = createSandboxTools();
    g.query('data.compute').handle(() => 1);
    assert.match(textOf(await g.callTool('data.comptue')), /^UNKNOWN_TOOL: unknown tool "data\.comptue"\nWhat to do: Did you mean data\.compute\?/);
  });
});

describe('a handler returns', () => {
  const f = createSandboxTools();
  const returns = async (value) => {
    const name = `t${f.tools.length}`;
    f.query(name).handle(() => value);
    return f.callTool(name);
  };

  it('a value, which becomes text: strings as they are, the rest as JSON', async () => {
    assert.deepEqual(await returns('a "b"'), { content: [{ type: 'text', text: 'a "b"' }] });
    assert.deepEqual(await returns({ a: [1] }), { content: [{ type: 'text', text: '{"a":[1]}' }] });
    assert.deepEqual(await returns(undefined), { content: [{ type: 'text', text: 'undefined' }] });
  });

  it('a result of the protocol, which is passed on', async () => {
    const image = { content: [{ type: 'image', data: '', mimeType: 'image/png' }] };
    assert.equal(await returns(image), image);
  });

  it('half a character, which goes out as U+FFFD: many clients refuse a message with one', async () => {
    assert.deepEqual(await returns('a\ud83d'), { content: [{ type: 'text', text: 'a\ufffd' }] });
    assert.deepEqual(await returns({ a: '\ud83d', b: '\\ud83d' }), { content: [{ type: 'text', text: '{"a":"\ufffd","b":"\\\\ud83d"}' }] });
    const [content, error] = [[{ type: 'text', text: '\u{1f600}\ud83d' }], f.error('E', 'a\udc00').details({ 'b\udc00': 'c\udc00' })];
    assert.deepEqual(await returns({ content, structuredContent: { 'a\ud83d': ['\ud83d'] } }),
      { content: [{ type: 'text', text: '\u{1f600}\ufffd' }], structuredContent: { 'a\ufffd': ['\ufffd'] } });
    assert.deepEqual((await returns(error)).structuredContent.error, { code: 'E', message: 'a\ufffd', details: { 'b\ufffd': 'c\ufffd' } });
  });

  it('what nobody sees, which text shows and JSON and values keep', async () => {
    const [sly, seen, json] = ['\u202e\x9b\x1b\r\u{e0041}\ufff9', '\\u{202e}\\u{9b}\\u{1b}\\u{d}\\u{e0041}\\u{fff9}', '"\\u202e\\u009b"'];
    assert.equal(textOf(await returns(sly)), seen);
    assert.equal(textOf(await returns({ a: '\u202e\x9b' })), `{"a":${json}}`);
    assert.equal(textOf(await returns('{\r"a": "\u202e\x9b"\r\n}')), `{ "a": ${json}\r\n}`);
    assert.deepEqual(await returns({ content: [{ type: 'text', text: sly }], structuredContent: { sly } }),
      { content: [{ type: 'text', text: seen }], structuredContent: { sly } });
    assert.equal(textOf(await returns(f.error('E', sly).details({ sly, more: ['\u202e\x9b'] }))), `E: ${seen}\nsly: ${seen}\nmore: [${json}]`);
    const honest = '\u{1f469}\u200d\u{1f680} \u0645\u06cc\u200c\u062e \u2764\ufe0f\u200d\u{1f525} 1\ufe0f\u20e3 a\r\nb\tc';
    assert.equal(textOf(await returns(honest)), honest);
    assert.equal(textOf(await returns('a\u200db\ufe0f1\u200c\u2764\ufe0f\ufe0e')), 'a\\u{200d}b\\u{fe0f}1\\u{200c}\u2764\ufe0f\\u{fe0e}');
  });

  it('a result with contents of every type that the protocol has, or with none', async () => {
    for (const result of [
      { content: [{ type: 'text', text: 'a' }, { type: 'audio', data: 'YQ==', mimeType: 'audio/wav' }], structuredContent: { a: 1 }, isError: true },
      { content: [{ type: 'resource', resource: { uri: 'a:b', text: '' } }, { type: 'resource_link', uri: 'a:b', name: 'b' }], _meta: {}, more: 1 },
      { content: [] }, { content: [], structuredContent: { a: 1 } },
    ])
      assert.equal(await returns(result), result);
  });

  it('data with a content of its own, which is data', async () => {
    for (const data of [
      { title: 'doc', content: ['a', 'b'] }, { content: [{ type: 'paragraph', text: 'a' }] }, { content: [{ text: 'a' }] },
      { content: [{ type: 'text' }] }, { content: [{ type: 'image', data: 'a?', mimeType: 'image/png' }] }, { content: 'a' },
      { content: [{ type: 'text', text: 'a' }], isError: 'no' }, { content: [{ type: 'text', text: 'a' }, null] },
      { content: [{ type: 'resource', resource: {} }] }, { title: 'empty', content: [] }, { content: [{ type: 'toString' }] },
    ])
      assert.deepEqual(await returns(data), { content: [{ type: 'text', text: JSON.stringify(data) }] });
  });

  it('base64 with blanks in it, and a million of them that are none: looked at once', async () => {
    const image = (data) => ({ content: [{ type: 'image', data, mimeType: 'image/png' }] });
    for (const data of ['YQ= \n', 'YWI\n= ', ' YQ ==\n']) assert.deepEqual(await returns(image(data)), image(data));
    for (const data of [`${' '.repeat(2 ** 20)}!`, `YQ=${' '.repeat(2 ** 20)}!`, 'YQ = =', 'YQ==='])
      assert.equal(textOf(await returns(image(data))), JSON.stringify(image(data)));
  });

  it('nothing that JSON would lose without a word', async () => {
    const cycle = {};
    cycle.self = cycle;
    for (const [value, said] of [
      [new Map([[1, 2]]), 'is a Map'], [{ list: [new Set()] }, 'holds a Set at result.list[0]'], [() => 'the source', 'is a function'],
      [{ f() {} }, 'holds a function at result.f'], [{ n: 1n }, 'holds a BigInt at result.n'], [cycle, 'holds a cycle at result.self'],
      [Symbol('s'), 'is a symbol'], [{ content: [{ type: 'text', text: 'a' }], structuredContent: { m: new Map() } }, 'holds a Map at result.structuredContent.m'],
      [{ big: 'x'.repeat(100000), m: new Map() }, 'holds a Map at result.m'],
    ]) {
      const result = await returns(value);
      assert.equal(result.isError, true);
      assert.equal(textOf(result), `TOOL_FAILED: what the tool returned ${said}`);
    }
  });

  it('an error, in words and as data', async () => {
    const error = f.error('NOT_FOUND', 'no such thing').suggest('List first.')
      .details({ id: 7 }).details({ table: 'users' }).retryAfter(5);
    const result = await returns(error);
    assert.equal(result.isError, true);
    assert.equal(textOf(result),
      'NOT_FOUND: no such thing\nWhat to do: List first.\nid: 7\ntable: users\nTry again after 5 s.');
    assert.deepEqual(result.structuredContent, {
      error: {
        code: 'NOT_FOUND', message: 'no such thing', suggestion: 'List first.',
        details: { id: 7, table: 'users' }, retryAfter: 5,
      },
    });
    assert.equal(error.isError, true);
    assert.equal(error.content[0].type, 'text');
    assert.doesNotMatch(textOf(f.error('A', 'b').retryAfter(0).toResult()), /again/);
  });

  it('a failure of the engine, with advice that a model can follow', async () => {
    f.query('runs').sandboxed().handle(async (_, { sandbox }) => f.result(await sandbox.execute('() => fetch')));
    const said = textOf(await f.callTool('runs'));
    assert.match(said, /What to do: fetch is off: make the request outside/);
    assert.doesNotMatch(said, /option/);
    f.dispose();
  });

  it('details that JSON can hold, as they were then', async () => {
    const f = createSandboxTools();
    const list = [1];
    const error = f.error('A', 'b').details({ list });
    list.push(2);
    assert.deepEqual(error.toResult().structuredContent.error.details, { list: [1] });
    for (const wrong of [{ n: 1n }, { m: new Map() }, { f() {} }])
      assert.throws(() => f.error('A', 'b').details(wrong), (thrown) => thrown instanceof TypeError && /^details holds .* at details\.[nmf]$/.test(thrown.message));
  });

  it('or throws whatever there is: an error that is a result stays one', async () => {
    const f = createSandboxTools();
    const thrown = {
      prepared: f.error('NOT_FOUND', 'no such order').suggest('List them first.'),
      object: { code: 404, message: 'gone' },
      odd: Object.assign(new Error('x'), { message: { detail: 1 } }),
      bare: Object.create(null),
      silent: new RangeError(),
      unreadable: Object.defineProperty(new Error(), 'message', { get() { throw new Error('no'); } }),
      nothing: undefined,
    };
    for (const name of Object.keys(thrown)) f.query(name).handle(() => { throw thrown[name]; });
    const said = {};
    for (const name of Object.keys(thrown)) {
      const result = await f.callTool(name);
      assert.equal(result.isError, true, name);
      said[name] = textOf(result);
    }
    assert.deepEqual(said, {
      prepared: 'NOT_FOUND: no such order\nWhat to do: List them first.',
      object: 'TOOL_FAILED: gone',
      odd: 'TOOL_FAILED: [object Object]',
      bare: 'TOOL_FAILED: Error without a message',
      silent: 'TOOL_FAILED: RangeError without a message',
      unreadable: 'TOOL_FAILED: what was thrown cannot be read',
      nothing: 'TOOL_FAILED: undefined',
    });
  });

  it('or throws, which is an error of the tool and not of the server', async () => {
    f.query('throws').handle(() => {
      throw new Error('no database');
    });
    f.query('bigint').handle(() => 1n);
    assert.match(textOf(await f.callTool('throws')), /^TOOL_FAILED: no database$/);
    assert.match(textOf(await f.callTool('bigint')), /^TOOL_FAILED: .*BigInt/);
  });
});

describe('the context of a handler', () => {
  it('has what the application gave, the tool, the signal and what the SDK passed', async () => {
    const f = createSandboxTools({ context: async ({ tool, extra }) => ({ db: [1], who: `${extra.user} at ${tool}` }) });
    let seen;
    f.query('look').handle((_, ctx) => {
      seen = ctx;
      return 1;
    });
    const { signal } = new AbortController();
    await f.callTool('look', {}, { signal, extra: { user: 'ann' } });
    assert.deepEqual(seen, { db: [1], who: 'ann at look', tool: 'look', signal, extra: { user: 'ann' } });
  });

  it('has an instance of a class whole: methods, getters, private members', async () => {
    class App {
      #db = [1, 2];
      name = 'app';
      get size() {
        return this.#db.length;
      }
      find() {
        return this.#db[0];
      }
    }
    const context = new App();
    const f = createSandboxTools({ context });
    let keys;
    f.query('look').handle((_, ctx) => {
      keys = Object.keys(ctx);
      ctx.name = 'mine';
      return [ctx.find(), ctx.size, ctx.name, 'find' in ctx, 'other' in ctx, ctx.tool];
    });
    assert.equal(textOf(await f.callTool('look')), '[1,2,"mine",true,false,"look"]');
    assert.deepEqual(keys, ['name', 'tool', 'signal', 'extra']);
    assert.equal(context.name, 'app');
  });

  it('cannot replace the signal', async () => {
    const f = createSandboxTools({ context: { signal: 'mine' } });
    const { signal } = new AbortController();
    f.query('look').handle((_, ctx) => ctx.signal === signal);
    assert.equal(textOf(await f.callTool('look', {}, { signal })), 'true');
  });
});

describe('code runs in the engine of the tool', () => {
  const f = createSandboxTools({ context: { db: [3, 1, 2] } });
  after(() => f.dispose());
  f.query('compute').sandboxed({ timeout: 300 }).withString('code')
    .handle(async ({ code }, ctx) => f.result(await ctx.sandbox.execute(code, ctx.db)));

  it('and its value is the result', async () => {
    assert.equal(textOf(await f.callTool('compute', { code: '(db) => db.sort()' })), '[1,2,3]');
  });

  it('and what went wrong is told so that it can be repaired', async () => {
    const result = await f.callTool('compute', { code: '(db) => db.first.name' });
    assert.match(textOf(result), /^RUNTIME: TypeError: .*\nWhat to do: .*\nat: line 1, column \d+\n.*db\.first\.name/);
    assert.equal(result.structuredContent.error.code, 'RUNTIME');
  });

  it('and a time limit is told with advice', async () => {
    const result = await f.callTool('compute', { code: spin });
    assert.match(textOf(result), /^TIMEOUT: .*\nWhat to do: /);
  });

  it('whose console lines go to the sink of the tool alone', async () => {
    class Sink {
      #lines = [];
      get lines() { return this.#lines; }
      log(text) { this.#lines.push(text); }
    }
    const g = createSandboxTools();
    const sinks = [new Sink(), new Sink()];
    for (const [i, console] of sinks.entries()) {
      console.tools = g;
      g.query(`tool${i}`).sandboxed({ console })
        .handle(async (_, { sandbox }) => g.result(await sandbox.execute(`() => { console.log('of ${i}'); return ${i}; }`)));
    }
    for (const i of [0, 1]) assert.equal(textOf(await g.callTool(`tool${i}`)), String(i));
    assert.deepEqual(sinks.map(({ lines }) => lines), [['of 0'], ['of 1']]);
    g.dispose();
  });

  it('whose options are checked as those of any engine', async () => {
    const g = createSandboxTools();
    const own = g.sandbox();
    const calls = [
      [(sandbox) => sandbox.execute('() => 1', 1, { timeout: 5 }), /options\.timeout is not an option/],
      [(sandbox) => sandbox.execute('() => 1', 1, 5), /options must be an object/],
      [(sandbox) => sandbox.execute('() => 1', 1, { signal: {} }), /signal must be an AbortSignal/],
      [(sandbox) => sandbox.run('() => 1'), /options must be an object/],
    ];
    let call;
    g.query('a').sandboxed().handle((_, ctx) => call(ctx.sandbox));
    for (const [each, message] of calls) {
      call = each;
      await assert.rejects(each(own), { name: 'TypeError', message });
      assert.match(textOf(await g.callTool('a', {}, { signal: new AbortController().signal })), message);
    }
    own.dispose();
    g.dispose();
  });

  it('which tools of the same configuration share, and dispose() ends', async () => {
    const g = createSandboxTools();
    const run = async (_, ctx) => (await ctx.sandbox.execute('() => 1')).callId.split('-')[0];
    g.query('a').sandboxed({ timeout: 500, memoryLimit: 64 }).handle(run);
    g.query('b').sandboxed({ memoryLimit: 64, timeout: 500 }).handle(run);
    g.query('c').sandboxed({ timeout: 501 }).handle(run);
    g.query('late').sandboxed().handle(async (_, ctx) => (await ctx.sandbox.execute('() => 1')).code);
    const [a, b, c] = [textOf(await g.callTool('a')), textOf(await g.callTool('b')), textOf(await g.callTool('c'))];
    assert.equal(a, b);
    assert.notEqual(a, c);
    g.dispose();
    assert.equal(textOf(await g.callTool('late')), 'UNAVAILABLE');
  });
});

describe('a request that is aborted', () => {
  const f = createSandboxTools();
  const own = f.sandbox({ timeout: 60000 });
  after(() => {
    f.dispose();
    own.dispose();
  });
  const cases = {
    'the engine of the tool': async (ctx) => ctx.sandbox.execute(spin),
    'run() of it': async (ctx) => ctx.sandbox.run({ code: spin }),
    'an engine of f.sandbox(), which was not given the signal': async () => own.execute(spin),
    'the same with a signal of its own': async () => own.execute(spin, null, { signal: new AbortController().signal }),
  };

  for (const [title, use] of Object.entries(cases)) {
    it(`kills the process of ${title}`, async () => {
      const name = `t${f.tools.length}`;
      let code;
      f.query(name).sandboxed({ timeout: 60000 }).handle(async (_, ctx) => {
        code = (await use(ctx)).code;
      });
      const request = new AbortController();
      const called = f.callTool(name, {}, { signal: request.signal });

      const busy = await busyWorkers(process.pid);
      request.abort();
      await called;
      assert.equal(code, 'ABORTED');
      await gone(busy);
    });
  }

  it('that was aborted before runs nothing', async () => {
    f.query('before').sandboxed({ timeout: 777 }).handle(async (_, ctx) => (await ctx.sandbox.execute('() => 1')).code);
    assert.equal(textOf(await f.callTool('before', {}, { signal: AbortSignal.abort() })), 'ABORTED');
  });

  it('leaves engines of others alone', async () => {
    f.query('one').handle(async () => (await own.execute('() => 1')).ok);
    const request = new AbortController();
    const other = own.execute('async () => { await sleep(50); return 2; }');
    await f.callTool('one', {}, { signal: request.signal });
    request.abort();
    assert.equal((await other).value, 2);
  });

  it('has one listener on its signal, however many calls with signals of their own it makes', async () => {
    const { signal } = new AbortController();
    let listeners;
    f.query('many').handle(async () => {
      const made = Array.from({ length: 12 }, () => own.execute('() => 1', null, { signal: new AbortController().signal }));
      listeners = getEventListeners(signal, 'abort').length;
      return (await Promise.all(made)).every(({ ok }) => ok);
    });
    assert.equal(textOf(await f.callTool('many', {}, { signal })), 'true');
    assert.equal(listeners, 1);
  });

  it('leaves no listener on its signal', async () => {
    let listening = 0;
    const { signal } = new AbortController();
    for (const [method, step] of [['addEventListener', 1], ['removeEventListener', -1]]) {
      const original = signal[method].bind(signal);
      signal[method] = (...args) => {
        listening += step;
        return original(...args);
      };
    }
    f.query('listeners').handle(async () => (await own.execute('() => 1', null, { signal: new AbortController().signal })).ok);
    assert.equal(textOf(await f.callTool('listeners', {}, { signal })), 'true');
    assert.equal(listening, 0);
  });

  it('f.sandbox() is a SandboxEngine', () => {
    assert.ok(own instanceof SandboxEngine);
  });
});

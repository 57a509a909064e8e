// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';

import { argumentsOf, CALLS_MAX, check, groups, OUTPUT_BYTES, SLEEP_MS, tools as table } from '../../tests/mcp/code-cases.mjs';
import { createCodeMode, createSandboxTools } from '../lib/index.js';
import { connect, sdks } from './support/sdk.mjs';
import { busyWorkers, gone, until } from './support/processes.mjs';

/* The table that `glovebox mcp` is tested with, too. */
const same = createCodeMode({ servers: { up: table }, maxCalls: CALLS_MAX, sleepMs: SLEEP_MS, maxOutputBytes: OUTPUT_BYTES });
for (const [group, rows] of Object.entries(groups))
  describe(`as in the command: ${group}`, () => {
    for (const row of rows) it(row[0].slice(0, 100), async () => check(row, await same.handler(argumentsOf(row))));
  });

const textOf = (result) => result.content.map(({ text }) => text).join('\n');

let begun = 0, aborted = 0;
const shop = {
  list: {
    description: 'Lists orders. There are many.',
    inputSchema: { type: 'object', properties: { page: { type: 'integer' }, state: { enum: ['open', 'done'] } }, required: ['page'] },
    handler: ({ page }) => [1, 2, 3].map((n) => ({ id: page * 10 + n, total: n * 5 })),
  },
  total: ({ ids }) => ids.length * 5,
  fail() {
    throw new Error('no stock');
  },
  wait: (_, { signal }) => new Promise((resolve) => {
    begun++;
    signal.addEventListener('abort', () => {
      aborted++;
      resolve();
    });
  }),
};
const mail = createSandboxTools();
mail.action('send').describe('Sends a letter.').withString('to').withOptionalString('text').handle(({ to }) => ({ sent: to }));

const mode = createCodeMode({
  servers: { shop, 'mail-box': mail }, callTimeoutMs: 5000,
  allow: ({ tool, args }) => tool !== 'send' || args.to !== 'boss' || 'not to the boss',
});
after(() => {
  same.dispose();
  mode.dispose();
  mail.dispose();
});

const result = async (code, options) => {
  const outcome = await mode.run(code, options);
  assert.ok(outcome.ok, outcome.error?.message);
  return outcome.result;
};

describe('code calls tools', () => {
  it('whose results lack a member that it reads: the hint names it, and the one that is meant', async () => {
    const read = 'const all = await servers.shop.list({ page: 1 });';
    const hint = "no result of a call has 'Total' (line 1): did you mean 'total'?";
    for (const use of ['all.reduce((sum, order) => sum + order.Total, 0)', 'all.filter((order) => order.Total > 5)', 'all[0].Total'])
      assert.equal((await mode.run(`${read} return ${use}`)).hint, hint, use);
    assert.match(textOf(await mode.handler({ code: `${read} return all[0].Total ?? null` })), /^null\nWhat to do: no result of a call has 'Total'/);
    for (const use of ['all.filter((order) => order.total > 500)', 'all.filter((order) => !order.Total)'])
      assert.equal((await mode.run(`${read} return ${use}`)).hint, undefined, use);
  });

  it('by call(), by name, together, and of servers with any name', async () => {
    assert.equal(await result('return (await servers.shop.call("list", { page: 1 })).length'), 3);
    assert.deepEqual(await result(`
      const pages = await Promise.all([1, 2].map((page) => servers.shop.list({ page })));
      const ids = pages.flat().filter((order) => order.total > 5).map((order) => order.id);
      return { ids, total: await servers.shop.total({ ids }) };`), { ids: [12, 13, 22, 23], total: 20 });
    assert.deepEqual(await result('return [await servers["mail-box"].send({ to: "a" }), await servers.mail_box.call("send", { to: "b" })]'),
      [{ sent: 'a' }, { sent: 'b' }].map((each) => each));
  });

  it('and get what the tool returned, nothing and numbers included', async () => {
    const own = createSandboxTools();
    const returned = { none: undefined, three: 3, zero: null, no: false, text: '3', list: [1] };
    for (const [name, value] of Object.entries(returned)) own.query(name).handle(() => value);
    const functions = Object.fromEntries(Object.entries(returned).map(([name, value]) => [name, () => value]));
    const both = createCodeMode({ servers: { own, functions } });
    const code = `const got = [];
for (const server of [servers.own, servers.functions])
  for (const name of ${JSON.stringify(Object.keys(returned))}) {
    const value = await server.call(name, {});
    got.push(value === undefined ? 'nothing' : value);
  }
got.push(await servers.own.call('three', {}, { raw: true }));
return got`;
    const once = ['nothing', 3, null, false, '3', [1]];
    assert.deepEqual((await both.run(code)).result, [...once, ...once, { content: [{ type: 'text', text: '3' }] }]);
    both.dispose();
    own.dispose();
  });

  it('as many at once as may be, without a warning of the process', async () => {
    const warnings = [];
    const hear = (warning) => warnings.push(warning.message);
    process.on('warning', hear);
    const slow = createCodeMode({ servers: { a: { slow: () => new Promise((resolve) => setTimeout(resolve, 20, 1)) } } });
    const { result } = await slow.run('return (await Promise.all(Array.from({ length: 16 }, () => servers.a.slow({})))).length');
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', hear);
    slow.dispose();
    assert.equal(result, 16);
    assert.deepEqual(warnings, []);
  });

});

describe('a call that fails is a ToolError in the code', () => {
  const caught = (call) => result(`try { await ${call} } catch (e) {
    return [e.name, e instanceof ToolError, e.server, e.tool, e.code, e.message, e.retryable]; }`);

  it('one that is not allowed', async () => assert.deepEqual(await caught('servers["mail-box"].send({ to: "boss" })'),
    ['ToolError', true, 'mail-box', 'send', 'DENIED', 'not to the boss', false]));

  it('an answer that JSON cannot hold, and the call counts as failed', async () => {
    const cycle = {};
    cycle.self = cycle;
    const answers = { map: { rows: [new Map()] }, bigint: 1n, func: () => 1, cycle, large: { text: 'x'.repeat(300000), f() {} } };
    const odd = createCodeMode({ servers: { odd: Object.fromEntries(Object.entries(answers).map(([name, value]) => [name, () => value])) } });
    const { result: seen, calls } = await odd.run(`const seen = [];
      for (const name of ${JSON.stringify(Object.keys(answers))})
        try { await servers.odd.call(name, {}); } catch (e) { seen.push([e.code, e.server, e.tool, e.message]); }
      return seen;`);
    assert.deepEqual(seen, [
      ['TOOL_ERROR', 'odd', 'map', 'the answer of odd.map holds a Map at answer.rows[0]'],
      ['TOOL_ERROR', 'odd', 'bigint', 'the answer of odd.bigint is a BigInt'],
      ['TOOL_ERROR', 'odd', 'func', 'the answer of odd.func is a function'],
      ['TOOL_ERROR', 'odd', 'cycle', 'the answer of odd.cycle holds a cycle at answer.self'],
      ['TOOL_ERROR', 'odd', 'large', 'the answer of odd.large holds a function at answer.f'],
    ]);
    assert.deepEqual(calls.map(({ tool, ok, code }) => [tool, ok, code]), seen.map(([code, , tool]) => [tool, false, code]));
    odd.dispose();
  });

  it('whatever a tool throws', async () => {
    const thrown = [undefined, { message: Object.create(null) }, Object.create(null), { get message() { throw new Error('unseen'); } }];
    const odd = createCodeMode({ servers: { odd: { fail: ({ i }) => { throw thrown[i]; } } } });
    const { result: seen } = await odd.run(`const seen = [];
      for (let i = 0; i < 4; i++) try { await servers.odd.fail({ i }); } catch (e) { seen.push(e.code); }
      return seen;`);
    assert.deepEqual(seen, Array(4).fill('TOOL_ERROR'));
    odd.dispose();
  });

  it('a failure that is only structured', async () => {
    const client = {
      listTools: async () => ({ tools: [] }),
      callTool: async () => ({ content: [], structuredContent: { error: 'quota exceeded' }, isError: true }),
    };
    const over = createCodeMode({ servers: { client } });
    const { result } = await over.run('try { await servers.client.x({}) } catch (e) { return [e.code, e.message] }');
    assert.deepEqual(result, ['TOOL_ERROR', '{"error":"quota exceeded"}']);
    over.dispose();
  });

  it('one that is long, its end included', async () => {
    const rows = Array.from({ length: 1000 }, (_, i) => `row ${i}`);
    const client = {
      listTools: async () => ({ tools: [] }),
      callTool: async () => ({ content: [], structuredContent: { rows, cause: 'the cause' }, isError: true }),
    };
    const over = createCodeMode({ servers: { client } });
    const { result } = await over.run('try { await servers.client.x({}) } catch (e) { return e.message }');
    assert.equal(result, JSON.stringify({ rows, cause: 'the cause' }));
    const { error } = await over.run('await servers.client.x({})');
    assert.match(error.message, /^.*"row 0".* \[\.\.\. \d+ characters \.\.\.\] .*"the cause"\}$/);
    over.dispose();
  });

});

describe('arguments are held against the schema of the tool', () => {
  const { inputSchema } = shop.list;
  const asked = [], got = [];
  const handler = (args) => got.push(args);
  const own = createSandboxTools();
  own.query('list').withNumber('page', 'which', { integer: true }).withOptionalEnum('state', ['open', 'done']).handle(handler);
  const strict = createCodeMode({
    servers: {
      own, functions: { list: { inputSchema: { ...inputSchema, additionalProperties: false }, handler } },
      deep: { put: { handler, inputSchema: { $defs: { id: { type: ['integer', 'null'], minimum: 1 } }, type: 'object', properties: {
        rows: { type: 'array', maxItems: 2, items: { type: 'object', required: ['id'], properties: { id: { $ref: '#/$defs/id' } } } },
        either: { anyOf: [{ type: 'string', minLength: 2 }, { type: 'object', required: ['name'] }] },
        all: { allOf: [{ minimum: 2 }, { exclusiveMaximum: 5 }] }, kind: { const: 'a' }, more: { additionalProperties: { type: 'boolean' } },
      } } } },
    },
    allow: ({ args }) => asked.push(args) > 0,
  });
  after(() => strict.dispose());
  const refused = async (call) => (await strict.run(`await servers.${call}`)).error;

  for (const server of ['functions', 'own'])
    for (const [args, message] of [
      ['{}', 'page is required'],
      ['{ page: "1" }', 'page must be a number, not the string "1": send it without quotes'],
      ['{ page: 1.5, state: "opne" }', 'page must be a whole number, not 1.5; state must be one of "open", "done", not the string "opne": did you mean "open"?'],
      ['{ page: 1, stat: "open" }', "stat is not a parameter: did you mean 'state'?"],
    ]) it(`of ${server}: ${args}`, async () => {
      const { code, message: said } = await refused(`${server}.list(${args})`);
      assert.deepEqual([code, said], ['INVALID_ARGS', message]);
    });

  for (const [args, message] of [
    ['{ rows: [{ id: 1 }, {}] }', 'rows[1].id is required'],
    ['{ rows: [{ id: 0 }] }', 'rows[0].id must be at least 1, not 0'],
    ['{ rows: [{ id: "x" }] }', 'rows[0].id must be a number or null, not the string "x"'],
    ['{ rows: [{ id: null }, { id: 1 }, { id: 2 }] }', 'rows must have at most 2 items, and has 3'],
    ['{ either: "a" }', 'either must have at least 2 characters, and has 1'],
    ['{ either: {} }', 'either must be a string, not an object'],
    ['{ all: 5 }', 'all must be less than 5, not 5'],
    ['{ kind: "b" }', 'kind must be "a", not the string "b"'],
    ['{ more: { a: true, b: 1 } }', 'more.b must be true or false, not the number 1'],
  ]) it(`in depth: ${args}`, async () => assert.equal((await refused(`deep.put(${args})`)).message, message));

  it('before anybody is asked and anything is called; what fits gets there', async () => {
    assert.deepEqual([asked, got], [[], []]);
    const fits = [['functions.list', { page: 1, state: 'open' }], ['own.list', { page: 2 }],
      ['deep.put', { rows: [{ id: null }], either: { name: 1 }, all: 2, kind: 'a', more: { a: true }, other: 1 }]];
    for (const [call, args] of fits) assert.equal(await refused(`${call}(${JSON.stringify(args)})`), undefined);
    assert.deepEqual(got, fits.map(([, args]) => args));
    assert.equal(asked.length, 3);
  });
});

describe('a run says what it did', () => {
  it('calls with their lines, logs, artifacts and cost', async () => {
    const outcome = await mode.run(`console.log('one'); console.warn('two');
      await servers.shop.total({ ids: [] });
      await artifact('report.json', { a: 1 });
      await artifact('raw', new Uint8Array([1, 2]), 'application/x-raw');
      const held = Array.from({ length: 200000 }, (_, i) => ({ i }));
      return held[1].i`);
    assert.deepEqual(outcome.logs.map(({ level, text }) => [level, text]), [['log', 'one'], ['warn', 'two']]);
    assert.deepEqual(outcome.calls.map(({ tool, line, ok }) => [tool, line, ok]), [['total', 2, true]]);
    assert.deepEqual(outcome.artifacts[0], { name: 'report.json', mimeType: 'application/json', bytes: 7, value: { a: 1 } });
    assert.deepEqual([...outcome.artifacts[1].value], [1, 2]);
    assert.equal(outcome.artifacts[1].mimeType, 'application/x-raw');
    assert.equal(outcome.usage.calls, 1);
    assert.ok(outcome.usage.wallMs > 0 && outcome.usage.memoryBytes > 0);
  });

  it('artifacts of any name, each at its own address', async () => {
    const outcome = await mode.run(`const uris = [];
      for (const name of ['a\\ud800', 'b c', 'b c']) uris.push((await artifact(name, 1)).uri);
      return uris;`);
    assert.deepEqual(outcome.result, ['artifact://a%EF%BF%BD', 'artifact://b%20c', 'artifact://b%20c/2']);
    assert.deepEqual(outcome.artifacts.map(({ name }) => name), ['a\ufffd', 'b c', 'b c']);
  });

  it('images that it shows', async () => {
    const outcome = await mode.run(`await artifact('a', { b: [1] });
      await show(await artifact('i', new Uint8Array([137, 80]), 'image/png'));`);
    assert.deepEqual(outcome.artifacts.map(({ isShown }) => isShown === true), [false, true]);
  });

  it('progress that only ever grows, whatever the figures', async () => {
    const seen = [];
    await mode.handler({ code: 'progress(1e308, "a"); progress(5, "b"); progress(2, "c"); progress(2 ** 52, "d"); await sleep(1)' }, {
      _meta: { progressToken: 1 },
      sendNotification: async ({ params }) => seen.push(params.progress),
    });
    assert.deepEqual(seen, [1, 5, 6, 7]);
  });

  it('progress that begins with nothing done, and a total only beside its own figure', async () => {
    const seen = [];
    await mode.handler({ code: 'for (let i = 0; i < 3; i++) progress(i, 3, "a"); progress(1, 3, "b"); progress(-1, 3, "c"); await sleep(1)' }, {
      _meta: { progressToken: 1 },
      sendNotification: async ({ params }) => seen.push([params.progress, params.total]),
    });
    assert.deepEqual(seen, [[0, 3], [1, 3], [2, 3], [3, undefined], [4, undefined]]);
  });

  it('progress, while it runs', async () => {
    const seen = [];
    await mode.run('progress(1, 2, "half"); progress("words"); await sleep(1)', { onProgress: (p) => seen.push(p) });
    assert.deepEqual(seen, [{ progress: 1, total: 2, message: 'half' }, { progress: undefined, total: undefined, message: 'words' }]);
  });
});

describe('a run is bounded', () => {
  it('in calls, in all and at once', async () => {
    let now = 0, most = 0, full;
    const isFull = new Promise((resolve) => { full = resolve; });
    const few = createCodeMode({
      servers: { s: { async slow() {
        most = Math.max(most, ++now);
        if (now === 3) full();
        await isFull; // requests come one by one where the machine is busy
        for (let i = 0; i < 20; i++) await new Promise(setImmediate); // for a fourth to come
        now--;
      } } },
      maxCalls: 10, maxCallsAtOnce: 3,
    });
    const { error, calls } = await few.run('await Promise.all(Array.from({ length: 11 }, () => servers.s.slow()))');
    assert.equal(error.code, 'CALL_LIMIT');
    assert.equal(calls.length, 10);
    assert.equal(most, 3);
    few.dispose();
  });

  it('in what it asks servers for: their list once, and a few times where it fails', async () => {
    let lists = 0, failed = 0;
    const client = (listTools) => ({ listTools, callTool: async () => ({ content: [] }) });
    const asked = createCodeMode({ servers: {
      s: client(async () => {
        lists++;
        return { tools: [{ name: 't', inputSchema: { type: 'object' } }] };
      }),
      bad: client(async () => {
        failed++;
        throw new Error('not now');
      }),
    } });
    const outcome = await asked.run(`
      const found = await Promise.all(Array.from({ length: 200 }, (_, i) =>
        i % 2 === 0 ? discover('t', { server: 's' }) : servers.s.tools()));
      let none = 0;
      for (let i = 0; i < 20; i++) await servers.bad.tools().catch(() => none++);
      return [found.length, found.every((tools) => tools.length === 1), none];`);
    assert.deepEqual(outcome.result, [200, true, 20]);
    assert.equal(lists, 1);
    assert.equal(failed, 5);
    assert.equal((await asked.run('return (await discover("t")).length')).result, 1);
    assert.equal(lists, 2);
    asked.dispose();
  });

  it('in what it returns, and the tool says what was cut', async () => {
    const small = createCodeMode({ servers: { shop }, maxTextCharacters: 1000, maxOutputBytes: 20000 });
    const long = await small.handler({ code: 'return "a".repeat(9000) + "z"' });
    assert.match(textOf(long), /^\[cut: characters 751 to 8751 of 9001 are left out; return less\]\na{750}\n\[\.\.\.\]\na+z\n/);
    assert.equal(long.structuredContent.truncated, true);
    assert.equal('result' in long.structuredContent, false);
    assert.match(textOf(await small.handler({ code: 'return "a".repeat(30000)' })), /^OUTPUT_TOO_LARGE: /);
    small.dispose();
  });

  it('and what nobody awaited is ended with its time, down to the tool', async () => {
    const before = aborted;
    const outcome = await mode.run('servers.shop.wait({}); await sleep(1); return 1', { timeoutMs: 900 });
    await new Promise(setImmediate);
    assert.deepEqual([outcome.ok, outcome.result, outcome.error.code], [false, 1, 'CANCELLED']);
    assert.equal(aborted, before + 1);
    assert.equal(outcome.calls[0].ok, false);
  });

  it('by its signal, down to the tool and the process', async () => {
    const before = { begun, aborted };
    const run = new AbortController();
    const running = mode.run('servers.shop.wait({}); for (;;);', { signal: run.signal });
    const waiting = mode.run('await servers.shop.wait({})', { signal: run.signal });
    const busy = await busyWorkers(process.pid);
    await until(() => begun > before.begun, 'the call of the one that waits');
    run.abort();
    assert.equal((await running).error.code, 'ABORTED');
    assert.equal((await waiting).error.code, 'ABORTED');
    await gone(busy);
    assert.ok(aborted > before.aborted);
  });

  it('and knows its own calls, however many run at once', async () => {
    const own = createCodeMode({ servers: { s: { echo: ({ n }) => n } } });
    const outcomes = await Promise.all(Array.from({ length: 10 }, (_, n) =>
      own.run('for (let i = 0; i <= input; i++) await servers.s.echo({ n: input }); return await servers.s.echo({ n: input })', { input: n })));
    assert.deepEqual(outcomes.map((each) => [each.result, each.calls.length]), Array.from({ length: 10 }, (_, n) => [n, n + 2]));
    own.dispose();
  });
});

describe('the tool', () => {
  it('is described with the servers, and with their tools once they are known', async () => {
    const one = createCodeMode({ servers: { shop: { list: shop.list }, 'mail-box': mail }, name: 'script' });
    assert.match(one.definition.description, /Servers: shop, mail-box\. Find their tools with discover/);
    assert.equal(await one.prepare(), one);
    assert.match(one.definition.description, /servers\.shop\.call\("list", \{ page: number; state\?: "open" \| "done" \}\) \/\/ Lists orders/);
    assert.match(one.definition.description, /servers\["mail-box"\]\.call\("send", \{ to: string; text\?: string \}\) \/\/ Sends a letter/);
    assert.equal(one.definition.name, 'script');
    assert.deepEqual(one.definitions, [one.definition]);
    assert.equal(one.definition.description, one.definition.description);
    one.dispose();
  });

  it('lists servers and how many tools they have, where those are too many', async () => {
    const toolsOf = (count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`tool_${i}_with_a_name`,
      { inputSchema: { type: 'object', properties: { argument: { type: 'string' } } }, handler: () => 1 }]));
    const some = await createCodeMode({ servers: { some: toolsOf(60) } }).prepare();
    assert.match(some.definition.description, /\nservers\.some: tool_0_with_a_name, tool_1_with_a_name, .*\nFind the arguments of tools with discover/);
    some.dispose();
    const tools = toolsOf(400);
    const many = await createCodeMode({ servers: { many: tools } }).prepare();
    assert.match(many.definition.description, /Servers: many \(400 tools\)/);
    assert.ok(many.definition.description.length < 3000);
    many.dispose();
  });

  it('is described by all that the schemas of tools are made of', async () => {
    const object = (properties, more) => ({ type: 'object', properties, ...more });
    const string = { type: 'string' };
    const schemas = {
      choice: object({ id: string }, { required: ['id'], oneOf: [object({ a: string }), object({ b: string })] }),
      all: { allOf: [object({ a: string }), object({ b: string })], anyOf: [object({ c: string }), object({ d: string })] },
      split: object({ s: { type: 'string', anyOf: [{ format: 'uuid' }, { format: 'email' }] } }),
    };
    const tools = Object.entries(schemas).map(([name, inputSchema]) => ({ name, inputSchema }));
    const client = { listTools: async () => ({ tools }), callTool: async () => ({ content: [] }) };
    const made = await createCodeMode({ servers: { up: client } }).prepare();
    const { description } = made.definition;
    made.dispose();
    assert.ok(description.includes('call("choice", { id: string } & ({ a?: string } | { b?: string }))'));
    assert.ok(description.includes('call("all", { a?: string } & { b?: string } & ({ c?: string } | { d?: string }))'));
    assert.ok(description.includes('call("split", { s?: string })'));
  });

  it('is described whatever servers say of their tools', async () => {
    let deep = { type: 'string' };
    for (let i = 0; i < 20000; i++) deep = { anyOf: [deep] };
    const object = { type: 'object', properties: {} };
    for (let i = 0; i < 20000; i++) object.properties[`p${i}`] = { enum: Array(i % 50).fill('x') };
    const odd = [
      null, 7, {}, { name: 5 }, { name: 'a', description: 5, inputSchema: 'x' }, { name: 'b', inputSchema: { properties: { deep } } },
      { name: 'c', description: '. '.repeat(50000), inputSchema: object }, { name: 'd', inputSchema: { properties: 1, required: 'x', type: ['object', 5] } },
      { name: 'e".call()', inputSchema: { properties: null } },
    ];
    const client = { listTools: async () => ({ tools: odd }), callTool: async () => ({ content: 7, isError: true }) };
    const hostile = await createCodeMode({ servers: { hostile: client } }).prepare();
    assert.match(hostile.definition.description, /servers\.hostile\.call\("a", args\)\n.*call\("b", \{ deep\?: unknown /);
    assert.ok(hostile.definition.description.length < 8000);
    const outcome = await hostile.run('try { await servers.hostile.a() } catch (e) { return [e.code, e.message] }');
    assert.deepEqual(outcome.result, ['TOOL_ERROR', 'the tool failed and did not say why']);
    /* A schema that no JSON can be made of fails that call, and nothing else. */
    assert.match((await hostile.run('return (await discover("b")).length')).error.message, /the answer of 'discover' is nested too deeply/);
    assert.deepEqual((await hostile.run('return (await discover("", { tool: "a" })).map((found) => found.tool)')).result, ['a']);
    hostile.dispose();
  });

  it('answers with the value, the log, and what it cost', async () => {
    const answer = await mode.handler({ code: 'console.log("x"); return { n: await servers.shop.total({ ids: [1] }) }' });
    assert.match(textOf(answer), /^\{"n":5\}\nLog:\nx\n\[1 call, \d+ ms, \d+\.\d MB\]$/);
    assert.deepEqual(answer.structuredContent.result, { n: 5 });
    assert.equal(answer.isError, false);
    assert.equal((await mode.handler({ code: 'return "\u{1f600}".slice(1)' })).structuredContent.result, '\ufffd');
    assert.match(textOf(await mode.handler({ code: 'return ["\u{1f600}".slice(1)]' })), /^\["\ufffd"\]\n/);
    assert.match(textOf(await mode.handler({ code: 'console.log(1)' })), /^No value was returned; 1 log line\./);
  });

  it('answers an error with what to repair, and which calls took effect', async () => {
    const answer = await mode.handler({ code: 'await servers["mail-box"].send({ to: "x" });\nawait servers.shop.fail()' });
    assert.equal(answer.isError, true);
    assert.match(textOf(answer), /^TOOL_ERROR: ToolError: no stock \(line 2, column \d+\)\n/);
    assert.match(textOf(answer), /Calls that took effect: mail-box\.send\.\nCalls that failed: shop\.fail \(TOOL_ERROR\)\./);
  });

  it('answers arguments that are wrong in words', async () => {
    for (const [input, said] of [
      [undefined, /must be an object/], [{}, /code must be a string/], [{ code: 1 }, /code must be a string/],
      [{ code: '1', timeout_ms: 'x' }, /timeout_ms must be a number from 1 to 120000/], [{ code: '1', cod: 2 }, /unknown argument "cod"/],
    ]) {
      const answer = await mode.handler(input);
      assert.equal(answer.isError, true);
      assert.match(textOf(answer), said);
    }
  });

  it('may have minimal globals: servers, sleep and console work, and little else is there', async () => {
    const small = createCodeMode({ servers: { sqlite: { query: ({ sql }) => [{ sql }] } }, globals: 'minimal', sleepMs: 20 });
    const { result, logs } = await small.run(`
      const rows = await servers.sqlite.call('query', { sql: 'SELECT 1' });
      await sleep(2000);
      console.log('Found', rows.length, 'items');
      return [rows, typeof setTimeout, typeof setInterval, typeof globalThis, typeof URL, typeof Symbol, typeof Reflect];`);
    small.dispose();
    assert.deepEqual(result, [[{ sql: 'SELECT 1' }], 'function', ...Array(5).fill('undefined')]);
    assert.deepEqual(logs.map(({ text }) => text), ['sleep(2000) ends after 20 ms, the limit of one sleep', 'Found 1 items']);
  });

  it('has functions of Node.js only where that is said to be unsafe', () => {
    createCodeMode({ servers: { host: { exit: process.exit } }, unsafe: true }).dispose();
  });
});

for (const sdk of sdks) {
  describe(`servers that are clients of ${sdk.name}`, async () => {
    const server = new sdk.McpServer({ name: 'upstream', version: '1' });
    let waiting = 0, cancelled = 0;
    const tools = createSandboxTools();
    tools.query('add').describe('Adds.').withNumber('a').withNumber('b').handle(({ a, b }) => ({ sum: a + b }));
    tools.query('fail').handle(() => tools.error('NO_STOCK', 'nothing left'));
    tools.query('image').handle(() => ({ content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] }));
    tools.query('structured').handle(() => ({ content: [{ type: 'text', text: 'words' }], structuredContent: { n: 1 } }));
    tools.query('wait').handle((_, { signal }) => new Promise((resolve) => {
      waiting++;
      signal.addEventListener('abort', () => {
        cancelled++;
        resolve('ended');
      });
    }));
    tools.register(server);
    const client = await connect(sdk, server);
    const over = createCodeMode({ servers: { up: client } });
    after(() => {
      over.dispose();
      return client.close();
    });
    const value = async (code) => {
      const outcome = await over.run(code);
      assert.ok(outcome.ok, outcome.error?.message);
      return outcome.result;
    };

    it('are called, and give structured content, parsed JSON, or what there is', async () => {
      assert.deepEqual(await value('return await servers.up.add({ a: 1, b: 2 })'), { sum: 3 });
      assert.deepEqual(await value('return await servers.up.structured({})'), { n: 1 });
      assert.deepEqual(await value('return await servers.up.image({})'), [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }]);
      assert.equal((await value('return await servers.up.call("add", { a: 1, b: 2 }, { raw: true })')).content[0].text, '{"sum":3}');
    });

    it('fail with what they said', async () => {
      assert.deepEqual(await value('try { await servers.up.fail({}) } catch (e) { return [e.code, e.message] }'), ['TOOL_ERROR', 'NO_STOCK: nothing left']);
      assert.match((await over.run('await servers.up.add({ a: 1 })')).error.message, /b is required/);
    });

    it('list their tools, also for the description', async () => {
      assert.deepEqual(await value('return (await servers.up.tools("adds")).map((tool) => tool.name)'), ['add']);
      await over.prepare();
      assert.match(over.definition.description, /servers\.up\.call\("add", \{ a: number; b: number \}\) \/\/ Adds/);
    });

    it('hear of it when the run is aborted, and when a call takes too long', async () => {
      const run = new AbortController();
      const running = over.run('await servers.up.wait({})', { signal: run.signal });
      await until(() => waiting === 1, 'the tool was called');
      run.abort();
      assert.equal((await running).error.code, 'ABORTED');
      await until(() => cancelled === 1, 'the tool was cancelled');

      const late = await over.run('try { await servers.up.call("wait", {}, { timeoutMs: 60 }) } catch (e) { return [e.code, e.retryable] }');
      assert.deepEqual(late.result, ['UPSTREAM_TIMEOUT', true]);
      await until(() => cancelled === 2, 'the tool was cancelled');
    });

    it('are unavailable when they have gone', async () => {
      const other = new sdk.McpServer({ name: 'gone', version: '1' });
      tools.register(other);
      const left = await connect(sdk, other);
      const alone = createCodeMode({ servers: { left } });
      await left.close();
      const { result: seen } = await alone.run('try { await servers.left.add({ a: 1, b: 1 }) } catch (e) { return e.name }');
      assert.equal(seen, 'ToolError');
      await alone.prepare();
      assert.match(alone.definition.description, /Servers: left\./);
      alone.dispose();
    });

    it('serve a tool of a server themselves: definition and handler', async () => {
      const front = new sdk.Server({ name: 'front', version: '1' }, { capabilities: { tools: {} } });
      sdk.onList(front, () => ({ tools: over.definitions }));
      sdk.onCall(front, ({ params }, extra) => over.handler(params.arguments, extra));
      const user = await connect(sdk, front);
      const progress = [];
      const answer = await sdk.call(user, { name: 'execute', arguments: { code: 'progress(1, 2, "half"); await sleep(5); return (await servers.up.add({ a: 2, b: 2 })).sum' } },
        { onprogress: (p) => progress.push(p) });
      assert.match(textOf(answer), /^4\n/);
      assert.deepEqual(progress.map(({ progress: n, total, message }) => [n, total, message]), [[1, 2, 'half']]);

      const request = new AbortController();
      const spinning = assert.rejects(sdk.call(user, { name: 'execute', arguments: { code: 'for (;;);' } }, { signal: request.signal }));
      const busy = await busyWorkers(process.pid);
      request.abort();
      await spinning;
      await gone(busy);
      await user.close();
    });
  });
}

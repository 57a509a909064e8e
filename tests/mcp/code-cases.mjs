// SPDX-License-Identifier: MIT
// code-cases: what models write in code mode, and what they get: one table for `glovebox mcp`
// (codemode.test.mjs) and for createCodeMode() of the Node package.
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';

/** The tools of the server `up`; over stdio they are code-upstream.mjs. */
export const tools = {
  list_orders: {
    description: 'Lists orders. There are many.',
    inputSchema: { type: 'object', properties: { page: { type: 'integer' }, state: { enum: ['open', 'done'] } }, required: ['page'] },
    annotations: { readOnlyHint: true },
    handler: ({ page }) => ({ items: [1, 2, 3].map((n) => ({ id: page * 10 + n, total: n * 5 })) }),
  },
  echo: { description: 'Gives its arguments back.', handler: (args) => args },
  fail: { description: 'Fails.', handler: ({ why = 'no stock' }) => { throw new Error(why); } },
  change: { description: 'Changes a thing, after a while.', handler: ({ ms = 0 }, { signal }) => setTimeout(ms, 'changed', { signal }) },
  read: {
    description: 'Reads a thing, after a while.', annotations: { readOnlyHint: true },
    handler: ({ ms = 0 }, { signal }) => setTimeout(ms, 'read', { signal }),
  },
};

/** Of both. */
export const CALLS_MAX = 20;
export const SLEEP_MS = 20;
export const OUTPUT_BYTES = 100000;

const five = (code, more) => [code, { value: 5, ...more }];
const fails = (code, line, message, hint) => [code, { error: 'RUNTIME', line, message, hint }];
/* An error of the script itself, or of a tool, that nobody catches. */
const thrown = (code, error, message, more) => [code, { error, name: 'ToolError', message, line: 1, ...more }];
const caught = (call, value) => [`try { await ${call} } catch (e) {
  return [e instanceof ToolError, e.name, e.server, e.tool, e.code, e.retryable, e.message]; }`, { value }];

/* A slip, where it stands, and what is said of it. */
const slip = (code, line, column, message, hint) => [code, { error: 'SYNTAX', line, column, message, hint }];

const PLACE = 'console.log(1); const a: number = 5;';
const AWAIT = (name) => new RegExp(`^did you forget await\\? ${name} on line 1 gives a promise: write await`);
const DOUBT = 'it may have taken effect: look before you repeat it';
const TOO_MUCH = /this bracket closes nothing: remove it/;
const TWICE = /has \\n as two characters/;
const MISSING = /^the value before the last/;

export const groups = {
  forms: [
    five('5'),
    five('return 5'),
    five('const a = 2;\na + 3'),
    five('() => 5'),
    five('async (input) => { const total = await servers.up.echo(input); return total.n; }', { input: { n: 5 } }),
    five('function run(x) { return x }', { input: 5 }),
    five('function main() { return 5 }'),
    five('async function execute(input) { return 5 }'),
    five('async function run() { return 5; }\nawait run();'),
    five('export default () => 5'),
    five('export default function (x) { return x }', { input: 5 }),
    five('```js\nreturn 5\n```'),
    five('\n~~~js {1,3}\nreturn 5\n~~~\n'),
    five('```js\nreturn 5'),
    five('\n```\nreturn 5\n'),
    five('```js\nreturn 5```'),
    five('return input.a', { input: { a: 5 } }),
    five('(input) => input.a', { input: { a: 5 } }),
    five('async function run({ n = 5 } = {}) { return n }'),
    five('async ({ n = 5 } = {}) => n'),
    five('async function run(n = 5) { return n }'),
    five('async function run({ n = 3 } = {}) { return n }', { input: { n: 5 } }),
    five('async ({ n = 3 } = {}) => n', { input: { n: 5 } }),
    five('async function run(n = 3) { return n }', { input: 5 }),
    ['return input', { value: null }],
    ['console.log(1); console.warn("x")', { logs: ['1', 'x'] }],
    ['', { error: 'INVALID_CODE', message: /^the code is empty$/ }],
    ['  \n', { error: 'INVALID_CODE', message: /^the code is empty$/ }],
    ['```js\nreturn 5\n```\nThis gives five.', { error: 'INVALID_CODE' }],
    [' '.repeat(60000), { error: 'INVALID_CODE' }],
    ['return [btoa("a"), new AbortController().signal.aborted, structuredClone([1]), new URL("http://a/b").pathname]',
      { value: ['YQ==', false, [1], '/b'] }],
    ['return new Uint8Array(1).toBase64() + size();\nfunction size() { return Uint8Array.fromBase64("AA==").length }', { value: 'AA==1' }],
    ['return ["process", "require", "fetch", "fs", "Buffer"].map((name) => typeof globalThis[name])', { value: Array(5).fill('undefined') }],
  ],
  types: [
    five('const a: number = 5; return a'),
    five('export default (n: any = 5) => n'),
    five('export default (n: any = 3) => n', { input: 5 }),
    five('```ts title="run.ts"\nconst a: number = 5; return a\n```'),
    five('interface Sum { n: number }\nasync function run(d: Sum): Promise<number> { return d.n as number }', { input: { n: 5 } }),
    five('const a = (await servers.up.echo({ n: 5 })) as { n: number }; return a!.n'),
    five('#!/usr/bin/env node\nconst x: number = 5;\nreturn x'),
    ['\nenum A { B }', { error: 'SYNTAX', line: 2, message: /enum/, hint: /use an object/ }],
    [`${PLACE}\nconst b = {\n  x: a\n  y: 2\n};`, { error: 'SYNTAX', line: 4, message: /Unexpected identifier 'y'/, hint: /',' is missing/ }],
    [`${PLACE}\nnope()`, { error: 'RUNTIME', name: 'ReferenceError', line: 2, hint: /declare this function/ }],
    [`${PLACE}\nawait servers.up.fail()`, { error: 'TOOL_ERROR', line: 2, logs: ['1'] }],
    ['const a = ;', { error: 'SYNTAX', name: 'SyntaxError', line: 1, message: /^Unexpected token ';'$/, hint: /a value is missing/ }],
    slip('const a: number = 1;\nif (a > 0 {\n  return a;\n}', 2, 11, /Expected '\)'/, /./),
    slip('async function run(): Promise<number> {\n  return 1;\n}}', 3, 2, /^this bracket closes nothing$/, /remove it/),
    slip('const a: = 1;\nreturn a as any', 1, 8, /^Unexpected token ':'/, /./),
    slip('const a: any = 1;\ntype A = { x: number, y: };\nreturn a', 2, 24, /neither JavaScript/, /a slip/),
    slip('const a: any = 1;\ninterface A { x: number y: B }', 2, 24, /neither JavaScript/, /a slip/),
    slip('const r: any = [];\nfor (const k of r) {\n  await k;\n', 2, 20, /./, /close/),
    fails("function f(a: string) { return typeof a === string }\nreturn f('a')", 1, /string/, /not values/),
    slip('return 1 + 2;\\nfoo', 1, 14, /backslash/, TWICE),
    slip('const a: number = 1;\\nreturn a', 1, 21, /backslash/, TWICE),
    slip('const a = "\\n"; // \\n\nconst b = /\\n/;\\nreturn a', 2, 16, /backslash/, TWICE),
    slip('```js\nconst a = 1;\\treturn a\n```', 2, 13, /backslash/, TWICE),
    slip('return \\"a\\";', 1, 8, /backslash/, /escaped once too often/),
    ['return "a\\nb".split(/\\n/).length', { value: 2 }],
    slip('}\nreturn 1', 1, 1, /^Unexpected token '}'$/, TOO_MUCH),
    slip('const a = 1;\nif (a) {\n  console.log(a);\n}}\nconst b = 2;\nreturn b;', 4, 2, /^Unexpected token '}'$/, TOO_MUCH),
    slip('for (const x of [1]) {\n  console.log(x);\n}\n}\n\nawait sleep(1);\nreturn 2;', 4, 1, /^Unexpected token '}'$/, TOO_MUCH),
    fails('```js\n\nnope()', 3, /nope/, /declare this function/),
    slip('function main() { return 9 }\nexport { main as default }', 2, 1, /export/, /all of a statement/),
    ['const x = 1\n(async () => 2)()', { error: 'RUNTIME', hint: /a ';' is missing at the end of this line/ }],
  ],
  calls: [
    ['return await servers.up.call("echo", { a: 1 })', { value: { a: 1 }, calls: [['echo', true]] }],
    ['return await servers.up.echo()', { value: {} }],
    ['return (await Promise.all([1, 2].map((page) => servers.up.list_orders({ page })))).flatMap((r) => r.items.map((i) => i.id))',
      { value: [11, 12, 13, 21, 22, 23], calls: [['list_orders', true], ['list_orders', true]] }],
    ['return (await Promise.all([{ id: 1 }, { id: 2 }].map(servers.up.echo))).map((each) => each.id)', { value: [1, 2] }],
    ['return (await servers.up.listOrders({ page: 1 })).items.length', { value: 3, calls: [['list_orders', true]] }],
    ['return (await servers.up.call("echo", { a: 1 }, { raw: true })).content[0].text', { raw: '{"a":1}' }],
    ['return servers', { value: { up: '[server up: await servers.up.tools() lists its tools]' } }],
    ['return (await servers.up.tools()).map((t) => t.name)', { value: Object.keys(tools) }],
    ['return (await servers.up.tools("the orders")).map((t) => t.name)', { value: ['list_orders'] }],
    ['return await discover("How to list orders")', { value: [{ server: 'up', tool: 'list_orders', summary: 'Lists orders. There are many' }] }],
    ['return await discover("how")', { value: [] }],
    ['return (await discover({ tool: "echo" })).map((t) => t.tool)', { value: ['echo'] }],
    ['await sleep(20); await sleep(); await sleep(-1)', { logs: [] }],
    ['await sleep(1e5)', { logs: ['sleep(100000) ends after 20 ms, the limit of one sleep'] }],
  ],
  'errors of tools': [
    caught('servers.up.fail()', [true, 'ToolError', 'up', 'fail', 'TOOL_ERROR', false, 'no stock']),
    caught('servers.up.nope()', [true, 'ToolError', 'up', 'nope', 'NOT_FOUND', false, "the server 'up' has no tool 'nope': discover({ server: \"up\" }) lists its tools"]),
    caught('servers.up.ech()', [true, 'ToolError', 'up', 'ech', 'NOT_FOUND', false, "the server 'up' has no tool 'ech': did you mean 'echo'?"]),
    caught('servers.up.mcp__up__ech()', [true, 'ToolError', 'up', 'mcp__up__ech', 'NOT_FOUND', false, "the server 'up' has no tool 'mcp__up__ech': did you mean 'echo'?"]),
    caught('servers.up.change({ ms: 5000 }, { timeoutMs: 50 })', [true, 'ToolError', 'up', 'change', 'UPSTREAM_TIMEOUT', false, `no answer after 50 ms (opts.timeoutMs); ${DOUBT}`]),
    caught('servers.up.read({ ms: 5000 }, { timeoutMs: 50 })', [true, 'ToolError', 'up', 'read', 'UPSTREAM_TIMEOUT', true, 'no answer after 50 ms (opts.timeoutMs)']),
    ['return await servers.up.read({ ms: 1 }, { timeoutMs: 1e30 })', { value: 'read' }],
    thrown('await servers.up.read({ ms: 5000 }, { timeoutMs: 0.5 })', 'UPSTREAM_TIMEOUT', /^no answer after /),
    ['return JSON.parse(JSON.stringify(await servers.up.fail().catch((e) => e)))',
      { value: { name: 'ToolError', message: 'no stock', server: 'up', tool: 'fail', code: 'TOOL_ERROR', retryable: false }, calls: [['fail', false, 'TOOL_ERROR']] }],
    ['const a = 1;\nawait servers.up.fail();', { error: 'TOOL_ERROR', name: 'ToolError', message: /^no stock$/, line: 2, calls: [['fail', false, 'TOOL_ERROR']] }],
    ['try { await servers.up.fail() } catch (e) { throw new Error("no users", { cause: e }) }',
      { error: 'RUNTIME', name: 'Error', message: /^no users; cause: ToolError: no stock \{ server: 'up', tool: 'fail', code: 'TOOL_ERROR'/ }],
    ["const a = servers.up.fail({ why: 'one' });\nreturn await Promise.any([a, servers.up.fail({ why: 'two' })]);",
      { error: 'RUNTIME', name: 'AggregateError', line: 1,
        message: /^every promise was rejected: up\.fail \(line 1\): TOOL_ERROR: one; up\.fail \(line 2\): TOOL_ERROR: two$/ }],
    ['await Promise.any([Promise.reject(new TypeError("mine"))])', { error: 'RUNTIME', message: /^errors: TypeError: mine at code\.js:1:/ }],
    ['await Promise.any([])', { error: 'RUNTIME', message: /^every promise was rejected$/ }],
    ["throw { code: 'E_RATE', message: 'slow down' }", { error: 'RUNTIME', name: '', message: /^\{ code: 'E_RATE', message: 'slow down' \}$/ }],
    ['throw new TypeError("mine")', { error: 'RUNTIME', name: 'TypeError', message: /^mine$/, line: 1 }],
  ],
  'what is unknown or wrong': [
    thrown('await servers.upp.fail()', 'NOT_FOUND', /^unknown server 'upp': did you mean 'up'\? \(there are: up\)$/),
    thrown('await servers.call("up", "echo", {})', 'NOT_FOUND', /^unknown server 'call': write servers\.NAME\.call\("tool", \{ name: value \}\) \(there are: up\)$/),
    thrown('await discover({ server: "upp" })', 'NOT_FOUND', /^unknown server 'upp': did you mean 'up'\? \(there are: up\)$/),
    thrown('await servers.up.ech()', 'NOT_FOUND', /^the server 'up' has no tool 'ech': did you mean 'echo'\?$/),
    thrown('await servers.up["删除_echo"]()', 'NOT_FOUND', /^the server 'up' has no tool '删除_echo'/),
    thrown('await servers.up.echo([1])', 'INVALID_ARGS', /^arguments are one object, such as \{ name: value \}, not an array$/),
    thrown("await servers.up.callTool('echo', { id: 1 })", 'INVALID_ARGS', /^no method callTool .*: write servers\.up\.call\("echo", \{ name: value \}\)$/),
    thrown('await servers.up.echo({ m: new Map })', 'INVALID_ARGS', /^args\.m is a Map/),
    thrown('const a = { b: {} }; a.b.c = a.b; await servers.up.echo(a)', 'INVALID_ARGS', /^args\.b\.c refers back to args\.b: JSON/),
    thrown('await servers.up.read({}, { timeout: 5 })', 'INVALID_ARGS', /^unknown option 'timeout': did you mean 'timeoutMs'\?$/),
    thrown("await servers.up.call('read', {}, { signal: 1 })", 'INVALID_ARGS', /^unknown option 'signal': there are timeoutMs, raw$/),
    thrown('await servers.up.read({}, 5)', 'INVALID_ARGS', /^opts is an object, such as \{ timeoutMs: value \}, not a number$/),
    ...['0', '-5', 'NaN', 'Infinity', "'100'", '{}'].map((ms) => thrown(`await servers.up.read({}, { timeoutMs: ${ms} })`,
      'INVALID_ARGS', /^opts\.timeoutMs is a number of milliseconds, more than 0$/)),
    thrown("await servers.up.call('read', {}, [])", 'INVALID_ARGS', /^opts is an object, such as \{ timeoutMs: value \}, not an array$/),
    thrown("await servers.up.echo('1')", 'INVALID_ARGS', /^arguments are one object/),
    thrown('const a = {}; a.a = a; await servers.up.echo(a)', 'INVALID_ARGS', /^args\.a refers back to args: JSON/),
    thrown("const a = []; a[0] = a; await artifact('x', a)", 'INVALID_ARGS', /^value\[0\] refers back to value: JSON/),
    thrown("discover('x', { details: 'types' })", 'INVALID_ARGS', /^unknown option 'details': did you mean 'detail'\?$/),
    thrown("discover({ q: 'x' })", 'INVALID_ARGS', /^unknown option 'q': there are query, server, tool, detail$/),
    thrown('await discover(5)', 'INVALID_ARGS', /^'query' is a string of keywords$/),
  ],
  'a forgotten await': [
    fails('const r = servers.up.list_orders({ page: 1 });\nreturn r.items.length;', 2, /undefined/, AWAIT('servers.up.list_orders')),
    fails('const items = servers.up.call("list_orders", { page: 1 });\nfor (const i of items) {}', 2, /./, AWAIT('servers.up.call')),
    fails('for (const i of servers.up.list_orders({ page: 1 })) {}', 1, /./, /list_orders on line 1 /),
    fails('return JSON.parse(servers.up.read())', 1, /./, /up\.read on line 1 gives/),
    fails("const a = discover('x');\n\nreturn [...a];", undefined, /./, AWAIT('discover')),
    fails("return servers['up'].list_orders({ page: 1 }).items.map((i) => i.id);", 1, /./, /await\? servers\['up'\]\.list_orders on line 1 /),
    fails('const all = [1, 2].map((page) => servers.up.list_orders({ page }));\nreturn all.x.y;', 2, /./, /gives a promise: write await Promise\.all/),
    ['```ts\nconst r: any = servers.up.list_orders({ page: 1 });\nreturn r.items.length;\n```', { error: 'RUNTIME', line: 3, hint: /list_orders on line 2 / }],
    fails('const up = servers.up;\nup.read({ ms: 300 });\nconst x = {};\nreturn x.foo.bar;', 4, /./,
      /^did you forget await\? up\.read \(line 2\) had not ended when the code failed; else: the value before/),
    fails('const { items } = servers.up.list_orders({ page: 1 });\nreturn items.length;', 2, /./, AWAIT('servers.up.list_orders')),
    fails('const r = await servers.up.list_orders({ page: 1 });\nreturn r.nothing.length;', 2, /./, MISSING),
    fails('const r = servers.up.list_orders({ page: 1 });\nconst q = {};\nawait r;\nreturn q.nothing.length;', 4, /./, MISSING),
    fails('const r = {};\nawait servers.up.list_orders({ page: 1 }).then(() => 1);\nreturn r.nothing.length;', 3, /./, MISSING),
    ["return '[object Promise]'", { value: '[object Promise]', note: /^\[object Promise\]\n[([]0 calls/ }],
    ['const r = servers.up.read(); await servers.up.read(); return `it is ${r}`',
      { value: 'it is [object Promise]', note: /^did you forget await\? \[object Promise\] in the value is a promise/m }],
  ],
  'calls that nobody awaited': [
    ['servers.up.change({ ms: 100 }); await servers.up.echo(); return 1', { value: 1, note: /^1 call was not awaited, and has ended all the same: up\.change \(line 1\)$/m, calls: [['change', true], ['echo', true]] }],
    ['servers.up.change({ ms: 60000 }); await servers.up.echo(); return 1', { value: 1, timeoutMs: 900, error: 'CANCELLED',
      message: /^1 call was not awaited, and has no known outcome: up\.change \(line 1\); it may have taken effect: look before you repeat it$/, hint: /^await each call$/ }],
    ['servers.up.read({ ms: 60000 }); await servers.up.echo(); return 1', { value: 1, timeoutMs: 900, note: /^1 call was not awaited, and was cancelled: up\.read \(line 1\)$/m }],
    ['servers.up.fail(); await servers.up.echo(); return 1', { value: 1 }],
    ['servers.up.read({ ms: 300 });\nservers.up.read({ ms: 300 });\nawait servers.up.fail()',
      { error: 'TOOL_ERROR', line: 3, note: /^2 calls were open when the code ended, and have ended all the same: up\.read \(line 1\), up\.read \(line 2\)$/m }],
    ['await servers.up.change({ ms: 60000 })', { error: 'TIMEOUT', timeoutMs: 700, message: /^ran past the time limit/,
      hint: /^make calls at once with Promise\.all, ask for less, or give a longer timeout_ms$/,
      note: /^1 call was open when the code ended, and has no known outcome: up\.change \(line 1\); it may have taken effect/m }],
    ['for (;;);', { error: 'TIMEOUT', timeoutMs: 700, message: /^ran past the time limit/, hint: /^look for a loop that does not end, or give a longer timeout_ms$/ }],
    ['await servers.up.change({ ms: 5000 }, { timeoutMs: 50 }).catch(() => 0); return 1',
      { value: 1, note: /^1 call has no known outcome: up\.change \(line 1\); it may have taken effect: look before you repeat it$/m }],
  ],
  limits: [
    thrown(`for (let i = 0; ; i++) await servers.up.echo({ i })`, 'CALL_LIMIT', /^the limit on calls of one execute is reached: ask for more at once$/),
    ['for (;;) await Promise.all(Array.from({ length: 100 }, () => servers.up.tools("nothing")))',
      { error: 'CALL_LIMIT', message: /^the limit on questions of one run is reached/ }],
    ['return "x".repeat(200000)', { error: 'OUTPUT_TOO_LARGE', hint: /^return less/ }],
    ['return new Map', { error: 'RUNTIME', message: /^result is a Map, which JSON cannot hold/ }],
    ['return 1n', { error: 'RUNTIME', message: /^result is a BigInt/, hint: /String\(n\)/ }],
  ],
  artifacts: [
    [`const kept = [await artifact('a', { b: [1] }), await artifact('t', '"x"'), await artifact('j', '[1]', 'application/json'),
        await artifact('u', 'é'), await artifact('i', new Uint8Array([137, 80]), 'image/png')];
      const read = await Promise.all(kept.map((each, i) => artifact.read(i === 0 ? each : each.uri)));
      return [...read.slice(0, 4), [...read[4]], kept.map(({ mimeType, bytes }) => [mimeType, bytes])]`,
    { value: [{ b: [1] }, '"x"', [1], 'é', [137, 80],
      [['application/json', 9], ['text/plain', 3], ['application/json', 3], ['text/plain', 2], ['image/png', 2]]] }],
    [`const all = [];
      for (const type of ['text/csv', 'text/plain; charset=utf-8', 'image/svg+xml', '', null, 'csv', 'text/', '/csv', 'text/c\\u202esv',
        'text/csv\\n', 'text/c sv', 'a/b/c', 'a/b\\nc: d', 'a/b\\ud800', 'a/' + 'b'.repeat(100)])
        all.push(await artifact('a', 'b', type).then((kept) => kept.mimeType, (error) => error.code));
      return all;`, { value: ['text/csv', 'text/plain;charset=utf-8', 'image/svg+xml', 'text/plain', 'text/plain', ...Array(10).fill('INVALID_ARGS')] }],
    thrown("await artifact('x', new Map)", 'INVALID_ARGS', /^value is a Map/),
    thrown("await artifact('x', () => 1)", 'INVALID_ARGS', /^value is a function/),
    thrown('await artifact()', 'INVALID_ARGS', /^the value is missing/),
    thrown("await artifact.read('artifact://none')", 'NOT_FOUND', /^no such artifact/),
    thrown("await artifact.read('file:///etc/passwd')", 'NOT_FOUND', /^no such artifact/),
    thrown('await artifact.read(7)', 'INVALID_ARGS', /^artifact\.read\(uri\) takes/),
    thrown("await show(await artifact('a', 'x'))", 'INVALID_ARGS', /^it is not a/),
    thrown('await show(5)', 'INVALID_ARGS', /^show\(image\) takes/),
  ],
};

/** The result of `execute`, of either, against a row of the table. */
export function check([code, want], { content, structuredContent: got, isError }) {
  const said = JSON.stringify(got).slice(0, 1500);
  const { error: { code: error, name, message, line, column, hint } = {} } = got;
  assert.equal(error, want.error, said);
  assert.equal(isError === true, want.error !== undefined);
  if (want.raw !== undefined) assert.equal(got.result, want.raw);
  else assert.deepEqual(got.result, want.value, said);
  if (want.name !== undefined) assert.equal(name, want.name);
  if (want.message !== undefined) assert.match(message, want.message);
  if (want.line !== undefined) assert.equal(line, want.line, said);
  if (want.column !== undefined) assert.equal(column, want.column, said);
  if (want.hint !== undefined) assert.match(hint, want.hint);
  if (want.note !== undefined) assert.match(content[0].text, want.note);
  if (want.logs !== undefined) assert.deepEqual(got.logs.map((each) => each.text ?? each), want.logs);
  if (want.calls !== undefined)
    assert.deepEqual(got.calls.map((each) => [each.tool, each.ok, ...(each.code === undefined ? [] : [each.code])]), want.calls);
}

/** The arguments of `execute` for a row. */
export const argumentsOf = ([code, { input, timeoutMs }]) => ({ code, ...(input !== undefined && { input }), ...(timeoutMs && { timeout_ms: timeoutMs }) });

// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { SandboxEngine, validateSandboxCode } from '../lib/index.js';

const engine = new SandboxEngine({ timeout: 4000 });
after(() => engine.close());

const value = async (code, data) => {
  const result = await engine.execute(code, data);
  assert.ok(result.ok, result.error);
  return result.value;
};

test('a value comes back with what it cost', async () => {
  const data = [{ name: 'db', risk: 99 }, { name: 'web', risk: 1 }];
  const result = await engine.execute('(d) => d.filter((x) => x.risk > 90).map((x) => x.name)', data);

  assert.equal(result.ok, true);
  assert.deepEqual(result.value, ['db']);
  assert.ok(result.executionMs > 0);
  assert.deepEqual(result.logs, []);
  assert.equal(result.stats.inputBytes, JSON.stringify(data).length);
  assert.equal(result.stats.outputBytes, 6);
  assert.equal(result.runner, 'process');
  assert.match(result.callId, /^[0-9a-f]{8}-\d+$/);
});

test('every form of code runs', async () => {
  const run = async (options) => (await engine.run(options)).value;

  assert.equal(await run({ form: 'function', code: 'async (d) => d + 1', input: 1 }), 2);
  assert.equal(await run({ form: 'execute', code: 'function execute(i) { return i * 2; }', input: 4 }), 8);
  assert.equal(
    await run({ form: 'body', code: 'return params.a + env.B + who;', bindings: { params: { a: 'x' }, env: { B: 'y' }, who: 'z' } }),
    'xyz',
  );
  assert.equal(await run({ form: 'script', code: 'const a = await Promise.resolve(20); a + 1' }), 21);
});

test('undefined, NaN, dates and maps come back as JSON has them', async () => {
  const nothing = await engine.execute('() => undefined');

  assert.equal(nothing.ok, true);
  assert.ok('value' in nothing);
  assert.equal(nothing.value, undefined);
  assert.equal(await value('() => NaN'), null);
  assert.equal(await value('() => new Date(0)'), '1970-01-01T00:00:00.000Z');
  assert.deepEqual(await value('() => ({a: undefined, b: [undefined]})'), { b: [null] });
});

test('a value and its log lines come back together', async () => {
  const result = await engine.execute('() => { console.warn("low", {n: 1}); }');

  assert.equal(result.ok, true);
  assert.ok('value' in result);
  assert.deepEqual(result.logs.map(({ level, text }) => [level, text]), [['warn', 'low { n: 1 }']]);
});

const codes = [
  ['TIMEOUT', '() => { for (;;); }', { timeoutMs: 1000 }],
  ['MEMORY', '() => { const a = []; for (;;) a.push(new Array(1000).fill(1)); }', { memoryBytes: 16777216 }],
  ['SYNTAX', '(d) => { return d. }'],
  ['RUNTIME', '() => { throw new Error("no"); }'],
  ['RUNTIME', '() => 10n'],
  ['OUTPUT_TOO_LARGE', '() => "x".repeat(2000)', { outputBytes: 1000 }],
  ['INVALID_CODE', '1 + 1'],
  ['INVALID_CODE', ''],
  ['INVALID_CODE', '() => require("fs")'],
  ['INVALID_CODE', `() => "${'x'.repeat(70000)}"`],
];
for (const [code, source, limits] of codes) {
  test(`${source.slice(0, 50)} is ${code}`, async () => {
    const result = await engine.run({ code: source, limits });

    assert.equal(result.ok, false);
    assert.equal(result.code, code, result.error);
    assert.equal(typeof result.error, 'string');
    assert.equal(typeof result.executionMs, 'number');
  });
}

test('code that is no string is INVALID_CODE, not an exception', async () => {
  for (const code of [undefined, null, 7, () => 1]) {
    assert.equal((await engine.execute(code, 1)).code, 'INVALID_CODE');
  }
});

test('the code cannot choose its error', async () => {
  for (const text of ['out of memory', 'Script execution timed out', 'SyntaxError']) {
    const result = await engine.execute(`() => { throw new Error(${JSON.stringify(text)}); }`);
    assert.equal(result.code, 'RUNTIME');
  }
});

test('words of the guard in strings and comments are no uses', async () => {
  assert.equal(await value('/* import x */ () => "require(1) eval(2) import "'), 'require(1) eval(2) import ');
});

test('one Markdown fence is taken off', async () => {
  assert.equal(await value('```js\n(d) => d + 1\n```', 1), 2);
});

test('errors have the position in the text that was sent', async () => {
  const result = await engine.execute('(d) => {\n  return d.a.b;\n}', {});

  assert.deepEqual([result.location.line, result.location.column], [2, 13]);
});

test('nothing is left of a call in the next one', async () => {
  await value('() => { globalThis.leak = 1; Object.prototype.bad = 1; return 1; }').catch(() => {});
  assert.deepEqual(await value('() => [typeof leak, ({}).bad === undefined]'), ['undefined', true]);
});

test('calls of one engine run side by side and share no fate', async () => {
  const bad = [
    engine.run({ code: '() => { for (;;); }', limits: { timeoutMs: 300 } }),
    engine.execute('() => { throw new Error("out of memory"); }'),
    engine.run({ code: '() => { const a = []; for (;;) a.push("x".repeat(1e5) + a.length); }', limits: { memoryBytes: 16777216 } }),
  ];
  const good = await Promise.all(Array.from({ length: 16 }, (_, i) => value('(d) => d * 2', i)));

  assert.deepEqual(good, Array.from({ length: 16 }, (_, i) => i * 2));
  assert.deepEqual((await Promise.all(bad)).map((one) => one.code), ['TIMEOUT', 'RUNTIME', 'MEMORY']);
});

test('limits of a call may be lower than the engine\'s and not higher', async () => {
  await assert.rejects(engine.run({ code: '() => 1', limits: { timeoutMs: 5000 } }), {
    name: 'TypeError', message: /^limits\.timeoutMs is above/,
  });
  await assert.rejects(engine.run({ code: '() => 1', limits: { speed: 1 } }), TypeError);
});

test('seed and clock make a call the same again', async () => {
  const call = { code: '() => [Math.random(), Date.now()]', seed: 7, nowMs: 1000 };
  const [one, two] = await Promise.all([engine.run(call), engine.run(call)]);

  assert.deepEqual(one.value, two.value);
  assert.equal(one.value[1], 1000);
});

test('code and results of any character arrive as they are', async () => {
  const text = 'ä\u0000\u2028😀"\\';
  assert.equal(await value(`(d) => d + ${JSON.stringify('€😀')}`, text), text + '€😀');
  assert.equal(await value('(d) => d', '😀'.repeat(700)), '😀'.repeat(700));
  assert.equal(await value('(d) => d', '\ud800x'), '\ud800x');
});

test('__proto__ in a result is a property like any other', async () => {
  const result = await value('() => JSON.parse(\'{"__proto__": {"a": 1}}\')');

  assert.equal(Object.getPrototypeOf(result), Object.prototype);
  assert.deepEqual(Object.keys(result), ['__proto__']);
});

test('a check of code takes the options of an engine', () => {
  assert.equal(validateSandboxCode('() => 1', { timeout: 5, form: 'function' }).ok, true);
});

test('what is bound is looked through as input is', async () => {
  const body = (bindings) => engine.run({ form: 'body', code: 'return Object.keys(params)', bindings });
  const cycle = {};
  cycle.self = cycle;
  const cases = [
    [{ params: { m: new Map() } }, 'bindings.params.m', /^what is bound holds a Map at bindings\.params\.m$/],
    [{ params: {}, f() {} }, 'bindings.f', /a function/],
    [{ params: [1n] }, 'bindings.params[0]', /a BigInt/],
    [{ params: cycle }, 'bindings.params.self', /a cycle/],
  ];
  for (const [bindings, path, message] of cases) {
    const result = await body(bindings);
    assert.deepEqual([result.code, result.path], ['INVALID_DATA', path]);
    assert.match(result.error, message);
  }
  assert.deepEqual((await body({ params: { a: 1 } })).value, ['a']);
});

test('an engine that cannot start says why in every result', async () => {
  const closed = new SandboxEngine({ preload: [{ name: 'broken.js', source: 'throw new Error("nope")' }] });
  const result = await closed.execute('() => 1');

  assert.equal(result.code, 'UNAVAILABLE');
  assert.match(result.error, /broken\.js|nope/);
  await assert.rejects(closed.load('a', 1), /broken\.js|nope/);
  await closed.close();
});

test('telemetry has one event for each call of which something ran', async () => {
  const own = new SandboxEngine();
  const events = [];
  const aborted = new AbortController();
  aborted.abort();

  assert.equal(own.telemetry((event) => events.push(event)), own);
  await own.execute('() => 1');
  await own.execute('1');
  await own.execute(1);
  await own.execute('(d) => d', () => 1);
  await own.execute('() => missing');
  await own.execute('() => 1', 1, { signal: aborted.signal });
  await own.close();
  await own.execute('() => 1');

  assert.deepEqual(events.map((event) => [event.type, event.ok, event.errorCode]), [
    ['sandbox.exec', true, undefined], ['sandbox.exec', false, 'RUNTIME'],
  ]);
  for (const event of events) {
    assert.equal(typeof event.executionMs, 'number');
    assert.ok(Math.abs(Date.now() - event.timestamp) < 600000);
  }
});

test('minimal globals are the published list and nothing else', async () => {
  const preload = [{ name: 'names.js', source: 'const namesNow = () => Object.getOwnPropertyNames(this);' }];
  const own = new SandboxEngine({ globals: 'minimal', preload });
  const { value } = await own.execute('() => namesNow().sort()');
  await own.close();

  assert.deepEqual(value, [
    'JSON', 'Math', 'Date', 'Array', 'Map', 'Set', 'Promise', 'Object', 'String', 'Number', 'Boolean', 'RegExp',
    'Error', 'TypeError', 'RangeError', 'SyntaxError', 'URIError', 'parseInt', 'parseFloat', 'isNaN', 'isFinite',
    'encodeURIComponent', 'decodeURIComponent', 'encodeURI', 'decodeURI', 'undefined', 'NaN', 'Infinity', 'console',
    'setTimeout', 'clearTimeout',
  ].sort());
});

test('the report says what the engine is', async () => {
  const report = await engine.report();

  assert.equal(report.runner, 'process');
  assert.equal(typeof report.layers, 'object');
});

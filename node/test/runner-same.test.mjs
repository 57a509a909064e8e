// SPDX-License-Identifier: MIT
/*
 * The two adapters give the same: names and messages of what code throws, the names that it
 * sees, its console and its results. What differs is in docs/internals/node.md.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { after, describe, it } from 'node:test';

import { createSandboxClient, glovebox, memory } from '../lib/index.js';

const clients = [glovebox({ workerMemoryMb: 64 }), memory()].map((adapter) => createSandboxClient({ adapter }));
const [boxed, here] = clients;
after(() => Promise.all(clients.map((client) => client.dispose())));

/* [name, message] of what was thrown, by each. */
const thrown = (args) => Promise.all(clients.map(async (client) => {
  const { ok, error } = await client.attempt(args);
  assert.equal(ok, false, args.code);
  assert.equal(error.code, 'RUNTIME', error.message);
  return [error.name, error.message];
}));

describe('what code throws has its own name and message', () => {
  for (const [code, name, message] of [
    ['throw new TypeError()', 'TypeError', ''],
    ['throw new Error()', 'Error', ''],
    ['throw "Foo: bar"', 'SandboxError', 'Foo: bar'],
    ['throw "TypeError: no"', 'SandboxError', 'TypeError: no'],
    ['throw ""', 'SandboxError', ''],
    ['throw Object.assign(new Error("m: n"), { name: "My Error" })', 'My Error', 'm: n'],
    ['throw Object.assign(new Error("m"), { name: "A.B" })', 'A.B', 'm'],
    ['throw Object.assign(new Error("m"), { name: "A: B" })', 'A: B', 'm'],
    ['throw Object.assign(new Error("m"), { name: "" })', 'Error', 'm'],
    ['throw new Error("a\\nb")', 'Error', 'a\nb'],
    ['throw new Error("\\\\u{a}")', 'Error', '\\u{a}'],
    ['console.group("g"); throw new Error("a\\nb")', 'Error', 'a\nb'],
    ['throw { name: "N", message: "m: n" }', 'N', 'm: n'],
    ['throw { message: "m" }', 'SandboxError', 'm'],
    ['throw { a: { b: [1] } }', 'SandboxError', '{ a: { b: [ 1 ] } }'],
    ['throw { name: "N" }', 'N', "{ name: 'N' }"],
    ['throw { name: "N", message: "" }', 'N', "{ name: 'N', message: '' }"],
    ['throw { name: "N", message: "m", code: 4 }', 'SandboxError', "{ name: 'N', message: 'm', code: 4 }"],
    ['throw Object.assign([1], { message: "m" })', 'SandboxError', "[ 1, message: 'm' ]"],
    ['throw Object.create({ message: "m", other: 1 })', 'SandboxError', 'm'],
    ['throw () => 1', 'SandboxError', '[Function (anonymous)]'],
    ['throw 7', 'SandboxError', '7'],
    ['throw undefined', 'SandboxError', 'undefined'],
    ['throw Symbol("A: b")', 'SandboxError', 'Symbol(A: b)'],
    ['return Promise.reject(new RangeError("late"))', 'RangeError', 'late'],
    ['async function main() { await sleep(1); throw new RangeError("x: y"); }\nreturn main()', 'RangeError', 'x: y'],
    ['setTimeout(() => { throw new RangeError("timer"); }, 1); await sleep(1000)', 'RangeError', 'timer'],
    ['return { toJSON() { throw new RangeError("on its way"); } }', 'RangeError', 'on its way'],
    ['```js\nthrow new RangeError("fenced")\n```', 'RangeError', 'fenced'],
  ]) {
    it(code, async () => assert.deepEqual(await thrown({ code }), [[name, message], [name, message]]));
  }

  it('of a host function, too', async () => {
    const secureFetchImpl = () => { throw Object.assign(new Error('no: way'), { name: 'RangeError' }); };
    assert.deepEqual(await thrown({ code: 'await fetch("https://a")', secureFetchImpl }), Array(2).fill(['RangeError', 'no: way']));
  });

  it('even where the code hinders it, as well as the engine can tell', async () => {
    for (const code of ['console.debug = undefined; throw new TypeError("a: b")', 'globalThis.console = 1; throw new TypeError("a: b")'])
      assert.deepEqual(await boxed.attempt({ code }).then(({ error }) => [error.name, error.message]), ['TypeError', 'a: b']);
    assert.deepEqual(await thrown({ code: 'throw new TypeError("a")', contextVariables: { globalThis: 1 } }), Array(2).fill(['TypeError', 'a']));
  });

  it('and its place, stack and console lines are those of the code alone', async () => {
    const at = async (code) => {
      const lines = [];
      const { error } = await boxed.attempt({ code, consoleSink: { error: (text) => lines.push(text), debug: (text) => lines.push(text) } });
      return [error.location.line, error.location.column, error.stack.split('\n').slice(1), error.logs.map(({ text }) => text), lines];
    };
    const traced = 'Trace: t\n    at code.js:1:14\n    at code.js:1:1';
    assert.deepEqual(await at('console.trace("t"); throw new Error("x")'),
      [1, 36, ['    at code.js:1:36', '    at code.js:1:1'], [traced], [traced]]);
    assert.deepEqual(await at('const f = () => { throw new Error("x"); };\n  f()'),
      [1, 34, ['    at f (code.js:1:34)', '    at code.js:2:4', '    at code.js:1:1'], [], []]);
    const [line, column] = await at('```js\n  throw new Error("x")\n```');
    assert.deepEqual([line, column], [2, 18]);
    const { error } = await boxed.attempt({ code: 'throw new Error("x")' });
    assert.equal(error.location.frame, '>   1 | throw new Error("x")\n      |                ^');
  });

  it('and code that is none, or does not parse, is told at its place', async () => {
    for (const [code, why, line, column] of [['', 'INVALID_CODE', 1, 1], [';', 'INVALID_CODE', 1, 1], ['\nlet params = 1', 'SYNTAX', 2, 5],
      ['} ); (() => {', 'SYNTAX', 1, 1], ['eval("1")', 'INVALID_CODE', 1, 1], ['},""); evil(async()=>{', 'SYNTAX', 1, 1]]) {
      const { error } = await boxed.attempt({ code });
      assert.deepEqual([error.code, error.location.line, error.location.column], [why, line, column], code);
    }
  });
});

describe('names that code sees', () => {
  const both = async (args) => Promise.all(clients.map(async (client) => (await client.execute(args)).result));

  it('are not those of the language; such parameters are in params', async () => {
    const words = ['default', 'let', 'static', 'implements', 'interface', 'package', 'private', 'protected', 'public', 'yield', 'await', 'eval', 'arguments', 'enum', 'null', 'a-b'];
    const executionParams = Object.fromEntries([...words.map((word, i) => [word, i]), ['plain', 7]]);
    const code = 'return [params.default, params.arguments, plain]';
    assert.deepEqual(await both({ code, executionParams, isCustomTool: true }), Array(2).fill([0, 12, 7]));
    const long = { ['x'.repeat(300)]: 1 };
    assert.deepEqual(await both({ code: 'return Object.keys(params).length', executionParams: long, isCustomTool: true }), [1, 1]);
    for (const word of words) await assert.rejects(both({ code: '1', contextVariables: { [word]: 1 } }), /contextVariables\['.*'\] is not the name/);
  });

  it('may have any letters', async () => {
    assert.deepEqual(await both({ code: 'return größe + 名', contextVariables: { größe: 1, 名: 2 } }), [3, 3]);
    assert.deepEqual(await both({ code: 'return größe', executionParams: { größe: 1 }, isCustomTool: true }), [1, 1]);
    for (const client of clients)
      await assert.rejects(client.execute({ code: '1', contextVariables: { größe: [() => 1] } }), { code: 'INVALID_DATA', message: /a function at contextVariables\.größe\[0\]/ });
  });
});

describe('the console and the results of ordinary code', () => {
  const told = async (client, code) => {
    const lines = [];
    const consoleSink = Object.fromEntries(['log', 'info', 'warn', 'error', 'debug'].map((level) => [level, (text) => lines.push([level, text])]));
    const { result } = await client.execute({ code, consoleSink });
    return { result, lines };
  };

  for (const code of [
    'const a = {}; a.a = a; console.log(a)',
    'console.log(1n, "x", { a: [1n] }, new Map([[1, 2]]), /x/, () => 1, undefined, -0)',
    'console.log("%s is %d %j", "a", 1, { x: 1 }); console.info("a\\n"); console.debug()',
    'console.assert(false, "x %d", 1); console.assert(true); console.assert(0)',
    'console.dir({ a: { b: { c: 1 } } }, { depth: 0 })',
    'console.count(); console.count("a"); console.countReset(); console.count()',
    'console.group("g"); console.warn("a\\nb"); console.groupEnd(); console.error(1)',
    'return Object.keys(console).sort()',
    'return [new Error("x"), Object.assign(new TypeError("t", { cause: 1 }), { code: "X" }), /x/g]',
    'return new Error("x")', 'return /x/', 'return new Uint8Array(2)', 'return new String("s")',
    'return { toJSON() { return { when: new Date(0) }; } }',
    '```js\nreturn 1\n```', 'await sleep(1); const id = setInterval(() => {}, 1); clearInterval(id); return typeof id',
  ]) {
    it(code, async () => assert.deepEqual(await told(here, code), await told(boxed, code)));
  }

  /* Only a sandbox notes what was lost. */
  for (const code of [
    'return { a: new Float64Array([1.5, NaN]) }', 'return { f() {}, s: Symbol(), u: undefined, list: [() => 1] }', 'return [, 1]',
    'return { "a b": [undefined, 1], mean: -1 / 0, when: new Date(NaN) }', 'return NaN', 'return { list: [{ run() {} }], none: {} }',
    'return { run() {}, s: undefined }', 'return [{ get x() { return NaN; } }, { toJSON: () => NaN }, null]',
  ]) {
    it(code, async () => assert.deepEqual((await told(here, code)).result, (await told(boxed, code)).result));
  }

  it('with tables, times and traces', async () => {
    const code = 'console.table([{ a: 1 }, { b: 2 }]); console.time("t"); console.timeLog("t"); console.timeEnd("t"); console.trace("x")';
    for (const client of clients) {
      const { lines } = await told(client, code);
      assert.deepEqual(lines.map(([level]) => level), ['log', 'log', 'log', 'error']);
      for (const [i, about] of [/^┌.*\n.*\(index\)/, /^t: [\d.]+ms$/, /^t: [\d.]+ms$/, /^Trace: x\n {4}at /].entries()) assert.match(lines[i][1], about);
    }
  });

  it('code that is none is refused alike', async () => {
    for (const code of ['', ';', ' ;; ', '/* a */;', '// a']) {
      const errors = await Promise.all(clients.map(async (client) => (await client.attempt({ code })).error));
      assert.deepEqual([errors[0].code, errors[0].message], ['INVALID_CODE', errors[1].message], code);
      assert.equal(errors[1].code, 'INVALID_CODE', code);
    }
  });

  it('a sink that throws is its owner\'s fault', async () => {
    for (const log of [() => { throw new RangeError('full'); }, async () => { throw new RangeError('full'); }])
      for (const client of clients) await assert.rejects(client.execute({ code: 'console.log(1); return 1', consoleSink: { log } }), { name: 'RangeError', message: 'full' });
  });

  it('a sink that fails when the code has ended is a warning', async () => {
    for (const client of clients) {
      let fail;
      const log = () => new Promise((_, reject) => { fail = reject; });
      assert.deepEqual(await client.execute({ code: 'console.log(1); return 1', consoleSink: { log } }), { result: 1 });
      const warned = once(process, 'warning');
      fail(new Error('late'));
      const [{ code, message }] = await warned;
      assert.deepEqual([code, message], ['GLOVEBOX_LISTENER', 'consoleSink.log of a runner threw: late']);
    }
  });

  it('a signal that is none is wrong use', async () => {
    for (const client of clients) {
      await assert.rejects(client.execute({ code: 'return 1', signal: 5 }), { name: 'TypeError', message: 'args.signal must be an AbortSignal, not the number 5' });
      await assert.rejects(client.execute({ code: 'return 1', signal: AbortSignal.abort() }), { code: 'ABORTED' });
    }
  });

  it('what a timer throws after the end harms nobody', () => {
    const script = `
      import { createSandboxClient, memory } from ${JSON.stringify(new URL('../lib/index.js', import.meta.url).href)};
      const client = createSandboxClient({ adapter: memory() });
      const { result } = await client.execute({ code: 'setTimeout(() => { throw 1; }, 5); setInterval(() => {}, 1); return 2' });
      await new Promise((resolve) => setTimeout(resolve, 30));
      console.log(result);`;
    const out = execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], { encoding: 'utf8', timeout: 20000 });
    assert.equal(out, '2\n');
  });

  it('without Headers and Request there is advice, and not that fetch is off', async () => {
    for (const code of ['new Headers()', 'new Request("https://a")']) {
      const { error } = await boxed.attempt({ code, secureFetchImpl: () => ({}) });
      assert.match(error.hint, /^fetch takes a URL and a plain object \{method, headers, body\}/);
      assert.match((await boxed.attempt({ code })).error.hint, /^fetch is off/);
    }
  });
});

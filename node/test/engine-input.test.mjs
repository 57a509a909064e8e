// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runInNewContext } from 'node:vm';

import { SandboxEngine } from '../lib/index.js';

const engine = new SandboxEngine({ timeout: 60000, memoryLimit: 1024, maxOutputBytes: 67108864 });
after(() => engine.close());

const records = (n) =>
  Array.from({ length: n }, (_, i) => ({
    id: i, name: `Server ${i}`, risk: (i * 37) % 101, category: 'db', amount: i / 100, tags: [`t${i % 17}`, 'prod'],
  }));

const cycle = { a: [{}] };
cycle.a[0].back = cycle;
const thrower = { toJSON() { throw new Error('not me'); } };
let deep = [];
for (let i = 0; i < 100000; i++) deep = [deep];

const other = (code) => runInNewContext(code); // a value of another realm
const throwing = { get b() { throw new Error('not you'); } };
const trapped = new Proxy({ a: 1 }, { ownKeys() { throw new Error('nor that'); } });
const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();
const unreadable = { toJSON() { throw { message: Object.create(null) }; } };

const refused = [
  ['a function', () => 1, 'data'],
  ['a symbol', Symbol('x'), 'data'],
  ['a BigInt', 1n, 'data'],
  ['a BigInt', Object(1n), 'data'],
  ['a Map', new Map(), 'data'],
  ['undefined', { toJSON() {} }, 'data'],
  ['a function', { toJSON: () => () => 1 }, 'data'],
  ['cannot be read (', unreadable, 'data'],
  ['revoked', revoked, 'data'],
  ['a function', { a: { b: [1, { c() {} }] } }, 'data.a.b[1].c'],
  ['a symbol', [Symbol('x')], 'data[0]'],
  ['a symbol', [Object(Symbol('x'))], 'data[0]'],
  ['a BigInt', { 'not a name': { n: 5n } }, 'data["not a name"].n'],
  ['a BigInt', { a: [Object(1n)] }, 'data.a[0]'],
  ['a BigInt', { a: { toJSON: () => 1n } }, 'data.a'],
  ['a BigInt', { a: { toJSON: () => ({ n: [1n] }) } }, 'data.a.n[0]'],
  ['a cycle', cycle, 'data.a[0].back'],
  ['a Map', { m: new Map([[1, 2]]) }, 'data.m'],
  ['a Map', { m: other('new Map([[1, 2]])') }, 'data.m'],
  ['a Set', [new Set([1])], 'data[0]'],
  ['a Set', other('[new Set([1])]'), 'data[0]'],
  ['a typed array', { bytes: new Uint8Array(3) }, 'data.bytes'],
  ['a typed array', { bytes: other('new Float64Array(2)') }, 'data.bytes'],
  ['an ArrayBuffer', [new ArrayBuffer(3)], 'data[0]'],
  ['a SharedArrayBuffer', [new SharedArrayBuffer(3)], 'data[0]'],
  ['a DataView', [new DataView(new ArrayBuffer(3))], 'data[0]'],
  ['a Promise', { p: Promise.resolve(1) }, 'data.p'],
  ['a Promise', { p: other('Promise.resolve(1)') }, 'data.p'],
  ['a regular expression', { r: /x/ }, 'data.r'],
  ['an Error', { e: new Error('x') }, 'data.e'],
  ['an Error', { e: new DOMException('x') }, 'data.e'],
  ['a WeakRef', { w: new WeakRef({}) }, 'data.w'],
  ['an iterator', { i: [1][Symbol.iterator]() }, 'data.i'],
  ['a Blob', { b: new Blob(['a']) }, 'data.b'],
  ['a Headers', { h: new Headers({ a: 'b' }) }, 'data.h'],
  ['a URLSearchParams', { q: new URLSearchParams('a=1') }, 'data.q'],
  ['a FormData', { f: new FormData() }, 'data.f'],
  ['not me', { a: thrower }, 'data.a'],
  ['not you', { a: [throwing] }, 'data.a[0].b'],
  ['nor that', { a: trapped }, 'data.a'],
  ['out of my range', { get a() { throw new RangeError('out of my range'); } }, 'data.a'],
  ['of a string', { get a() { throw new RangeError('the end of a string'); } }, 'data.a'],
  ['too deeply', deep, 'data'],
];
for (const [what, data, path] of refused) {
  test(`${what} at ${path} is INVALID_DATA`, async () => {
    const result = await engine.execute('(d) => 1', data);

    assert.equal(result.code, 'INVALID_DATA');
    assert.ok(result.error.includes(what), result.error);
    assert.equal(result.path, path);
    assert.ok(path === 'data' ? result.error.startsWith('the input is ') : result.error.endsWith(` at ${path}`), result.error);
  });
}

test('what JSON has a form for arrives in it', async () => {
  const data = {
    date: new Date(0), nothing: undefined, list: [undefined, NaN, -0], own: { toJSON: () => 'said' },
    twice: [cycle.none, 1], shared: [deep.none],
  };
  const shared = { x: 1 };

  assert.deepEqual((await engine.execute('(d) => d', data)).value, JSON.parse(JSON.stringify(data)));
  assert.deepEqual((await engine.execute('(d) => d', [shared, shared])).value, [{ x: 1 }, { x: 1 }]);
  assert.equal((await engine.execute('(d) => String(d)', undefined)).value, 'null');
});

test('a large input arrives whole, whatever its characters', async () => {
  for (const piece of ['x', 'ä', '€', '😀', 'x😀']) {
    const text = piece.repeat(400000);
    const result = await engine.execute('(d) => [d.length, d]', text);
    assert.equal(result.value[0], text.length);
    assert.equal(result.value[1], text);
  }
});

test('a large input is a snapshot: what is changed afterwards does not get in', async () => {
  const data = records(20000);
  const call = engine.execute('(d) => d.filter((x) => x.risk === -1).length', data);
  for (const one of data) one.risk = -1;

  assert.equal((await call).value, 0);
});

test('what is done to an input after the call decides nothing', async () => {
  const call = async (data, change) => {
    const result = engine.execute('(d) => (d.rows ?? d).length', data);
    change(data);
    return result;
  };
  for (const n of [2000, 50000]) { // handed over at once, and in slices
    const { proxy, revoke: end } = Proxy.revocable({ rows: records(n) }, {});
    const none = () => assert.fail('read again');
    const results = await Promise.all([
      call(proxy, end),
      call({ rows: records(n) }, (data) => (data.callback = none)),
      call({ rows: records(n) }, (data) => (data.rows[n - 1] = none)),
      call(records(n), (data) => data.push(none)),
      call(records(n), (data) => (data[n - 1].tags = new Map())),
      call(records(n), (data) => data[n - 1].tags.push(data)),
      call(records(n), (data) => data.forEach((one) => Object.defineProperty(one, 'tags', { get: none }))),
    ]);

    assert.deepEqual(results.map(({ value, error }) => error ?? value), results.map(() => n));
  }
});

test('what JSON drops is found before the call returns', async () => {
  for (const n of [2000, 50000]) {
    for (const member of [() => 1, new Map(), Symbol('x')]) {
      const data = { rows: records(n), member };
      const call = engine.execute('(d) => 1', data);
      delete data.member;

      assert.equal((await call).path, 'data.member');
    }
  }
});

test('the search ends, whatever an input is made of', async () => {
  const endless = () => new Proxy({}, { ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }), get: (_, key) => (key === 'a' ? endless() : undefined) });
  assert.match((await engine.execute('(d) => 1', endless())).error, /too deeply/);
});

test('a function at the end of a large input is found', async () => {
  const data = records(50000);
  data[49999].callback = () => 1;
  const result = await engine.execute('(d) => d.length', data);

  assert.equal(result.code, 'INVALID_DATA');
  assert.equal(result.path, 'data[49999].callback');
});

test('a function at the end of a large input is found before functions of the host are called', async () => {
  const own = new SandboxEngine({ memoryLimit: 512 });
  let asked = 0;
  await own.expose({ ask: async () => ++asked });
  const data = records(50000);
  data[49999].callback = () => 1;

  assert.equal((await own.execute('async (d) => ask()', data)).code, 'INVALID_DATA');
  assert.equal(asked, 0);
  assert.equal((await own.execute('async (d) => ask()', records(50000))).value, 1);
  await own.close();
});

test('input that is JSON already is taken as text or bytes', async () => {
  const json = JSON.stringify(records(20000));

  for (const inputJson of ['[1,2]', json, Buffer.from('[1,2]'), Buffer.from(json)]) {
    const result = await engine.run({ code: '(d) => d.length', inputJson });
    assert.ok(result.ok, result.error);
    assert.equal(result.value, inputJson.length < 10 ? 2 : 20000);
  }
  assert.equal((await engine.run({ code: '(d) => d', inputJson: '{"a":' })).code, 'INVALID_DATA');
});

test('100 MB of JSON go in as bytes', async () => {
  const bytes = Buffer.from(`["${'x'.repeat(100_000_000)}"]`);
  const { value, error } = await engine.run({ code: '(d) => d[0].length', inputJson: bytes });
  assert.equal(value, 100_000_000, error);
});

test('a dataset that is none is refused, although the engine has yet to start', async () => {
  const own = new SandboxEngine();
  const refused = assert.rejects(own.load('f', { f() {} }),
    { name: 'TypeError', message: /a function at data\.f/ });
  await new Promise((resolve) => setTimeout(resolve, 50)); // nothing else is left unhandled

  await refused;
  await own.close();
});

test('datasets are there in every call, pristine, and can be replaced', async () => {
  const own = new SandboxEngine();
  // Not awaited: a call waits for a dataset that is on its way.
  const loading = own.load('orders', records(2000));

  assert.equal((await own.execute('() => { const n = datasets.orders.length; datasets.orders.length = 0; return n; }')).value, 2000);
  await loading;
  assert.equal((await own.execute('() => datasets.orders.length')).value, 2000);
  await own.load('orders', [1]);
  await own.loadJson('more', '{"a":[1,2,3]}');
  await own.loadJson('bytes', Buffer.from('[1]'));
  assert.deepEqual((await own.execute('() => [datasets.orders, datasets.more.a.length, datasets.bytes]')).value, [[1], 3, [1]]);
  assert.deepEqual((await own.run({ code: '(d, i) => [d, i]', dataset: 'orders', input: 5 })).value, [[1], 5]);
  assert.deepEqual((await own.run({ code: '(all) => Object.keys(all).sort()', dataset: '*' })).value, ['bytes', 'more', 'orders']);
  await assert.rejects(own.run({ code: '() => 1', dataset: 7 }), { name: 'TypeError', message: /dataset/ });
  await assert.rejects(own.load('not a name', 1), { name: 'TypeError' });
  await assert.rejects(own.load(5, 1), { name: 'TypeError', message: /name/ });
  await assert.rejects(own.load('f', { f() {} }), { name: 'TypeError', message: /a function at data\.f/ });
  await assert.rejects(own.load('u', undefined), TypeError);
  await assert.rejects(own.loadJson('broken', '{"a":}'), { code: 'GBX_E_DATA' });
  for (const [text, format, value] of [['a,b\n1,x\n', 'csv', [{ a: 1, b: 'x' }]], [Buffer.from('a,b\tc\n1\t2'), 'tsv', [{ 'a,b': 1, c: 2 }]],
    ['{"a":1}\n2\n', 'ndjson', [{ a: 1 }, 2]], ['[3]', 'json', [3]]]) {
    await own.loadText('text', text, format);
    assert.deepEqual((await own.run({ code: '(d) => d', dataset: 'text' })).value, value);
  }
  await assert.rejects(own.loadText('text', 'a,b\n1\n', 'csv'), { code: 'GBX_E_DATA', message: /line 2, column 1: 1 cell/ });
  await own.loadText('text', '# export\n1,2\n3\n', 'csv', { header: false, skip: 1, bad: 'skip' });
  assert.deepEqual((await own.run({ code: '(d) => [d, d.skipped]', dataset: 'text' })).value, [[{ column_1: 1, column_2: 2 }], 1]);
  await assert.rejects(own.loadText('text', '1', 'csv', { skip: -1 }), /^TypeError: options\.skip must be a number of lines/);
  await assert.rejects(own.loadText('text', '1', 'csv', { heads: 1 }), /^TypeError: .*heads/);
  await assert.rejects(own.loadText('text', '1', 'json', { bad: 'skip' }), /format is not one of its values/);
  await assert.rejects(own.loadSqlite('rows', 5), /^TypeError: path must be a string/);
  await assert.rejects(own.loadSqlite('rows', 'x.db'), { code: 'GBX_E_OS', message: /cannot read 'x.db': no such file/ });
  await own.close();
  await assert.rejects(own.load('late', 1), { code: 'GBX_E_CLOSED' });
});

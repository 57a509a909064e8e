// SPDX-License-Identifier: MIT
// datasets: what a model is told when there are many, and when code names one in another way
// than it is called with.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { allow, open, put, upstream } from './box.mjs';
import { connect } from './clients.mjs';
import { listWhenRead } from './wire.mjs';

const command = process.env.GLOVEBOX;

const start = (data, env = {}) => connect('v1', {
  command, args: ['mcp', '--timeout', '60000', ...data.flatMap((d) => ['--data', d])], stderr: 'ignore', env: { ...process.env, ...env },
});

const once = (make) => {
  let made;
  return () => (made ??= make());
};
const withReadings = once(() => start([`orders=${put('orders.json', orders)}`, `readings=${put('readings.json', readings)}`]));
const withBroken = once(() => start([`orders=${put('orders.json', orders)}`, `bad=${put('bad.json', '[1,')}`]));

test('what is told fits a host that cuts at 2,048 characters, whatever is loaded', async () => {
  const row = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`some_column_name_${i}`, 'some text of a length']));
  const wide = put('wide.json', Array(5).fill(row));
  const told = async (sets) => {
    const client = await start(sets);
    const [{ description }] = await listWhenRead(async () => {
      const { tools } = await client.listTools();
      assert.ok(tools[0].description.length <= 2000, `${tools[0].description.length} characters`);
      assert.ok(client.getInstructions().length <= 2000);
      return { tools };
    });
    return description;
  };
  const sets = (count) => Array.from({ length: count }, (_, i) => `set${i}=${wide}`);
  assert.match(await told([`orders=${put('orders.json', orders)}`]), /- orders: 9 records, \d+ bytes\n\norders: \{ id: [^]*for example\n/);
  assert.match(await told(sets(3)), /- set2: 5 records, [\d.]+ kB: some_column_name_0, .*, \.\.\.\n/);
  assert.match(await told(sets(24)), /- set23: 5 records, [\d.]+ kB\b/);
  assert.match(await told(sets(64)), /\nset0, set1, set2, .*, set63\n$/);
});

const call = async (client, args) => (await client.callTool({ name: 'compute', arguments: args })).structuredContent;
const orders = Array.from({ length: 9 }, (_, i) => ({ id: i, bad: i > 6, lines: [i] }));
const readings = Array.from({ length: 5 }, (_, i) => ({ at: i }));

test('code that reads a dataset which could not be read is told so, however it reads it', async () => {
  const client = await withBroken();
  for (const code of [
    '({ orders, bad }) => [orders.length, bad]', '({ bad: b }) => b', 'datasets.bad', 'globalThis.datasets.bad', 'data?.bad',
    '(d) => d["bad"]', '(d) => d[`bad`]', 'const { bad } = data; bad', '(d) => { const all = d; return all.bad }',
    '({ ...all }) => all.bad', '(d) => ["orders", "bad"].map((n) => d[n].length)', 'f(data); function f(x) { return x.bad }',
    '(d) => Object.assign({}, d).bad', '(d) => { for (const o of d.orders) if (o.bad) return 1 }',
  ]) {
    const { ok, value, code: name, hint } = await call(client, { code });
    assert.ok(ok ? !JSON.stringify(value ?? null).includes('bad') : name === 'RUNTIME', code);
    assert.match(hint, /^dataset 'bad' could not be read: line 1, column 4/, code);
  }
  assert.equal((await call(client, { code: 'data.length', dataset: 'bad' })).hint, 'ask the operator of this server to fix this');
});

test('an engine that cannot be made is for who runs the server', async () => {
  const client = await start([`orders=${put('orders.json', orders)}`], { GLOVEBOX_WORKER: '/nonexistent' });
  const { code, error, hint } = await call(client, { code: 'data.length' });
  assert.equal(code, 'UNAVAILABLE');
  assert.match(error, /^cannot open the worker program/);
  assert.equal(hint, 'ask the operator of this server to fix this');
});

test('a field, a string or a variable with the name of such a dataset is none', async () => {
  const client = await withBroken();
  for (const [code, value] of [
    ['(d) => d.orders.filter((o) => o.bad).length', 2], ['(d) => d.orders.map(({ bad }) => bad)[8]', true],
    ['(d) => d.orders[8].bad', true], ['(d) => d.orders.find((o) => o.id === 8).bad', true], ['() => "bad"', 'bad'],
    ['(d) => d.orders.filter((o) => o.id === "bad").length', 0], ['(d) => ({ bad: d.orders.length })', { bad: 9 }],
    ['// bad\n(d) => d.orders.length', 9], ['(d) => { const bad = d.orders.filter((o) => !o.bad); return bad.length }', 7],
  ])
    assert.deepEqual((await call(client, { code })).value, value, code);
});

test('a dataset that is read where it is not: the hint says where it is', async () => {
  const client = await withReadings();
  for (const [args, hint] of [
    [{ code: '(orders, readings) => readings.map((r) => r.at)' }, /^write datasets\.readings: /],
    [{ code: '(d) => d.filter((o) => o.bad)' }, /^data is an object of all datasets: write data\.NAME, or/],
    [{ code: '(readings) => readings.filter((r) => r.at)' }, /^write datasets\.readings: data is an object of all/],
    [{ code: '(d) => d.length' }, /^data is an object of all datasets: write data\.NAME, or/],
    [{ code: 'data[0]' }, /^data is an object of all datasets: write data\.NAME, or/],
    [{ code: '(d) => d.readings.length', dataset: 'orders' }, /^write datasets\.readings: data is the dataset 'orders' itself/],
    [{ code: '({ data }) => data.length', dataset: 'orders' }, /^data is the dataset 'orders' itself: /],
    [{ code: '({ readings }) => readings', dataset: 'orders' }, /^write datasets\.readings: data is the dataset 'orders' itself/],
  ])
    assert.match((await call(client, args)).hint, hint, args.code);
  assert.equal(Object.keys((await call(client, { code: 'data', dataset: null })).value).length, 2);
  assert.equal((await call(client, { code: 'data', dataset: 7 })).error, "'dataset' is not a string");
  assert.equal((await call(client, { code: 'data', dataset: 'x'.repeat(400) })).error, "'dataset' has more than 255 bytes, or a NUL in it");
});

test('a dataset is found by its name, and as its own member', async () => {
  const client = await withReadings();
  for (const code of ['orders.length', 'data.orders.length', '({ orders }) => orders.length', '(data) => data.length', 'datasets.orders.length'])
    assert.equal((await call(client, { code, dataset: 'orders' })).value, 9, code);
  assert.equal((await call(client, { code: 'orders.length + readings.length' })).value, 14);
});

test('a dataset that there is none of: the hint says which there are', async () => {
  const client = await withReadings();
  for (const args of [
    { code: '({ zz }) => zz.length' }, { code: '(d) => d.zz.length' }, { code: '() => datasets.zz.length' },
    { code: '() => datasets.zz.length', dataset: 'orders' }, { code: 'data.zz[0]' },
  ])
    assert.equal((await call(client, args)).hint, "unknown dataset 'zz': there are orders, readings", args.code);
  for (const args of [
    { code: '(d) => d.zz.length', dataset: 'orders' }, { code: '(d) => d.orders.zz.length' },
    { code: '() => { const datasets = { a: {} }; return datasets.a.b.c }' },
    { code: '(d) => d.orders.map(({ zz }) => zz.length)' }, { code: '(d, { zz }) => zz.length', input: {} },
    { code: '() => undefined', dataset: 'orders' }, { code: '(d) => d.orders.forEach(() => {})' },
    { code: '(d) => { console.log(Object.keys(d)); }' }, { code: '({ zz }) => zz', dataset: 'orders' },
  ])
    assert.doesNotMatch((await call(client, args)).hint ?? '', /unknown dataset|itself|object of all/, args.code);
});

test('a runner that has no datasets is refused at the start', () => {
  const { status, stderr } = spawnSync(command,
    ['mcp', '--runner', 'memory', '--data', `orders=${put('orders.json', orders)}`], { input: '', encoding: 'utf8' });
  assert.notEqual(status, 0);
  assert.match(stderr, /this runner has no datasets: 'process' and 'nats:\/\/' have/);
});

test('an input that is read and was not given: the hint says so, and nothing of it else', async () => {
  const client = await start([`orders=${put('orders.json', orders)}`]);
  const hint = async (code, more) => (await call(client, { code, ...more })).hint;
  for (const code of ['(d, i) => i.min', '(data, input) => input[0]', 'input.min', '(d, { min }) => min'])
    assert.equal(await hint(code), "no input was given: send it in the argument 'input'", code);
  const text = { input: '{"ids":[1]}' };
  for (const code of ['(d, i) => i.ids.length', 'input.ids[0]', '(d, input) => input.map(String)'])
    assert.match(await hint(code, text), /^input is a text: .* JSON\.parse\(input\)$/, code);
  assert.equal((await call(client, { code: '(d, i) => i.length', ...text })).value, 11);
  for (const [code, more] of [
    ['(d, i) => i.a.b', { input: {} }], ['(d) => d.map((o, i) => i.min.max)'], ['(d) => d.map((o, i) => o.input.min)'],
    ['({ length }) => length.a.b', {}], ['(d, { min } = {}) => min.a'],
  ])
    assert.doesNotMatch(await hint(code, more), /no input|datasets\.|itself/, code);
});

test('scripts find the datasets of compute, and what a preload declares', async () => {
  const preload = put('lib.js', 'globalThis.taxed = (n) => n * 2; const RATE = 3');
  const endless = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c';
  const wire = await open(allow({ up: upstream('plain') }), { args: ['--preload', preload,
    '--data', `orders=${put('orders.json', orders)}`, '--data', `bad=${put('bad.json', '[1,')}`] });
  const execute = async (code) => (await wire.call('execute', { code })).result.structuredContent;
  assert.equal((await execute('const { items } = await servers.up.list_items(); return [orders.length, datasets.orders[1].id, items.length, taxed(RATE)]')).result + '',
    '9,1,2,6');
  const { result, logs } = await execute('return typeof datasets.bad');
  assert.equal(result, 'undefined');
  assert.match(logs[0], /dataset 'bad' could not be read: line 1, column 4/);
  const { result: { tools } } = await wire.ask('tools/list');
  assert.match(tools.find(({ name }) => name === 'execute').description, /\n- datasets\.orders, datasets\.bad: those of compute\n/);
  for (const { description } of tools) assert.ok(description.length <= 2000);
  const compute = (await wire.call('compute', { code: 'taxed(data.length)', dataset: 'orders' })).result;
  assert.equal(compute.structuredContent.value, 18);
  const reaching = (await wire.call('compute', { code: '() => servers.up.list_items()', dataset: 'orders' })).result;
  assert.match(reaching.structuredContent.error, /^ToolError: only scripts reach servers: use execute$/);
  const exact = (await wire.call('compute', { code: '(d, i) => [typeof i, i]', dataset: 'orders', input: 2 ** 60 })).result;
  assert.deepEqual(exact.structuredContent.value, ['number', 2 ** 60]);

  const slow = await open(allow({ up: upstream('plain') }), { args: ['--data', `orders=${put('orders.json', orders)}`,
    '--data', `slow=sqlite:${put('empty.db', '')}?query=${endless}`] });
  const quick = async (code) => (await slow.call('execute', { code })).result.structuredContent;
  assert.equal((await quick('return 1')).result, 1); // waits for no dataset
  assert.equal((await quick('return orders.length')).result, 9);
  await slow.close(); // its query takes a processor
});

test('the description of execute fits, however many servers there are', async () => {
  for (const [count, wanted] of [[3, /\n- s2: text /], [200, /Servers:\ns0, s1, .*, s\d+, and \d+ more\n$/]]) {
    const server = { command: 'true', glovebox: { description: 'text '.repeat(30) } };
    const wire = await open(allow(Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${i}`, server]))));
    const { result: { tools } } = await wire.ask('tools/list');
    const { description } = tools.find(({ name }) => name === 'execute');
    assert.ok(description.length <= 2000, `${description.length} characters`);
    assert.match(description, wanted);
    await wire.close();
  }
});

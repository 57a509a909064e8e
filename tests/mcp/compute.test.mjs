// SPDX-License-Identifier: MIT
// compute: datasets through `glovebox mcp`, with the official clients: what a model is told,
// what it may write, what it gets back, and what happens when files change.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  ResourceUpdatedNotificationSchema, ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

import { callTool, closeAll, connect } from './clients.mjs';
import { busyOne, isAlive, until } from './processes.mjs';
import { listWhenRead } from './wire.mjs';

const command = process.env.GLOVEBOX;
const folder = mkdtempSync(join(tmpdir(), 'gbx-compute-'));
const file = (name, text) => {
  const path = join(folder, name);
  if (text !== undefined) writeFileSync(path, text);
  return path;
};
after(async () => {
  await closeAll();
  rmSync(folder, { recursive: true, force: true });
});

const people = Array.from({ length: 50 }, (_, i) => ({
  id: i + 1,
  name: `Person ${i}`,
  email: `person${i}@example.com`,
  apiKey: `sk-live-${i}abcdefgh1234`,
  plan: i % 2 === 0 ? 'free' : 'paid',
  total: i * 1.5,
  address: { street: `Road ${i}`, city: 'Berlin' },
}));

const serving = new Map();

/** The one server over the people, for all tests that leave it as it is. */
function serve(timeout) {
  if (!serving.has(timeout))
    serving.set(timeout, start([`people=${file('people.json', JSON.stringify(people))}`], timeout));
  return serving.get(timeout);
}

/** A client, and what it was notified of. A loaded machine may need far longer than the
 * time limit that calls have by default. */
async function start(data, timeout = 60000, more = []) {
  const args = ['mcp', '--timeout', String(timeout), ...data.flatMap((d) => ['--data', d]), ...more];
  const client = await connect('v1', { command, args, stderr: 'pipe' });
  const { transport } = client;
  const seen = { changes: 0, updates: [], stderr: '' };
  transport.stderr.on('data', (chunk) => { seen.stderr += chunk; });
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => { seen.changes++; });
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    seen.updates.push(params.uri);
  });
  return { client, seen, transport };
}

const compute = (client, args, options) =>
  callTool(client, { name: 'compute', arguments: args }, options);

async function value(client, code, more = {}) {
  const { structuredContent: s, content } = await compute(client, { code, ...more });
  assert.equal(s.ok, true, content[0].text);
  assert.deepEqual(JSON.parse(content[0].text), s.value);
  return s.value;
}

const listOf = (count, make) => Array.from({ length: count }, (_, i) => make(i));

async function description(client) {
  const tools = await listWhenRead(() => client.listTools());
  return tools.find((t) => t.name === 'compute').description;
}

test('the description tells types and patterns, and is the same each time', async () => {
  const path = file('people.json', JSON.stringify(people));
  const one = await start([`people=${path}`]);
  const text = await description(one.client);
  const two = await start([`people=${path}`]);
  assert.equal(await description(two.client), text);

  assert.match(text, /\[SANDBOX\]/);
  assert.match(text, /people: 50 records, [\d.]+ kB/);
  assert.match(text, /\{ id: integer; name: string; email: string; apiKey: string; plan: string; total: number; address: \{ street: string; city: string \} \}\[\]/);
  assert.match(text, /email:"xxxxxx0@xxxxxxx\.xxx"/);
  assert.match(text, /plan:"xxxx",total:9/);
  assert.doesNotMatch(text, /example\.com|sk-live|Road|Person|free|paid/);
  assert.ok(text.length <= 2000, `${text.length} characters`);
  assert.doesNotMatch(text, new RegExp(folder));
  await one.client.close();
  await two.client.close();
});

test('a dataset without code is described whole, at any depth, and only so', async () => {
  const deep = listOf(9, (i) => ({ n: i, a: { b: { c: { d: { e: { f: { g: { h: [`secret ${i}`] } } } } } } } }));
  const { client } = await start([`deep=${file('deep.json', JSON.stringify(deep))}`]);
  const { content: [{ text }], structuredContent: s } = await compute(client, { dataset: 'deep' });
  assert.equal(s.value, text);
  assert.match(text, /^9 records\n\n\{ n: integer; a: \{ b: \{ c: \{ d: \{ e: \{ f: \{ g: \{ h: string\[\] /);
  assert.match(text, /\n\[\]\.n: integer, count 9, distinct 9\n/);
  assert.doesNotMatch(text, /secret/);
  for (const args of [{}, { dataset: 'deep', input: 1 }, { code: null, input: 1 }])
    assert.match((await compute(client, args)).structuredContent.hint, /; a dataset without code is described$/);
  await client.close();
});

test('every shape of code that models write', async () => {
  const { client } = await serve();
  for (const code of [
    '(data) => data.length',
    'data => data.length;',
    'async (data) => { return data.length }',
    'function count(data) { return data.length }',
    'async function run(data) { return data.length }',
    'const n = data.length\nreturn n',
    'const n = data.length; n',
    'data.length',
    'await Promise.resolve(data.length)',
    'const count = (data) => data.length; count',
    'const count = (data) => data.length\ncount(data)',
    'export default (data) => data.length',
    'const f = (data) => data.length;\nfunction execute(data) { return f(data) }',
    '```js\n(data) => data.length\n```',
    '// how many?\n(data) => data.length',
    'datasets.people.length',
  ])
    assert.equal(await value(client, code), 50, code);
  assert.deepEqual(await value(client, '(data, input) => [data.length, input.n]', { input: { n: 7 } }), [50, 7]);
  assert.equal(await value(client, '(data, input = 3) => input'), 3);
});

test('types in code do not matter', async () => {
  const { client } = await serve();
  assert.equal(await value(client, '(data: { id: number }[], input?: any): number => data.length'), 50);
});

test('a value that looks as if something was missing names the field that no record has', async () => {
  const { client } = await serve();
  const { structuredContent: s, content } = await compute(client, { code: "(data) => data.filter((p) => p.Plan === 'free').length" });
  assert.deepEqual([s.ok, s.value, s.hint], [true, 0, "no record has 'Plan' (line 1): did you mean 'plan'?"]);
  assert.equal(content[0].text, "0\nhint: no record has 'Plan' (line 1): did you mean 'plan'?");
});

test('a hint is for a model, which can change its code and no setting', async () => {
  const [patient, hasty] = [await serve(), await serve(300)];
  for (const [code, said, by = patient] of [
    ['() => fetch', /fetch is off here/], ["async () => fetch('https://a.example')", /fetch is off here/], ['() => fs', /files are off here/],
    ['() => { const a = []; for (;;) a.push(new Uint8Array(1e7).fill(1)); }', /in smaller pieces/], ['() => { for (;;); }', /do less at once/, hasty],
    ['() => 1n', /return String\(n\)/],
  ]) {
    const { structuredContent: s, content } = await compute(by.client, { code });
    assert.match(s.hint, said, code);
    assert.doesNotMatch(content[0].text, /--allow|raise/, code);
  }
});

test('what fails says where, shows it, and how to repair it', async () => {
  const { client } = await serve();
  const thrown = await compute(client, { code: '(data) =>\n  data.map((d) => d.adress.city)' });
  assert.equal(thrown.isError, true);
  assert.equal(thrown.structuredContent.code, 'RUNTIME');
  assert.equal(thrown.structuredContent.location.line, 2);
  assert.equal(thrown.structuredContent.location.column, 27);
  assert.match(thrown.structuredContent.location.frame, /> +2 \| +data\.map/);
  assert.match(thrown.content[0].text, /^RUNTIME: TypeError: .*\nat line 2, column 27\n/);
  assert.match(thrown.content[0].text, /hint: /);

  const code = async (args) => (await compute(client, args)).structuredContent.code;
  assert.equal(await code({ code: '(data) => {' }), 'SYNTAX');
  const hasty = await serve(300);
  assert.equal((await compute(hasty.client, { code: '() => { for (;;); }' })).structuredContent.code, 'TIMEOUT');
  assert.equal(await code({ code: '() => eval("1")' }), 'INVALID_CODE');
  assert.equal(await code({ code: '() => new Array(1e9).fill(0)' }), 'MEMORY');
  assert.equal(await code({ code: '() => Array.from({ length: 2e6 }, (_, i) => i)' }), 'OUTPUT_TOO_LARGE');
  assert.equal(await code({}), 'INVALID_ARGS');
  assert.equal(await code({ code: 7 }), 'INVALID_ARGS');
  assert.equal(await code({ code: '1', dataset: 'peple' }), 'INVALID_ARGS');
  const named = await compute(client, { code: '1', dataset: 'peple' });
  assert.match(named.content[0].text, /did you mean 'people'/);
  const halved = await compute(client, { code: '() => "\ud800"' });
  assert.match(halved.content[0].text, /'code' has half of a surrogate pair in it/);
  assert.equal((await compute(client, { code: '() => "a\0b".length' })).structuredContent.value, 3);
  const misnamed = await compute(client, { code: '1', inputs: {} });
  assert.match(misnamed.content[0].text, /did you mean 'input'/);
});

test('silence is said in words, and logs come with the answer', async () => {
  const { client } = await serve();
  const silent = await compute(client, { code: '(data) => { for (let i = 0; i < 3; i++) console.warn("line", i) }' });
  assert.equal(silent.content[0].text, 'the function returned undefined; 3 log lines');
  assert.equal(silent.content[1].text, '3 log lines:\n[warn] line 0\n[warn] line 1\n[warn] line 2');
  assert.deepEqual(silent.structuredContent.logs[2], { level: 'warn', text: 'line 2' });
  assert.equal('value' in silent.structuredContent, false);
});

test('console lines are progress while the code runs', async () => {
  const { client } = await serve();
  const seen = [];
  let hasEnded = false;
  const early = new Promise((resolve) => {
    compute(client, { code: 'async () => { console.log("begun"); await sleep(1500); return 1 }' }, {
      onprogress: (p) => { seen.push(p.message); resolve(hasEnded); },
    }).then(() => { hasEnded = true; }, () => {});
  });
  assert.equal(await early, false);
  assert.deepEqual(seen, ['begun']);
});

test('a long result is cut in the open, and can be paged through', async () => {
  const { client } = await serve();
  const whole = JSON.stringify(Array.from({ length: 3000 }, (_, i) => ({ i, text: `ü${i}` })));
  const { content, structuredContent: s } = await compute(client, {
    code: '() => Array.from({ length: 3000 }, (_, i) => ({ i, text: `ü${i}` }))',
  });
  const [first] = content[0].text.split('\n');
  assert.match(first, /return less/);
  assert.match(first, new RegExp(`of ${Buffer.byteLength(whole)} bytes`));
  assert.ok(Buffer.byteLength(content[0].text) < 41_000);
  assert.equal('value' in s, false);
  assert.equal(s.truncated.bytes, Buffer.byteLength(whole));
  assert.ok(content.some((c) => c.type === 'resource_link' && c.uri === s.truncated.resource));

  let text = '';
  let next = `${s.truncated.resource}?offset=0&length=40000`;
  while (next !== undefined) {
    const { contents: [page] } = await client.readResource({ uri: next });
    assert.equal(page.uri, next);
    text += page.text;
    next = page._meta.next;
  }
  assert.equal(text, whole);
});

test('several datasets: by name, or all in one object', async () => {
  const { client } = await start([
    `people=${file('people.json', JSON.stringify(people))}`,
    `cities=${file('cities.csv', 'name;pop\nBerlin;3700000\nBonn;330000\n')}`,
    `events=${file('events.ndjson', '{"t":1}\n{"t":2}\n{"t":3}\n')}`,
  ]);
  const text = await description(client);
  assert.match(text, /cities: 2 records/);
  assert.match(text, /events: 3 records/);
  assert.deepEqual(await value(client, '({ people, cities, events }) => [people.length, cities[1].pop, events.length]'), [50, 330000, 3]);
  assert.equal(await value(client, '(data) => data.length', { dataset: 'events' }), 3);
  assert.equal(await value(client, 'data.cities.length'), 2);
  assert.deepEqual(await value(client, '(data, input) => [data[0].name, input]', { dataset: 'cities', input: 1 }), ['Berlin', 1]);
  const { structuredContent: s } = await compute(client, { code: 'data', dataset: 'citie' });
  assert.deepEqual([s.code, s.error, s.hint], ['INVALID_ARGS',
    "unknown dataset 'citie': there are people, cities, events", "did you mean 'cities'?"]);
  await client.close();
});

test('a query that runs on delays only calls that use it', async () => {
  const endless = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) AS n FROM c';
  const slow = Array.from({ length: 7 }, (_, i) => `s${i}=sqlite:${file('empty.db', '')}?query=${endless}`);
  const { client, transport } = await start([
    ...slow, `orders=${file('orders.json', '[1,2,3]')}`, `cities=${file('two.csv', 'name;pop\nBerlin;1\n')}`,
  ]);
  const stop = new AbortController();
  const late = [
    { code: 'data.n', dataset: 's0' }, { code: '(all) => all.orders.length' },
    { code: '(data) => [data.length, datasets.s0]', dataset: 'orders' },
  ].map((args) => compute(client, args, { signal: stop.signal }).then(() => 'answered', () => 'cancelled'));

  assert.equal(await value(client, 'data.length', { dataset: 'orders' }), 3);
  assert.equal(await value(client, 'data[0].pop', { dataset: 'cities' }), 1);
  const text = (await client.listTools()).tools[0].description;
  assert.match(text, /s0: being read/);
  assert.match(text, /- orders: 3 elements, [^]*\norders: integer\[\]\n/);
  const { contents: [resource] } = await client.readResource({ uri: 'glovebox://dataset/orders' });
  assert.equal(JSON.parse(resource.text).type, 'integer[]');
  stop.abort();
  assert.deepEqual(await Promise.all(late), ['cancelled', 'cancelled', 'cancelled']);

  const server = transport._process;
  server.stdin.end(); // close() would kill it
  assert.deepEqual(await once(server, 'exit'), [0, null]);
  await client.close();
});

test('files that are quick are in the order of the list, in the object of all', async () => {
  const names = Array.from({ length: 9 }, (_, i) => `d${(i * 7) % 9}`);
  const { client } = await start(names.map((name, i) => `${name}=${file(`${name}.json`, `[${i}]`)}`));
  assert.deepEqual(await value(client, '(all) => Object.keys(all)'), names);
  await client.close();
});

test('a call finds the data as it was loaded, whatever the last did to it', async () => {
  const { client } = await serve();
  for (let i = 0; i < 6; i++)
    assert.equal(await value(client, '(data) => { const n = data.length; data.length = 0; return n }'), 50);
});

test('values are told where they are shown', async () => {
  const data = [`people=${file('people.json', JSON.stringify(people))}`];
  const { client, seen } = await start(data, undefined,
    ['people.plan', 'people.address.city', 'people.nothing'].flatMap((field) => ['--show', field]));
  const text = await description(client);
  assert.match(text, /plan: "free" \| "paid"; total/);
  assert.match(text, /email:"xxxxxx0@xxxxxxx\.xxx".*,plan:"free",total:9,address:\{street:"Xxxx 0",city:"Berlin"/);
  await until(() => /'--show people\.nothing': no record has such a field/.test(seen.stderr));
  const all = await start(data, undefined, ['--examples', 'values']);
  assert.match(await description(all.client), /email:"person0@example\.com"/);
  const none = await start(data, undefined, ['--examples', 'none']);
  assert.doesNotMatch(await description(none.client), /for example|xxx/);
});

test('limits of calls are none of descriptions', async () => {
  const data = [`people=${file('people.json', JSON.stringify(people))}`];
  const { client } = await start(data, undefined, ['--max-output', '100']);
  assert.match(await description(client), /plan: string; total: /);
  assert.equal(await value(client, '(data) => data.length'), people.length);
  const { structuredContent } = await client.callTool({ name: 'compute', arguments: { code: '(data) => data' } });
  assert.equal(structuredContent.code, 'OUTPUT_TOO_LARGE');
});

test('names and values that are told steer no terminal', async () => {
  const odd = [{ 'a\u202e\nb': 'c\u001b[31m\u2066d\u0085' }];
  const { client } = await start([`odd=${file('odd.json', JSON.stringify(odd))}`], undefined, ['--examples', 'values']);
  const text = await description(client);
  assert.match(text, /\{ "a\\u202e\\nb": string \}\[\]/);
  assert.match(text, /\{"a\\u202e\\nb":"c\\u001b\[31m\\u2066d\\u0085"\}/);
  assert.doesNotMatch(text, /[\u001b\u202e\u2066\u0085]/);
});

test('statistics tell counts, and figures of what is shown', async () => {
  const { client } = await start([`people=${file('people.json', JSON.stringify(people))}`], undefined,
    ['--show', 'people.total', '--show', 'people.plan']);
  assert.equal(await value(client, 'data.length'), people.length); // then it is read, however long that takes
  const { resources } = await client.listResources();
  assert.deepEqual(resources.map((r) => r.uri), ['glovebox://dataset/people']);
  const { contents: [{ text }] } = await client.readResource({ uri: resources[0].uri });
  const about = JSON.parse(text);
  assert.equal(about.file, 'people.json');
  const field = (name) => about.fields.find((f) => f.field === `[].${name}`);
  assert.deepEqual(field('total'), { field: '[].total', kinds: ['integer', 'number'], count: 50, nulls: 0, distinct: 50, min: 0, max: 73.5, mean: 36.75 });
  assert.deepEqual(field('plan').top, [{ value: 'free', count: 25 }, { value: 'paid', count: 25 }]
    .sort((a, b) => (a.value === field('plan').top[0].value ? -1 : 1)));
  assert.deepEqual(field('email'), { field: '[].email', kinds: ['string'], count: 50, nulls: 0, distinct: 50 });
  assert.doesNotMatch(text, /Person \d|example\.com|sk-live|Road/);
  await assert.rejects(client.readResource({ uri: 'glovebox://dataset/other' }));
});

test('a call that is cancelled is gone, and delays nobody', async () => {
  const { client, transport } = await serve();
  await value(client, 'data.length');
  const stop = new AbortController();
  const spinning = compute(client, { code: '() => { for (;;); }' }, { signal: stop.signal });
  const others = await Promise.all(Array.from({ length: 31 }, (_, i) => value(client, `(data) => data.length + ${i}`)));
  assert.deepEqual(others, Array.from({ length: 31 }, (_, i) => 50 + i));
  const pid = await busyOne(transport.pid);
  stop.abort();
  await assert.rejects(spinning);
  await until(() => !isAlive(pid));
  assert.equal(await value(client, 'data.length'), 50);
});

test('a file that changes is read again; a call that runs keeps what it had', async () => {
  const path = file('live.json', '[1,2,3]');
  const { client, seen } = await start([`live=${path}`]);
  assert.equal(await value(client, 'data.length'), 3);
  const before = await description(client);
  await client.subscribeResource({ uri: 'glovebox://dataset/live' });
  let begun;
  const isBegun = new Promise((resolve) => { begun = resolve; });
  const running = compute(client, {
    code: 'async (data) => { console.log("begun"); const a = data.length; await sleep(2500); return [a, data.length, datasets.live.length] }',
  }, { onprogress: begun });
  await isBegun;
  writeFileSync(`${path}.new`, '[1,2,3,4]');
  renameSync(`${path}.new`, path);
  await until(async () => (await value(client, 'data.length')) === 4);
  await until(() => seen.changes > 0 && seen.updates.length > 0);
  assert.notEqual(await description(client), before);
  assert.deepEqual((await running).structuredContent.value, [3, 3, 3]);

  writeFileSync(path, '[1,2,3,4,5]'); // in place
  await until(async () => (await value(client, 'data.length')) === 5);
  await client.close();
});

test('broken, truncated or gone: the data before stays, and it is said', async () => {
  const path = file('fragile.json', '[1,2,3]');
  const { client, seen } = await start([`fragile=${path}`]);
  assert.equal(await value(client, 'data.length'), 3);
  writeFileSync(path, '[1,2,');
  await until(async () => /could not be read again \(line 1, column 6: /.test(await description(client)));
  assert.match(seen.stderr, /dataset 'fragile': line 1, column 6: .*; what was read before stays/);
  assert.equal(await value(client, 'data.length'), 3);
  const { contents: [{ text }] } = await client.readResource({ uri: 'glovebox://dataset/fragile' });
  assert.match(JSON.parse(text).problem, /line 1, column 6/);

  writeFileSync(path, '[1,2,3]');
  await until(async () => !/could not be read/.test(await description(client)));
  truncateSync(path, 3);
  await until(async () => /could not be read again/.test(await description(client)));
  unlinkSync(path);
  await until(async () => /No such file/.test(await description(client)));
  assert.equal(await value(client, 'data.length'), 3);
  assert.doesNotMatch(await description(client), new RegExp(folder));
  writeFileSync(path, '[9]');
  await until(async () => (await value(client, 'data[0]')) === 9);
  await client.close();
});

test('a dataset that a policy leaves no room to describe can be used', async () => {
  const policy = file('narrow.json', '{"limits":{"outputBytes":100}}');
  const { client } = await start([`few=${file('few.csv', 'a,b\n1,2\n')}`], undefined, ['--policy', policy]);
  assert.match(await description(client), /few: cannot be described \(OUTPUT_TOO_LARGE: .*\), 8 bytes\n/);
  assert.deepEqual(await value(client, 'data[0]'), { a: 1, b: 2 });
});

test('a file that is broken at the start is told of, and taken when it is whole', async () => {
  const path = file('late.csv', 'a,b\n1\n');
  const { client, seen } = await start([`late=${path}`]);
  assert.match(await description(client), /late: cannot be used: line 2, column 1: 1 cell where the first line names 2/);
  const { isError, structuredContent: s } = await compute(client, { code: 'data.length' });
  assert.equal(isError, true);
  assert.equal(s.code, 'UNAVAILABLE');
  writeFileSync(path, 'a,b\n1,2\n');
  await until(async () => /late: 1 record\b/.test(await description(client)));
  await until(async () => (await compute(client, { code: 'data.length' })).structuredContent.value === 1);
  assert.ok(seen.changes > 0);
  await client.close();
});

test('rows of a database, again after a commit; a query can only read', async () => {
  const sqlite = await import('node:sqlite');
  const path = file('shop.db');
  const db = new sqlite.DatabaseSync(path);
  db.exec("PRAGMA journal_mode=WAL; CREATE TABLE orders(id INTEGER PRIMARY KEY, total REAL); INSERT INTO orders(total) VALUES (1.5), (2.5)");
  const query = (sql) => `q=sqlite:${path}?query=${encodeURIComponent(sql)}`;
  const { client } = await start([query('SELECT * FROM orders WHERE total > 2 ORDER BY id')]);
  assert.deepEqual(await value(client, 'data'), [{ id: 2, total: 2.5 }]);
  db.exec('INSERT INTO orders(total) VALUES (9)');
  await until(async () => (await value(client, 'data.length')) === 2);
  await client.close();

  const changes = [
    'DELETE FROM orders', "ATTACH 'x.db' AS x", 'PRAGMA table_info(orders)', "SELECT load_extension('x')",
    "SELECT * FROM pragma_table_info('orders')", "VACUUM INTO 'copy.db'", 'INSERT INTO orders(total) VALUES (1) RETURNING id',
  ];
  const refused = await start(changes.map((sql, i) => query(sql).replace('q', `q${i}`)));
  const text = await description(refused.client);
  for (const [i, sql] of changes.entries()) {
    assert.match(text, new RegExp(`- q${i}: cannot be used: `), sql);
    assert.equal((await compute(refused.client, { code: 'data', dataset: `q${i}` })).isError, true, sql);
  }
  await refused.client.close();
  assert.equal(db.prepare('SELECT count(*) AS n FROM orders').get().n, 3);
  db.close();
});

test('a database that somebody holds is asked again until he lets it go', async () => {
  const sqlite = await import('node:sqlite');
  const path = join(folder, 'held.db');
  const db = new sqlite.DatabaseSync(path);
  db.exec('CREATE TABLE t (a); INSERT INTO t VALUES (1), (2); BEGIN EXCLUSIVE');
  const { client } = await start([`held=sqlite:${path}?query=SELECT a FROM t`]);
  const held = await client.callTool({ name: 'compute', arguments: { code: 'data.length' } });
  assert.match(held.content[0].text, /^UNAVAILABLE: dataset 'held' .*locked\nhint: somebody holds the database/);
  db.exec('ROLLBACK'); // nothing changes
  await until(async () => !(await client.callTool({ name: 'compute', arguments: { code: 'data.length' } })).isError);
  assert.equal(await value(client, 'data.length'), 2);
  db.close();
  await client.close();
});

test('a dataset that could not be read is not silently missing among the others', async () => {
  const gone = join(folder, 'gone.json');
  const { client } = await start([`gone=${gone}`, `good=${file('good.json', '[1,2]')}`, `bad=${file('bad.json', '[1,')}`, `never=${gone}.csv`]);
  for (const code of ['({ good, bad }) => [good.length, bad]', 'datasets.bad', '(d) => d.good.length + d.bad.length']) {
    const result = await client.callTool({ name: 'compute', arguments: { code } });
    assert.match(result.content[0].text, /^hint: dataset 'bad' could not be read/m, code);
  }
  assert.equal(await value(client, '({ good }) => good.length'), 2);
  assert.equal(await value(client, '(d) => "badly".length + d.good.length'), 7);
  const none = await client.callTool({ name: 'compute', arguments: { code: 'data.length', dataset: 'gone' } });
  assert.match(none.content[0].text, /^UNAVAILABLE: dataset 'gone' could not be read: cannot read 'gone\.json': No such file/);
  assert.match(await description(client), /gone: cannot be used: cannot read 'gone\.json'/);
  file('gone.json', '[1,2,3]'); // it is read as soon as it is there
  await until(async () => !(await client.callTool({ name: 'compute', arguments: { code: 'data.length', dataset: 'gone' } })).isError);
  assert.equal(await value(client, '({ gone }) => gone.length'), 3);
  await client.close();
});

test('a table without records is told by the names of its columns', async () => {
  const { client } = await start([
    `csv=${file('header.csv', 'id,total\n')}`,
    `rows=sqlite:${file('none.db', '')}?query=SELECT 1 AS a, 'x' AS b WHERE 0; -- none`,
    `lines=${file('none.ndjson', '')}`,
  ]);
  const text = await description(client);
  assert.match(text, /- csv: 0 records, 9 bytes\n[^]*\ncsv: \{ id: unknown; total: unknown \}\[\]\n/);
  assert.match(text, /- rows: 0 records, 2 bytes as JSON\n[^]*\nrows: \{ a: unknown; b: unknown \}\[\]\n/);
  const about = async (name) => JSON.parse((await client.readResource({ uri: `glovebox://dataset/${name}` })).contents[0].text);
  assert.deepEqual([(await about('csv')).bytes, (await about('csv')).jsonBytes], [9, undefined]);
  assert.deepEqual([(await about('rows')).bytes, (await about('rows')).jsonBytes], [undefined, 2]);
  assert.deepEqual([(await about('lines')).bytes, (await about('lines')).jsonBytes], [0, undefined]);
  assert.match(text, /lines: 0 elements, 0 bytes\n/);
  assert.deepEqual(await value(client, '(all) => all'), { csv: [], rows: [], lines: [] });
  await client.close();
});

test('the modern protocol has the same tool', async () => {
  const client = await connect('v2 pinned', {
    command, args: ['mcp', '--data', `people=${file('people.json', JSON.stringify(people))}`], stderr: 'pipe',
  });
  const { structuredContent } = await client.callTool({ name: 'compute', arguments: { code: '(data) => data.length' } });
  assert.equal(structuredContent.value, 50);
  await client.close();
});

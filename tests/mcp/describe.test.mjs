// SPDX-License-Identifier: MIT
// What a model is told of a dataset: types, sizes, patterns; and values that are shown.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inBox } from './scripts.mjs';
import { table } from './tables.mjs';

const USUAL = { examples: 'patterns', shown: [], records: 100000, isTable: false, isWhole: false, room: 10000, brief: 10000 };

/** The descriptions of datasets, each a text of JSON, or [text, options]. */
const described = (sets) => inBox(`(sets) => sets.map(([json, options]) => describe(JSON.parse(json), options))`,
  sets.map((set) => {
    const [json, options = {}] = typeof set === 'string' ? [set] : set;
    return [json, { ...USUAL, ...options }];
  }));
const values = { examples: 'values' };
const json = JSON.stringify;
const listOf = (count, make) => Array.from({ length: count }, (_, i) => make(i));
const mapOf = (count, make, prefix = 'k') => Object.fromEntries(listOf(count, (i) => [prefix + i, make(i)]));

test('descriptions are those of the table', () => {
  const rows = table('describe').map(([title, lines]) => [...title.match(/^(\w+) (\w+) (.*)$/s).slice(1), lines.join('\n')]);
  assert.ok(rows.length >= 44);
  const all = described(rows.map(([examples, , text]) => [text, { examples }]));
  rows.forEach(([, part, text, wanted], i) => {
    const is = part === 'statistics' ? json(all[i].fields) : all[i][part].trimEnd();
    assert.equal(is, wanted, text);
  });
});

test('values are shown of the fields that are named', () => {
  const data = json([{ id: 17, a: { b: ['now', 'new'], c: 'old' }, 'x.y': 'dot', byId: { u12345678: { n: 5, m: 6 } } }]);
  const hidden = { id: 'id:99', b: 'b:["xxx","xxx"]', c: 'c:"xxx"', dot: '"x.y":"xxx"', key: '"x00000000"', n: 'n:9', m: 'm:9' };
  const rows = [
    ['id', { id: 'id:17' }], ['a.b', { b: 'b:["now","new"]' }], ['a', { b: 'b:["now","new"]', c: 'c:"old"' }],
    ['x.y', { dot: '"x.y":"dot"' }], ['byId.n', { n: 'n:5' }], ['a.d', {}, 0], ['i', {}, 0],
    ['', { id: 'id:17', b: 'b:["now","new"]', c: 'c:"old"', dot: '"x.y":"dot"', key: '"u12345678"', n: 'n:5', m: 'm:6' }],
  ];
  const all = described(rows.map(([path]) => [data, { shown: [path] }]));
  rows.forEach(([path, shown, lost = -1], i) => {
    const { id, b, c, dot, key, n, m } = { ...hidden, ...shown };
    assert.equal(all[i].examples, `{${id},a:{${b},${c}},${dot},byId:{${key}:{${n},${m}}}}\n`, path);
    assert.equal(all[i].lost, lost, path);
  });
});

// With a dataset of the same form and other values, the description is the same.
test('values leave no letter and no digit in what is told', () => {
  const forms = [(v) => [v], (v) => [v, v, v, v, v, v], (v) => v, (v) => [{ status: v }],
    (v) => listOf(5, () => ({ status: v })), (v) => [{ a: [v, v] }, { a: [[v]] }],
    (v) => ({ a: { b: { c: { d: { e: { f: { g: v } } } } } } }), (v) => [{ name: 'password', value: v }],
    (v) => ({ columns: ['a'], rows: [[v], [v]] }), (v) => [['a', 'b'], [v, v]]];
  const pairs = [['ada@example.com', 'bob@mailing.net'], ['hunter2', 'qwertz9'], ['\u00c4nderung', '\u0414\u0435\u043c\u043e\u043d\u043e\u0432\u0430'],
    [4111111111111111, 5500000000000004], [-17.25, -39.68], [true, false], ['+49 170 1234567', '+31 612 7654321'],
    ['open', 'paid']];
  const cases = forms.flatMap((form) => pairs.map(([one, other]) => [json(form(one)), json(form(other))]));
  const all = described(cases.flat());
  assert.ok(cases.length >= 40);
  cases.forEach(([one], i) => assert.deepEqual(all[2 * i], all[2 * i + 1], one));
});

test('columns without records are told by name', () => {
  const columns = ['id', 'a b', 'ada@example.com'];
  const [whole, part] = described([1000, 4].map((room) => ['[]', { columns, room, isTable: true }]));
  assert.equal(whole.type, '{ id: unknown; "a b": unknown; "xxx@xxxxxxx.xxx": unknown }[]');
  assert.equal(whole.size, '0 records');
  assert.equal(part.type, '{ id: unknown; /* and 2 more fields */ }[]');
});

test('objects of many records under their ids are maps', () => {
  const record = { pay: 5000, on: '2024-05-01' };
  const [large, alike, lists, many, mixed] = described([
    [json(mapOf(600, (i) => (i === 0 ? { n: 1 } : { n: 3, price: 1.5 }))), values],
    json(mapOf(21, (i) => (i === 0 ? { pay: 4000 } : record))),
    json(mapOf(21, (i) => (i === 0 ? [{ pay: 1 }] : [{ pay: 2 }, { pay: 3 }]))),
    json(mapOf(3000, () => ({ a: 1, b: 2, c: 3 }))),
    json({ ...mapOf(600, (i) => (i === 0 ? 1.5 : 'a')), b: null }),
  ]);
  assert.equal(large.type, 'Record<string, { n: integer; price?: number }>');
  assert.equal(json(large.fields), '[{"field":"[key]","kinds":["object"],"count":600,"nulls":0},'
    + '{"field":"[key].n","kinds":["integer"],"count":600,"nulls":0,"distinct":2,"min":1,"max":3,"mean":2.99667,'
    + '"top":[{"value":3,"count":599},{"value":1,"count":1}]},'
    + '{"field":"[key].price","kinds":["number"],"count":599,"nulls":0,"missing":1,"distinct":1,"min":1.5,"max":1.5,'
    + '"mean":1.5,"top":[{"value":1.5,"count":599}]}]');
  assert.equal(alike.type, 'Record<string, { pay: integer; on?: string /* ISO date */ }>');
  assert.equal(alike.size, 'one object, a map of 21 keys');
  assert.equal(lists.type, 'Record<string, { pay: integer }[]>');
  assert.equal(many.type, 'Record<string, { a: integer; b: integer; c: integer }>');
  assert.equal(many.examples, '{"x0":{a:9,b:9,c:9},"x0":{a:9,b:9,c:9},"x0":{a:9,b:9,c:9}, /* 2997 more */}\n');
  assert.equal(mixed.type, 'Record<string, string | number | null>');
});

test('objects of few or different members are no maps', () => {
  const others = [mapOf(20, () => ({ a: 1 })), ...[1, [1], { 0: 1, 1: 2 }, {}].map((other) => mapOf(30, () => other)),
    mapOf(30, (i) => ({ is: 1, [`a${i}`]: 1, [`b${i}`]: 2 }))];
  for (const { type } of described(others.map((other) => json(other)))) assert.match(type, /^\{ k0: .*k19: /);
});

test('tables are told by their columns, however many', () => {
  for (const columns of [600, 4096]) {
    const row = mapOf(columns, () => '2024-05-01');
    const [{ fields, type, size }] = described([[json([row, row]), { ...values, isTable: true, room: 1000 }]]);
    assert.equal(fields.at(-1).field, `[].k${columns - 1}`);
    assert.match(type, /^\{ k0: string \/\* ISO date \*\/; k1: .* more fields \*\/ \}\[\]$/);
    assert.match(size, /^2 records of [\d,]+ fields$/);
  }
});

test('records beyond a bound are described by a part that is spread evenly', () => {
  const [{ size, fields }] = described([[json(listOf(1501, (i) => i)), { ...values, records: 1000 }]]);
  assert.equal(size, '1,501 elements, described by 751 of them');
  assert.deepEqual([fields[0].min, fields[0].max], [0, 1500]);
});

test('different values are counted up to a bound', () => {
  const some = listOf(20000, (i) => i % 10000);
  const [exact, more] = described([json(some), json([...some, -1])]);
  assert.deepEqual([exact.fields[0].distinct, more.fields[0].distinctAtLeast], [10000, 10000]);
});

const DATES = [['2024-05-01', 'ISO'], ['2024-05-01T10:20', 'ISO'], ['2024-05-01T10:20:30Z', 'ISO'],
  ['2024-05-01T10:20:30.5-0200', 'ISO'], ['2024-05-01T10:20:30.123456789+02:00', 'ISO'], ['2024-05-01 10:20:30+02', 'ISO'],
  ['2024-05-01 10:20:30 +0200', 'ISO'], ['2024-05-01 10:20:30.123456 UTC', 'ISO'], ['2024-05-01 10:20 Z', 'ISO'],
  ['2024-02-29', 'ISO'], ['2000-02-29', 'ISO'], ['2024-05-01T24:00:00', 'ISO'], ['2016-12-31T23:59:60Z', 'ISO'],
  ['2024-05-01T10:20:30+02', 'foreign'], ['2024-05-01 10:20:30,5', 'foreign'],
  ...['2024-05-01 alice@example.com', '2024-05-01 10:00 alice', '2024-05-01T10:00:00Zx', '2024-05-01 4111 1111', '2024-05-01 ',
    '2024-05-01T', '2024-05-01T10:00:00.1234567890', '2024-05-01T10:00:00.Z', '2024-13-01', '2024-05-32', '2024-5-1',
    '2024-02-30', '2023-02-29', '2100-02-29', '2024-04-31', '2024-05-01T25:00', '2024-05-01T24:00:01', '2024-05-01 10:60',
    '2024-05-01 10:20:61', '2024-05-01T10:20+24:00'].map((text) => [text, 'text'])];

test('dates are dates with nothing behind them, and those that new Date() does not read are told so', () => {
  const types = { ISO: 'string /* ISO date */', foreign: 'string /* date that new Date() does not read */', text: 'string' };
  const all = described(DATES.map(([text]) => [json([text, text]), values]));
  DATES.forEach(([text, kind], i) => {
    const [{ first, last }] = all[i].fields;
    assert.equal(all[i].type, `${types[kind]}[]`, text);
    assert.deepEqual([first, last], kind === 'text' ? [undefined, undefined] : [text, text], text);
  });
});

test('dates are in the order of their times', () => {
  const rows = [
    ['2024-01-01T00:00:00+14:00', '2023-12-31T12:00:00Z', '2023-12-31T23:00:00-05:00'],
    ['2024-02-29 23:59', '2024-03-01', '2024-03-01T00:00:00.5Z'],
    ['2024-05-01 10:00:00.25 +0530', '2024-05-01T04:30:00.251Z', '2024-05-01 10:00 UTC'],
    ['1969-12-31T23:59:59Z', '1970-01-01', '1969-12-31T20:00-09'],
    ['0000-02-29', '0000-03-01', '9999-12-31'], ['0000-01-01', '0000-01-02', '0000-02-29']];
  const all = described(rows.map(([a, b, c]) => [json([b, c, a, b, c]), values]));
  rows.forEach(([a, , c], i) => assert.deepEqual([all[i].fields[0].first, all[i].fields[0].last], [a, c]));
});

test('hostile data is described in bounds', () => {
  const wide = json([{ k: 0, ...mapOf(50000, (i) => ({ [i]: [i] })) }]);
  const deep = '['.repeat(500) + '1' + ']'.repeat(500);
  const inherited = '[{"__proto__":{"a":1},"constructor":2,"toString":3},{"hasOwnProperty":null}]';
  const [one, two, three, four] = described([[wide, { room: 1000 }], deep, json(['\u00e9'.repeat(3000000)]), inherited]);
  assert.ok(one.type.length < 1500 && one.examples.length < 1500 && json(one.fields).length < 2 ** 19);
  assert.equal(two.type, 'array[][][][][][]');
  assert.ok(three.examples.length < 500);
  assert.equal(four.type, '{ __proto__?: { a: integer }; constructor?: integer; toString?: integer; hasOwnProperty?: null }[]');
});

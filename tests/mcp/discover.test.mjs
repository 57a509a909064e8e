// SPDX-License-Identifier: MIT
// What lists of tools say: types of schemas, what a search finds, and that hostile schemas cost
// little. Whether all of it is TypeScript, the compiler says (declarations.test.mjs).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inBox } from './scripts.mjs';
import { table } from './tables.mjs';

const typed = table('types').filter(([title]) => title !== 'optional');
const types = inBox(`(schemas) => schemas.map((schema) => declarations.typeOf(JSON.parse(schema),
  { indent: 0, nestedMax: 10, valuesMax: 24, describeMax: 100 }))`, typed.map(([schema]) => schema));

test('types say what the schema says', () => {
  assert.ok(typed.length >= 70);
  typed.forEach(([schema, lines], i) => assert.equal(types[i], lines.join('\n'), schema));
});

test('arguments may be left out if nothing must be given', () => {
  const rows = table('types').find(([title]) => title === 'optional')[1].map((line) => line.split(/ (.*)/));
  const found = inBox('(schemas) => schemas.map(declarations.isAllOptional)', rows.map(([, schema]) => JSON.parse(schema)));
  rows.forEach(([wanted, schema], i) => assert.equal(found[i], wanted === 'yes', schema));
});

const isTool = (line) => line.startsWith('{');

for (const [claim, lines] of table('search')) {
  const docs = lines.filter(isTool).map((line) => ({ server: 'up', tool: JSON.parse(line), mark: '' }));
  const rows = lines.filter((line) => !isTool(line)).map((line) => line.split(/: ?/));
  test(`search: ${claim}`, () => {
    const found = inBox(`({ docs, rows }) => rows.map(([query]) =>
      finder.rank(docs, query).map(({ tool }) => tool.name).join(' '))`, { docs, rows });
    rows.forEach(([query, wanted], i) => {
      if (wanted.endsWith(' ...')) assert.equal(found[i].split(' ')[0], wanted.slice(0, -4), query);
      else assert.equal(found[i], wanted, query);
    });
  });
}

test('a search takes tools and queries of any kind, and is the same each time', () => {
  const odd = [{}, null, [], { name: 5, description: {} }, { inputSchema: [], name: '\ud800' },
    { inputSchema: { properties: { a: 7 } } }].map((tool) => ({ server: '', tool, mark: '' }));
  const many = Array.from({ length: 3000 }, (_, i) =>
    ({ server: 'up', tool: { name: 'x', title: 'a-'.repeat((3000 - i) / 200) }, mark: '' }));
  const [found, same, first] = inBox(`({ odd, many }) => [
    ['a'.repeat(2000), '', '?!-', '"'].map((words) => finder.rank(odd, words).length),
    finder.rank(many, 'x').map(({ tool }) => tool.title.length),
    finder.find({ words: '', server: '', tool: '', detail: 'types' }, odd).length,
  ]`, { odd, many });
  assert.deepEqual(found, [0, 6, 6, 6]);
  assert.deepEqual(same, [...same].sort((a, b) => a - b));
  assert.equal(first, 1);
});

test('types that explode are cut', () => { // each reference leads to two
  const d = Object.fromEntries(Array.from({ length: 60 }, (_, i) =>
    [`d${i}`, { anyOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] }]));
  const deep = { $ref: '#/$defs/d0', $defs: d };
  const text = inBox('(inputSchema) => declarations.declareTool({ name: "t", inputSchema })', deep);
  assert.ok(text.length < 20000);
});

const NAME = 'abcdefghij'.repeat(12);
const members = (count, make) => Object.fromEntries(Array.from({ length: count }, (_, i) => make(i)));
const long = [
  ['what is deep', { required: ['a'], properties: { a: { properties: members(64, (i) =>
    [`p${i}`, { properties: { [NAME]: {}, [`b${NAME}`]: {} } }]) } } },
  [/ {4}t\(args: \{\n {6}a: \{\n/, /p63\?: unknown \/\* see tools\(\) \*\/;/], NAME],
  ['all but that arguments must be given', { required: ['a'], properties: { a: {}, ...members(62, (i) => [NAME + NAME + i, {}]) } },
    [/^ {4}t\(args: any \/\* see tools\(\) \*\/\): Promise<any>;\n$/], NAME],
  ['values', { required: ['p0'], properties: members(64, (i) =>
    [`p${i}`, { enum: Array.from({ length: 9 }, (_, k) => NAME.slice(0, 20) + k) }]) },
  [/p0: "[a-j]{20}0" \| "[a-j]{20}1" \| string \/\* one of 9: see tools\(\) \*\/;/], NAME],
  ['definitions that nothing refers to', { required: ['a'], properties: { a: { type: 'string' } },
    $defs: members(1000, (i) => [NAME + i, {}]) },
  [/^ {4}t\(args: \{\n {6}a: string;\n {4}\}\): Promise<any>;\n$/], NAME],
  ['most of 301 values', { properties: { a: { enum: [null, ...Array.from({ length: 300 }, (_, i) => `value-${i}`)] } } },
    [/a\?: null \| "value-0" \| .*"value-22" \| .*string \/\* one of 301: see tools\(\) \*\/;/], 'value-299'],
];

for (const [what, inputSchema, wanted, absent] of long) {
  test(`a declaration that is too long leaves out ${what}`, () => {
    const text = inBox('(inputSchema) => declarations.declareTool({ name: "t", inputSchema })', inputSchema);
    for (const pattern of wanted) assert.match(text, pattern);
    assert.ok(!text.includes(absent) && text.length < 13000);
  });
}

test('a summary is the first paragraph that says something', () => {
  const told = ['\n      Read a file, or a part of it.\n\n      More.', '\r\n\tRead a file, or a part of it. More.',
    '  Read a file, or a part of it.'].map((description) => ({ description }));
  told.push({ description: 'Study it', execution: { taskSupport: 'required' } },
    { description: 'Study it', execution: { taskSupport: 'optional' } }, { description: 5 }, {});
  const read = 'Read a file, or a part of it';
  assert.deepEqual(inBox('(tools) => tools.map((tool) => declarations.summary(tool, 160))', told),
    [read, read, read, '[cannot be called here: only as a task] Study it', 'Study it', '', '']);
});

test('a declaration names servers and tools once', () => {
  const read = { name: 'read', description: 'Reads it all from the beginning. And more.',
    inputSchema: { properties: { x: { type: 'string' } }, required: ['x'] },
    outputSchema: { properties: { y: { type: 'number' } } } };
  assert.equal(inBox('(docs) => declarations.declare(docs)', [{ server: 's', tool: read },
    { server: 'o"p', tool: { name: 'new' } }, { server: 's', tool: read }]),
  `declare const servers: {
  "s": {
    /** Reads it all from the beginning */
    read(args: {
      x: string;
    }): Promise<{
      y?: number;
    }>;
  };
  "o\\"p": {
    "new"(args?: { [key: string]: unknown }): Promise<any>;
  };
};
`);
});

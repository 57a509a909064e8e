// SPDX-License-Identifier: MIT
// Declarations of tools are TypeScript, whatever their schemas: the compiler says so.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inBox } from './scripts.mjs';

const require = createRequire(fileURLToPath(new URL('../../node/package.json', import.meta.url)));
let ts;
try {
  ts = require('typescript');
} catch {
  ts = undefined;
}
const skip = ts === undefined ? 'node/node_modules is missing: tools/install-deps' : false;

const declare = (servers) => inBox(`(servers) => declarations.declare(Object.entries(servers)
  .flatMap(([server, tools]) => tools.map((tool) => ({ server, tool }))))`, servers);

const libraries = {};

// The messages of the compiler about declarations, and code that uses them.
function compile(declarations, code = '') {
  const name = 'all.ts';
  const host = ts.createCompilerHost({});
  const { getSourceFile } = host;
  const text = `${declarations}\nexport async function main() {\n${code}\n}\n`;
  host.getSourceFile = (file, version) => {
    if (file === name) return ts.createSourceFile(name, text, version);
    return libraries[file] ??= getSourceFile.call(host, file, version);
  };
  const program = ts.createProgram([name], {
    strict: true, noEmit: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022, types: [], lib: ['lib.es2015.d.ts'],
  }, host);
  return ts.getPreEmitDiagnostics(program)
    .map((d) => ts.flattenDiagnosticMessageText(d.messageText, '\n'));
}

const tool = (name, inputSchema, more = {}) => ({ name, inputSchema, ...more });
const object = (properties, required = []) => ({ type: 'object', properties, required });

test('what is declared is what may be called', { skip }, () => {
  const declarations = declare({
    files: [tool('read', object({ path: { type: 'string' }, head: { type: 'integer' } }, ['path']), {
      description: 'Reads */ a file. /* Really.',
      outputSchema: object({ lines: { type: 'array', items: { type: 'string' } } }, ['lines']),
    })],
    'odd-name': [tool('do-it', object({ kind: { enum: ['a', 'b'] } })), tool('new', {})],
  });
  assert.deepEqual(compile(declarations, `
    const { lines } = await servers.files.read({ path: 'a', head: 3 });
    const first: string = lines[0];
    await servers['odd-name']['do-it']({ kind: 'b' });
    await servers['odd-name']['do-it']();
    await servers['odd-name'].new();`), []);
  assert.equal(compile(declarations, 'await servers.files.read({});').length, 1);
  assert.equal(compile(declarations, 'await servers.files.read({ path: 1 });').length, 1);
  assert.equal(compile(declarations, "await servers['odd-name']['do-it']({ kind: 'c' });").length, 1);
});

test('a name that the object of the server has itself is declared as it can be called', { skip }, () => {
  const declarations = declare({ up: ['call', 'tools', 'th\\u0065n'].map((name) =>
    tool(JSON.parse(`"${name}"`), object({ a: { type: 'string' } }, ['a']))) });
  assert.doesNotMatch(declarations, /^ *(tools|then)\(/m);
  assert.deepEqual(compile(declarations, `
    await servers.up.call('then', { a: 'b' });
    await servers.up.call('call', { a: 'b' });
    await servers.up.call('tools', { a: 'b' });`), []);
});

const deep = (n) => n === 0 ? { type: 'string' } : { type: 'array', items: deep(n - 1) };
const nested = (n) => n === 0 ? {} : object({ [`k${n}`]: nested(n - 1) }, [`k${n}`]);
const hostile = [
  '*/', '/**/', '//', '\u2028', '\n', '`${x}`', '"', "'", '\\', '\u0000', '\ud800', '__proto__',
  'constructor', 'new', 'get', 'set', 'static', 'async', 'x'.repeat(5000), '', ' ', '0', 'a b', '}{',
];

test('hostile names, texts and schemas are TypeScript all the same', { skip }, () => {
  const schemas = [
    deep(100), nested(100), null, true, false, 5, 'string', [], [[]],
    { type: 'object', properties: null, required: 5 }, { type: 'object', properties: [] },
    { enum: hostile }, { enum: [1e21, -0, 1.5, [], {}, null, -5] }, { const: { a: 1 } },
    { anyOf: [] }, { oneOf: [{ type: 'string' }, false, { enum: [] }] }, { allOf: [{}, 5, null] },
    { allOf: [object({ a: { type: 'string' } }, ['a']), object({ b: { $ref: '#' } })] },
    { ...object({ a: { type: 'string' } }, ['a']), additionalProperties: { type: 'number' } },
    { ...object({ a: {} }), oneOf: [object({ b: {} }, ['b']), object({ c: {} }, ['c'])] },
    { $ref: '#' }, { $ref: '#/$defs/__proto__', $defs: {} }, { $ref: '#/%' }, { $ref: '' },
    { type: ['string', 'null', 'array', 'object'], items: { $ref: '#' } },
    { type: 'array', items: [{ type: 'string' }, { type: 'number' }] },
    { type: 'array', prefixItems: Array.from({ length: 100 }, () => ({ enum: ['a', 'b'] })) },
    { type: [], nullable: true }, { type: 'string', nullable: true },
    object(Object.fromEntries(hostile.map((name) => [name, { description: name, enum: [name] }])), hostile),
    object(Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`p${i}`, { type: 'string' }]))),
  ];
  const tools = [
    ...schemas.map((schema, i) => tool(`t${i}`, schema, { outputSchema: schema })),
    ...hostile.map((name) => tool(name, object({}), { description: name.repeat(3), title: name })),
    tool('twice', object({})), tool('twice', object({ a: {} })),
    tool(5, {}), tool(null, null), null, 5, [],
  ];
  const declarations = declare({ all: tools,
    ...Object.fromEntries(hostile.map((name) => [name.slice(0, 60), [tool(name, {})]])) });
  assert.deepEqual(compile(declarations), []);
  assert.ok(declarations.length < 3_000_000);
});

const A = object({ id: { type: 'string' } }, ['id']);
const chooses = (key, properties) => ({
  if: object({ action: { const: key } }), then: object(properties, Object.keys(properties)),
});

// What a schema allows, and what it does not allow.
const called = [
  ['its composition is more than one keyword', { allOf: [A], oneOf: [object({ k: { const: 'a' } }, ['k']),
    object({ k: { const: 'b' }, q: { type: 'number' } }, ['k', 'q'])] },
  [{ id: 'x', k: 'a' }, { id: 'x', k: 'b', q: 1 }], [{ id: 'x' }, { k: 'a' }, { id: 'x', k: 'b' }]],
  ['it has members beside a reference',
    { $ref: '#/$defs/A', ...object({ extra: { type: 'number' } }, ['extra']), $defs: { A } },
    [{ id: 'x', extra: 1 }], [{ id: 'x' }, { extra: 1 }]],
  ['it asks for members if another has a value', { ...object({ action: { enum: ['create', 'delete'] } },
    ['action']), allOf: [chooses('create', { title: { type: 'string' } }),
    chooses('delete', { n: { type: 'number' } })] },
  [{ action: 'create', title: 'x' }, { action: 'delete', n: 1 }], [{ title: 'x' }, { action: 'x' }]],
  ['it asks for members if another is there',
    { ...object({ a: { type: 'string' } }), dependentSchemas: { a: object({ b: { type: 'number' } }, ['b']) } },
    [{ a: 'x', b: 2 }, {}], [{ a: 1 }]],
  ['its constraints are split', object({ s: { type: 'string', anyOf: [{ format: 'uuid' }, { format: 'email' }] },
    o: { type: 'object', additionalProperties: { type: 'string' },
      anyOf: [{ required: ['x'] }, { required: ['y'] }] } }),
  [{ s: 'x' }, { o: { y: '1', q: 'r' } }], [{ s: 1 }, { o: { y: 1 } }, { o: { q: 'r' } }]],
  ['it has a long list of values', object({ a: { enum: [null, ...Array.from({ length: 300 }, (_, i) => `c${i}`)] },
    b: { enum: [1, 2, 'x'.repeat(70)] } }),
  [{ a: null }, { a: 'c299' }, { b: 2 }, { b: 'x'.repeat(70) }], [{ a: 1 }, { b: null }]],
  ['other members have another type', { ...A, additionalProperties: { type: 'number' } },
    [{ id: 'x' }, { id: 'x', n: 1 }], [{ n: 1 }, { id: 1 }]],
  ['other members may be anything', { ...A, additionalProperties: true }, [{ id: 'x', z: [] }], [{ z: 1 }]],
  ['members go by patterns', { type: 'object', patternProperties: { '^x-': { type: 'number' } } },
    [{ 'x-1': 1, y: 's' }, {}], []],
  ['a tuple ends', object({ t: { prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
    u: { items: [{ type: 'string' }], additionalItems: { type: 'null' } } }),
  [{ t: ['x', 1] }, { u: ['x', null, null] }], [{ t: ['x', 1, 2] }, { u: ['x', 1] }]],
  ['definitions are in each other', { ...object({ f: { anyOf: [{ $ref: '#/$defs/F' }, { type: 'null' }] } }, ['f']),
    $defs: { F: object({ c: { type: 'array', items: { $ref: '#/$defs/C' } } }),
      C: object({ v: { anyOf: [{ $ref: '#/$defs/V' }, { type: 'null' }] } }),
      V: object({ r: { $ref: '#/$defs/R' }, f: { $ref: '#/$defs/F' } }),
      R: object({ min: { type: 'number' } }, ['min']) } },
  [{ f: null }, { f: { c: [{ v: { r: { min: 1 }, f: { c: [] } } }] } }], [{ f: { c: [{ v: { r: {} } }] } }]],
  ['it is large', { ...A, $defs: { Big: { description: 'x'.repeat(70_000) } } }, [{ id: 'x' }], [{}, { id: 1 }]],
];

for (const [why, schema, right, wrong] of called) {
  test(`arguments that a schema allows are those that its type allows: ${why}`, { skip }, () => {
    const declarations = declare({ all: [tool('t', schema)] });
    const call = (value) => `await servers.all.t(${JSON.stringify(value)});`;
    assert.deepEqual(compile(declarations, right.map(call).join('\n')), []);
    for (const value of wrong) {
      assert.notDeepEqual(compile(declarations, call(value)), [], JSON.stringify(value));
    }
  });
}

test('a parameter of the only tool that is asked for is described at more length', { skip }, () => {
  const described = tool('a', object({ x: { description: 'word '.repeat(200) } }));
  const one = declare({ up: [described] });
  const two = declare({ up: [described, tool('b', {})] });
  assert.match(one, /(word ){60}\.\.\. \*\//);
  assert.doesNotMatch(two, /(word ){21}/);
});

test('no name or literal shows what follows it in another order', { skip }, () => {
  const odd = 'a\u202eb\u2066c\u0085\u{e0041}"\\d';
  const declarations = declare({ files: [
    tool(`read${odd}`, object({ [odd]: { enum: [odd, 'b'] } }, [odd])), tool('then', { type: 'object' })] });
  assert.doesNotMatch(declarations.replaceAll('\n', ''),
    /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u);
  const written = JSON.stringify(odd);
  assert.deepEqual(compile(declarations,
    `await servers.files[${JSON.stringify(`read${odd}`)}]({ [${written}]: ${written} });`), []);
});

// SPDX-License-Identifier: MIT
// Integers beyond 2^53 - 1 keep their digits on every way through code mode, or are refused
// where they have lost them: with another id another record is changed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allow, open, upstream } from './box.mjs';

const ID = '1915883588174806058';
const wire = await open(allow({ up: upstream('exact') }));

/** input: JSON, to the byte. */
async function execute(code, input = 'null') {
  const id = wire.nextId++;
  wire.sayLine(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"execute",`
    + `"arguments":{"code":${JSON.stringify(code)},"input":${input}}}}`);
  const { result } = await wire.hear((m) => m.id === id && !m.method);
  return { text: result.content[0].text, ...result.structuredContent };
}

const give = (result) => `await servers.up.give({ result: ${JSON.stringify(result)} })`;
const structured = (json) => `{"content":[],"structuredContent":${json}}`;
const text = (value) => `{"content":[{"type":"text","text":${JSON.stringify(value)}}]}`;

test('an integer that a tool gives is a text with its digits, and a line of the log says so', async () => {
  for (const [what, result] of [['structured', structured(`{"id":${ID},"n":5}`)],
    ['text', text(`{"id": ${ID}, "n": 5}`)],
    ['a list', structured(`{"id": ${ID}, "n": 5, "more": [-${ID}, ${ID}0, 9007199254740991]}`)]]) {
    const { result: got, logs, text: all } = await execute(`return ${give(result)}`);
    assert.deepEqual([got.id, got.n], [ID, 5], what);
    assert.match(logs[0], new RegExp(`^up\\.give \\(line 1\\) gave integers beyond 2\\^53 - 1: they are texts in the code, .*: id is "${ID}" \\(${what === 'a list' ? 3 : 1} in all\\)`), all);
    if (what === 'a list') assert.deepEqual(got.more, [`-${ID}`, `${ID}0`, 9007199254740991]);
  }
  const deep = structured(`${'{"a":['.repeat(400)}${ID}${']}'.repeat(400)}`);
  assert.equal((await execute(`let v = ${give(deep)}; while (v?.a) [v] = v.a; return v`)).result, ID);
  const long = '9'.repeat(300);
  assert.deepEqual((await execute(`return ${give(structured(`[${long}]`))}`)).result, [long]);
  const raw = await execute(`const r = await servers.up.call('give', { result: ${JSON.stringify(structured(`{"id":${ID}}`))} }, { raw: true }); return r.structuredContent.id`);
  assert.equal(raw.result, ID);
  const twice = await execute(`${give(structured(`[${ID}]`))}; ${give(structured(`[${ID}]`))}`);
  assert.equal(twice.logs.length, 1);
});

test('what is exact as a Number stays one, without a word', async () => {
  const { result, logs } = await execute(`return ${give(structured('[9007199254740991, 1.5, 1e3, 12345678901234567.5, "1915883588174806058", 0]'))}`);
  assert.deepEqual([result, logs], [[9007199254740991, 1.5, 1000, 12345678901234567.5, ID, 0], []]);
});

test('a text of digits is an integer again where the schema of the tool wants one', async () => {
  const both = `const id = "${ID}"; return await servers.up.`;
  for (const [args, got] of [
    ['{ id }', `{"id":${ID}}`], ['{ maybe: id }', `{"maybe":${ID}}`], ['{ ref: id }', `{"ref":${ID}}`],
    ['{ number: id }', `{"number":${ID}}`], ['{ id: "-" + id }', `{"id":-${ID}}`],
    ['{ list: [id, 1] }', `{"list":[${ID},1]}`], ['{ pair: [id, id] }', `{"pair":["${ID}",${ID}]}`],
    ['{ rows: [{ id }, { x: id }] }', `{"rows":[{"id":${ID}},{"x":"${ID}"}]}`], ['{ map: { a: id } }', `{"map":{"a":${ID}}}`],
    ['{ text: id }', `{"text":"${ID}"}`], ['{ either: id }', `{"either":"${ID}"}`],
    ['{ id: "42" }', '{"id":"42"}'], ['{ other: id }', `{"other":"${ID}"}`]]) {
    assert.equal((await execute(`${both}take(${args})`)).result, `got ${got}`, args);
  }
  assert.equal((await execute(`${both}any({ id })`)).result, `got {"id":"${ID}"}`);
});

test('a Number gets back the digits that came from a tool, from the code or as input', async () => {
  for (const [code, input] of [
    [`const r = JSON.parse((await servers.up.call('give', { result: ${JSON.stringify(text(`{"id": ${ID}}`))} }, { raw: true })).content[0].text); return await servers.up.any(r)`],
    [`const [, id] = (${give(text(`the ids:\n${ID}\nmore`))}).split('\\n'); return await servers.up.any({ id: Number(id) })`],
    [`return await servers.up.any({ id: ${ID} })`], ['return await servers.up.any({ id: 1_915_883_588_174_806_058 })'],
    ['return await servers.up.any({ id: 0x1A969C4C06003A6A })'.replace('1A969C4C06003A6A', BigInt(ID).toString(16))],
    ['return await servers.up.any({ id: Number(input.id) })', `{"id":${ID}}`]])
    assert.equal((await execute(code, input)).result, `got {"id":${ID}}`, code);
  const { result, text: all } = await execute(`return [${ID}, -${ID}]`);
  assert.match(all, new RegExp(`^\\[${ID},-${ID}\\]$`, 'm'));
  assert.equal(result.length, 2);
});

test('input keeps its digits as a text', async () => {
  const { result, logs } = await execute('return [typeof input.id, await servers.up.take({ id: input.id })]', `{"id": ${ID}}`);
  assert.deepEqual(result, ['string', `got {"id":${ID}}`]);
  assert.match(logs[0], new RegExp(`^the input has integers beyond .*: input\\.id is "${ID}" \\(1 in all\\)`));
});

test('a literal that is not exact is named at its place, and one that is exact is not', async () => {
  const { logs } = await execute(`const a = 5;\nconst id = ${ID};\nreturn a`);
  assert.equal(logs.length, 1);
  assert.match(logs[0], new RegExp(`^line 2, column 12: a Number cannot hold ${ID}: .* write ${ID}n or a text$`));
  assert.equal((await execute(`return [${`${ID},`.repeat(2000)}].length`)).logs.length, 16);
  const none = await execute(`const a = ${ID}n, b = '${ID}', c = 1e21, d = 9007199254740992; /* ${ID} */ return c`);
  assert.deepEqual(none.logs, []);
});

test('a Number whose digits nobody knows is refused with its place', async () => {
  for (const [args, place] of [['{ id: 2 ** 60 + n }', 'args.id'], ['{ rows: [{}, { "a-b": -(2 ** 61) * n }] }', 'args.rows[1].a-b'],
    ['{ id: 2 ** 80 * n }', 'args.id']]) {
    const { error } = await execute(`const n = 1; return await servers.up.any(${args})`);
    assert.equal(error.code, 'INVALID_ARGS');
    assert.ok(error.message.startsWith(`${place.replace('.a-b', '["a-b"]')} is `), error.message);
    assert.match(error.message, / and a Number beyond 2\^53 - 1 has lost digits: write them as 123n or as a text$/);
    assert.equal(error.hint, '');
  }
  const twins = await execute(`const ids = [${ID}, 1915883588174806059]; return await servers.up.any({ id: ids[0] })`);
  assert.equal(twins.error.code, 'INVALID_ARGS');
  assert.equal((await execute('return await servers.up.any({ a: 1e21, b: 9007199254740991, c: 0.1 })')).result,
    'got {"a":1e+21,"b":9007199254740991,"c":0.1}');
});

test('of more integers than can be known, none is guessed', async () => {
  const rows = `[${Array.from({ length: 66000 }, (_, i) => `191588${100000 + i}4806058`)}]`;
  const { error } = await execute(`const ids = await servers.up.call('give', { result: ${JSON.stringify('{"content":[],"structuredContent":')} + input + '}' });
    return await servers.up.any({ id: Number(ids[5]) })`, JSON.stringify(rows));
  assert.equal(error.code, 'INVALID_ARGS');
});

test('a BigInt is sent exactly', async () => {
  const { result } = await execute(`return await servers.up.any({ id: ${ID}n, list: [5n, 2n ** 60n, -1n], a: { b: null, c: 'x' } })`);
  assert.equal(result, `got {"id":${ID},"list":[5,1152921504606846976,-1],"a":{"b":null,"c":"x"}}`);
  const twins = await execute(`const other = 1915883588174806059; return await servers.up.any({ id: BigInt("1915883588174806000") })`);
  assert.equal(twins.result, 'got {"id":1915883588174806000}');
  const odd = await execute('return await servers.up.any({ id: 5n, f: () => 1 })');
  assert.match(odd.error.message, /BigInt/);
});

test('the tool call sends and gives digits as they are', async () => {
  wire.sayLine(`{"jsonrpc":"2.0","id":"exact","method":"tools/call","params":{"name":"call","arguments":{"server":"up","tool":"any","args":{"id":${ID}}}}}`);
  const { result } = await wire.hear((m) => m.id === 'exact');
  assert.equal(result.content[0].text, `got {"id":${ID}}`);
});

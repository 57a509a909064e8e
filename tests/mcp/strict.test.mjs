// SPDX-License-Identifier: MIT
// strict: half a character, an unpaired surrogate, has an escape in JSON that many readers
// refuse, and the whole line with it. Wherever one comes from, it goes out as U+FFFD. What
// nobody sees goes out as escapes, in text such that people see it. wire.mjs looks at every line.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, put, upstream } from './box.mjs';
import { HIDDEN } from './wire.mjs';

const TOOLS = "[{ name: 'tell', description: 'x\\ud83d', annotations: { readOnlyHint: true }, inputSchema: { type: 'object' } }]";
const wire = await open({ mcpServers: { up: upstream('told', TOOLS) } }, { args: ['--data', `rows=${put('rows.json', '[1,2]')}`] });

const structured = async (name, args) => (await wire.call(name, args)).result.structuredContent;

test('half a character in what code returns, prints or throws is U+FFFD', async () => {
  const compute = (code) => structured('compute', { code });
  assert.equal((await compute('"a\u{1f600}b".slice(0, 2)')).value, 'a\ufffd');
  assert.deepEqual((await compute('({ ["\u{1f600}".slice(1)]: ["\u{1f600}", "\\\\ud83d"] })')).value,
    { '\ufffd': ['\u{1f600}', '\\ud83d'] });
  await compute('data => { console.log("\u{1f600}".slice(1)); throw new Error("\u{1f600}".slice(1)); }');
  await compute('"\u{1f600}".slice(0, 1).repeat(100000)');
  assert.equal((await structured('execute', { code: 'return "\u{1f600}".slice(1)' })).result, '\ufffd');
  await structured('execute', { code: 'console.log("\u{1f600}".slice(1)); throw new Error("\u{1f600}".slice(1))' });
});

/* Of the first block, which a strict reader of JSON reads as well. */
const shown = async (name, args) => (await wire.call(name, args)).result.content[0].text;
const HALF = '"\u{1f600}".slice(1)';

test('it is in what is shown of a value as text, and in what is kept of it', async () => {
  assert.match(await shown('execute', { code: `return { a: ${HALF}, b: "\\\\ud83d" }` }), /^\{"a":"\\ufffd","b":"\\\\ud83d"\}\n/);
  assert.equal(await shown('compute', { code: `({ a: ${HALF} })` }), '{"a":"\\ufffd"}');
  const { uri } = await structured('execute', { code: `return artifact("a", [${HALF}])` }).then(({ result }) => result);
  assert.equal((await wire.ask('resources/read', { uri })).result.contents[0].text, '["\\ufffd"]');
  const told = (result) => shown('call', { server: 'up', tool: 'tell', args: { result, half: true } });
  assert.equal(await told({ content: [], structuredContent: { a: 'HALF' } }), '{"a":"\\ufffd"}');
  assert.equal(await told({ content: [{ type: 'new', a: 'HALF' }] }), '{"type":"new","a":"\\ufffd"}');
  assert.equal(await told({ isError: true, content: [], structuredContent: { a: 'HALF' } }), '{"a":"\\ufffd"}');
  assert.equal(await told({ content: [{ type: 'text', text: '"\\ud83d" is an escape' }] }), '"\\ud83d" is an escape');
});

test('so it is in what a server answers, and tells of its tools', async () => {
  const run = async (code) => (await structured('execute', { code })).result;
  assert.deepEqual(await run('return servers.up.tell({ half: true })'), { 'a\ufffd': 'b\ufffd' });
  assert.equal((await run('return servers.up.call("tell", { half: true }, { raw: true })')).content[0].text, 'a\ufffd');
  assert.equal((await run('return servers.up.tools()'))[0].description, 'x\ufffd');
  const { result } = await wire.call('call', { server: 'up', tool: 'tell', args: { half: true } });
  assert.equal(result.content[0].text, 'a\ufffd');
  assert.deepEqual(result.structuredContent, { 'a\ufffd': 'b\ufffd' });
  await wire.call('discover', { query: 'tell' });
});

// A direction, a C1 control, an escape, a tag of ASCII, a space of no width; and honest text.
const SLY = '\u202e\u009b\u001b\u{e0041}\u200b';
const SEEN = '\\u{202e}\\u{9b}\\u{1b}\\u{e0041}\\u{200b}';
const AS_JSON = '\\u202e\\u009b\\u001b\\udb40\\udc41\\u200b';
const HONEST = '\u{1f469}\u200d\u{1f680} \u0645\u06cc\u200c\u062e \u2764\ufe0f 1\ufe0f\u20e3 \u00a0';

test('what nobody sees is seen in text, and exact in values', async () => {
  const code = (end) => `console.log(input, ${JSON.stringify(HONEST)}); ${end}`;
  const run = async (end) => (await wire.call('execute', { code: code(end), input: SLY })).result;
  const text = await run('return input;');
  assert.ok(text.content[0].text.startsWith(`${SEEN}\n`), text.content[0].text);
  assert.equal(text.structuredContent.result, SLY);
  assert.deepEqual(text.structuredContent.logs, [`${SEEN} ${HONEST}`]);
  assert.ok(text.content[0].text.includes(`logs:\n${SEEN} ${HONEST}\n`));
  const object = await run('return { [input]: input };');
  assert.ok(object.content[0].text.startsWith(`{"${AS_JSON}":"${AS_JSON}"}\n`), object.content[0].text);
  assert.deepEqual(object.structuredContent.result, { [SLY]: SLY });
  const failed = await run('throw new Error(input);');
  assert.equal(failed.structuredContent.error.message, SEEN);
  assert.ok(failed.content[0].text.includes(SEEN));
});

test('of a value that is cut, what is shown is seen, and what is kept is exact', async () => {
  const { structuredContent, content } = (await wire.call('execute', { code: `return input.repeat(20000)`, input: SLY })).result;
  assert.doesNotMatch(content[0].text.replaceAll('\n', ''), HIDDEN);
  assert.doesNotMatch(structuredContent.result.replaceAll('\n', ''), HIDDEN);
  const [{ uri, preview }] = structuredContent.artifacts;
  assert.ok(preview.startsWith(SEEN));
  assert.ok((await wire.ask('resources/read', { uri })).result.contents[0].text.startsWith(SLY));
});

test('so it is in what data gives, and in what servers answer', async () => {
  const { structuredContent, content } = (await wire.call('compute', {
    code: `() => { const sly = ${JSON.stringify(SLY)}; console.log(sly); return [sly]; }` })).result;
  assert.deepEqual(structuredContent.value, [SLY]);
  assert.equal(structuredContent.logs[0].text, SEEN);
  assert.deepEqual(content.map((block) => block.text), [`["${AS_JSON}"]`, `1 log line:\n${SEEN}`]);
  const told = async (result) => (await wire.call('call', { server: 'up', tool: 'tell', args: { result } })).result;
  const both = await told({ content: [{ type: 'text', text: SLY + HONEST }], structuredContent: { a: SLY } });
  assert.equal(both.content[0].text, SEEN + HONEST);
  assert.deepEqual(both.structuredContent, { a: SLY });
  assert.equal((await told({ content: [], structuredContent: { a: SLY } })).content[0].text, `{"a":"${AS_JSON}"}`);
});

const texts = (value) => (typeof value === 'string' ? [value] : Object.values(value ?? {}).flatMap(texts));

test('so it is in what is said of a failure', async () => {
  const code = `(() => { throw Object.assign(new Error(${JSON.stringify(SLY)}), { name: '${SLY}' }) })() // \u202e`;
  for (const [name, args] of [['execute', { code }], ['compute', { code: `() => ${code}` }]]) {
    const { content, structuredContent } = (await wire.call(name, args)).result;
    const told = texts([content, structuredContent]);
    assert.ok(told.filter((text) => text.includes(SEEN)).length > 1);
    for (const text of told) assert.doesNotMatch(text.replaceAll('\n', ''), HIDDEN);
  }
  for (const [method, params] of [['tools/call', { name: SLY }], ['resources/read', { uri: SLY }], [SLY, {}]]) {
    const { error, result } = await wire.ask(method, params);
    assert.doesNotMatch(error?.message ?? result.content[0].text, HIDDEN);
  }
});

test('so it is in progress and in log messages', async () => {
  await wire.ask('logging/setLevel', { level: 'debug' });
  await wire.call('execute', { code: 'console.log(input)', input: SLY }, { progressToken: 'p' });
  assert.equal((await wire.hear((m) => m.method === 'notifications/progress')).params.message, SEEN);
  assert.equal((await wire.hear((m) => m.method === 'notifications/message')).params.data, SEEN);
});

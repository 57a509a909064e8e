// SPDX-License-Identifier: MIT
// What code and tools keep for the reader of the answer: all of it, or a reason.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allow, open, upstream } from './box.mjs';

const up = upstream('told', '[{name:"say"}]');
const wire = await open(allow({ up }, { limits: { artifactBytes: 1000000 } }));

const execute = async (code, input) => (await wire.call('execute', { code, input })).result;
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };

test('all that a script keeps is kept; what is not named is counted', async () => {
  const { structuredContent: s, content } = await execute(`const kept = [];
    for (let i = 0; i < 70; i++) kept.push(await artifact('part ' + i, 'text ' + i));
    return kept.map((each) => each.uri);`);
  assert.equal(new Set(s.result).size, 70);
  assert.equal(s.artifacts.length, 64);
  assert.equal(s.artifacts_left_out, 6);
  assert.match(content[0].text, /part 63, .*\nand 6 artifacts more: their handles name them\n/);
  const { result } = await wire.ask('resources/read', { uri: s.result[69] });
  assert.equal(result.contents[0].text, 'text 69');
});

test('bytes without a type of their own are read as bytes, whatever they look like', async () => {
  for (const [bytes, type] of [[[1, 2, 3], ''], [[104, 105], ''], [[255], ''], [[], ''], [[104, 105], 'text/csv']]) {
    const { structuredContent: { result: uri } } = await execute(
      `return (await artifact('x', new Uint8Array(${JSON.stringify(bytes)}), '${type}')).uri`);
    const { blob, text } = (await wire.ask('resources/read', { uri })).result.contents[0];

    if (type === '') assert.deepEqual([...Buffer.from(blob, 'base64')], bytes);
    else assert.equal(text, 'hi');
  }
});

/** How long it takes until the call has ended, and the longest wait of a ping meanwhile. */
async function serveOthers(own) {
  const start = performance.now();
  let slowest = 0;
  while (!own.told.some((m) => m.id === 'long')) {
    const asked = performance.now();
    await own.ask('ping');
    slowest = Math.max(slowest, performance.now() - asked);
  }
  return { slowest, whole: performance.now() - start };
}

/** One with a secret, and with code under way that ends so: "now" was told. */
async function openWithSecret(end) {
  const own = await open({ mcpServers: { up: { command: 'true' } },
    glovebox: { secrets: { KEY: { value: 't0ken-of-the-test', servers: ['up'] } } } });
  own.say({ id: 'long', method: 'tools/call', params: { name: 'execute', _meta: { progressToken: 1 },
    arguments: { code: `console.log('now'); ${end}`, input: 't0ken-of-the-test' } } });
  await own.hear((m) => m.method === 'notifications/progress');
  return own;
}

/* The search takes seconds with nine millions, and one with two. */
const LONG = "'%'.repeat(2e6) + input";
const LONGEST = "'%'.repeat(9e6) + input";

test('a server ends while it looks through what is long', async () => {
  for (const end of [`return ${LONGEST}`, `await artifact('a', ${LONGEST})`])
    for (const method of ['notifications/cancelled', undefined]) {
      const own = await openWithSecret(end);
      await new Promise((resolve) => { setTimeout(resolve, 500); });
      if (method !== undefined) own.say({ method, params: { requestId: 'long' } });
      await own.ask('ping');
      assert.equal((await own.close()).code, 0);
      assert.deepEqual(own.told.filter((m) => m.id === 'long'), []);
    }
});

for (const [what, end] of [
  ['result', `return ${LONG}`],
  ['artifact', `const kept = [artifact('a', ${LONG}), artifact('b', input), artifact('c', new Uint8Array(3))];
    return (await Promise.all(kept)).map((each) => each.bytes)`],
  ['artifact that nobody waits for', `artifact('a', ${LONG}); return 1`],
])
  test(`a long ${what} is looked through for secrets while others are served`, async () => {
    const own = await openWithSecret(end);
    const { slowest, whole } = await serveOthers(own);
    const { result } = await own.hear((m) => m.id === 'long');
    const { uri, bytes } = result.structuredContent.artifacts?.[0] ?? { uri: undefined };
    if (uri === undefined) assert.ok(result.content[0].text.includes('%{{secret:KEY}}'));
    else {
      assert.equal(bytes, 2e6 + '{{secret:KEY}}'.length);
      const page = await own.ask('resources/read', { uri: `${uri}?offset=${2e6 - 1}&length=100` });
      assert.equal(page.result.contents[0].text, '%{{secret:KEY}}');
    }
    if (what === 'artifact') assert.deepEqual(result.structuredContent.result, [bytes, 14, 3]);
    assert.ok(!JSON.stringify(result).includes('t0ken'));
    assert.ok(slowest < whole / 2, `a ping took ${slowest} ms of ${whole}`);
    await own.close();
  });

test('so are many console lines, which are told in their order', async () => {
  const own = await openWithSecret(`for (let i = 0; i < 1000; i++) console.log(i, '%'.repeat(1990));
    console.log(input); return 1`);
  const { slowest, whole } = await serveOthers(own);
  const { result } = await own.hear((m) => m.id === 'long');
  const { uri, bytes } = result.structuredContent.artifacts[0];
  const page = await own.ask('resources/read', { uri: `${uri}?offset=${bytes - 20}&length=100` });
  assert.ok(page.result.contents[0].text.endsWith('%\n{{secret:KEY}}\n'));
  assert.ok(!JSON.stringify(own.told).includes('t0ken'));
  const told = own.told.filter((m) => m.method === 'notifications/progress')
    .map((m) => parseInt(m.params.message, 10)).filter((i) => !Number.isNaN(i));
  assert.ok(told.length > 50, `${told.length} lines`);
  assert.deepEqual(told, told.toSorted((a, b) => a - b));
  assert.ok(slowest < whole / 3, `a ping took ${slowest} ms of ${whole}`);
  await own.close();
});

test('so is all that a tool gives', async () => {
  const { structuredContent: s } = await execute('return servers.up.say({ result: input })',
    { content: Array(80).fill(image) });
  assert.equal(s.result.filter((each) => typeof each.uri === 'string').length, 80);
});

test('text that comes as bytes has no secret in it, and a long one is read as bytes', async () => {
  const hex = Buffer.from('t0ken-of-the-test').toString('hex');
  const own = await open(allow({ up }, { secrets: { KEY: { value: 't0ken-of-the-test', servers: ['up'] } } }));
  const blobOf = (text) => ({ content: [{ type: 'resource',
    resource: { uri: 'x:1', mimeType: 'text/plain', blob: Buffer.from(text).toString('base64') } }] });
  const read = async (code, text) => {
    const { result } = await own.call('execute', { code, input: blobOf(text) });
    const [{ uri }] = result.structuredContent.artifacts;
    return (await own.ask('resources/read', { uri: `${uri}?length=100` })).result.contents[0];
  };
  const plain = 'return await servers.up.say({ result: input })';
  const asBytes = `const { content: [{ resource }] } = await servers.up.say({ result: input }, { raw: true });
    return await artifact('a', Uint8Array.fromBase64(resource.blob), 'text/plain')`;
  for (const code of [plain, asBytes])
    assert.equal((await read(code, `a ${hex} b`)).text, 'a {{secret:KEY}} b');
  assert.equal((await read(plain, 'é'.repeat(40000))).blob, Buffer.from('é'.repeat(50)).toString('base64'));
  assert.equal((await read(plain, '')).text, '');
  await own.close();
});

test('what is beyond the limits throws, and says which', async () => {
  const { structuredContent: s } = await execute(`const reasons = [];
    await artifact('a', 'x'.repeat(1000000));
    await artifact('a', 'x'.repeat(1000001)).catch((e) => reasons.push([e.code, e.message]));
    for (let i = 1; ; i++)
      try {
        await artifact('a', 'x');
      } catch (e) {
        return [...reasons, [e.code, e.message, i]];
      }`);
  assert.deepEqual(s.result, [
    ['ARTIFACT_LIMIT', 'an artifact has at most 1000000 bytes, this one 1000001'],
    ['ARTIFACT_LIMIT', 'a script keeps 1000 artifacts at most', 1000]]);
});

test('a tool that gives too many is told of those that are not kept', async () => {
  const { structuredContent: s } = await execute(
    'return (await servers.up.say({ result: input }))[1000]', { content: Array(1001).fill(image) });
  assert.deepEqual(s.result,
    { error: 'a script keeps 1000 artifacts at most', mimeType: 'image/png', bytes: 3 });
});

test('a value that is too deep is a failure that code can catch', async () => {
  const { structuredContent: s } = await execute(`let a = 1;
    for (let i = 0; i < 5000; i++) a = [a];
    const codes = [];
    for (const use of [() => artifact('a', a), () => servers.up.say({ a })])
      await use().catch((e) => codes.push([e.name, e.code, e.message]));
    return codes;`);
  assert.deepEqual(s.result, Array(2).fill(['ToolError', 'INVALID_ARGS',
    'the arguments are nested deeper than 1000 levels']));
});

test('a value that is too large to be handed over is a failure with its code', async () => {
  const { structuredContent: s } = await execute("await artifact('a', '\\u0001'.repeat(2e7))");
  assert.equal(s.error.code, 'INPUT_TOO_LARGE');
  assert.match(s.error.message, /^it is too large to be handed over in one piece/);
});

test('bytes arrive as they are, at every length', async () => {
  const { structuredContent: s } = await execute(`const kept = [];
    for (const length of [0, 1, 2, 3, 6143, 6144, 6145, 20000]) {
      const bytes = Uint8Array.from({ length }, (_, i) => i * 7);
      kept.push([length, (await artifact('b', bytes)).uri]);
    }
    return kept;`);
  for (const [length, uri] of s.result) {
    const { contents: [{ blob, text }] } = (await wire.ask('resources/read', { uri })).result;
    assert.deepEqual(blob !== undefined ? Buffer.from(blob, 'base64') : Buffer.from(text),
      Buffer.from(Uint8Array.from({ length }, (_, i) => i * 7)));
  }
});

test('a console line is one line, however long, and the whole log is whole', async () => {
  const { structuredContent: s } = await execute(
    "console.log(JSON.stringify({ a: '\\u20ac'.repeat(60000) })); console.log('end')");
  assert.equal(s.logs.length, 2);
  const { result } = await wire.ask('resources/read', { uri: s.artifacts[0].uri });
  const [first, second] = result.contents[0].text.split('\n');
  assert.equal(JSON.parse(first).a, '\u20ac'.repeat(60000));
  assert.equal(second, 'end');
});

test('an artifact that nobody awaits and that is not kept is told with the value', async () => {
  const first = 'an artifact has at most 1000000 bytes, this one 1000001';
  for (const [code, told] of [
    ["artifact('a', 'x'.repeat(1000001)); return 5", `1 artifact was not kept: ${first}`],
    [`artifact('a', 'x'.repeat(1000001)); artifact('b', 1, 'none'); servers.up.say({}); return 5`,
      // The call may have been answered before the code ended: then nothing is said of it.
      new RegExp(`^5\n(1 call was not awaited, and (has ended all the same|was not sent): up.say .line 1.\n)?2 artifacts were not kept, the first for this: ${first}$`, 'm')],
    ["await artifact('a', 'kept'); return 5", null],
  ]) {
    const { structuredContent: { ok, result }, content: [{ text }] } = await execute(code);

    assert.deepEqual([ok, result], [true, 5]);
    if (told === null) assert.doesNotMatch(text, /not kept/);
    else if (typeof told === 'string') assert.ok(text.split('\n').includes(told), text);
    else assert.match(text, told);
  }
});

test('show() lets the model see images of the type they have, and no more than fit', async () => {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const { content, structuredContent: s } = await execute(`
    const png = Uint8Array.fromBase64('${png}');
    await show(png, 'image/png');
    await show(await artifact('again', png, 'image/png'));
    const why = (shown) => shown.then(() => 'shown', (e) => e.message);
    const others = await Promise.all([show(png, 'image/jpeg'), show(png, 'text/html'), show('x'), show({})].map(why));
    return [...others, ...await Promise.all(Array.from({ length: 8 }, () => why(show(png, 'image/png'))))];`);
  const images = content.filter(({ type }) => type === 'image');
  assert.deepEqual([images.length, images[0]], [8, { type: 'image', mimeType: 'image/png', data: png }]);
  assert.match(s.result[0], /^it is not a PNG, JPEG, GIF or WebP image/);
  assert.match(s.result[1], /^it is not a PNG/);
  assert.match(s.result[2], /^no such artifact/);
  assert.match(s.result[3], /^show\(image\) takes/);
  assert.deepEqual(s.result.slice(4).map((why) => why === 'shown'), [true, true, true, true, true, true, false, false]);
  assert.match(s.result[11], /^a script shows at most 8 images/);
});

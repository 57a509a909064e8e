// SPDX-License-Identifier: MIT
// questions: servers of both eras ask a person through glovebox, with the official clients of
// both generations.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, afterEach, test } from 'node:test';
import { callTool, closeAll, connect } from './clients.mjs';
import { Wire } from './wire.mjs';

const folder = mkdtempSync(join(tmpdir(), 'glovebox-questions-'));
const wires = [];
afterEach(async () => {
  for (const wire of wires.splice(0)) await wire.close();
});
after(async () => {
  await closeAll();
  rmSync(folder, { recursive: true });
});

const BOTH = { elicitation: { form: {}, url: {} } };
const log = join(folder, 'log');
const config = join(folder, 'mcp.json');
writeFileSync(config, JSON.stringify({
  mcpServers: Object.fromEntries(['legacy', 'modern', 'legacyfree', 'modernfree'].map((name) => [name, {
    command: process.execPath, args: [join(import.meta.dirname, 'asking-upstream.mjs'), name.slice(0, 6)],
    env: { KEY: '${QUESTIONS_SECRET}' }, glovebox: { timeoutMs: 4000, ...(name.endsWith('free') && { sampling: true, roots: true }) } }])),
  glovebox: { audit: log, rules: [{ action: 'allow' }] },
}), { mode: 0o600 });
const transport = { command: process.env.GLOVEBOX, args: ['mcp', '--config', config], env: { ...process.env, QUESTIONS_SECRET: 'sk-0123456789abcdef' }, stderr: 'pipe' };

const hosts = ['v1', 'v2 legacy', 'v2 pinned'];

/** A host whose person answers so; asked has what the person saw. */
async function open(host, capabilities = BOTH) {
  const box = { asked: [], answer: { action: 'accept', content: { name: 'Ann' } } };
  const person = async (params) => {
    box.asked.push(params);
    return typeof box.answer === 'function' ? box.answer(params) : box.answer;
  };
  const client = await connect(host, transport, { capabilities, person: capabilities.elicitation && person });
  box.call = async (era, tool, args = {}, options = {}) => {
    box.asked = [];
    const code = `return servers.${era}.call(${JSON.stringify(tool)}, ${JSON.stringify(args).replace('"LONG"', "'a'.repeat(65536)")}${box.more ?? ''})`;
    const { structuredContent: s } = await callTool(client, { name: 'execute', arguments: { code, ...box.limits } }, options);
    return s.error ? `${s.error.code ?? s.error.name}: ${s.error.message}` : s.result;
  };
  return Object.assign(box, { client });
}

for (const host of hosts)
  for (const era of ['legacy', 'modern'])
    test(`a ${era} server asks the person of a host of ${host}`, async () => {
      const box = await open(host);
      const ann = { action: 'accept', content: { name: 'Ann' } };
      assert.deepEqual(await box.call(era, 'form'), [ann]);
      assert.equal(box.asked.length, 1);
      assert.match(box.asked[0].message, new RegExp(`^The server ${era} asks, for a call of its tool form\\. .*\\n\\nname\\?$`));
      assert.deepEqual(box.asked[0].requestedSchema.properties, { name: { type: 'string', default: 'Ada' } });
      assert.deepEqual(await box.call(era, 'twice'), [ann, ann]);
      assert.deepEqual(await box.call(era, 'both'), [ann, ann]);
      box.answer = { action: 'decline' };
      assert.deepEqual(await box.call(era, 'form'), [{ action: 'decline' }]);
      box.answer = { action: 'cancel' };
      assert.deepEqual(await box.call(era, 'form'), [{ action: 'cancel' }]);
      box.answer = { action: 'accept' };
      assert.deepEqual(await box.call(era, 'url', { url: 'https://example.com/a?b' }), [{ action: 'accept' }]);
      assert.deepEqual([box.asked[0].mode, box.asked[0].url], ['url', 'https://example.com/a?b']);
      assert.match(box.asked[0].message, /asks, for a call of its tool url, that you open a page\. Its words:\n\nlook here$/);
    });

test('a host that cannot ask, or not so: the server is told, and nobody is asked', async () => {
  const forms = { elicitation: {} }, url = { url: 'https://example.com/' };
  const NOBODY = 'UPSTREAM_INPUT: the tool asks for input from a person, and the client cannot ask anybody';
  for (const [capabilities, calls] of [
    [{}, [['capabilities', {}, {}, {}], ['form', {}, [{ code: -32601 }], NOBODY]]],
    [forms, [['capabilities', {}, { elicitation: { form: {} } }, { elicitation: { form: {} } }],
      ['url', url, [{ code: -32602 }], 'UPSTREAM_INPUT: the client cannot open addresses']]],
    [BOTH, [['capabilities', {}, BOTH, BOTH]]],
  ])
    await Promise.all(['v1', 'v2 pinned'].map(async (host) => {
      const box = await open(host, capabilities);
      for (const [tool, args, legacy, modern] of calls)
        assert.deepEqual([await box.call('legacy', tool, args), await box.call('modern', tool, args)], [legacy, modern], `${host} ${tool}`);
      assert.deepEqual(box.asked, []);
    }));
});

test('what is not a question to a person is refused, and nobody is asked', async () => {
  const schema = (properties, more) => ({ message: 'a?', requestedSchema: { type: 'object', properties, ...more } });
  const url = (at, more) => ({ mode: 'url', message: 'a?', url: at, elicitationId: '1', ...more });
  const box = await open('v2 pinned');
  for (const params of [{}, { message: 7 }, { message: 'a?' }, { ...schema({}), message: 'a'.repeat(16384) }, { ...schema({}), mode: 'poem' },
    { message: 'a?', requestedSchema: { properties: {} } }, { message: 'a?', requestedSchema: { type: 'object' } }, schema({ a: {} }), schema({ a: { type: 'object', properties: {} } }),
    schema({ a: { type: 'array' } }), schema({ a: { type: 'array', items: { type: 'object', properties: {} } } }), schema({ a: { type: ['string', 'null'] } }),
    schema(Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`f${i}`, { type: 'string' }]))), schema({ a: { type: 'string', description: 'LONG' } }),
    url('javascript:alert(1)'), url('file:///etc/passwd'), url('http://example.com/'), url('https://'), url('https:///a'), url('https://@/'), url('http://localhost:/'), url('https://example.com@evil.example/'), url('https://a.example/ b'),
    url('https://a.example/\u202e'), url('http://localhost:'), url('http://127.0.0.1:80@evil.example/'), url('https:\\\\a.example'), url(`https://a.example/${'a'.repeat(2048)}`),
    url('https://a.example/', { elicitationId: 'a'.repeat(300) }), schema({ a: { type: 'string', properties: {} } }), schema({ a: { type: 'string', title: 'a\u202e' } }),
    schema({ 'a\x1b': { type: 'string' } }), schema({ a: { type: 'string', enum: ['\u{e0041}'] } }), schema({ a: { type: 'string', $ref: 'https://a.example' } }), schema({}, { $ref: '#' }),
    schema({}, { anyOf: [{ properties: {} }] }), schema({ a: { type: 'array', items: { items: {} } } }), schema({ a: { type: 'array', items: { anyOf: [{ const: {} }] } } })]) {
    assert.deepEqual(await box.call('legacy', 'odd', { params }), [{ code: -32602 }], JSON.stringify(params)?.slice(0, 200));
    assert.match(await box.call('modern', 'odd', { params }), /^UPSTREAM_INPUT: /, JSON.stringify(params)?.slice(0, 200));
    assert.deepEqual(box.asked, []);
  }
  const rich = schema({ a: { type: 'string', title: 'A', description: 'b', minLength: 1, format: 'email', default: 'c' }, b: { type: 'number', minimum: 1, maximum: 2.5 },
    c: { type: 'string', enum: ['x', 'y'], enumNames: ['X', 'Y'] }, d: { type: 'string', oneOf: [{ const: 'x', title: 'X' }] }, e: { type: 'boolean', default: true },
    f: { type: 'array', items: { type: 'string', enum: ['x'] }, minItems: 1, default: ['x'] }, g: { type: 'array', items: { anyOf: [{ const: 'x', title: 'X' }] } } },
  { required: ['a'], additionalProperties: false, $schema: 'https://json-schema.org/draft/2020-12/schema' });
  for (const era of ['legacy', 'modern']) {
    await box.call(era, 'odd', { params: rich });
    assert.deepEqual(box.asked.map(({ requestedSchema }) => requestedSchema), [rich.requestedSchema]);
    await box.call(era, 'odd', { params: url('https://a.example/b', { elicitationId: undefined }) });
    assert.deepEqual(box.asked.map(({ url: at }) => at), ['https://a.example/b']);
  }
});

const prompt = (value, more) => ({ messages: [{ role: 'user', content: { type: 'text', text: value } }], maxTokens: 5, ...more });
const said = { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm', stopReason: 'endTurn' };
const folders = { roots: [{ uri: 'file:///srv', name: 'srv' }] };

/** A client that declares these, and answers what servers ask the client itself for by give(). */
async function client(capabilities, give) {
  const wire = new Wire(transport.command, transport.args, { env: transport.env });
  wires.push(wire);
  await wire.initialize('2025-11-25', capabilities);
  const box = { wire, asked: [] };
  createInterface({ input: wire.child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    if (!/^(sampling|roots|elicitation)\//.test(message.method)) return;
    box.asked.push(message);
    wire.say({ id: message.id, ...give(message) });
  });
  box.call = async (server, tool, params) => {
    box.asked = [];
    const call = wire.call('execute', { code: 'return servers[input.server][input.tool]({ params: input.params })', input: { server, tool, params } });
    const { structuredContent: s } = (await call).result;
    return s.error ? `${s.error.code ?? s.error.name}: ${s.error.message}` : s.result;
  };
  return box;
}

test('a server asks the client for text of its model and for its folders, if client and configuration allow both', async () => {
  const NOT = { sampling: 'text of the client\'s model', roots: 'the client\'s folders' };
  for (const [server, capabilities, isAllowed, why] of [
    ['legacy', { sampling: {}, roots: {} }, false], ['modern', { sampling: {}, roots: {} }, false, 'the configuration does not allow: "KIND": true'],
    ['legacyfree', { elicitation: {} }, false], ['modernfree', { elicitation: {} }, false, 'the client does not offer'],
    ['legacyfree', { sampling: {}, roots: {} }, true], ['modernfree', { sampling: {}, roots: {} }, true]]) {
    const box = await client(capabilities, ({ method }) => ({ result: method === 'roots/list' ? folders : said }));
    for (const [tool, params, result] of [['sampling', prompt('capital?'), said], ['roots', undefined, folders]]) {
      const answer = await box.call(server, tool, params);
      assert.equal(box.asked.length, isAllowed ? 1 : 0, `${server} ${tool}`);
      if (isAllowed) assert.deepEqual(answer, [result]);
      else if (why) assert.ok(answer.startsWith('UPSTREAM_INPUT: ') && answer.includes(NOT[tool]) && answer.includes(why.replace('KIND', tool)), answer);
      else assert.deepEqual(answer, [{ code: -32601 }]);
    }
  }
});

test('what a model is asked has the names of server and tool, and nothing hidden, secret or of other servers', async () => {
  const box = await client({ sampling: {} }, () => ({ result: said }));
  const image = { role: 'assistant', content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }, { type: 'text', text: 'b' }] };
  for (const era of ['legacy', 'modern']) {
    const params = { ...prompt('key sk-0123456789abcdef \u{e0041}'), systemPrompt: 'be \u202e sk-0123456789abcdef', temperature: 0.5, stopSequences: ['x'], includeContext: 'allServers', metadata: { a: 1 } };
    params.messages.push(image);
    await box.call(`${era}free`, 'sampling', params);
    const { systemPrompt, messages, ...rest } = box.asked[0].params;
    assert.match(systemPrompt, new RegExp(`^The server ${era}free asks, for a call of its tool sampling\\. .*\\n\\nbe \\\\u\\{202e\\} \\{\\{secret:KEY\\}\\}$`));
    assert.deepEqual(messages, [{ role: 'user', content: { type: 'text', text: 'key {{secret:KEY}} \\u{e0041}' } }, ...image.content.map((content) => ({ role: 'assistant', content }))]);
    assert.deepEqual(rest, { maxTokens: 5, temperature: 0.5, stopSequences: ['x'] });
  }
});

test('what is not a request of sampling is refused, and nobody is asked', async () => {
  const box = await client({ sampling: {} }, () => ({ result: said }));
  const of = (message) => ({ messages: [message], maxTokens: 5 });
  const block = (content) => of({ role: 'user', content });
  for (const params of [undefined, { maxTokens: 5 }, { messages: [] }, { ...prompt('a'), maxTokens: 'b' }, { ...prompt('a'), maxTokens: 1.5 }, { ...prompt('a'), systemPrompt: 7 },
    { ...prompt('a'), tools: [] }, { ...prompt('a'), toolChoice: {} }, { ...prompt('a'), modelPreferences: [] }, { ...prompt('a'), stopSequences: [1] }, { ...prompt('a'), temperature: '1' },
    of({ role: 'system', content: { type: 'text', text: 'a' } }), of({ role: 'user' }), block('a'), block({ text: 'a' }), block({ type: 'text' }), block({ type: 'image', data: 'AAAA' }),
    block({ type: 'resource_link', uri: 'file:///etc' }), block({ type: 'tool_use', text: 'a' }), block([{ type: 'text' }]),
    prompt('a'.repeat(524288)), { ...Object.fromEntries(Array.from({ length: 40000 }, (_, i) => [`a${i}`, 0])), ...of({ role: 'system', content: { type: 'text', text: 'a' } }) },
    { messages: Array(1001).fill(prompt('a').messages[0]), maxTokens: 5 }])
    for (const era of ['legacy', 'modern']) {
      const answer = await box.call(`${era}free`, 'sampling', params);
      if (era === 'legacy') assert.deepEqual(answer, [{ code: -32602 }], JSON.stringify(params)?.slice(0, 200));
      else assert.match(answer, /^UPSTREAM_INPUT: a request of sampling needs/, JSON.stringify(params)?.slice(0, 200));
      assert.deepEqual(box.asked, []);
    }
});

test('a request of sampling with too much of anything is refused, and nobody is asked', async () => {
  const box = await client({ sampling: {} }, () => ({ result: said }));
  const blocks = (count) => ({ messages: [{ role: 'user', content: Array(count).fill({ type: 'text', text: 'a' }) }], maxTokens: 5 });
  const stops = (count) => ({ ...prompt('a'), stopSequences: Array(count).fill('x') });
  for (const [params, isAsked] of [[blocks(1000), true], [blocks(1001), false], [stops(16), true], [stops(17), false], [{ ...prompt('a'), temperature: 1.2345678901234567e-300 }, false]]) {
    assert.deepEqual(await box.call('legacyfree', 'sampling', params), [isAsked ? said : { code: -1 }]);
    assert.equal(box.asked.length, isAsked ? 1 : 0);
  }
});

test('a server that asks the model too often does not keep others from asking a person', async () => {
  const accept = { action: 'accept', content: { name: 'Ann' } };
  const box = await client({ sampling: {}, elicitation: {} }, ({ method }) => ({ result: method === 'elicitation/create' ? accept : said }));
  let answer;
  for (let i = 0; i < 100 && answer?.[0].code !== -1; i++) answer = await box.call('legacyfree', 'sampling', prompt('a'));
  assert.deepEqual(answer, [{ code: -1 }]);
  assert.deepEqual(await box.call('legacy', 'form'), [accept]);
});

test('what a client gives that is not what was asked for does not reach the server', async () => {
  let given;
  const box = await client({ sampling: {}, roots: {} }, () => given);
  for (const [tool, odd] of [
    ['sampling', [{ error: { code: -1, message: 'User rejected sampling request' } }, { result: {} }, { result: { ...said, role: 'system' } }, { result: { ...said, model: undefined } }, { result: { ...said, content: 'x' } },
      { result: { ...said, content: { type: 'tool_use' } } }, { result: { action: 'accept', content: said } }, { result: { ...said, content: { type: 'text', text: 'a'.repeat(4194304) } } }]],
    ['roots', [{ error: { code: -32601, message: 'no' } }, { result: {} }, { result: { roots: {} } }, { result: { roots: [{ name: 'x' }] } }, { result: { roots: ['file:///'] } }]]])
    for (given of odd) {
      assert.deepEqual(await box.call('legacyfree', tool, prompt('a')), [{ code: -1 }]);
      assert.match(await box.call('modernfree', tool, prompt('a')), /^UPSTREAM_INPUT: the client has not given what the tool asked it for/);
      assert.equal(box.asked.length, 1);
    }
  const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)).filter(({ tool }) => tool === 'sampling');
  assert.ok(lines.some(({ server, questions }) => server === 'modernfree' && questions === 1));
});

test('the server\'s words: escaped, without secrets, cut, behind its name', async () => {
  const box = await open('v1');
  for (const era of ['legacy', 'modern']) {
    await box.call(era, 'form', { message: 'key sk-0123456789abcdef \u202e \x1b[31m \u{e0041}', schema: { type: 'object', properties: { a: { type: 'string', title: 'sk-0123456789abcdef' } } } });
    const [{ message, requestedSchema }] = box.asked;
    assert.match(message, /\n\nkey \{\{secret:KEY\}\} \\u\{202e\} \\u\{1b\}\[31m \\u\{e0041\}$/);
    assert.doesNotMatch(JSON.stringify(requestedSchema), /sk-0123/);
    await box.call(era, 'form', { message: 'b'.repeat(16000) });
    assert.ok(box.asked[0].message.length < 4400 && /\[\.\.\. \d+ bytes \.\.\.\]/.test(box.asked[0].message));
    assert.deepEqual(await box.call(era, 'url', { url: 'https://example.com/?key=sk-0123456789abcdef' }), [{ action: 'cancel' }]);
    assert.deepEqual(box.asked, []);
  }
});

// Each limit is long enough for a busy machine, and the person takes longer.
test('clocks stand still while a person thinks: of the server, of the call, of the script', async () => {
  const cases = hosts.flatMap((host) => ['legacy', 'modern'].map((era) => [host, era, 4200, '', {}]));
  for (const era of ['legacy', 'modern']) cases.push(['v1', era, 3200, ', { timeoutMs: 3000 }', {}], ['v1', era, 5200, '', { timeout_ms: 5000 }]);
  const waits = [];
  for (const [host, era, ms, more, limits] of cases) {
    const box = Object.assign(await open(host), { more, limits });
    await box.call(era, 'slow');
    box.answer = () => new Promise((resolve) => { setTimeout(resolve, ms, { action: 'decline' }); });
    waits.push(() => box.call(era, 'form').then((answer) => assert.deepEqual(answer, [{ action: 'decline' }], `${host} ${era} ${ms}`)));
  }
  await Promise.all(waits.map((wait) => wait()));
});

test('a call that is sent while a question is open stands still, too; a timeout goes on with what was left', async () => {
  const box = await open('v1');
  await box.call('legacy', 'slow');
  box.answer = () => new Promise((resolve) => { setTimeout(resolve, 5200, { action: 'decline' }); });
  const code = `const asks = servers.legacy.form({}); await sleep(500);
    return Promise.all([asks, servers.legacy.slow({ ms: 4500 })])`; // longer than the server's 4 s
  const { structuredContent } = await box.client.callTool({ name: 'execute', arguments: { code } });
  assert.deepEqual(structuredContent.result, [[{ action: 'decline' }], []]);
  box.answer = { action: 'decline' };
  box.more = ', { timeoutMs: 3000 }';
  assert.match(await box.call('legacy', 'nags'), /^UPSTREAM_TIMEOUT: /); // 2 s after each of four questions
});

test('a server that ends while a person is asked: the call fails, and nobody is asked again', async () => {
  const box = await open('v1');
  box.answer = () => new Promise((resolve) => { setTimeout(resolve, 2500, { action: 'decline' }); });
  for (const era of ['legacy', 'modern']) {
    assert.match(await box.call(era, 'gone'), /^UPSTREAM_EXIT: /);
    assert.equal(box.asked.length, 1);
    assert.deepEqual(await box.call(era, 'form'), [{ action: 'decline' }]);
  }
});

// Of a host of 2026-07-28 nothing is in flight meanwhile that it could cancel.
test('a call that is cancelled while a person is asked is gone; the next one asks', async () => {
  for (const host of ['v1', 'v2 legacy'])
    for (const era of ['legacy', 'modern']) {
      const box = await open(host), stop = new AbortController();
      const seen = new Promise((resolve) => { box.answer = () => { resolve(); return new Promise(() => {}); }; });
      const call = box.call(era, 'form', {}, { signal: stop.signal });
      await seen;
      stop.abort(new Error('enough'));
      await assert.rejects(call);
      box.answer = { action: 'decline' };
      assert.deepEqual(await box.call(era, 'form'), [{ action: 'decline' }]);
      if (era === 'modern') assert.deepEqual(await box.call(era, 'returns'), [1]); // of the second call alone
    }
});

test('a question that its server withdraws takes no place', async () => {
  const box = await open('v1');
  box.answer = ({ message }) => /withdrawn/.test(message) ? new Promise(() => {}) : { action: 'decline' };
  const code = 'for (let i = 0; i < 9; i++) await servers.legacy.withdraws({}); return servers.legacy.form({})';
  const { structuredContent } = await box.client.callTool({ name: 'execute', arguments: { code } });
  assert.deepEqual(structuredContent.result, [{ action: 'decline' }]);
});

test('a server that has calls of two requests cannot ask: somebody might answer for another', async () => {
  const box = await open('v1');
  await box.call('legacy', 'slow');
  const other = box.call('legacy', 'slow', { ms: 3000 });
  await new Promise((resolve) => { setTimeout(resolve, 1000); });
  assert.deepEqual(await box.call('legacy', 'form'), [{ code: -32602 }]);
  await other;
});

test('a server that asks for nothing but to be called again is called again, without a person too', async () => {
  const box = await open('v2 pinned', {});
  assert.deepEqual(await box.call('modern', 'state'), []);
});

test('a server that asks without end is stopped: by the rounds of a call, and by questions in a minute', async () => {
  const box = await open('v2 legacy');
  assert.match(await box.call('modern', 'endless'), /^UPSTREAM_PROTOCOL: the tool asks a person again and again/);
  assert.equal(box.asked.length, 16);
  assert.match(await box.call('modern', 'many', { count: 9 }), /^UPSTREAM_INPUT: the tool asks too many questions at once/);
  box.answer = async () => {
    while (box.asked.length < 8) await new Promise((resolve) => { setTimeout(resolve, 5); });
    return { action: 'accept' };
  };
  assert.equal((await box.call('legacy', 'many', { count: 9 })).filter(({ code }) => code === -32602).length, 1);
  box.answer = { action: 'decline' };
  const answers = await box.call('legacy', 'endless');
  assert.equal(answers.length, 40);
  assert.ok(answers.some(({ action }) => action === 'cancel'));
  const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)).filter(({ tool }) => tool === 'endless');
  assert.equal(lines[0].questions, 16);
});

test('calls at once: each has its own answer', async () => {
  for (const era of ['legacy', 'modern']) {
    const box = await open('v1');
    box.answer = ({ message }) => ({ action: 'accept', content: { name: /(\w+)\?$/.exec(message)[1] } });
    const names = Array.from({ length: 8 }, (_, i) => `n${i}`);
    const code = `return Promise.all(${JSON.stringify(names)}.map((n) => servers.${era}.form({ message: n + '?' })))`;
    const { structuredContent } = await box.client.callTool({ name: 'execute', arguments: { code } });
    assert.deepEqual(structuredContent.result.flat().map(({ content }) => content.name), names);
  }
});

test('a legacy server does not say which call it asks for: the answer comes to it, whichever ends first', async () => {
  await Promise.all(['form({}), servers.legacy.slow({ ms: 20 })', 'slow({ ms: 20 }), servers.legacy.form({})'].map(async (calls) => {
    const box = await open('v1');
    box.answer = () => new Promise((resolve) => { setTimeout(resolve, 5200, { action: 'decline' }); });
    const code = `return Promise.all([servers.legacy.${calls}])`;
    const { structuredContent } = await box.client.callTool({ name: 'execute', arguments: { code, timeout_ms: 60000 } });
    assert.deepEqual(structuredContent.result?.flat(), [{ action: 'decline' }], calls);
  }));
});

test('the end of what a person does at an address is told once, and no other', async () => {
  const wire = new Wire(transport.command, transport.args, { env: transport.env });
  await wire.initialize('2025-11-25', BOTH);
  const call = wire.call('execute', { code: 'return servers.legacy.url({ url: "https://example.com/" })' });
  const { id, params: { elicitationId } } = await wire.hear(({ method }) => method === 'elicitation/create');
  assert.match(elicitationId, /^legacy\/\d+$/);
  wire.say({ id, result: { action: 'accept' } });
  await call;
  assert.deepEqual(wire.told.filter(({ method }) => method === 'notifications/elicitation/complete').map(({ params }) => params), [{ elicitationId }]);
  await wire.close();
});

// SPDX-License-Identifier: MIT
// proxy: resources, prompts and completions of servers, for clients of both eras.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { allow, folder, open, put, upstream } from './box.mjs';
import { serve } from './front.mjs';
import { rows, table } from './tables.mjs';
import { META } from './wire.mjs';

const full = (era, script) => upstream('full', era, ...(script ? [put(`script-${++scripts}.mjs`, `export default ${script};`)] : []));
let scripts = 0;

/** A client that asks in an era, of servers in a configuration. */
async function client(era, config, options) {
  const wire = await open(config, options);
  const meta = era === 'modern' ? { _meta: { ...META, ...options?.meta } } : {};
  return Object.assign(wire, {
    get: (method, params = {}) => wire.ask(method, { ...params, ...meta }),
    async tool(tool, args = {}) {
      return (await wire.call('call', { server: 'up', tool, args })).result.content[0].text;
    },
  });
}

const bare = ({ resultType, _meta, ttlMs, cacheScope, ...result }) => result;
const ERAS = ['legacy', 'modern'];
const PAIRS = ERAS.flatMap((era) => ERAS.map((server) => [era, server]));

// ---- what passes ------------------------------------------------------------------

for (const [era, server] of PAIRS)
  test(`a ${era} client and a ${server} server: what is asked and answered`, async () => {
    const wire = await client(era, allow({ up: full(server) }));
    for (const [title, lines] of table('proxy'))
      for (const [asked, { result, error, code }] of rows(lines)) {
        const [method, params] = /^(\S+) ?(.*)$/s.exec(asked).slice(1);
        const answer = await wire.get(method, params === '' ? {} : JSON.parse(params));
        if (error) {
          assert.match(answer.error?.message ?? JSON.stringify(answer), error, title);
          assert.equal(answer.error.code, code[era], title);
        } else if (result instanceof RegExp) assert.match(JSON.stringify(bare(answer.result)), result, title);
        else assert.deepEqual(bare(answer.result), result, title);
        if (era === 'modern' && !error) assert.equal(answer.result.ttlMs !== undefined, !/get|complete/.test(method), method);
      }
  });

test('links and resources in results of tools can be read', async () => {
  const wire = await client('legacy', allow({ up: full('legacy') }));
  const [link] = (await wire.call('call', { server: 'up', tool: 'test_links' })).result.content;
  assert.deepEqual(link, { type: 'resource_link', uri: 'mcp://up/test://static-text', name: 'static' });
  assert.match((await wire.get('resources/read', { uri: link.uri })).result.contents[0].text, /static text/);
});

test('a client that asks anew reads the lists of all servers, in the order of the file', async () => {
  const wire = await client('modern', allow({ b: full('legacy'), a: full('modern'), off: { ...full('legacy'), disabled: true }, bare: upstream('plain'), gone: { command: 'false' } }));
  const names = async () => (await wire.get('prompts/list')).result.prompts.map(({ name }) => name.split('/')[0]);
  assert.deepEqual([...new Set(await names())], ['b', 'a']);
  assert.deepEqual([...new Set(await names())], ['b', 'a']);
});

test('the same over HTTP, in both eras', async () => {
  const { url } = await serve('--config', put('http.json', allow({ up: full('modern') })));
  const post = (body, headers = {}) => fetch(url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
    headers: { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json', ...headers } });
  const uri = 'mcp://up/test://static-text';
  const modern = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'resources/read', 'Mcp-Name': uri };
  const read = await (await post({ method: 'resources/read', params: { uri, _meta: META } }, modern)).json();
  assert.equal(read.result.contents[0].uri, uri);
  const hello = await post({ method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } } });
  assert.deepEqual((await hello.json()).result.capabilities.completions, {});
  const session = { 'Mcp-Session-Id': hello.headers.get('mcp-session-id'), 'MCP-Protocol-Version': '2025-11-25' };
  const list = await (await post({ method: 'prompts/list' }, session)).json();
  assert.equal(list.result.prompts[0].name, 'up/test_simple_prompt');
});

test('a server at an address gets the name of what is read as a header', async () => {
  const seen = [];
  const { createServer } = await import('node:http');
  const at = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => { body += part; }).on('end', () => {
      const { id, method } = JSON.parse(body);
      seen.push([method, request.headers['mcp-method'], request.headers['mcp-name']]);
      const results = { 'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} } },
        'tools/list': { tools: [] }, 'prompts/list': { prompts: [{ name: 'p' }] }, 'prompts/get': { messages: [] }, 'resources/read': { contents: [] }, 'completion/complete': { completion: { values: [] } } };
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...results[method] } }));
    });
  });
  await new Promise((resolve) => { at.listen(0, '127.0.0.1', resolve); });
  const wire = await client('legacy', allow({ up: { type: 'http', url: `http://127.0.0.1:${at.address().port}/` } }));
  assert.deepEqual((await wire.get('prompts/list')).result, { prompts: [{ name: 'up/p' }] });
  await wire.get('prompts/get', { name: 'up/p' });
  await wire.get('resources/read', { uri: 'mcp://up/a://b' });
  await wire.get('completion/complete', { ref: { type: 'ref/prompt', name: 'up/p' }, argument: { name: 'a', value: '' } });
  await wire.close();
  at.close();
  for (const [method, name] of [['prompts/list', undefined], ['prompts/get', 'p'], ['resources/read', 'a://b'], ['completion/complete', undefined]])
    assert.deepEqual(seen.find(([each]) => each === method), [method, method, name]);
});

test('a server at an address that answers no subscription has a few of them at a time, and its calls go on', async () => {
  const { createServer } = await import('node:http');
  const open = new Set();
  let most = 0;
  let all = 0;
  const results = { initialize: { protocolVersion: '2025-11-25', serverInfo: { name: 'x', version: '1' }, capabilities: { tools: {}, resources: { subscribe: true } } },
    'tools/list': { tools: [{ name: 't', inputSchema: { type: 'object' } }] }, 'tools/call': { content: [{ type: 'text', text: 'called' }] } };
  const at = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => { body += part; }).on('end', () => {
      if (request.method !== 'POST') return response.writeHead(405).end();
      const { id, method } = JSON.parse(body);
      if (id === undefined) return response.writeHead(202).end();
      if (method === 'resources/subscribe') {
        most = Math.max(most, open.add(response).size);
        all++;
        return response.on('close', () => open.delete(response));
      }
      const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'no' } };
      return response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    });
  });
  await new Promise((resolve) => { at.listen(0, '127.0.0.1', resolve); });
  const wire = await client('legacy', allow({ up: { type: 'http', url: `http://127.0.0.1:${at.address().port}/` } }));
  const call = async () => (await wire.call('call', { server: 'up', tool: 't' })).result.content[0].text;
  assert.equal(await call(), 'called');
  for (let i = 0; i < 12; i++) await wire.get('resources/subscribe', { uri: `mcp://up/x://${i}` });
  while (all < 12) assert.equal(await call(), 'called'); // those without an answer are given up
  assert.ok(most <= 8, `${most} at a time`);
  await wire.close();
  at.close();
  at.closeAllConnections();
});

// ---- changes ----------------------------------------------------------------------

const changed = (list) => ({ method: `notifications/${list}/list_changed` });

for (const [era, server] of PAIRS)
  test(`a ${era} client and a ${server} server: changes of lists, also a flood of them`, async () => {
    const wire = await client(era, allow({ up: full(server) }));
    if (era === 'legacy') for (const list of ['resources', 'prompts']) await wire.get(`${list}/list`);
    else {
      wire.say({ id: 'l', method: 'subscriptions/listen', params: { notifications: { resourcesListChanged: true, promptsListChanged: true }, _meta: META } });
      await wire.hear(({ method }) => method === 'notifications/subscriptions/acknowledged');
    }
    await wire.tool('send', { messages: [changed('resources'), changed('prompts')], times: 5000 });
    for (const list of ['resources', 'prompts']) await wire.hear(({ method }) => method === changed(list).method);
    await wire.tool('test_tool_with_progress'); // what comes, has come
    assert.ok(wire.told.filter(({ method }) => /list_changed/.test(method)).length < 20, 'they are few');
  });

for (const [era, server] of PAIRS)
  test(`a ${era} client and a ${server} server: updates of resources, also after the server has ended`, async () => {
    const wire = await client(era, allow({ up: full(server) }));
    const uri = 'mcp://up/test://watched-resource';
    const subscribe = () => era === 'legacy' ? wire.get('resources/subscribe', { uri })
      : wire.say({ id: 'l', method: 'subscriptions/listen', params: { notifications: { resourceSubscriptions: [uri, 'mcp://nobody/x'] }, _meta: META } });
    const knows = async (uris) => { while (await wire.tool('subscribed') !== JSON.stringify(uris)); };
    const updated = () => wire.hear(({ method, params }) => method === 'notifications/resources/updated' && params.uri === uri);
    const send = (...uris) => wire.tool('send', { messages: uris.map((each) => ({ method: 'notifications/resources/updated', params: { uri: each } })), times: 100 });
    subscribe(); // which starts the server
    await knows(['test://watched-resource']);
    await send('test://watched-resource', 'test://static-text', 'a\u0000b', `test://${'x'.repeat(5000)}`, 7);
    await updated();
    await wire.tool('exit').catch(() => {});
    await knows(['test://watched-resource']);
    await send('test://watched-resource');
    await updated();
    if (era === 'legacy') await wire.get('resources/unsubscribe', { uri });
    else wire.say({ method: 'notifications/cancelled', params: { requestId: 'l' } });
    await knows([]);
    assert.ok(wire.told.every(({ method, params }) => method !== 'notifications/resources/updated' || params.uri === uri));
    assert.ok(wire.told.length < 20);
  });

for (const era of ERAS)
  test(`a ${era} server that has stopped is started for a subscription, and not stopped again`, async () => {
    const wire = await client('legacy', allow({ up: { ...full(era), glovebox: { idleMs: 50 } } }));
    const one = () => wire.tool('process');
    const first = await one();
    while (await one() === first) await new Promise((resolve) => { setTimeout(resolve, 200); }); // it stops, and a call starts it
    await new Promise((resolve) => { setTimeout(resolve, 500); }); // it stops again, perhaps
    await wire.get('resources/subscribe', { uri: 'mcp://up/test://watched-resource' });
    while (await wire.tool('subscribed') === '[]');
    const last = await one();
    await new Promise((resolve) => { setTimeout(resolve, 500); });
    assert.equal(await one(), last);
  });

test('what a list lacks, as its server did not start, is announced when it has', async () => {
  const flag = join(folder, 'may-start');
  const wire = await client('legacy', allow({ up: { ...full('legacy'), command: 'sh', args: ['-c', `test -e ${flag} && exec "$0" "$@"`, process.execPath, ...full('legacy').args] } }));
  assert.deepEqual((await wire.get('prompts/list')).result.prompts, []);
  put('may-start', '');
  assert.ok(existsSync(flag));
  while (/UPSTREAM/.test(await wire.tool('subscribed')));
  await wire.hear(({ method }) => method === changed('prompts').method);
  assert.notDeepEqual((await wire.get('prompts/list')).result.prompts, []);
});

// ---- tasks ------------------------------------------------------------------------

for (const era of ERAS)
  test(`tasks of a ${era} server: their end, questions and progress`, async () => {
    const wire = await client('legacy', allow({ up: full(era) }));
    await wire.initialize('2025-11-25', { elicitation: { form: {} } });
    const job = async (args) => (await wire.call('call', { server: 'up', tool: 'job', args }, { progressToken: 'p' })).result;
    assert.equal((await job({})).content[0].text, 'done []');
    await wire.hear(({ method, params }) => method === 'notifications/progress' && params.message === 'up.job: 1 to go');
    assert.match((await job({ ends: 'failed' })).content[0].text, /^UPSTREAM_REFUSED: it failed \(error -32000\)/);
    assert.match((await job({ ends: 'cancelled' })).content[0].text, /^UPSTREAM_PROTOCOL: its task was cancelled/);
    assert.match((await job({ ends: 'odd' })).content[0].text, /^UPSTREAM_PROTOCOL: its task is in no state/);
    assert.match((await job({ told: { taskId: 7 } })).content[0].text, /^UPSTREAM_PROTOCOL: it answers with a task that has no id/);
    assert.match((await job({ result: { content: 7 } })).content[0].text, /^UPSTREAM_PROTOCOL: the content of the result is not a list/);
    assert.match((await job({ result: { resultType: 'task', taskId: 'x' } })).content[0].text, /^UPSTREAM_PROTOCOL/);
    const asked = job({ asks: true });
    const { id } = await wire.hear(({ method }) => method === 'elicitation/create');
    wire.say({ id, result: { action: 'accept', content: { name: 'Ada' } } });
    assert.match((await asked).content[0].text, /^done .*"content":\{"name":"Ada"\}/);
  });

for (const era of ERAS)
  test(`a task of a ${era} server is cancelled with its call, or when it takes too long`, async () => {
    const wire = await client('legacy', allow({ up: full(era) }));
    wire.say({ id: 'c', method: 'tools/call', params: { name: 'call', arguments: { server: 'up', tool: 'job', args: { polls: 1e6 } } } });
    while (!/tasks\/get/.test(await wire.tool('requests')));
    wire.say({ method: 'notifications/cancelled', params: { requestId: 'c' } });
    const cancelled = async () => (await wire.tool('requests')).split('tasks/cancel').length - 1;
    while (await cancelled() < 1);
    const code = 'return servers.up.job({ polls: 1e6 }, { timeoutMs: 400 }).catch((error) => error.code)';
    assert.equal((await wire.call('execute', { code })).result.structuredContent.result, 'UPSTREAM_TIMEOUT');
    while (await cancelled() < 2);
    if (era === 'legacy') return; // there, the server hears that its question is refused
    assert.match(await wire.tool('job', { asks: true }), /UPSTREAM_INPUT/);
    while (await cancelled() < 3);
  });

// ---- rules and people -------------------------------------------------------------

for (const [title, lines] of table('proxy-rules'))
  test(`rules: ${title}`, async () => {
    const [config, ...wanted] = lines;
    const glovebox = JSON.parse(config);
    const log = join(folder, `log-${++scripts}`);
    const wire = await client('legacy', { mcpServers: { up: full('legacy') }, glovebox: { ...glovebox, audit: log } });
    for (const line of wanted) {
      const [, name, is] = /^(\S+) (.+)$/.exec(line);
      const isPrompt = !name.includes(':');
      const list = (await wire.get(isPrompt ? 'prompts/list' : 'resources/list')).result;
      const listed = (list.prompts ?? list.resources).some((one) => (one.name === `up/${name}` || one.uri === `mcp://up/${name}`));
      const answer = isPrompt ? await wire.get('prompts/get', { name: `up/${name}` }) : await wire.get('resources/read', { uri: `mcp://up/${name}` });
      const said = answer.result ? 'allowed' : /^(\w+):/.exec(answer.error.message)?.[1] ?? answer.error.message;
      assert.equal(`${listed ? 'listed' : 'hidden'}, ${said}`, is, line);
      if (said !== 'allowed') assert.doesNotMatch(await wire.tool('requests'), new RegExp(`"(uri|name)":"${name}"`), 'the server gets nothing of it');
    }
    assert.match(readFileSync(log, 'utf8'), /"server":"up","(resource|prompt)":"/);
  });

for (const era of ERAS)
  test(`a person is asked (${era}), by rules and by the server`, async () => {
    const config = { mcpServers: { up: full('modern') }, glovebox: { rules: [{ action: 'ask', server: 'up', resource: 'test://*' }] } };
    const capabilities = { elicitation: { form: {} } };
    const wire = await client(era, config, { meta: { 'io.modelcontextprotocol/clientCapabilities': capabilities } });
    if (era === 'legacy') await wire.initialize('2025-11-25', capabilities);
    /** One question, its message, and the answer to the request after it. */
    const answered = async (method, params, content) => {
      if (era === 'modern') {
        const { inputRequests, requestState } = (await wire.get(method, params)).result;
        const [[key, question]] = Object.entries(inputRequests);
        assert.equal(key, method === 'prompts/get' ? 'user_context' : 'ask-1', 'the name of the server, or ours');
        const inputResponses = { [key]: { action: 'accept', content } };
        return [question.params, await wire.get(method, { ...params, inputResponses, requestState })];
      }
      const answer = wire.get(method, params);
      const question = await wire.hear((m) => m.method === 'elicitation/create');
      wire.say({ id: question.id, result: { action: 'accept', content } });
      return [question.params, await answer];
    };
    const params = { uri: 'mcp://up/test://static-text' };
    const [asked, read] = await answered('resources/read', params, { answer: 'allow this call' });
    assert.match(asked.message, /^Allow a call of the resource test:\/\/static-text of the server up\?\nRule 1 asks/);
    assert.deepEqual(asked.requestedSchema.properties.answer.enum, ['deny', 'allow this call']);
    assert.match(read.result.contents[0].text, /static text/);
    const [, denied] = await answered('resources/read', params, { answer: 'deny' });
    assert.match(denied.error.message, /^DENIED: a person has declined/);
    const [own, got] = await answered('prompts/get', { name: 'up/test_input_required_result_prompt' }, { context: 'here' });
    assert.match(own.message, /^The server up asks, for a call of its prompt test_input_required_result_prompt/);
    assert.match(got.result.messages[0].content.text, /"context":"here"/);
  });

test('nobody is asked with each letter that a completion is for', async () => {
  const capabilities = { elicitation: { form: {} } };
  const wire = await client('legacy', { mcpServers: { up: full('legacy') }, glovebox: { rules: [{ action: 'ask', prompt: '*' }] } });
  await wire.initialize('2025-11-25', capabilities);
  const { error } = await wire.get('completion/complete', { ref: { type: 'ref/prompt', name: 'up/test_prompt_with_arguments' }, argument: { name: 'arg1', value: 'p' } });
  assert.match(error.message, /^NEEDS_APPROVAL/);
  assert.ok(wire.told.every(({ method }) => method !== 'elicitation/create'));
});

test('without anybody to ask, the refusal says what a person can do', async () => {
  const wire = await client('legacy', { mcpServers: { up: full('legacy') }, glovebox: { rules: [{ action: 'ask', prompt: '*simple*' }] } });
  const { error } = await wire.get('prompts/get', { name: 'up/test_simple_prompt' });
  assert.match(error.message, /^NEEDS_APPROVAL: .*the client cannot ask anybody; a rule that allows this prompt/);
});

// ---- hostile servers ----------------------------------------------------------------

const HOSTILE = {
  'a million resources': [`(method, { cursor = '0' }) => method === 'resources/list' && {
      resources: Array.from({ length: 20000 }, (_, i) => ({ uri: \`x://\${+cursor * 20000 + i}\`, name: 'n' })), nextCursor: String(+cursor + 1) }`,
  ({ resources }) => assert.equal(resources.length, 4096)],
  'pages without end': [`(method, { cursor = '' }) => method === 'resources/list' && { resources: [], nextCursor: cursor + 'x' }`,
    ({ resources }) => assert.deepEqual(resources, [])],
  'a cursor that names a secret': [`(method, { cursor }) => method === 'resources/list' && (cursor ? { resources: [{ uri: 'x://c', name: cursor }] } : { resources: [], nextCursor: '{{secret:KEY}}' })`,
    ({ resources }) => assert.deepEqual(resources, [{ uri: 'mcp://up/x://c', name: '{{secret:KEY}}' }])],
  'entries that nobody can name': [`(method) => method === 'resources/list' && { resources: [
      { uri: 'x://a\\u0000b', name: 'n' }, { uri: 'x://a\\u202eb', name: 'n' }, { uri: '', name: 'n' }, { uri: 7, name: 'n' }, { uri: 'x://' + 'y'.repeat(3000), name: 'n' },
      { uri: 'x://no-name' }, 'x://text', null, { uri: 'x://good', name: 'a\\u202eb', size: 1e400, mimeType: 7, evil: true, annotations: { priority: 9, audience: ['user'] } }] }`,
  ({ resources }) => assert.deepEqual(resources, [{ uri: 'mcp://up/x://good', name: 'a\\u{202e}b', annotations: { audience: ['user'] } }])],
  'a list that is none': ['(method) => method === \'resources/list\' && { resources: 7 }', ({ resources }) => assert.deepEqual(resources, [])],
  'a list that is an error': ['(method) => { if (method === \'resources/list\') throw new Error(\'no\'); }', ({ resources }) => assert.deepEqual(resources, [])],
  'a secret in the list': ['(method) => method === \'resources/list\' && { resources: [{ uri: \'x://a\', name: process.env.KEY }] }',
    ({ resources }) => assert.doesNotMatch(JSON.stringify(resources), /swordfish/)],
};

for (const [title, [script, check]] of Object.entries(HOSTILE))
  test(`a hostile server: ${title}`, async () => {
    const env = { KEY: 'swordfish-1234' };
    const wire = await client('modern', { mcpServers: { up: { ...full('legacy', script), env } },
      glovebox: { rules: [{ action: 'allow' }], secrets: { KEY: { value: env.KEY, servers: ['up'] } } } });
    check((await wire.get('resources/list')).result);
    assert.match(await wire.tool('subscribed'), /\[\]/, 'it is still there');
  });

const ANSWERS = {
  'contents that are none': ['{ contents: 7 }', /UPSTREAM_PROTOCOL/],
  'contents without a URI': ['{ contents: [{ text: 1 }, { uri: "x://a", text: "b" }, { uri: "x://c", blob: "!" }] }', /^\[\{"uri":"mcp:\/\/up\/x:\/\/a","text":"b"\}\]$/],
  'a secret in a text': ['{ contents: [{ uri: "x://a", text: "it is " + process.env.KEY }] }', /it is (?!swordfish)/],
  'a result that is a list': ['[]', /UPSTREAM_PROTOCOL|\[\]/],
  'more than there is room for': ['{ contents: [{ uri: "x://a", text: "z".repeat(40 << 20) }] }', /32 MiB/],
};

for (const [title, [answer, wanted]] of Object.entries(ANSWERS))
  test(`a hostile server: ${title}`, async () => {
    const wire = await client('legacy', { mcpServers: { up: { ...full('legacy', `(method) => method === 'resources/read' && (${answer})`), env: { KEY: 'swordfish-1234' } } } });
    const { result, error } = await wire.get('resources/read', { uri: 'mcp://up/x://a' });
    assert.match(error?.message ?? JSON.stringify(result.contents), wanted);
  });

test('a server with a long list does not cut the lists of others', async () => {
  const long = `(method) => method === 'resources/list' && { resources: Array.from({ length: 1500 }, (_, i) => ({ uri: 'x://' + i, name: 'n', description: 'y'.repeat(5000) })) }`;
  const wire = await client('modern', allow({ long: full('legacy', long), short: full('legacy') }));
  const { resources } = (await wire.get('resources/list')).result;
  const of = (server) => resources.filter(({ uri }) => uri.startsWith(`mcp://${server}/`)).length;
  assert.ok(of('long') > 100 && of('long') < 1000 && of('short') > 0, `${of('long')} and ${of('short')}`);
});

test('a list that is being read does not keep its server from asking a person', async () => {
  const wire = await client('legacy', allow({ up: full('legacy', "(method) => method === 'resources/list' && new Promise(() => {})") }));
  await wire.initialize('2025-11-25', { elicitation: { form: {} } });
  wire.get('resources/list').catch(() => {});
  while (!/resources\/list/.test(await wire.tool('requests')));
  const asked = wire.call('call', { server: 'up', tool: 'test_elicitation', args: { message: 'Who?' } });
  const { id } = await wire.hear(({ method }) => method === 'elicitation/create');
  wire.say({ id, result: { action: 'accept', content: { username: 'Ada', email: 'a@b' } } });
  assert.match(JSON.stringify((await asked).result), /Ada/);
});

test('cancelled requests are forgotten, and a server that hangs delays no other', async () => {
  const wire = await client('legacy', allow({ up: full('legacy', '(method) => /list|read/.test(method) && !/tools/.test(method) && new Promise(() => {})'), fast: full('legacy') }));
  for (const [id, method] of [['a', 'resources/list'], ['b', 'resources/read']]) {
    wire.say({ id, method, params: { uri: 'mcp://up/x://y' } });
    wire.say({ method: 'notifications/cancelled', params: { requestId: id } });
  }
  assert.match((await wire.get('resources/read', { uri: 'mcp://fast/test://static-text' })).result.contents[0].text, /static/);
  assert.ok(wire.told.every(({ id }) => id !== 'a' && id !== 'b'));
});

// SPDX-License-Identifier: MIT
// console: the page of `glovebox mcp --console`: who gets in, questions that are answered there, what
// it shows, and what a browser does with it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { allow, env, folder, open, put, upstream } from './box.mjs';
import { refused, serve } from './front.mjs';
import { browse, noBrowser, openPage, printed, send } from './page.mjs';
import { children, descendants, isAlive, until } from './processes.mjs';
import { META, Wire } from './wire.mjs';

const plain = { mcpServers: { plain: upstream('plain') } };
const begin = (config = plain, more = {}) => open(config, { args: ['--console', '0'], ...more });
const change = (n) => ({ code: `const n = ${n};\nreturn await servers.plain.change({ n });` });
const text = ({ result }) => result.content.map((block) => block.text).join('\n');
const modern = (name, args) => ({ name, arguments: args, _meta: META });

const shared = await begin();
const page = await openPage(shared);

// ---- who gets in ----------------------------------------------------------------------

test('the token opens the page once, and standard error has the next one', async () => {
  const wire = await begin();
  const { address, token } = await until(() => printed(wire)[0]);
  const wrong = await send(`${address}?token=${'0'.repeat(32)}`);
  assert.equal(wrong.status, 403);
  const first = await send(`${address}?token=${token}`);
  assert.equal(first.status, 200);
  assert.match(first.headers['set-cookie'][0], new RegExp(`^glovebox=[0-9a-f]{32}; Path=${new URL(address).pathname}; HttpOnly; SameSite=Strict$`));
  assert.equal((await send(`${address}?token=${token}`)).status, 403);
  const next = await until(() => printed(wire)[1]);
  assert.equal((await send(`${address}?token=${next.token}`)).status, 200);
});

const right = page.cookie.split('=')[1];
const FILES = { '': 'GET', 'page.css': 'GET', 'page.js': 'GET', events: 'GET', answer: 'POST', mcp: 'POST' };
const ask = (file, headers, more = {}) => send(page.address + file, { method: FILES[file], body: FILES[file] === 'POST' ? '{}' : undefined,
  headers: { ...(FILES[file] === 'POST' && { 'content-type': 'application/json' }), ...headers }, ...more });

const COOKIES = { 'no cookie': undefined, 'a forged one': `glovebox=${'0'.repeat(32)}`, 'half of it': `glovebox=${right.slice(0, 16)}`,
  'more than it': `glovebox=${right}0`, 'another name': `gloveboxes=${right}`, 'the token': `glovebox=${page.token}`, 'an empty one': 'glovebox=' };
for (const [what, cookie] of Object.entries(COOKIES))
  test(`nothing is served with ${what}`, async () => {
    for (const file of Object.keys(FILES))
      assert.equal((await ask(file, cookie === undefined ? {} : { cookie })).status, 401, file);
  });

test('the cookie counts among those of other servers', async () => {
  assert.equal((await ask('', { cookie: `a=b; glovebox=${'0'.repeat(32)}; glovebox=${right}; c=d` })).status, 200);
});

const { host, port } = new URL(page.address);
const FOREIGN = {
  'another Host': { host: `evil.example:${port}` },
  'localhost': { host: `localhost:${port}` },
  'another port of ours': { host: '127.0.0.1:1' },
  'no port': { host: '127.0.0.1' },
  'the Origin of another site': { origin: 'https://evil.example' },
  'the Origin of another server of this machine': { origin: 'http://127.0.0.1:1' },
  'the Origin of the same port by another name': { origin: `http://localhost:${port}` },
  'an Origin of https': { origin: `https://${host}` },
  'an Origin that continues': { origin: `http://${host}.evil.example` },
  'the Origin null': { origin: 'null' },
};
for (const [what, headers] of Object.entries(FOREIGN))
  test(`a request with ${what} is refused, whatever else it has`, async () => {
    for (const file of Object.keys(FILES))
      assert.equal((await ask(file, { cookie: page.cookie, ...headers })).status, 403, file);
    assert.equal((await send(`${page.address}?token=${printed(shared).at(-1).token}`, { headers })).status, 403);
  });

for (const site of ['same-site', 'cross-site'])
  test(`a request that a browser makes for another page (${site}) gets nothing but the page itself`, async () => {
    for (const file of Object.keys(FILES).filter(Boolean))
      assert.equal((await ask(file, { cookie: page.cookie, 'sec-fetch-site': site })).status, 403, file);
    const link = await ask('', { cookie: page.cookie, 'sec-fetch-site': site });
    assert.equal(link.status, 200);
    assert.match(link.headers['content-security-policy'], /frame-ancestors 'none'/);
  });

test('only our methods, media types and paths are served', async () => {
  const cookie = { cookie: page.cookie };
  for (const file of ['answer', 'mcp']) {
    assert.equal((await send(page.address + file, { headers: cookie })).status, 405);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
      assert.equal((await ask(file, { ...cookie, 'content-type': type })).status, 415);
    assert.equal((await ask(file, cookie, { body: '{"number":"1"}' })).status, 400);
    assert.equal((await ask(file, cookie, { body: '' })).status, 400);
  }
  assert.equal((await send(page.address, { method: 'POST', headers: cookie, body: '' })).status, 405);
  const { pathname } = new URL(page.address);
  for (const path of ['//', '/mcp', pathname.slice(0, -1), `${pathname}x`, `${pathname}page.js/`, `/0${pathname}`, `${pathname}../`])
    assert.equal((await send(page.address, { headers: cookie, path })).status, 404, path);
});

test('every answer has the policy of the page, and is not kept', async () => {
  const answers = await Promise.all([page.get(''), page.get('page.js'), page.get('nothing'), send(page.address), page.post('answer', {}),
    page.post('mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: META } })]);
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 404, 401, 400, 200]);
  for (const { headers } of answers) {
    assert.match(headers['content-security-policy'], /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';/);
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['access-control-allow-origin'], undefined);
  }
});

test('a port that is none, or is taken, is refused', async () => {
  for (const wrong of ['x', '', '-1', '70000', '0.0.0.0:0', 'systemd'])
    assert.match(await refused({}, '--config', put('none.json', plain), '--http', '0', '--console', wrong), /^64 .*'--console' needs a port/);
  assert.match(await refused({}, '--config', put('none.json', plain), '--http', '0', '--console', port), /^71 .*cannot listen on/);
  const wire = new Wire(process.env.GLOVEBOX, ['mcp', '--config', put('none.json', plain), '--console', port]);
  assert.equal((await wire.exited).code, 71);
});

test('programs that connect and say nothing take neither the page nor descriptors', async () => {
  const sockets = await Promise.all(Array.from({ length: 300 }, () => new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => resolve(socket)).on('error', () => {});
  })));
  for (const socket of sockets) socket.write('GET / HTTP/1.1\r\n');
  assert.equal((await page.get('')).status, 200);
  assert.ok(readdirSync(`/proc/${shared.child.pid}/fd`).length < 150);
  assert.match(text(await shared.call('execute', { code: 'return 1' })), /^1\n/);
  for (const socket of sockets) socket.destroy();
});

// ---- questions ----------------------------------------------------------------------------

test('while nobody looks, a call fails with the address of the page, without the folder and the token', async () => {
  const wire = await begin();
  const result = await wire.call('execute', change(1));
  const { address, token } = await until(() => printed(wire)[0]);
  assert.match(text(result), /^NEEDS_APPROVAL/);
  const { origin, pathname } = new URL(address);
  assert.ok(text(result).includes(`ask the person to open ${origin}/, and`), text(result));
  for (const secret of [token, pathname.slice(1, -1)]) assert.ok(!JSON.stringify(result).includes(secret));
  const there = await send(origin);
  assert.equal(there.status, 401);
  assert.match(there.text, /printed on standard error/);
  assert.ok(!JSON.stringify([there.text, there.headers]).includes(pathname.slice(1, -1)));
});

test('while somebody looks, a call waits for the answer, and goes on once', async () => {
  const stream = await page.stream();
  const call = shared.call('execute', change(7));
  const question = await stream.question();
  assert.equal(question.server, 'plain');
  assert.equal(question.tool, 'change');
  assert.equal(question.line, 2);
  assert.equal(question.code, change(7).code);
  assert.match(question.message, /^Allow a call of the tool change of the server plain\?\nLine 2[^]*"n": 7[^]*always allow, by the rule shown[^]*grants\.json:\n {2}\{"action":"allow","server":"plain","tool":"change"\}$/);
  for (const wrong of [{}, { number: 0, action: 'accept' }, { number: question.number + 1, action: 'accept' }])
    assert.notEqual((await page.post('answer', wrong)).status, 200);
  assert.equal((await page.answer(question.number, 'allow this call')).status, 200);
  assert.match(text(await call), /^changed 1\n/);
  assert.equal((await page.answer(question.number, 'deny')).status, 404);
  const line = await stream.hear(({ data }) => data.event === 'mcp.call' && data.answer === 'once');
  assert.equal(line.data.tool, 'change');
  stream.end();
});

test('no request of another page has answered a question, or made a call', async () => {
  const stream = await page.stream();
  const call = shared.call('execute', change(8));
  const { number } = await stream.question();
  const body = JSON.stringify({ number, action: 'accept', content: { answer: 'allow this call' } });
  for (const headers of [...Object.values(FOREIGN), { 'sec-fetch-site': 'same-site' }, { 'content-type': 'text/plain' }])
    assert.notEqual((await ask('answer', { cookie: page.cookie, ...headers }, { body })).status, 200);
  assert.equal((await ask('answer', { cookie: COOKIES['a forged one'] }, { body })).status, 401);
  assert.equal((await page.answer(number, 'deny')).status, 200);
  assert.match(text(await call), /^DENIED[^]*a person has declined/);
  stream.end();
});

test('an answer that was not offered, and one that is no answer, allow nothing', async () => {
  const stream = await page.stream();
  for (const answer of [{ action: 'accept', content: { answer: 'yes' } }, { action: 'accept' }, { action: 'decline' }, { action: 'cancel' },
    { action: 'maybe', content: { answer: 'allow this call' } }]) {
    const call = shared.call('execute', change(9));
    const { number } = await stream.question();
    assert.equal((await page.post('answer', { number, ...answer })).status, 200);
    assert.match(text(await call), /^(DENIED|NEEDS_APPROVAL)/, JSON.stringify(answer));
  }
  stream.end();
});

test('what is always allowed is written, and not asked again', async () => {
  const wire = await begin();
  const mine = await openPage(wire);
  const stream = await mine.stream();
  const call = wire.call('execute', change(1));
  await mine.answer((await stream.question()).number, 'always allow');
  assert.match(text(await call), /^changed 1\n/);
  assert.match(readFileSync(join(folder, '.local/state/glovebox/grants.json'), 'utf8'), /"rule": \{\s*"action": "allow",\s*"server": "plain",\s*"tool": "change"/);
  assert.match(text(await wire.call('execute', change(2))), /^changed 2\n/);
  assert.equal(stream.all.filter(({ type }) => type === 'question').length, 1);
});

/** A client that can ask a person. */
async function asking(config = plain) {
  const wire = new Wire(process.env.GLOVEBOX, ['mcp', '--config', put(`asking-${Math.random()}.json`, config), '--console', '0'],
    { env: { ...process.env, HOME: folder, XDG_STATE_HOME: join(folder, String(Math.random())) } });
  await wire.initialize('2025-11-25', { elicitation: {} });
  const mine = await openPage(wire);
  return { wire, mine, stream: await mine.stream() };
}
const elicitation = (wire) => wire.hear(({ method }) => method === 'elicitation/create');

test('where the client can ask, too, the first answer counts, and the other question is withdrawn', async () => {
  const { wire, mine, stream } = await asking();
  const first = wire.call('execute', change(1));
  const asked = await elicitation(wire);
  await mine.answer((await stream.question()).number, 'allow this call');
  assert.match(text(await first), /^changed 1\n/);
  const { params } = await wire.hear(({ method }) => method === 'notifications/cancelled');
  assert.equal(params.requestId, asked.id);
  wire.say({ id: asked.id, result: { action: 'accept', content: { answer: 'always allow' } } }); // too late
  const second = wire.call('execute', change(2));
  const { id } = await elicitation(wire);
  const { number } = await stream.question();
  wire.say({ id, result: { action: 'accept', content: { answer: 'deny' } } });
  assert.match(text(await second), /^DENIED/);
  await stream.hear(({ type, data }) => type === 'closed' && data === number);
  assert.equal((await mine.answer(number, 'allow this call')).status, 404);
  await wire.close();
});

test('in 2026-07-28 an answer on the page lets the work go on, and the client that returns gets it', async () => {
  const wire = new Wire(process.env.GLOVEBOX, ['mcp', '--config', put('modern.json', plain), '--console', '0'], { env: { ...process.env, HOME: folder, XDG_STATE_HOME: join(folder, 'modern') } });
  const params = { ...modern('execute', change(1)), _meta: { ...META, 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } } };
  const { result } = await wire.ask('tools/call', params);
  assert.equal(result.resultType, 'input_required');
  const mine = await openPage(wire);
  const stream = await mine.stream();
  await mine.answer((await stream.question()).number, 'allow this call');
  await stream.hear(({ data }) => data.event === 'call.ended' && data.code === 'OK');
  const back = await wire.ask('tools/call', { ...params, requestState: result.requestState,
    inputResponses: { 'ask-1': { action: 'accept', content: { answer: 'deny' } } } });
  assert.match(text(back), /^changed 1\n/);
  // A client that cannot ask waits meanwhile.
  const other = wire.ask('tools/call', modern('execute', change(2)));
  await mine.answer((await stream.question()).number, 'allow for this run');
  assert.match(text(await other), /^changed 2\n/);
  await wire.close();
});

test('a question that only the page asks ends when the page is left, and when its call is cancelled', async () => {
  const wire = await begin();
  const mine = await openPage(wire);
  const stream = await mine.stream();
  const id = 'mine';
  wire.say({ id, method: 'tools/call', params: { name: 'execute', arguments: change(1) } });
  const { number } = await stream.question();
  wire.say({ method: 'notifications/cancelled', params: { requestId: id } });
  await stream.hear(({ type, data }) => type === 'closed' && data === number);
  const call = wire.call('execute', change(2));
  await stream.question();
  stream.end();
  assert.match(text(await call), /^NEEDS_APPROVAL/);
});

test('a question of another server is answered on the page', async () => {
  const { mcpServers } = { mcpServers: { asking: upstream('asking') } };
  const wire = await begin(allow(mcpServers));
  assert.match(text(await wire.call('execute', { code: 'return await servers.asking.capabilities({})' })), /elicitation/); // it starts before the page is open
  assert.match(text(await wire.call('execute', { code: 'return await servers.asking.form({})' })), /"code":-32/);
  const mine = await openPage(wire);
  const stream = await mine.stream();
  const call = wire.call('execute', { code: 'return await servers.asking.form({})' });
  const question = await stream.question();
  assert.match(question.message, /^The server asking asks/);
  assert.deepEqual(question.requestedSchema.properties.name.type, 'string');
  await mine.post('answer', { number: question.number, action: 'accept', content: { name: 'Eve' } });
  assert.match(text(await call), /Eve/);
});

// ---- over HTTP ------------------------------------------------------------------------------

const rpc = async (front, message, headers = {}) => {
  const response = await fetch(front.url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers } });
  const body = await response.text();
  return { session: response.headers.get('mcp-session-id'), message: body === '' ? undefined : JSON.parse(body.replace(/^[^]*data: (?=\{)/, '')) };
};

test('over HTTP the page has the questions of all sessions, each answered for its own', async () => {
  const front = await serve('--config', put('http.json', plain), '--console', '0');
  const mine = await openPage(front);
  const stream = await mine.stream();
  const calls = [];
  for (const n of [11, 22]) {
    const { session } = await rpc(front, { id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } } });
    calls.push(rpc(front, { id: 1, method: 'tools/call', params: { name: 'execute', arguments: change(n) } }, { 'mcp-session-id': session }));
  }
  const questions = [await stream.question(), await stream.question()];
  const processes = children(children(front.child.pid)[0]);
  for (const pid of processes) process.kill(pid, 'SIGSTOP'); // they have not heard the first answer when the second comes
  for (const { number, code } of questions) {
    const answer = code.includes('11') ? 'allow this call' : 'deny';
    assert.equal((await mine.answer(number, answer)).status, 200);
    assert.equal((await mine.answer(number, 'deny')).status, 404);
  }
  for (const pid of processes) process.kill(pid, 'SIGCONT');
  const [first, second] = await Promise.all(calls);
  assert.match(text(first.message), /^changed 1\n/);
  assert.match(text(second.message), /^DENIED/);
  const all = descendants(front.child.pid);
  front.child.kill('SIGTERM');
  assert.equal((await front.exited).code, 0);
  await until(() => !all.some(isAlive));
});

test('a client that may be elsewhere is not told to open an address of this machine', async () => {
  const token = 'a token of 32 characters or more'.replaceAll(' ', '-');
  const front = await serve('--config', put('far.json', plain), '--console', '0', '--behind-proxy', '--token-file', put('token', token));
  const authorization = { authorization: `Bearer ${token}` };
  const { session } = await rpc(front, { id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } } }, authorization);
  const { message } = await rpc(front, { id: 1, method: 'tools/call', params: { name: 'execute', arguments: change(1) } }, { ...authorization, 'mcp-session-id': session });
  assert.match(text(message), /^NEEDS_APPROVAL[^]*glovebox mcp allow/);
  assert.doesNotMatch(text(message), /127\.0\.0\.1/);
});

// ---- events --------------------------------------------------------------------------------------

test('the log of all calls, and the state of servers, are on the page', async () => {
  const stream = await page.stream();
  await shared.call('execute', { code: 'return await servers.plain.list_items({})' });
  const { data } = await stream.hear(({ data: line }) => line.event === 'mcp.call' && line.tool === 'list_items');
  await stream.hear(({ data: line }) => line.event === 'call.ended' && line.callId === data.run);
  const servers = await stream.hear(({ data: line }) => line.event === 'servers' && line.servers[0].state === 'ready');
  assert.deepEqual(servers.data.servers.map(({ name, tools, protocol, fault }) => [name, tools, protocol, fault]), [['plain', 8, '2025-11-25', '']]);
  // Who comes back gets what it has not.
  const again = await page.stream({ 'last-event-id': String(servers.id - 1) });
  assert.equal((await again.hear(({ type }) => type === 'message')).id, servers.id);
  assert.equal(again.all[0].data, true);
  again.end();
  stream.end();
});

/** A server whose tool has a name that makes long lines of log. */
const long = { command: process.execPath, args: ['--input-type=module', '-e', `import { serve } from '${join(import.meta.dirname, 'serve.mjs')}';
  serve('long', [{ name: '${'\\u00ad'.repeat(120)}', inputSchema: { type: 'object' } }], () => ({ content: [] }));`] };
const MANY = 1000; // calls of a script at most

test('of more than 10,000 events the newest are kept; a slow reader misses some and is told, and no other does', async () => {
  const wire = await begin(allow({ long }));
  const mine = await openPage(wire);
  const slow = await mine.stream();
  slow.response.pause();
  const fast = await mine.stream();
  const code = `const tool = '\\u00ad'.repeat(120); for (let i = 0; i < ${MANY / 50}; i++)
    await Promise.all(Array.from({ length: 50 }, () => servers.long.call(tool, {}))); return 'made'`;
  let last;
  for (let i = 1; i <= 25; i++) {
    assert.match(text(await wire.call('execute', { code })), /^made/);
    last = (await fast.hear(({ data }) => data.event === 'call.ended' && data.callId.endsWith(`-${i}`))).id;
  }
  const numbered = (all) => all.filter(({ type, id }) => type === 'message' && id <= last).map(({ id }) => id);
  const missed = (all) => all.filter(({ type }) => type === 'missed').reduce((sum, { data }) => sum + data, 0);
  assert.deepEqual(numbered(fast.all), Array.from({ length: last }, (_, at) => at + 1));
  slow.response.resume();
  await slow.hear(({ id }) => id === last);
  assert.ok(missed(slow.all) > 0, 'the reader was too fast');
  assert.equal(missed(slow.all) + numbered(slow.all).length, last);
  const late = await mine.stream();
  await late.hear(({ id }) => id === last);
  assert.ok(numbered(late.all)[0] > last - 10000);
  assert.equal(missed(late.all) + numbered(late.all).length, last);
});

// ---- the playground -----------------------------------------------------------------------------------

const post = (mine, name, args, id = 1) => mine.post('mcp', { jsonrpc: '2.0', id, method: 'tools/call', params: modern(name, args) });

test('the playground calls tools as a client does, under the same rules', async () => {
  const wire = await begin({ mcpServers: { plain: upstream('plain') }, glovebox: { rules: [{ action: 'deny', server: 'plain', tool: 'list_items' }] } });
  const mine = await openPage(wire);
  const stream = await mine.stream();
  assert.match(text(JSON.parse((await post(mine, 'execute', { code: 'return 6 * 7' })).text)), /^42\n/);
  assert.match(text(JSON.parse((await post(mine, 'execute', { code: 'return await servers.plain.list_items({})' })).text)), /^DENIED/);
  const call = post(mine, 'execute', change(3));
  await mine.answer((await stream.question()).number, 'allow this call');
  assert.match(text(JSON.parse((await call).text)), /^changed 1\n/);
  const all = descendants(wire.child.pid);
  assert.ok(all.length > 2);
  assert.equal((await wire.close()).code, 0);
  await until(() => !all.some(isAlive));
});

// ---- a browser ------------------------------------------------------------------------------------------

/** The page in a browser; a picture of what is tested is taken where PICTURES is set. */
async function visit(wire, how) {
  const browser = await browse(how);
  const { address, token } = await until(() => printed(wire).at(-1));
  const count = printed(wire).length;
  await browser.go(`${address}?token=${token}`);
  await browser.until(`document.getElementById('link')?.textContent === 'connected'`);
  await until(() => printed(wire).length > count);
  browser.address = address;
  browser.look = (name) => process.env.PICTURES && browser.picture(join(process.env.PICTURES, `console-${name}.png`));
  return browser;
}
const inBrowser = (title, fn) => test(title, { skip: noBrowser }, fn);

inBrowser('a call is approved by keyboard alone, and what it shows is text, not markup', async () => {
  const wire = await begin();
  const browser = await visit(wire);
  assert.equal(await browser.value('location.href'), browser.address); // the token is not kept
  const markup = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';
  const call = wire.call('execute', { code: `const text = ${JSON.stringify(markup)};\n// \u202e\nreturn await servers.plain.change({ text });` });
  await browser.until(`document.querySelectorAll('article').length === 1`);
  await browser.look('question');
  assert.equal(await browser.value('document.title'), '(1) Glovebox');
  assert.match(await browser.value(`document.getElementById('news').textContent`), /plain\.change/);
  assert.match(await browser.value(`document.querySelector('article').textContent`), /<img src=x[^]*\\u\{202e\}/);
  assert.equal(await browser.value(`document.querySelector('article mark').textContent.trim()`), '3  return await servers.plain.change({ text });');
  for (let i = 0; i < 40 && await browser.value('document.activeElement.textContent') !== 'allow this call'; i++) await browser.key('Tab');
  await browser.key('Enter', '\r');
  assert.match(text(await call), /^changed 1\n/);
  await browser.until(`document.querySelectorAll('article').length === 0`);
  assert.equal(await browser.value('document.activeElement.id'), 'h-questions');
  assert.equal(await browser.value('window.pwned'), undefined);
  assert.deepEqual(browser.errors, []);
  assert.ok(browser.requests.length >= 5);
  for (const url of browser.requests) assert.ok(url.startsWith(browser.address), url);
});

inBrowser('a second click at the place of a question that has gone does not answer the next one', async () => {
  const wire = await begin();
  const browser = await visit(wire);
  const calls = [1, 2].map((n) => wire.call('execute', change(n)));
  await browser.until(`document.querySelectorAll('article').length === 2`);
  const top = () => browser.value(`{ const button = [...document.querySelectorAll('article button')].find(({ textContent }) => textContent === 'allow this call'); button.scrollIntoView({ block: 'center' });
    const { x, y, height } = button.getBoundingClientRect(); [x + 5, y + height / 2]; }`);
  await browser.click(await top());
  const first = await Promise.race(calls);
  await browser.until(`document.querySelectorAll('article').length === 1 && moved > 0 && (moved = performance.now())`);
  await browser.click(await top());
  assert.match(text(first), /^changed 1\n/);
  assert.equal(await browser.value(`document.querySelector('article .state').textContent`), '');
  await browser.until('performance.now() - moved > 500');
  await browser.click(await top());
  await Promise.all(calls);
  await browser.until(`document.querySelectorAll('article').length === 0`);
});

inBrowser('a form of another server is shown whatever its fields are called, and sends only what is filled in', async () => {
  const wire = await begin(allow({ asking: upstream('asking') }));
  const browser = await visit(wire);
  const pick = { type: 'string', enum: ['a', 'b'], enumNames: ['first', 'second'] };
  const properties = { append: { type: 'string' }, elements: { type: 'integer' }, addEventListener: { type: 'boolean' }, submit: pick,
    one: { type: 'string', oneOf: [{ const: 'x', title: 'X' }, { const: 'y', title: 'Y' }] },
    some: { type: 'array', items: { type: 'string', enum: ['p', 'q', 'r'] } }, count: { type: 'number' }, left: { type: 'string' }, open: { type: 'string', enum: 'x' } };
  const call = wire.call('execute', { code: `return await servers.asking.form({ schema: ${JSON.stringify({ type: 'object', properties })} })` });
  await browser.until(`document.querySelectorAll('article form').length === 1`);
  await browser.look('form');
  await browser.value(`{ const [append, elements, flag, submit, one, some] = document.querySelectorAll('article input, article select');
    append.value = 'Eve'; elements.value = '7'; flag.checked = true; submit.value = 'b'; one.value = 'y'; some.options[0].selected = some.options[2].selected = true;
    document.querySelector('article button[type=submit]').click(); }`);
  assert.ok(text(await call).includes('"content":{"append":"Eve","elements":7,"addEventListener":true,"submit":"b","one":"y","some":["p","r"]}'), text(await call));
  assert.deepEqual(browser.errors, []);
});

inBrowser('each view is reached by its link, with a heading, and shows what was done, light and dark', async () => {
  const wire = await begin(allow({ plain: upstream('plain'), gone: { command: '/nowhere' } }));
  for (const dark of [false, true]) {
    const browser = await visit(wire, { dark });
    const view = async (name, shows) => {
      await browser.value(`document.querySelector('nav a[href="#${name}"]').click()`);
      await browser.until(`document.activeElement.id === 'h-${name}' && ${shows}`);
      assert.equal(await browser.value(`[...document.querySelectorAll('main > section')].filter((one) => !one.hidden).map(({ id }) => id).join()`), name);
      await browser.look(`${name}${dark ? '-dark' : ''}`);
    };
    await wire.call('execute', { code: 'await servers.plain.list_items({}); try { await servers.gone.x({}) } catch {}\nreturn await servers.plain.fail({ why: "x" })' });
    await view('calls', `/ok plain\\.list_items line 1[^]*UPSTREAM_START gone\\.x[^]*plain\\.fail line 2/.test(document.getElementById('tree').textContent)`);
    await view('log', `document.querySelectorAll('#lines tr').length > 5`);
    await browser.value(`document.getElementById('filter').value = 'tool=fail'; document.getElementById('filter').dispatchEvent(new Event('input'))`);
    await browser.until(`[...document.querySelectorAll('#lines tr')].length > 0 && [...document.querySelectorAll('#lines tr')].every((row) => row.textContent.includes('tool=fail'))`);
    await view('servers', `/plain *ready[^]*gone *broken[^]*nowhere/.test(document.getElementById('members').textContent)`);
    await view('playground', 'true');
    await browser.value(`document.getElementById('code').value = 'return 6 * 7'; document.getElementById('try').requestSubmit()`);
    await browser.until(`document.getElementById('output').textContent.startsWith('42')`);
    await browser.look(`playground${dark ? '-dark' : ''}`);
    const [back, front] = await browser.value(`['backgroundColor', 'color'].map((name) => getComputedStyle(document.body)[name].match(/\\d+/g).reduce((a, b) => a + Number(b), 0))`);
    assert.equal(back < front, dark);
    assert.deepEqual(browser.errors, []);
  }
});

inBrowser('a recording is stepped through, call by call, and stays in the browser', async () => {
  const file = join(folder, 'recorded.jsonl');
  put('a.txt', 'first');
  const code = `async () => {\n  const a = await fs.readFile('a.txt', 'utf8');\n  try { await fs.readFile('none.txt') } catch {}\n  return a;\n}`;
  execFileSync(process.env.GLOVEBOX, ['run', code, '--allow', `file=${folder}`, '--record', file], { env });
  const wire = await begin();
  const browser = await visit(wire);
  await browser.value(`location.hash = '#recording'`);
  const { root } = await browser.send('DOM.getDocument');
  const { nodeId } = await browser.send('DOM.querySelector', { nodeId: root.nodeId, selector: '#file' });
  await browser.send('DOM.setFileInputFiles', { nodeId, files: [file] });
  await browser.until(`!document.getElementById('player').hidden`);
  assert.equal(await browser.value(`document.getElementById('recorded').textContent`), code);
  const titles = [];
  for (let isLast = false; !isLast;) {
    titles.push(await browser.value(`document.getElementById('where').textContent.replace(/^\\d+ of \\d+: /, '')`));
    isLast = await browser.value(`document.getElementById('next').disabled`);
    if (!isLast) await browser.value(`document.getElementById('next').click()`);
    if (titles.at(-1) === 'answer 1') await browser.look('recording');
  }
  assert.deepEqual(titles.filter((title) => !/^w/.test(title)), ['request 1 fs.readFile', 'answer 1', 'request 2 fs.readFile', 'answer 2 Error failed', 'end OK']);
  assert.deepEqual(browser.errors, []);
  for (const url of browser.requests) assert.ok(url.startsWith(browser.address), url);
});

inBrowser('10,000 events come with few elements', async () => {
  const wire = await begin(allow({ plain: upstream('plain') }));
  const code = `for (let i = 0; i < 20; i++) await Promise.all(Array.from({ length: 50 }, () => servers.plain.list_items({})));`;
  for (let i = 0; i < 9; i++) await wire.call('execute', { code });
  const browser = await visit(wire);
  await browser.value(`location.hash = '#log'; window.longest = 0; { let last = performance.now(); const tick = (now) => {
    longest = Math.max(longest, now - last); last = now; requestAnimationFrame(tick); }; requestAnimationFrame(tick); }`);
  await wire.call('execute', { code });
  await browser.until('events.length >= 10000');
  await browser.until(`document.querySelectorAll('#lines tr').length === 200`);
  assert.ok(await browser.value('events.length') <= 10200);
  assert.ok(await browser.value('document.querySelectorAll("*").length') < 3000);
  console.log(`# longest frame: ${await browser.value('longest')} ms`);
  await browser.look('many');
});

inBrowser('a page of another server of this machine reaches nothing, though the browser has the cookie', async () => {
  const wire = await begin();
  const browser = await visit(wire);
  const call = wire.call('execute', change(1));
  await browser.until(`document.querySelectorAll('article').length === 1`);
  const number = await browser.value('[...cards.keys()][0]');
  const answer = JSON.stringify({ number, action: 'accept', content: { answer: 'allow this call' } });
  const attack = `<!doctype html><title>evil</title><iframe src="${browser.address}"></iframe><img src="${browser.address}events"><script>
    const results = [];
    const attempt = (name, promise) => promise.then((r) => r.text()).then((t) => results.push([name, t]), () => results.push([name, '']));
    const all = [
      attempt('read', fetch('${browser.address}', { credentials: 'include' })),
      attempt('stream', fetch('${browser.address}events', { credentials: 'include' })),
      attempt('blind', fetch('${browser.address}answer', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '${answer}' })),
      attempt('open', fetch('${browser.address}answer', { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' }, body: '${answer}' })),
      attempt('run', fetch('${browser.address}mcp', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}' })),
    ];
    const events = new EventSource('${browser.address}events', { withCredentials: true });
    all.push(new Promise((resolve) => { events.onopen = () => { results.push(['events', 'open']); resolve(); }; events.onerror = resolve; }));
    Promise.all(all).then(() => { document.title = JSON.stringify(results); });
  </script>`;
  const cookies = [];
  const evil = createServer((request, response) => {
    cookies.push(request.headers.cookie);
    response.setHeader('content-type', 'text/html').end(attack);
  });
  await new Promise((resolve) => { evil.listen(0, '127.0.0.1', resolve); });
  const other = await (await browser.send('Target.createTarget', { url: 'about:blank' })).targetId;
  assert.ok(other);
  await browser.go(`http://127.0.0.1:${evil.address().port}/`);
  await browser.until(`document.title.startsWith('[')`);
  for (const [name, got] of JSON.parse(await browser.value('document.title'))) assert.equal(got, '', name);
  assert.equal(await browser.value('frames[0].document === undefined ? 0 : 1').catch(() => 0), 0);
  assert.deepEqual(cookies.filter(Boolean), []); // it does not even get it
  evil.close();
  assert.match(text(await call), /^NEEDS_APPROVAL/); // the page was left, and nobody has answered
});

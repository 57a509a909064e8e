// SPDX-License-Identifier: MIT
// http: `glovebox mcp --http`: what it refuses, both eras over the wire and with the official
// clients, sessions, streams that are resumed, tokens, and what is left of it at its end.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { createConnection, createServer } from 'node:net';
import { test } from 'node:test';
import { env, put, upstream } from './box.mjs';
import { about, callTool, connect, ways } from './clients.mjs';
import { refused, serve, start } from './front.mjs';
import { busyOne, children, descendants, isAlive, until } from './processes.mjs';
import { META, listWhenRead } from './wire.mjs';

const data = put('rows.json', [{ id: 1 }, { id: 2 }, { id: 3 }]);
// A call that spins until it is stopped must not reach its own limit first, however busy the machine is.
const begun = (...args) => serve('--data', `rows=${data}`, '--timeout', '60000', ...args);
const common = await begun();
const SOON = 30000; // before that limit, and far from what a busy machine needs

const BOTH = 'application/json, text/event-stream';
const rpc = (message) => JSON.stringify({ jsonrpc: '2.0', ...message });

/** What a POST is answered with: the status, the fields, and the messages. */
async function post(front, message, headers = {}, signal = undefined) {
  const response = await fetch(front.url, { method: 'POST', signal,
    headers: { 'content-type': 'application/json', accept: BOTH, ...headers },
    body: typeof message === 'string' ? message : rpc(message) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, messages: read(response, text) };
}

const read = ({ headers }, text) => (headers.get('content-type') ?? '').startsWith('text/event-stream')
  ? [...text.matchAll(/^data: (.+)$/gm)].map(([, json]) => JSON.parse(json))
  : text === '' ? [] : [JSON.parse(text)];

const modernFields = (method, name) =>
  ({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(name && { 'mcp-name': name }) });

const modern = (front, id, method, params = {}, meta = {}, headers = {}, signal = undefined) =>
  post(front, { id, method, params: { ...params, _meta: { ...META, ...meta } } },
    { ...modernFields(method, params.name ?? params.uri), ...headers }, signal);

const compute = (front, id, code, ...more) =>
  modern(front, id, 'tools/call', { name: 'compute', arguments: { code } }, ...more);

/** A session of an older era; ask() posts to it. */
async function begin(front, protocolVersion = '2025-11-25', capabilities = {}) {
  const { headers, messages } = await post(front, { id: 0, method: 'initialize',
    params: { protocolVersion, capabilities, clientInfo: { name: 'test', version: '1' } } });
  const fields = { 'mcp-session-id': headers.get('mcp-session-id'), 'mcp-protocol-version': protocolVersion };
  assert.match(fields['mcp-session-id'], /^[0-9a-f]{32}$/);
  assert.equal(messages[0].result.protocolVersion, protocolVersion);
  const ask = (message, more = {}, signal = undefined) => post(front, message, { ...fields, ...more }, signal);
  assert.equal((await ask({ method: 'notifications/initialized' })).status, 202);
  return { fields, ask,
    call: (id, code, meta = undefined, signal = undefined) => ask({ id, method: 'tools/call',
      params: { name: 'compute', arguments: { code }, ...(meta && { _meta: meta }) } }, {}, signal) };
}

const valueOf = ({ messages }) => messages.at(-1).result.structuredContent.value;

/** The processes that serve clients, newest last. */
const servers = (front) => children(children(front.child.pid)[0]);

/** What comes back for bytes that are sent as they are, until the server closes. */
function raw(front, text) {
  return new Promise((resolve, reject) => {
    const socket = createConnection(front.port, '127.0.0.1');
    let answer = '';
    socket.on('data', (part) => { answer += part; }).on('error', reject).on('close', () => resolve(answer));
    socket.setTimeout(SOON, () => socket.destroy(new Error(`it is not closed after ${answer}`)));
    socket.write(text);
  });
}

// ---- what is refused -----------------------------------------------------------------

const PING = rpc({ id: 1, method: 'ping' });

/** A POST with these fields instead of, or besides, the usual ones. */
function request({ fields = [], body = PING, line = 'POST /mcp HTTP/1.1', length = [`Content-Length: ${body.length}`],
  port = common.port, host = [`Host: 127.0.0.1:${port}`] } = {}) {
  return `${[line, ...host, `Accept: ${BOTH}`, 'Content-Type: application/json', ...length, ...fields].join('\r\n')}\r\n\r\n${body}`;
}

/** The same in 2026-07-28. */
const modernRequest = (method, params = {}, { fields = [], ...more } = {}) => request({
  body: rpc({ id: 1, method, params: { ...params, _meta: META } }), ...more,
  fields: [...Object.entries(modernFields(method, params.name)).map((field) => field.join(': ')), ...fields] });
const computeRequest = (code, { port }) => modernRequest('tools/call', { name: 'compute', arguments: { code } }, { port });

const chunked = (body) => ({ length: ['Transfer-Encoding: chunked'], body });

const RAW = { // what is sent: the status, and what the body has
  'a session is missing': [request(), 400, /Mcp-Session-Id is missing/],
  'chunks': [request(chunked(`${PING.length.toString(16)}\r\n${PING}\r\n0\r\n\r\n`)), 400, /Mcp-Session-Id is missing/],
  'HTTP/1.0': [request({ line: 'POST /mcp HTTP/1.0' }), 400, /Mcp-Session-Id/],
  'HTTP/2.0': [request({ line: 'POST /mcp HTTP/2.0' }), 505],
  'HTTP/1.11': [request({ line: 'POST /mcp HTTP/1.11' }), 505],
  'two blanks': [request({ line: 'POST  /mcp HTTP/1.1' }), 400],
  'a whole URL': [request({ line: 'POST http://127.0.0.1/mcp HTTP/1.1' }), 400],
  'no version': [request({ line: 'POST /mcp' }), 400],
  'a length and chunks': [request({ fields: ['Transfer-Encoding: chunked'] }), 400],
  'two lengths': [request({ fields: [`Content-Length: ${PING.length}`] }), 400],
  'a list of lengths': [request({ length: [`Content-Length: ${PING.length}, ${PING.length}`] }), 400],
  'a signed length': [request({ length: [`Content-Length: +${PING.length}`] }), 400],
  'a negative length': [request({ length: ['Content-Length: -1'] }), 400],
  'a length in hexadecimal': [request({ length: ['Content-Length: 0x10'] }), 400],
  'an empty length': [request({ length: ['Content-Length: '] }), 400],
  'a length that overflows': [request({ length: [`Content-Length: ${'9'.repeat(30)}`] }), 413],
  'too long a body': [request({ length: ['Content-Length: 16777217'] }), 413],
  'two codings': [request({ ...chunked(''), fields: ['Transfer-Encoding: chunked'] }), 400],
  'another coding': [request({ length: ['Transfer-Encoding: gzip, chunked'] }), 501],
  'a compressed body': [request({ fields: ['Content-Encoding: gzip'] }), 415],
  'a chunk without a size': [request(chunked('\r\nabc')), 400],
  'a chunk with a sign': [request(chunked('+1\r\na\r\n0\r\n\r\n')), 400],
  'a chunk with an extension': [request(chunked('1;a=b\r\na\r\n0\r\n\r\n')), 400],
  'a chunk that is too long': [request(chunked('1\r\nab\r\n0\r\n\r\n')), 400],
  'a chunk whose size overflows': [request(chunked('fffffffffffffffff\r\n')), 400],
  'a chunk size with a line feed': [request(chunked('1\na\n0\n\n')), 400],
  'a trailer': [request(chunked(`${PING.length.toString(16)}\r\n${PING}\r\n0\r\nA: b\r\n\r\n`)), 400],
  'a folded field': [request({ fields: ['X: a', ' b'] }), 400],
  'a folded first field': [request({ host: [' X: a'] }), 400],
  'a blank before the colon': [request({ fields: ['X : a'] }), 400],
  'a field without a colon': [request({ fields: ['X'] }), 400],
  'a field without a name': [request({ fields: [': a'] }), 400],
  'a NUL': [request({ fields: ['X: a\0b'] }), 400],
  'a carriage return in a value': [request({ fields: ['X: a\rb'] }), 400],
  'line feeds alone': [request().replaceAll('\r\n', '\n').replace('\n\n', '\n\r\n\r\n'), 400],
  'a field that is too long': [request({ fields: [`X: ${'a'.repeat(20000)}`] }), 431],
  'too many fields': [request({ fields: Array.from({ length: 100 }, (_, at) => `X-${at}: a`) }), 431],
  'no Host': [request({ host: [] }), 400],
  'two Hosts': [request({ fields: ['Host: localhost'] }), 400],
  'a doubled session': [request({ fields: ['Mcp-Session-Id: a', 'Mcp-Session-Id: b'] }), 400],
  'an unknown expectation': [request({ fields: ['Expect: a miracle'] }), 417],
  'an expectation of HTTP/1.0': [request({ line: 'POST /mcp HTTP/1.0', fields: ['Expect: 100-continue'] }), 400, /Mcp-Session-Id/],
  'not JSON': [request({ body: '{' }), 400, /-32700/],
  'no body': [request({ body: '' }), 400, /-32700/],
  'a number': [request({ body: '1' }), 400, /-32600/],
  'an id that is too long': [request({ body: rpc({ id: 'a'.repeat(1100), method: 'initialize', params: {} }) }), 400, /1024/],
  'two ids': [request({ body: '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}' }), 400, /there twice/],
  'an unknown session': [request({ fields: ['Mcp-Session-Id: 0123456789abcdef0123456789abcdef'] }), 404],
  'an unknown version': [request({ fields: ['MCP-Protocol-Version: 1999-01-01'] }), 400, /unsupported/],
  'another path': [request({ line: 'POST / HTTP/1.1' }), 404],
  'a query': [request({ line: 'POST /mcp?token=a HTTP/1.1' }), 400, /Mcp-Session-Id is missing/],
  'another method': [request({ line: 'PUT /mcp HTTP/1.1' }), 405],
  'a preflight': [request({ line: 'OPTIONS /mcp HTTP/1.1' }), 405],
  'a GET with a body': [request({ line: 'GET /mcp HTTP/1.1' }), 400],
  'a GET without a session': [request({ line: 'GET /mcp HTTP/1.1', length: [], body: '' }), 400],
  'GET in 2026-07-28': [request({ line: 'GET /mcp HTTP/1.1', length: [], body: '', fields: ['MCP-Protocol-Version: 2026-07-28'] }), 405],
  'DELETE in 2026-07-28': [request({ line: 'DELETE /mcp HTTP/1.1', length: [], body: '', fields: ['MCP-Protocol-Version: 2026-07-28'] }), 405],
};

test('requests that two readers could understand differently, and others that are wrong', async () => {
  for (const [what, [text, status, has = /^/]] of Object.entries(RAW)) {
    const answer = await raw(common, text);
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `), what);
    assert.match(answer, has, what);
    assert.equal(answer.match(/^HTTP\/1/gm).length, 1, what);
    assert.doesNotMatch(answer, /access-control/i, what);
  }
});

const discover = (more = {}) => modernRequest('server/discover', {}, more);

test('a connection carries one request after another, whatever the answers', async () => {
  const socket = createConnection(common.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (part) => { answer += part; });
  for (const [next, wanted] of [[discover(), '200'], [modernRequest('no/such'), '404'], [discover(), '200']]) {
    answer = '';
    socket.write(next);
    await until(() => /\}$/.test(answer));
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${wanted} `));
    assert.doesNotMatch(answer, /^connection:/im);
  }
  socket.destroy();
});

const LAST = { // what is sent: after the first answer the connection ends
  'the next request before the answer': discover() + discover(),
  'a byte more': `${discover()}x`,
  'Connection': discover({ fields: ['Connection: close'] }),
  'a list': discover({ fields: ['Connection: a , CLOSE', 'Connection: keep-alive'] }),
  'the second of two': discover({ fields: ['Connection: keep-alive', 'Connection: close'] }),
  'HTTP/1.0': discover({ line: 'POST /mcp HTTP/1.0' }),
  'HTTP/1.0 that asks': discover({ line: 'POST /mcp HTTP/1.0', fields: ['Connection: keep-alive'] }),
};

test('a connection ends when the client says so, or sends more than a request', async () => {
  for (const [what, text] of Object.entries(LAST))
    assert.deepEqual((await raw(common, text)).match(/^HTTP\/1.*/gm), ['HTTP/1.1 200 OK'], what);
});

test('100-continue is answered before the body is sent', async () => {
  const socket = createConnection(common.port, '127.0.0.1');
  const [head] = request({ fields: ['Expect: 100-continue'] }).split('\r\n\r\n');
  let answer = '';
  socket.on('data', (part) => { answer += part; });
  socket.write(`${head}\r\n\r\n`);
  await until(() => answer === 'HTTP/1.1 100 Continue\r\n\r\n');
  socket.write(PING);
  await until(() => /HTTP\/1\.1 400 /.test(answer));
});

const ORIGINS = { // Host, Origin: is it served?
  yes: [['localhost:PORT', null], ['[::1]:PORT', null], ['LOCALHOST:PORT', 'http://localhost:1'], ['127.0.0.1:PORT', 'https://127.0.0.1'],
    ['127.0.0.1:PORT', 'http://[::1]:8080']],
  no: [['evil.example', null], ['evil.example:PORT', null], ['localhost', null], ['localhost:1', null], ['localhost.evil.example:PORT', null],
    ['127.0.0.1:PORT@evil.example', null], ['[::1]', null], ['[::1', null], ['', null], ['127.0.0.1:PORT:80', null],
    ['localhost:PORT', 'null'], ['localhost:PORT', 'http://evil.example'], ['localhost:PORT', 'http://localhost.evil.example'],
    ['localhost:PORT', 'http://localhost@evil.example'], ['localhost:PORT', 'file://'], ['localhost:PORT', 'http://localhost:80/a'],
    ['localhost:PORT', 'http://127.0.0.1:evil'], ['localhost:PORT', '']],
};

test('web pages of others are kept out by Host and Origin', async () => {
  for (const [verdict, cases] of Object.entries(ORIGINS))
    for (const [host, origin] of cases) {
      const answer = await raw(common, request({ host: [`Host: ${host.replace('PORT', common.port)}`],
        fields: origin === null ? [] : [`Origin: ${origin}`] }));
      assert.match(answer, verdict === 'yes' ? /^HTTP\/1\.1 400 .*Mcp-Session-Id/s : /^HTTP\/1\.1 403 /, `${host} ${origin}`);
    }
});

test('types of bodies and answers are looked at', async () => {
  for (const [headers, status] of [[{ accept: 'application/json' }, 406], [{ accept: 'text/event-stream' }, 406],
    [{ accept: 'text/html' }, 406], [{ accept: '*/*' }, 400], [{ accept: 'application/*;q=0.1 , TEXT/event-stream' }, 400],
    [{ 'content-type': 'text/plain' }, 415], [{ 'content-type': 'application/jsonx' }, 415],
    [{ 'content-type': 'application/json; charset=utf-8' }, 400]])
    assert.equal((await post(common, PING, headers)).status, status, JSON.stringify(headers));
});

test('a long body is taken, a longer one refused, and the answer reaches a client that still sends', async () => {
  const long = (bytes) => compute(common, 1, `return 1 // ${'x'.repeat(bytes)}`);
  assert.equal((await long(15e6)).status, 200);
  assert.equal((await long(17e6)).status, 413);
  assert.equal((await post(common, 'x'.repeat(10e6), { host: 'evil.example', origin: 'http://evil.example' })).status, 403);
});

// ---- 2026-07-28 ------------------------------------------------------------------------

test('2026-07-28: fields and body must agree', async () => {
  const list = modernFields('tools/list');
  const call = { name: 'compute', arguments: { code: 'return 1' } };
  const meta = { _meta: META };
  for (const [message, headers, status, code] of [
    [{ method: 'tools/list', params: meta }, { 'mcp-method': 'tools/list' }, 400, -32020],
    [{ method: 'tools/list', params: meta }, { ...list, 'mcp-protocol-version': '2025-11-25' }, 400, -32020],
    [{ method: 'tools/list', params: meta }, { ...list, 'mcp-method': 'tools/LIST' }, 400, -32020],
    [{ method: 'tools/list', params: {} }, list, 400, -32602],
    [{ method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } }, modernFields('initialize'), 400, -32602],
    [{ method: 'initialize', params: meta }, modernFields('initialize'), 404, -32601],
    [{ method: 'none/such', params: meta }, modernFields('none/such'), 404, -32601],
    [{ method: 'tools/list', params: { _meta: { ...META, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' } } },
      { ...list, 'mcp-protocol-version': '2099-01-01' }, 400, -32022],
    [{ method: 'tools/call', params: { ...call, ...meta } }, modernFields('tools/call'), 400, -32020],
    [{ method: 'tools/call', params: { ...call, ...meta } }, modernFields('tools/call', 'computer'), 400, -32020],
    [{ method: 'tools/call', params: { ...call, ...meta } }, modernFields('tools/call', '=?base64?Y29tcHV0ZQ?='), 400, -32020],
    [{ method: 'tools/call', params: { ...call, ...meta } }, modernFields('tools/call', '=?base64?Y29tcHV0ZQ==?='), 200, undefined],
    [{ method: 'tools/call', params: { ...call, ...meta } }, { ...modernFields('tools/call', '  compute '), 'mcp-session-id': 'any' }, 200, undefined],
    [{ method: 'tools/call', params: { name: 'none', ...meta } }, modernFields('tools/call', 'none'), 200, -32602],
  ]) {
    const { status: got, messages } = await post(common, { id: 'x', ...message }, headers);
    assert.deepEqual([got, messages[0].error?.code, messages[0].id], [status, code, 'x'], JSON.stringify([message, headers]));
  }
});

test('2026-07-28: a member that is there twice is refused, however it is written', async () => {
  const meta = JSON.stringify(META);
  for (const params of [`{"_meta":${meta},"_meta":${meta}}`, `{"_meta":${meta},"\\u005fmeta":{}}`,
    `{"_meta":${meta},"name":"a","name":"b"}`, `{"_meta":{"progressToken":1,"progressToken":2,${meta.slice(1)}}`]) {
    const { status, messages } = await post(common, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${params}}`, modernFields('tools/list'));
    assert.deepEqual([status, messages[0].error.code], [400, -32600], params);
  }
});

test('2026-07-28: clients that choose the same ids get their own answers and progress', async () => {
  const all = await Promise.all(Array.from({ length: 8 }, (_, at) =>
    compute(common, at % 2 ? 1 : 'one\u00e9', `console.log('line ${at}'); return ${at}`, { progressToken: at % 3 ? 'same' : 7 })));
  all.forEach(({ status, messages, headers, text }, at) => {
    assert.equal(status, 200);
    assert.equal(messages.at(-1).id, at % 2 ? 1 : 'one\u00e9');
    assert.equal(messages.at(-1).result.structuredContent.value, at);
    for (const { params } of messages.slice(0, -1)) assert.equal(params.progressToken, at % 3 ? 'same' : 7);
    if (messages.length > 1) assert.equal(headers.get('x-accel-buffering'), 'no');
    assert.doesNotMatch(text, new RegExp(`line [^${at}]`));
  });
});

test('2026-07-28: log messages go to the client that asked for them', async () => {
  const logs = { 'io.modelcontextprotocol/logLevel': 'debug' };
  const all = await Promise.all(['a', 'b', 'c'].map((name) =>
    compute(common, 1, `console.warn('log of ${name}'); await sleep(50); return '${name}'`, name === 'c' ? {} : logs)));
  assert.deepEqual(all.map(({ messages }) => messages.slice(0, -1).map(({ method, params }) => [method, params.data, params._meta['glovebox/requestId']])),
    [...['a', 'b'].map((name) => [['notifications/message', `log of ${name}`, 1]]), []]);
});

test('2026-07-28: ids of all kinds come back as they were written, on one line or many', async () => {
  for (const id of ['0', '-7', '123456789012345678901234567890', '"\\u0061\\n"', '""']) {
    const body = `\n{"params":{"_meta":\r\n${JSON.stringify({ progressToken: 'p', ...META })}},\n"method" : "tools/list",\t"id" : ${id} ,"jsonrpc":"2.0"}\n`;
    const { status, text } = await post(common, body, modernFields('tools/list'));
    assert.equal(status, 200);
    assert.ok(text.includes(`"id":${id}`), text.slice(0, 100));
  }
});

test('2026-07-28: a connection that is closed cancels its call', async () => {
  const busy = busyOne(servers(common)[0]);
  const abort = new AbortController();
  const call = compute(common, 1, 'for (;;);', {}, {}, abort.signal);
  const pid = await busy;
  abort.abort();
  await assert.rejects(call);
  await until(() => !isAlive(pid), SOON);
});

test('2026-07-28: a subscription is a stream with its own id, and ends with its connection', async () => {
  const abort = new AbortController();
  const response = await fetch(common.url, { method: 'POST', signal: abort.signal,
    headers: { 'content-type': 'application/json', accept: BOTH, ...modernFields('subscriptions/listen') },
    body: rpc({ id: 'sub', method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true }, _meta: META } }) });
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  assert.equal(response.headers.get('cache-control'), 'no-cache');
  const { value } = await response.body.getReader().read();
  const told = JSON.parse(/data: (.*)/.exec(new TextDecoder().decode(value))[1]);
  assert.equal(told.method, 'notifications/subscriptions/acknowledged');
  assert.equal(told.params._meta['io.modelcontextprotocol/subscriptionId'], 'sub');
  abort.abort();
});

// ---- the older eras ----------------------------------------------------------------------

test('a session: from initialize to DELETE', async () => {
  const { fields, ask, call } = await begin(common);
  assert.equal((await ask({ id: 1, method: 'ping' })).messages[0].id, 1);
  assert.equal(valueOf(await call('one', 'return data.length')), 3);
  assert.equal((await ask({ id: 2, method: 'none/such' })).status, 200);
  assert.equal((await ask({ id: 99, result: {} })).status, 202);
  assert.equal((await ask({ id: 3, method: 'ping' }, { 'mcp-protocol-version': '2001-01-01' })).status, 400);
  assert.equal((await fetch(common.url, { method: 'DELETE', headers: fields })).status, 200);
  assert.equal((await ask({ id: 4, method: 'ping' })).status, 404);
  assert.equal((await fetch(common.url, { method: 'DELETE', headers: fields })).status, 404);
});

test('sessions have processes of their own, which end with them', async () => {
  const before = new Set(descendants(common.child.pid));
  const two = [await begin(common), await begin(common, '2025-06-18')];
  await Promise.all(two.map(({ call }) => call(1, 'return 1')));
  const own = descendants(common.child.pid).filter((pid) => !before.has(pid));
  assert.ok(own.length >= 4, `${own}`);
  for (const { fields } of two) await fetch(common.url, { method: 'DELETE', headers: fields });
  await until(() => own.every((pid) => !isAlive(pid)), 20000);
});

test('progress makes an answer a stream; without, it is JSON', async () => {
  const { call } = await begin(common);
  const plain = await call(1, 'return 1');
  assert.equal(plain.headers.get('content-type'), 'application/json');
  const told = await call(2, 'console.log("a line"); return 2', { progressToken: 'p' });
  assert.equal(told.headers.get('content-type'), 'text/event-stream');
  assert.deepEqual(told.messages.map(({ method }) => method), ['notifications/progress', undefined]);
  assert.equal(told.messages[0].params.progressToken, 'p');
});

test('an id in flight is refused; a closed connection cancels nothing, a notification does', async () => {
  const { call, ask } = await begin(common);
  const busy = busyOne(servers(common).at(-1));
  const abort = new AbortController();
  const gone = call(1, 'for (;;);', undefined, abort.signal);
  const pid = await busy;
  assert.equal((await call(1, 'return 1')).status, 400);
  abort.abort();
  await assert.rejects(gone);
  await ask({ id: 2, method: 'ping' });
  assert.ok(isAlive(pid));
  assert.equal((await ask({ method: 'notifications/cancelled', params: { requestId: 1 } })).status, 202);
  await until(() => !isAlive(pid), SOON);
  const waiting = call(3, 'for (;;);');
  await until(async () => (await ask({ method: 'notifications/cancelled', params: { requestId: 3 } })).status === 202 && await Promise.race([waiting, null]));
  assert.deepEqual((await waiting).messages, []); // its connection ends without an answer
  assert.equal(valueOf(await call(3, 'return 3')), 3);
});

test('a batch of 2025-03-26 is answered by one stream; later versions have none', async () => {
  const batch = JSON.stringify([1, 2, 3].map((id) => ({ jsonrpc: '2.0', id, method: 'ping' })));
  const { ask } = await begin(common, '2025-03-26');
  assert.deepEqual((await ask(batch)).messages.map(({ id }) => id).sort(), [1, 2, 3]);
  assert.equal((await ask('[{"jsonrpc":"2.0","method":"notifications/x"}]')).status, 202);
  for (const alien of [{ id: 4, method: 'initialize', params: {} }, { id: 4, method: 'tools/list', params: { _meta: META } }])
    assert.equal((await ask(`[${rpc(alien)}]`)).status, 400, alien.method);
  assert.deepEqual((await ask(batch.replace('"id":2', '"id":1'))).messages.map(({ id }) => id).sort(), [1, 3]);
  const later = await begin(common);
  assert.equal((await later.ask(batch)).status, 400);
});

/** A stream of events, as they come: [id, data]; data is '' for a sign of life. */
async function listen(front, headers, upTo) {
  const abort = new AbortController();
  const response = await fetch(front.url, { headers: { accept: 'text/event-stream', ...headers }, signal: abort.signal });
  assert.equal(response.status, 200);
  const events = [];
  let text = '';
  for await (const part of response.body) {
    text += new TextDecoder().decode(part);
    const whole = text.split('\n\n');
    text = whole.pop();
    for (const event of whole) events.push([/^id: (.*)$/m.exec(event)?.[1], /^data: (.*)$/m.exec(event)?.[1] ?? '']);
    if (upTo(events)) break;
  }
  abort.abort();
  return events;
}

test('a stream that breaks is resumed where it was, and only that stream', async () => {
  const { fields, ask } = await begin(common);
  const abort = new AbortController();
  const response = await fetch(common.url, { method: 'POST', signal: abort.signal,
    headers: { 'content-type': 'application/json', accept: BOTH, ...fields },
    body: rpc({ id: 'long', method: 'tools/call', params: { name: 'compute', _meta: { progressToken: 1 },
      arguments: { code: 'for (let i = 0; i < 5; i++) { console.log(`tick ${i}`); await sleep(150); } return "done"' } } }) });
  let text = '';
  for await (const part of response.body) {
    text += new TextDecoder().decode(part);
    if (/tick 0/.test(text)) break;
  }
  abort.abort();
  const [stream, last] = [...text.matchAll(/^id: (\d+)-(\d+)$/gm)].at(-1).slice(1).map(Number);
  assert.match(text, /^retry: \d+$/m);
  await ask({ id: 'other', method: 'tools/call', params: { name: 'compute', _meta: { progressToken: 2 }, arguments: { code: 'console.log("foreign"); return 1' } } });
  const rest = await listen(common, { ...fields, 'last-event-id': `${stream}-${last}` }, (events) => events.some(([, data]) => /"id":"long"/.test(data)));
  const messages = rest.filter(([, data]) => data !== '');
  assert.match(messages.at(-1)[1], /"value":"done"/);
  assert.deepEqual(messages.map(([id]) => id), messages.map((_, at) => `${stream}-${last + 1 + at}`));
  assert.doesNotMatch(JSON.stringify(rest), /foreign/);
  const again = await listen(common, { ...fields, 'last-event-id': `${stream}-${last}` }, () => false); // it ends by itself
  assert.deepEqual(again, rest);
  for (const id of ['', '1', 'x-1', '999-1', `${stream}-999`, `${stream}-1x`])
    assert.equal((await fetch(common.url, { headers: { accept: 'text/event-stream', ...fields, 'last-event-id': id } })).status, 400, id);
});

test('what belongs to no request waits for whoever listens, and is told once', async () => {
  const changing = put('changing.json', [{ id: 1 }]);
  const front = await serve('--data', `rows=${changing}`);
  const { fields, ask } = await begin(front);
  await listWhenRead(async () => (await ask({ id: 1, method: 'tools/list' })).messages[0].result);
  put('changing.json', [{ id: 1 }, { id: 2 }]);
  const isTold = (events) => events.some(([, data]) => /list_changed/.test(data));
  const [[id]] = (await listen(front, fields, isTold)).filter(([, data]) => data !== '');
  const [stream, number] = id.split('-').map(Number);
  const again = await listen(front, { ...fields, 'last-event-id': `${stream}-${number - 1}` }, isTold);
  assert.equal(again.find(([, data]) => data !== '')[0], id);
  const next = listen(front, fields, isTold);
  await listWhenRead(async () => (await ask({ id: 2, method: 'tools/list' })).messages[0].result);
  put('changing.json', [{ id: 1 }, { id: 2 }, { id: 3 }]);
  const later = (await next).filter(([, data]) => data !== '');
  assert.ok(later.every(([each]) => Number(each.split('-')[1]) > number), JSON.stringify(later));
  front.child.kill('SIGTERM');
  await front.exited;
});

// ---- official clients ---------------------------------------------------------------------

test('code mode: a person is asked in the middle of a script, in both eras', async () => {
  const log = put('calls', '');
  const front = await serve('--config', put('mcp.json', { mcpServers: { counting: upstream('counting', log) } }));
  await Promise.all(Object.keys(ways).map(async (way) => {
    const asked = [];
    const person = ({ message }) => { asked.push(message); return { action: 'accept', content: { answer: 'allow this call' } }; };
    const client = await connect(way, { url: front.url }, { person });
    const code = `const { args } = await servers.counting.change({ n: '${way}' }); return args.n + (await servers.counting.look({ n: 1 })).args.n`;
    const { content } = await client.callTool({ name: 'execute', arguments: { code } });
    assert.match(content[0].text, new RegExp(`${way}1`));
    assert.equal(asked.length, 1);
    assert.match(asked[0], new RegExp(way)); // its own question
    await client.close();
  }));
  front.child.kill('SIGTERM');
  await front.exited;
});

for (const way of Object.keys(ways))
  test(`${way}: lists, computes, hears progress, and cancels`, async () => {
    const client = await connect(way, { url: common.url });
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(({ name }) => name), ['compute']);
    const heard = [];
    const result = await callTool(client, { name: 'compute', arguments: { code: 'console.log("hi"); await sleep(50); return data.length' } },
      { onprogress: ({ message }) => heard.push(message) });
    assert.equal(result.structuredContent.value, 3);
    assert.deepEqual(heard.filter((message) => !message.startsWith('still at work')), ['hi']); // a slow machine
    const busy = busyOne(servers(common)[way === 'v1' || way === 'v2 legacy' ? servers(common).length - 1 : 0]);
    const abort = new AbortController();
    const stuck = callTool(client, { name: 'compute', arguments: { code: 'for (;;);' } }, { signal: abort.signal });
    const pid = await busy;
    abort.abort(new Error('enough'));
    await assert.rejects(stuck);
    await until(() => !isAlive(pid), SOON);
    await client.transport.terminateSession?.();
    await client.close();
  });

// ---- who may ask -----------------------------------------------------------------------------

const TOKEN = 'a-token-of-enough-characters';
const tokenFile = put('token', `${TOKEN}\n`);
chmodSync(tokenFile, 0o600);

test('a token: without it nothing is served, and it counts in no query', async () => {
  const front = await begun('--token-file', tokenFile);
  for (const authorization of [undefined, '', 'Bearer', `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`, `Basic ${TOKEN}`, TOKEN]) {
    const { status, headers } = await modern(front, 1, 'tools/list', {}, {}, authorization === undefined ? {} : { authorization });
    assert.deepEqual([status, headers.get('www-authenticate')], [401, 'Bearer'], authorization);
  }
  assert.equal((await post({ url: `${front.url}?access_token=${TOKEN}` }, PING)).status, 401);
  assert.equal((await modern(front, 1, 'tools/list', {}, {}, { authorization: `Bearer ${TOKEN}` })).status, 200);
  const client = await connect('v1', { url: front.url, requestInit: { headers: { authorization: `Bearer ${TOKEN}` } } });
  assert.equal((await client.listTools()).tools.length, 1);
  await client.close();
  front.child.kill('SIGTERM');
  assert.deepEqual(await front.exited, { code: 0, signal: null });
  assert.doesNotMatch(front.stderr, new RegExp(TOKEN));
});

test('behind a proxy any host is served, with the token, and pages of the same site', async () => {
  const front = await begun('--token-file', tokenFile, '--behind-proxy', '--path', '/a/b', '--http', '0.0.0.0:0');
  assert.match(front.url, /^http:\/\/0\.0\.0\.0:\d+\/a\/b$/);
  for (const [origin, authorization, status] of [['https://mcp.example', TOKEN, 400], [undefined, TOKEN, 400], ['http://localhost', TOKEN, 400],
    ['https://evil.example', TOKEN, 403], ['https://mcp.example', 'x', 401]])
    assert.match(await raw(front, request({ line: 'POST /a/b HTTP/1.1', host: ['Host: mcp.example'],
      fields: [`Authorization: bearer ${authorization}`, ...(origin ? [`Origin: ${origin}`] : [])] })), new RegExp(`^HTTP/1\\.1 ${status} `), origin);
  front.child.kill('SIGTERM');
  await front.exited;
});

const refusal = (...args) => refused({}, '--data', `rows=${data}`, ...args);

test('a start that would be unsafe or useless is refused', async () => {
  const open = put('open-token', `${TOKEN}\n`);
  chmodSync(open, 0o666);
  const short = put('short-token', 'short\n');
  chmodSync(short, 0o600);
  for (const [args, wanted] of [
    [['--http', '0.0.0.0:0'], /^64 .*--behind-proxy/s], [['--http', '0.0.0.0:0', '--token-file', tokenFile], /^64 .*--behind-proxy/s],
    [['--http', '0', '--behind-proxy'], /^64 .*--token-file/s], [['--http', 'example.org:80'], /^64 .*PORT/s], [['--http', '70000'], /^64 /],
    [['--http', ':1'], /^64 /], [['--http', '1x'], /^64 /], [['--path', '/a'], /^64 .*--http/s], [['--http', '0', '--path', 'a'], /^64 .*--path/s],
    [['--http', '0', '--token-file', short], /16/], [['--http', '0', '--token-file', open], /chmod/],
    [['--http', '0', '--token-file', '/none/such'], /none\/such/],
    [['--http', `${common.port}`], /cannot listen/], [['--http', '0', '--config', '/none/such.json'], /none\/such\.json/],
  ]) {
    const said = await refusal(...args);
    assert.match(said, wanted, args.join(' '));
    assert.doesNotMatch(said, /listening|^0 /);
  }
});

// ---- sockets -----------------------------------------------------------------------------------

const INITIALIZE = { id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: about } };

/** The status of an initialize that goes to a socket file. */
const knock = (socketPath, headers = {}) => new Promise((resolve, reject) => {
  httpRequest({ socketPath, path: '/mcp', method: 'POST', headers: { 'content-type': 'application/json', accept: BOTH, ...headers } },
    (response) => { response.resume().on('end', () => resolve(response.statusCode)); }).on('error', reject).end(rpc(INITIALIZE));
});

test("a socket file is its owner's, is replaced where nobody listens, and goes with the server", async () => {
  const path = put('a.socket', 'a file');
  const begin = () => start({}, '--socket', path, '--data', `rows=${data}`);
  assert.match(await refusal('--socket', path), /cannot listen/);
  assert.equal(readFileSync(path, 'utf8'), 'a file');
  rmSync(path);
  const first = await begin();
  assert.equal(statSync(path).mode & 0o777, 0o600);
  for (const [headers, status] of [[{}, 200], [{ host: 'any.example' }, 200], [{ origin: 'http://evil.example' }, 403]])
    assert.equal(await knock(path, headers), status);
  assert.match(await refusal('--socket', path), /cannot listen/);
  assert.equal(await knock(path), 200);
  first.child.kill('SIGKILL');
  await first.exited;
  const second = await begin();
  assert.equal(await knock(path), 200);
  rmSync(path);
  const third = await begin();
  second.child.kill('SIGTERM');
  assert.deepEqual(await second.exited, { code: 0, signal: null });
  assert.equal(await knock(path), 200); // the file was another server's
  third.child.kill('SIGTERM');
  assert.deepEqual(await third.exited, { code: 0, signal: null });
  assert.equal(existsSync(path), false);
});

/** As systemd starts it, with these descriptors. */
const activated = (...descriptors) => ({ descriptors,
  under: ['sh', '-c', `LISTEN_PID=$$ LISTEN_FDS=${descriptors.length} exec "$0" "$@"`] });

/** A descriptor that listens. */
async function listening(where) {
  const server = createServer().listen(where);
  await once(server, 'listening');
  return server;
}

test('sockets of systemd are served, if they listen to this machine alone', async () => {
  const path = put('b.socket', '');
  const servers = [await listening({ port: 0, host: '127.0.0.1' }), await listening({ path: `${path}.1` })];
  const [port, file] = servers.map((server) => server._handle.fd);
  const args = ['--http', 'systemd', '--data', `rows=${data}`];
  const front = await start(activated(port, file), ...args);
  renameSync(`${path}.1`, path); // or it would be removed here
  for (const server of servers) server.close();
  assert.equal(valueOf(await compute(front, 1, 'return 1')), 1);
  assert.equal(await knock(path), 200);
  const open = await listening({ port: 0, host: '0.0.0.0' });
  for (const [how, wanted] of [[{}, /^64 .*\.socket unit/s], [activated('ignore'), /^64 .*does not listen/s],
    [activated(open._handle.fd), /^64 .*--behind-proxy/s]])
    assert.match(await refused(how, ...args), wanted);
  open.close();
});

// ---- hardship ------------------------------------------------------------------------------------

test('idle and slow connections stop nobody', async (t) => {
  const front = await start({ under: ['prlimit', '--nofile=600:600'] }, '--http', '0', '--data', `rows=${data}`);
  const sockets = [];
  const bytes = request(front);
  let at = 0;
  const drip = setInterval(() => sockets[0]?.write(bytes[at++]), 50);
  t.after(() => { clearInterval(drip); for (const socket of sockets) socket.destroy(); });
  const add = (count) => { for (let i = 0; i < count; i++) sockets.push(createConnection(front.port, '127.0.0.1').on('error', () => {})); };
  const bytesOfUpload = computeRequest('return 8', front);
  let uploaded = '';
  const upload = createConnection(front.port, '127.0.0.1').on('data', (part) => { uploaded += part; });
  upload.write(bytesOfUpload.slice(0, -10));
  add(201);
  for (let i = 0; i < 3; i++) assert.equal(valueOf(await compute(front, i, `return ${i}`)), i);
  add(400); // more than have a place
  assert.equal(valueOf(await compute(front, 9, 'return 9')), 9);
  upload.write(bytesOfUpload.slice(-10)); // its place was not taken: the head was accepted
  await until(() => uploaded.includes('"value":8'));
});

test('a client that sends much and reads nothing costs only itself', async () => {
  const deaf = createConnection(common.port, '127.0.0.1').on('error', () => {});
  deaf.write(computeRequest('return "x".repeat(9e6)', common));
  deaf.pause();
  assert.equal(valueOf(await compute(common, 1, 'return 1')), 1);
  deaf.destroy();
});

test('a child that dies: its requests fail, its session is gone, others go on', async () => {
  const front = await begun();
  const { call, ask } = await begin(front);
  const [shared, own] = servers(front);
  const busy = busyOne(own);
  const stuck = call(7, 'for (;;);');
  await busy;
  process.kill(own, 'SIGKILL');
  const { status, messages } = await stuck;
  assert.deepEqual([status, messages[0].id, messages[0].error.code], [502, 7, -32603]);
  assert.equal((await ask({ id: 8, method: 'ping' })).status, 404);
  assert.match(front.stderr, /the process of a session has ended/);
  assert.equal(valueOf(await compute(front, 1, 'return 1')), 1);
  process.kill(shared, 'SIGKILL');
  await until(() => /the process of 2026-07-28 has ended/.test(front.stderr));
  assert.equal(valueOf(await compute(front, 2, 'return 2')), 2);
  front.child.kill('SIGTERM');
  assert.deepEqual(await front.exited, { code: 0, signal: null });
});

test('sessions have a number; what is too many is told to come later', async () => {
  const front = await begun();
  for (let i = 0; i < 66; i++) // what is refused takes no place
    assert.equal((await post(front, { id: 'a'.repeat(1100), method: 'initialize', params: {} })).status, 400);
  const all = await Promise.all(Array.from({ length: 66 }, () => post(front, INITIALIZE)));
  const refused = all.filter(({ status }) => status === 503);
  assert.equal(refused.length, 3);
  assert.match(refused[0].headers.get('retry-after'), /^\d+$/);
  assert.equal(new Set(all.map(({ headers }) => headers.get('mcp-session-id'))).size, 64); // with null
  front.child.kill('SIGTERM');
  assert.deepEqual(await front.exited, { code: 0, signal: null });
});

test('a session of which its client has not heard takes no place', async () => {
  const front = await begun();
  const [spawner] = children(front.child.pid);
  process.kill(spawner, 'SIGSTOP');
  const sockets = Array.from({ length: 63 }, () => createConnection(front.port, '127.0.0.1'));
  for (const socket of sockets) socket.write(request({ ...front, body: rpc(INITIALIZE) }));
  const answer = () => post(front, INITIALIZE, {}, AbortSignal.timeout(1000)).catch(() => ({})); // it may get a place and wait
  await until(async () => (await answer()).status === 503); // all places are taken
  for (const socket of sockets) socket.destroy();
  process.kill(spawner, 'SIGCONT');
  await until(async () => (await post(front, INITIALIZE)).status === 200, SOON);
});

for (const [signal, wanted] of [['SIGTERM', { code: 0, signal: null }], ['SIGKILL', { code: null, signal: 'SIGKILL' }]])
  test(`${signal}: nothing is left`, async () => {
    const front = await begun();
    const { call } = await begin(front);
    const busy = busyOne(servers(front)[1]);
    const stuck = call(1, 'for (;;);').catch(() => ({}));
    await busy;
    const all = descendants(front.child.pid);
    assert.ok(all.length >= 5);
    front.child.kill(signal);
    assert.deepEqual(await front.exited, wanted);
    if (signal === 'SIGTERM') assert.equal((await stuck).status, 503);
    await until(() => all.every((pid) => !isAlive(pid)), 20000);
  });

test('SIGTERM: a request that is nearly done is answered', async () => {
  const front = await begun();
  const { fields } = await begin(front);
  const response = await fetch(front.url, { method: 'POST', headers: { 'content-type': 'application/json', accept: BOTH, ...fields },
    body: rpc({ id: 1, method: 'tools/call', params: { name: 'compute', _meta: { progressToken: 1 },
      arguments: { code: 'console.log("begun"); await sleep(100); return "whole"' } } }) }); // the fields come with the first line
  front.child.kill('SIGTERM');
  assert.match(await response.text(), /begun.*"value":"whole"/s);
  assert.deepEqual(await front.exited, { code: 0, signal: null });
});

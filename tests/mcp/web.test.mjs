// SPDX-License-Identifier: MIT
// What servers at an address do that the specification does not expect of them: answers in
// other clothes, statuses, restarts; and what is left of a session in the end.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { test } from 'node:test';
import { until, within } from './processes.mjs';
import { done, json, meet, meetCalls, raw, sleep } from './web.mjs';

const isCall = (message) => message?.method === 'tools/call';
const text = (message) => JSON.stringify({ jsonrpc: '2.0', ...done(message.id) });

test('a mark of UTF-8 before an answer, or before a stream of events, is no part of it', async (t) => {
  const { call } = await meetCalls(t, (response, message) => {
    const { kind } = message.params.arguments;
    if (kind === 'json') raw(response, 'application/json', `\uFEFF${text(message)}`);
    else raw(response, 'text/event-stream', `\uFEFFdata: ${text(message)}\n\n`);
  }, { own: { timeoutMs: 3000 } });

  assert.equal(await call('write', { kind: 'json' }), 'done');
  assert.equal(await call('write', { kind: 'events' }), 'done');
});

for (const how of ['with a stream that stays open', 'never'])
  test(`a server that answers the message that begins a session ${how} is not waited for`, async (t) => {
    const { call } = await meet(t, (request, response, message) => {
      if (message?.method !== 'notifications/initialized') return false;
      if (how !== 'never') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(': open\n\n');
      }
      return true;
    }, { own: { startMs: 4000 } });

    assert.equal(await call(), 'done');
  });

test('the id of a session may have 8 KiB, and a longer one is said to be too long', async (t) => {
  for (const [length, expected] of [[8192, /^done$/],
    [8193, /the id of its session is longer than 8 KiB/]]) {
    const session = 'a'.repeat(length);
    const { call } = await meetCalls(t, (response, message, request) => {
      if (request.headers['mcp-session-id'] === session) return false;
      json(response, 400, { id: null, error: { code: -32000, message: 'no session' } });
    }, { session: () => session });
    assert.match(await call(), expected);
  }
});

test('a batch on a stream that was answered is read to its end, though its replies close the stream', async (t) => {
  const streams = [];
  const replies = [];
  const { call } = await meet(t, (request, response, message) => {
    if (message?.id !== undefined && message.method === undefined) {
      replies.push(message.id);
      json(response, 202);
      return true;
    }
    if (!isCall(message)) return false;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${text(message)}\n\n`);
    streams.push(response);
    return true;
  });
  const ping = (id, params) => ({ jsonrpc: '2.0', id, method: 'ping', params });

  for (let i = 0; i < 5; i++) assert.equal(await call(), 'done');
  streams[0].write(`data: ${JSON.stringify([ping(1), ping(2, { pad: 'x'.repeat(20 << 20) }), ping(3)])}\n\n`);
  await until(() => replies.length === 3);

  assert.deepEqual(replies.sort(), [1, 2, 3]);
  assert.equal(await call(), 'done');
});

test('no proxy of the environment sees what is sent to a server', async (t) => {
  const seen = [];
  const proxy = createServer((request, response) => {
    seen.push(request.url);
    json(response, 502);
  });
  await new Promise((resolve) => { proxy.listen(0, '127.0.0.1', resolve); });
  t.after(() => { proxy.closeAllConnections(); proxy.close(); });
  const address = `http://127.0.0.1:${proxy.address().port}`;
  const { call } = await meet(t, () => false, {
    config: { headers: { authorization: 'Bearer 123456789012' } },
    env: { http_proxy: address, ALL_PROXY: address } });

  assert.equal(await call(), 'done');
  assert.deepEqual(seen, []);
});

test('a header that the transport sets itself is sent once, and not as configured', async (t) => {
  const bad = [];
  const { call } = await meet(t, ({ method: verb, headers, rawHeaders }) => {
    const names = rawHeaders.filter((each, i) => i % 2 === 0).map((name) => name.toLowerCase());
    if (new Set(names).size < names.length || headers['x-own'] !== 'kept' ||
      (verb === 'POST' && headers['content-type'] !== 'application/json')) bad.push(rawHeaders);
    return false;
  }, { config: { headers: { 'content-type': 'text/x', Accept: 'x/y', 'MCP-Protocol-Version': '1',
    'Content-Length': '3', 'mcp-session-id': 'forged', 'X-Own': 'kept' } } });

  assert.equal(await call(), 'done');
  assert.equal(await call(), 'done');
  assert.deepEqual(bad, []);
});

for (const [how, refuse] of [
  ['an error of no id', (r) => json(r, 400, { id: null, error: { code: -32000, message: 'Bad Request: no session' } })],
  ['an error of its own id', (r) => json(r, 400, { id: 'server-error', error: { code: -32600, message: 'no session' } })],
  ['plain words', (r) => raw(r, 'text/plain', 'Bad Request: No valid session ID provided', 400)],
])
  test(`a server that was started anew and refuses the old session by 400 and ${how} gets another`, async (t) => {
    let age = 1;
    const { call } = await meet(t, (request, response, message) => {
      const session = request.headers['mcp-session-id'];
      if (session === undefined || session === `s${age}`) return false;
      refuse(response);
      return true;
    }, { session: () => `s${age}` });

    assert.equal(await call(), 'done');
    age = 2;
    assert.equal(await call(), 'done');
  });

test('a call that is refused by 400 in two sessions is refused, in the words of the server', async (t) => {
  const { call, count } = await meetCalls(t, (response, message) => {
    json(response, 400, { id: null, error: { code: -32000, message: 'it is Sunday' } });
  });

  assert.match(await call(), /^UPSTREAM_REFUSED: it is Sunday/);
  assert.equal(count('POST tools/call'), 2);
  assert.equal(count('POST initialize'), 2);
});

test('a call that is refused by 400 and its own id is not made again', async (t) => {
  const { call, count } = await meetCalls(t, (response, message) => {
    json(response, 400, { id: message.id, error: { code: -32602, message: 'no such file' } });
  });

  assert.match(await call(), /^UPSTREAM_REFUSED: no such file/);
  assert.equal(count('POST tools/call'), 1);
});

for (const [how, reply] of [
  ['a traceback', 'Traceback (most recent call last):\n  File "server.py", line 3\n'],
  ['an empty line first', '\r\n\r\nHTTP/1.1 200 OK\r\n\r\n'],
  ['JSON alone', '{"jsonrpc":"2.0","id":4,"result":{"content":[]}}'],
  ['a version of HTTP that there is not', 'HTTP/3.1 200 OK\r\n\r\n'],
])
  test(`a call that is answered by ${how}, which is not HTTP, is made once`, async (t) => {
    const { call, count } = await meetCalls(t, (response, message, request) => {
      request.socket.end(reply);
    });

    assert.match(await call(), /^UPSTREAM_PROTOCOL: its answer is not HTTP: .*[^)]$/);
    assert.equal(count('POST tools/call'), 1);
  });

test('a start that is answered by what is not HTTP is not worth another try', async (t) => {
  const { call } = await meet(t, (request) => request.socket.end('hello'));

  assert.match(await call(), /^UPSTREAM_START: .*its answer is not HTTP: .*[^)]$/);
});

for (const [how, times, often] of [['write', 1, 'once'], ['read', 2, 'twice']])
  test(`a call that is refused by 404 and its own id is made ${often} if its tool says that it does ${how}`, async (t) => {
    const { call, count } = await meetCalls(t, (response, message) => {
      if (message.params.arguments.path === undefined) return false;
      json(response, 404, { id: message.id, error: { code: -32602, message: 'no such file' } });
    });

    assert.match(await call(how, { path: '/' }), /^UPSTREAM_REFUSED: no such file/);
    assert.equal(count('POST tools/call'), times);
    assert.equal(await call(how), 'done');
    assert.equal(count('POST initialize'), 1 + times);
  });

test('an answer in a stream of events counts, whatever the status, and ends no session', async (t) => {
  const { call, count } = await meetCalls(t, (response, message) => {
    raw(response, 'text/event-stream', `data: ${text(message)}\n\n`, 400);
  });

  assert.equal(await call(), 'done');
  await sleep(100);
  assert.equal(await call(), 'done');
  assert.equal(count('POST initialize'), 1);
});

test('a connection that cannot be made ends no call on another', async (t) => {
  const started = Promise.withResolvers();
  const { call, server } = await meetCalls(t, async (response, message) => {
    if (message.params.arguments.long === undefined) return false;
    started.resolve();
    await sleep(1000);
    return false;
  });

  assert.equal(await call(), 'done');
  const long = call('write', { long: true });
  await started.promise;
  server.close();
  server.closeIdleConnections();
  assert.match(await call(), /^UPSTREAM_START: .* it cannot be reached/);
  assert.equal(await long, 'done');
});

for (const status of [429, 503])
  test(`a list of tools that is refused by ${status} when it is read again ends no call`, async (t) => {
    const started = Promise.withResolvers();
    let lists = 0;
    let stream;
    const { call } = await meet(t, async (request, response, message) => {
      if (request.method === 'GET') {
        stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
        stream.write(': open\n\n');
      } else if (message?.method === 'tools/list' && ++lists > 1) {
        json(response, status);
      } else if (isCall(message) && message.params.arguments.long) {
        started.resolve();
        await sleep(1500);
        return false;
      } else {
        return false;
      }
      return true;
    });

    assert.equal(await call(), 'done');
    const long = call('write', { long: true });
    await started.promise;
    stream.write('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n');
    assert.equal(await long, 'done');
    assert.ok(lists > 1);
    assert.equal(await call(), 'done');
  });

const openStream = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('retry: 1\n\n');
};

for (const [how, end] of [
  ['ends', (response) => { openStream(response); response.end(); }],
  ['breaks', (response) => { openStream(response); setTimeout(() => response.destroy(), 50); }],
  ['is refused by 503', (response) => json(response, 503)],
])
  test(`a stream of what is said unasked that ${how} is opened again, not at once, and the list read`, async (t) => {
    const opened = [];
    const { call, count } = await meet(t, (request, response) => {
      if (request.method !== 'GET') return false;
      opened.push(performance.now());
      if (opened.length === 1) end(response);
      else openStream(response);
      return true;
    });

    assert.equal(await call(), 'done');
    assert.ok(await until(() => opened.length === 2));
    assert.ok(opened[1] - opened[0] > 450);
    assert.ok(await until(() => count('POST tools/list') === 2));
  });

test('a server that says 405 to the stream is not asked for it again', async (t) => {
  const { call, count } = await meet(t, (request, response) => {
    if (request.method !== 'GET') return false;
    raw(response, 'text/plain', 'retry: 1', 405);
    return true;
  });

  assert.equal(await call(), 'done');
  await sleep(1500);
  assert.equal(count('GET'), 1);
});

test('a session is ended by DELETE when glovebox ends, and nobody waits long for that', async (t) => {
  for (const isMute of [false, true]) {
    await within(1500, async () => {
      const { call, count, wire } = await meet(t, (request) => isMute && request.method === 'DELETE');
      assert.equal(await call(), 'done');

      const before = performance.now();
      const { code, at } = await wire.close();
      assert.equal(code, 0);
      assert.equal(count('DELETE'), 1);
      return at - before;
    });
  }
});

/** Two servers with so many tools each, of so many parameters. */
const crowd = (t, length, parameters) => {
  const properties = Object.fromEntries(Array.from({ length: parameters }, (_, i) =>
    [`a_parameter_with_a_name_that_is_longer_than_most_of_them_and_hardly_ever_seen_${i}`, { type: 'string' }]));
  return meet(t, ({ url }, response, message) => {
    if (message?.method !== 'tools/list') return false;
    const word = url === '/mcp' ? 'one' : 'another';
    json(response, 200, { id: message.id, result: { tools: Array.from({ length }, (_, i) =>
      ({ name: `${word}_${i}`, inputSchema: { type: 'object', properties } })) } });
    return true;
  });
};

test('discover knows the tools of all servers, however many there are', async (t) => {
  const { wire } = await crowd(t, 3000, 0);
  const discover = async (args) => (await wire.call('discover', args)).result.content[0].text;
  const { result } = await wire.call('execute', { code: 'return (await discover("")).length' });

  assert.match(await discover({ query: 'another_2999', detail: 'names' }), /^other\.another_2999\n/);
  assert.equal(result.structuredContent.result, 6000);
  assert.match(await discover({ detail: 'types' }), / another_2999\(args\?: .*\n {2}};\n};\n$/);
});

test('a list of tools that is too long to be written is none', async (t) => {
  const { wire } = await crowd(t, 1024, 64);
  const { result } = await wire.call('discover', { detail: 'types' });

  assert.equal(result.isError, true);
  assert.equal(result.content[0].text, 'the list is longer than 8 MiB: ask for one server, or with a query');
});

test('what a server says of itself and of its progress steers no terminal', async (t) => {
  const { wire } = await meet(t, ({ url }, response, message) => {
    const progressToken = message?.params?._meta?.progressToken;
    if (message?.method === 'initialize' && url === '/other')
      json(response, 200, { id: message.id, error: { code: -32000, message: 'no\u001b[2J\u009b' } });
    else if (message?.method === 'initialize')
      json(response, 200, { id: message.id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} },
        serverInfo: { name: 'w\u001b[31m', version: '1\u202e\n2' } } });
    else if (isCall(message))
      raw(response, 'text/event-stream', `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress',
        params: { progressToken, progress: 1, message: '\u001b[1mh\r'.repeat(100) } })}\n\ndata: ${text(message)}\n\n`);
    else return false;
    return true;
  });
  const provided = async (server) => (await wire.call('provision', { server })).result.content[0].text;

  assert.match(await provided('up'), /^up is ready: w\\u\{1b\}\[31m 1\\u\{202e\}\\n2, /);
  assert.match(await provided('other'), /^other did not start: .*no\\u\{1b\}\[2J\\u\{9b\}$/);
  await wire.call('execute', { code: 'return servers.up.write({})' }, { progressToken: 7 });
  const { params } = await wire.hear((m) => m.method === 'notifications/progress' && /up.write: /.test(m.params.message));
  assert.ok(params.message.startsWith('up.write: \\u{1b}[1mh\\u{d}\\u{1b}'), params.message);
  assert.match(wire.stderr, /other: it refused to begin: no\\u\{1b\}\[2J\\u\{9b\}\n/);
});

const refusals = [
  ['401', (r) => raw(r, 'application/json', '{"error":"invalid_token"}', 401),
    'UPSTREAM_REFUSED: it answers with HTTP status 401: {"error":"invalid_token"}'],
  ['429', (r) => raw(r, 'text/plain', 'slow\ndown', 429),
    'UPSTREAM_REFUSED: it answers with HTTP status 429: slow down (worth another try)'],
  ['429 of no type', (r) => r.writeHead(429).end('slow down'),
    'UPSTREAM_REFUSED: it answers with HTTP status 429: slow down (worth another try)'],
  ['a page of no type', (r) => r.writeHead(429).end('<h1>slow</h1>'),
    'UPSTREAM_REFUSED: it answers with HTTP status 429 (worth another try)'],
  ['500', (r) => raw(r, 'text/plain', 'no disk', 500),
    'UPSTREAM_REFUSED: it answers with HTTP status 500: no disk'],
  ['503', (r) => raw(r, 'text/html', '<h1>bad</h1>', 503),
    'UPSTREAM_REFUSED: it answers with HTTP status 503', ' (worth another try)'],
  ['a redirect', (r) => raw(r, 'text/plain', '', 307, { location: 'http://127.0.0.1:1/there' }),
    "UPSTREAM_REFUSED: it answers with HTTP status 307, to 'http://127.0.0.1:1/there': redirects are not followed"],
  ['a page', (r) => raw(r, 'text/html; charset=utf-8', '<html>log in</html>'),
    'UPSTREAM_PROTOCOL: it answers with text/html, not with JSON'],
  ['what is compressed', (r, m) => raw(r, 'application/json', gzipSync(text(m)), 200, { 'content-encoding': 'gzip' }),
    "UPSTREAM_PROTOCOL: it answers with application/json that is coded as 'gzip', which was not asked for"],
  ['a secret of ours', (r) => raw(r, 'text/plain', 'no such token: 123456789012', 400),
    'UPSTREAM_REFUSED: it answers with HTTP status 400: no such token: '],
];
for (const [status, type, body] of [[400, 'text/plain', 'X-Org-Id is missing'], [404, 'text/plain', 'no such project X-Org-Id'],
  [405, 'application/json', '{"detail":"X-Org-Id"}']])
  test(`the reason why a server does not begin is told, though it comes with ${status}`, async (t) => {
    const { call } = await meet(t, (request, response) => {
      raw(response, type, request.method === 'POST' ? body : '', request.method === 'POST' ? status : 405);
      return true;
    });

    assert.match(await call(), new RegExp(`^UPSTREAM_START: .* HTTP status ${status}: .*X-Org-Id.*; asked for a stream of events, it answers with HTTP status 405`));
  });

const mine = '2024-11-05';
for (const [type, words] of [
  ['text/plain', `Bad Request: Unsupported protocol version (supported versions: ${mine})`],
  ['text/plain', `Unsupported version. Only ${mine} is supported`],
  ['application/json', `{"error":"unsupported_version","supported_versions":["${mine}"]}`],
]) test(`a server that names its version by a 400 is asked again with that one: ${words}`, async (t) => {
  const { call } = await meet(t, (request, response, message) => {
    const asked = request.headers['mcp-protocol-version'] ?? message?.params?.protocolVersion;
    if (request.method !== 'POST' || (asked === mine && message.method !== 'initialize')) return false;
    if (asked !== mine)
      raw(response, type, words, 400);
    else
      json(response, 200, { id: message.id, result: { protocolVersion: mine, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } });
    return true;
  });

  assert.equal(await call(), 'done');
});

const DOUBT = '; it may have taken effect: look before you repeat it';
test('a refusal says why, and whether another try is worth it', async (t) => {
  const { call } = await meetCalls(t, (response, message) => {
    refusals.find(([name]) => name === message.params.arguments.name)[1](response, message);
  }, { config: { headers: { authorization: 'Bearer 123456789012' } } });

  for (const [name, , expected, ifRepeatable = ''] of refusals) {
    const written = await call('write', { name });
    const said = written.replace(DOUBT, '');
    assert.equal(written.endsWith(DOUBT), /^UPSTREAM_PROTOCOL|status 50[234]/.test(written), written);
    if (expected.endsWith(' ')) assert.ok(said.startsWith(expected) && !said.includes('123456789012'), said);
    else assert.equal(said, expected);
    if (ifRepeatable) assert.equal(await call('read', { name }), expected + ifRepeatable);
  }
});

test('what follows an answer as trailers says nothing of it', async (t) => {
  const { call } = await meetCalls(t, (response, message) => {
    response.writeHead(200, { 'content-type': 'application/json', trailer: 'Content-Type' });
    response.write(text(message));
    response.addTrailers({ 'Content-Type': 'text/event-stream' });
    response.end();
  });

  assert.equal(await call(), 'done');
});

test('headers of more than 64 KiB are said to be too many', async (t) => {
  const { call } = await meetCalls(t, (response, message) => {
    const headers = Array.from({ length: 9 }, (_, i) => [`x-${i}`, 'a'.repeat(8000)]);
    json(response, 200, done(message.id), Object.fromEntries(headers));
  });

  assert.equal(await call(), 'UPSTREAM_EXIT: the connection broke: its headers have more than 64 KiB' + DOUBT);
});

for (const [how, config, expected, worth] of [
  ['speaks no TLS', (port) => ({ url: `https://127.0.0.1:${port}/` }), /it cannot be reached/, false],
  ['has no such port', () => ({ url: 'http://127.0.0.1:99999/' }), /it cannot be reached/, false],
  ['sends messages elsewhere', (port) => ({ type: 'sse', url: `http://127.0.0.1:${port}/` }), /an endpoint that is not its own/, false],
  ['speaks an unknown version', (port) => ({ url: `http://127.0.0.1:${port}/` }), /no version of MCP that is known/, false],
  ['is not there', () => ({ url: 'http://127.0.0.1:1/' }), /it cannot be reached/, true],
])
  test(`a start of a server that ${how} is ${worth ? '' : 'not '}worth another try`, async (t) => {
    const { call } = await meet(t, ({ method: verb }, response, message) => {
      if (verb === 'GET') openStream(response);
      if (verb === 'GET') response.write('event: endpoint\ndata: http://127.0.0.2/\n\n');
      if (message?.method === 'initialize')
        json(response, 200, { id: message.id, result: { protocolVersion: '2099-01-01', capabilities: {} } });
      return verb === 'GET' || message?.method === 'initialize';
    }, { config });

    const said = await call();
    assert.match(said, expected);
    assert.equal(said.includes('worth another try'), worth, said);
  });

for (const [status, worth] of [[401, false], [307, false], [429, true], [503, true]])
  test(`a start that is refused by ${status} is ${worth ? '' : 'not '}worth another try`, async (t) => {
    const { call } = await meet(t, (request, response) => {
      json(response, status);
      return true;
    });

    const said = await call();
    assert.match(said, new RegExp(`^UPSTREAM_START: .*HTTP status ${status}`));
    assert.equal(said.includes('worth another try'), worth);
  });

for (const [status, worth] of [[401, false], [403, false], [307, false], [429, true], [503, true]])
  for (const [how, type] of [['of the transport before', 'sse'], ['that is found to be of it', 'http']])
    test(`a stream ${how} that is refused by ${status} is ${worth ? '' : 'not '}worth another try`, async (t) => {
      const { call } = await meet(t, ({ method: verb }, response) => {
        json(response, verb === 'GET' ? status : 404);
        return true;
      }, { config: { type } });

      const said = await call();
      assert.match(said, new RegExp(`^UPSTREAM_START: .*HTTP status ${status}`));
      assert.equal(said.includes('worth another try'), worth);
    });

test('a ping on the stream of a server that has not said yet where to answer is answered later', async (t) => {
  const pongs = [];
  let stream;
  const say = (message) => stream.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
  const { call } = await meet(t, ({ method }, response, message) => {
    if (method === 'GET') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let id = 1; id <= 6; id++) say({ id, method: 'ping' });
      stream.write('event: endpoint\ndata: /post\n\n');
      return true;
    }
    json(response, 202);
    if (message.method === undefined) pongs.push(message.id);
    else if (message.method === 'initialize')
      say({ id: message.id, result: { protocolVersion: '2024-11-05', capabilities: { tools: {} },
        serverInfo: { name: 'early', version: '1' } } });
    else if (message.method === 'tools/list')
      say({ id: message.id, result: { tools: [{ name: 'write', inputSchema: { type: 'object' } }] } });
    else if (message.id !== undefined) say(done(message.id));
    return true;
  }, { config: { type: 'sse' }, own: { startMs: 4000 } });

  assert.equal(await call(), 'done');
  await until(() => pongs.length === 6);
  assert.deepEqual(pongs.sort(), [1, 2, 3, 4, 5, 6]);
});

// SPDX-License-Identifier: MIT
// traces: spans of calls as a collector gets them. Which there are, what is in them, whose trace
// they continue, and what collectors and code cannot do by them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { createServer as createPort } from 'node:net';
import { after, test } from 'node:test';
import { allow, open, put, upstream } from './box.mjs';
import { collect } from './collector.mjs';
import { refused, serve } from './front.mjs';
import { until } from './processes.mjs';
import { done, greet, json } from './web.mjs';
import { META } from './wire.mjs';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const GIVEN = `00-${TRACE}-${PARENT}-01`;

/** A server at an address that writes down each call's headers and _meta. */
async function address() {
  const calls = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const message = body === '' ? undefined : JSON.parse(body);
    if (greet(request, response, message, {})) return;
    calls.push({ headers: request.headers, meta: message.params._meta });
    json(response, 200, done(message.id));
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  after(() => { server.closeAllConnections(); server.close(); });
  return { calls, entry: { type: 'http', url: `http://127.0.0.1:${server.address().port}/mcp` } };
}

const traced = (config, collector, more = {}) => open(config, { args: ['--otlp', collector.url], ...more });
const plain = allow({ up: upstream('plain') });

// ---- what is sent ------------------------------------------------------------------

test('execute is a span, its calls are spans below it, and nothing of code or data is in them', async () => {
  const collector = await collect();
  const wire = await traced(plain, collector);
  const answer = await wire.call('execute', { input: { m: 'markerI' }, code: `
    await servers.up.get_item({ q: 'markerA' });
    try { await servers.up.fail({ why: 'markerE' }); } catch {}
    try { await servers.up.call('markerT', {}); } catch {}
    console.log('markerL');
    throw new Error('markerX');` });
  assert.match(answer.result.content[0].text, /markerX/);
  const { root, below } = await collector.trace('tools/call execute');
  const { requests: [{ path, body, resource }] } = collector;

  assert.equal(path, '/v1/traces');
  assert.doesNotMatch(body, /marker/);
  assert.deepEqual({ ...resource, 'service.version': '', 'service.instance.id': resource['service.instance.id'].length },
    { 'service.name': 'glovebox', 'service.version': '', 'service.instance.id': 32 });
  assert.equal(root.kind, 2);
  assert.equal(root.parentSpanId, undefined);
  assert.deepEqual(root.status, { code: 2 });
  assert.deepEqual(root.attributes, {
    'mcp.method.name': 'tools/call', 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'execute',
    'mcp.protocol.version': '2025-11-25',
    'glovebox.code': 'RUNTIME', 'error.type': 'tool_error', 'glovebox.calls': 3 });
  assert.deepEqual(below.map(({ name }) => name), ['tools/call get_item', 'tools/call fail', 'tools/call']);
  for (const span of below) {
    assert.equal(span.parentSpanId, root.spanId);
    assert.equal(span.kind, 3);
    assert.ok(span.start >= root.start && span.end <= root.end);
  }
  const common = { 'mcp.method.name': 'tools/call', 'gen_ai.operation.name': 'execute_tool',
    'glovebox.server': 'up' };
  assert.deepEqual(below.map(({ attributes }) => attributes), [
    { ...common, 'gen_ai.tool.name': 'get_item', 'glovebox.decision': 'allow' },
    { ...common, 'gen_ai.tool.name': 'fail', 'glovebox.decision': 'allow',
      'glovebox.code': 'TOOL_ERROR', 'error.type': 'tool_error' },
    { ...common, 'glovebox.code': 'NOT_FOUND', 'error.type': 'NOT_FOUND' }]);
  assert.deepEqual(below.map(({ status }) => status), [undefined, { code: 2 }, { code: 2 }]);
  assert.equal(new Set([root, ...below].map(({ spanId }) => spanId)).size, 4);
});

test('the tools call and compute are spans, also of requests that fail or are cancelled', async () => {
  const collector = await collect();
  const wire = await traced(plain, collector, { args: ['--otlp', collector.url, '--data', `rows=${put('t.json', [1])}`] });
  await wire.listTools();
  await wire.call('compute', { code: '(rows) => rows.length' });
  await wire.call('call', { server: 'up', tool: 'get_item', args: {} });
  await wire.call('call', { server: 'up', tool: 'nothing', args: {} });
  await wire.ask('tools/call', { name: 'discover', arguments: 7 });
  await wire.ask('tools/call', { name: 'markerT', arguments: {} });
  wire.say({ id: 'c', method: 'tools/call', params: { name: 'compute', arguments: { code: '() => { for (;;); }' } } });
  wire.say({ method: 'notifications/cancelled', params: { requestId: 'c' } });
  await collector.until(({ spans }) => spans.some((span) => span.attributes['glovebox.code'] === 'ABORTED'));
  const seen = collector.spans.map(({ name, kind, attributes: a }) =>
    [name, kind, a['glovebox.code'], a['error.type']].filter((each) => each !== undefined).join(' '));
  assert.deepEqual(seen, ['tools/call compute 2', 'tools/call get_item 3', 'tools/call call 2',
    'tools/call 3 NOT_FOUND NOT_FOUND', 'tools/call call 2 NOT_FOUND tool_error',
    'tools/call discover 2 OTHER -32602', 'tools/call compute 2 ABORTED ABORTED']);
  const [, , , , , bad] = collector.spans;
  assert.equal(bad.attributes['rpc.response.status_code'], '-32602');
});

test('a call that a rule denies, and one in another time of the protocol, are told apart', async () => {
  const collector = await collect();
  const wire = await traced({ mcpServers: { up: upstream('plain') },
    glovebox: { toolNames: 'mcp_', rules: [{ action: 'deny', tool: 'change' }, { action: 'allow' }] } }, collector);
  await wire.ask('tools/call', { name: 'mcp_execute', _meta: META, arguments: { code: 'await servers.up.change({})' } });
  const { root, below: [denied] } = await collector.trace('tools/call mcp_execute');
  assert.equal(root.attributes['mcp.protocol.version'], '2026-07-28');
  assert.deepEqual([denied.attributes['glovebox.decision'], denied.attributes['error.type']], ['deny', 'DENIED']);
});

test('what waits at the end of the input is still sent', async () => {
  const collector = await collect();
  // A machine that is too busy for the 150 ms of one end has time in another.
  for (let i = 0; i < 20 && collector.spans.length === 0; i++) {
    const wire = await traced(plain, collector);
    await wire.call('execute', { code: '1' });
    assert.equal((await wire.close()).code, 0);
    assert.equal(collector.requests.filter(({ path }) => path !== '/v1/traces').length, 0);
  }
  assert.deepEqual(collector.spans.map(({ name }) => name), ['tools/call execute']);
});

// ---- the traces of others ------------------------------------------------------------

test('a trace goes on in the servers, in _meta and in a header, with its state', async () => {
  const collector = await collect();
  const { calls, entry } = await address();
  const wire = await traced(allow({ up: entry }), collector);
  const state = { tracestate: 'rojo=00f067aa0ba902b7', baggage: 'a=b' };
  await wire.call('execute', { code: 'await servers.up.read({})' }, { traceparent: GIVEN, ...state });
  const { root, below: [span] } = await collector.trace('tools/call execute', TRACE);
  assert.equal(root.parentSpanId, PARENT);
  const { headers, meta: { progressToken, ...meta } } = calls[0];
  assert.deepEqual(meta, { traceparent: `00-${TRACE}-${span.spanId}-01`, ...state });
  assert.equal(headers.traceparent, meta.traceparent);
});

const FORGED = {
  'too short': GIVEN.slice(0, -1),
  'too long': `${GIVEN}0`,
  'a field more in version 00': `${GIVEN}-00`,
  'upper case': GIVEN.toUpperCase(),
  'version ff': `ff${GIVEN.slice(2)}`,
  'no digits': `00-${TRACE.replace('0', 'g')}-${PARENT}-01`,
  'a trace of zeros': `00-${'0'.repeat(32)}-${PARENT}-01`,
  'a span of zeros': `00-${TRACE}-${'0'.repeat(16)}-01`,
  'another separator': GIVEN.replaceAll('-', '_'),
  'a header more': `${GIVEN.slice(0, 40)}\r\nx: y${GIVEN.slice(46)}`,
  'a number': 5,
  'an object': { a: GIVEN },
  'nothing': '',
};

test('what is not exactly a traceparent begins another trace, without the state of the old', async () => {
  const collector = await collect();
  const { calls, entry } = await address();
  const wire = await traced(allow({ up: entry }), collector);
  for (const [name, traceparent] of Object.entries(FORGED)) {
    calls.length = 0;
    await wire.call('call', { server: 'up', tool: 'read', args: {} }, { traceparent, tracestate: 'a=b' });
    const { headers, meta } = calls[0];
    assert.match(headers.traceparent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/, name);
    assert.notEqual(headers.traceparent.slice(3, 35), TRACE, name);
    assert.equal(meta.traceparent, headers.traceparent, name);
    assert.equal(meta.tracestate, undefined, name);
    assert.equal(headers.x, undefined, name);
  }
  await collector.until(({ spans }) => spans.length === 2 * Object.keys(FORGED).length);
  assert.deepEqual(collector.spans.filter(({ kind, parentSpanId }) => kind === 2 && parentSpanId), []);
});

test('later versions are read as far as they are known, and unsampled traces are not sent', async () => {
  const collector = await collect();
  const { calls, entry } = await address();
  const wire = await traced(allow({ up: entry }), collector);
  const ask = (traceparent) => wire.call('call', { server: 'up', tool: 'read', args: {} }, { traceparent });
  await ask(`00-${TRACE}-${PARENT}-00`);
  assert.match(calls[0].headers.traceparent, new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
  assert.notEqual(calls[0].headers.traceparent.slice(36, 52), PARENT);
  await ask(`cc-${TRACE}-${PARENT}-ff-what-comes-then`);
  const { root } = await collector.trace('tools/call call', TRACE);
  assert.equal(root.parentSpanId, PARENT);
  assert.equal(collector.spans.length, 2);
});

test('without traces, what the client says is passed on as it is', async () => {
  const { calls, entry } = await address();
  const wire = await open(allow({ up: entry }), { env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' } });
  await wire.call('call', { server: 'up', tool: 'read', args: {} }, { traceparent: 'x', tracestate: 'a=b' });
  assert.equal(calls[0].meta.traceparent, 'x');
  assert.equal(calls[0].headers.traceparent, undefined);
});

// ---- over HTTP -----------------------------------------------------------------------

test('over HTTP a trace comes in _meta or in a header, in both eras', async () => {
  const collector = await collect();
  const path = put('front.json', plain);
  const front = await serve('--config', path, '--otlp', collector.url);
  const post = async (params, headers = {}, method = 'tools/call') => {
    const response = await fetch(front.url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers } });
    await response.text();
    assert.equal(response.status, 200);
    return response.headers;
  };
  const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'execute' };
  const session = { 'mcp-session-id': (await post({ protocolVersion: '2025-11-25', capabilities: {},
    clientInfo: { name: 't', version: '1' } }, {}, 'initialize')).get('mcp-session-id') };
  let last = 0;
  const wanted = [];
  for (const [fields, meta] of [[modern, META], [session, {}], [session, undefined], [session, { a: 1 }]]) {
    const trace = String(++last).padStart(32, '0');
    const other = String(100 + last).padStart(32, '0');
    const params = { name: 'execute', arguments: { code: '1' }, _meta: meta };
    await post(params, { ...fields, traceparent: `00-${trace}-${PARENT}-01` });
    await post({ ...params, _meta: { ...meta, traceparent: `00-${other}-${PARENT}-01` } },
      { ...fields, traceparent: `00-${trace}-${PARENT}-01` });
    wanted.push(trace, other);
  }
  for (const trace of wanted) {
    const { root } = await collector.trace('tools/call execute', trace);
    assert.equal(root.parentSpanId, PARENT);
  }
  for (const traceparent of ['forged', GIVEN.toUpperCase(), `${GIVEN}-${'0'.repeat(7000)}`, `${GIVEN}","x":"`, `${GIVEN}, ${GIVEN}`])
    await post({ name: 'execute', arguments: { code: '1' } }, { ...session, traceparent });
  await collector.until(({ spans }) => spans.filter(({ parentSpanId }) => parentSpanId === undefined).length === 5);
  assert.ok(collector.spans.every(({ traceId }) => traceId !== TRACE));
  await post({ name: 'execute', arguments: { code: '1' } }, { ...session, traceparent: `cc${GIVEN.slice(2)}-x","y":"` });
  await collector.trace('tools/call execute', TRACE);
});

test('a header that is there twice, from a client and a proxy say, begins another trace', async () => {
  const collector = await collect();
  const { calls, entry } = await address();
  const config = put('twice.json', allow({ up: entry }));
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call',
    params: { name: 'call', arguments: { server: 'up', tool: 'read', args: {} }, _meta: META } });
  const ask = async (front, traces) => {
    calls.length = 0;
    const sent = request(front.url, { method: 'POST', headers: ['host', `127.0.0.1:${front.port}`,
      'content-type', 'application/json', 'accept', 'application/json, text/event-stream', 'content-length', String(body.length),
      'mcp-protocol-version', '2026-07-28', 'mcp-method', 'tools/call', 'mcp-name', 'call',
      ...traces.flatMap((trace) => ['traceparent', trace])] });
    sent.end(body);
    const [response] = await once(sent, 'response');
    response.resume();
    await once(response, 'end');
    assert.equal(response.statusCode, 200);
    return calls[0].meta.traceparent?.slice(3, 35);
  };
  const traced = await serve('--config', config, '--otlp', collector.url);
  assert.equal(await ask(traced, [GIVEN]), TRACE);
  const other = await ask(traced, [GIVEN, GIVEN]);
  assert.ok(/^[0-9a-f]{32}$/.test(other) && other !== TRACE);
  const plain = await serve('--config', config);
  assert.equal(await ask(plain, [GIVEN]), TRACE);
  assert.equal(await ask(plain, [GIVEN, GIVEN]), undefined);
});

// ---- collectors that are away, slow or hostile ------------------------------------------

const ok = (answer) => assert.equal(answer.result.structuredContent.ok, true);

test('a collector that is away gets its spans when it is there, and calls do not wait', async () => {
  const place = createPort();
  place.listen(0, '127.0.0.1');
  await once(place, 'listening');
  const { port } = place.address();
  place.close();
  const wire = await open(plain, { args: ['--otlp', `http://127.0.0.1:${port}/`] });
  ok(await wire.call('execute', { code: '1' }));
  await until(() => /the collector of traces does not answer/.test(wire.stderr));
  ok(await wire.call('execute', { code: '2' }));
  const spans = [];
  const arrived = Promise.withResolvers();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    response.end('{}');
    spans.push(...JSON.parse(body).resourceSpans[0].scopeSpans[0].spans);
    if (spans.length >= 2) arrived.resolve();
  });
  server.listen(port, '127.0.0.1');
  after(() => { server.closeAllConnections(); server.close(); });
  await arrived.promise;
  assert.equal(spans.length, 2);
  assert.equal(wire.stderr.match(/collector/g).length, 1);
});

test('spans are sent again after a 503, and are given up after a 500 or a redirect', async () => {
  const elsewhere = await collect();
  const collector = await collect();
  const wire = await traced(plain, collector);
  const said = [];
  const say = (status, headers = {}) => {
    collector.answer = (response) => {
      collector.answer = undefined;
      said.push(status);
      response.writeHead(status, headers).end();
      return false;
    };
  };
  const bodies = () => collector.requests.map(({ body }) => /"spanId":"(\w+)"/.exec(body)[1]);
  say(503);
  await wire.call('execute', { code: '1' });
  await collector.until(({ spans }) => spans.length === 1);
  assert.equal(bodies().length, 2);
  assert.equal(bodies()[0], bodies()[1]);
  for (const [status, headers] of [[500], [307, { location: `${elsewhere.url}/v1/traces` }]]) {
    const before = collector.requests.length;
    say(status, headers);
    await wire.call('execute', { code: '1' });
    await collector.until(({ requests }) => requests.length === before + 1);
    await wire.call('execute', { code: '2' });
    await collector.until(({ requests }) => requests.length === before + 2);
    assert.equal(bodies().filter((each) => each === bodies()[before]).length, 1);
    assert.match(wire.stderr, new RegExp(`answers with HTTP status ${status}`));
  }
  assert.deepEqual(said, [503, 500, 307]);
  // The same with nothing to send when the pause of a second ends.
  const before = collector.requests.length;
  say(400);
  await wire.call('execute', { code: '1' });
  await collector.until(({ requests }) => requests.length === before + 1);
  await new Promise((resolve) => { setTimeout(resolve, 2500); });
  await wire.call('execute', { code: '2' });
  await collector.until(({ requests }) => requests.length === before + 2);
  assert.equal(elsewhere.requests.length, 0);
});

test('a collector that never answers, or never stops, delays neither a call nor the end', async () => {
  for (const answer of [
    () => true,
    (response) => {
      response.writeHead(200);
      const more = () => { while (!response.destroyed && response.write('x'.repeat(65536))); };
      response.on('drain', more);
      more();
      return true;
    },
    (response) => {
      response.writeContinue();
      return true;
    },
    (response) => {
      response.writeHead(200, Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x${i}`, 'x'.repeat(1000)])));
      response.end();
      return true;
    }]) {
    const collector = await collect(answer);
    const wire = await traced(plain, collector);
    ok(await wire.call('execute', { code: '1' }));
    await collector.until(({ requests }) => requests.length === 1);
    ok(await wire.call('execute', { code: '2' }));
    assert.equal((await wire.close()).code, 0);
  }
});

test('an endless stream of events as answer is cut off', async () => {
  const cut = Promise.withResolvers();
  const collector = await collect((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const more = () => { while (!response.destroyed && response.write('data: x\n\n'.repeat(8192))); };
    response.on('drain', more).on('close', () => cut.resolve('closed'));
    more();
    return true;
  });
  const wire = await traced(plain, collector);
  ok(await wire.call('execute', { code: '1' }));
  const began = performance.now();
  await cut.promise;
  assert.ok(performance.now() - began < 9000, 'long before the time limit of 10 seconds');
});

test('memory stays as it is while nobody takes the spans', async () => {
  const collector = await collect(() => false); // and never answers
  const wire = await traced(allow({ up: upstream('plain') }, { limits: { calls: 100000 } }), collector);
  const kib = async () => Number(/VmRSS:\s+(\d+)/.exec(await (await import('node:fs/promises'))
    .readFile(`/proc/${wire.child.pid}/status`, 'utf8'))[1]);
  const many = async (count) => {
    for (let i = 0; i < count; i++) await wire.call('call', { server: 'up', tool: 'get_item', args: {} });
  };
  await many(2500); // two spans each: more than are kept
  const before = await kib();
  await many(5000);
  const grown = await kib() - before;
  assert.ok(grown < 2000, `${grown} KiB`);
});

// ---- what code cannot do ------------------------------------------------------------------

test('ten thousand calls are a limited number of spans, and the rest is counted', async () => {
  const collector = await collect();
  const { calls, entry } = await address();
  const wire = await traced(allow({ up: { ...entry, glovebox: { callsAtOnce: 32 } } }, { limits: { calls: 20000 } }), collector);
  await wire.call('execute', { code: `
    for (let i = 0; i < 300; i++) await servers.up.read({});
    await Promise.all(Array.from({ length: 9700 }, () => servers.up.call('no such tool', {}).catch(() => {})));` });
  const { root, below } = await collector.trace('tools/call execute');
  assert.equal(root.attributes['glovebox.calls'], 10000);
  assert.equal(below.length, 256);
  assert.equal(collector.spans.length, 257);
  // A server's spans go below those that there are.
  assert.equal(calls.length, 300);
  assert.equal(calls[255].meta.traceparent.slice(36, 52), below[255].spanId);
  assert.equal(calls[256].meta.traceparent.slice(36, 52), root.spanId);
});

test('code cannot make a span, name one, or give it a code', async () => {
  const collector = await collect();
  const { calls, entry } = await address();
  const wire = await traced(allow({ up: entry }), collector);
  await wire.call('execute', { code: `
    const traceparent = '${GIVEN}';
    await servers.up.read({ _meta: { traceparent }, traceparent });
    await servers.up.read({}, { _meta: { traceparent } }).catch(() => {});
    for (const args of [['call', 'up', 'markerT', {}, { line: 1, traceparent }], ['trace', traceparent], ['call', 'markerS', 'read', {}],
      ['call', 'up', 'read', {}, { _meta: { traceparent } }], ['fault', 'MARKER', 'markerM']])
      await codemode(...args).catch(() => {});
    const error = new Error('markerM');
    throw Object.assign(error, { name: 'ToolError', code: 'MARKER' });` });
  const { root, below } = await collector.trace('tools/call execute');
  assert.deepEqual(below.map(({ name }) => name), ['tools/call read', 'tools/call', 'tools/call read']);
  assert.notEqual(root.traceId, TRACE);
  assert.equal(root.attributes['glovebox.code'], 'RUNTIME');
  for (const { meta, headers } of calls) {
    assert.equal(meta.traceparent.slice(3, 35), root.traceId);
    assert.equal(headers.traceparent, meta.traceparent);
  }
  assert.doesNotMatch(collector.requests.map(({ body }) => body).join(), /marker|MARKER|0af7651916cd/);
});

test("a server's names are escaped and cut in spans", async () => {
  const collector = await collect();
  const name = `${'"},{"\u2028\\'.repeat(12)}${'é'.repeat(60)}`;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const message = body === '' ? undefined : JSON.parse(body);
    if (!greet(request, response, message, { tools: [{ name, inputSchema: { type: 'object' } }] })) json(response, 200, done(message.id));
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  after(() => { server.closeAllConnections(); server.close(); });
  const wire = await traced(allow({ up: { type: 'http', url: `http://127.0.0.1:${server.address().port}/mcp` } }), collector);
  await wire.call('call', { server: 'up', tool: name, args: {} });
  const { below: [span] } = await collector.trace('tools/call call');
  const seen = span.attributes['gen_ai.tool.name'];
  assert.ok(name.startsWith(seen) && Buffer.byteLength(seen) <= 128 && Buffer.byteLength(seen) > 124, seen);
  assert.equal(span.name, `tools/call ${seen}`);
});

// ---- how it is switched on -----------------------------------------------------------------

test('the usual variables have headers and the name of the service', async () => {
  const collector = await collect();
  const env = { OTEL_SERVICE_NAME: 'mine',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b, x-other = c,x-none=,x-last=d=e' };
  const wire = await open(plain, { args: ['--otlp', `${collector.url}/base/`], env });
  await wire.call('execute', { code: '1' });
  await collector.until(({ spans }) => spans.length === 1);
  const [{ path, headers, resource }] = collector.requests;
  assert.equal(path, '/base/v1/traces');
  assert.equal(resource['service.name'], 'mine');
  assert.deepEqual(['x-key', 'x-other', 'x-none', 'x-last'].map((name) => headers[name]), ['a b', 'c', '', 'd=e']);
  const given = await open(plain, { args: ['--otlp', `${collector.url}/v1/traces`], env });
  await given.call('execute', { code: '1' });
  await collector.until(({ requests }) => requests.some((each) => each.path === '/v1/traces'));
});

test('what cannot be a collector is refused at the start', async () => {
  const path = put('refused.json', plain);
  const start = (under, ...args) => refused({ under }, '--http', '0', '--config', path, ...args);
  assert.match(await start([], '--otlp', 'collector:4318'), /^64 .*'--otlp' is a URL of http or https/s);
  for (const pair of ['OTEL_EXPORTER_OTLP_HEADERS=x', 'OTEL_EXPORTER_OTLP_HEADERS=a b=c', 'OTEL_EXPORTER_OTLP_HEADERS=x=a%0d%0ab: c',
    'OTEL_EXPORTER_OTLP_HEADERS=x=a%00b'])
    assert.match(await start(['env', pair], '--otlp', 'http://127.0.0.1:9'), /OTEL_EXPORTER_OTLP_HEADERS is a list of NAME=VALUE/, pair);
  assert.match(await start([], '--otlp', 'ftp://x'), /^64 .*'--otlp' is a URL of http or https/s);
});

// SPDX-License-Identifier: MIT
// Upstream servers at an address, of the legacy era: what was done is not done again, and
// what was not is, whatever becomes of connections and sessions.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { allow, open } from './box.mjs';

const TOOLS = [{ name: 'write', inputSchema: { type: 'object' } },
  { name: 'read', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }];

let sessions = 0;
let oldest = 0; // sessions before it are forgotten
const calls = []; // that came, and were not refused
const connections = new Set();
let meet = null; // called with each call before it is answered
const server = createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  const reply = (status, message, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(message && JSON.stringify({ jsonrpc: '2.0', ...message }));
  };
  if (request.method !== 'POST') return reply(request.method === 'GET' ? 405 : 200);
  const { id, method, params } = JSON.parse(body);
  if (method === 'server/discover') return reply(200, { id, error: { code: -32601, message: 'no' } });
  if (method === 'initialize')
    return reply(200, { id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} },
      serverInfo: { name: 'remote', version: '1' } } }, { 'mcp-session-id': `${sessions++}` });
  if (id === undefined) return reply(202);
  if (method === 'tools/list') return reply(200, { id, result: { tools: TOOLS } });
  const session = Number(request.headers['mcp-session-id']);
  connections.add(request.socket);
  const isForgotten = session < oldest;
  if (!isForgotten) calls.push({ session, ...params.arguments });
  await meet?.(isForgotten, params.arguments);
  if (isForgotten) return reply(404);
  if (params.arguments.breaks) return request.socket.destroy();
  return reply(200, { id, result: { content: [{ type: 'text', text: `done ${params.arguments.n}` }] } });
});

await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
after(() => {
  server.closeAllConnections();
  server.close();
});
const wire = await open(allow({ up: { type: 'http', url: `http://127.0.0.1:${server.address().port}/mcp` } }));

const call = async (tool, args) =>
  (await wire.call('call', { server: 'up', tool, args })).result.content[0].text;

test('calls one after the other share a connection', async () => {
  connections.clear();
  for (let n = 0; n < 5; n++) assert.equal(await call('write', { n }), `done ${n}`);
  assert.equal(connections.size, 1);
});

test('a call whose connection breaks is made once more only if that does no harm', async () => {
  assert.equal(await call('write', { n: 'first' }), 'done first');
  calls.length = 0;
  assert.match(await call('write', { breaks: true }),
    /^UPSTREAM_EXIT: the connection broke: it ended without an answer/);
  assert.equal(calls.length, 1);
  assert.equal(await call('read', { n: 'between' }), 'done between');
  calls.length = 0;
  assert.match(await call('read', { breaks: true }), /^UPSTREAM_EXIT/);
  assert.equal(calls.length, 2);
});

test('calls of a session that was forgotten are made once, in another', async () => {
  const arrived = Promise.withResolvers();
  let count = 0;
  oldest = sessions;
  calls.length = 0;
  meet = (isForgotten) => {
    if (isForgotten && ++count === 5) arrived.resolve();
    return isForgotten ? arrived.promise : undefined;
  };
  const results = await Promise.all([0, 1, 2, 3, 4].map((n) => call('write', { n })));
  assert.deepEqual(results, [0, 1, 2, 3, 4].map((n) => `done ${n}`));
  assert.deepEqual(calls.map((each) => each.n).sort(), [0, 1, 2, 3, 4]);
});

test('a call that a session was forgotten over is answered all the same', async () => {
  const arrived = Promise.withResolvers();
  const answered = Promise.withResolvers();
  calls.length = 0;
  meet = (isForgotten, { n }) => {
    if (n === 'long') arrived.resolve();
    return n === 'long' ? answered.promise : undefined;
  };
  const long = call('write', { n: 'long' });
  await arrived.promise;
  oldest = sessions;
  assert.equal(await call('write', { n: 'other' }), 'done other');
  answered.resolve();
  assert.equal(await long, 'done long');
  assert.deepEqual(calls.map((each) => each.n), ['long', 'other']);
  assert.notEqual(calls[0].session, calls[1].session);
});

// SPDX-License-Identifier: MIT
// What servers at an address do that the specification does not expect of them: answers in
// other clothes, statuses, restarts; and what is left of a session in the end.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { killAll } from './wire.mjs';
import { done, json, meet, raw, sleep } from './web.mjs';

after(killAll);

const isCall = (message) => message?.method === 'tools/call';
const text = (message) => JSON.stringify({ jsonrpc: '2.0', ...done(message.id) });

test('a mark of UTF-8 before an answer, or before a stream of events, is no part of it', async (t) => {
  const { call } = await meet(t, (request, response, message) => {
    if (!isCall(message)) return false;
    const { kind } = message.params.arguments;
    if (kind === 'json') raw(response, 'application/json', `\uFEFF${text(message)}`);
    else raw(response, 'text/event-stream', `\uFEFFdata: ${text(message)}\n\n`);
    return true;
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
    const { call } = await meet(t, (request, response, message) => {
      if (!isCall(message) || request.headers['mcp-session-id'] === session) return false;
      json(response, 400, { id: null, error: { code: -32000, message: 'no session' } });
      return true;
    }, { session: () => session });
    assert.match(await call(), expected);
  }
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

// SPDX-License-Identifier: MIT
// Servers that close the stream of a call before they have answered it, and give the answer
// to who asks for what came after the last event: 2025-11-25 calls that polling.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { done, json, meet, sleep } from './web.mjs';

const events = (response, text, end = true) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(text);
  if (end) response.end();
};
const answer = (id, text) => `id: last\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...done(id, text) })}\n\n`;
const PRIMING = 'id: one\nretry: 600\ndata: \n\n';

/** A server that answers a call with `first`, and then the nth request for the rest by rest[n]. */
async function poll(t, first, rest, options) {
  const asked = []; // [Last-Event-ID, milliseconds after the stream's end]
  let id;
  let ended;
  const met = await meet(t, (request, response, message) => {
    if (message?.method === 'tools/call') {
      id = message.id;
      first(response, id);
      response.on('close', () => { ended = performance.now(); });
      return true;
    }
    const from = request.headers['last-event-id'];
    if (request.method !== 'GET' || from === undefined) return false;
    assert.equal(request.headers['mcp-session-id'], 's1');
    asked.push([from, performance.now() - ended]);
    (rest[asked.length - 1] ?? rest.at(-1))(response, id);
    response.on('close', () => { ended = performance.now(); });
    return true;
  }, options);
  return { ...met, asked, ids: () => asked.map(([from]) => from) };
}

test('a call whose stream is closed before its answer gets it from there on, after the time that the server says', async (t) => {
  const { call, asked, count } = await poll(t, (r) => events(r, PRIMING), [(r, id) => events(r, answer(id, 'late'))]);

  assert.equal(await call(), 'late');
  assert.equal(asked.length, 1);
  assert.equal(asked[0][0], 'one');
  assert.ok(asked[0][1] > 550, `${asked[0][1]} ms`);
  assert.equal(count('POST tools/call'), 1);
});

test('it is asked for as often as the stream ends, and from the last whole event on', async (t) => {
  const { call, ids, count } = await poll(t,
    (r) => { events(r, `${PRIMING}id: two\ndata: {"half`, false); setTimeout(() => r.destroy(), 50); },
    [(r) => events(r, ': nothing yet\n\n'), (r) => events(r, 'id: three\n\nid: four\n'),
      (r, id) => events(r, answer(id, 'at last'))]);

  assert.equal(await call(), 'at last');
  assert.deepEqual(ids(), ['one', 'one', 'three']);
  assert.equal(count('POST tools/call'), 1);
});

for (const [how, refuse] of [
  ['405', (r) => json(r, 405)], ['404', (r) => json(r, 404)], ['JSON', (r, id) => json(r, 200, done(id))],
  ['the end of the connection', (r) => r.destroy()],
])
  test(`where the rest is refused by ${how} the call has failed, and is not made again`, async (t) => {
    const { call, ids, count } = await poll(t, (r) => events(r, PRIMING), [refuse]);

    assert.match(await call(), /^UPSTREAM_EXIT: the stream ended before the answer, and the rest of it is not to be had: /);
    assert.ok(ids().every((id) => id === 'one'));
    assert.equal(count('POST tools/call'), 1);
  });

test('a stream without ids, or that takes its id back, is not asked for', async (t) => {
  for (const text of ['data: \n\n', `${PRIMING}id:\ndata: \n\n`]) {
    const { call, asked } = await poll(t, (r) => events(r, text), [(r, id) => events(r, answer(id))]);
    assert.match(await call(), /^UPSTREAM_EXIT: the stream ended before the answer/);
    assert.deepEqual(asked, []);
  }
});

test('nobody asks for the rest of a call that has taken too long', async (t) => {
  const { call, asked } = await poll(t, (r) => events(r, PRIMING), [(r) => events(r, ': not yet\n\n')],
    { own: { timeoutMs: 1000 } });

  assert.match(await call(), /^UPSTREAM_TIMEOUT: /);
  const { length } = asked;
  assert.ok(length > 0);
  await sleep(1500);
  assert.equal(asked.length, length);
});

test('nobody asks for the rest of a call that was answered on another stream', async (t) => {
  let other;
  let asked = 0;
  const { call } = await meet(t, (request, response, message) => {
    if (request.method === 'GET') {
      asked += request.headers['last-event-id'] !== undefined;
      events(response, ': open\n\n', false);
      other ??= response;
      return true;
    }
    if (message?.method !== 'tools/call') return false;
    other.write(answer(message.id, 'elsewhere'));
    setTimeout(() => events(response, PRIMING), 100);
    return true;
  });

  assert.equal(await call(), 'elsewhere');
  await sleep(1500);
  assert.equal(asked, 0);
});

// SPDX-License-Identifier: MIT
// Upstream servers at an address, of the legacy era: what was done is not done again, and
// what was not is, whatever becomes of connections and sessions.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { done, json, meetCalls } from './web.mjs';

let sessions = 0;
let oldest = 0; // sessions before it are forgotten
const calls = []; // that came, and were not refused
const connections = new Set();
let hold; // called with each call before it is answered
const { call } = await meetCalls({ after }, async (response, { id, params }, request) => {
  const session = Number(request.headers['mcp-session-id']);
  connections.add(request.socket);
  const isForgotten = session < oldest;
  if (!isForgotten) calls.push({ session, ...params.arguments });
  await hold?.(isForgotten, params.arguments);
  if (isForgotten) json(response, 404);
  else if (params.arguments.breaks) request.socket.destroy();
  else json(response, 200, done(id, `done ${params.arguments.n}`));
}, { session: () => `${sessions++}` });

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
  hold = (isForgotten) => {
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
  hold = (isForgotten, { n }) => {
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

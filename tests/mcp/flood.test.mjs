// SPDX-License-Identifier: MIT
// Servers that say more than anybody can listen to, or do not take what they are told: what
// they cost is theirs alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { within } from './processes.mjs';
import { done, meet, sleep } from './web.mjs';

const isCall = ({ url }, message) => url === '/mcp' && message?.method === 'tools/call';
const isReply = (message) => message?.method === undefined && message?.id !== undefined;
const text = (message) => JSON.stringify({ jsonrpc: '2.0', ...done(message.id) });
const ping = (id) => `data: {"jsonrpc":"2.0","id":${id},"method":"ping"}\n\n`;

/** A stream of events of so many times this, and then the answer. */
async function flood(response, message, times, chunk) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let i = 0; i < times && !response.destroyed; i++) {
    if (!response.write(chunk)) await new Promise((resolve) => { response.once('drain', resolve); });
  }
  response.end(`data: ${text(message)}\n\n`);
}

test('replies that a server does not take are few at once, and hold up no other server', async (t) => {
  let hanging = 0;
  const { call, wire } = await meet(t, async (request, response, message) => {
    hanging += isReply(message);
    if (isReply(message)) return true;
    if (!isCall(request, message)) return false;
    await flood(response, message, 300, ping(1));
    return true;
  });

  assert.equal(await call('write', {}, 'other'), 'done');
  assert.equal(await call(), 'done');
  assert.deepEqual(await Promise.all([1, 2].map(() => call('write', {}, 'other'))), ['done', 'done']);
  assert.ok(hanging > 0 && hanging <= 4, `${hanging} replies`);
  const said = wire.stderr.match(/too many are dropped/g);
  assert.equal(said?.length, 1, wire.stderr);
});

test('replies that were not taken within seconds make room for others', async (t) => {
  const seen = [];
  const { call } = await meet(t, async (request, response, message) => {
    if (isReply(message)) seen.push(message.id);
    if (isReply(message)) return true;
    if (!isCall(request, message)) return false;
    await flood(response, message, 1, [1, 2, 3, 4, 5, 6].map(ping).join(''));
    return true;
  });

  assert.equal(await call(), 'done');
  for (let i = 0; i < 600 && seen.length < 6; i++) await sleep(100);
  assert.deepEqual(seen.toSorted(), [1, 2, 3, 4, 5, 6]);
});

test('notices of cancelled calls that a server does not take hold up no other server', async (t) => {
  let hanging = 0;
  const { call, wire } = await meet(t, (request, response, message) => {
    hanging += message?.method === 'notifications/cancelled';
    return message?.method === 'notifications/cancelled' || isCall(request, message);
  });

  const { result } = await wire.call('execute', { code: `
    for (let i = 0; i < 40; i++)
      await Promise.allSettled(Array.from({ length: 8 }, () =>
        servers.up.call('write', {}, { timeoutMs: 20 })));
    return 'over';` });
  assert.match(result.content[0].text, /over/);
  assert.ok(hanging > 0 && hanging <= 8, `${hanging} notices`);
  assert.equal(await call('write', {}, 'other'), 'done');
});

for (const [what, chunk] of [['requests', ping(1).repeat(1000)], ['comments', ': \n\n'.repeat(50000)]])
  for (const [how, end] of [['the end of input', (wire) => wire.close()],
    ['SIGTERM', (wire) => { wire.child.kill('SIGTERM'); return wire.exited; }]])
    test(`an endless stream of ${what} delays neither answers to others nor ${how}`, async (t) => {
      await within(3000, async () => {
        const { call, wire } = await meet(t, async (request, response, message) => {
          if (isReply(message)) response.writeHead(202).end();
          if (!isCall(request, message)) return isReply(message);
          await flood(response, message, 1e9, chunk);
          return true;
        });

        assert.equal(await call('write', {}, 'other'), 'done');
        const endless = call().catch(() => 'nothing');
        await sleep(500);
        await within(1000, async () => {
          const before = performance.now();
          await wire.ask('ping');
          return performance.now() - before;
        });
        const asked = performance.now();
        const { at } = await end(wire);
        assert.equal(await endless, 'nothing');
        return at - asked;
      });
    });

// SPDX-License-Identifier: MIT
// held: what is slow to start delays the lists of what there is, for five seconds at most, and
// nobody who does not use it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allow, open, put, upstream } from './box.mjs';

const silent = { command: 'sleep', args: ['60'], glovebox: { eager: true } };
const plain = { ...upstream('plain'), glovebox: { eager: true } };

/** Those are answered while the lists, and what waits as they do, are not yet; then these are. */
async function expectLists(wire, those, late = []) {
  const start = performance.now();
  const lists = ['tools/list', 'prompts/list', 'resources/list'].map((method) => wire.ask(method));
  let answered = 0;
  for (const each of [...lists, ...late]) each.then(() => { answered++; });
  for (const { error, result } of await Promise.all(those)) {
    assert.equal(error, undefined);
    assert.notEqual(result.isError, true, JSON.stringify(result));
  }
  // A machine that takes as long as the lists are held says nothing of who was first.
  if (performance.now() - start < 4000) assert.equal(answered, 0);
  await Promise.all([...lists, ...late]);
  const ms = performance.now() - start;
  assert.ok(ms > 3000 && (ms < 20000 || process.env.SANITIZED), `${ms} ms`);
}

test('an eager server that does not start delays the lists alone', async () => {
  const wire = await open(allow({ silent, plain }));
  await expectLists(wire, [
    wire.call('execute', { code: 'return (await servers.plain.list_items()).items.length' }),
    wire.call('call', { server: 'plain', tool: 'list_items' }),
    wire.call('provision', { server: 'plain' }),
    wire.call('discover', { server: 'plain' }),
  ]);
  await wire.close();
});

test('a query that runs on delays the lists, and what is told of its own data', async () => {
  const endless = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) AS n FROM c';
  const orders = put('orders.json', '[1,2,3]');
  const wire = await open(allow({ plain }), { args: ['--data', `slow=sqlite:${put('empty.db', '')}?query=${endless}`,
    '--data', `orders=${orders}`] });
  const [slow, quick] = ['slow', 'orders'].map((name) =>
    wire.ask('resources/read', { uri: `glovebox://dataset/${name}` }));
  await expectLists(wire, [
    quick,
    wire.call('execute', { code: 'return 1' }),
    wire.call('call', { server: 'plain', tool: 'list_items' }),
    wire.call('discover', {}),
  ], [slow]);
  const told = async () => {
    const { result } = await wire.ask('resources/read', { uri: 'glovebox://dataset/orders' });
    return JSON.parse(result.contents[0].text).type ?? told();
  };
  assert.equal(await told(), 'integer[]');
  await wire.close();
});

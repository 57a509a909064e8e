// SPDX-License-Identifier: MIT
// longcode: code that takes long to be read holds up nobody, and not the end. What is
// counted is processor time of the loop's thread, and the order of answers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { busyOne, isAlive, until } from './processes.mjs';
import { open, put } from './box.mjs';

const config = put('empty.json', { mcpServers: {} });
const orders = put('orders.csv', 'id,total\n1,2\n3,4\n');

const SLOW = `f${'<'.repeat(25000)}${'>'.repeat(25000)}`;
const LINE = '  const x = [1, 2, 3].filter((n) => n > 1).map((n) => ({ id: n, total: n }));\n';
const HONEST = `{\n${LINE}}\n`.repeat(600);

const servers = {
  execute: ['--config', config],
  compute: ['--data', `orders=${orders}`],
};

async function start(tool) {
  const wire = await open(undefined, { args: servers[tool] });
  await wire.call(tool, { code: '1' });
  return wire;
}

const serving = {};

/** The server of all tests that do not end it. */
const serve = (tool) => (serving[tool] ??= start(tool));

const begin = (wire, tool, id, code) =>
  wire.say({ id, method: 'tools/call', params: { name: tool, arguments: { code } } });

/** Milliseconds of processor that the thread of the loop has had. */
const loopMs = ({ child: { pid } }) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

for (const tool of Object.keys(servers)) {
  test(`a ping beside four calls of ${tool} with code that is slow to read is answered first`, async () => {
    const wire = await serve(tool);
    for (let i = 0; i < 4; i++) begin(wire, tool, `slow${i}`, `${SLOW}//${i}`);
    await wire.ask('ping', {}, 'ping');
    assert.deepEqual(wire.told.filter((m) => String(m.id).startsWith('slow')), []);
    for (let i = 0; i < 4; i++) {
      const { result } = await wire.hear((m) => m.id === `slow${i}`);
      assert.equal(result.isError, true);
    }
  });

  test(`the loop does not read the long code of ${tool}, be it good or bad`, async () => {
    const wire = await serve(tool);
    const before = loopMs(wire);
    for (let i = 0; i < 2; i++) {
      const slow = await wire.call(tool, { code: `${SLOW}//${i}` });
      assert.equal(slow.result.structuredContent.code ?? slow.result.structuredContent.error.code, 'SYNTAX');
      const good = await wire.call(tool, { code: `${HONEST}${i}` });
      assert.equal(good.result.structuredContent.result ?? good.result.structuredContent.value, i);
      const failing = await wire.call(tool, { code: `${HONEST}null.x${i}` });
      assert.equal(failing.result.isError, true);
    }
    assert.ok(loopMs(wire) - before < 75, `${loopMs(wire) - before} ms`);
  });

  // A sanitizer makes reading fifty times slower: then there is no time for hints.
  test(`the error of long code of ${tool} has its place and its hint`, { skip: !!process.env.SANITIZED }, async () => {
    const wire = await serve(tool);
    const hint = async (lines) => {
      const { result } = await wire.call(tool, { code: `${lines}const list = null;\nlist.map((x) => x);` });
      assert.match(result.content[0].text, lines === '' ? /line 2/ : /line 1802/);
      return /hint: (.*)/.exec(result.content[0].text)?.[1];
    };
    let long; // on a machine that is busy, a second may be over before it is found
    for (let tries = 0; long === undefined && tries < 20; tries++) long = await hint(HONEST);
    assert.equal(typeof long, 'string');
    assert.equal(long, await hint(''));
  });

  for (const [how, end] of [
    ['end of input', (wire) => wire.child.stdin.end()],
    ['SIGTERM', (wire) => wire.child.kill('SIGTERM')],
  ]) {
    test(`${how} ends a server that has 32 such calls of ${tool}, and no time goes into them`, async () => {
      const wire = await start(tool);
      for (let i = 0; i < 32; i++) begin(wire, tool, i + 100, `${SLOW}//${i}`);
      const started = performance.now();
      end(wire);
      const { code, at } = await wire.exited;
      assert.equal(code, 0);
      assert.ok(at - started < (process.env.SANITIZED ? 5000 : 3000), `${at - started} ms`); // else 16 s
    });
  }
}

test('a call that waits behind slow code is cancelled without waiting, and others are not', async () => {
  const wire = await serve('execute');
  for (let i = 0; i < 4; i++) begin(wire, 'execute', `ahead${i}`, `${SLOW}//${i}`);
  begin(wire, 'execute', 'gone', `${HONEST}1`);
  begin(wire, 'execute', 'stays', `${HONEST}2`);
  wire.say({ method: 'notifications/cancelled', params: { requestId: 'gone' } });
  const { result } = await wire.hear((m) => m.id === 'stays');
  assert.equal(result.structuredContent.result, 2);
  assert.deepEqual(wire.told.filter((m) => m.id === 'gone'), []);
});

test('a call that spins is cancelled in front of such calls, and its process ends', async () => {
  const wire = await serve('execute');
  begin(wire, 'execute', 'spin', 'for (;;);');
  const spinning = await busyOne(wire.child.pid);
  for (let i = 0; i < 8; i++) begin(wire, 'execute', `slow${i}`, `${SLOW}//${i}`);
  wire.say({ method: 'notifications/cancelled', params: { requestId: 'spin' } });
  await until(() => !isAlive(spinning));
  assert.deepEqual(wire.told.filter((m) => String(m.id).startsWith('slow')), []);
});

test('code over the limit of compute is refused before it is read', async () => {
  const wire = await serve('compute');
  const before = loopMs(wire);
  for (let i = 0; i < 4; i++) {
    const { result } = await wire.call('compute', { code: `${'1+'.repeat(500000)}${i}` });
    assert.match(result.content[0].text, /^INVALID_CODE: the code is 1000001 bytes, and 51200 are the limit\n/);
    assert.equal(result.structuredContent.location, undefined);
  }
  assert.ok(loopMs(wire) - before < 150, `${loopMs(wire) - before} ms`);
});


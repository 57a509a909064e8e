// SPDX-License-Identifier: MIT
// What a reply says of calls that code did not wait for, or that got no answer: a model that
// is told less than what happened pays twice, or goes without.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { allow, open, upstream } from './box.mjs';

const plain = upstream('plain');
const DOUBT = 'it may have taken effect: look before you repeat it';
const wire = await open(allow({ up: plain, cold: plain, slow: { ...plain, glovebox: { timeoutMs: 300 } },
  patient: { ...plain, glovebox: { timeoutMs: 2000 } } }, { limits: { callsAtOnce: 5 } }));
await execute('await servers.up.wait({ ms: 0 }); await servers.slow.wait({ ms: 0 })');

async function execute(code, more = {}) {
  const { result } = await wire.call('execute', { code, ...more });
  return { ...result, text: result.content[0].text, ...result.structuredContent };
}

// The box has heard of the first answer after all calls before it were sent.
const SENT = 'await servers.up.wait({ ms: 0 });';

test('calls that nobody awaits are waited for once they were sent, and told as they end', async () => {
  const { isError, result, text, calls } = await execute(
    `servers.up.change({ ms: 200 });\nservers.up.change({ ms: 200 });\n${SENT} return 5`);
  assert.deepEqual([isError ?? false, result], [false, 5]);
  assert.match(text, /^2 calls were not awaited, and have ended all the same: up\.change \(line 1\), up\.change \(line 2\)$/m);
  assert.deepEqual(calls.map((each) => each.ok), [true, true, true]);
  assert.doesNotMatch(text, /failed|cancelled/);
  const failed = await execute(
    `servers.up.change({ fails: true, ms: 200 }).catch(() => {}); ${SENT} return 5`);
  assert.match(failed.text, /^1 call was not awaited, and has failed: up\.change \(line 1\): TOOL_ERROR: no such record$/m);
});

test('what the server never had is said to be not sent', async () => {
  const { isError, result, text, calls } = await execute(
    'servers.cold.change(); servers.cold.change(); return 5');
  assert.deepEqual([isError ?? false, result], [false, 5]);
  assert.match(text, /^2 calls were not awaited, and were not sent: cold\.change \(line 1\), cold\.change/m);
  assert.match(text, /\(2 calls, 2 not sent; /);
  assert.deepEqual(calls.map((each) => each.code), ['NOT_SENT', 'NOT_SENT']);
  assert.equal((await execute('return await servers.cold.change()')).result, 'changed 1');
});

test('one that the time limit cuts off may have taken effect, which is an error beside the value', async () => {
  const { isError, ok, result, text, calls, error } = await execute(
    `servers.up.change({ ms: 60000 }); ${SENT} return 5`, { timeout_ms: 1500 });
  assert.deepEqual([isError, ok, result, error.code], [true, false, 5, 'CANCELLED']);
  assert.equal(error.message,
    `1 call was not awaited, and has no known outcome: up.change (line 1); ${DOUBT}`);
  assert.match(text, /^CANCELLED: 1 call was not awaited.*\n5\n\(2 calls, 1 with no known outcome; /ms);
  assert.deepEqual([calls[0].ok, calls[0].code, calls[0].outcome], [null, 'CANCELLED', DOUBT]);
});

test('one of a tool that only reads is cancelled without harm', async () => {
  const { isError, result, text } = await execute(
    `servers.up.wait({ ms: 60000 }); ${SENT} return 5`, { timeout_ms: 1500 });
  assert.deepEqual([isError ?? false, result], [false, 5]);
  assert.match(text, /^1 call was not awaited, and was cancelled: up\.wait \(line 1\)$/m);
  assert.match(text, /\(2 calls, 1 cancelled; /);
});

test('a throw beside a running call tells how that has ended', async () => {
  const { isError, text, error, calls } = await execute(
    `await Promise.all([servers.up.change({ ms: 300 }), (async () => { ${SENT} throw new Error('no') })()])`);
  assert.deepEqual([isError, error.message], [true, 'no']);
  assert.match(text, /^1 call was open when the code ended, and has ended all the same: up\.change \(line 1\)$/m);
  assert.deepEqual(calls.map((each) => each.ok), [true, true]);
  const cut = await execute(
    `await Promise.all([servers.up.change({ ms: 60000 }), (async () => { ${SENT} throw new Error('no') })()])`,
    { timeout_ms: 1500 });
  assert.match(cut.text, new RegExp(`^1 call was open when the code ended, and has no known outcome: up\\.change \\(line 1\\); ${DOUBT}$`, 'm'));
});

test('a run that is late tells what may have taken effect', async () => {
  const { text, error } = await execute('await servers.up.change({ ms: 60000 })', { timeout_ms: 500 });
  assert.equal(error.code, 'TIMEOUT');
  assert.match(text, new RegExp(`has no known outcome: up\\.change \\(line 1\\); ${DOUBT}$`, 'm'));
});

test('a timeout and the end of a server have the same words, in code and in the tool call', async () => {
  for (const [server, args, said] of [
    ['slow', { ms: 60000 }, 'UPSTREAM_TIMEOUT: no answer after 300 ms'],
    ['up', { exits: true }, 'UPSTREAM_EXIT: it ended with status 7']]) {
    const thrown = await execute(`await servers.${server}.change(${JSON.stringify(args)})`);
    assert.ok(thrown.error.message.endsWith(`; ${DOUBT}`), thrown.text);
    assert.match(thrown.text, /\(1 call, 1 with no known outcome; /);
    const caught = await execute(
      `try { await servers.${server}.change(${JSON.stringify(args)}) } catch (e) { return [e.retryable, e.message] }`);
    assert.equal(caught.isError ?? false, false);
    assert.equal(caught.result[0], false);
    assert.ok(caught.result[1].endsWith(`; ${DOUBT}`), caught.text);
    assert.ok(caught.text.includes(`\n1 call has no known outcome: ${server}.change (line 1); ${DOUBT}\n`), caught.text);
    const { result } = await wire.call('call', { server, tool: 'change', args });
    assert.ok(result.content[0].text.startsWith(said) && result.content[0].text.endsWith(`; ${DOUBT}`), result.content[0].text);
  }
  const read = await execute('await servers.slow.wait({ ms: 60000 })');
  assert.equal(read.error.message, "no answer after 300 ms (timeoutMs of the server's configuration; code gives a call more by opts.timeoutMs)");
});

test('progress of a tool extends the time of its call, but not for ever, and not what code has set', async () => {
  assert.equal((await execute('return await servers.patient.wait({ steps: 6, ms: 500 })')).result, 'waited');
  const endless = await execute('await servers.slow.wait({ steps: 1000, ms: 20 })');
  assert.equal(endless.error.code, 'UPSTREAM_TIMEOUT');
  const own = await execute("await servers.patient.call('wait', { steps: 1000, ms: 20 }, { timeoutMs: 400 })");
  assert.equal(own.error.message, 'no answer after 400 ms (opts.timeoutMs)');
});

// SPDX-License-Identifier: MIT
// Lists of tools: of how many pages they are, and when they are read again.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from './processes.mjs';
import { json, meet, sleep } from './web.mjs';

const event = (response, message) =>
  response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);

/** A server of 2026-07-28 with the tools that `tools` has at the time; listen(response, id) is
 * asked for the stream of its changes. */
function meetModern(t, { tools, listen, ttlMs, delay = 0 }) {
  return meet(t, async (request, response, message) => {
    const { id, method } = message;
    const complete = (result) => json(response, 200, { id, result: { resultType: 'complete', ...result } });
    if (method === 'server/discover')
      complete({ supportedVersions: ['2026-07-28'], capabilities: { tools: { listChanged: true } } });
    else if (method === 'tools/list')
      complete({ ttlMs, tools: tools.map((name) => ({ name, inputSchema: { type: 'object' } })) });
    else if (method === 'tools/call') complete({ content: [{ type: 'text', text: message.params.name }] });
    else if (method === 'subscriptions/listen') {
      await sleep(delay);
      listen(response, id);
    } else json(response, 202);
    return true;
  });
}

const acknowledge = (response, id) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  event(response, { method: 'notifications/subscriptions/acknowledged',
    params: { _meta: { 'io.modelcontextprotocol/subscriptionId': id }, notifications: { toolsListChanged: true } } });
};
const refuse = (response, id) => json(response, 404, { id, error: { code: -32601, message: 'no' } });

describe('changes', { concurrency: true }, () => {
  test('a tool that comes after the first list and before changes are told is there', async (t) => {
    const tools = ['first'];
    const { call, count } = await meetModern(t, { tools, delay: 300, listen: (response, id) => {
      tools.push('second');
      acknowledge(response, id);
    } });

    assert.equal(await call('first'), 'first');
    await until(() => count('POST tools/list') === 2);
    await sleep(100);
    assert.equal(await call('second'), 'second');
  });

  test('a tool that comes while nobody tells it is there once changes are told again', async (t) => {
    const tools = ['first'];
    const streams = [];
    const { call, count } = await meetModern(t, { tools, listen: (response, id) => {
      acknowledge(response, id);
      streams.push(response);
    } });

    assert.equal(await call('first'), 'first');
    await until(() => count('POST tools/list') === 2);
    tools.push('second');
    streams[0].destroy();
    await until(() => count('POST tools/list') === 3);
    await sleep(100);
    assert.equal(streams.length, 2);
    assert.equal(await call('second'), 'second');
  });

  test('a list holds as long as it says, while nobody tells its changes', async (t) => {
    const tools = ['first'];
    const { call, count } = await meetModern(t, { tools, ttlMs: 300, listen: refuse });

    assert.equal(await call('first'), 'first');
    tools.push('second');
    await sleep(400);
    assert.equal(await call('second'), 'second');
    await sleep(6000);
    assert.equal(count('POST subscriptions/listen'), 1); // it knows no such request
  });

  for (const [time, ttlMs] of [['none', 0], ['what is no time', 'long'], ['nothing', undefined]])
    test(`a list that says ${time} of how long it holds is read again for who goes by it`, async (t) => {
      const tools = ['first'];
      const { wire, call, count } = await meetModern(t, { tools, ttlMs, listen: refuse });

      assert.equal(await call('first'), 'first');
      assert.equal(count('POST tools/list'), 1);
      tools.push('second', 'third');
      await sleep(300);
      assert.match((await wire.call('discover', { server: 'up', detail: 'names' })).result.content[0].text, /second/);
      tools.push('fourth');
      await sleep(300);
      assert.equal(await call('fourth'), 'fourth');
    });

  test('a list holds while its changes are told, whatever it says', async (t) => {
    const { call, count } = await meetModern(t, { tools: ['first'], ttlMs: 300, listen: acknowledge });

    assert.equal(await call('first'), 'first');
    await until(() => count('POST tools/list') === 2);
    await sleep(500);
    assert.match(await call('second'), /^NOT_FOUND/);
    assert.equal(count('POST tools/list'), 2);
  });

  test('a change that is told while the first list is read is read, too', async (t) => {
    const tools = ['first'];
    let lists = 0;
    let stream;
    const { call } = await meet(t, async (request, response, message) => {
      if (request.method === 'GET') {
        stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
        stream.flushHeaders();
        return true;
      }
      if (message?.method !== 'tools/list') return false;
      const told = tools.map((name) => ({ name, inputSchema: { type: 'object' } }));
      if (++lists === 1) {
        tools.push('second');
        await until(() => stream !== undefined);
        event(stream, { method: 'notifications/tools/list_changed' });
        await sleep(200);
      }
      json(response, 200, { id: message.id, result: { tools: told } });
      return true;
    });

    assert.equal(await call('first'), 'done');
    await until(() => lists === 2);
    await sleep(100);
    assert.equal(await call('second'), 'done');
  });
});

/** bad-upstream, as a process. */
const processOf = (...words) => ({ config: { type: 'stdio', url: undefined, command: process.execPath,
  args: [fileURLToPath(new URL('bad-upstream.mjs', import.meta.url)), ...words] } });

describe('a call that changes the tools', { concurrency: true }, () => {
  for (const [era, words] of [['legacy', []], ['modern', ['modern']]]) {
    test(`${era}: the tool that it brings can be called next, in the same script`, async (t) => {
      const { wire } = await meet(t, () => false, processOf(...words));
      const code = `await servers.up.change();\nreturn servers.up.call('new-tool', { a: 1 });`;

      const { structuredContent } = (await wire.call('execute', { code })).result;

      assert.deepEqual(structuredContent.result, { a: 1 });
    });

    test(`${era}: the tool that it brings is in the lists at once`, async (t) => {
      const { wire, call } = await meet(t, () => false, processOf(...words));
      const code = `return (await servers.up.tools('new')).map((tool) => tool.name)`;
      await call('change');

      const [script, found] = await Promise.all([wire.call('execute', { code }),
        wire.call('discover', { server: 'up', tool: 'new-tool' })]);

      assert.ok(script.result.structuredContent.result.includes('new-tool'));
      assert.match(found.result.content[0].text, /"new-tool"\(/);
    });
  }

  test('a list that does not come leaves the one that is known', async (t) => {
    const { wire, call } = await meet(t, () => false, processOf('no-second-list'));
    await call('change');

    const { structuredContent } = (await wire.call('execute',
      { code: 'return (await servers.up.tools()).length > 10' })).result;

    assert.equal(structuredContent.result, true);
  });
});

/** A server that tells the tools tool_0 ... of this page, and the cursor to the next. */
async function meetPages(t, next) {
  let lists = 0;
  const { wire, call } = await meet(t, (request, response, message) => {
    if (message?.method !== 'tools/list') return false;
    const page = lists++;
    json(response, 200, { id: message.id, result: { nextCursor: next(page),
      tools: [{ name: `tool_${page}`, inputSchema: { type: 'object' } }] } });
    return true;
  });
  const said = (await wire.call('provision', { server: 'up' })).result.content[0].text;
  return { said, call, lists };
}

describe('pages', () => {
  test('a list of one tool a page is read to its end', async (t) => {
    const { said, call } = await meetPages(t, (page) => (page < 299 ? `${page + 1}` : undefined));

    assert.equal(await call('tool_299'), 'done');
    assert.doesNotMatch(said, /further pages/);
  });

  test('a list whose cursors come again ends there, and that is said', async (t) => {
    for (const [length, most] of [[1, 2], [3, 10]]) {
      const { said, lists } = await meetPages(t, (page) => `${page % length}`);

      assert.match(said, /\(further pages were not read\)$/);
      assert.ok(lists <= most, `${lists}`);
    }
  });

  test('a cursor of more than 8 KiB is not followed, and that is said', async (t) => {
    for (const [length, lists, expected] of [[8190, 2, /tool_1$/], [8191, 1, /\(further pages were not read\)$/]]) {
      const met = await meetPages(t, (page) => (page === 0 ? 'c'.repeat(length) : undefined));

      assert.match(met.said, expected);
      assert.equal(met.lists, lists);
    }
  });
});

// SPDX-License-Identifier: MIT
// sdk: the official clients, v1 and v2, against the fixture server; v2 in each of its ways
// to choose an era. FIXTURE is the program.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import {
  CreateMessageRequestSchema, LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema, ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { callTool, closeAll, connect, ways } from './clients.mjs';

const fixture = { command: process.env.FIXTURE, stderr: 'pipe' };
afterEach(closeAll);

const people = { accept: { action: 'accept', content: { name: 'Ada' } }, decline: { action: 'decline' } };

/** A client of the fixture whose person answers so. */
const open = (way, person) => connect(way, fixture, { person: async () => person });

for (const way of Object.keys(ways)) {
  test(`${way}: connects, and says who and what the server is`, async () => {
    const client = await open(way);
    assert.equal(client.getServerVersion().name, 'fixture');
    assert.equal(client.getInstructions(), 'for tests');
    assert.ok(client.getServerCapabilities().tools);
  });

  test(`${way}: lists, calls, and sees structured content`, async () => {
    const client = await open(way);
    const { tools } = await client.listTools();
    assert.deepEqual(tools.slice(0, 3).map((t) => t.name), ['echo', 'trace', 'fail']);
    const result = await client.callTool({ name: 'echo', arguments: { a: [1, 'ü\n'] } });
    assert.deepEqual(result.structuredContent, { a: [1, 'ü\n'] });
    assert.deepEqual(JSON.parse(result.content[0].text), { a: [1, 'ü\n'] });
    const failed = await client.callTool({ name: 'fail', arguments: {} });
    assert.equal(failed.isError, true);
    await assert.rejects(client.callTool({ name: 'ecko', arguments: {} }), /did you mean 'echo'/);
  });

  test(`${way}: resources and templates`, async () => {
    const client = await open(way);
    const { resources } = await client.listResources();
    assert.deepEqual(resources.map((r) => r.uri), ['test://watched', 'test://other']);
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.equal(resourceTemplates[0].uriTemplate, 'test://row/{id}');
    const { contents } = await client.readResource({ uri: 'test://row/7' });
    assert.deepEqual(contents, [{ uri: 'test://row/7', mimeType: 'text/plain', text: 'read' }]);
    await assert.rejects(client.readResource({ uri: 'test://none' }),
      (e) => [-32602, -32002].includes(e.code));
  });

  test(`${way}: progress is heard while the call runs`, async () => {
    const client = await open(way);
    const heard = [];
    const abort = new AbortController();
    // The SDKs drop what they read together with the answer: so there is none.
    const options = { signal: abort.signal, onprogress: (p) => { if (heard.push(p) === 3) abort.abort(); } };
    const params = { name: 'nap', arguments: { ticks: 100000, ms: 1 } };
    await assert.rejects(callTool(client, params, options));
    const all = [1, 2, 3].map((progress) => ({ progress, message: `${100000 - progress} left` }));
    assert.deepEqual(heard.slice(0, 3), all);
  });

  test(`${way}: a call that is aborted is cancelled, and others are not`, async () => {
    const client = await open(way);
    const abort = new AbortController();
    let cancelled;
    const said = new Promise((resolve) => { cancelled = resolve; });
    client.transport.stderr.on('data', (text) => String(text).includes('cancelled') && cancelled());
    const call = callTool(client, { name: 'nap', arguments: {} }, { signal: abort.signal });
    const other = client.callTool({ name: 'nap', arguments: { ticks: 20, ms: 5 } });
    await client.callTool({ name: 'echo', arguments: {} }); // the others are in flight now
    abort.abort(new Error('enough'));
    await assert.rejects(call);
    await said;
    assert.equal((await other).content[0].text, 'slept');
  });

  for (const [action, person] of Object.entries(people)) {
    test(`${way}: a person is asked twice by one run, and answers ${action}`, async () => {
      const client = await open(way, person);
      const result = await client.callTool({ name: 'ask', arguments: { times: 2 } });
      const answer = action === 'accept' ? 'accept{"name":"Ada"}' : 'decline';
      assert.equal(result.content[0].text, `run 1: ${answer} ${answer} `);
    });
  }

  test(`${way}: an answer of 2 MB arrives whole`, async () => {
    const client = await open(way);
    const result = await client.callTool({ name: 'big', arguments: { bytes: 2e6 } });
    assert.equal(result.content[0].text.length, 2e6);
  });

  test(`${way}: trace context reaches the tool`, async () => {
    const client = await open(way);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01';
    const result = await client.callTool({ name: 'trace', arguments: {}, _meta: { traceparent } });
    assert.equal(result.content[0].text, JSON.stringify(traceparent));
  });

  test(`${way}: a list has one page, and no cursor`, async () => {
    const client = await open(way);
    const { tools, nextCursor } = await client.listTools();
    assert.equal(tools.map((t) => t.name).join(' '), 'echo trace fail big note change nap deaf ask');
    assert.equal(nextCursor, undefined);
    await assert.rejects(client.listTools({ cursor: 'nonsense' }), (e) => e.code === -32602);
  });
}

test('v1: told of changed tools, of a resource it subscribed to, and of logs', async () => {
  const client = await open('v1');
  const heard = [];
  const notice = (schema, name) => client.setNotificationHandler(schema, (n) => { heard.push([name, n.params]); });
  notice(ToolListChangedNotificationSchema, 'tools');
  notice(ResourceUpdatedNotificationSchema, 'resource');
  notice(LoggingMessageNotificationSchema, 'log');
  await client.listTools();
  await client.subscribeResource({ uri: 'test://watched' });
  await client.setLoggingLevel('warning');
  await client.callTool({ name: 'change', arguments: {} });
  await client.callTool({ name: 'note', arguments: {} });
  await client.ping();
  assert.deepEqual(heard.map(([name]) => name).sort(), ['log', 'resource', 'tools']);
  assert.equal(heard.find(([name]) => name === 'log')[1].data, 'high');
});

test('v2 pinned: a subscription is acknowledged, told of changes, and closed', async () => {
  const client = await open('v2 pinned');
  const heard = [];
  let both;
  const all = new Promise((resolve) => { both = resolve; });
  const hear = (name) => () => { if (heard.push(name) === 2) both(); };
  client.setNotificationHandler('notifications/tools/list_changed', hear('tools'));
  client.setNotificationHandler('notifications/resources/updated', hear('resource'));
  const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: ['test://watched'] });
  await client.callTool({ name: 'change', arguments: {} });
  await all;
  assert.deepEqual(heard.sort(), ['resource', 'tools']);
  await subscription.close();
});

test('v1: a client that cannot ask is told so by the tool', async () => {
  const client = await connect('v1', fixture, { capabilities: { sampling: {} } });
  client.setRequestHandler(CreateMessageRequestSchema, async () => assert.fail('nobody asked for this'));
  const result = await client.callTool({ name: 'ask', arguments: {} });
  assert.equal(result.content[0].text, 'run 1: nobody ');
});

// SPDX-License-Identifier: MIT
// Code mode beside the official client and real servers: what a model asks for, and gets.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { allow, env, folder, open as openWire, put, upstream } from './box.mjs';
import { argumentsOf, CALLS_MAX, check, groups, OUTPUT_BYTES, SLEEP_MS } from './code-cases.mjs';
import { callTool, connect } from './clients.mjs';

const modules = fileURLToPath(new URL('node_modules/@modelcontextprotocol/', import.meta.url));
const data = join(folder, 'data');
const server = (name, ...args) => ({
  command: process.execPath, args: [join(modules, name, 'dist/index.js'), ...args],
});
const servers = {
  files: { ...server('server-filesystem', data), glovebox: { description: 'notes of the team' } },
  memory: { ...server('server-memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.json') } },
  everything: server('server-everything', 'stdio'),
};
let count = 0;

function open(config, log, person) {
  const path = put(`mcp-client-${++count}.json`, config);
  const args = ['mcp', '--config', path, ...(log ? ['--security-log', log] : [])];
  return connect('v1', { command: process.env.GLOVEBOX, args, stderr: 'inherit', env }, { person });
}

let client;
const log = join(folder, 'log');
const rules = [{ server: 'files', tool: 'move_file', action: 'deny' }, { action: 'allow' }];
before(async () => {
  mkdirSync(data);
  for (let i = 0; i < 5; i++) writeFileSync(join(data, `${i}.txt`), `note ${i}\n`);
  client = await open({ mcpServers: servers, glovebox: { rules } }, log);
});

const call = (name, args, options) =>
  callTool(client, { name, arguments: args }, { timeout: 240000, ...options });
const execute = (code, more = {}) => call('execute', { code, ...more });
const textOf = (result) => result.content[0].text;

test('four tools are there, for less than 1,200 tokens, the same at every start', async () => {
  const listed = await client.listTools();
  assert.deepEqual(listed.tools.map((tool) => tool.name).sort(),
    ['call', 'discover', 'execute', 'provision']);
  const bytes = Buffer.byteLength(JSON.stringify(listed.tools));
  assert.ok(bytes / 4 < 1200, `${bytes} bytes`);
  assert.match(listed.tools.find((tool) => tool.name === 'execute').description,
    /- files: notes of the team\n- memory\n- everything\n/);
  const other = await open({ mcpServers: servers, glovebox: { rules } });
  assert.equal(JSON.stringify(await other.listTools()), JSON.stringify(listed));
});

test('a script reads files at once and returns what it made of them', async () => {
  const result = await execute(`
    const names = (await servers.files.list_directory({ path: input.folder })).content
      .match(/\\S+\\.txt/g);
    const texts = await Promise.all(names.map((name) =>
      servers.files.read_text_file({ path: input.folder + '/' + name })));
    return texts.filter((t) => /[13]/.test(t.content)).map((t) => t.content.trim());`,
  { input: { folder: data } });
  const { ok, result: value, calls, usage, truncated } = result.structuredContent;
  assert.equal(ok, true);
  assert.deepEqual(value, ['note 1', 'note 3']);
  assert.equal(truncated, false);
  assert.equal(calls.length, 6);
  assert.deepEqual(calls.map((each) => each.line), [2, 5, 5, 5, 5, 5]);
  assert.ok(calls.every((each) => each.ok && each.server === 'files' && each.bytes > 0));
  assert.equal(usage.calls, 6);
  assert.equal(usage.calls_left, 994);
  assert.match(textOf(result), /^\["note 1","note 3"\]\n\(6 calls; .* left: 994 calls, /);
});

test('several servers in one script, with types', async () => {
  const result = await execute(`
    interface Sum { text: string }
    async function run(data: { a: number }): Promise<string[]> {
      const sum = await servers.everything['get-sum']({ a: data.a, b: 2 }) as string;
      await servers.memory.create_entities({ entities: [
        { name: 'sum', entityType: 'number', observations: [sum] }] });
      const graph = await servers.memory.readGraph();
      return graph.entities.map((e: any) => e.observations[0]);
    }`, { input: { a: 40 } });
  assert.deepEqual(result.structuredContent.result, ['The sum of 40 and 2 is 42.']);
  assert.deepEqual(result.structuredContent.calls.map((each) => each.tool),
    ['get-sum', 'create_entities', 'read_graph']);
});

test('one that nobody catches ends the script where it is, and says what was done', async () => {
  const result = await execute(`const a = await servers.files.list_allowed_directories();
const text: string = 'x';
await servers.files.read_text_file({ path: '/etc/passwd' });`);
  assert.equal(result.isError, true);
  const { error } = result.structuredContent;
  assert.equal(error.code, 'TOOL_ERROR');
  assert.equal(error.line, 3);
  assert.match(error.frame, />\s+3 \| await servers/);
  assert.match(textOf(result), /done before that: files\.list_allowed_directories \(line 1\)/);
});

test('code that has taken a value for another is told what the call gave', async () => {
  const read = `const r = await servers.files.read_text_file({ path: ${JSON.stringify(join(data, '0.txt'))} });`;
  const gave = /files\.read_text_file \(line 1\) -> \{ content: string \}/;

  for (const use of ["r.split('\\n')", 'r.map(String)', 'JSON.parse(r)', 'r.content[0].text.length']) {
    const text = textOf(await execute(`${read} return ${use};`));
    assert.match(text, gave);
    assert.doesNotMatch(text, /without \.content/);
  }
  assert.match(textOf(await execute(`${read} return r.contents;`)),
    /^No value returned; no result of a call has 'contents' \(line 1\): did you mean 'content'\?; files\.read_text_file \(line 1\) gave \{ content: string \}\n/);
});

test('an input that is read and was not given is said to be missing', async () => {
  for (const code of ['return input.ids[0]', 'for (const id of input) {}', 'const { ids } = input; ids',
    'async (input) => input.ids', 'input.map(String)'])
    assert.equal((await execute(code)).structuredContent.error.hint,
      "no input was given: send it in the argument 'input'", code);
  for (const [code, more] of [['const inputs = null; inputs.a', {}], ['input.a.b', { input: {} }], ['({ input }) => input.a', {}]])
    assert.doesNotMatch((await execute(code, more)).structuredContent.error.hint, /no input/, code);
});

test('a script that is late and has called nothing is not told to make its calls at once', async () => {
  const { error } = (await execute('await sleep(5000)', { timeout_ms: 900 })).structuredContent;
  assert.deepEqual([error.code, error.hint],
    ['TIMEOUT', 'look for a loop that does not end, or give a longer timeout_ms']);
});

test('a script that had all the time that there is is not told to take more', async () => {
  const own = await open({ mcpServers: servers, glovebox: { limits: { timeoutMs: 900 } } });
  const isWarm = async () => (await own.callTool({ name: 'execute', arguments: { code: '1' } })).isError !== true;
  while (!await isWarm());
  for (const code of ['await sleep(5000)', 'while (true) {}'])
    assert.match((await own.callTool({ name: 'execute', arguments: { code, timeout_ms: 60000 } }))
      .structuredContent.error.hint, /^look for a loop .* in several scripts$/);
});

test('an input that is the text of JSON is said to be a text', async () => {
  for (const code of ['return input.ids[0]', 'input.map(String)', 'for (const id of input.ids.values()) id'])
    assert.match((await execute(code, { input: '{"ids":[1]}' })).structuredContent.error.hint,
      /^input is a text: .* JSON\.parse\(input\)$/, code);
  assert.doesNotMatch((await execute('input.a.b', { input: {} })).structuredContent.error.hint, /a text/);
});

test('a rule that denies is a ToolError, and a line of the log with the line of the code', async () => {
  const result = await execute(`

await servers.files.move_file({ source: 'a', destination: 'b' });`);
  assert.equal(result.structuredContent.error.code, 'DENIED');
  assert.equal(result.structuredContent.error.line, 3);
  const lines = readFileSync(log, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  const denied = lines.find((line) => line.event === 'mcp.call' && line.tool === 'move_file');
  assert.equal(denied.line, 3);
  assert.equal(denied.code, 'DENIED');
  assert.ok(lines.some((line) => line.event === 'call.started' && line.callId === denied.run));
});

test('what many calls are refused is counted in the log, and not repeated', async () => {
  const result = await execute(`let refused = 0;
for (let i = 0; i < 70; i++) await servers.files.move_file({ source: 'a', destination: 'b' })
  .catch(() => refused++);
return refused;`);
  assert.equal(result.structuredContent.result, 70);
  const lines = readFileSync(log, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  const dropped = lines.find((line) => line.event === 'log.dropped' && line.run !== undefined);
  assert.equal(dropped.lines, 20);
  assert.equal(lines.filter((line) => line.event === 'mcp.call' && line.run === dropped.run).length, 50);
});

test('console lines are progress while the script runs, and logs when it has ended', async () => {
  const seen = [];
  const result = await call('execute', { code: `for (const i of [1, 2, 3]) {
      console.log('line', i); await sleep(120); }
    progress(0.5, 'half'); console.warn('end')` }, { onprogress: (p) => seen.push(p.message) });
  assert.deepEqual(seen.slice(0, 2), ['line 1', 'line 2']);
  assert.deepEqual(result.structuredContent.logs, ['line 1', 'line 2', 'line 3', 'end']);
  assert.match(textOf(result), /^No value returned; 4 log lines\nlogs:\nline 1\n.*\[warn\] end\n/s);
});

test('without a value, a function that nothing has called is named', async () => {
  const result = await execute("console.log('start');\nasync function collect() { return 1 }");
  assert.match(textOf(result), /^No value returned; 1 log line; collect is declared but not called\n/);
});

test('an empty line of the console is a line', async () => {
  const seen = [];
  await call('execute', { code: `console.log(''); console.warn(''); await sleep(120);` },
    { onprogress: (p) => seen.push(p.message) });
  assert.deepEqual(seen, ['', '[warn] ']);
});

test('what is said right before the answer is heard by the official client', async () => {
  const seen = [];
  // It hears nothing of a message that it finds together with the answer: a loaded machine
  // may bring both at once, now and then.
  for (let i = 0; i < 20; i++)
    await call('execute', { code: `console.log(${i}); return 1` }, { onprogress: (p) => seen.push(p.message) });
  assert.ok(seen.length >= 15, `${seen}`);
});

test("progress in the protocol's form is the same as in ours", async () => {
  const seen = [];
  await client.callTool({ name: 'execute', arguments: { code: `
    progress({ progress: 5, total: 10, message: 'half' }); await sleep(30);
    progress({ message: 'text alone' }); await sleep(30)` } }, undefined,
  { onprogress: ({ progress, total, message }) => seen.push([progress, total, message]) });
  assert.deepEqual(seen[0], [5, 10, 'half']);
  assert.equal(seen[1][2], 'text alone');
});

test('progress of a tool is told with its name, to who asks for progress', async () => {
  const seen = [];
  const options = { onprogress: (p) => seen.push(p.message) };
  const name = 'trigger-long-running-operation';
  const args = { duration: 0.3, steps: 3 };
  /* The last comes with the answer, and the client knows nobody then who wants to hear it. */
  const told = [1, 2].map((n) => `everything.${name}: ${n}/3`);
  await call('call', { server: 'everything', tool: name, args }, options);
  assert.deepEqual(seen.splice(0).slice(0, 2), told);
  const code = `return await servers.everything.call('${name}', input)`;
  await call('execute', { code, input: args }, options);
  assert.deepEqual(seen.splice(0).slice(0, 2), told);
  const quiet = await execute(code, { input: args });
  assert.ok(!quiet.isError, textOf(quiet));
  assert.deepEqual(seen, []);
});

test('what is too long is cut in the middle and can be read in pages', async () => {
  const result = await execute("return Array.from({ length: 20000 }, (_, i) => 'row ' + i)");
  const text = textOf(result);
  const [, uri] = text.match(/^\[result cut: the first \d+ and the last \d+ of \d+ bytes are shown, \d+ between them are not; the whole is the resource (\S+), in pages/);
  assert.ok(Buffer.byteLength(text) < 42000);
  assert.equal(result.structuredContent.truncated, true);
  assert.equal(result.structuredContent.artifacts[0].uri, uri);
  assert.ok(result.content.some((block) => block.type === 'resource_link' && block.uri === uri));
  let whole = '';
  for (let at = `${uri}?offset=0&length=40000`; at !== undefined;) {
    const [page] = (await client.readResource({ uri: at })).contents;
    assert.equal(page.uri, at);
    whole += page.text;
    at = page._meta.next;
  }
  assert.equal(JSON.parse(whole).length, 20000);
});

test('of an error that is too long the end is there, too, and the logs beside it fit', async () => {
  const thrown = await execute(`for (let i = 0; i < 600; i++) console.log('x'.repeat(99));
throw new Error('R'.repeat(60000) + '\u20ac'.repeat(3000) + 'the cause');`);
  const { error, truncated } = thrown.structuredContent;
  assert.match(error.message, /^R+ \[\.\.\. \d+ characters \.\.\.\] \u20ac{2039}the cause$/);
  const [, left] = error.message.match(/\[\.\.\. (\d+)/);
  assert.equal(error.message.length - ` [... ${left} characters ...] `.length + Number(left), 63009);
  assert.equal(truncated, true);
  assert.ok(Buffer.byteLength(textOf(thrown)) < 42000, `${Buffer.byteLength(textOf(thrown))} bytes`);
  const value = await execute(`throw 'y'.repeat(20000) + 'the cause'`);
  assert.match(value.structuredContent.error.message, /^y+ \[\.\.\. \d+ characters \.\.\.\] y+the cause$/);
});

test('images and artifacts are resources', async () => {
  const result = await execute(`const parts = await servers.everything['get-tiny-image']();
    const kept = await artifact('report.csv', 'a,b\\n1,2\\n', 'text/csv');
    return { image: parts.find((p) => p.uri), kept };`);
  const { image, kept } = result.structuredContent.result;
  assert.equal(image.mimeType, 'image/png');
  const [picture] = (await client.readResource({ uri: image.uri })).contents;
  assert.equal(Buffer.from(picture.blob, 'base64').subarray(1, 4).toString(), 'PNG');
  const [report] = (await client.readResource({ uri: kept.uri })).contents;
  assert.deepEqual([report.text, report.mimeType], ['a,b\n1,2\n', 'text/csv']);
  await assert.rejects(client.readResource({ uri: 'artifact://none/1' }));
});

test('large arguments need no more memory than they are large', async () => {
  const result = await execute(`const text = 'x'.repeat(4e6);
    let count = 0;
    for (; count < 12; count++) await artifact('a', text);
    return count;`);
  assert.equal(result.structuredContent.result, 12);
});

test('values that are large and needed no more are no memory', async () => {
  const kept = await execute(`let count = 0;
    for (; count < 5; count++) await artifact('a', 'y'.repeat(12e6));
    return count;`);
  assert.equal(kept.structuredContent.result, 5, textOf(kept));
  const asked = await execute(`let count = 0;
    for (; count < 12; count++) await servers.memory.tools('z'.repeat(10e6)).catch(() => {});
    return count;`);
  assert.equal(asked.structuredContent.result, 12, textOf(asked));
});

test('a script that waits uses no processor time', async () => {
  const waited = await execute('await sleep(700); return 1', { timeout_ms: 20000 });
  assert.ok(waited.structuredContent.usage.cpu_ms < 300, 'waiting is no processor time');
});

test('a script that is cancelled is gone', async () => {
  const cancel = new AbortController();
  const running = call('execute', { code: "console.log('on'); while (true) {}" },
    { signal: cancel.signal, onprogress: () => cancel.abort() });
  await assert.rejects(running);
  assert.equal((await execute('return 2')).structuredContent.result, 2);
});

test('the time in which a person is asked is not the script\'s', async () => {
  const own = await open({ mcpServers: servers,
    glovebox: { rules: [{ tool: 'echo', action: 'ask' }, { action: 'allow' }] } }, undefined,
  async ({ requestedSchema }) => {
    await new Promise((resolve) => setTimeout(resolve, 10000));
    const [name] = Object.keys(requestedSchema.properties);
    return { action: 'accept', content: { [name]: 'allow this call' } };
  });
  await own.callTool({ name: 'provision', arguments: { server: 'everything' } });
  await own.callTool({ name: 'execute', arguments: { code: 'return 1' } }); /* its engine is up */
  const { structuredContent } = await own.callTool({ name: 'execute', arguments: {
    code: "return await servers.everything.echo({ message: 'a' })", timeout_ms: 9000 } });
  assert.equal(structuredContent.result, 'Echo: a', JSON.stringify(structuredContent));
  assert.ok(structuredContent.usage.wall_ms > 10000);
  assert.ok(structuredContent.usage.ms_left > 0);
});

test('discover lists, searches and declares', async () => {
  const names = textOf(await call('discover', {}));
  assert.match(names, /^files: .*read_text_file.*\nmemory: .*read_graph.*\neverything: .*echo/);
  const found = textOf(await call('discover', { query: 'read text file', detail: 'names' }));
  assert.match(found, /^files\.read_file\nfiles\.read_text_file\n/);
  const summary = textOf(await call('discover', { server: 'memory' }));
  assert.match(summary, /memory\.search_nodes\(\{query\}\) - Search/);
  const types = textOf(await call('discover', { server: 'memory', tool: 'search_nodes' }));
  assert.match(types, /^declare const servers: \{\n {2}"memory": \{\n.*search_nodes\(args: \{/s);
  const inside = await execute("return (await discover('entities')).map((t) => t.server)");
  assert.ok(inside.structuredContent.result.every((name) => name === 'memory'));
  const tools = await execute("return (await servers.memory.tools()).map((t) => t.name)");
  assert.equal(tools.structuredContent.result.length, 9);
  assert.equal((await call('discover', { server: 'memry' })).isError, true);
});

test('call and provision', async () => {
  const echoed = await call('call', { server: 'everything', tool: 'echo', args: { message: 'a' } });
  assert.equal(textOf(echoed), 'Echo: a');
  assert.match(echoed.content.at(-1).text, /^\(1 call; \d+ ms; \d+ bytes\)$/);
  const denied = await call('call', { server: 'files', tool: 'move_file', args: {} });
  assert.equal(denied.isError, true);
  assert.match(textOf(denied), /^DENIED: /);
  assert.match(textOf(await call('provision', { server: 'memory' })), /^memory is ready: .* 9 tools: /);
  const unknown = await call('provision', { server: 'memry' });
  assert.match(textOf(unknown), /did you mean 'memory'.*nothing is installed/);
  assert.equal((await call('call', { server: 1 })).isError, true);
});

// A tool of few words.
const ADD = { name: 'add', description: 'Adds', inputSchema: { type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] } };

/** The description of execute, once it has that: a busy machine starts servers later than a list waits. */
async function descriptionWith(client, wanted) {
  for (;;) {
    const { description } = (await client.listTools()).tools.find((tool) => tool.name === 'execute');
    if (wanted.test(description)) return description;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test('what few tools of eager servers can do stands in the description', async () => {
  const tiny = { ...upstream('told', JSON.stringify([ADD])), glovebox: { eager: true } };
  const own = await open({ mcpServers: { tiny }, glovebox: { rules: [{ action: 'allow' }] } });
  const description = await descriptionWith(own, /"tiny": \{\n {4}\/\*\* Adds \*\/\n {4}add\(args: \{\n {6}a: number;/);
  assert.doesNotMatch(description, /Look tools up/);
  const many = await open({ mcpServers: { tiny, memory: { ...servers.memory,
    glovebox: { eager: true } } }, glovebox: { rules: [{ action: 'allow' }] } });
  await descriptionWith(many, /Look tools up with discover before their first use\. Servers:\n- tiny\n- memory\n/);
});

test('limits are those of the configuration, and so is the prefix', async () => {
  const own = await open({ mcpServers: servers, glovebox: {
    rules: [{ action: 'allow' }], toolNames: 'mcp_',
    limits: { calls: 3, codeBytes: 200, timeoutMs: 60000 } } });
  const { tools } = await own.listTools();
  assert.deepEqual(tools.map((tool) => tool.name).sort(),
    ['mcp_call', 'mcp_discover', 'mcp_execute', 'mcp_provision']);
  const run = (code) => own.callTool({ name: 'mcp_execute', arguments: { code } });
  const many = await run(
    'let n = 0; for (;;) { await servers.everything.echo({ message: `${n}` }); n++ }');
  assert.equal(many.structuredContent.error.code, 'CALL_LIMIT');
  assert.equal(many.structuredContent.usage.calls_left, 0);
  assert.equal((await run(`return '${'x'.repeat(200)}'`)).structuredContent.error.code,
    'INVALID_CODE');
});

test('code can call the function of the host itself, and gains nothing', async () => {
  const result = await execute(`const all = [];
    for (const args of [[], [1], ['call'], ['call', 'files'], ['call', 'files', 'x', 5],
      ['call', 'files', 'x', {}, { line: 1e99 }], ['call', 'files', 'x', {}, { line: -1 }],
      ['call', 'files', 'x', {}, { line: 123456789012 }], ['call', 'files', 'x', {}, { line: 'a' }],
      ['call', 'no', 'x', {}], ['discover'], ['discover', 'a', { server: {} }], ['discover', 'a', { detail: 'no' }],
      ['artifact', 1], ['artifact', 'a', 'b', null, { bytes: true }], ['progress'],
      ['progress', 1e308, -5, {}], ['nothing'], [null], [[['call']]], ['call', 'a'.repeat(1e5)]]) {
      try { all.push(typeof await codemode(...args)) } catch (e) { all.push(e.name) }
    }
    return all;`);
  assert.equal(result.structuredContent.ok, true, textOf(result));
  assert.ok(result.structuredContent.result.every((each) => each === 'object'));
  assert.deepEqual([...new Set(result.structuredContent.calls.map((each) => each.line))].sort(),
    [0, 10000000]);
});

const wire = await openWire(allow({ up: upstream('code') }, { limits: { calls: CALLS_MAX, sleepMs: SLEEP_MS, outputBytes: OUTPUT_BYTES } }));

for (const [group, rows] of Object.entries(groups))
  describe(`as in the Node package: ${group}`, () => {
    for (const row of rows) test(row[0].slice(0, 100), async () => check(row, (await wire.call('execute', argumentsOf(row))).result));
  });

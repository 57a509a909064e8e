// SPDX-License-Identifier: MIT
// What becomes of servers that do not start, and of answers and tools that are odd: code is
// told what went wrong, in the server's own words.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { allow, env, folder, open, put, upstream } from './box.mjs';
import { Wire } from './wire.mjs';

const told = (tools) => upstream('told', tools);
const TOOL = "{ name: 'tell', inputSchema: { type: 'object' } }";
const configure = (name, mcpServers) => put(name, allow(mcpServers));
const withToken = { env: { UPSTREAMS_TEST_TOKEN: 'f00d-beef-12345' } };

const wire = await open(allow({
  up: told(`[${TOOL}, { ...${TOOL}, name: 'b\\u202ec' }]`),
  long: told("[130, 200, 256].map((n) => ({ name: 'u'.repeat(n), inputSchema: { type: 'object' } }))"),
  many: told("Array.from({ length: 4096 }, (_, i) => ({ name: 'tool_' + i, inputSchema: { type: 'object' } }))"),
  dead: { command: 'sh', args: ['-c', 'echo no database >&2; exit 3'] } }));

const call = async (name, args) => (await wire.call(name, args)).result;
const execute = async (code, input) => (await call('execute', { code, input })).structuredContent;
const errorOf = async (code, input) => (await execute(code, input)).error;
const valueOf = async (code, input) => (await execute(code, input)).result;
const textOf = (result) => result.content[0].text;

test('a task in place of an answer is told to be none', async () => {
  const task = { taskId: 't', status: 'working', createdAt: '2026-01-01T00:00:00Z', ttl: null };
  for (const result of [{ task }, { task, content: [] }, { ...task, resultType: 'task' }])
    assert.match((await errorOf('await servers.up.tell({ result: input })', result)).message, /answers with a task/);
  assert.equal(await valueOf("return (await servers.up.tell({ result: input })).task", { structuredContent: { task: 1 }, task }), 1);
});

const bad = (...words) => upstream('bad', ...words);

for (const [words, expected] of [
  [['picky=data'], /^\{"a":1\}$/], [['picky=words'], /^\{"a":1\}$/], [['nulls'], /^\{"a":1\}$/],
  [['mark'], /^\{"a":1\}$/], [['debugs'], /^\{"a":1\}$/],
  [['complains'], /^UPSTREAM_START: .* it ended with status 3.*; on its standard output it wrote a line that is not a message: no licence: key \{\{secret:API_TOKEN\}\}/],
]) {
  test(`a server that speaks oddly is understood, or what is odd is said at once: ${words}`, async () => {
    const other = await open(allow({ up: { ...bad(...words), env: { API_TOKEN: '${UPSTREAMS_TEST_TOKEN}' } } }), withToken);
    const { result } = await other.call('call', { server: 'up', tool: 'echo', args: { a: 1 } });
    assert.match(result.content[0].text, expected);
    assert.doesNotMatch(result.content[0].text, /was not ready after|f00d/);
    await other.close();
  });
}

test('a client that marks its first line, or writes null for what it leaves out, is answered under any id', async () => {
  const other = new Wire(process.env.GLOVEBOX, ['mcp', '--config', configure('marked.json', {})], { env });
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  other.sayLine(`\ufeff${JSON.stringify({ jsonrpc: '2.0', id: 'first', method: 'initialize', params })}\r`);
  assert.equal((await other.hear((m) => m.id === 'first')).result.protocolVersion, '2025-06-18');
  assert.deepEqual((await other.ask('ping', null, 'null')).result, {});
  assert.equal((await other.ask('tools/list', { cursor: null, _meta: null })).result.tools.length, 4);
  for (const more of [{ arguments: null }, { arguments: { query: null, server: null, detail: null } }, { arguments: {}, _meta: null }])
    assert.equal((await other.ask('tools/call', { name: 'discover', ...more })).result.isError ?? false, false);
  for (const id of ['x'.repeat(257), `é"${'y'.repeat(100000)}`])
    assert.deepEqual((await other.ask('ping', {}, id)).result, {});
  await other.close();
});

test('what comes beside structured content is not lost without a word', async () => {
  const result = { structuredContent: { source: 'x' }, content: [{ type: 'text', text: '# The article' }] };
  const twice = await execute('const r = await servers.up.tell({ result: input }); await servers.up.tell({ result: input }); return r', result);
  assert.deepEqual(twice.result, { source: 'x' });
  assert.deepEqual(twice.logs, ['up.tell (line 1) gave more than its structured content, which the code has alone: '
    + 'servers["up"].call("tell", args, { raw: true }) gives both']);
  const failed = await execute('await servers.up.tell({ result: input }).catch(() => 0)', { ...result, isError: true });
  assert.deepEqual(failed.logs, ['the error of up.tell (line 1) has structured content: servers["up"].call("tell", args, '
    + '{ raw: true }) gives the whole result, and throws nothing']);
  result.content[0].text = '{ "source": "x" }';
  assert.deepEqual((await execute('return await servers.up.tell({ result: input })', result)).logs, []);
});

test('_meta of a result stays in the tool call, but for what the protocol has there', async () => {
  const _meta = { 'ui/resourceUri': 'ui://x', n: { a: [1] }, 'io.modelcontextprotocol/serverInfo': { name: 'forged' } };
  const result = { content: [{ type: 'text', text: 'hi' }], _meta };
  const given = await call('call', { server: 'up', tool: 'tell', args: { result } });
  assert.deepEqual(given._meta, { 'ui/resourceUri': 'ui://x', n: { a: [1] } });
  assert.equal((await call('call', { server: 'up', tool: 'tell', args: { result: { content: [] } } }))._meta, undefined);
  assert.deepEqual(await valueOf("return (await servers.up.call('tell', { result: input }, { raw: true }))._meta", result), _meta);
});

test('a server that is returned says how to go on', async () => {
  assert.equal(await valueOf('return servers.up'), '[server up: await servers.up.tools() lists its tools]');
});

test('what a server says of its end is told and logged, without the secret in it', async () => {
  const other = await open(allow({ bad: { command: 'sh',
    args: ['-c', 'echo token is $API_TOKEN >&2; exit 3'], env: { API_TOKEN: '${UPSTREAMS_TEST_TOKEN}' } } }), withToken);
  const said = [];
  for (const [name, args] of [['provision', { server: 'bad' }], ['discover', { server: 'bad' }], ['discover', {}],
    ['call', { server: 'bad', tool: 'x', args: {} }], ['execute', { code: 'await servers.bad.x()' }]])
    said.push(JSON.stringify((await other.call(name, args)).result));
  await other.close();
  for (const text of [...said, other.stderr]) {
    assert.match(text, /token is \{\{secret:API_TOKEN\}\}/);
    assert.doesNotMatch(text, /f00d/);
  }
});

test('a log message of a server is logged beside its standard error, without the secret in it', async () => {
  const other = await open(allow({ up: { ...told(`[${TOOL}]`), env: { KEY: '${UPSTREAMS_TEST_TOKEN}' } } }), withToken);
  const says = [{ level: 'warning', logger: 'db', data: 'disk of KEY is full\nfor ever\u0000\x1b[31m' },
    { level: 'info', data: { rows: [1, 2] } }, { data: `${'x'.repeat(1995)}KEY` }, { data: 'y'.repeat(70000) },
    { level: 5, logger: '', data: 'KEY' }, { level: 'debug' }, null];
  await other.call('call', { server: 'up', tool: 'tell', args: { says } });
  await other.close();
  assert.match(other.stderr, /^glovebox: up: warning: db: disk of \{\{secret:KEY\}\} is full\\nfor ever \\u\{1b\}\[31m$/m);
  assert.match(other.stderr, /^glovebox: up: info: \{"rows":\s?\[1,\s?2\]\}$/m);
  assert.match(other.stderr, /^glovebox: up: a log message of 70\d\d\d bytes was dropped$/m);
  assert.match(other.stderr, /^glovebox: up: \{\{secret:KEY\}\}$/m);
  assert.doesNotMatch(other.stderr, /f00d|\x1b/);
});

test('what a server says of itself is told without the secret in it', async () => {
  const tools = "[process.env.KEY].flatMap((k) => ['a', 'tool_' + k].map((name) => ({ name, description: k,"
    + " inputSchema: { type: 'object', properties: { [k]: { default: k } } } })))";
  const path = configure('itself.json', { up: { ...told(tools), eager: true,
    env: { KEY: '${UPSTREAMS_TEST_TOKEN}' } } });
    const other = await open(path, withToken);
  const said = [];
  for (const [name, args] of [['provision', { server: 'up' }], ['discover', { server: 'up', detail: 'types' }],
    ['discover', { query: 'f00d' }], ['execute', { code: 'return [await servers.up.tools(), await discover("f00d")]' }]])
    said.push(JSON.stringify((await other.call(name, args)).result));
  said.push(JSON.stringify((await other.ask('tools/list')).result));
  await other.close();
  const doctor = spawnSync(process.env.GLOVEBOX, ['mcp', 'doctor', '--config', path], { env: { ...env, ...withToken.env } });
  said.push(other.stderr, `${doctor.stdout}`);
  for (const text of said) assert.doesNotMatch(text, /f00d-beef/);
  assert.match(said[0], /told-\{\{secret:KEY\}\}.*1 tools: a \(1 left out, one with a secret in the name/);
  assert.match(said[1], /secret:KEY/);
  assert.match(`${doctor.stdout}`, /told-\{\{secret/);
});

const CHANGED = /the configuration '[^']*' has changed since this server started: restart it to use it/;
const edits = {
  'is added to in place': { edit: (path) => configure(basename(path), { up: told(`[${TOOL}]`), more: told('[]') }), says: true },
  'is replaced': { edit: (path) => renameSync(configure('other.json', { more: told('[]') }), path), says: true },
  'is emptied': { edit: (path) => writeFileSync(path, ''), says: true },
  'goes away': { edit: (path) => rmSync(path), says: false },
  'becomes a pipe': { edit: (path) => { rmSync(path); spawnSync('mkfifo', [path]); }, says: false },
};
for (const [name, { edit, says }] of Object.entries(edits))
  test(`a configuration that ${name} while it is used is ${says ? 'told of once' : 'no change'}`, async () => {
    const path = configure('edited.json', { up: told(`[${TOOL}]`) });
    const other = await open(path);
    const ask = async (tool, args) => (await other.call(tool, args)).result.content[0].text;
    assert.doesNotMatch(await ask('discover', {}), CHANGED);
    edit(path);
    if (name === 'is replaced') assert.doesNotMatch(await ask('execute', { code: 'return 1' }), CHANGED); // starts an engine
    const first = await ask('discover', { server: 'more' });
    assert.equal(CHANGED.test(first), says, first);
    assert.match(first, /unknown server 'more'/); // what runs goes by what was read
    for (const [tool, args] of [['discover', {}], ['provision', { server: 'up' }], ['provision', { server: 'more' }]])
      assert.doesNotMatch(await ask(tool, args), CHANGED);
    await other.close();
    rmSync(path, { force: true });
    assert.equal(other.stderr.split('has changed since').length - 1, says ? 1 : 0, other.stderr);
  });

test('a configuration that has changed is told of by provision, too, of a server that it knows or not', async () => {
  for (const server of ['up', 'more']) {
    const other = await open(configure('provided.json', { up: told(`[${TOOL}]`) }));
    configure('provided.json', { more: told('[]') });
    assert.match((await other.call('provision', { server })).result.content[0].text, CHANGED, server);
    await other.close();
  }
});

test('who asks for the tools of a server that does not start is told why', async () => {
  const why = /^the server 'dead' cannot be started: .*\b3\b.*no database/s;
  for (const code of ['await servers.dead.x()', 'await servers.dead.tools()',
    "await discover('x', { server: 'dead' })"]) {
    const error = await errorOf(code);
    assert.deepEqual([error.code, error.name], ['UPSTREAM_START', 'ToolError'], code);
    assert.match(error.message, why);
  }
  assert.deepEqual(await valueOf(`try { await discover('', { server: 'dead' }) }
    catch (e) { return [e.server, e.tool, e.code, e.retryable, e instanceof ToolError] }`),
    ['dead', '', 'UPSTREAM_START', true, true]);
  assert.deepEqual(await valueOf(
    'return [...new Set((await discover()).map((each) => each.server))].sort()'),
    ['long', 'many', 'up']);
});

// Fails to start until there is the file, and from then on never comes.
const failing = (file) => ({ command: 'sh',
  args: ['-c', `[ -e ${file} ] && exec sleep 600; echo no database >&2; exit 3`] });

test('a server whose last start has failed keeps nobody waiting who asks for the tools of all', async () => {
  const file = join(folder, 'hangs');
  const other = await open(allow({ bad: failing(file), up: told(`[${TOOL}]`) }));
  const names = async () => textOf((await other.call('discover')).result);
  assert.match(await names(), /^up: tell\n\[bad is not there, and is started again when it is asked for: it ended with status 3; .*no database\]\n$/);
  writeFileSync(file, '');
  const waits = other.call('discover', { server: 'bad' }).then(() => 'who waits for it', () => '');
  assert.match(await Promise.race([waits, names()]), /^up: tell\n\[bad is not there, and is being started again: it ended with status 3;/);
  const inside = other.call('execute', { code: 'return (await discover("")).map((each) => each.tool)' });
  assert.deepEqual((await Promise.race([waits, inside])).result.structuredContent.result, ['tell']);
  await other.close();
});

test('a server that has failed is started again behind the answers, and is there once it has come', async () => {
  const file = join(folder, 'mended');
  const bad = upstream('bad', 'crashes-at-start', `upgrade=${file}`);
  const other = await open(allow({ bad, up: told(`[${TOOL}]`) }));
  const names = async () => textOf((await other.call('discover')).result);
  const until = async (fits) => {
    for (let i = 0; i < 1000; i++) {
      const text = await names();
      if (fits.test(text)) return;
      assert.match(text, /^up: tell\n\[bad is not there, and is .*: it ended with status 9/);
      await sleep(20);
    }
    assert.fail(`never: ${fits}`);
  };
  await until(/^up: tell\n\[bad is not there, and is not started again for [1-9] s: it ended with status 9/);
  writeFileSync(file, '');
  await until(/^bad: echo, .*\nup: tell\n$/);
  await other.close();
});

test('a JSON-RPC error of a server keeps its code and its data', async () => {
  const error = { code: -32602, message: 'bad args', data: { field: 'x' } };
  const told = await errorOf('await servers.up.tell(input)', { error });
  const message = 'bad args (error -32602): {"field":"x"}';
  assert.deepEqual([told.code, told.message], ['UPSTREAM_REFUSED', message]);
  const direct = await call('call', { server: 'up', tool: 'tell', args: { error } });
  assert.equal(textOf(direct), `UPSTREAM_REFUSED: ${message}`);
  assert.equal((await errorOf('await servers.up.tell(input)', { error: { code: -32000 } })).message,
    'no reason was given (error -32000)');
});

test('a failure of many lines is the failure that it is, and keeps its lines', async () => {
  for (const [said, shown] of [['line1\nline2', 'line1\nline2'], ['tab\tx', 'tab\tx'], ['a\r\nb', 'a\r\nb'], ['a\rb', 'a\\u{d}b'],
    ['esc\x1b[31mred', 'esc\\u{1b}[31mred'], ['bidi\u202ex', 'bidi\\u{202e}x'], ['nul\0x', 'nul\ufffdx'],
    ['plain', 'plain']]) {
    const result = { isError: true, content: [{ type: 'text', text: said }] };
    const failed = await errorOf('await servers.up.tell(input)', { result });
    assert.deepEqual([failed.code, failed.message], ['TOOL_ERROR', shown]);
    if (said.includes('\0')) continue; // of a JSON-RPC error it is the end
    const refused = await errorOf('await servers.up.tell(input)', { error: { code: -32000, message: said } });
    assert.deepEqual([refused.code, refused.message], ['UPSTREAM_REFUSED', `${shown} (error -32000)`]);
  }
  const { content } = await call('execute', { code: 'await servers.up.tell(input)',
    input: { result: { isError: true, content: [{ type: 'text', text: 'one\nhint: two' }] } } });
  assert.match((await errorOf('await Promise.any([servers.up.tell(input)])', { error: { message: 'a\nb\x1b' } }))
    .message, /UPSTREAM_REFUSED: a\\nb\\u\{1b\} /);
  assert.match(content[0].text, /^TOOL_ERROR at .*: ToolError: one\n    hint: two\n>/);
});

test('a denial whose reason has many lines is a denial', async () => {
  const own = await open({ mcpServers: { up: told(`[${TOOL}]`) }, glovebox: { rules: [{ action: 'deny', reason: 'not\nhere' }] } });
  const { error } = (await own.call('execute', { code: 'await servers.up.tell({})' })).result.structuredContent;
  assert.deepEqual([error.code, error.message], ['DENIED', 'the rules do not allow this call: not\nhere']);
  await own.close();
});

test('a tool that fails with structured content alone has said why', async () => {
  const result = { isError: true, content: [], structuredContent: { error: 'quota exceeded' } };
  const error = await errorOf('await servers.up.tell(input)', { result });
  assert.deepEqual([error.code, error.message], ['TOOL_ERROR', '{"error":"quota exceeded"}']);
  const direct = await call('call', { server: 'up', tool: 'tell', args: { result } });
  assert.deepEqual([direct.isError, textOf(direct)], [true, '{"error":"quota exceeded"}']);
  result.structuredContent.error = 'ü'.repeat(9000);
  const long = await errorOf('await servers.up.tell(input)', { result });
  assert.match(long.message, /^\{"error":"ü+ \[\.\.\. \d+ bytes \.\.\.\] ü+"\}$/);
  assert.ok(Buffer.byteLength(long.message) <= 4200, long.message);
});

test('an answer of very many blocks is cut as one, and keeps nobody waiting', async () => {
  const result = { content: [{ type: 'text', text: 'x' }] };
  const answer = wire.call('call', { server: 'up', tool: 'tell', args: { result, times: 300000 } });
  const ping = wire.ask('ping');
  const { content } = (await answer).result;
  assert.ok(JSON.stringify(content).length < 70000);
  assert.match(content[0].text, /^\[result cut: .* of 599999 bytes are shown/);
  assert.equal(content.filter((each) => each.type === 'resource_link').length, 1);
  await ping;
});

test('content that is no list is no answer, and a block that is none is text', async () => {
  const result = { content: { type: 'text', text: 'x' } };
  const direct = await call('call', { server: 'up', tool: 'tell', args: { result } });
  assert.match(textOf(direct), /^UPSTREAM_PROTOCOL: the content of the result is not a list/);
  assert.equal((await errorOf('await servers.up.tell(input)', { result })).code, 'UPSTREAM_PROTOCOL');
  result.content = ['a', { type: 'video' }];
  const { content } = await call('call', { server: 'up', tool: 'tell', args: { result } });
  assert.deepEqual(content.slice(0, 2), [{ type: 'text', text: '"a"' },
    { type: 'text', text: '{"type":"video"}' }]);
});

test('structured content that is too long, or no object, is told as text', async () => {
  for (const structuredContent of [{ a: 'y'.repeat(1e5) }, [1, 2]]) {
    const result = { content: [], structuredContent };
    const direct = await call('call', { server: 'up', tool: 'tell', args: { result } });
    assert.match(JSON.stringify(direct.content), Array.isArray(structuredContent)
      ? /"text":"\[1,2\]"/ : /of 100008 bytes are shown.*y{9000}/);
  }
});

test('every tool that is listed can be called, whatever the length of its name', async () => {
  assert.deepEqual(await valueOf(`const names = (await servers.long.tools()).map((t) => t.name);
    return Promise.all(names.map(async (n) => [(await servers.long[n]({})).length, n.length,
      (await discover({ server: 'long', tool: n, detail: 'names' })).length]))`),
    [130, 200, 256].map((n) => [n, n, 1]));
  const tool = 'u'.repeat(256);
  assert.equal(textOf(await call('call', { server: 'long', tool })), tool);
  assert.match(textOf(await call('discover', { server: 'long', tool })), /u{256}/);
  assert.match(textOf(await call('provision', { server: 'long' })), /3 tools: u{130}, u{200}, u{256}/);
});

test('a name that is longer than any tool has is called that', async () => {
  const why = /the name of a tool has at most 256 bytes$/;
  const error = await errorOf("await servers.long['u'.repeat(257)]({})");
  assert.equal(error.code, 'INVALID_ARGS');
  assert.match(error.message, why);
  const direct = await call('call', { server: 'long', tool: 'ü'.repeat(129) });
  assert.match(textOf(direct), why);
  assert.equal((await errorOf("await servers.long['\u00fc'.repeat(128)]({})")).code, 'NOT_FOUND');
});

test('every tool of a server that has many is known by its name', async () => {
  assert.deepEqual(await valueOf(`return [await servers.many.tool_4095({}),
    await servers.many.Tool4094({}),
    (await discover({ server: 'many', tool: 'tool_4095' })).length,
    (await discover({ tool: 'tool_4093' })).length]`), ['tool_4095', 'tool_4094', 1, 1]);
});

test('every tool of a server that has many is declared', async () => {
  const said = textOf(await call('discover', { server: 'many', detail: 'types' }));
  const [uri] = said.match(/artifact:\S+(?=,)/);
  const pages = [];
  for (let at = uri; at !== undefined; at = pages.at(-1)._meta?.next)
    pages.push((await wire.ask('resources/read', { uri: at })).result.contents[0]);
  const declared = pages.map(({ text }) => text).join('').match(/\btool_\d+\(/g);
  assert.equal(new Set(declared).size, 4096);
});

test('tools that cannot be called are counted, and those without a schema are not among them', async () => {
  const path = configure('odd.json', { odd: told(`[${TOOL}, { name: 'free' }, { name: 'x', inputSchema: [] },
    { name: 'u'.repeat(257), inputSchema: {} }]`), many: told(
    "Array.from({ length: 5000 }, (_, i) => ({ name: 'tool_' + i }))") });
  const why = '2 left out, the first one whose inputSchema is not an object';
  const run = (...args) => spawnSync(process.env.GLOVEBOX, ['mcp', 'doctor', '--config', path, ...args],
    { env, encoding: 'utf8' });
  const [odd, many] = run().stdout.split('\n');
  assert.match(odd, / 2 tools \(0 only read\) /);
  assert.ok(odd.endsWith(`(${why})`), odd);
  assert.match(many, /4096 tools .*\(904 left out, the first one beyond the first 4096\)$/);
  const json = JSON.parse(run('--json').stdout).servers[0];
  assert.deepEqual([json.tools, json.leftOutTools, json.leftOut], [2, 2, why]);

  const own = await open(path);
  assert.equal((await own.call('execute', { code: 'return servers.odd.free({})' })).result
    .structuredContent.result, 'free');
  assert.match(textOf((await own.call('discover', { server: 'odd', tool: 'free' })).result),
    /free\(args\?: \{ \[key: string\]: unknown \}\)/);
  assert.ok(textOf((await own.call('provision', { server: 'odd' })).result).includes(why));
  await own.close();
});

test('a server that never answers stops no script over others, its own one neither', async () => {
  const own = await open(allow({ up: told(`[${TOOL}]`), hung: upstream('bad') }));
  const hang = 'const all = Array.from({ length: 40 }, () => servers.hung.hang({}));';
  own.say({ id: 'holds', method: 'tools/call', params: { name: 'execute', _meta: { progressToken: 1 },
    arguments: { code: `${hang}\nconsole.log(await servers.up.tell({}));\nawait Promise.allSettled(all);` } } });
  await own.hear((m) => m.method === 'notifications/progress' && m.params.message === 'tell');
  const other = (await own.call('execute', { code: 'return servers.up.tell({})' })).result;
  assert.equal(other.structuredContent.result, 'tell');
  own.say({ method: 'notifications/cancelled', params: { requestId: 'holds' } });
  await own.close();
});

test('names that reorder text are shown escaped', async () => {
  for (const detail of ['names', 'summary', 'types']) {
    const shown = textOf(await call('discover', { server: 'up', detail }));
    assert.ok(shown.includes('b\\u{202e}c') && !shown.includes('\u202e'), shown);
  }
  assert.doesNotMatch(textOf(await call('provision', { server: 'up' })), /\u202e/);
});

test('a tool whose name and description are written with escapes is found by both', async () => {
  const up = told("[{ name: 'größe/datei', description: '検索', inputSchema: { type: 'object' } }]");
  up.args.push('escaped');
  const other = await open(allow({ up, other: told(`[${TOOL}]`) }));
  for (const args of [{ tool: 'größe/datei' }, { query: 'Größe' }, { query: '検索' }])
    assert.equal(textOf((await other.call('discover', { ...args, detail: 'names' })).result).replace('.', ': '),
      'up: größe/datei\n', JSON.stringify(args));
  await other.close();
});

test('who finds nothing is told where something is', async () => {
  assert.match(textOf(await call('discover', { query: 'zebra' })),
    /^No tool fits; there are 2 of up, 3 of long, 4096 of many\. Without a query all are listed\.\n\[dead/);
  assert.match(textOf(await call('discover', { query: 'zebra', server: 'long' })), /^No tool fits; there are 3 of long\. /);
  assert.match(textOf(await call('discover', { query: 'zebra', server: 'dead' })), /^No tool is known\.\n\[dead is not/);
});

test('code is told which servers are not in what it has found', async () => {
  const { result, logs } = await execute("return (await discover('tell')).map((t) => t.server)");
  assert.deepEqual(result, ['up']);
  assert.match(JSON.stringify(logs), /not in what discover\(\) found: dead; discover/);
  assert.deepEqual((await execute("await discover('tell', { server: 'up' })")).logs, []);
});

test('a summary says of a schema that is made of others that there are more arguments', async () => {
  const a = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  const many = Object.fromEntries(Array.from({ length: 13 }, (_, i) => [`p${i}`, {}]));
  const rows = [
    ['none', {}, '({})'],
    ['own', a, '({a})'],
    ['one', { oneOf: [a] }, '({...})'],
    ['any', { ...a, anyOf: [{ required: ['b'] }] }, '({a, ...})'],
    ['all', { properties: { b: {} }, allOf: [a] }, '({b?, ...})'],
    ['ref', { $ref: '#/$defs/a', $defs: { a } }, '({...})'],
    ['lots', { properties: many, oneOf: [a] }, `({${Object.keys(many).slice(0, 12).join('?, ')}?, ...})`],
    ['nested', { properties: { b: { oneOf: [a] } } }, '({b?})'],
    ['call', { oneOf: [a] }, '("call", {...})', '.call'],
  ];
  const tools = rows.map(([name, schema]) => ({ name, description: 'It does.', inputSchema: { type: 'object', ...schema } }));
  const own = await open(allow({ made: told(JSON.stringify(tools)) }));
  const summary = textOf((await own.call('discover', { server: 'made', detail: 'summary' })).result);
  await own.close();
  assert.deepEqual(summary.trimEnd().split('\n'),
    rows.map(([name, , args, how = `.${name}`]) => `made${how}${args} - It does.`));
});

test('calls that are made while a server starts reach it in their order', async () => {
  const file = join(folder, 'order');
  // no rules: which tools read is asked of the server
  const other = await open({ mcpServers: { up: upstream('counting', file) } });
  await Promise.all([0, 1, 2, 3, 4].map((n) =>
    other.call('call', { server: 'up', tool: 'look', args: { n } })));
  await other.close();
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  assert.deepEqual(lines.map((line) => JSON.parse(line).args.n), [0, 1, 2, 3, 4]);
});

const clients = {};

/** A client of that version, one for all tests that leave its server as it is. */
const ofVersion = (version) => (clients[version] ??= open(allow({ up: told(`[${TOOL}]`) }), { version }));

test('a link or a sound goes to clients whose version has it, and is text to others', async () => {
  const result = { content: [{ type: 'resource_link', uri: 'demo://1', name: 'one' },
    { type: 'audio', data: 'AAEC', mimeType: 'audio/wav' }] };
  for (const [version, types] of [['2024-11-05', ['text', 'text']], ['2025-03-26', ['text', 'audio']],
    ['2025-06-18', ['resource_link', 'audio']]]) {
    const other = await ofVersion(version);
    const { content } = (await other.call('call', { server: 'up', tool: 'tell', args: { result } })).result;
    assert.deepEqual(content.slice(0, -1).map(({ type }) => type), types);
  }
});

test('structured content must fit the schema that its tool has told, except in an error', async () => {
  const outputSchema = { type: 'object', properties: { rows: { type: 'array', items: { type: 'object', required: ['id'] } } } };
  const wire = await open(allow({ up: told(`[{ ...${TOOL}, outputSchema: ${JSON.stringify(outputSchema)} }]`) }));
  const tell = async (rows, isError) => (await wire.call('call', { server: 'up', tool: 'tell', args: { result: { content: [], structuredContent: { rows }, isError } } })).result;
  assert.deepEqual((await tell([{ id: 1 }])).structuredContent, { rows: [{ id: 1 }] });
  const why = "UPSTREAM_PROTOCOL: the structuredContent of the server 'up' does not fit the outputSchema of its tool 'tell': at '/rows/1/id', it is missing";
  assert.ok((await tell([{ id: 1 }, {}])).content[0].text.startsWith(why));
  assert.deepEqual((await tell([{}], true)).structuredContent, { rows: [{}] });
  const nothing = await wire.call('call', { server: 'up', tool: 'tell', args: { result: { content: [{ type: 'text', text: 'a' }], structuredContent: null } } });
  assert.equal(nothing.result.content[0].text, 'a');
  const code = 'return servers.up.tell({ result: { content: [], structuredContent: { rows: 7 } } }).catch(({ code, message }) => `${code} ${message}`)';
  assert.match(JSON.stringify((await wire.call('execute', { code })).result.structuredContent.result), /UPSTREAM_PROTOCOL.* at '\/rows', it is of another type/);
});

test('a value that has no block is told as text, too, in every version', async () => {
  const result = { content: [], structuredContent: { sum: 2 } };
  for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
    const other = await ofVersion(version);
    const answer = (await other.call('call', { server: 'up', tool: 'tell', args: { result } })).result;
    assert.deepEqual(answer.structuredContent, { sum: 2 });
    assert.deepEqual(answer.content[0], { type: 'text', text: '{"sum":2}' });
    assert.equal(answer.content.length, 2);
  }
});

test('a tool that gives nothing is said to, unless it has failed', async () => {
  for (const result of [{}, { content: [] }, { content: null }]) {
    const direct = await call('call', { server: 'up', tool: 'tell', args: { result } });
    assert.match(textOf(direct), /^\(1 call; \d+ ms; \d+ bytes; the tool gave nothing back\)$/);
  }
  const failed = await call('call', { server: 'up', tool: 'tell', args: { result: { isError: true } } });
  assert.match(failed.content.at(-1).text, /bytes\)$/);
});

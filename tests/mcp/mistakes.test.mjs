// SPDX-License-Identifier: MIT
// What models get wrong in code mode, and what they are told: a reply that names the mistake
// saves the next one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allow, open, put, upstream } from './box.mjs';
import { rows, table } from './tables.mjs';

const plain = upstream('plain');
const servers = { up: plain, unset: { ...plain, env: { KEY: '${NOT_SET_ANYWHERE}' } }, off: { ...plain, disabled: true } };
const openPlain = (limits = {}, version = undefined, args = []) => open(allow(servers, { limits }), { version, args });
const wire = await openPlain();
const tables = Object.fromEntries(table('mistakes'));

const call = async (name, args) => (await wire.call(name, args)).result;
const execute = async (code) => (await call('execute', { code }));
const errorOf = async (code) => (await execute(code)).structuredContent.error;
const valueOf = async (code) => (await execute(code)).structuredContent.result;
const textOf = (result) => result.content[0].text;

test('a configuration in which no server is found is said to have none', async () => {
  for (const [text, said] of [['{"mcp": {"servers": {"a": {"command": "x"}}}}', true], ['{}', true],
    ['{"servers": {"a": {"command": "x", "disabled": true}}}', false]]) {
    const none = await open(put('none.json', text));
    assert.equal((await none.close()).code, 0);
    assert.equal(/no servers in '.*none\.json': they belong under "mcpServers"/
      .test(none.stderr), said, text);
  }
});

test('a box that cannot be made is for who runs the server', async () => {
  const none = await open(allow(servers), { env: { GLOVEBOX_WORKER: '/nonexistent' } });
  const { error } = (await none.call('execute', { code: '1' })).result.structuredContent;
  await none.close();
  assert.equal(error.code, 'UNAVAILABLE');
  assert.match(error.message, /^cannot open the worker program/);
  assert.equal(error.hint, 'ask the operator of this server to fix this');
});

test('a server whose variable is not set is reported by the name of that', async () => {
  const why = /'unset' cannot start: the environment variable 'NOT_SET_ANYWHERE' is not set/;
  for (const [name, args] of [['provision', { server: 'unset' }], ['discover', { server: 'unset' }],
    ['call', { server: 'unset', tool: 'wait' }]]) {
    const result = await call(name, args);
    assert.equal(result.isError, true);
    assert.match(textOf(result), why);
  }
  for (const code of ['await servers.unset.wait()', 'await servers.unset.tools()',
    "await discover({ server: 'unset' })"]) {
    const error = await errorOf(code);
    assert.equal(error.code, 'UPSTREAM_START');
    assert.match(error.message, why);
  }
  assert.match(textOf(await call('discover', {})), /\[unset is not there: .*NOT_SET_ANYWHERE/);
  assert.match(textOf(await call('call', { server: 'off', tool: 'wait' })),
    /^NOT_FOUND: the server 'off' is disabled in the configuration$/);
  assert.equal((await errorOf('servers.off')).code, 'NOT_FOUND');
});

test('a server whose entry is wrong is reported with its place, and costs no other', async () => {
  const wrong = { 'no-command': { args: [] }, 'wrong-type': { command: 'x', env: [] }, 'no-object': 5,
    half: { command: 'x', args: ['a', {}] }, 'half-env': { command: 'x', env: { A: [] } }, 'half-header': { url: 'https://x/', headers: { A: {} } },
    'a b': plain, slip: { ...plain, disable: true }, 'unknown-key': { ...plain, glovebox: { timoutMs: 5 } } };
  const other = await open(allow({ ...wrong, up: plain }));
  const ask = async (name, args) => (await other.call(name, args)).result;
  const value = (await ask('execute', { code: 'return (await servers.up.list_items()).items.length' })).structuredContent;
  const all = textOf(await ask('discover', {}));
  const one = (await ask('execute', { code: "return await servers['no-command'].x()" })).structuredContent;
  await other.close();
  assert.equal(value.ok, true, JSON.stringify(value));
  for (const name of ['no-command', 'wrong-type', 'no-object', 'half', 'half-env', 'half-header', 'a-b', 'slip', 'unknown-key']) {
    assert.match(all, new RegExp(`\\[${name} is not there: its configuration is wrong at line 1, column \\d+: mcpServers\\.`), name);
    assert.match(other.stderr, new RegExp(`^glovebox: ${name}: its configuration is wrong at line 1, column \\d+`, 'm'), name);
  }
  assert.equal(one.error.code, 'UPSTREAM_START');
  assert.match(one.error.message, /'no-command' cannot start: its configuration .*: 'command' is missing, or a 'url'/);
});

test('numbers and objects that a model writes as texts are taken', async () => {
  assert.equal((await call('execute', { code: 'return 42', timeout_ms: '5000' })).structuredContent.result, 42);
  assert.match(textOf(await call('execute', { code: 'return 42', timeout_ms: 'soon' })), /'timeout_ms' is a number of milliseconds/);
  const given = (args) => call('call', { server: 'up', tool: 'get_item', args }).then(textOf);
  assert.equal(await given('{"id": 7}'), '{"tool":"get_item","args":{"id":7}}');
  assert.equal(await given(null), '{"tool":"get_item","args":{}}');
  for (const args of ['[1]', '{"id": ', '7', '']) assert.match(await given(args), /^INVALID_ARGS: give server, tool and args, an object$/);
});

test('a tool of another server that is called as one of ours is answered with how to call it', async () => {
  await execute('await servers.up.wait({ ms: 0 })');
  for (const name of ['get_item', 'up__get_item', 'mcp__up__get_item', 'up.get_item']) {
    const { error } = await wire.call(name, { id: 1 });
    assert.equal(error.code, -32602);
    assert.equal(error.message, `unknown tool '${name}': call it by the tool 'call', with `
      + `{"server": "up", "tool": "get_item", "args": {...}}, or in the code of 'execute'`);
  }
  assert.equal((await wire.call('excute', {})).error.message, "unknown tool 'excute': did you mean 'execute'?");
});

test('a parameter for what is there already is told to be left out, if there is an input', async () => {
  for (const code of ['async ({ input }) => input.a', 'async ({ servers, input }) => {\n  return input[0]\n}',
    'async (servers) => (await servers.up.list_items()).items', '({ input }) => ({ ...input }.a.b)']) {
    const { error } = (await call('execute', { code, input: { a: 1 } })).structuredContent;
    if (code.includes('...')) assert.doesNotMatch(error.hint, /leave the parameter out/);
    else assert.match(error.hint, /leave the parameter out$/, code);
  }
});

test('discover of a tool that is not there suggests the nearest', async () => {
  const meant = /^the server 'up' has no tool 'get_itm': did you mean 'get_item'\?/;
  assert.match((await errorOf('return servers.up.getItm()')).message, /did you mean 'get_item'\?/); // another style
  const result = await call('discover', { server: 'up', tool: 'get_itm' });
  assert.equal(result.isError, true);
  assert.match(textOf(result), meant);
  assert.match(textOf(await call('discover', { tool: 'get_itm' })),
    /^no server has a tool 'get_itm': did you mean 'up\.get_item'\?/);
  const error = await errorOf("await discover({ server: 'up', tool: 'get_itm' })");
  assert.equal(error.code, 'NOT_FOUND');
  assert.match(error.message, meant);
  assert.deepEqual(
    (await valueOf("return discover({ tool: 'get_item' })")).map((each) => each.tool), ['get_item']);
  assert.match(textOf(await call('discover', { tool: 'get_item', query: 'zebra' })), /^No tool fits/);
});

test('what discover is given wrongly is refused', async () => {
  for (const args of [{ query: 5 }, { query: 55 }, { query: {} }, { server: 5 }, { server: 55 }]) {
    const result = await call('discover', args);
    assert.equal(result.isError, true);
    assert.match(textOf(result), /^'(query|server)' is a string/);
  }
  for (const code of ['await discover(5)', "await discover('x', { detail: 'all' })"])
    assert.equal((await errorOf(code)).code, 'INVALID_ARGS');
});

test('a reply that is cut has a link to the whole, for clients that know links', async () => {
  const small = await openPlain({ replyBytes: 1000 });
  for (const [name, args] of [['discover', { server: 'up', detail: 'types' }],
    ['call', { server: 'up', tool: 'get_item', args: { text: 'x'.repeat(3000) } }]]) {
    const { content } = (await small.call(name, args)).result;
    const [, uri] = textOf({ content }).match(/whole is the resource (\S+), in pages/);
    const link = content.find((block) => block.type === 'resource_link');
    assert.equal(link.uri, uri);
    assert.ok((await small.ask('resources/read', { uri })).result.contents[0].text.length >= link.size);
  }
  await small.close();
  const old = await openPlain({ replyBytes: 1000 }, '2025-03-26');
  const { content } = (await old.call('discover', { server: 'up', detail: 'types' })).result;
  assert.deepEqual(content.map((block) => block.type), ['text']);
  await old.close();
});

test('of a log that is too long the beginning is kept, without gaps', async () => {
  const small = await openPlain({ outputBytes: 5000 });
  const { structuredContent: s, content } = (await small.call('execute', { code:
    "for (let i = 0; i < 100; i++) console.log(i + ' ' + 'x'.repeat(i % 7 * 20)); return 1" })).result;
  await small.close();
  assert.equal(s.truncated, true);
  assert.ok(s.logs.length > 20 && s.logs.length < 100, s.logs.length);
  s.logs.forEach((line, i) => assert.equal(parseInt(line, 10), i));
  assert.ok(textOf({ content }).startsWith(
    `[logs over the limit of a run: ${s.logs.length} lines are kept, `), textOf({ content }));
});

test('a tool of a name that is taken is shown as it can be called', async () => {
  assert.match(textOf(await call('discover', { server: 'up', tool: 'then' })),
    /^ {4}call\(tool: "then", args\?: \{ \[key: string\]: unknown \}\): Promise<any>;$/m);
  assert.match(textOf(await call('discover', { server: 'up' })),
    /^up\.call\("tools", \{\}\) - Tool tools$/m);
  assert.equal((await valueOf("return await servers.up.call('then', {})")).tool, 'then');
});

test('a tool that is called as other hosts call it, or on what is no function, is told how', async () => {
  await call('discover', { server: 'up' });
  for (const code of ['mcp__up__wait({})', 'await up__wait({})', 'await wait({})'])
    assert.equal((await errorOf(code)).hint, 'did you mean servers.up.wait(args)?', code);
  for (const code of ["servers('up').wait()", "await servers.up('wait', {})"])
    assert.match((await errorOf(code)).hint, /^tools are called by their server: servers\["NAME"\]\.call/);
  assert.match((await errorOf("await servers.call('up', 'wait', {})")).message,
    /^unknown server 'call': write servers\.NAME\.call\("tool", \{ name: value \}\) \(there are: /);
  assert.equal((await errorOf('up_wit({})')).hint, 'declare this function, or check its spelling');
});

test('a value that is an empty text is called that', async () => {
  assert.match(textOf(await execute("return ''")), /^The value is an empty text\n\(/);
});

test('the limit of one sleep stands in the description', async () => {
  const short = await openPlain({ sleepMs: 20 });
  const { tools } = (await short.ask('tools/list')).result;
  assert.match(tools.find((tool) => tool.name === 'execute').description, /, 0\.02 s a sleep, /);
  await short.close();
});

test('what the code cannot do leads to the tools of servers, not to options of the command', async () => {
  for (const [code, { hint }] of rows(tables['what code cannot do'])) {
    const error = await errorOf(code);
    assert.equal(error.code, 'INVALID_CODE');
    assert.match(error.hint, hint);
    assert.doesNotMatch(error.hint, /--allow|outside/);
  }
  const own = await openPlain({}, undefined, ['--allow', 'fetch=a.test']);
  const { error } = (await own.call('execute', { code: "await fetch('https://b.test/')" }))
    .result.structuredContent;
  assert.match(error.hint, /^ask a site that is allowed, or call a tool of a server/);
  await own.close();
});

for (const [line, { unknown }] of rows(tables['arguments that there are not'])) {
  test(`an argument that there is not is refused: ${line}`, async () => {
    const [, tool, args] = /^(\w+) (.*)$/.exec(line);
    const result = await call(tool, JSON.parse(args));
    assert.equal(result.isError, true);
    assert.ok(textOf(result).includes(`unknown argument ${unknown}`), textOf(result));
    assert.match(textOf(result), tool === 'discover' ? /^unknown/ : /^INVALID_ARGS: /);
  });
}

test('schemas say that there are no other arguments', async () => {
  for (const { inputSchema } of (await wire.ask('tools/list')).result.tools)
    assert.equal(inputSchema.additionalProperties, false);
});

for (const [title, lines] of Object.entries(tables).filter(([each]) => each.startsWith('habit: ')))
  for (const code of lines) {
    test(`what it is called here is said of a habit from elsewhere: ${code}`, async () => {
      assert.match((await errorOf(code)).hint, new RegExp(title.slice('habit: '.length)));
    });
  }

test('a member that no result has is named where the value looks as if something was missing', async () => {
  const read = 'const r = await servers.up.list_items();';
  for (const [code, { said }] of rows(tables['members that no result has']))
    assert.match(textOf(await execute(`${read} ${code}`)), said, code);
  for (const code of tables['members that nobody misses'])
    assert.doesNotMatch(textOf(await execute(`${read} ${code}`)), /no result of a call/, code);
});

test("a tool that is named with its server's name is found without it", async () => {
  for (const tool of ['up.get_item', 'mcp__up__get_item', 'up__get_itm'])
    assert.match(textOf(await call('call', { server: 'up', tool })), /did you mean 'get_item'\?$/);
  assert.match(textOf(await call('call', { server: 'up', tool: 'zebra' })),
    /: discover\(\{ server: "up" \}\) lists its tools$/);
});

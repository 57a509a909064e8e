// SPDX-License-Identifier: MIT
// What becomes of servers that do not start, and of answers and tools that are odd: code is
// told what went wrong, in the server's own words.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Wire, killAll } from './wire.mjs';

const folder = mkdtempSync(join(tmpdir(), 'upstreams-'));
const told = (tools) => ({ command: process.execPath,
  args: [fileURLToPath(new URL('told-upstream.mjs', import.meta.url)), tools] });
const TOOL = "{ name: 'tell', inputSchema: { type: 'object' } }";

function configure(name, mcpServers) {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify({ mcpServers, glovebox: { rules: [{ action: 'allow' }] } }));
  return path;
}

const env = { GLOVEBOX_WORKER: process.env.GLOVEBOX_WORKER, PATH: process.env.PATH, HOME: folder };
let wire;
before(async () => {
  const path = configure('mcp.json', {
    up: told(`[${TOOL}]`),
    dead: { command: 'sh', args: ['-c', 'echo no database >&2; exit 3'] } });
  wire = new Wire(process.env.GLOVEBOX, ['mcp', '--config', path], { env });
  await wire.initialize();
});
after(async () => {
  await wire.close();
  killAll();
  rmSync(folder, { recursive: true });
});

const call = async (name, args) => (await wire.call(name, args)).result;
const execute = async (code, input) => (await call('execute', { code, input })).structuredContent;
const errorOf = async (code, input) => (await execute(code, input)).error;
const valueOf = async (code, input) => (await execute(code, input)).result;
const textOf = (result) => result.content[0].text;

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
  assert.deepEqual((await valueOf('return await discover()')).map((each) => each.server), ['up']);
});

test('a JSON-RPC error of a server keeps its code', async () => {
  const error = { code: -32602, message: 'bad args', data: { field: 'x' } };
  const told = await errorOf('await servers.up.tell(input)', { error });
  assert.deepEqual([told.code, told.message], ['UPSTREAM_REFUSED', 'bad args (error -32602)']);
  const direct = await call('call', { server: 'up', tool: 'tell', args: { error } });
  assert.equal(textOf(direct), 'UPSTREAM_REFUSED: bad args (error -32602)');
  assert.equal((await errorOf('await servers.up.tell(input)', { error: { code: -32000 } })).message,
    'no reason was given (error -32000)');
});

test('a tool that fails with structured content alone has said why', async () => {
  const result = { isError: true, content: [], structuredContent: { error: 'quota exceeded' } };
  const error = await errorOf('await servers.up.tell(input)', { result });
  assert.deepEqual([error.code, error.message], ['TOOL_ERROR', '{"error":"quota exceeded"}']);
  const direct = await call('call', { server: 'up', tool: 'tell', args: { result } });
  assert.deepEqual([direct.isError, textOf(direct)], [true, '{"error":"quota exceeded"}']);
  result.structuredContent.error = 'ü'.repeat(9000);
  const long = await errorOf('await servers.up.tell(input)', { result });
  assert.ok(Buffer.byteLength(long.message) <= 4200 && long.message.endsWith('üü'), long.message);
});

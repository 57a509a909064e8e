// SPDX-License-Identifier: MIT
// metrics: what `/metrics` of a server over HTTP has, line by line, and who gets it.
import assert from 'node:assert/strict';
import { createConnection } from 'node:net';
import { test } from 'node:test';
import { allow, put, upstream } from './box.mjs';
import { serve } from './front.mjs';
import { children, until } from './processes.mjs';
import { META } from './wire.mjs';

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\d+(?:\.\d+)?)$/;

/** The samples, as {'name{labels}': number}; every line is in the format, and each is there once. */
function read(text) {
  const samples = {};
  const families = {};
  assert.ok(text.endsWith('\n'));
  let family;
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, name, rest] = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      assert.ok(!Object.hasOwn(families, name), name);
      family = name;
      continue;
    }
    if (kind === 'TYPE') {
      assert.equal(name, family);
      assert.match(rest, /^(counter|gauge|histogram)$/);
      families[name] = rest;
      continue;
    }
    assert.match(line, SAMPLE);
    const [, sample, labels, number] = SAMPLE.exec(line);
    assert.match(sample, families[family] === 'histogram' ? new RegExp(`^${family}_(bucket|sum|count)$`) : new RegExp(`^${family}$`));
    const key = labels === undefined ? sample : `${sample}{${labels}}`;
    assert.ok(!Object.hasOwn(samples, key), key);
    samples[key] = Number(number);
  }
  return samples;
}

async function scrape(front, headers = {}) {
  const response = await fetch(new URL('/metrics', front.url), { headers });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  return read(await response.text());
}

async function post(front, message, headers) {
  const response = await fetch(front.url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers } });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

const call = (front, name, args, headers = {}) => post(front, { method: 'tools/call', params: { name, arguments: args, _meta: META } },
  { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name, ...headers });

/** A session of an older era, and its calls. */
async function begin(front) {
  const { headers } = await post(front, { method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } } });
  const fields = { 'mcp-session-id': headers.get('mcp-session-id') };
  return (name, args) => post(front, { method: 'tools/call', params: { name, arguments: args } }, fields);
}

test('calls are counted by tool, server and code, of all processes together', async () => {
  const front = await serve('--config', put('metrics.json', { mcpServers: { up: upstream('plain'), 'o.ther': upstream('plain') },
    glovebox: { rules: [{ action: 'deny', tool: 'change' }, { action: 'allow' }] } }));
  assert.deepEqual(Object.keys(await scrape(front)), ['glovebox_processes']);
  const session = await begin(front);
  const other = await begin(front);
  await call(front, 'execute', { code: 'await servers.up.get_item({}); await servers.up.fail({}).catch(() => {})' });
  await session('execute', { code: 'await servers.up.change({})' });
  await other('execute', { code: 'await servers["o.ther"].get_item({})' });
  await other('call', { server: 'up', tool: 'nothing', args: {} });
  await other('execute', { code: 'for (;;);', timeout_ms: 100 });
  await other('execute', { code: 7 });
  await other('no such tool', {});
  const seen = await scrape(front);
  const family = (name) => Object.fromEntries(Object.entries(seen).filter(([key]) => key.startsWith(name)));
  assert.deepEqual(family('glovebox_call_duration_seconds_count'), {
    'glovebox_call_duration_seconds_count{tool="execute",code="OK"}': 2,
    'glovebox_call_duration_seconds_count{tool="execute",code="TIMEOUT"}': 1,
    'glovebox_call_duration_seconds_count{tool="execute",code="DENIED"}': 1,
    'glovebox_call_duration_seconds_count{tool="execute",code="INVALID_ARGS"}': 1,
    'glovebox_call_duration_seconds_count{tool="call",code="NOT_FOUND"}': 1 });
  assert.deepEqual(family('glovebox_upstream_call_duration_seconds_count'), {
    'glovebox_upstream_call_duration_seconds_count{server="up",code="OK"}': 1,
    'glovebox_upstream_call_duration_seconds_count{server="up",code="DENIED"}': 1,
    'glovebox_upstream_call_duration_seconds_count{server="up",code="NOT_FOUND"}': 1,
    'glovebox_upstream_call_duration_seconds_count{server="up",code="TOOL_ERROR"}': 1,
    'glovebox_upstream_call_duration_seconds_count{server="o.ther",code="OK"}': 1 });
  const buckets = Object.entries(family('glovebox_call_duration_seconds_bucket{tool="execute",code="TIMEOUT"'));
  assert.equal(buckets.length, 11);
  assert.equal(buckets[3][1], 0, 'no bucket up to 50 ms has it');
  assert.deepEqual(buckets.at(-1), ['glovebox_call_duration_seconds_bucket{tool="execute",code="TIMEOUT",le="+Inf"}', 1]);
  for (let i = 1; i < buckets.length; i++) assert.ok(buckets[i][1] >= buckets[i - 1][1]);
  const sum = seen['glovebox_call_duration_seconds_sum{tool="execute",code="TIMEOUT"}'];
  assert.ok(sum > 0.1 && sum < 600, `${sum}`);
  assert.equal(seen.glovebox_processes, 3);
});

test('what a process has counted stays when it is killed', async () => {
  const front = await serve('--config', put('killed.json', allow({})));
  const session = await begin(front);
  await session('execute', { code: '1' });
  for (const pid of children(children(front.child.pid)[0])) process.kill(pid, 'SIGKILL');
  await until(() => /the process of a session has ended/.test(front.stderr));
  const seen = await scrape(front);
  assert.equal(seen['glovebox_call_duration_seconds_count{tool="execute",code="OK"}'], 1);
});

test('metrics are for those who may send requests', async () => {
  const config = put('who.json', allow({}));
  const token = put('who.token', 'a-token-of-the-test');
  (await import('node:fs')).chmodSync(token, 0o600);
  const front = await serve('--config', config, '--token-file', token);
  const status = async (path, options) => (await fetch(new URL(path, front.url), options)).status;
  const authorization = 'Bearer a-token-of-the-test';
  assert.equal(await status('/metrics'), 401);
  assert.equal(await status('/metrics', { headers: { authorization: 'Bearer another' } }), 401);
  assert.equal(await status('/metrics', { headers: { authorization, origin: 'http://evil.example' } }), 403);
  assert.equal(await status('/metrics', { headers: { authorization }, method: 'POST', body: '{}' }), 404);
  assert.equal(await status('/metrics/', { headers: { authorization } }), 404);
  await scrape(front, { authorization });
  const answer = await new Promise((resolve) => {
    let text = '';
    const socket = createConnection(front.port, '127.0.0.1', () =>
      socket.write(`GET /metrics HTTP/1.1\r\nHost: evil.example\r\nAuthorization: ${authorization}\r\n\r\n`));
    socket.on('data', (part) => { text += part; }).on('close', () => resolve(text));
  });
  assert.match(answer, /^HTTP\/1.1 403 /);
});

test('at --path /metrics there is the server itself', async () => {
  const front = await serve('--config', put('path.json', allow({})), '--path', '/metrics');
  const { status, text } = await call({ url: new URL('/metrics', front.url) }, 'execute', { code: '1' });
  assert.equal(status, 200, text);
  assert.equal((await fetch(new URL('/metrics', front.url))).status, 400); // a session is missing
});

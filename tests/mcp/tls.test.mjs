// SPDX-License-Identifier: MIT
// tls: `glovebox mcp --http` with a certificate: who is served, certificates that are replaced,
// connections that never finish their handshake, and starts that are refused.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { folder, put } from './box.mjs';
import { refused, start } from './front.mjs';
import { until } from './processes.mjs';

const TOKEN = 'a-token-of-enough-characters';
const data = put('rows.json', [{ id: 1 }, { id: 2 }, { id: 3 }]);
const tokenFile = put('token', `${TOKEN}\n`);
chmodSync(tokenFile, 0o600);

/** A certificate that is signed by itself, and its key. */
function identity(name) {
  const [cert, key] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key,
    '-out', cert, '-days', '9', '-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost'], { stdio: 'ignore' });
  chmodSync(key, 0o600);
  return { cert, key, ca: readFileSync(cert) };
}

const ada = identity('ada');
const eve = identity('eve');
const options = ({ cert, key }) => ['--tls-cert', cert, '--tls-key', key, '--token-file', tokenFile];
const begun = (who) => start({}, '--http', '0.0.0.0:0', '--data', `rows=${data}`, ...options(who));

/** A POST of one JSON-RPC message. */
async function post(front, { ca, agent = false, headers = {} }, message) {
  const asked = request({ host: 'localhost', port: front.port, path: '/mcp', method: 'POST', ca, agent, servername: 'localhost',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers } });
  asked.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }));
  const [response] = await once(asked, 'response');
  let text = '';
  for await (const part of response.setEncoding('utf8')) text += part;
  return { status: response.statusCode, headers: response.headers, text };
}

const hello = { method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } } };

test('a client that trusts the certificate calls a tool, again and again on one connection', async () => {
  const front = await begun(ada);
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: ada.ca });
  const { status, headers } = await post(front, { ...ada, agent }, hello);
  const session = { 'mcp-session-id': headers['mcp-session-id'], 'mcp-protocol-version': '2025-11-25' };
  assert.equal(status, 200);
  assert.match(front.url, /^https:\/\/0\.0\.0\.0:\d+\/mcp$/);
  const long = `'x'.repeat(200000)`;
  for (const [code, wanted] of [['data.length', /"value":3/], [`(() => { console.log(${long}); return 1; })()`, /"value":1/], ['data.length', /"value":3/]]) {
    const { text } = await post(front, { ...ada, agent, headers: session }, { method: 'tools/call', params: { name: 'compute', arguments: { code } } });
    assert.match(text, wanted);
  }
  assert.equal(Object.values(agent.freeSockets).flat().length, 1);
  agent.destroy();
  front.child.kill('SIGTERM');
  assert.deepEqual(await front.exited, { code: 0, signal: null });
  assert.doesNotMatch(front.stderr, new RegExp(`${TOKEN}|PRIVATE`));
});

test('without the token nothing is served, and pages of other sites get nothing', async () => {
  const front = await begun(ada);
  for (const [headers, status] of [[{ authorization: 'Bearer x' }, 401], [{ origin: 'https://evil.example' }, 403],
    [{ host: 'mcp.example', origin: 'https://mcp.example' }, 200]])
    assert.equal((await post(front, { ...ada, headers }, hello)).status, status, JSON.stringify(headers));
  front.child.kill('SIGTERM');
  await front.exited;
});

/** What a client gets that speaks something else: all its bytes until the server closes. */
async function speak(socket, bytes) {
  let answer = '';
  socket.on('data', (part) => { answer += part; }).on('error', () => {});
  if (bytes !== undefined) socket.write(bytes);
  await new Promise((resolve) => { socket.on('close', resolve); });
  return answer;
}

test('HTTP without TLS, TLS 1.1 and other bytes get no answer, and stop nobody', async () => {
  const front = await begun(ada);
  const idle = createConnection(front.port, 'localhost'); // never says anything
  for (const bytes of ['GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n', '\x16\x03\x01\xff\xff'.padEnd(70000, 'x'), 'x'.repeat(100)])
    assert.doesNotMatch(await speak(createConnection(front.port, 'localhost'), bytes), /HTTP/);
  const old = connectTls({ port: front.port, host: 'localhost', ca: ada.ca, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' });
  const [{ code }] = await once(old, 'error');
  assert.match(code, /PROTOCOL|ALERT/);
  assert.equal((await post(front, ada, hello)).status, 200);
  idle.destroy();
  front.child.kill('SIGTERM');
  await front.exited;
});

test('an answer that ends the connection ends it by a close_notify', async () => {
  const front = await begun(ada);
  const socket = connectTls({ port: front.port, host: 'localhost', ca: ada.ca });
  let ended = 0;
  socket.on('end', () => { ended++; });
  assert.match(await speak(socket, `GET /none HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`), /^HTTP\/1\.1 404 /);
  assert.equal(ended, 1);
  front.child.kill('SIGTERM');
  await front.exited;
});

test('a certificate that is replaced is used at once; one that does not fit its key is reported and is not', async () => {
  const own = { cert: join(folder, 'own.crt'), key: join(folder, 'own.key') };
  const replace = (cert, key) => {
    for (const [from, to] of [[cert, own.cert], [key, own.key]]) {
      copyFileSync(from, `${to}.new`);
      chmodSync(`${to}.new`, 0o600);
      renameSync(`${to}.new`, to);
    }
  };
  replace(ada.cert, ada.key);
  const front = await begun(own);
  assert.equal((await post(front, ada, hello)).status, 200);
  replace(eve.cert, eve.key);
  assert.equal((await post(front, eve, hello)).status, 200);
  await assert.rejects(post(front, ada, hello), /self-signed|certificate/);
  replace(ada.cert, eve.key);
  assert.equal((await post(front, eve, hello)).status, 200);
  await until(() => /cannot use the key '.*own\.key': key values mismatch; the ones read before stay in use/.test(front.stderr));
  assert.equal((await post(front, eve, hello)).status, 200);
  assert.equal(front.stderr.match(/cannot use/g).length, 1);
  front.child.kill('SIGTERM');
  await front.exited;
});

test('a start that would be unsafe or useless is refused', async () => {
  const open = join(folder, 'open.key');
  copyFileSync(ada.key, open);
  chmodSync(open, 0o666);
  writeFileSync(join(folder, 'not.pem'), 'no certificate', { mode: 0o600 });
  const pair = ['--tls-cert', ada.cert, '--tls-key', ada.key];
  const token = ['--token-file', tokenFile];
  for (const [args, wanted] of [
    [['--http', '0', ...pair], /^64 .*--tls-cert.*--token-file/s],
    [['--http', '0', ...token, '--tls-cert', ada.cert], /^64 .*need each other/s],
    [['--http', '0', ...token, '--tls-key', ada.key], /^64 .*need each other/s],
    [['--http', '0', ...token, ...pair, '--behind-proxy'], /^64 .*--behind-proxy/s],
    [['--socket', join(folder, 'socket'), ...token, ...pair], /^64 .*--http/s],
    [pair, /^64 .*--http/s],
    [['--http', '0', ...token, '--tls-cert', '/none/such', '--tls-key', ada.key], /cannot use the certificate '\/none\/such'/],
    [['--http', '0', ...token, '--tls-cert', join(folder, 'not.pem'), '--tls-key', ada.key], /cannot use the certificate '.*not\.pem'/],
    [['--http', '0', ...token, '--tls-cert', ada.cert, '--tls-key', join(folder, 'not.pem')], /cannot use the key '.*not\.pem'/],
    [['--http', '0', ...token, '--tls-cert', ada.cert, '--tls-key', eve.key], /key values mismatch/],
    [['--http', '0', ...token, '--tls-cert', ada.cert, '--tls-key', open], /chmod/],
  ]) {
    const said = await refused({}, '--data', `rows=${data}`, ...args);
    assert.match(said, wanted, args.join(' '));
    assert.doesNotMatch(said, /listening|^0 /);
  }
});

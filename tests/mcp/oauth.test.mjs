// SPDX-License-Identifier: MIT
// oauth: signing in to servers that want it, and what the tokens are used for.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { allow, env, folder, open, put } from './box.mjs';
import { connect as connectClient } from './clients.mjs';
import { issue } from './issuer.mjs';
import { until } from './processes.mjs';
import { login } from './sign-in.mjs';
import { done, json } from './web.mjs';

const FILE = join(folder, '.local/state/glovebox/oauth/tokens.json');
const kept = (as) => JSON.parse(readFileSync(FILE, 'utf8'))[`${as.url}/mcp`];
const configOf = (as, { oauth, ...more } = {}) => put(`mcp-${new URL(as.url).port}.json`,
  allow({ up: { type: 'http', url: `${as.url}/mcp`, ...more, ...(oauth && { glovebox: { oauth } }) } }));
const signIn = (as, how = {}, entry = {}) => login(configOf(as, entry), { env, ...how });
const connect = (as, entry = {}) => open(configOf(as, entry));
const call = async (wire, tool = 'write') => (await wire.call('call', { server: 'up', tool, args: {} })).result.content[0].text;
const command = async (...args) => (await promisify(execFile)(process.env.GLOVEBOX, ['mcp', ...args], { env })).stdout;

/** A server to which somebody has signed in. */
async function signedIn(t, change = {}, { seconds = 3600 } = {}) {
  const as = await issue(t, change);
  as.seconds = seconds;
  const { code, stderr } = await signIn(as);
  assert.equal(code, 0, stderr);
  as.seconds = 3600;
  return as;
}

test('a person signs in: the token goes to its server, and comes back nowhere', async (t) => {
  const as = await signedIn(t);
  const { accessToken, refreshToken, clientId } = kept(as);
  assert.equal(statSync(FILE).mode & 0o777, 0o600);
  const { query } = as.seen.find(({ path }) => path === '/as/authorize');
  assert.deepEqual([query.get('resource'), query.get('code_challenge_method'), query.get('scope'), query.get('client_id')],
    [`${as.url}/mcp`, 'S256', 'use', clientId]);
  assert.equal(as.clients.get(clientId).application_type, 'native');
  const wire = await connect(as);
  assert.match(await call(wire), /^done with Bearer \{\{secret:accessToken\}\}/);
  assert.ok(as.seen.some(({ authorization }) => authorization === `Bearer ${accessToken}`));
  for (const told of [JSON.stringify(wire.told), wire.stderr])
    for (const token of [accessToken, refreshToken]) assert.ok(!told.includes(token), told);
  assert.match(await command('doctor', '--config', configOf(as)), /signed in until 20\d\d-\d\d-\d\d \d\d:\d\d UTC/);
  await command('logout', 'up', '--config', configOf(as));
  assert.equal(kept(as), undefined);
});

const other = 'https://other.example';
const WRONG = { // what is wrong: what the sign-in says
  'the server is another': [{ server: (value) => ({ ...value, resource: `${other}/mcp` }) }, /another server/],
  'the server has another host': [{ server: (value) => ({ ...value, resource: value.resource.replace('127.0.0.1', 'localhost') }) }, /another server/],
  'the server has another port': [{ server: (value) => ({ ...value, resource: value.resource.replace(/:\d+/, ':1') }) }, /another server/],
  'the server is a neighbour': [{ server: (value) => ({ ...value, resource: `${value.resource}-2` }) }, /another server/],
  'the server has another query': [{ server: (value) => ({ ...value, resource: `${value.resource}?tenant=other` }) }, /another server/],
  'the server has a fragment': [{ server: (value) => ({ ...value, resource: `${value.resource}#` }) }, /another server/],
  'the server is written in another way': [{ server: (value) => ({ ...value, resource: value.resource.replace('/mcp', '/x/../mcp') }) }, /another server/],
  'the host is written in another way': [{ server: (value) => ({ ...value, resource: value.resource.replace('127.0.0.1', '0x7f.1') }) }, /another server/],
  'no authorization server': [{ server: (value) => ({ ...value, authorization_servers: [] }) }, /names no authorization server/],
  'an authorization server without TLS': [{ server: (value) => ({ ...value, authorization_servers: ['http://other.example'] }) }, /not an https URL/],
  'another issuer': [{ metadata: (value) => ({ ...value, issuer: other }) }, /calls itself/],
  'an issuer with a slash more': [{ metadata: (value) => ({ ...value, issuer: `${value.issuer}/` }) }, /calls itself/],
  'no PKCE': [{ metadata: (value) => ({ ...value, code_challenge_methods_supported: ['plain'] }) }, /PKCE/],
  'a token endpoint without TLS': [{ metadata: (value) => ({ ...value, token_endpoint: 'http://other.example/t' }) }, /token_endpoint/],
  'an authorization endpoint that runs something': [{ metadata: (value) => ({ ...value, authorization_endpoint: 'javascript:alert(1)' }) }, /authorization_endpoint/],
  'an authorization endpoint that is a file': [{ metadata: (value) => ({ ...value, authorization_endpoint: 'file:///etc/passwd' }) }, /authorization_endpoint/],
  'no registration': [{ metadata: ({ registration_endpoint: _, ...value }) => value }, /clientId/],
  'a client without an id': [{ client: () => ({}) }, /does not register/],
  'a client with an endless id': [{ client: (value) => ({ ...value, client_id: 'a'.repeat(1e6) }) }, /does not register/],
  'a resource with an endless query': [{ server: (value) => ({ ...value, resource: `${value.resource}?${'a'.repeat(1e5)}` }) }, /another server/],
  'a code of another issuer': [{ back: (query) => { query.set('iss', other); return query; } }, /another authorization server/],
  'a code of nobody': [{ back: (query) => { query.delete('iss'); return query; } }, /another authorization server/],
  'a refusal': [{ back: (query, as) => new URLSearchParams({ error: 'access_denied', state: query.get('state'), iss: `${as.url}/as` }) }, /refuses: access_denied/],
  'no code': [{ back: (query) => { query.delete('code'); return query; } }, /no code/],
  'another code': [{ back: (query) => { query.set('code', 'x'); return query; } }, /refuses: invalid_grant/],
  'a token of another type': [{ token: (value) => ({ ...value, token_type: 'DPoP' }) }, /Bearer/],
  'a token with a line end': [{ token: (value) => ({ ...value, access_token: 'aaaaaaaa\r\nX: y' }) }, /visible/],
  'a token that is too long': [{ token: (value) => ({ ...value, access_token: 'a'.repeat(9000) }) }, /visible/],
  'a token that is no text': [{ token: (value) => ({ ...value, access_token: 12345678 }) }, /visible/],
};

test('what a server or its authorization server says wrongly ends the sign-in, and nothing is kept', async (t) => {
  for (const [what, [change, wanted]] of Object.entries(WRONG)) {
    const as = await issue(t, change);
    const { code, stderr } = await signIn(as);
    assert.notEqual(code, 0, what);
    assert.match(stderr, wanted, what);
    const asked = stderr.includes('Sign in to');
    assert.equal(as.count('/as/authorize') > 0, asked, what);
  }
  assert.doesNotMatch(readFileSync(FILE, 'utf8'), /aaaaaaaa|12345678/);
});

test('the server may name its origin, or itself with a slash', async (t) => {
  for (const resource of [(url) => url, (url) => `${url}/`, (url) => `${url}/mcp/`]) {
    const as = await issue(t, { server: (value, { url }) => ({ ...value, resource: resource(url) }) });
    assert.equal((await signIn(as)).code, 0);
    assert.equal(kept(as).resource, resource(as.url));
  }
});

test('only the browser that was sent away is let in', async (t) => {
  const as = await issue(t);
  const statuses = [];
  const { code } = await signIn(as, { browse: async (url) => {
    const back = new URL(url).searchParams.get('redirect_uri');
    const state = new URL(url).searchParams.get('state');
    for (const path of ['', '?code=a', '?code=a&state=', `?code=a&state=${state}x`, `?code=a&State=${state}`, '/x', '/../callback2'])
      statuses.push((await fetch(back + path)).status);
    statuses.push((await fetch(back, { method: 'POST' })).status);
    return fetch(url);
  } });
  assert.equal(code, 0);
  assert.deepEqual(statuses, [400, 400, 400, 400, 400, 404, 404, 404]);
});

test('a browser on another machine: the person pastes the address at which it ends', async (t) => {
  const as = await issue(t);
  const { code, stderr } = await signIn(as, { browse: async (url, child) => {
    const { headers } = await fetch(url, { redirect: 'manual' });
    const address = headers.get('location');
    for (const line of ['no address', address.replace('state=', 'state=x'), `${address} `]) child.stdin.write(`${line}\n`);
  } });
  assert.equal(code, 0, stderr);
  assert.ok(kept(as).accessToken);
});

test('a client that is registered already signs in with its id and secret, which no other issuer gets', async (t) => {
  const as = await issue(t, { metadata: (value) => ({ ...value, token_endpoint_auth_methods_supported: ['client_secret_basic'] }) });
  const oauth = { clientId: 'known', clientSecret: 'very secret%' };
  assert.match((await signIn(as, {}, { oauth })).stderr, /needs "issuer"/);
  assert.match((await signIn(as, {}, { oauth: { ...oauth, issuer: other } })).stderr, /not the "issuer"/);
  assert.deepEqual([as.count('/as/authorize'), as.count('/as/token')], [0, 0]);
  const { code, stderr } = await signIn(as, {}, { oauth: { ...oauth, issuer: `${as.url}/as` } });
  assert.equal(code, 0, stderr);
  assert.equal(as.count('/as/register'), 0);
  assert.equal(as.seen.find(({ path }) => path === '/as/token').authorization, `Basic ${btoa('known:very%20secret%25')}`);
});

test('a token is renewed before its end, once, whoever uses it', async (t) => {
  const as = await signedIn(t, {}, { seconds: 20 });
  const wires = [await connect(as), await connect(as)];
  for (const text of await Promise.all(wires.map((wire) => call(wire)))) assert.match(text, /^done/);
  assert.equal(as.count('/as/token'), 2);
});

test('a token that is refused is renewed, and the call is made again', async (t) => {
  const as = await signedIn(t);
  const wire = await connect(as);
  await call(wire);
  as.tokens.clear();
  assert.match(await call(wire), /^done/);
  assert.equal(as.count('/as/token'), 2);
});

test('where nothing can be renewed, a person is told what to do', async (t) => {
  const as = await signedIn(t);
  const wire = await connect(as);
  await call(wire);
  as.tokens.clear();
  as.refreshes.clear();
  assert.match(await call(wire), /401.*sign in again: glovebox mcp login up/);
  assert.equal((await signIn(as)).code, 0); // the running server takes the new token
  assert.match(await call(wire), /^done/);
  const nobody = await issue(t);
  assert.match(await call(await connect(nobody)), /401.*sign in: glovebox mcp login up/);
});

/** What a server that has the token says in other places than an answer. */
const ECHOES = {
  'the words of an error': (token) => [500, { 'content-type': 'text/plain' }, `bad ${token}`],
  'a redirect': (token) => [302, { location: `/x?${token}` }, ''],
  'a type': (token) => [200, { 'content-type': `text/${token}` }, 'x'],
  'a coding': (token) => [200, { 'content-type': 'application/json', 'content-encoding': token }, 'x'],
  'escapes': (token) => [200, { 'content-type': 'application/json' }, token.replace('-', '\\u002d')],
  'a long answer': (token) => [200, { 'content-type': 'application/json' }, `${token.replace('-', '\\u002d')}${'y'.repeat(2e6)}`],
};

test('no text of a server has its token', async (t) => {
  for (const [what, say] of Object.entries(ECHOES)) {
    const as = await signedIn(t);
    const wire = await connect(as);
    await call(wire);
    const { accessToken } = kept(as);
    as.say = (id, response) => {
      const [status, headers, text] = say(accessToken);
      response.writeHead(status, headers);
      response.end(headers['content-type'] === 'application/json' && !headers['content-encoding']
        ? `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"${text}"}]}}` : text);
    };
    const said = await call(wire);
    assert.ok(!`${said}${JSON.stringify(wire.told)}${wire.stderr}`.includes(accessToken.slice(10)), what);
  }
});

test('a token of one letter, in a long answer, costs its server alone', async (t) => {
  const as = await signedIn(t, { token: (value, { tokens }) => {
    tokens.set('xxxxxxxx', tokens.get(value.access_token));
    return { ...value, access_token: 'xxxxxxxx' };
  } });
  const wire = await connect(as);
  as.say = (id, response) => json(response, 200, done(id, 'x'.repeat(2e6)));
  await call(wire);
  assert.doesNotMatch(await call(wire), /xxxxxxxx/);
});

test('a token endpoint that never answers keeps nobody else waiting', async (t) => {
  const [hung, good] = [await signedIn(t, {}, { seconds: 20 }), await signedIn(t, {}, { seconds: 20 })];
  hung.hangs = true;
  const stuck = call(await connect(hung));
  await until(() => hung.count('/as/token') === 2);
  assert.match(await call(await connect(good)), /^done/);
  assert.equal((await signIn(await issue(t))).code, 0);
  hung.server.closeAllConnections();
  await stuck;
});

test('a renewal does not undo a sign-out, and keeps the scope that was asked for', async (t) => {
  const as = await signedIn(t);
  const wire = await connect(as);
  await call(wire, 'admin');
  as.tokens.clear();
  await call(wire);
  assert.equal(kept(as).wantedScope, 'admin');
  await command('logout', 'up', '--config', configOf(as));
  as.tokens.clear();
  assert.match(await call(wire), /401/);
  assert.equal(kept(as), undefined);
});

test('a call is made again once, and not if it was answered', async (t) => {
  const as = await signedIn(t);
  const wire = await connect(as);
  await call(wire);
  let count = 0;
  as.say = (id, response) => { count++; response.writeHead(401, { 'www-authenticate': 'Bearer' }).end(); };
  assert.match(await call(wire), /401/);
  assert.equal(count, 2);
});

test('a stream waits for a new token, too', async (t) => {
  const as = await signedIn(t, {}, { seconds: 20 });
  const wire = await connect(as, { type: 'sse' });
  assert.match(await call(wire), /405/); // it has none; but it was asked with the new token
  assert.deepEqual(as.seen.filter(({ path, method }) => path === '/mcp' && method === 'GET').map(({ authorization }) => authorization),
    [`Bearer ${kept(as).accessToken}`]);
});

test('another user of this machine cannot bring a code', async (t) => {
  if (process.getuid() !== 0) return t.skip('only root can be another user');
  const as = await issue(t);
  let status;
  const { code } = await signIn(as, { browse: async (url) => {
    const { headers } = await fetch(url, { redirect: 'manual' });
    status = (await promisify(execFile)('setpriv', ['--reuid', '65534', '--clear-groups', process.execPath, '-e',
      `fetch(${JSON.stringify(headers.get('location'))}).then((response) => console.log(response.status))`])).stdout.trim();
    return fetch(headers.get('location'));
  } });
  assert.deepEqual([status, code], ['403', 0]);
});

test('a server whose URL everybody on the way can read gets no sign-in', async (t) => {
  const as = await issue(t, {}, '0.0.0.0'); // not an address of loopback, but here it leads there
  const config = put('plain.json', allow({ up: { type: 'http', url: as.url.replace('127.0.0.1', '0.0.0.0') + '/mcp' } }));
  const { code, stderr } = await login(config, { env });
  assert.notEqual(code, 0);
  assert.match(stderr, /everybody on the way/);
});

test('a tool that wants a further scope gets it by the next sign-in', async (t) => {
  const as = await signedIn(t);
  const wire = await connect(as);
  assert.match(await call(wire, 'admin'), /403.*sign in again: glovebox mcp login up/);
  assert.equal((await signIn(as)).code, 0);
  assert.equal(as.seen.findLast(({ path }) => path === '/as/authorize').query.get('scope'), 'use admin');
});

test('a configured Authorization is used instead of a token', async (t) => {
  const as = await signedIn(t);
  as.tokens.set('configured-token', { scope: 'use', resource: `${as.url}/mcp` });
  const { accessToken } = kept(as);
  const before = as.seen.length;
  assert.match(await call(await connect(as, { headers: { Authorization: 'Bearer configured-token' } })), /^done/);
  assert.ok(as.seen.slice(before).every(({ authorization }) => authorization !== `Bearer ${accessToken}`));
});

test('tokens that others could have changed or read are not used', async (t) => {
  const as = await signedIn(t);
  for (const mode of process.getuid() === 0 ? [0o666] : [0o666, 0o644]) { // root may let others read
    chmodSync(FILE, mode);
    const wire = await connect(as);
    assert.match(await call(wire), /401/);
    assert.match(wire.stderr, /used without a token: .*chmod/);
  }
  chmodSync(FILE, 0o600);
  assert.match(await call(await connect(as)), /^done/);
});

/* A host that can open addresses: a client of each era, and a person who is asked. */
const capabilities = { elicitation: { form: {}, url: {} } };
const eras = { '2025-11-25': 'v1', '2026-07-28': 'v2 pinned' };

/** Runs a script in that host, of which each question goes to the person. */
async function inHost(t, era, as, person) {
  const asked = [];
  const transport = { command: process.env.GLOVEBOX, args: ['mcp', '--config', configOf(as)], env, stderr: 'ignore' };
  const client = await connectClient(eras[era], transport, { capabilities, person: (params) => {
    asked.push(params);
    return person(params);
  } });
  t.after(() => client.close());
  return { asked, run: async (code) => (await client.callTool({ name: 'execute', arguments: { code } })).content[0].text };
}

const agree = async ({ url }) => {
  await fetch(url);
  return { action: 'accept' };
};

for (const era of Object.keys(eras)) {
  test(`${era}: a host that opens addresses lets a person sign in while a script waits`, async (t) => {
    const as = await issue(t);
    const { asked, run } = await inHost(t, era, as, agree);
    const text = await run('return await Promise.all([servers.up.write({}), servers.up.write({})])');
    assert.match(text, /done.*done/);
    assert.ok(!text.includes(kept(as).accessToken));
    assert.deepEqual(asked.map(({ mode }) => mode), ['url']);
    assert.ok(asked[0].url.startsWith(`${as.url}/as/authorize?`));
    assert.match(asked[0].message, /server up at 127\.0\.0\.1/);
    assert.equal(as.count('/as/token'), 1);
  });

  test(`${era}: a tool that wants a further scope asks for a sign-in that covers it`, async (t) => {
    const as = await signedIn(t);
    const { asked, run } = await inHost(t, era, as, agree);
    assert.match(await run('return [await servers.up.write({}), await servers.up.admin({})]'), /done.*done/);
    assert.equal(new URL(asked[0].url).searchParams.get('scope'), 'use admin');
    assert.equal(asked.length, 1);
  });

  test(`${era}: a person who declines to sign in is asked once in a script`, async (t) => {
    const as = await issue(t);
    const { asked, run } = await inHost(t, era, as, () => ({ action: 'decline' }));
    const text = await run('const no = (e) => e.message; return [await servers.up.write({}).catch(no), await servers.up.write({}).catch(no)]');
    assert.match(text, /401.*mcp login up.*declined.*401.*mcp login up/);
    assert.equal(asked.length, 1);
    assert.equal(as.count('/as/token'), 0);
  });
}

// SPDX-License-Identifier: MIT
// access: `glovebox mcp --http --oauth`: which tokens are accepted, what their scopes give, and
// how the official clients and our own sign in.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { allow, env, open, put, upstream } from './box.mjs';
import { about, connect as connectClient, ways } from './clients.mjs';
import { refused, serve, start } from './front.mjs';
import { issue } from './issuer.mjs';
import { keyOf, tokenOf } from './jwt.mjs';
import { children, until } from './processes.mjs';
import { login } from './sign-in.mjs';
import { META } from './wire.mjs';

// ---- an issuer, and a server that accepts its tokens -----------------------------------

const RESOURCE = 'https://mcp.example.com/team/mcp';
const SCOPES = {
  orders: { tools: ['compute'], datasets: ['orders'] },
  staff: { tools: ['compute'], datasets: ['orders', 'people'] },
  scripts: { tools: ['execute', 'discover'], datasets: ['orders'] },
  all: { tools: ['*'], datasets: ['*'] },
  counts: { metrics: true },
};

const EC = keyOf('ec'), RSA = keyOf('rsa', 'RS256'), ANY = keyOf('any', 'RS256'), OTHER = keyOf('ec');
delete ANY.jwk.alg;
const SHORT = keyOf('short', 'RS256', { modulusLength: 1024 });
const P384 = keyOf('p384', 'ES384'), FOR_ENCRYPTION = keyOf('enc');
FOR_ENCRYPTION.jwk.use = 'enc';
const SECRET = { id: 'secret', alg: 'HS256', jwk: { kty: 'oct', k: randomBytes(32).toString('base64url'), kid: 'secret', alg: 'HS256' } };

/** Serves metadata and keys; both can be changed. */
async function issuer(keys = [EC, RSA, ANY, P384, SHORT, FOR_ENCRYPTION, SECRET]) {
  const as = { keys, fetches: 0, answers: true };
  const server = createServer((request, response) => {
    const isKeys = request.url === '/keys';
    as.fetches += isKeys ? 1 : 0;
    response.writeHead(as.answers && (isKeys || request.url === '/.well-known/openid-configuration') ? 200 : 404);
    response.end(JSON.stringify(isKeys ? { keys: as.keys.map(({ jwk }) => jwk) } : { issuer: as.url, jwks_uri: `${as.url}/keys`, ...as.says }));
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  as.url = `http://127.0.0.1:${server.address().port}`;
  after(() => { server.closeAllConnections(); server.close(); });
  return as;
}

const ONE = "export default (method) => method === 'prompts/list' && { prompts: [{ name: 'test_simple_prompt' }] };";
let count = 0;
const oauthFile = (as, more = {}) => put(`oauth-${++count}.json`, { issuer: as.url, resource: RESOURCE, scopes: SCOPES, ...more });
const orders = put('orders.json', [{ id: 1, total: 7 }, { id: 2, total: 8 }]);
const people = put('people.json', [{ name: 'Ada' }]);
const DATA = ['--data', `orders=${orders}`, '--data', `people=${people}`];
const begin = (as, ...args) => serve('--oauth', oauthFile(as), ...DATA, ...args);

const now = () => Math.floor(Date.now() / 1000);
const claims = (as, more = {}) => ({ iss: as.url, aud: RESOURCE, sub: 'ada', client_id: 'desk', exp: now() + 600, scope: 'orders', ...more });

async function post(front, token, message, headers = {}) {
  const response = await fetch(front.url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...(token && { authorization: `Bearer ${token}` }), ...headers } });
  const text = await response.text();
  const line = (response.headers.get('content-type') ?? '').startsWith('text/event-stream') ? /^data: (.+)$/gm.exec(text.slice(text.lastIndexOf('data: ')))[1] : text;
  return { status: response.status, asks: response.headers.get('www-authenticate'), session: response.headers.get('mcp-session-id'), message: line && JSON.parse(line) };
}

const modern = (front, token, method, params = {}) => post(front, token, { id: 1, method, params: { ...params, _meta: META } },
  { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(params.name && { 'mcp-name': params.name }), ...(params.uri && { 'mcp-name': params.uri }) });
const callOf = (front, token, name, args) => modern(front, token, 'tools/call', { name, arguments: args });
const compute = (front, token, code, more = {}) => callOf(front, token, 'compute', { code, ...more });
const resultOf = ({ status, message }) => (status === 200 ? message.result.structuredContent : status);
const listed = async (front, token) => (await modern(front, token, 'tools/list')).message.result.tools;

const as = await issuer();
const front = await begin(as);
const good = tokenOf(EC, claims(as));

// ---- tokens ---------------------------------------------------------------------------

const claim = (more, key = EC, header = {}) => tokenOf(key, claims(as, more), header);
const altered = (part) => good.split('.').map((each, at) => (at === part ? `${each.slice(0, -2)}${each.at(-2) === 'A' ? 'B' : 'A'}${each.at(-1)}` : each)).join('.');

const ACCEPTED = {
  'by an elliptic curve': good,
  'by RSA': claim({}, RSA),
  'by RSA with another hash': claim({}, { ...ANY, alg: 'RS512' }),
  'by RSA-PSS': claim({}, { ...ANY, alg: 'PS256' }),
  'by a longer curve': claim({}, P384),
  'without a key id': claim({}, EC, { kid: undefined }),
  'without a type': claim({}, EC, { typ: undefined }),
  'for several servers': claim({ aud: ['https://other.example', RESOURCE] }),
  'that begins in a moment': claim({ nbf: now() + 10 }),
  'that has ended a moment ago': claim({ exp: now() - 10 }),
  'that ends in the far future': claim({ exp: 1e300 }),
  'with scopes as an array': claim({ scope: undefined, scp: ['orders', 'other'] }),
  'with other scopes, too': claim({ scope: 'openid  orders profile' }),
  'of a client without a subject': claim({ sub: undefined }),
  'of a subject without a client': claim({ client_id: undefined }),
};
const REFUSED = { // what is wrong: the token, and what the refusal says
  'nothing': ['', /not a signed token/],
  'no token': ['abc', /not a signed token/],
  'two parts': [good.split('.').slice(0, 2).join('.'), /not a signed token/],
  'four parts': [`${good}.x`, /not a signed token/],
  'five parts, as encrypted ones': [`${good}.x.y`, /not a signed token/],
  'very long': ['a'.repeat(15000), /not a signed token/],
  'other claims under the signature': [altered(1), /no key|not a signed/],
  'another signature': [altered(2), /no key/],
  'no signature': [`${good.split('.').slice(0, 2).join('.')}.`, /not a signed token/],
  'another key with the same id': [claim({}, OTHER), /no key/],
  'another key without an id': [claim({}, OTHER, { kid: undefined }), /no key/],
  'an unknown key id': [claim({}, EC, { kid: 'x' }), /no key/],
  'no algorithm': [claim({}, EC, { alg: 'none' }), /not a signed token/],
  'no algorithm, and a signature': [`${claim({}, EC, { alg: 'none' })}eHg`, /algorithm/],
  'padding': [`${good}==`, /not a signed token/],
  'a sign of another base64': [good.replace(/\.(.)/, '.+'), /not a signed token/],
  'a shared secret': [claim({}, SECRET), /algorithm/],
  'a public key as a shared secret': [claim({}, RSA, { alg: 'HS256' }), /algorithm/],
  'a key for encryption': [claim({}, FOR_ENCRYPTION), /no key/],
  'a short key': [claim({}, SHORT), /no key/],
  'a key that is for another algorithm': [claim({}, { ...RSA, alg: 'PS256' }, { kid: 'rsa', alg: 'PS256' }), /no key/],
  'a key in the header': [claim({}, OTHER, { kid: 'x', jwk: OTHER.jwk }), /no key/],
  'the URL of keys in the header': [claim({}, OTHER, { kid: 'x', jku: 'http://127.0.0.1:1/keys' }), /no key/],
  'a critical header': [claim({}, EC, { crit: ['b64'], b64: false }), /critical|not a signed/],
  'another type': [claim({}, EC, { typ: 'secevent+jwt' }), /not an access token/],
  'a type that is no text': [claim({}, EC, { typ: 1 }), /not an access token|not a signed/],
  'claims that are no object': [tokenOf(EC, '[1]'), /not a JSON object/],
  'claims that are no JSON': [tokenOf(EC, 'x'), /not a JSON object/],
  'a claim twice': [tokenOf(EC, JSON.stringify(claims(as)).replace('{', '{"aud":"x",')), /not a JSON object/],
  'another issuer': [claim({ iss: 'https://other.example' }), /another issuer/],
  'an issuer with a slash more': [claim({ iss: `${as.url}/` }), /another issuer/],
  'two issuers': [claim({ iss: [as.url, 'x'] }), /another issuer/],
  'no issuer': [claim({ iss: undefined }), /another issuer/],
  'another audience': [claim({ aud: 'https://other.example/mcp' }), /another server/],
  'the origin as audience': [claim({ aud: 'https://mcp.example.com' }), /another server/],
  'an audience with a slash more': [claim({ aud: `${RESOURCE}/` }), /another server/],
  'no audience': [claim({ aud: undefined }), /another server/],
  'an object as audience': [claim({ aud: { 0: RESOURCE } }), /another server/],
  'past': [claim({ exp: now() - 300 }), /expired/],
  'no end': [claim({ exp: undefined }), /expired/],
  'an end as text': [claim({ exp: String(now() + 600) }), /expired/],
  'future': [claim({ nbf: now() + 300 }), /not valid yet/],
  'a beginning as text': [claim({ nbf: '0' }), /not valid yet/],
  'nobody': [claim({ sub: undefined, client_id: undefined }), /neither a subject nor a client/],
  'a subject that is no text': [claim({ sub: 1, client_id: {} }), /neither a subject nor a client/],
};

test('tokens that are valid', async () => {
  for (const [what, token] of Object.entries(ACCEPTED))
    assert.deepEqual([what, resultOf(await compute(front, token, 'orders.length'))?.value], [what, 2]);
});

test('tokens that are not: 401, with the reason', async () => {
  for (const [what, [token, why]] of Object.entries(REFUSED)) {
    const { status, asks, message } = await compute(front, token, '1');
    assert.deepEqual([what, status], [what, 401]);
    if (token !== '') {
      assert.match(asks, /^Bearer resource_metadata="[^"]+", scope="[^"]+", error="invalid_token", error_description="[^"]+"$/, what);
      assert.match(message.error.message, why, what);
    }
  }
});

test('other ways to send a token', async () => {
  for (const [authorization, status] of [[`bearer ${good}`, 200], [`Bearer   ${good}`, 200], [`Basic ${good}`, 401], [good, 401], [`Bearer ${good} x`, 401]])
    assert.deepEqual([authorization, (await modern({ url: front.url }, undefined, 'tools/list').then(() => fetch(front.url, { method: 'POST',
      headers: { authorization, 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: META } }) }))).status], [authorization, status]);
  assert.equal((await fetch(`${front.url}?access_token=${good}`, { method: 'POST' })).status, 401);
});

test('the longest scopes and URL still fit', async () => {
  const scopes = Object.fromEntries(Array.from({ length: 32 }, (_, i) => [`${i}`.padEnd(100, 's'), { tools: ['*'], datasets: ['*'] }]));
  const resource = `https://mcp.example.com/${'a'.repeat(470)}`;
  const own = await serve('--oauth', oauthFile(as, { resource, scopes }), ...DATA);
  const { asks } = await compute(own, undefined, '1');
  assert.ok(asks.includes(`scope="${Object.keys(scopes).join(' ')}"`) && asks.includes('a'.repeat(470)));
  const scope = Object.keys(scopes).join(' ');
  assert.equal(resultOf(await compute(own, claim({ aud: resource, scope }), 'data.orders.length'))?.value, 2);
});

test('without a token: 401 leads to a document, which anybody may read', async () => {
  const { status, asks } = await compute(front, undefined, '1');
  assert.deepEqual([status, asks], [401, 'Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/team/mcp", scope="orders staff scripts all counts"']);
  for (const path of ['', '/team/mcp']) {
    const response = await fetch(new URL(`/.well-known/oauth-protected-resource${path}`, front.url));
    assert.deepEqual(await response.json(), { resource: RESOURCE, authorization_servers: [as.url], scopes_supported: Object.keys(SCOPES),
      bearer_methods_supported: ['header'], resource_name: 'Glovebox' });
  }
  assert.equal((await fetch(new URL('/.well-known/oauth-protected-resource/mcp', front.url))).status, 401);
});

// ---- scopes ----------------------------------------------------------------------------

test('scopes give tools and datasets, and nothing else is told', async () => {
  const told = async (scope) => JSON.stringify(await listed(front, claim({ scope })));
  assert.ok(!(await told('orders')).includes('people') && (await told('staff')).includes('people'));
  const token = claim({ scope: 'orders' });
  assert.match(JSON.stringify(resultOf(await compute(front, token, 'people.length', { dataset: 'people' })) ?? ''), /no dataset|unknown/i);
  assert.equal(resultOf(await compute(front, token, 'typeof people')).value, 'undefined');
  assert.equal(resultOf(await compute(front, claim({ scope: 'orders staff' }), 'data.people[0].name')).value, 'Ada');
});

test('403: no scope, or a tool that another scope gives', async () => {
  for (const [scope, tool] of [['other', 'compute'], [undefined, 'compute'], ['orders', 'execute'], ['orders', 'mcp_discover']]) {
    const { status, asks } = await callOf(front, claim({ scope }), tool, { code: '1' });
    assert.deepEqual([scope, tool, status], [scope, tool, 403]);
    assert.match(asks, /error="insufficient_scope"/);
  }
});

test('with servers: tools and rules by scope, in scripts, too', async () => {
  const rules = [{ action: 'allow', tool: 'change', scope: ['other', 'all'] }, { action: 'deny', tool: 'change', reason: 'not for you' }, { action: 'allow' }];
  const config = put('scoped.json', { mcpServers: { up: upstream('counting', put('counts', '')), full: upstream('full', 'legacy', put('one.mjs', ONE)) }, glovebox: { rules } });
  const own = await begin(as, '--config', config);
  const run = (scope, code) => callOf(own, claim({ scope }), 'execute', { code }).then(resultOf);
  assert.deepEqual((await listed(own, claim({ scope: 'orders' }))).map(({ name }) => name), ['compute']);
  assert.deepEqual((await listed(own, claim({ scope: 'scripts' }))).map(({ name }) => name).sort(), ['discover', 'execute']);
  const told = async (scope) => (await modern(own, claim({ scope }), 'server/discover')).message.result.instructions;
  assert.match(await told('all'), /compute[^]*execute|execute[^]*compute/);
  assert.doesNotMatch(await told('orders'), /execute/);
  assert.doesNotMatch(await told('scripts'), /compute/);
  assert.deepEqual((await run('scripts', 'return Object.keys(datasets)')).result, ['orders']);
  assert.deepEqual((await run('all', 'return Object.keys(datasets).sort()')).result, ['orders', 'people']);
  const change = 'try { await servers.up.call("change", {}); return "done"; } catch ({ message }) { return message; }';
  assert.match((await run('scripts', change)).result, /not for you/);
  assert.equal((await run('all', change)).result, 'done');
  const list = async (scope) => (await modern(own, claim({ scope }), 'prompts/list')).message.result.prompts.map(({ name }) => name);
  assert.deepEqual([await list('all'), await list('scripts'), await list('orders')], [['full/test_simple_prompt'], [], []], 'of servers, with the tool `call`');
  const get = async (scope) => (await modern(own, claim({ scope }), 'prompts/get', { name: 'full/test_simple_prompt' })).message;
  assert.equal((await get('all')).result.messages.length, 1);
  assert.match((await get('scripts')).error.message, /no prompts/);
  const { uri } = (await run('all', 'return await artifact("a", "kept")')).result;
  const read = (token) => modern(own, token, 'resources/read', { uri });
  assert.equal((await read(claim({ scope: 'all' }))).message.result.contents[0].text, 'kept');
  for (const token of [claim({ scope: 'scripts' }), claim({ scope: 'all', sub: 'bob' })]) assert.equal((await read(token)).message.error.code, -32602);
  await (await open(config)).call('execute', { code: change }).then(({ result }) => assert.match(result.structuredContent.result, /not for you/));
});

const hello = { id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } } };

test('a client has its own process and sessions', async () => {
  const ada = claim({}), bob = claim({ sub: 'bob' }), more = claim({ scope: 'staff' });
  const { session } = await post(front, ada, hello);
  const ping = (token) => post(front, token, { id: 1, method: 'ping' }, { 'mcp-session-id': session });
  assert.deepEqual([(await ping(ada)).status, (await ping(claim({ exp: now() + 500 }))).status, (await ping(bob)).status, (await ping(more)).status], [200, 200, 404, 404]);
  const ended = await fetch(front.url, { method: 'DELETE', headers: { authorization: `Bearer ${bob}`, 'mcp-session-id': session } });
  assert.equal(ended.status, 404);
  const processes = () => children(children(front.child.pid)[0]).length;
  const before = processes();
  await compute(front, claim({ sub: 'carol' }), '1');
  await compute(front, claim({ sub: 'carol', exp: now() + 700 }), '1');
  assert.equal(processes(), before + 1);
});

test('one client has at most 16 sessions; others still get theirs', async () => {
  const own = await begin(as);
  const statuses = [];
  for (let i = 0; i < 18; i++) statuses.push((await post(own, good, hello)).status);
  assert.deepEqual(statuses, [...Array(16).fill(200), 503, 503]);
  assert.equal((await post(own, claim({ sub: 'bob' }), hello)).status, 200);
});

test('metrics need a scope that gives them', async () => {
  const scrape = async (token) => {
    const { status, headers } = await fetch(new URL('/metrics', front.url), { headers: { authorization: `Bearer ${token}` } });
    return [status, /insufficient_scope/.test(headers.get('www-authenticate'))];
  };
  assert.deepEqual(await scrape(claim({ scope: 'counts' })), [200, false]);
  for (const scope of ['orders', 'all', 'other']) assert.deepEqual(await scrape(claim({ scope })), [403, true]);
  assert.deepEqual(await listed(front, claim({ scope: 'counts' })), []);
});

test('a stream of messages ends with its token', async () => {
  const token = claim({ exp: now() + 2 });
  const { session } = await post(front, token, hello);
  const response = await fetch(front.url, { headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream', 'mcp-session-id': session } });
  assert.equal(response.status, 200);
  await response.text().catch(() => {});
});

test('a person of a client is not asked for a permanent answer', async () => {
  const config = put('ask.json', { mcpServers: { up: upstream('counting', put('asked', '')) }, glovebox: { rules: [{ action: 'ask' }] } });
  const own = await begin(as, '--config', config);
  const asked = [];
  const person = ({ requestedSchema }) => {
    asked.push(JSON.stringify(requestedSchema));
    return { action: 'accept', content: { answer: 'allow this call' } };
  };
  const headers = { authorization: `Bearer ${claim({ scope: 'all' })}` };
  const client = await connectClient('v1', { url: own.url, requestInit: { headers } }, { person });
  await client.callTool({ name: 'execute', arguments: { code: 'return await servers.up.look({})' } });
  assert.equal(asked.length, 1);
  assert.match(asked[0], /allow this call/);
  assert.doesNotMatch(asked[0], /always/);
  await client.close();
});

test('the security log names the client, whatever it is called', async () => {
  const log = put('log.jsonl', '');
  const own = await begin(as, '--security-log', log);
  for (const sub of ['ada', 'a"b\\c\n\u202e'.padEnd(300, 'x')]) await compute(own, claim({ sub }), 'eval("1")');
  const lines = await until(() => {
    const all = readFileSync(log, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)).filter(({ client }) => client);
    return new Set(all.map(({ client }) => client)).size === 2 && all;
  });
  assert.deepEqual([...new Set(lines.map(({ client }) => client.slice(0, 8)))].sort(), ['a?b?c???', 'ada']);
});

// ---- keys -------------------------------------------------------------------------------

test('keys rotate: a new one is fetched for the first token that needs it, a withdrawn one ends', async () => {
  const own = await issuer([EC]);
  const server = await begin(own);
  const fresh = keyOf('fresh');
  const [old, next] = [tokenOf(EC, claims(own)), tokenOf(fresh, claims(own))];
  assert.equal((await compute(server, old, '1')).status, 200);
  own.keys = [fresh];
  await until(async () => (await compute(server, next, '1')).status === 200);
  assert.equal((await compute(server, old, '1')).status, 401);
  const before = own.fetches;
  for (let i = 0; i < 20; i++) await compute(server, tokenOf(OTHER, claims(own), { kid: `k${i}` }), '1');
  assert.ok(own.fetches - before <= 12, `${own.fetches - before} fetches`);
});

test('an issuer that does not answer: 503, and then its tokens are accepted', async () => {
  const own = await issuer();
  own.answers = false;
  const server = await begin(own);
  const token = tokenOf(EC, claims(own));
  assert.equal((await compute(server, token, '1')).status, 503);
  await until(() => /cannot get the keys of 'http.*it has no metadata/.test(server.stderr));
  own.answers = true;
  await until(async () => (await compute(server, token, '1')).status === 200);
});

test('metadata of another issuer, and keys elsewhere, are not used', async () => {
  for (const [says, why] of [[{ issuer: 'https://other.example' }, /names another issuer/], [{ jwks_uri: 'http://other.example/keys' }, /no https URL/], [{ jwks_uri: 1 }, /no https URL/]]) {
    const own = await issuer();
    own.says = says;
    const server = await begin(own);
    await until(() => why.test(server.stderr));
    assert.equal((await compute(server, tokenOf(EC, claims(own)), '1')).status, 503);
  }
});

test('requests wait for the keys with their bodies, and close unharmed', async () => {
  const own = await issuer();
  const server = await begin(own);
  const token = tokenOf(EC, claims(own));
  const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => compute(server, token, `${i}`, { note: 'x'.repeat(i * 5000) })));
  for (const { status } of answers) assert.ok(status === 200, status);
});

// ---- the file, and the options ------------------------------------------------------------

const FILES = { // what is in it: what is said
  'no issuer': [{ issuer: undefined }, /'issuer' is missing/],
  'no resource': [{ resource: undefined }, /'resource' is missing/],
  'no scopes': [{ scopes: undefined }, /'scopes' is missing/],
  'an issuer without TLS': [{ issuer: 'http://login.example.com' }, /https URL/],
  'an issuer that is no text': [{ issuer: 1 }, /https URL/],
  'a resource with a quote': [{ resource: 'https://a/"' }, /without quotes/],
  'a resource with a query': [{ resource: 'https://a/mcp?x' }, /without '\?'/],
  'a resource that is too long': [{ resource: `https://a/${'a'.repeat(600)}` }, /at most 500/],
  'an unknown key': [{ audiences: [] }, /audiences: unknown key/],
  'an unknown algorithm': [{ algorithms: ['HS256'] }, /the algorithms are/],
  'an unknown tool': [{ scopes: { a: { tools: ['run'] } } }, /the tools are compute, execute, discover, call/],
  'a scope with a blank': [{ scopes: { 'a b': {} } }, /without blanks/],
  'a scope with a quote': [{ scopes: { 'a"': {} } }, /without blanks/],
  'a scope without a name': [{ scopes: { '': {} } }, /without blanks/],
  'too many scopes': [{ scopes: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`s${i}`, {}])) }, /more than 32/],
};

test('a file that is wrong is refused with the place', async () => {
  for (const [what, [more, why]] of Object.entries(FILES)) {
    const said = await refused({}, '--http', '0', '--oauth', oauthFile(as, more), ...DATA);
    assert.match(said, why, what);
    assert.match(said, /^65 |^78 |^64 /, what);
  }
});

test('options that exclude or need each other', async () => {
  const file = oauthFile(as);
  for (const [args, why] of [
    [['--oauth', file, ...DATA], /need --http/],
    [['--http', '0', '--oauth', file, '--token-file', put('token', 'x'.repeat(20)), ...DATA], /either '--token-file' or '--oauth'/],
    [['--http', '0', '--behind-proxy', ...DATA], /needs '--oauth' or '--token-file'/],
  ]) assert.match(await refused({}, ...args), why);
});

// ---- clients that sign in ------------------------------------------------------------------

/** An authorization server whose access tokens are for the resource that is asked for. */
const grants = (t) => issue(t, {
  keys: () => ({ keys: [EC.jwk] }),
  token: (value, server, resource) => ({ ...value, access_token: tokenOf(EC, { iss: `${server.url}/as`, aud: resource, sub: 'ada', exp: now() + 600, scope: value.scope }) }),
});

/** A server at a port whose own URL is its resource. */
async function at(server, ...args) {
  const port = await new Promise((resolve) => { const probe = createServer().listen(0, '127.0.0.1', () => { const { port: free } = probe.address(); probe.close(() => resolve(free)); }); });
  const file = oauthFile({ url: `${server.url}/as` }, { resource: `http://127.0.0.1:${port}/mcp`, scopes: { orders: { tools: ['compute'], datasets: ['*'] } } });
  return start({}, '--http', String(port), '--oauth', file, ...DATA, ...args);
}

/** A provider of the official clients whose browser agrees to everything. */
function provider() {
  const kept = {};
  return { kept, redirectUrl: 'http://127.0.0.1:9/callback',
    clientMetadata: { client_name: 'test', redirect_uris: ['http://127.0.0.1:9/callback'], grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none' },
    clientInformation: () => kept.client, saveClientInformation: (client) => { kept.client = client; },
    tokens: () => kept.tokens, saveTokens: (tokens) => { kept.tokens = tokens; },
    codeVerifier: () => kept.verifier, saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
    state: () => 'state',
    redirectToAuthorization: async (url) => {
      const { headers } = await fetch(url, { redirect: 'manual' });
      kept.back = new URL(headers.get('location')).searchParams;
    } };
}

for (const way of ['v1', 'v2 legacy', 'v2 pinned'])
  test(`the official client signs in: ${way}`, async (t) => {
    const server = await grants(t), own = await at(server), authProvider = provider();
    const { Client, Http, Refused, options } = ways[way];
    const connect = () => {
      const client = new Client(about, options);
      const transport = new Http(new URL(own.url), { authProvider });
      return client.connect(transport).then(() => client, async (error) => {
        if (!(error instanceof Refused) || authProvider.kept.tokens) throw error;
        await transport.finishAuth(way === 'v1' ? authProvider.kept.back.get('code') : authProvider.kept.back);
        return connect();
      });
    };
    const client = await connect();
    const { structuredContent } = await client.callTool({ name: 'compute', arguments: { code: 'orders.length', dataset: 'orders' } });
    assert.equal(structuredContent.value, 2);
    await client.close();
  });

test('our own client signs in, and calls tools of the server', async (t) => {
  const server = await grants(t), own = await at(server);
  const config = put('own.json', allow({ up: { type: 'http', url: own.url } }));
  const { code, stderr } = await login(config, { env });
  assert.equal(code, 0, stderr);
  const wire = await open(config);
  assert.match((await wire.call('execute', { code: 'return await servers.up.compute({ code: "orders.length", dataset: "orders" })' })).result.content[0].text, /2/);
});

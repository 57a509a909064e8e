// SPDX-License-Identifier: MIT
// issuer: a server of MCP that wants tokens, and its authorization server, at one address. What
// they do wrong is the test's choice.
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { done, greet, json } from './web.mjs';

const TOOLS = [{ name: 'write', inputSchema: { type: 'object' } }, { name: 'admin', inputSchema: { type: 'object' } }];
const random = () => randomBytes(16).toString('base64url');
const reply = (response, status, value, headers = {}) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(value === undefined ? '' : JSON.stringify(value));
};

/**
 * change: functions that get the ordinary value and the issuer, and return another:
 * server (RFC 9728), metadata (RFC 8414), keys (a JWK set), client, back (the query of the
 * browser's way back), token, refusal (the 401's field).
 */
export async function issue(t, change = {}, host = '127.0.0.1') {
  const seen = []; // every request: its path, query or form, and fields
  const clients = new Map(), codes = new Map(), tokens = new Map(), refreshes = new Map();
  const as = { seen, clients, tokens, refreshes, seconds: 3600 }; // say: answers calls; hangs: renews nothing
  const altered = (what, value, ...more) => (change[what] ? change[what](value, as, ...more) : value);
  const grant = (scope, resource) => {
    const access = `access-${random()}`, refresh = `refresh-${random()}`;
    tokens.set(access, { scope, resource });
    refreshes.set(refresh, { scope, resource });
    return altered('token', { access_token: access, token_type: 'Bearer', expires_in: as.seconds, refresh_token: refresh, scope }, resource);
  };

  const ROUTES = {
    '/.well-known/oauth-protected-resource/mcp': (_, response) => reply(response, 200, altered('server',
      { resource: `${as.url}/mcp`, authorization_servers: [`${as.url}/as`], scopes_supported: ['use'] })),
    '/.well-known/oauth-authorization-server/as': (_, response) => reply(response, 200, altered('metadata', {
      issuer: `${as.url}/as`, authorization_endpoint: `${as.url}/as/authorize`, token_endpoint: `${as.url}/as/token`,
      registration_endpoint: `${as.url}/as/register`, jwks_uri: `${as.url}/as/keys`, code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'], response_types_supported: ['code'], authorization_response_iss_parameter_supported: true })),
    '/as/keys': (_, response) => reply(response, 200, altered('keys', { keys: [] })),
    '/as/register': ({ body }, response) => {
      const client = { ...JSON.parse(body), client_id: random() };
      clients.set(client.client_id, client);
      reply(response, 201, altered('client', client));
    },
    '/as/authorize': ({ query }, response) => {
      const code = random();
      codes.set(code, Object.fromEntries(query));
      const back = altered('back', new URLSearchParams({ code, state: query.get('state'), iss: `${as.url}/as` }));
      response.writeHead(302, { location: `${query.get('redirect_uri')}?${back}` }).end();
    },
    '/as/token': ({ body }, response) => {
      if (as.hangs) return;
      const form = new URLSearchParams(body);
      const asked = codes.get(form.get('code'));
      codes.delete(form.get('code'));
      const old = refreshes.get(form.get('refresh_token'));
      refreshes.delete(form.get('refresh_token')); // each works once
      const proof = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
      if (form.get('grant_type') === 'refresh_token' && old) reply(response, 200, grant(old.scope, old.resource));
      else if (asked && asked.code_challenge === proof && asked.redirect_uri === form.get('redirect_uri'))
        reply(response, 200, grant(asked.scope, form.get('resource')));
      else reply(response, 400, { error: 'invalid_grant', error_description: 'used or unknown' });
    },
    '/mcp': ({ body, token }, response, request) => {
      const message = body === '' ? {} : JSON.parse(body);
      const named = `Bearer resource_metadata="${as.url}/.well-known/oauth-protected-resource/mcp"`;
      if (!token || token.resource !== `${as.url}/mcp`) reply(response, 401, undefined, { 'www-authenticate': altered('refusal', named) });
      else if (greet(request, response, message, { tools: TOOLS, listChanged: false })) return;
      else if (as.say) as.say(message.id, response);
      else if (message.params.name === 'admin' && !token.scope.includes('admin'))
        reply(response, 403, undefined, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="admin"' });
      else json(response, 200, done(message.id, `done with ${request.headers.authorization}`));
    },
  };

  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const { pathname, searchParams: query } = new URL(request.url, 'http://any');
    seen.push({ path: pathname, method: request.method, query, body, authorization: request.headers.authorization });
    const token = tokens.get(/^Bearer (.*)/.exec(request.headers.authorization ?? '')?.[1]);
    const route = ROUTES[pathname];
    if (route) route({ body, query, token }, response, request);
    else reply(response, 404);
  });
  await new Promise((resolve) => { server.listen(0, host, resolve); });
  as.server = server;
  as.url = `http://127.0.0.1:${server.address().port}`;
  as.count = (path) => seen.filter((each) => each.path === path).length;
  t.after(() => { server.closeAllConnections(); server.close(); });
  return as;
}

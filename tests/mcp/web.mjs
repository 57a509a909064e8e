// SPDX-License-Identifier: MIT
// web: a server of MCP at an address of the legacy era, and `glovebox mcp` beside it.
import { createServer } from 'node:http';
import { allow, open } from './box.mjs';

export const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

const TOOLS = [{ name: 'write', inputSchema: { type: 'object' } },
  { name: 'read', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }];

export const json = (response, status, message, headers = {}) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(message && JSON.stringify({ jsonrpc: '2.0', ...message }));
};
export const raw = (response, type, text, status = 200, headers = {}) => {
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(text);
};
export const done = (id, text = 'done') => ({ id, result: { content: [{ type: 'text', text }] } });

/** What a server of that era says, to all but calls; true if that was one. session() names a new
 *  session, where there are any. */
export function greet({ method: verb }, response, message, { session, tools = TOOLS, listChanged = true }) {
  if (verb !== 'POST') json(response, verb === 'GET' ? 405 : 200);
  else if (message.method === 'server/discover')
    json(response, 400, { id: null, error: { code: -32000, message: 'not initialized' } });
  else if (message.method === 'initialize')
    json(response, 200, { id: message.id, result: { protocolVersion: '2025-06-18',
      capabilities: { tools: { listChanged } }, serverInfo: { name: 'web', version: '1' } } },
    session && { 'mcp-session-id': session() });
  else if (message.id === undefined) json(response, 202);
  else if (message.method === 'tools/list') json(response, 200, { id: message.id, result: { tools } });
  else return false;
  return true;
}

/**
 * A server, and a client of glovebox's with it as its server `up`. on(request, response,
 * message) returns true for what it has answered or will; what it leaves, and is no call, is
 * answered as usual, and a call with "done". The server `other` has the path /other of it.
 */
export async function meet(t, on, { session = () => 's1', own = {}, config = {}, env = {} } = {}) {
  const seen = []; // "POST tools/call", in order
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const message = body === '' ? undefined : JSON.parse(body);
    seen.push(`${request.method} ${message?.method ?? ''}`.trim());
    if (await on(request, response, message)) return;
    if (!greet(request, response, message, { session })) json(response, 200, done(message.id));
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const address = `http://127.0.0.1:${server.address().port}`;
  const up = { type: 'http', url: `${address}/mcp`, glovebox: own,
    ...(typeof config === 'function' ? config(server.address().port) : config) };
  const wire = await open(allow({ up, other: { type: 'http', url: `${address}/other` } }), { env });
  t.after(async () => {
    await wire.close();
    server.closeAllConnections();
    server.close();
  });
  return {
    wire, server, seen,
    count: (what) => seen.filter((each) => each === what).length,
    call: async (tool = 'write', args = {}, name = 'up') =>
      (await wire.call('call', { server: name, tool, args })).result.content[0].text,
  };
}

/** The same, of a server that answers a call by onCall(response, message, request): as usual if
 *  that returns false. */
export const meetCalls = (t, onCall, options) => meet(t, async (request, response, message) =>
  message?.method === 'tools/call' && await onCall(response, message, request) !== false, options);

// SPDX-License-Identifier: MIT
// Servers made with the official SDKs, as upstreams for tests.
//
//   node sdk-servers.mjs MODE [TOKEN]
//
//   modern-stdio   SDK v2, 2026-07-28, which refuses the legacy era
//   both-stdio     SDK v2, both eras
//   modern-http    SDK v2, 2026-07-28 over streamable HTTP
//   legacy-http    SDK v1, streamable HTTP with sessions, answers as streams
//   legacy-json    the same, answers as JSON, no sessions
//   legacy-sse     SDK v1, the transport before, at /sse
//
// The HTTP modes print their address and end with their standard input; with a TOKEN they
// answer nobody who does not send it as a bearer's.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createMcpHandler, McpServer as ServerV2 } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const [mode, token] = process.argv.slice(2);
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

let hasGrown = false;
let aborted = 0;
let seenHeaders = {};
const sessions = new Map();
let notify = () => {};
let hasVanished = false; // the next request, no notification, hears that there is no session

// One list of tools for both; what differs between the SDKs is the context of a call.
function build(Server) {
  const server = new Server(
    { name: `${mode}-server`, version: '1.2.3' },
    { capabilities: { tools: { listChanged: true } }, instructions: 'Ask nicely.' },
  );
  const add = (name, inputSchema, run, annotations) =>
    server.registerTool(name, { inputSchema, annotations }, run);
  const empty = Server === ServerV1 ? {} : z.object({});
  const message = { message: z.string() };

  add('echo', Server === ServerV1 ? message : z.object(message), (args) => text(args.message));
  add('häder näme', empty, () => text('found'));
  add('slow', empty, async (args, context) => {
    const request = context.mcpReq ?? context;
    const send = request.notify ?? request.sendNotification;
    const { progressToken } = request._meta ?? {};
    for (let i = 1; i <= 3 && progressToken !== undefined; i++) {
      const params = { progressToken, progress: i, message: `step ${i}` };
      await send.call(request, { method: 'notifications/progress', params });
      await wait(20);
    }
    return text('done');
  });
  add('hang', empty, async (args, context) => {
    const { signal } = context.mcpReq ?? context;
    signal.addEventListener('abort', () => aborted++);
    await wait(60000);
    return text('never');
  });
  add('aborted', empty, () => text(String(aborted)));
  add('headers', empty, () => text(JSON.stringify(seenHeaders)));
  if (Server === ServerV2) {
    const region = (name) => z.string().meta({ 'x-mcp-header': name });
    const nested = z.object({ deep: z.boolean().meta({ 'x-mcp-header': 'Deep' }) }).optional();
    const level = z.number().int().optional().meta({ 'x-mcp-header': 'Level' });
    const schema = z.object({ region: region('Region'), level, nested });
    add('routed', schema, () => text(JSON.stringify(seenHeaders)));
  }
  add('vanish', empty, () => {
    hasVanished = true;
    return wait(60000);
  });
  add('grow', empty, () => {
    hasGrown = true;
    if (Server === ServerV1) addNew();
    setTimeout(() => notify(server), 50);
    return text('grown');
  });
  const addNew = () => add('new-tool', empty, () => text('new'));
  if (hasGrown) addNew();
  return server;
}

function listen(handler) {
  const server = http.createServer((request, response) => {
    seenHeaders = request.headers;
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401, { 'content-type': 'text/plain' }).end('who are you?');
      return;
    }
    Promise.resolve(handler(request, response)).catch((error) => {
      console.error(error);
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1', () => {
    const path = mode === 'legacy-sse' ? '/sse' : '/mcp';
    console.log(`http://127.0.0.1:${server.address().port}${path}`);
  });
  process.stdin.resume().on('end', () => process.exit(0));
}

async function withSession(request, response) {
  const id = request.headers['mcp-session-id'];
  let transport = sessions.get(id);

  if (hasVanished && id !== undefined && request.method === 'POST') {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (JSON.parse(body).id === undefined) {
      response.writeHead(202).end();
      return;
    }
    hasVanished = false;
    sessions.clear();
    transport = undefined;
  }
  if (id !== undefined && transport === undefined) {
    response.writeHead(404).end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
    return;
  }
  if (transport === undefined) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (sessionId) => sessions.set(sessionId, transport),
    });
    await build(ServerV1).connect(transport);
  }
  await transport.handleRequest(request, response);
}

async function withoutSession(request, response) {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: true,
  });
  await build(ServerV1).connect(transport);
  await transport.handleRequest(request, response);
}

async function oldTransport(request, response) {
  const url = new URL(request.url, 'http://localhost');
  if (request.method === 'GET' && url.pathname === '/sse') {
    const transport = new SSEServerTransport('/message', response);
    sessions.set(transport.sessionId, transport);
    await build(ServerV1).connect(transport);
  } else if (request.method === 'POST' && url.pathname === '/message') {
    await sessions.get(url.searchParams.get('sessionId')).handlePostMessage(request, response);
  } else {
    response.writeHead(405).end('Cannot do that');
  }
}

function modernHttp() {
  const handler = createMcpHandler(() => build(ServerV2), { legacy: 'reject' });
  notify = () => handler.notify.toolsChanged();
  return async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const abort = new AbortController();
    response.on('close', () => abort.abort());
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1${request.url}`, {
        method: request.method,
        headers: request.headers,
        body: request.method === 'POST' ? Buffer.concat(chunks) : undefined,
        signal: abort.signal,
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.flushHeaders();
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  };
}

const modes = {
  'modern-stdio': () => serveStdio(() => build(ServerV2), { legacy: 'reject' }),
  'both-stdio': () => serveStdio(() => build(ServerV2)),
  'modern-http': () => listen(modernHttp()),
  'legacy-http': () => listen(withSession),
  'legacy-json': () => listen(withoutSession),
  'legacy-sse': () => listen(oldTransport),
};
if (mode === 'modern-stdio' || mode === 'both-stdio')
  notify = (server) => server.sendToolListChanged();
modes[mode]();

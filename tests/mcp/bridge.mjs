// SPDX-License-Identifier: MIT
// bridge - a server on standard input and output, behind an address: for programs that speak
// HTTP alone. Messages go through as they are; what HTTP asks for besides is done here.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const META = 'io.modelcontextprotocol/';
const OURS = /^(https?:\/\/)?(localhost|127\.0\.0\.1)(:\d+)?$/;

const reply = (response, status, message, headers = {}) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(message && JSON.stringify({ jsonrpc: '2.0', ...message }));
};

/** The answer, as the end of a stream if there is one. */
function finish(response, status, message, headers) {
  if (!response.headersSent) return reply(response, status, message, headers);
  tell(response, message);
  response.end();
}

function tell(response, message) {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: ${JSON.stringify(message)}\n\n`);
}

/** The status that 2026-07-28 has for an answer to that request. */
function statusOf({ error }, { params }) {
  const isWhole = ['protocolVersion', 'clientCapabilities'].every((name) => params?._meta?.[META + name] !== undefined);
  if (error?.code === -32601) return 404;
  return [-32020, -32021, -32022].includes(error?.code) || (error?.code === -32602 && !isWhole) ? 400 : 200;
}

/** A process, and what it says. */
class Behind {
  constructor(command, hear) {
    this.child = spawn(command[0], command.slice(1), { stdio: ['pipe', 'pipe', 'ignore'] });
    createInterface({ input: this.child.stdout }).on('line', (line) => hear(JSON.parse(line)));
  }

  say(message) { this.child.stdin.write(`${JSON.stringify(message)}\n`); }

  end() { this.child.stdin.end(); }
}

/** 2026-07-28: one process for all, and ids of our own, for clients have the same ones. */
class Modern {
  waiting = new Map(); // id -> { message, response }
  next = 1;

  constructor(command) {
    this.behind = new Behind(command, (message) => this.hear(message));
  }

  hear(message) {
    const subscription = message.params?._meta?.[`${META}subscriptionId`];
    const id = message.id ?? subscription ?? message.params?.progressToken;
    const to = this.waiting.get(id);
    if (to === undefined) return;
    if (subscription !== undefined) message.params._meta[`${META}subscriptionId`] = to.message.id;
    if (message.params?.progressToken !== undefined) message.params.progressToken = to.token;
    if (message.id === undefined) return tell(to.response, message);
    this.waiting.delete(id);
    finish(to.response, statusOf(message, to.message), { ...message, id: to.message.id });
  }

  take(message, response) {
    const id = `bridge-${this.next++}`;
    const token = message.params?._meta?.progressToken;
    const sent = structuredClone(message);
    if (token !== undefined) sent.params._meta.progressToken = id;
    this.waiting.set(id, { message, response, token });
    response.on('close', () => {
      if (this.waiting.delete(id))
        this.behind.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
    });
    this.behind.say({ ...sent, id });
  }
}

/** Earlier: a process for each session. */
class Session {
  id = randomUUID();
  waiting = new Map();

  constructor(command) {
    this.behind = new Behind(command, (message) => this.hear(message));
  }

  hear(message) {
    const isAnswer = message.id !== undefined && message.method === undefined;
    if (!isAnswer) return tell([...this.waiting.values()].at(-1) ?? this.stream, message);
    const response = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    finish(response, 200, message, { 'mcp-session-id': this.id });
  }

  take(message, response) {
    if (message.id !== undefined && message.method !== undefined) this.waiting.set(message.id, response);
    else reply(response, 202);
    this.behind.say(message);
  }

  listen(response) {
    this.stream = response;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  }
}

/** The address of that command, and how to end it all. */
export async function bridge(command) {
  const sessions = new Map();
  const modern = new Modern(command);
  const server = createServer(async (request, response) => {
    const { host, origin, 'mcp-session-id': key, 'mcp-protocol-version': version } = request.headers;
    let body = '';
    for await (const part of request) body += part;
    const message = body === '' ? undefined : JSON.parse(body);
    const asked = message?.params?._meta?.[`${META}protocolVersion`];
    let session = sessions.get(key);
    if (!OURS.test(host) || !OURS.test(origin ?? host)) return reply(response, 403);
    if (message?.method === 'initialize' && asked === undefined) {
      session = new Session(command);
      sessions.set(session.id, session);
    }
    if (session === undefined && (key !== undefined || message === undefined))
      return reply(response, key === undefined ? 405 : 404);
    if (session === undefined && asked !== undefined && asked !== version)
      return reply(response, 400, { id: message.id, error: { code: -32020, message: 'the header differs' } });
    if (session === undefined) return modern.take(message, response);
    if (request.method === 'GET') return session.listen(response);
    if (request.method !== 'DELETE') return session.take(message, response);
    session.behind.end();
    sessions.delete(key);
    reply(response, 200);
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    close() {
      for (const each of [modern, ...sessions.values()]) each.behind.end();
      server.closeAllConnections();
      server.close();
    },
  };
}

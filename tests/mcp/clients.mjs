// SPDX-License-Identifier: MIT
// clients: the official clients of both generations, v2 in each of its ways to choose an era.
// What was connected and not closed is closed after the tests: a server left would keep the
// runner alive.
import { after } from 'node:test';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2, UnauthorizedError as RefusedV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { UnauthorizedError as RefusedV1 } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const v2 = (mode) => ({ Client: ClientV2, Stdio: StdioV2, Http: HttpV2, Refused: RefusedV2,
  question: 'elicitation/create', elicitation: { form: {} }, options: { versionNegotiation: { mode } } });

/** Refused: what a client throws that has to sign in. elicitation: how it says that it can ask. */
export const ways = {
  v1: { Client: ClientV1, Stdio: StdioV1, Http: HttpV1, Refused: RefusedV1, question: ElicitRequestSchema, elicitation: {} },
  'v2 legacy': v2('legacy'),
  'v2 auto': v2('auto'),
  'v2 pinned': v2({ pin: '2026-07-28' }),
};

export const about = { name: 'test', version: '1' };
const connected = [];
export const closeAll = () => Promise.all(connected.splice(0).map((client) => client.close()));
after(closeAll);

/** where: a command, or a url, and options of that transport. person(params) answers questions. */
export async function connect(way, where, { person, capabilities } = {}) {
  const { Client, Stdio, Http, question, elicitation, options } = ways[way];
  const client = new Client(about, { capabilities: capabilities ?? (person ? { elicitation } : {}), ...options });
  connected.push(client);
  if (person) client.setRequestHandler(question, ({ params }) => person(params));
  await client.connect(where.url ? new Http(new URL(where.url), where) : new Stdio(where));
  return client;
}

/** callTool() with options, which the generations take in different places. */
export const callTool = (client, params, options) =>
  client instanceof ClientV1 ? client.callTool(params, undefined, options) : client.callTool(params, options);

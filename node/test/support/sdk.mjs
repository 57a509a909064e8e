// SPDX-License-Identifier: MIT
/* sdk - both generations of the official MCP SDK, as far as they are installed here. */
import { existsSync } from 'node:fs';

async function versionOne() {
  const [{ McpServer }, { Server }, { Client }, { InMemoryTransport }, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/mcp.js'), import('@modelcontextprotocol/sdk/server/index.js'),
    import('@modelcontextprotocol/sdk/client/index.js'), import('@modelcontextprotocol/sdk/inMemory.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  const { ListToolsRequestSchema, CallToolRequestSchema } = types;
  return {
    name: 'SDK 1', McpServer, Server, Client, InMemoryTransport,
    onList: (server, handler) => server.setRequestHandler(ListToolsRequestSchema, handler),
    onCall: (server, handler) => server.setRequestHandler(CallToolRequestSchema, handler),
    call: (client, params, options) => client.callTool(params, undefined, options),
  };
}

/* Installed for the tests of the server `glovebox mcp`; needs Node 20. */
async function versionTwo() {
  const folder = new URL('../../../tests/mcp/node_modules/@modelcontextprotocol/', import.meta.url);
  const file = (name) => new URL(`${name}/dist/index.mjs`, folder);
  if (!existsSync(file('server')) || Number(process.versions.node.split('.')[0]) < 20) return undefined;
  const [server, client] = await Promise.all([import(file('server').href), import(file('client').href)]);
  return {
    name: 'SDK 2', McpServer: server.McpServer, Server: server.Server, Client: client.Client,
    InMemoryTransport: server.InMemoryTransport ?? client.InMemoryTransport,
    onList: (to, handler) => to.setRequestHandler('tools/list', handler),
    onCall: (to, handler) => to.setRequestHandler('tools/call', handler),
    call: (client, params, options) => client.callTool(params, options),
  };
}

export const sdks = [await versionOne(), await versionTwo()].filter((each) => each !== undefined);

/** A client that is connected to the server, in this process. */
export async function connect({ Client, InMemoryTransport }, server) {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1' });
  await Promise.all([server.connect(near), client.connect(far)]);
  return client;
}

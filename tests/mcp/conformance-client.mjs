// SPDX-License-Identifier: MIT
// conformance-client - what the conformance suite takes for a client: `glovebox mcp` with the
// suite's server as its server `up`, whose tools are listed and called.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
const config = join(folder, 'mcp.json');
writeFileSync(config, JSON.stringify({ mcpServers: { up: { type: 'http', url: process.argv.at(-1) } },
  glovebox: { rules: [{ action: 'allow' }] } }));

const client = new Client({ name: 'conformance', version: '1' });
await client.connect(new StdioClientTransport({ command: process.env.GLOVEBOX,
  args: ['mcp', '--config', config], stderr: 'inherit',
  env: { PATH: process.env.PATH, HOME: folder, GLOVEBOX_WORKER: process.env.GLOVEBOX_WORKER } }));
const use = (name, args) => client.callTool({ name, arguments: args });
const call = (tool, args = {}) => use('call', { server: 'up', tool, args });
const EVERY = `for (const { name } of await servers.up.tools())
  await servers.up.call(name, { a: 2, b: 3, region: 'x' }).catch((error) => console.log(String(error)));`;
const ECHO = `const { inputSchema } = (await servers.up.tools()).find(({ name }) => name === 'json_schema_2020_12_tool');
  await servers.up.json_schema_echo({ schema: inputSchema });`;

await use('discover', { server: 'up', detail: 'types' });
if (scenario === 'http-custom-headers')
  for (const { name, arguments: args } of JSON.parse(context).toolCalls) await call(name, args);
else await use('execute', { code: scenario === 'json-schema-2020-12-preservation' ? ECHO : EVERY });
if (scenario === 'http-invalid-tool-headers')
  for (const what of ['empty_header', 'object_header', 'array_header', 'null_header', 'duplicate_same_case',
    'duplicate_diff_case', 'space_in_name', 'colon_in_name', 'non_ascii_name', 'control_char_name'])
    await call(`invalid_${what}`);
await client.close();
rmSync(folder, { recursive: true });

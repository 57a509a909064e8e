// SPDX-License-Identifier: MIT
// conformance-client - what the conformance suite takes for a client: `glovebox mcp` with the
// suite's server as its server `up`, whose tools are listed and called.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Wire } from './wire.mjs';

const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
const config = join(folder, 'mcp.json');
writeFileSync(config, JSON.stringify({ mcpServers: { up: { type: 'http', url: process.argv.at(-1) } },
  glovebox: { rules: [{ action: 'allow' }] } }));

const wire = new Wire(process.env.GLOVEBOX, ['mcp', '--config', config], { stdio: ['pipe', 'pipe', 'inherit'],
  env: { PATH: process.env.PATH, HOME: folder, GLOVEBOX_WORKER: process.env.GLOVEBOX_WORKER } });
await wire.initialize();
const use = async (name, args) => (await wire.call(name, args)).result.content[0].text;
const call = (tool, args = {}) => use('call', { server: 'up', tool, args });
const ECHO = `const { inputSchema } = (await servers.up.tools()).find(({ name }) => name === 'json_schema_2020_12_tool');
  await servers.up.json_schema_echo({ schema: inputSchema });`;

/* Code mode's process is started only where it is the claim. */
const [, names = ''] = /\d+ tools: ([^(]*)/.exec(await use('provision', { server: 'up' })) ?? [];
if (scenario === 'json-schema-2020-12-preservation') await use('execute', { code: ECHO });
else if (scenario === 'http-custom-headers')
  for (const { name, arguments: args } of JSON.parse(context).toolCalls) await call(name, args);
else for (const name of names.split(', ').filter(Boolean)) await call(name.trim(), { a: 2, b: 3, region: 'x' });
if (scenario === 'http-invalid-tool-headers')
  for (const what of ['empty_header', 'object_header', 'array_header', 'null_header', 'duplicate_same_case',
    'duplicate_diff_case', 'space_in_name', 'colon_in_name', 'non_ascii_name', 'control_char_name'])
    await call(`invalid_${what}`);
await wire.close();
rmSync(folder, { recursive: true });

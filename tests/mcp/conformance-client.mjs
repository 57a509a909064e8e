// SPDX-License-Identifier: MIT
// conformance-client - what the conformance suite takes for a client: `glovebox mcp` with the
// suite's server as its server `up`, whose tools are listed and called.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { login } from './sign-in.mjs';
import { Wire } from './wire.mjs';

const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
const given = JSON.parse(context);
const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
const config = join(folder, 'mcp.json');
const oauth = { ...(given.client_id && { clientId: given.client_id, clientSecret: given.client_secret, issuer: given.issuer }),
  ...(scenario === 'auth/basic-cimd' && { clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' }) };
writeFileSync(config, JSON.stringify({ mcpServers: { up: { type: 'http', url: process.argv.at(-1), glovebox: { oauth } } },
  glovebox: { rules: [{ action: 'allow' }] } }));

const env = { PATH: process.env.PATH, HOME: folder, GLOVEBOX_WORKER: process.env.GLOVEBOX_WORKER };
const ECHO = `const { inputSchema } = (await servers.up.tools()).find(({ name }) => name === 'json_schema_2020_12_tool');
  await servers.up.json_schema_echo({ schema: inputSchema });`;

/** A person who leaves every form as it is, and says yes. */
function answerQuestions(wire) {
  createInterface({ input: wire.child.stdout }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method !== 'elicitation/create') return;
    const fields = Object.entries(params.requestedSchema.properties);
    wire.say({ id, result: { action: 'accept', content: Object.fromEntries(fields.map(([name, field]) => [name, field.default ?? true])) } });
  });
}

/** Uses the tools of the server. True: it wants a person to sign in, again. */
async function use() {
  const wire = new Wire(process.env.GLOVEBOX, ['mcp', '--config', config], { stdio: ['pipe', 'pipe', 'inherit'], env });
  answerQuestions(wire);
  await wire.initialize('2025-11-25', { elicitation: { form: {} } });
  let wantsPerson = false;
  const run = async (name, args) => {
    const { text } = (await wire.call(name, args)).result.content[0];
    wantsPerson ||= text.includes('glovebox mcp login');
    return text;
  };
  const call = (tool, args = {}) => run('call', { server: 'up', tool, args });

  /* Code mode's process is started only where it is the claim. */
  const [, names = ''] = /\d+ tools: ([^(]*)/.exec(await run('provision', { server: 'up' })) ?? [];
  if (scenario === 'json-schema-2020-12-preservation') await run('execute', { code: ECHO });
  else if (scenario === 'http-custom-headers')
    for (const { name, arguments: args } of given.toolCalls) await call(name, args);
  else for (const name of names.split(', ').filter(Boolean)) await call(name.trim(), { a: 2, b: 3, region: 'x' });
  if (scenario === 'http-invalid-tool-headers')
    for (const what of ['empty_header', 'object_header', 'array_header', 'null_header', 'duplicate_same_case',
      'duplicate_diff_case', 'space_in_name', 'colon_in_name', 'non_ascii_name', 'control_char_name'])
      await call(`invalid_${what}`);
  await wire.close();
  return wantsPerson;
}

/* A person who tries twice. */
for (let left = 2; await use() && left > 0; left--)
  if ((await login(config, { env })).code !== 0) break;
rmSync(folder, { recursive: true });

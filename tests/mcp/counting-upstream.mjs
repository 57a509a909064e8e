// SPDX-License-Identifier: MIT
// counting-upstream: a server of the tests that writes down every call that reaches it, one
// JSON object a line, and gives back what it was given.
//
//     counting-upstream.mjs FILE
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const file = process.argv[2];
const schema = { type: 'object' };
const tools = [
  { name: 'look', inputSchema: schema, annotations: { readOnlyHint: true } },
  { name: 'change', inputSchema: schema, annotations: { readOnlyHint: false, destructiveHint: true } },
  { name: 'plain', inputSchema: schema },
];

function answer(method, params) {
  switch (method) {
    case 'initialize':
      return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'counting', version: '1' } };
    case 'ping': return {};
    case 'tools/list': return { tools };
    case 'tools/call': {
      appendFileSync(file, `${JSON.stringify({ tool: params.name, args: params.arguments })}\n`);
      const said = { tool: params.name, args: params.arguments, token: process.env.API_TOKEN ?? null };
      return { content: [{ type: 'text', text: JSON.stringify(said) }], structuredContent: said };
    }
    default: return undefined;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = answer(method, params);
  const reply = result ? { result } : { error: { code: -32601, message: 'no such method' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`);
}

// SPDX-License-Identifier: MIT
// counting-upstream: a server of the tests that writes down every call that reaches it, one
// JSON object a line, and gives back what it was given.
//
//     counting-upstream.mjs FILE
import { appendFileSync } from 'node:fs';
import { serve } from './serve.mjs';

const file = process.argv[2];
const schema = { type: 'object' };
const tools = [
  { name: 'look', inputSchema: schema, annotations: { readOnlyHint: true } },
  { name: 'change', inputSchema: schema, annotations: { readOnlyHint: false, destructiveHint: true } },
  { name: 'plain', inputSchema: schema },
];

serve('counting', tools, ({ name: tool, arguments: args }) => {
  appendFileSync(file, `${JSON.stringify({ tool, args })}\n`);
  const said = { tool, args, token: process.env.API_TOKEN ?? null };
  return { content: [{ type: 'text', text: JSON.stringify(said) }], structuredContent: said };
});

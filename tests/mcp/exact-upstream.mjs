// SPDX-License-Identifier: MIT
// exact-upstream: a server of the tests that gives JSON as it is told it, to the byte, and
// gives back the arguments as they have arrived.
import { createInterface } from 'node:readline';

const integer = { type: 'integer' };
const schema = { type: 'object', $defs: { id: { anyOf: [integer, { type: 'null' }] } }, properties: {
  id: integer, maybe: { type: ['integer', 'null'] }, ref: { $ref: '#/$defs/id' }, number: { type: 'number' },
  text: { type: 'string' }, either: { type: ['integer', 'string'] }, list: { type: 'array', items: integer },
  pair: { type: 'array', prefixItems: [{ type: 'string' }, integer] },
  rows: { type: 'array', items: { oneOf: [{ type: 'object', properties: { id: integer } }] } },
  map: { type: 'object', additionalProperties: integer } } };
const tools = [
  { name: 'give', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
  { name: 'take', inputSchema: schema }, { name: 'any', inputSchema: { type: 'object' } }];

function answer(method, params, line) {
  switch (method) {
    case 'initialize':
      return JSON.stringify({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'exact', version: '1' } });
    case 'tools/list': return JSON.stringify({ tools });
    case 'tools/call':
      if (params.name === 'give') return params.arguments.result;
      return JSON.stringify({ content: [{ type: 'text', text: `got ${/"arguments":(.*?)(,"_meta"|\}\}$)/s.exec(line)[1]}` }] });
    default: return '{}';
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${answer(method, params, line)}}\n`);
});

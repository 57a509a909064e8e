// SPDX-License-Identifier: MIT
// exact-upstream: a server of the tests that gives JSON as it is told it, to the byte, and
// gives back the arguments as they have arrived.
import { serve } from './serve.mjs';

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

/* JSON as it is, and the arguments as they stand in the line. */
function run({ name, arguments: args }, id, line) {
  if (name === 'give') return args.result;
  return JSON.stringify({ content: [{ type: 'text', text: `got ${/"arguments":(.*?)(,"_meta"|\}\}$)/s.exec(line)[1]}` }] });
}

serve('exact', tools, run, { toLine: ({ id, result }) =>
  `{"jsonrpc":"2.0","id":${id},"result":${typeof result === 'string' ? result : JSON.stringify(result)}}` });

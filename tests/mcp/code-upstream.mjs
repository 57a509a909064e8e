// SPDX-License-Identifier: MIT
// code-upstream: the tools of the table in code-cases.mjs, as a server over stdio.
import { createInterface } from 'node:readline';
import { tools } from './code-cases.mjs';

const calls = { // by id: whom a cancellation ends
  __proto__: null,
};

async function run(id, { name, arguments: args = {} }) {
  const controller = calls[id] = new AbortController();
  try {
    const value = await tools[name].handler(args, { signal: controller.signal });
    return { content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }] };
  } catch ({ message }) {
    return { isError: true, content: [{ type: 'text', text: message }] };
  }
}

const ANSWERS = {
  initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'code', version: '1' } }),
  'tools/list': () => ({ tools: Object.entries(tools).map(([name, { handler, ...tool }]) => ({ name, inputSchema: { type: 'object' }, ...tool })) }),
  'tools/call': (params, id) => run(id, params),
};

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'notifications/cancelled') calls[params.requestId]?.abort();
  if (id === undefined) return;
  const result = await ANSWERS[method]?.(params, id) ?? {};
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
});

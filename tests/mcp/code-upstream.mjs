// SPDX-License-Identifier: MIT
// code-upstream: the tools of the table in code-cases.mjs, as a server over stdio.
import { tools } from './code-cases.mjs';
import { serve } from './serve.mjs';

const calls = { // by id: whom a cancellation ends
  __proto__: null,
};

async function run({ name, arguments: args = {} }, id) {
  const controller = calls[id] = new AbortController();
  try {
    const value = await tools[name].handler(args, { signal: controller.signal });
    return { content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }] };
  } catch ({ message }) {
    return { isError: true, content: [{ type: 'text', text: message }] };
  }
}

const listed = Object.entries(tools).map(([name, { handler, ...tool }]) => ({ name, inputSchema: { type: 'object' }, ...tool }));

serve('code', listed, run, { onNotification: (method, params) => {
  if (method === 'notifications/cancelled') calls[params.requestId]?.abort();
} });

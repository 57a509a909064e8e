// SPDX-License-Identifier: MIT
// plain-upstream: a server of the tests with tools that succeed, fail, wait, and have names
// that code mode has taken.
import { serve } from './serve.mjs';

const schema = { type: 'object' };
const names = ['list_items', 'get_item', 'wait', 'fail', 'call', 'tools', 'then'];
const tools = names.map((name) => ({
  name, description: `Tool ${name}`, inputSchema: schema, annotations: { readOnlyHint: true },
}));
// One that takes many lines to declare.
tools[1].inputSchema = { type: 'object', properties: Object.fromEntries(
  Array.from({ length: 60 }, (_, i) => [`option${i}`, { type: 'string' }])) };
// The one that has an effect.
tools.push({ name: 'change', inputSchema: schema });
let changes = 0;
const text = (value) => ({ content: [{ type: 'text', text: value }] });

async function run(name, args, meta) {
  switch (name) {
    case 'list_items': return text(JSON.stringify({ items: [{ id: 1 }, { id: 2 }] }));
    case 'wait':
      for (let i = 1; i <= (args.steps ?? 0); i++) {
        await new Promise((resolve) => { setTimeout(resolve, args.ms); });
        process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress',
          params: { progressToken: meta.progressToken, progress: i } })}\n`);
      }
      await new Promise((resolve) => { setTimeout(resolve, args.ms); });
      return text('waited');
    case 'change':
      changes++;
      if (args.exits) process.exit(7);
      await new Promise((resolve) => { setTimeout(resolve, args.ms ?? 0); });
      if (args.fails) return { isError: true, ...text('no such record') };
      return text(`changed ${changes}`);
    case 'fail': return { isError: true, ...text(`it failed: ${args.why}`) };
    default: return text(JSON.stringify({ tool: name, args }));
  }
}

serve('plain', tools, ({ name, arguments: args = {}, _meta = {} }) => run(name, args, _meta));

// SPDX-License-Identifier: MIT
// told-upstream: a server that has the tools, and gives the answers, that it is told.
//
//   node told-upstream.mjs [TOOLS] [escaped]
//
// TOOLS is the list of its tools as JSON, or an expression of JavaScript for it. A call is
// answered with the argument `result` or `error` as it is, or else with the tool's name; with
// `times`, the content of `result` comes so often; with `half`, half a character, which
// with `result` stands where that has HALF; with `says`, these are the params of log messages
// before it, with the value of the variable KEY where they have KEY. What is in the variable KEY is told with its
// own name. `escaped` writes JSON as some other languages do: "\u00e9" and "\/".
import { createInterface } from 'node:readline';

const { KEY = '' } = process.env;
const tools = (0, eval)(process.argv[2] ?? '[]');

function answer(method, params) {
  switch (method) {
    case 'initialize':
      return { result: { protocolVersion: '2025-11-25', capabilities: { tools: {} },
        serverInfo: { name: `told${KEY && `-${KEY}`}`, version: '1' }, instructions: '' } };
    case 'tools/list': return { result: { tools } };
    case 'tools/call': {
      const { result, error, times, half, says = [] } = params.arguments ?? {};
      for (const each of says)
        console.log(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: each }).replaceAll('KEY', KEY));
      if (error !== undefined) return { error };
      if (times !== undefined) result.content = Array(times).fill(result.content).flat();
      if (half !== undefined && result !== undefined)
        return { result: JSON.parse(JSON.stringify(result).replaceAll('HALF', '\\ud83d')) };
      if (half !== undefined)
        return { result: { content: [{ type: 'text', text: 'a\ud83d' }], structuredContent: { 'a\ud83d': 'b\udc00' } } };
      return { result: result ?? { content: [{ type: 'text', text: params.name }] } };
    }
    default: return { result: {} };
  }
}

const escape = (json) => process.argv[3] !== 'escaped' ? json : json.replaceAll('/', '\\/')
  .replace(/[^\0-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined)
    process.stdout.write(`${escape(JSON.stringify({ jsonrpc: '2.0', id, ...answer(method, params) }))}\n`);
});

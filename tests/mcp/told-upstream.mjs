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
import { serve } from './serve.mjs';

const { KEY = '' } = process.env;
const tools = (0, eval)(process.argv[2] ?? '[]');

/* Gives the answer, a result or an error. */
function run({ name, arguments: { result, error, times, half, says = [] } = {} }) {
  for (const each of says)
    console.log(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: each }).replaceAll('KEY', KEY));
  if (error !== undefined) return { answer: { error } };
  if (times !== undefined) result.content = Array(times).fill(result.content).flat();
  if (half !== undefined && result !== undefined)
    return { answer: { result: JSON.parse(JSON.stringify(result).replaceAll('HALF', '\\ud83d')) } };
  if (half !== undefined)
    return { answer: { result: { content: [{ type: 'text', text: 'a\ud83d' }], structuredContent: { 'a\ud83d': 'b\udc00' } } } };
  return { answer: { result: result ?? { content: [{ type: 'text', text: name }] } } };
}

const escape = (json) => process.argv[3] !== 'escaped' ? json : json.replaceAll('/', '\\/')
  .replace(/[^\0-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

serve(`told${KEY && `-${KEY}`}`, tools, run, { toLine: ({ result, ...message }) =>
  escape(JSON.stringify({ ...message, ...(result.answer ?? { result }) })) });

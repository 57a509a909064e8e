// SPDX-License-Identifier: MIT
// growing-tools: for full-upstream.mjs, the few tools that server-stateless of the conformance suite calls. Another
// one comes and goes with test_trigger_tool_change.
const names = ['test_missing_capability', 'test_streaming_elicitation', 'test_logging_tool', 'test_trigger_tool_change', 'test_trigger_prompt_change'];
let changes = 0;

export default function few(method, { name }) {
  if (method === 'tools/call' && name === 'test_trigger_tool_change') changes++;
  if (method !== 'tools/list') return undefined;
  return { tools: [...names, ...(changes % 2 === 1 ? ['another'] : [])].map((each) => ({ name: each, inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } })) };
}

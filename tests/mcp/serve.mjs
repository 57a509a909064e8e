// SPDX-License-Identifier: MIT
// serve: what the servers of the tests have alike: MCP over stdio, in the legacy era.
import { createInterface } from 'node:readline';

/** call(params, id, line) gives the result of tools/call; toLine: of a message;
 *  onNotification(method, params). */
export function serve(name, tools, call, { toLine = JSON.stringify, onNotification } = {}) {
  const results = {
    initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name, version: '1' } }),
    'tools/list': () => ({ tools }),
    'tools/call': call,
  };
  createInterface({ input: process.stdin }).on('line', async (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return void onNotification?.(method, params);
    const result = await results[method]?.(params, id, line) ?? {};
    process.stdout.write(`${toLine({ jsonrpc: '2.0', id, result })}\n`);
  });
}

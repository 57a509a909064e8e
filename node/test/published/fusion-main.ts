// SPDX-License-Identifier: MIT
/* The tools on a server of the SDK, and the engine by itself. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SandboxEngine, validateSandboxCode, type SandboxConfig, type SandboxResult } from 'glovebox';

import { f, type AppContext } from './fusion.js';
import watched, { compute } from './fusion-tools.js';

const records = [{ id: 'a', risk: 95 }, { id: 'b', risk: 5 }];
const createContext = (): AppContext => ({
  db: { records: { findMany: async ({ take = records.length } = {}) => records.slice(0, take) } },
});

const server = new McpServer({ name: 'data', version: '1.0.0' });
f.register(server, { context: () => createContext() });
const client = new Client({ name: 'user', version: '1.0.0' });
const [near, far] = InMemoryTransport.createLinkedPair();
await Promise.all([server.connect(near), client.connect(far)]);

async function call(name: string, expression: string, signal?: AbortSignal): Promise<string> {
  const { content, isError } = await client.callTool({ name, arguments: { expression } }, undefined, signal ? { signal } : {});
  return `${isError === true} ${(content as { text: string }[])[0]?.text.split(':')[0] ?? ''}`;
}

console.log(await call(compute.name, '(data) => data.filter(d => d.risk > 90).map(d => d.id)'));
console.log(await call(compute.name, '(data) => data.missing.id'));
console.log(await call(watched.name, '(data) => data.length'));
const gone = new AbortController();
const left = call(watched.name, '() => { for (;;); }', gone.signal).catch(() => 'left');
setTimeout(() => gone.abort(), 300);
console.log(await left);

const config: SandboxConfig = { timeout: 5000, memoryLimit: 128, maxOutputBytes: 1_048_576 };
const engine = new SandboxEngine(config);
try {
  const result: SandboxResult<string[]> = await engine.execute('(data) => data.filter(d => d.risk > 90).map(d => d.id)', records);
  if (result.ok) console.log(result.value.join(), typeof result.executionMs);
  else console.log(result.code, result.error);
} finally {
  engine.dispose();
}
console.log(engine.isDisposed, validateSandboxCode('(data) => data').ok);
const bad = validateSandboxCode('require("fs").readFileSync("x")');
if (!bad.ok) console.log(typeof bad.violation);
await client.close();

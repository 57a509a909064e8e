// SPDX-License-Identifier: MIT
/* What the compiler must accept, and what it must refuse, of forge, runner and code mode. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  createCodeMode, createSandboxClient, createSandboxTools, glovebox, memory, memoryAdapter, nodeWorkerAdapter,
  SandboxedToolForge, SandboxExecutionError,
  type SandboxAPI, type SandboxErrorCode, type SandboxExecuteArgs, type SandboxMainToWorkerMessage,
  type SandboxRunner, type SandboxWorkerToMainMessage,
} from 'glovebox';

/* ---- forge ---- */

const forge = new SandboxedToolForge({ timeoutMs: 3000, memoryMB: 64, fetchDomains: ['a.example'], fsReadPaths: ['.'] });
const allowlist: SandboxAPI[] = ['fetch', 'fs.readFile', 'crypto'];
const { valid, violations, details } = forge.validateCode('function run() {}', allowlist);
const placed: string | undefined = details?.map(({ line, column, message, hint }) => `${line}:${column} ${message} ${hint ?? ''}`)[0];
const said: string[] = valid ? [] : violations;
const made = await forge.execute({ code: said.join(), input: { a: 2 }, allowlist, memoryMB: 128, timeoutMs: 3000 });
const cost: number = made.executionTimeMs + made.memoryUsedBytes;
if (made.success) {
  const output: unknown = made.output;
  void output;
} else {
  const error: string = made.error;
  const code: SandboxErrorCode = made.code;
  void [error, code, cost, placed];
}
// @ts-expect-error no such API
forge.validateCode('', ['net']);
// @ts-expect-error code is required
await forge.execute({ input: 1 });

/* ---- runner ---- */

class Mine implements SandboxRunner {
  readonly name = 'mine';
  async execute({ code, executionParams }: SandboxExecuteArgs) {
    const message: SandboxMainToWorkerMessage = {
      type: 'execute', execId: 1, code, contextVariables: {}, executionParams: executionParams ?? {}, envVars: {},
      isCustomTool: false, syncTimeout: 5,
    };
    const answer = { type: 'result', execId: 1, value: message.type } as SandboxWorkerToMainMessage;
    return { result: answer.type === 'result' ? answer.value : undefined };
  }
  async dispose() {}
}

for (const adapter of [new Mine(), glovebox({ workerMemoryMb: 64, maxWorkers: 4 }), memory(), nodeWorkerAdapter({ maxWorkers: 4, workerMemoryMb: 256 }), memoryAdapter()]) {
  const client = createSandboxClient({ adapter });
  const { result } = await client.execute({
    code: 'return params.a + params.b',
    executionParams: { a: 1, b: 2 },
    envVars: {},
    contextVariables: {},
    isCustomTool: false,
    timeout: 5_000,
    secureFetchImpl: (url, init) => fetch(url, init as RequestInit),
    consoleSink: { log: (m) => console.log(m), error: (m: string) => console.error(m) },
  });
  void result;
  const attempt = await client.attempt({ code: '' });
  if (!attempt.ok) attempt.error.message.length;
  await client.dispose();
}
try {
  void 0;
} catch (error) {
  if (error instanceof SandboxExecutionError) error.code === 'TIMEOUT';
}
// @ts-expect-error no adapter
createSandboxClient({ adapter: { name: 'x' } });
// @ts-expect-error no such option
glovebox({ memory: 1 });

/* ---- code mode ---- */

const tools = createSandboxTools();
const mode = createCodeMode({
  servers: {
    client: new Client({ name: 'a', version: '1' }),
    tools,
    functions: { add: ({ a, b }) => a + b, slow: { description: 'x', inputSchema: { type: 'object' }, handler: async (_, { signal }) => signal.aborted } },
  },
  allow: ({ server, tool, args, line }) => `${server}${tool}${line}` in args || 'no',
});
const { definition, definitions } = await mode.prepare();
definitions[0]?.inputSchema.type === definition.inputSchema.type;
const outcome = await mode.run<number>('return 1', { input: 1, onProgress: ({ message }) => message?.length });
if (outcome.ok) outcome.result.toFixed();
else outcome.error.hint.length;
outcome.calls[0]?.ms.toFixed();
(await mode.handler({ code: '1' }, { signal: new AbortController().signal })).content[0]?.type;
/* Their results are those of handlers of the SDK. */
const server = new McpServer({ name: 'a', version: '1' });
server.registerTool(definition.name, { description: definition.description }, (extra) => mode.handler({ code: '1' }, extra));
server.registerTool('sum', {}, () => tools.callTool('sum'));
server.registerTool('no', {}, () => tools.error('NO', 'not today').toResult());
// @ts-expect-error not a server
createCodeMode({ servers: { a: 1 } });
// @ts-expect-error no servers
createCodeMode({});

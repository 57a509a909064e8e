// SPDX-License-Identifier: MIT
/* The published use, and an adapter of the program's own with the published messages. */
import { Worker } from 'node:worker_threads';

import {
  createSandboxClient, memoryAdapter, nodeWorkerAdapter, WORKER_SOURCE,
  type SandboxClientConfig, type SandboxExecuteArgs, type SandboxExecuteResult, type SandboxMainToWorkerMessage,
  type SandboxRunner, type SandboxWorkerToMainMessage,
} from 'glovebox';

function threadAdapter(): SandboxRunner {
  const worker = new Worker(WORKER_SOURCE, { eval: true });
  const send = (message: SandboxMainToWorkerMessage) => worker.postMessage(message);
  return {
    name: 'thread',
    async execute(args: SandboxExecuteArgs): Promise<SandboxExecuteResult> {
      const { code, contextVariables, executionParams, envVars, isCustomTool, timeout } = args;
      return new Promise((resolve, reject) => {
        worker.on('message', async function listen(message: SandboxWorkerToMainMessage) {
          if (message.type === 'console') args.consoleSink[message.level]?.(message.message);
          if (message.type === 'fetch') {
            const { ok = true, status = 200, body } = await args.secureFetchImpl(message.url, message.init ?? {});
            send({ type: 'fetch_response', id: message.id, ok, status, statusText: '', headers: {}, body: String(body) });
          }
          if (message.type !== 'result' && message.type !== 'error') return;
          worker.off('message', listen);
          if (message.type === 'result') resolve({ result: message.value });
          else reject(Object.assign(new Error(message.error.message), { name: message.error.name }));
        });
        send({ type: 'execute', execId: 1, code, contextVariables, executionParams, envVars, isCustomTool, syncTimeout: timeout });
      });
    },
    async dispose() {
      await worker.terminate();
    },
  };
}

const configs: SandboxClientConfig[] = [
  { adapter: nodeWorkerAdapter({ maxWorkers: 4, workerMemoryMb: 256 }) }, { adapter: memoryAdapter() }, { adapter: threadAdapter() },
];
for (const config of configs) {
  const sandbox = createSandboxClient(config);
  const { result } = await sandbox.execute({
    code: 'console.warn("adds"); const extra = await fetch("https://a.example/"); return params.a + params.b + (await extra.json())',
    executionParams: { a: 1, b: 2 },
    envVars: {},
    contextVariables: {},
    isCustomTool: false,
    timeout: 5_000,
    secureFetchImpl: async () => ({ ok: true, status: 200, body: '4' }),
    consoleSink: {
      log: (m) => console.log(m),
      info: (m) => console.info(m),
      warn: (m) => console.log(`warn ${m}`),
      error: (m) => console.error(m),
    },
  });
  console.log(result);
  await sandbox.dispose();
}

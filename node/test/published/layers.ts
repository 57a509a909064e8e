// SPDX-License-Identifier: MIT
/* The functions of the article on three layers: what their callers see, in one layer. */
import { SandboxEngine } from 'glovebox';

const engine = new SandboxEngine({ timeout: 10000, memoryLimit: 64 });

async function runSandboxed(code: string, timeoutMs = 100): Promise<unknown> {
  const result = await engine.run({ form: 'script', code, limits: { timeoutMs } });
  if (result.ok) return result.value;
  throw new Error(result.code === 'TIMEOUT' ? `SANDBOX_TIMEOUT: code exceeded ${timeoutMs}ms` : result.error);
}

async function runInWorker(code: string, inputData: unknown, timeoutMs = 5000): Promise<{ ok: boolean; result?: unknown; error?: string }> {
  const result = await engine.run({ form: 'script', code, input: inputData, limits: { timeoutMs } });
  if (result.ok) return { ok: true, result: result.value };
  if (result.code === 'TIMEOUT') throw new Error('WORKER_TIMEOUT');
  return { ok: false, error: result.error };
}

const failed = (error: Error) => error.message;
console.log(await runSandboxed('Math.max(1, 2) + JSON.parse("3")', 5000));
console.log(await runSandboxed('while(true) {}', 2000).catch(failed));
console.log(await runInWorker('input.map((n) => n * 2)', [1, 2]));
console.log(await runInWorker('throw new Error("own words")', 1));
console.log(await runInWorker('for (;;);', 1, 2000).catch(failed));
console.log(await runInWorker('const list = []; for (;;) list.push(new Uint8Array(1e6).fill(1))', 1, 10000));
console.log(await runSandboxed('[typeof require, typeof process, typeof Buffer, typeof fetch].join()', 5000));
engine.dispose();

// SPDX-License-Identifier: MIT
//
// What the declarations of the engine promise, for the compiler to judge: nothing is run.
import {
  SANDBOX_SYSTEM_INSTRUCTION, SandboxEngine, validateSandboxCode,
  type GuardResult, type SandboxConfig, type SandboxErrorCode, type SandboxResult,
  type SandboxTelemetryEvent,
} from 'glovebox';

const config: SandboxConfig = {
  timeout: 3000, memoryLimit: 64, maxOutputBytes: 1_048_576,
  fetch: ['api.example.com'], fs: { allow: ['./data'], maxBytes: 1024 }, crypto: true,
  env: { REGION: 'eu', TENANT: { from: 'TENANT_ID' } }, console: { log: (text: string) => void text },
  transport: async (request) => ({ status: 200, headers: [['x', request.method]], body: new Uint8Array() }),
  jit: 'baseline', require: 'strict', securityLog: (line) => void line.length,
};

// @ts-expect-error no such option
const typo: SandboxConfig = { tiemout: 5 };
// @ts-expect-error a number is wanted
const text: SandboxConfig = { timeout: '5' };

export async function use(signal: AbortSignal | undefined): Promise<number> {
  await using closing = new SandboxEngine();
  using engine = new SandboxEngine(config).telemetry((event: SandboxTelemetryEvent) => void event.errorCode);
  const result: SandboxResult<string[]> = await engine.execute<string[]>('(d) => d', ['a'], { signal });
  if (result.ok) {
    const names: string[] = result.value;
    return names.length + result.executionMs;
  }
  const code: SandboxErrorCode = result.code;
  const line: number | undefined = result.location?.line;
  // @ts-expect-error a failure has no value
  const none: string[] = result.value;
  await engine.expose({ db: { query: async (sql: string, limit: number) => [sql, limit] }, now: () => Date.now() });
  await engine.load('orders', [1, 2, 3]);
  await engine.loadJson('orders', new Uint8Array());
  await engine.loadText('orders', 'a,b', 'csv');
  const other = await engine.run({
    form: 'body', code: 'return params.x', bindings: { params: { x: 1 } }, limits: { timeoutMs: 10 },
    policy: { fetch: { allow: ['api.example.com'] } }, onLog: (level, message, timeMs) => void [level, message, timeMs],
  });
  // @ts-expect-error no such form
  await engine.run({ form: 'poem', code: '' });
  engine.dispose();
  await closing.close();
  return other.ok && engine.isDisposed ? SANDBOX_SYSTEM_INSTRUCTION.length : code.length + (line ?? 0);
}

export function check(code: string): string {
  const result = validateSandboxCode(code, { form: 'script', fetch: ['a.example'] });
  const same: GuardResult = result;
  if (result.ok) return String(same.ok);
  return `${result.violations[0]?.line}: ${result.violation}`;
}

void typo;
void text;

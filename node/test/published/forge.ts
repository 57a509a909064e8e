// SPDX-License-Identifier: MIT
import { SandboxedToolForge, type SandboxAPI, type SandboxExecutionRequest, type SandboxExecutionResult } from 'glovebox';

const forge = new SandboxedToolForge({ timeoutMs: 3000 });
const none: SandboxAPI[] = [];
const request: SandboxExecutionRequest = {
  code: 'function execute(input) { return input.a + input.b; }', input: { a: 2, b: 3 }, allowlist: none, memoryMB: 128, timeoutMs: 3000,
};
const sum: SandboxExecutionResult = await forge.execute(request);
console.log(sum.output);

const { valid, violations }: { valid: boolean; violations: string[] } = forge.validateCode('eval("exploit")', []);
console.log(valid, violations);

const object = await forge.execute({
  code: 'function execute(input) { return { sum: input.a + input.b }; }',
  input: { a: 10, b: 20 },
  allowlist: [],
  memoryMB: 128,
  timeoutMs: 5000,
});
console.log(object.success, object.output, object.executionTimeMs > 0);

// SPDX-License-Identifier: MIT
export { SandboxEngine } from './engine.js';
export { validateSandboxCode } from './guard.js';
export { SANDBOX_SYSTEM_INSTRUCTION } from './instruction.js';
export { createSandboxTools, createSandboxTools as initFusion } from './tools.js';
export { SandboxedToolForge } from './forge.js';
export { createSandboxClient, SandboxExecutionError } from './runner.js';
export { glovebox, glovebox as nodeWorkerAdapter } from './runner-glovebox.js';
export { memory, memory as memoryAdapter } from './runner-memory.js';
export { WORKER_SOURCE } from './runner-thread.js';
export { createCodeMode } from './codemode.js';

// SPDX-License-Identifier: MIT
export { SandboxEngine } from './engine.js';
export { validateSandboxCode } from './guard.js';
export { SANDBOX_SYSTEM_INSTRUCTION } from './instruction.js';

// SPDX-License-Identifier: MIT
export * from './engine.js';
export * from './guard.js';
export * from './instruction.js';
export * from './tools.js';
export * from './forge.js';
export * from './runner.js';
export * from './codemode.js';

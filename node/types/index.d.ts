// SPDX-License-Identifier: MIT
export * from './engine.js';
export * from './guard.js';
export * from './instruction.js';

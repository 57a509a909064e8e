// SPDX-License-Identifier: MIT
import type { SandboxConfig, SandboxForm } from './engine.js';

export interface SandboxViolation {
  message: string;
  /** From 1; 0: no position. */
  line: number;
  /** In characters, from 1; 0: no position. */
  column: number;
  /** UNAVAILABLE: nothing was checked, since the addon cannot be loaded here. */
  code: 'INVALID_CODE' | 'SYNTAX' | 'UNAVAILABLE';
  /** 'require', 'eval', 'form', 'size', ... */
  rule: string;
  hint?: string;
  frame?: string;
}

export type GuardResult =
  | { ok: true; violation?: undefined; violations?: undefined }
  | { ok: false; violation: string; violations: SandboxViolation[] };

/** What the engine would allow is no violation; of the limits, `codeBytes` counts. */
export type GuardOptions = { form?: SandboxForm | undefined } & Pick<
  SandboxConfig,
  'policy' | 'console' | 'fetch' | 'fs' | 'crypto' | 'env' | 'capabilities' | 'limits'
  | 'baseDir' | 'trustFiles'
>;

/** Check code without running it: early advice, no security boundary. */
export function validateSandboxCode(code: string, options?: GuardOptions): GuardResult;

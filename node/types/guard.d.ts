// SPDX-License-Identifier: MIT
import type { SandboxConfig, SandboxForm } from './engine.js';

export interface SandboxViolation {
  message: string;
  /** From 1; 0: unknown. */
  line: number;
  /** In characters, from 1; 0: unknown. */
  column: number;
  /** UNAVAILABLE: nothing was checked, since the addon cannot be loaded here. */
  code: 'INVALID_CODE' | 'SYNTAX' | 'UNAVAILABLE';
  /** 'require', 'eval', 'form', 'size', ... */
  rule: string;
  hint?: string;
  frame?: string;
}

export type GuardReport =
  | { ok: true; violation?: undefined; violations?: undefined }
  | { ok: false; violation: string; violations: SandboxViolation[] };

/** The same for those who make one, such as a mock. */
export type GuardResult =
  | { ok: true; violation?: undefined; violations?: undefined }
  | { ok: false; violation: string; violations?: SandboxViolation[] | undefined };

/** What the engine would allow is not a violation; of the limits, `codeBytes` counts. */
export type GuardOptions = { form?: SandboxForm | undefined } & Pick<
  SandboxConfig,
  'policy' | 'console' | 'fetch' | 'fs' | 'crypto' | 'env' | 'capabilities' | 'limits'
  | 'baseDir' | 'trustFiles'
>;

/** Check code without running it: early advice, not a security boundary. */
export function validateSandboxCode(code: string, options?: GuardOptions): GuardReport;

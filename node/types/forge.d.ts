// SPDX-License-Identifier: MIT
import './disposable.js';
import type { SandboxErrorCode } from './engine.js';
import type { SandboxViolation } from './guard.js';

/** What a tool may be allowed, within what the forge was made with. */
export type SandboxAPI = 'fetch' | 'fs.readFile' | 'crypto';

export interface SandboxedToolForgeConfig {
  /** 8 to 4096. Default 128. Everything counts: objects, strings, typed arrays, the engine. */
  memoryMB?: number | undefined;
  /** 1 to 600000. Default 5000. */
  timeoutMs?: number | undefined;
  /** Bytes of JSON that an output may have. Default 1 MiB. */
  maxOutputBytes?: number | undefined;
  /** Sites that fetch may reach: 'api.example.com', '*.example.com'. An empty list is none. */
  fetchDomains?: string[] | undefined;
  /** Another name of fetchDomains. */
  fetchDomainAllowlist?: string[] | undefined;
  /** Directories below which fs.readFile may read, at most 1 MiB of each file. An empty list
   * is none. */
  fsReadPaths?: string[] | undefined;
  /** Another name of fsReadPaths. */
  fsReadRoots?: string[] | undefined;
}

export interface SandboxExecutionRequest {
  /** Defines execute(input) or run(input), async or not. */
  code: string;
  /** Any value that JSON can hold; undefined: null. */
  input?: unknown;
  allowlist?: SandboxAPI[] | undefined;
  memoryMB?: number | undefined;
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface SandboxExecutionCost {
  executionTimeMs: number;
  /** Peak growth of its process's resident memory. */
  memoryUsedBytes: number;
}

/** What a forge resolves with. */
export type SandboxForgeResult =
  | ({ success: true; output: unknown; error?: undefined; code?: undefined } & SandboxExecutionCost)
  | ({ success: false; output?: undefined; error: string; code: SandboxErrorCode } & SandboxExecutionCost);

/** The same for those who make one, such as a mock. */
export interface SandboxExecutionResult extends SandboxExecutionCost {
  success: boolean;
  output?: unknown;
  error?: string | undefined;
  code?: SandboxErrorCode | undefined;
}

export interface SandboxCodeReport {
  valid: boolean;
  /** The published text of each pattern, 'eval() is forbidden', or one with a place. */
  violations: string[];
  /** Each violation with its place and help, if there are any. */
  details?: SandboxViolation[];
}

/** Runs tools that an agent has written for itself. */
export class SandboxedToolForge {
  /** Throws a TypeError for an invalid domain or directory. */
  constructor(config?: SandboxedToolForgeConfig);
  /** Checks the code without running it. A fragment that defines no function may be valid. */
  validateCode(code: string, allowlist?: SandboxAPI[]): SandboxCodeReport;
  /** Resolves whatever the code does; rejects only for wrong use. */
  execute(request: SandboxExecutionRequest): Promise<SandboxForgeResult>;
  /** Ends its engines; what runs ends as ABORTED. */
  dispose(): void;
  [Symbol.dispose](): void;
}

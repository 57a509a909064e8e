// SPDX-License-Identifier: MIT
import './disposable.js';
import type { SandboxErrorCode, SandboxLog } from './engine.js';

/** The port: what an adapter is. */
export interface SandboxRunner {
  readonly name: string;
  execute(args: SandboxExecuteArgs): Promise<SandboxExecuteResult>;
  dispose(): Promise<void>;
}

export interface SandboxExecuteArgs {
  /** The body of an async function. */
  code: string;
  /** What the code sees as params. */
  executionParams?: Record<string, unknown> | undefined;
  /** What the code sees as env and as environmentVariables. */
  envVars?: Record<string, string> | undefined;
  /** Each is also a variable in the code. */
  contextVariables?: Record<string, unknown> | undefined;
  /** Each of executionParams is also a variable, if its name allows. */
  isCustomTool?: boolean | undefined;
  /** Milliseconds, to 600000. Default 5000. */
  timeout?: number | undefined;
  /** Makes the requests of the code's fetch, and must judge each. Without it fetch does not
    * exist. */
  secureFetchImpl?: SecureFetch | undefined;
  /** Receives console lines while the code runs. */
  consoleSink?: SandboxConsoleSink | undefined;
  signal?: AbortSignal | undefined;
}

export interface SandboxExecuteResult {
  result: unknown;
}

export interface SecureFetchInit {
  method?: string | undefined;
  headers?: Record<string, string> | undefined;
  body?: string | undefined;
  redirect?: string | undefined;
}

/** The web's type, or a plain object. */
export interface SecureFetchResponse {
  ok?: boolean | undefined;
  status?: number | undefined;
  statusText?: string | undefined;
  headers?:
    | Record<string, string | string[]>
    | Iterable<[string, string]>
    | { forEach(use: (value: string, name: string) => void): void };
  /** A text, bytes of UTF-8, or a value that is sent as JSON; not a stream. */
  body?: unknown;
  url?: string | undefined;
  text?: (() => Promise<string>) | undefined;
}

export type SecureFetch = (
  url: string, init: SecureFetchInit & Record<string, any>,
) => SecureFetchResponse | Promise<SecureFetchResponse>;

export interface SandboxConsoleSink {
  log?: ((message: string) => void) | undefined;
  info?: ((message: string) => void) | undefined;
  warn?: ((message: string) => void) | undefined;
  error?: ((message: string) => void) | undefined;
  debug?: ((message: string) => void) | undefined;
}

export interface SandboxClientConfig {
  adapter: SandboxRunner;
}

/** How code without a result ended. */
export interface SandboxAttemptError {
  name: string;
  message: string;
  stack: string | undefined;
  code: SandboxErrorCode | (string & {});
  hint: string | undefined;
  location: { line: number; column: number; frame: string } | undefined;
  logs: SandboxLog[];
}

export interface SandboxClient {
  readonly name: string;
  /** Rejects when the code failed, as every adapter does. */
  execute(args: SandboxExecuteArgs): Promise<SandboxExecuteResult>;
  /** The same as a value; rejects only for wrong use. */
  attempt(args: SandboxExecuteArgs): Promise<
    { ok: true; result: unknown; error?: undefined } | { ok: false; result?: undefined; error: SandboxAttemptError }
  >;
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export function createSandboxClient(config: SandboxClientConfig): SandboxClient;

/** The rejection of execute() of these adapters; name and message are the code's own. */
export class SandboxExecutionError extends Error {
  readonly code: SandboxErrorCode;
  readonly hint?: string;
  readonly location?: { line: number; column: number; frame: string };
  readonly logs: SandboxLog[];
  readonly executionMs: number;
}

export interface GloveboxAdapterOptions {
  /** MiB of one piece of code. Default 128. */
  workerMemoryMb?: number | undefined;
  /** Processes alive at once: of code with secureFetchImpl, and of code without. Default 64. */
  maxWorkers?: number | undefined;
  /** Bytes of JSON that a result may have. Default 1 MiB. */
  maxOutputBytes?: number | undefined;
}

/** For production: each piece of code runs in a sealed process of its own. */
export function glovebox(options?: GloveboxAdapterOptions): SandboxRunner;

/** Without isolation, for tests: code runs in this very process, and a warning says so. */
export function memory(): SandboxRunner;

/** glovebox() under the name that programs written for a thread pool use. */
export { glovebox as nodeWorkerAdapter, memory as memoryAdapter };

/* ---- for authors of adapters: messages between a host and a worker of theirs -------------- */

export type SandboxMainToWorkerMessage =
  | {
      type: 'execute';
      execId: string | number;
      code: string;
      contextVariables: Record<string, unknown>;
      executionParams: Record<string, unknown>;
      envVars: Record<string, string>;
      isCustomTool: boolean;
      syncTimeout: number;
    }
  | {
      type: 'fetch_response';
      id: string | number;
      ok: boolean;
      status: number;
      statusText: string;
      headers: Record<string, string>;
      body: string;
      error?: string;
    };

export type SandboxWorkerToMainMessage =
  | { type: 'fetch'; id: string | number; url: string; init?: SecureFetchInit }
  | { type: 'console'; level: keyof SandboxConsoleSink; message: string }
  | { type: 'result'; execId: string | number; value: unknown }
  | { type: 'error'; execId: string | number; error: { name: string; message: string; stack?: string } };

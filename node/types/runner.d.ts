// SPDX-License-Identifier: MIT
import './disposable.js';
import type { SandboxErrorCode, SandboxLog } from './engine.js';

/** The port: what an adapter is. */
export interface SandboxRunner {
  readonly name: string;
  execute(args: SandboxExecuteArgs): Promise<SandboxExecuteResult>;
  dispose(): Promise<void>;
}

/** What an adapter gets: every argument, with the defaults of createSandboxClient(). */
export interface SandboxExecuteArgs {
  /** The body of an async function. */
  code: string;
  /** What the code sees as params. Default {}. */
  executionParams: Record<string, unknown>;
  /** What the code sees as env and as environmentVariables. Default {}. */
  envVars: Record<string, string>;
  /** Each is also a variable in the code. Default {}. */
  contextVariables: Record<string, unknown>;
  /** Each of executionParams is also a variable, if its name allows. Default false. */
  isCustomTool: boolean;
  /** Milliseconds, to 600000. Default 5000. */
  timeout: number;
  /** Makes the requests of the code's fetch, and must judge each. Default: refuses all;
    * the adapters here have no fetch then. */
  secureFetchImpl: SecureFetch;
  /** Receives console lines while the code runs. An adapter gets all methods; log stands in for
    * a missing one. */
  consoleSink: SandboxConsoleSink;
  signal?: AbortSignal | undefined;
}

/** What a caller gives: only the code is required. */
export type SandboxExecuteOptions = Pick<SandboxExecuteArgs, 'code'> & {
  [K in keyof Omit<SandboxExecuteArgs, 'code' | 'consoleSink'>]?: SandboxExecuteArgs[K] | undefined;
} & { consoleSink?: { [K in keyof SandboxConsoleSink]?: SandboxConsoleSink[K] | undefined } | undefined };

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
  log(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
  debug?(message: string): void;
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
  execute(args: SandboxExecuteOptions): Promise<SandboxExecuteResult>;
  /** The same as a value; rejects only for wrong use. */
  attempt(args: SandboxExecuteOptions): Promise<
    { ok: true; result: unknown; error?: undefined } | { ok: false; result?: undefined; error: SandboxAttemptError }
  >;
  /** Resolves when the adapter's processes have gone; later calls reject as UNAVAILABLE. drain:
    * calls that run may end first. */
  dispose(options?: { drain?: boolean | undefined }): Promise<void>;
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

/** A worker for them: `new Worker(WORKER_SOURCE, { eval: true })`. It isolates nothing. */
export const WORKER_SOURCE: string;

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

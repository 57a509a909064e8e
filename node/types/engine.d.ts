// SPDX-License-Identifier: MIT

/** How a call ended, when it did not end with a value. The host decides it, never a text. */
export type SandboxErrorCode =
  | 'TIMEOUT'
  | 'MEMORY'
  | 'SYNTAX'
  | 'RUNTIME'
  | 'OUTPUT_TOO_LARGE'
  | 'INVALID_CODE'
  | 'UNAVAILABLE'
  | 'ABORTED'
  | 'INVALID_DATA'
  | 'CRASHED'
  | 'VIOLATION'
  | 'DIVERGED';

/** One console line of the code: hostile text. */
export interface SandboxLog {
  level: SandboxLogLevel;
  /** Since the call began. */
  timeMs: number;
  text: string;
}

export type SandboxLogLevel = 'debug' | 'log' | 'info' | 'warn' | 'error';

/** What a call cost, by the host's measure. Empty if no process was needed. */
export interface SandboxStats {
  cpuMs?: number;
  peakMemoryBytes?: number;
  inputBytes?: number;
  outputBytes?: number;
  logBytes?: number;
  hostCalls?: number;
}

interface SandboxOutcome {
  executionMs: number;
  logs: SandboxLog[];
  /** Console text was cut at its limit. */
  logsTruncated?: boolean;
  stats: SandboxStats;
  runner?: string;
  /** false with the runner 'memory', which isolates nothing. */
  isolated?: boolean;
  jit?: string;
  /** Counts the calls of the engine. */
  call?: number;
  /** The call as the security log names it. */
  callId?: string;
}

export interface SandboxSuccess<T = unknown> extends SandboxOutcome {
  ok: true;
  value: T;
}

export interface SandboxFailure extends SandboxOutcome {
  ok: false;
  code: SandboxErrorCode;
  /** One line for who must repair the code. Parts of it are written by the code. */
  error: string;
  /** How to repair it. */
  hint?: string;
  /** INVALID_DATA: where in the input or in bindings, `data.items[3].callback`. */
  path?: string;
  location?: { line: number; column: number; frame: string };
  /** The code's own frames. */
  stack?: string;
}

export type SandboxResult<T = unknown> = SandboxSuccess<T> | SandboxFailure;

/** Bounds on one call. Those of a call may only lower the engine's. */
export interface SandboxLimits {
  /** Wall clock, 1 to 600000. Default 5000. */
  timeoutMs?: number;
  /** Processor time. Default: timeoutMs. */
  cpuMs?: number;
  /** 8 MiB to 4 GiB. Default 128 MiB. */
  memoryBytes?: number;
  /** Of the result as JSON, to 256 MiB. Default 1 MiB. */
  outputBytes?: number;
  /** Default 65536 (form 'script': 51200), at most 1 MiB. */
  codeBytes?: number;
  /** Console text. Default 10 MiB. */
  logBytes?: number;
  /** Calls of functions of the host. Default 10000. */
  hostCalls?: number;
  /** How many of them at once; the rest wait in the box. Default 256. */
  hostCallsAtOnce?: number;
  /** Arguments of all of them. Default 16 MiB. */
  hostOutBytes?: number;
  /** Answers to all of them. Default 64 MiB. */
  hostInBytes?: number;
}

/** What code may reach: the JSON of docs/policy.md. Paths begin at the current directory. */
export interface SandboxPolicy {
  console?: boolean;
  timers?: boolean;
  crypto?: boolean;
  fetch?: SandboxFetchPolicy;
  file?: SandboxFilePolicy;
  env?: SandboxEnvPolicy;
  secrets?: Record<string, SandboxSecret>;
  /** Names of exposed functions: 'db.query', 'db.*', '*'. */
  functions?: string[];
  limits?: SandboxLimits;
}

export interface SandboxFetchPolicy {
  allow: string[];
  networks?: string[];
  methods?: string[];
  maxBytes?: number;
  maxRequestBytes?: number;
  timeoutMs?: number;
  maxRedirects?: number;
  nameservers?: string[];
  caFile?: string;
}

export interface SandboxFilePolicy {
  allow: string[];
  maxBytes?: number;
}

export type SandboxEnvPolicy = string[] | Record<string, string | { from: string }>;

export interface SandboxSecret {
  from?: string;
  file?: string;
  value?: string;
  sites?: string[];
  functions?: string[];
}

/** Receives console lines while the code runs. */
export interface SandboxConsole {
  debug?(text: string): void;
  log?(text: string): void;
  info?(text: string): void;
  warn?(text: string): void;
  error?(text: string): void;
}

/** A request that the policy has allowed. */
export interface SandboxTransportRequest {
  method: string;
  url: string;
  /** May hold secrets: not for logs. */
  headers: [name: string, value: string][];
  body: Uint8Array | undefined;
  /** A longer body of the answer is refused. */
  maxBytes: number;
  timeoutMs: number;
}

export interface SandboxTransportResponse {
  status: number;
  statusText?: string;
  headers?: Record<string, string> | Iterable<[string, string]>;
  body?: string | Uint8Array;
}

/** Makes requests in place of the library; must not follow redirects by itself. */
export type SandboxTransport = (
  request: SandboxTransportRequest,
) => SandboxTransportResponse | Promise<SandboxTransportResponse>;

export interface SandboxConfig {
  /** Milliseconds a call may take. Default 5000. */
  timeout?: number;
  /** MiB a call may need. Default 128. */
  memoryLimit?: number;
  /** Bytes of JSON a result may have. Default 1048576. */
  maxOutputBytes?: number;
  /** The same and other limits by the names of the library. */
  limits?: SandboxLimits;
  policy?: SandboxPolicy;
  /** Capture console lines (default), do without a console, or stream them too. */
  console?: boolean | SandboxConsole;
  /** Sites that code may fetch from; an empty list is none. */
  fetch?: string[] | SandboxFetchPolicy | false;
  /** Directories below which code may read; an empty list is none. */
  fs?: string[] | SandboxFilePolicy | false;
  crypto?: boolean;
  env?: SandboxEnvPolicy | false;
  secrets?: Record<string, SandboxSecret>;
  /** Instead of a policy: of what needs no list, only this. Default console and timers. */
  capabilities?: ('console' | 'timers' | 'crypto')[];
  /** Scripts that every call finds evaluated. */
  preload?: { name: string; source: string }[];
  transport?: SandboxTransport;
  /** Receives the security log, one JSON object a line. */
  securityLog?: (line: string) => void;
  /** 'memory' isolates nothing and is for tests. */
  runner?: 'process' | 'memory';
  poolSize?: number;
  maxWorkers?: number;
  queueLength?: number;
  require?: 'default' | 'strict';
  jit?: 'default' | 'full' | 'baseline' | 'off';
  globals?: 'standard' | 'minimal';
  fresh?: 'fork' | 'exec';
  recycleCalls?: number;
  recycleMs?: number;
  /** Of 2 MiB, once an engine, for its compiled code: 1 to 16, default 8. Fewer are slower. */
  hugePages?: number;
}

/** How code is written, and so how it is called. */
export type SandboxForm = 'function' | 'execute' | 'body' | 'script';

export interface SandboxRunOptions {
  /** Default 'function'. */
  form?: SandboxForm;
  code: string;
  /** Any value that JSON can hold; undefined: the only dataset, else null. */
  input?: unknown;
  /** The same as JSON already. A Uint8Array must stay as it is until it has been read. */
  inputJson?: string | Uint8Array;
  /** The dataset that the function is called with, or '*' for an object of all. */
  dataset?: string;
  /** Form 'body': params, env, and names of your own. */
  bindings?: Record<string, unknown>;
  limits?: SandboxLimits;
  /** Narrower than the engine's. */
  policy?: SandboxPolicy;
  signal?: AbortSignal;
  onLog?: (level: SandboxLogLevel, text: string, timeMs: number) => void;
  /** Math.random follows it. */
  seed?: number;
  /** The clock of the code stands there. */
  nowMs?: number;
}

export type SandboxFunction = (...args: any[]) => unknown;

export interface SandboxFunctions {
  [name: string]: SandboxFunction | SandboxFunctions;
}

/** One finished call. */
export interface SandboxTelemetryEvent {
  type: 'sandbox.exec';
  ok: boolean;
  executionMs: number;
  errorCode?: SandboxErrorCode;
  timestamp: number;
}

/** One policy, one set of datasets, one pool of processes. Calls run in parallel. */
export class SandboxEngine {
  /** Starts in the background. Throws a TypeError that names a wrong option. */
  constructor(config?: SandboxConfig);

  /** Run `(data) => result` in a process of its own. Never rejects for what the code did. */
  execute<T = unknown>(
    code: string,
    data?: unknown,
    options?: { signal?: AbortSignal | undefined },
  ): Promise<SandboxResult<T>>;

  /** Run code of any form. Rejects with a TypeError if an option is wrong. */
  run<T = unknown>(options: SandboxRunOptions): Promise<SandboxResult<T>>;

  /** Calls find it as datasets.NAME, pristine each time. */
  load(name: string, data: unknown): Promise<void>;
  loadJson(name: string, json: string | Uint8Array): Promise<void>;

  /** Code calls them by name: `await db.query(...)`. What they throw, code can catch. */
  expose(functions: SandboxFunctions): Promise<void>;

  /** One more script that every later call finds evaluated. */
  preload(name: string, source: string): Promise<void>;

  /** Runner, layers of the seal and whether they stand, pool. */
  report(): Promise<Record<string, unknown>>;

  /** One sink; undefined: none. */
  telemetry(sink: ((event: SandboxTelemetryEvent) => void) | undefined): this;

  /** Calls in flight end as ABORTED, later ones as UNAVAILABLE. Idempotent. */
  dispose(): void;

  /** dispose(), and wait until every process is gone. */
  close(): Promise<void>;

  get isDisposed(): boolean;

  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}

// SPDX-License-Identifier: MIT
import './disposable.js';

/** How a call ended, if not with a value. The host decides it, never a text. */
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
  | 'DIVERGED'
  | 'LOST';

/** One console line of the code: hostile text. */
export interface SandboxLog {
  level: SandboxLogLevel;
  /** Since the call began. */
  timeMs: number;
  text: string;
}

export type SandboxLogLevel = 'debug' | 'log' | 'info' | 'warn' | 'error';

/** What a call cost, as measured by the host. Empty if no process was needed. */
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
  /** The machine whose process ran the call, with runners on NATS. */
  machine?: string;
  /** false with the runner 'memory', which isolates nothing. */
  isolated?: boolean;
  jit?: string;
  /** Counts the calls of the engine. */
  call?: number;
  /** The call's name in the security log. */
  callId?: string;
}

/* Members of the other kind exist as undefined: `const { ok, value, error } = await ...`. */
export interface SandboxSuccess<T = unknown> extends SandboxOutcome {
  ok: true;
  value: T;
  code?: undefined;
  error?: undefined;
  /** What the code may have meant: a field that no record has, a function that it does not call. */
  hint?: string;
  path?: undefined;
  location?: undefined;
  stack?: undefined;
}

export interface SandboxFailure extends SandboxOutcome {
  ok: false;
  value?: undefined;
  code: SandboxErrorCode;
  /** One line for whoever must repair the code. Parts of it come from the code. */
  error: string;
  /** How to repair it. */
  hint?: string;
  /** INVALID_DATA: where in the input or in bindings, `data.items[3].callback`. */
  path?: string;
  location?: { line: number; column: number; frame: string };
  /** The code's own frames. */
  stack?: string;
}

/** What calls of an engine resolve with. */
export type SandboxEngineResult<T = unknown> = SandboxSuccess<T> | SandboxFailure;

/** The same for those who make results, such as a mock: what an engine adds may be missing. */
export type SandboxResult<T = unknown> =
  | Given<SandboxSuccess<T>, 'ok' | 'value' | 'executionMs'>
  | Given<Omit<SandboxFailure, 'value'>, 'ok' | 'error' | 'code'>;

type Given<Result, Required extends keyof Result> = Pick<Result, Required> & Partial<Omit<Result, Required>>;

/** Bounds on one call. Those of a call may only lower the engine's. */
export interface SandboxLimits {
  /** Wall clock, 1 to 600000. Default 5000. */
  timeoutMs?: number | undefined;
  /** Processor time. Default: timeoutMs. */
  cpuMs?: number | undefined;
  /** 8 MiB to 4 GiB. Default 128 MiB. */
  memoryBytes?: number | undefined;
  /** Of the result as JSON, to 256 MiB. Default 1 MiB. */
  outputBytes?: number | undefined;
  /** Default 65536 (form 'script': 51200), at most 1 MiB. */
  codeBytes?: number | undefined;
  /** Console text. Default 10 MiB. */
  logBytes?: number | undefined;
  /** Calls of functions of the host. Default 10000. */
  hostCalls?: number | undefined;
  /** How many of them at once; the rest wait in the sandbox. Default 256. */
  hostCallsAtOnce?: number | undefined;
  /** Arguments of all of them. Default 16 MiB. */
  hostOutBytes?: number | undefined;
  /** Answers to all of them. Default 64 MiB. */
  hostInBytes?: number | undefined;
}

/** What code may reach: the JSON of docs/capabilities.md. Relative paths begin at baseDir. */
export interface SandboxPolicy {
  console?: boolean | undefined;
  timers?: boolean | undefined;
  /** URL, TextDecoder, structuredClone and the like: present unless this is false. */
  helpers?: boolean | undefined;
  crypto?: boolean | undefined;
  fetch?: SandboxFetchPolicy | undefined;
  file?: SandboxFilePolicy | undefined;
  env?: SandboxEnvPolicy | undefined;
  secrets?: Record<string, SandboxSecret> | undefined;
  /** Names of exposed functions: 'db.query', 'db.*', '*'. */
  functions?: string[] | undefined;
  limits?: SandboxLimits | undefined;
}

export interface SandboxFetchPolicy {
  allow: string[];
  networks?: string[] | undefined;
  methods?: string[] | undefined;
  maxBytes?: number | undefined;
  maxRequestBytes?: number | undefined;
  timeoutMs?: number | undefined;
  maxRedirects?: number | undefined;
  nameservers?: string[] | undefined;
  caFile?: string | undefined;
}

export interface SandboxFilePolicy {
  allow: string[];
  maxBytes?: number | undefined;
}

export type SandboxEnvPolicy = string[] | Record<string, string | { from: string }>;

export interface SandboxSecret {
  from?: string | undefined;
  file?: string | undefined;
  value?: string | undefined;
  sites?: string[] | undefined;
  functions?: string[] | undefined;
}

/** Receives console lines while the code runs. */
export interface SandboxConsole {
  debug?: ((text: string) => void) | undefined;
  log?: ((text: string) => void) | undefined;
  info?: ((text: string) => void) | undefined;
  warn?: ((text: string) => void) | undefined;
  error?: ((text: string) => void) | undefined;
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
  statusText?: string | undefined;
  headers?: Record<string, string> | Iterable<[string, string]> | undefined;
  body?: string | Uint8Array | undefined;
}

/** Makes requests in place of the library; must not follow redirects. */
export type SandboxTransport = (
  request: SandboxTransportRequest,
) => SandboxTransportResponse | Promise<SandboxTransportResponse>;

/** Machines where `glovebox runner` waits. Paths are relative to baseDir. */
export interface RunnersOnNats {
  /** 'nats://HOST:4222' or 'tls://HOST:4222'. */
  nats: string;
  /** Which runners; default 'main'. */
  pool?: string | undefined;
  /** A file with a token and its seed, or with a seed and its public key. */
  creds?: string | undefined;
  nkey?: string | undefined;
  /** A PEM file: authorities of the server besides the system's. */
  tlsCa?: string | undefined;
}

export interface SandboxConfig {
  /** Milliseconds a call may take. Default 5000. */
  timeout?: number | undefined;
  /** MiB a call may need. Default 128. */
  memoryLimit?: number | undefined;
  /** Bytes of JSON a result may have. Default 1048576. */
  maxOutputBytes?: number | undefined;
  /** The same and other limits by the names of the library. */
  limits?: SandboxLimits | undefined;
  policy?: SandboxPolicy | undefined;
  /** Where relative paths of the policy, and of a call's policy, begin. Default: the current
    * directory when the engine is made. */
  baseDir?: string | undefined;
  /** Accept the files that the policy names (of secrets, `caFile`), whoever can change or read
   * them. Default false: they are refused unless only root and this user can. */
  trustFiles?: boolean | undefined;
  /** Capture console lines (default), omit the console, or stream the lines too. */
  console?: boolean | SandboxConsole | undefined;
  /** Sites that code may fetch from; an empty list is none. */
  fetch?: string[] | SandboxFetchPolicy | false | undefined;
  /** Directories below which code may read; an empty list is none. */
  fs?: string[] | SandboxFilePolicy | false | undefined;
  crypto?: boolean | undefined;
  env?: SandboxEnvPolicy | false | undefined;
  secrets?: Record<string, SandboxSecret> | undefined;
  /** In place of a policy: of the capabilities that need no list, only these. Default console
    * and timers. */
  capabilities?: ('console' | 'timers' | 'crypto')[] | undefined;
  /** Scripts that every call finds already evaluated. */
  preload?: { name: string; source: string }[] | undefined;
  transport?: SandboxTransport | undefined;
  /** Receives the security log, one JSON object a line. */
  securityLog?: ((line: string) => void) | undefined;
  /** An address: calls run on machines where `glovebox runner` waits. 'memory' isolates
   *  nothing; it is for tests. */
  runner?: 'process' | 'memory' | RunnersOnNats | undefined;
  /** Workers kept ready; default 5. While calls come in a row, up to twice as many. */
  poolSize?: number | undefined;
  maxWorkers?: number | undefined;
  queueLength?: number | undefined;
  require?: 'default' | 'strict' | undefined;
  jit?: 'default' | 'full' | 'baseline' | 'off' | 'long' | undefined;
  globals?: 'standard' | 'minimal' | undefined;
  fresh?: 'fork' | 'exec' | undefined;
  recycleCalls?: number | undefined;
  recycleMs?: number | undefined;
  /** Of 2 MiB, once an engine, for its compiled code: 1 to 16, default 10. Fewer are slower. */
  hugePages?: number | undefined;
  /** User and group of the workers if the host is root; default: a free one. */
  workerUid?: number | undefined;
  /** 'guarded': workers run without store bypass and indirect branch speculation; slower. */
  speculation?: 'default' | 'guarded' | undefined;
  /** 'off': this engine does not share the address layout with others in this process;
    * slower. */
  zygote?: 'on' | 'off' | undefined;
}

/** How code is written, and so how it is called. */
export type SandboxForm = 'function' | 'execute' | 'body' | 'script';

export interface SandboxRunOptions {
  /** Default 'function'. */
  form?: SandboxForm | undefined;
  code: string;
  /** Any value that JSON can hold; undefined: the only dataset, else null. */
  input?: unknown;
  /** The same as JSON. A Uint8Array must not change until it has been read. */
  inputJson?: string | Uint8Array | undefined;
  /** The dataset that the function is called with, or '*' for an object of all. */
  dataset?: string | undefined;
  /** Only for form 'body': params, env, and names of your own. */
  bindings?: Record<string, unknown> | undefined;
  limits?: SandboxLimits | undefined;
  /** Narrower than the engine's. */
  policy?: SandboxPolicy | undefined;
  signal?: AbortSignal | undefined;
  onLog?: ((level: SandboxLogLevel, text: string, timeMs: number) => void) | undefined;
  /** The seed of Math.random. */
  seed?: number | undefined;
  /** The code's clock stands still there. */
  nowMs?: number | undefined;
}

export type SandboxFunction = (...args: any[]) => unknown;

export interface SandboxFunctions {
  [name: string]: SandboxFunction | SandboxFunctions;
}

/** One finished call; none for a call that ended before anything ran: INVALID_CODE, aborted
  * or disposed of beforehand. */
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
  ): Promise<SandboxEngineResult<T>>;

  /** Run code of any form. Rejects with a TypeError if an option is wrong. */
  run<T = unknown>(options: SandboxRunOptions): Promise<SandboxEngineResult<T>>;

  /** Calls find it as datasets.NAME, pristine each time. */
  load(name: string, data: unknown): Promise<void>;
  loadJson(name: string, json: string | Uint8Array): Promise<void>;
  /** NDJSON is an array of its lines, CSV and TSV are an array with an object for each record.
    * Without a header, columns are column_1, column_2 ...; skip lines come before the table;
    * skipped malformed records are counted in datasets.NAME.skipped. */
  loadText(name: string, text: string | Uint8Array, format: 'json' | 'ndjson' | 'csv' | 'tsv',
    options?: { header?: boolean; skip?: number; bad?: 'refuse' | 'skip' }): Promise<void>;
  /** Rows of a query, which can only read, as an array of objects; without a query, all tables as
    * an object of arrays. A sealed process reads the database, its log included. */
  loadSqlite(name: string, path: string, query?: string): Promise<void>;

  /** Code calls them by name: `await db.query(...)`. Code can catch what they throw. If one is
    * refused, code can call none of them. unsafe: accept `require`, `process`, functions of
    * child_process, fs and the like, which give code this whole process; they are refused. */
  expose(functions: SandboxFunctions, options?: { unsafe?: false | undefined }): Promise<void>;
  expose(functions: object, options: { unsafe: boolean }): Promise<void>;

  /** Adds a script that every later call finds already evaluated. Rejects with a TypeError if
   * it does not parse or throws. */
  preload(name: string, source: string): Promise<void>;

  /** Runner, layers of the seal and whether they are in effect, pool. */
  report(): Promise<Record<string, unknown>>;

  /** One sink; undefined: none. */
  telemetry(sink: ((event: SandboxTelemetryEvent) => void) | undefined): this;

  /** Calls in flight end as ABORTED, later ones as UNAVAILABLE. Idempotent. */
  dispose(): void;

  /** dispose(), and wait until every process of this engine is gone. */
  close(): Promise<void>;

  get isDisposed(): boolean;

  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}

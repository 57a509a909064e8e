// SPDX-License-Identifier: MIT
import './disposable.js';
import type { SandboxErrorCode, SandboxLog } from './engine.js';
import type { SandboxToolResult, ToolAnnotations } from './tools.js';

/** A connected client of the MCP SDK, version 1 or 2. */
export interface McpClientLike {
  listTools(...args: any[]): Promise<{ tools: any[]; nextCursor?: string | undefined }>;
  callTool(...args: any[]): Promise<any>;
}

export interface CodeModeCallOptions {
  /** Ends with the run, and at the time limit of the call. */
  signal: AbortSignal;
  timeoutMs: number;
}

export type CodeModeFunction = (args: any, options: CodeModeCallOptions) => unknown;

export type CodeModeTool =
  | CodeModeFunction
  | {
      description?: string | undefined;
      /** A JSON Schema: other arguments are refused before the handler is called. */
      inputSchema?: object | undefined;
      outputSchema?: object | undefined;
      annotations?: ToolAnnotations | undefined;
      handler?: CodeModeFunction | undefined;
      execute?: CodeModeFunction | undefined;
    };

/** Tools of createSandboxTools(). */
export interface CodeModeTools {
  readonly tools: any[];
  callTool(name: string, input?: any, request?: any): Promise<SandboxToolResult>;
}

export type CodeModeServer = McpClientLike | CodeModeTools | Record<string, CodeModeTool>;

export interface CodeModeOptions {
  servers: Record<string, CodeModeServer>;
  /** 'minimal': beside servers, sleep and the rest of code mode, the code finds 31 globals,
    * such as JSON, Date, Promise, console and setTimeout. Default 'standard'. */
  globals?: 'standard' | 'minimal' | undefined;
  /** Accept functions that give code this whole process: require, those of child_process, fs.
    * Default false. */
  unsafe?: boolean | undefined;
  /** Of the tool. Default 'execute'. */
  name?: string | undefined;
  /** Called before each call; returns true, false, or a text with the reason for a refusal. */
  allow?: ((call: {
    server: string; tool: string; args: Record<string, unknown>; line: number; signal: AbortSignal;
  }) => boolean | string | Promise<boolean | string>) | undefined;
  /** Of a run. Default 120000. */
  timeoutMs?: number | undefined;
  /** For one call of a tool. Default 60000. */
  callTimeoutMs?: number | undefined;
  /** Processes that run code at once; further runs wait for one. Default 64. */
  maxWorkers?: number | undefined;
  /** Default 128. */
  memoryMB?: number | undefined;
  /** Of the value as JSON. Default 10 MiB. */
  maxOutputBytes?: number | undefined;
  /** Of the answer that a model reads; of a longer one, head and tail stay. Default 40000. */
  maxTextCharacters?: number | undefined;
  /** In one run. Default 1000. */
  maxCalls?: number | undefined;
  /** Default 16; the rest wait. */
  maxCallsAtOnce?: number | undefined;
  /** Default 100. */
  maxArtifacts?: number | undefined;
  /** Of one sleep(). Default 30000. */
  sleepMs?: number | undefined;
}

export interface CodeModeDefinition {
  name: string;
  description: string;
  inputSchema: { type: 'object'; [key: string]: unknown };
  annotations: ToolAnnotations;
}

/** A call of a tool, as the host made it. */
export interface CodeModeCall {
  server: string;
  tool: string;
  /** Of the code, as it reports itself; 0: unknown. */
  line: number;
  ms: number;
  ok: boolean;
  /** Why it failed. */
  code?: string;
  /** Of a call that was sent and whose answer nobody has seen: it may have taken effect. */
  outcome?: string;
}

export interface CodeModeArtifact {
  name: string;
  mimeType: string;
  bytes: number;
  /** Any JSON value, or a Buffer. */
  value: unknown;
  /** The code has called show() with this image: show it to the model. */
  isShown?: true | undefined;
}

export interface CodeModeUsage {
  wallMs: number;
  cpuMs: number;
  memoryBytes: number;
  calls: number;
}

interface CodeModeRun {
  logs: SandboxLog[];
  calls: CodeModeCall[];
  artifacts: CodeModeArtifact[];
  /** Console text was cut at its limit. */
  truncated: boolean;
  usage: CodeModeUsage;
}

/** Codes of the ToolError that a call throws in the code, and of a run that it ends. */
export type CodeModeErrorCode =
  | 'TOOL_ERROR' | 'NOT_FOUND' | 'INVALID_ARGS' | 'DENIED' | 'CALL_LIMIT' | 'INPUT_TOO_LARGE'
  | 'UPSTREAM_TIMEOUT' | 'UPSTREAM_REFUSED' | 'CANCELLED' | 'NOT_SENT';

export interface CodeModeError {
  code: SandboxErrorCode | CodeModeErrorCode;
  /** Of what was thrown, or ''. */
  name: string;
  message: string;
  line: number;
  column: number;
  frame: string;
  hint: string;
}

export type CodeModeOutcome<T = unknown> =
  | (CodeModeRun & {
      ok: true;
      result: T;
      /** What the code may have meant: a member that no result has, a function that it does not call. */
      hint?: string;
      error?: undefined;
    })
  /** With a result only if calls that the code did not await have no known outcome. */
  | (CodeModeRun & { ok: false; result?: T; error: CodeModeError });

export interface CodeModeRunOptions {
  /** What the code sees as input. */
  input?: unknown;
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: { progress?: number; total?: number; message?: string }) => void) | undefined;
}

export interface CodeMode {
  /** Asks the servers for their tools, so that the definition lists them. */
  prepare(): Promise<this>;
  readonly definition: CodeModeDefinition;
  readonly definitions: CodeModeDefinition[];
  /** Resolves with a result of the protocol, whatever the model sent. extra: as the SDK
   * passes it, or {signal}. */
  handler(input: unknown, extra?: any): Promise<SandboxToolResult>;
  /** Resolves whatever the code does; rejects only for wrong use. */
  run<T = unknown>(code: string, options?: CodeModeRunOptions): Promise<CodeModeOutcome<T>>;
  /** Ends what runs. The clients are yours. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** One tool in place of many: code that calls the tools of several servers. */
export function createCodeMode(options: CodeModeOptions): CodeMode;

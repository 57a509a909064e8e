// SPDX-License-Identifier: MIT
import './disposable.js';
import type { SandboxConfig, SandboxEngine, SandboxEngineResult, SandboxResult, SandboxRunOptions } from './engine.js';

/** Lengths of a text, in characters. */
export interface TextRange {
  min?: number | undefined;
  max?: number | undefined;
}

export interface NumberRange {
  min?: number | undefined;
  max?: number | undefined;
  /** Whole numbers only. */
  integer?: boolean | undefined;
}

/** How many items. */
export interface ArrayRange {
  min?: number | undefined;
  max?: number | undefined;
}

type ItemName = 'string' | 'number' | 'boolean' | 'object';
type ItemType<I extends ItemName> = I extends 'string' ? string
  : I extends 'number' ? number
  : I extends 'boolean' ? boolean
  : Record<string, unknown>;

type With<Input, K extends string, V> = Input & Record<K, V>;
type WithOptional<Input, K extends string, V> = Input & Partial<Record<K, V>>;

/** Properties of an object among the parameters of a tool. */
export interface ObjectParameters<Input = {}> {
  withString<K extends string>(name: K, description?: string, options?: TextRange): ObjectParameters<With<Input, K, string>>;
  withOptionalString<K extends string>(name: K, description?: string, options?: TextRange): ObjectParameters<WithOptional<Input, K, string>>;
  withNumber<K extends string>(name: K, description?: string, options?: NumberRange): ObjectParameters<With<Input, K, number>>;
  withOptionalNumber<K extends string>(name: K, description?: string, options?: NumberRange): ObjectParameters<WithOptional<Input, K, number>>;
  withBoolean<K extends string>(name: K, description?: string): ObjectParameters<With<Input, K, boolean>>;
  withOptionalBoolean<K extends string>(name: K, description?: string): ObjectParameters<WithOptional<Input, K, boolean>>;
  withEnum<K extends string, const V extends string>(name: K, values: readonly V[], description?: string): ObjectParameters<With<Input, K, V>>;
  withOptionalEnum<K extends string, const V extends string>(name: K, values: readonly V[], description?: string): ObjectParameters<WithOptional<Input, K, V>>;
  withArray<K extends string, I extends ItemName>(name: K, items: I, description?: string, options?: ArrayRange): ObjectParameters<With<Input, K, ItemType<I>[]>>;
  withOptionalArray<K extends string, I extends ItemName>(name: K, items: I, description?: string, options?: ArrayRange): ObjectParameters<WithOptional<Input, K, ItemType<I>[]>>;
  withArray<K extends string, T>(name: K, items: DeclareObject<T>, description?: string, options?: ArrayRange): ObjectParameters<With<Input, K, T[]>>;
  withOptionalArray<K extends string, T>(name: K, items: DeclareObject<T>, description?: string, options?: ArrayRange): ObjectParameters<WithOptional<Input, K, T[]>>;
  withObject<K extends string>(name: K, description?: string): ObjectParameters<With<Input, K, Record<string, unknown>>>;
  withOptionalObject<K extends string>(name: K, description?: string): ObjectParameters<WithOptional<Input, K, Record<string, unknown>>>;
  withObject<K extends string, T>(name: K, properties: DeclareObject<T>, description?: string): ObjectParameters<With<Input, K, T>>;
  withOptionalObject<K extends string, T>(name: K, properties: DeclareObject<T>, description?: string): ObjectParameters<WithOptional<Input, K, T>>;
}

/** `(p) => p.withString('name')`: declares the properties of an object. */
export type DeclareObject<T> = (properties: ObjectParameters) => ObjectParameters<T>;

/** Hints of the protocol. */
export interface ToolAnnotations {
  title?: string | undefined;
  readOnlyHint?: boolean | undefined;
  destructiveHint?: boolean | undefined;
  idempotentHint?: boolean | undefined;
  openWorldHint?: boolean | undefined;
}

/** A tool as in `tools/list`. */
export interface SandboxTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { type: 'object'; [key: string]: unknown };
  readonly annotations: ToolAnnotations;
}

/** The protocol's kinds of content in a result. */
export type SandboxToolContent =
  | { type: 'text'; text: string; [key: string]: any }
  | { type: 'image' | 'audio'; data: string; mimeType: string; [key: string]: any }
  | { type: 'resource_link'; uri: string; name: string; [key: string]: any }
  | {
      type: 'resource';
      resource: { uri: string; text: string; [key: string]: any } | { uri: string; blob: string; [key: string]: any };
      [key: string]: any;
    };

/** A result as in `tools/call`; handlers of the SDK may return it. */
export interface SandboxToolResult {
  content: SandboxToolContent[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  [key: string]: unknown;
}

/** The engine of a tool that is `.sandboxed()`: kept between calls; its calls end with their
  * request. */
export interface RequestSandbox {
  execute<T = unknown>(
    code: string, data?: unknown, options?: { signal?: AbortSignal | undefined },
  ): Promise<SandboxEngineResult<T>>;
  run<T = unknown>(options: SandboxRunOptions): Promise<SandboxEngineResult<T>>;
}

/** What every handler gets as meta, and finds in ctx besides what the application gave. */
export interface RequestContext {
  /** The name of the tool that was called. */
  readonly tool: string;
  /** Aborted when the client cancels or leaves. */
  readonly signal: AbortSignal | undefined;
  /** What the SDK passed with the request. */
  readonly extra: any;
}

export interface ToolBuilder<Context, Input = {}> {
  describe(text: string): ToolBuilder<Context, Input>;
  annotate(annotations: ToolAnnotations): ToolBuilder<Context, Input>;
  /** The tool takes code: ctx.sandbox runs it, and the description says how to write it. */
  sandboxed(config?: SandboxConfig): ToolBuilder<Context & { readonly sandbox: RequestSandbox }, Input>;

  withString<K extends string>(name: K, description?: string, options?: TextRange): ToolBuilder<Context, With<Input, K, string>>;
  withOptionalString<K extends string>(name: K, description?: string, options?: TextRange): ToolBuilder<Context, WithOptional<Input, K, string>>;
  withNumber<K extends string>(name: K, description?: string, options?: NumberRange): ToolBuilder<Context, With<Input, K, number>>;
  withOptionalNumber<K extends string>(name: K, description?: string, options?: NumberRange): ToolBuilder<Context, WithOptional<Input, K, number>>;
  withBoolean<K extends string>(name: K, description?: string): ToolBuilder<Context, With<Input, K, boolean>>;
  withOptionalBoolean<K extends string>(name: K, description?: string): ToolBuilder<Context, WithOptional<Input, K, boolean>>;
  withEnum<K extends string, const V extends string>(name: K, values: readonly V[], description?: string): ToolBuilder<Context, With<Input, K, V>>;
  withOptionalEnum<K extends string, const V extends string>(name: K, values: readonly V[], description?: string): ToolBuilder<Context, WithOptional<Input, K, V>>;
  withArray<K extends string, I extends ItemName>(name: K, items: I, description?: string, options?: ArrayRange): ToolBuilder<Context, With<Input, K, ItemType<I>[]>>;
  withOptionalArray<K extends string, I extends ItemName>(name: K, items: I, description?: string, options?: ArrayRange): ToolBuilder<Context, WithOptional<Input, K, ItemType<I>[]>>;
  withArray<K extends string, T>(name: K, items: DeclareObject<T>, description?: string, options?: ArrayRange): ToolBuilder<Context, With<Input, K, T[]>>;
  withOptionalArray<K extends string, T>(name: K, items: DeclareObject<T>, description?: string, options?: ArrayRange): ToolBuilder<Context, WithOptional<Input, K, T[]>>;
  withObject<K extends string>(name: K, description?: string): ToolBuilder<Context, With<Input, K, Record<string, unknown>>>;
  withOptionalObject<K extends string>(name: K, description?: string): ToolBuilder<Context, WithOptional<Input, K, Record<string, unknown>>>;
  withObject<K extends string, T>(name: K, properties: DeclareObject<T>, description?: string): ToolBuilder<Context, With<Input, K, T>>;
  withOptionalObject<K extends string, T>(name: K, properties: DeclareObject<T>, description?: string): ToolBuilder<Context, WithOptional<Input, K, T>>;

  /** Returns a JSON value, f.error(...), or a result of the protocol with valid contents. If it
    * throws, that is the tool's error, with its message. */
  handle(handler: (input: Input, ctx: Context, meta: RequestContext) => unknown): SandboxTool;
}

/** An error for a handler to return when it cannot do its task. */
export interface ToolErrorBuilder {
  /** What to do to reach the goal. */
  suggest(suggestion: string): this;
  details(details: Record<string, unknown>): this;
  /** Seconds; 0: waiting is unnecessary. */
  retryAfter(seconds: number): this;
  toResult(): SandboxToolResult;
  readonly content: SandboxToolResult['content'];
  readonly isError: true;
}

export interface SandboxTools<Context = {}> {
  /** A tool that changes nothing. */
  query(name: string): ToolBuilder<Context & RequestContext>;
  /** A tool whose changes may be irreversible. */
  mutation(name: string): ToolBuilder<Context & RequestContext>;
  /** A tool without promises. */
  action(name: string): ToolBuilder<Context & RequestContext>;

  /** An engine of your own; what a handler runs on it ends with the request. */
  sandbox(config?: SandboxConfig): SandboxEngine;
  error(code: string, message: string): ToolErrorBuilder;
  /** The value of an engine's result, or the error that helps to repair the code. */
  result<T>(result: SandboxResult<T>): T | ToolErrorBuilder;

  readonly tools: SandboxTool[];
  /** Calls a tool as a server does. Resolves whatever happens. */
  callTool(
    name: string, input?: Record<string, unknown>, request?: { signal?: AbortSignal | undefined; extra?: unknown },
  ): Promise<SandboxToolResult>;
  /** On McpServer: what it returned for each tool. On the low-level Server: nothing. Calls of a
    * client that has gone are aborted, over stdio half a second later. context: in place of the one
    * that these tools were made with. */
  register(server: McpServerLike, options?: ContextOptions<Context>): Record<string, any>;
  register(server: ServerLike, options?: ContextOptions<Context>): void;
  /** Ends the engines of tools; what runs ends as ABORTED. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** McpServer of the official SDK, version 1 or 2. */
export interface McpServerLike {
  registerTool(...args: any[]): any;
}

/** The low-level Server of the official SDK, version 1 or 2. */
export interface ServerLike {
  setRequestHandler(...args: any[]): any;
}

export interface ContextRequest {
  tool: string;
  signal: AbortSignal | undefined;
  extra: any;
}

/** context: what handlers find in ctx, or a function of the request that returns it. */
export interface ContextOptions<Context> {
  context?: Context | ((request: ContextRequest) => Context | Promise<Context>) | undefined;
}

export function createSandboxTools<Context extends object = {}>(options?: ContextOptions<Context>): SandboxTools<Context>;

/** createSandboxTools() under the name that programs of another framework use. */
export { createSandboxTools as initFusion };

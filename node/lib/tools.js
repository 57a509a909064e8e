// SPDX-License-Identifier: MIT
/*
 * tools - tools of an MCP server that run a model's code: declared briefly, served by the
 * official SDK, ended when the client cancels or leaves.
 */
import { isObject, nearest, needKnown, needObject, wrong } from './argument.js';
import { EngineCache } from './engine-cache.js';
import { RequestEngine, serveRequest } from './request.js';
import { ToolBuilder } from './tool-builder.js';
import { ToolErrorBuilder } from './tool-error.js';
import { registerTools } from './tool-register.js';
import { contextFor } from './tool-context.js';
import { errorOf, toToolFailure, toToolResult } from './tool-result.js';

function needContext(context) {
  if (context !== undefined && typeof context !== 'function' && !isObject(context))
    throw wrong('options.context', 'an object or a function that returns one', context);
  return context;
}

function unknownTool(name, names) {
  const meant = typeof name === 'string' ? nearest(name, names) : undefined;
  const asked = typeof name === 'string' && name.length <= 128 ? `tool ${JSON.stringify(name)}` : 'tool';
  return new ToolErrorBuilder('UNKNOWN_TOOL', `unknown ${asked}`)
    .suggest(meant === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${meant}?`).toResult();
}

class SandboxTools {
  #definitions = new Map();
  #engines = new EngineCache((config) => new RequestEngine(config));
  #context;

  constructor(options) {
    needObject(options, 'options');
    needKnown(options, ['context'], 'options');
    this.#context = needContext(options.context);
  }

  #define(definition) {
    const { name } = definition.tool;
    if (this.#definitions.has(name)) throw new TypeError(`name: there is a tool '${name}' already`);
    this.#definitions.set(name, definition);
  }

  #build(verb, name) {
    return new ToolBuilder(verb, name, (definition) => this.#define(definition));
  }

  /** A tool that changes nothing. */
  query(name) {
    return this.#build('query', name);
  }

  /** A tool whose changes may be irreversible. */
  mutation(name) {
    return this.#build('mutation', name);
  }

  /** A tool that promises nothing about its effects. */
  action(name) {
    return this.#build('action', name);
  }

  /** An engine of your own; what a handler runs on it ends with the request. */
  sandbox(config) {
    return new RequestEngine(config);
  }

  /** An error for a handler to return when it cannot do its task. */
  error(code, message) {
    return new ToolErrorBuilder(code, message);
  }

  /** The value of an engine's result, or the error that helps to repair the code. */
  result(result) {
    if (!isObject(result) || typeof result.ok !== 'boolean')
      throw wrong('result', 'what execute() resolved with', result);
    return result.ok ? result.value : errorOf(result);
  }

  /** All tools, in the form of the protocol's list. */
  get tools() {
    return [...this.#definitions.values()].map(({ tool }) => tool);
  }

  async #contextOf(context, request) {
    return needObject((typeof context === 'function' ? await context(request) : context) ?? {}, 'context');
  }

  /* An engine as the tool's handler sees it: its calls end with the request. */
  #engineOf(config, signal) {
    return {
      execute: (code, data, options) => this.#engines.use(config, (engine) =>
        serveRequest(signal, () => engine.execute(code, data, options)), signal, options?.signal),
      run: (call) => this.#engines.use(config, (engine) =>
        serveRequest(signal, () => engine.run(call)), signal, call?.signal),
    };
  }

  async #handle({ tool, handler, sandbox }, input, { signal, extra }, context) {
    const meta = { tool: tool.name, signal, extra };
    const given = await this.#contextOf(context, meta);
    const own = { ...meta };
    if (sandbox !== undefined) own.sandbox = this.#engineOf(sandbox, signal);
    return toToolResult(await handler(input, contextFor(given, own), meta));
  }

  /**
   * Calls a tool as a server does: resolves with a result of the protocol, whatever
   * happens. request: the AbortSignal `signal`, and `extra`, which is passed on.
   */
  async callTool(name, input = {}, request = {}) {
    return this.#call(name, input, request, this.#context);
  }

  async #call(name, input, request, context) {
    const definition = this.#definitions.get(name);
    if (definition === undefined) return unknownTool(name, [...this.#definitions.keys()]);
    const problems = definition.problems(input);
    if (problems.length > 0)
      return new ToolErrorBuilder('INVALID_ARGUMENTS', problems.join('; '))
        .suggest(`Send the arguments again, as the input schema of ${name} has them.`).toResult();
    try {
      return await serveRequest(request.signal, () => this.#handle(definition, input, request, context));
    } catch (error) {
      return toToolFailure(error);
    }
  }

  /**
   * Serves all tools declared so far on a server of the official SDK: `McpServer`, or the
   * low-level `Server`, next to the tools that it has. Returns what the server returned for
   * each, by name; nothing for a low-level server. options.context: in place of the one that
   * these tools were made with. If a client cancels or disconnects, its calls end.
   */
  register(server, options = {}) {
    needKnown(needObject(options, 'options'), ['context'], 'options');
    const context = needContext(options.context) ?? this.#context;
    return registerTools(server, this.tools, (name, input = {}, request) => this.#call(name, input, request, context));
  }

  /** Ends the engines that tools have used; running calls end as ABORTED. */
  dispose() {
    this.#engines.dispose();
  }

  [Symbol.dispose ?? Symbol.for('nodejs.dispose')]() {
    this.dispose();
  }
}

/** options.context: what handlers find in ctx, or a function of the request that returns
  * it. */
export function createSandboxTools(options = {}) {
  return new SandboxTools(options);
}

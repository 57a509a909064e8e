// SPDX-License-Identifier: MIT
/*
 * codemode-servers - what a name of `servers` stands for: a client of the MCP SDK, tools of
 * createSandboxTools(), or plain functions.
 */
import { isObject, nearest, wrong } from './argument.js';
import { mendHalves } from './half.js';
import { problemsOf } from './schema.js';
import { messageOf } from './thrown.js';
import { returnedBy } from './tool-result.js';

const MOST_PAGES = 100;

/** The error that code gets when a call failed: ToolError in the sandbox. */
export class CallError extends Error {
  constructor(code, message, isRetryable = false) {
    super(message);
    this.code = code;
    this.isRetryable = isRetryable;
  }
}

/* Makes readFile and read_file equal. Characters beyond ASCII are letters. */
const folded = (name) => name.toLowerCase().replace(/[^a-z0-9\u0080-\uffff]/g, '');

/* Other hosts have the server's name before that of the tool: mcp__files__read. */
function withoutServer(server, tool) {
  const name = tool.replace(/^mcp__/, '');
  return name.startsWith(server) ? name.slice(server.length).replace(/^[._\-/:]+/, '') || tool : tool;
}

/* The error for a name that no tool has; instead: the only name that differs just in style,
 * which is called in its place. */
function noTool(server, tool, names) {
  const meant = nearest(withoutServer(server, tool), names);
  const error = new CallError('NOT_FOUND', `the server '${server}' has no tool '${tool}': ${
    meant === undefined ? `discover({ server: ${JSON.stringify(server)} }) lists its tools` : `did you mean '${meant}'?`}`);
  const alike = names.filter((name) => folded(tool) !== '' && folded(name) === folded(tool));
  if (alike.length === 1) [error.instead] = alike;
  return error;
}

/* ---- a client of the SDK ------------------------------------------------------------- */

/* A call is not a task, and a server refuses a plain call of a tool that runs only as a
 * task. */
function described(tool) {
  if (tool.execution?.taskSupport !== 'required') return tool;
  return { ...tool, description: `[cannot be called here: only as a task] ${tool.description ?? ''}` };
}

async function listOfClient(client) {
  const tools = [];
  let cursor;
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await client.listTools(cursor === undefined ? undefined : { cursor });
    for (const tool of answer.tools ?? []) if (isObject(tool) && typeof tool.name === 'string') tools.push(described(tool));
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return tools;
}

/* Version 1 of the SDK has the result's schema as second argument. */
function callClient(client, tool, args, { signal, timeoutMs, onProgress }) {
  const options = { signal, timeout: timeoutMs, ...(onProgress && { onprogress: onProgress }) };
  const request = { name: tool, arguments: args };
  return client.callTool.length === 2 ? client.callTool(request, options) : client.callTool(request, undefined, options);
}

/* Maps the error codes of the protocol, and those of the SDK for timeouts and connections.
 * Version 1 has none for a client that was never connected. */
function clientError(error) {
  const message = messageOf(error);
  const code = error?.code;
  if (code === undefined && message === 'Not connected') return new CallError('UNAVAILABLE', message, true);
  if (code === -32001 || code === 'REQUEST_TIMEOUT') return new CallError('UPSTREAM_TIMEOUT', message, true);
  if (code === -32000 || code === 'CONNECTION_CLOSED' || code === 'NOT_CONNECTED')
    return new CallError('UNAVAILABLE', message, true);
  if (code === -32601) return new CallError('NOT_FOUND', message);
  if (code === -32602) return new CallError('INVALID_ARGS', message);
  return new CallError('UPSTREAM_REFUSED', message);
}

/* Version 1 of the SDK's server reports a wrong call as a result of the tool. */
const WRONG_CALL = /^MCP error -32602: /;
const WRONG_ARGUMENTS = /^MCP error -32602: (Input validation error|Invalid arguments)/;

function fromClient(server, client) {
  const readers = new Set();
  const list = async () => {
    const tools = await listOfClient(client);
    readers.clear();
    for (const { name, annotations } of tools) if (annotations?.readOnlyHint === true) readers.add(name);
    return tools;
  };
  /* After a wrong call: the error to report if the tool does not exist. */
  const unknown = async (tool) => {
    try {
      const names = (await list()).map(({ name }) => name);
      return names.includes(tool) ? undefined : noTool(server, tool, names);
    } catch {
      return undefined; /* keep the server's error */
    }
  };
  const failureBehind = async (tool, result) => {
    if (!isObject(result) || result.isError !== true) return undefined;
    const words = textOf(contentOf(result));
    if (!WRONG_CALL.test(words)) return undefined;
    return await unknown(tool) ?? (WRONG_ARGUMENTS.test(words) ? new CallError('INVALID_ARGS', words) : undefined);
  };
  return {
    list,
    check() {}, /* the server does */
    isReader: (tool) => readers.has(tool),
    async call(tool, args, options) {
      let result;
      try {
        result = await callClient(client, tool, args, options);
      } catch (error) {
        const failure = clientError(error);
        throw (failure.code === 'INVALID_ARGS' && await unknown(tool)) || failure;
      }
      return { result, failure: await failureBehind(tool, result) };
    },
  };
}

/* ---- tools of this package, and plain functions -------------------------------------- */

/* The parts common to both. tools() returns the list. Arguments are checked here, before
 * approval is asked for or anything is called. */
function local(server, tools, call) {
  const find = (name) => tools().find((tool) => tool.name === name);
  return {
    list: async () => tools(),
    check(name, args) {
      const tool = find(name);
      if (tool === undefined) throw noTool(server, name, tools().map((each) => each.name));
      const problems = isObject(tool.inputSchema) ? problemsOf(tool.inputSchema, args) : [];
      if (problems.length > 0) throw new CallError('INVALID_ARGS', problems.join('; '));
    },
    isReader: (name) => find(name)?.annotations?.readOnlyHint === true,
    call,
  };
}

function fromTools(server, tools) {
  return local(server, () => tools.tools, async (tool, args, { signal }) => {
    const result = await tools.callTool(tool, args, { signal });
    return { result, ...returnedBy(result) };
  });
}

function takeFunction(server, name, tool, check) {
  check?.(`options.servers.${server}.${name}`, tool);
  if (typeof tool === 'function') return { tool: { name }, run: tool };
  const run = isObject(tool) ? tool.handler ?? tool.execute : undefined;
  if (typeof run !== 'function')
    throw wrong(`options.servers.${server}.${name}`, 'a function, or an object with handler or execute', tool);
  const { description, inputSchema, outputSchema, annotations } = tool;
  return { tool: { name, description, inputSchema, outputSchema, annotations }, run: run.bind(tool) };
}

function fromFunctions(server, map, check) {
  if (Object.keys(map).length === 0) throw new TypeError(`options.servers.${server} has no function, and is not an MCP client`);
  const functions = new Map(Object.entries(map).map(([name, tool]) => [name, takeFunction(server, name, tool, check)]));
  const tools = [...functions.values()].map(({ tool }) => tool);
  return local(server, () => tools, async (tool, args, options) => {
    try {
      return { value: await functions.get(tool).run(args, options) };
    } catch (error) {
      if (error instanceof CallError) throw error;
      throw new CallError('TOOL_ERROR', messageOf(error));
    }
  });
}

/** {list(), check(tool, args), isReader(tool), call(tool, args, {signal, timeoutMs})}. check()
 * throws a CallError; with `instead`, the tool has that name. A call gives {result} of the
 * protocol or {value}, or both and isValue: then the value is what was returned, and the
 * result is its text. failure: the error that a result stands for, if that is more precise.
 * check(name, value) throws for values that code must not call. */
export function takeServer(name, server, check) {
  check?.(`options.servers.${name}`, server);
  if (!isObject(server)) throw wrong(`options.servers.${name}`, 'an MCP client or an object of functions', server);
  if (typeof server.callTool === 'function' && typeof server.listTools === 'function') return fromClient(name, server);
  if (typeof server.callTool === 'function' && Array.isArray(server.tools)) return fromTools(name, server);
  return fromFunctions(name, server, check);
}

/* ---- results ------------------------------------------------------------------------- */

function contentOf(result) {
  return Array.isArray(result.content) ? result.content : [];
}

function textOf(content) {
  return content.filter(({ type }) => type === 'text').map(({ text }) => text).join('\n');
}

/* How tools of this package report that the call was wrong, here or behind a client. */
const CODES = { __proto__: null, INVALID_ARGUMENTS: 'INVALID_ARGS', UNKNOWN_TOOL: 'NOT_FOUND' };

function failureOf(result, content) {
  const { structuredContent } = result;
  const code = CODES[structuredContent?.error?.code] ?? 'TOOL_ERROR';
  const words = textOf(content) || (structuredContent === undefined ? '' : JSON.stringify(mendHalves(structuredContent)));
  return new CallError(code, words || 'the tool failed and did not say why');
}

function parsed(text) {
  if (!/^\s*[[{"]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * What the code gets from a result of the protocol: the structured content if any, else the
 * text, parsed if it is JSON; with other content, all of it. If `isError` is set, throws,
 * with failure if given.
 */
export function valueOf(result, failure) {
  if (!isObject(result)) return result ?? null;
  const content = contentOf(result);
  if (result.isError === true) throw failure ?? failureOf(result, content);
  if (result.structuredContent !== undefined) return result.structuredContent;
  if (content.length > 0 && content.every(({ type }) => type === 'text')) return parsed(textOf(content));
  return content.length === 0 ? null : content;
}

// SPDX-License-Identifier: MIT
/*
 * codemode-servers - the things behind a name of `servers`: a client of the MCP SDK, tools of
 * createSandboxTools(), or plain functions. Each becomes {list(), call(tool, args, options)}.
 */
import { isObject, wrong } from './argument.js';
import { mendHalves } from './half.js';
import { nearest } from './nearest.js';
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

export function notFound(what, name, names) {
  const meant = nearest(name, names);
  return new CallError('NOT_FOUND', `unknown ${what} '${name}'${meant === undefined ? '' : `: did you mean '${meant}'?`}`);
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

/* The cause: error numbers of the protocol, and the SDK's for time and connection. Version 1
 * has none for a client that was never connected. */
function clientError(error) {
  const message = messageOf(error);
  const code = error?.code;
  if (code === undefined && message === 'Not connected') return new CallError('UNAVAILABLE', message, true);
  if (code === -32001 || code === 'REQUEST_TIMEOUT') return new CallError('UPSTREAM_TIMEOUT', message, true);
  if (code === -32000 || code === 'CONNECTION_CLOSED' || code === 'NOT_CONNECTED')
    return new CallError('UNAVAILABLE', message, true);
  if (code === -32601) return new CallError('NOT_FOUND', message);
  if (code === -32602) return new CallError('INVALID_ARGS', message);
  return new CallError('UPSTREAM', message);
}

/* Version 1 of the SDK's server reports a wrong call as a result of the tool. */
const WRONG_CALL = /^MCP error -32602: /;
const WRONG_ARGUMENTS = /^MCP error -32602: (Input validation error|Invalid arguments)/;

/* The call was wrong: does the tool exist at all? */
async function unknownTool(client, tool) {
  try {
    const names = (await listOfClient(client)).map(({ name }) => name);
    return names.includes(tool) ? undefined : notFound('tool', tool, names);
  } catch {
    return undefined; /* keep what the server said */
  }
}

async function failureBehind(client, tool, result) {
  if (!isObject(result) || result.isError !== true) return undefined;
  const words = textOf(contentOf(result));
  if (!WRONG_CALL.test(words)) return undefined;
  const unknown = await unknownTool(client, tool);
  return unknown ?? (WRONG_ARGUMENTS.test(words) ? new CallError('INVALID_ARGS', words) : undefined);
}

function fromClient(client) {
  return {
    list: () => listOfClient(client),
    async call(tool, args, options) {
      let result;
      try {
        result = await callClient(client, tool, args, options);
      } catch (error) {
        const failure = clientError(error);
        throw (failure.code === 'INVALID_ARGS' && await unknownTool(client, tool)) || failure;
      }
      return { result, failure: await failureBehind(client, tool, result) };
    },
  };
}

/* ---- tools of this package, and plain functions -------------------------------------- */

function fromTools(tools) {
  return {
    list: async () => tools.tools,
    async call(tool, args, { signal }) {
      const result = await tools.callTool(tool, args, { signal });
      return { result, ...returnedBy(result) };
    },
  };
}

function takeFunction(server, name, tool) {
  if (typeof tool === 'function') return { tool: { name }, run: tool };
  const run = isObject(tool) ? tool.handler ?? tool.execute : undefined;
  if (typeof run !== 'function')
    throw wrong(`options.servers.${server}.${name}`, 'a function, or an object with handler or execute', tool);
  const { description, inputSchema, outputSchema, annotations } = tool;
  return { tool: { name, description, inputSchema, outputSchema, annotations }, run: run.bind(tool) };
}

function fromFunctions(server, map) {
  if (Object.keys(map).length === 0) throw new TypeError(`options.servers.${server} has no function, and is not an MCP client`);
  const functions = new Map(Object.entries(map).map(([name, tool]) => [name, takeFunction(server, name, tool)]));
  return {
    list: async () => [...functions.values()].map(({ tool }) => tool),
    async call(tool, args, options) {
      const found = functions.get(tool);
      if (found === undefined) throw notFound('tool', tool, [...functions.keys()]);
      try {
        return { value: await found.run(args, options) };
      } catch (error) {
        if (error instanceof CallError) throw error;
        throw new CallError('UPSTREAM', messageOf(error));
      }
    },
  };
}

/** {list(), call(tool, args, {signal, timeoutMs})}. A call gives {result} of the protocol or
 * {value}, or both and isValue: then the value is what was returned, and the result is its
 * text. failure: the error that a result stands for, if we know it better than the result
 * says. */
export function takeServer(name, server) {
  if (!isObject(server)) throw wrong(`options.servers.${name}`, 'an MCP client or an object of functions', server);
  if (typeof server.callTool === 'function' && typeof server.listTools === 'function') return fromClient(server);
  if (typeof server.callTool === 'function' && Array.isArray(server.tools)) return fromTools(server);
  return fromFunctions(name, server);
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
  const code = CODES[structuredContent?.error?.code] ?? 'UPSTREAM';
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
export function valueOf(result, isRaw, failure) {
  if (isRaw) return result;
  if (!isObject(result)) return result ?? null;
  const content = contentOf(result);
  if (result.isError === true) throw failure ?? failureOf(result, content);
  if (result.structuredContent !== undefined) return result.structuredContent;
  if (content.length > 0 && content.every(({ type }) => type === 'text')) return parsed(textOf(content));
  return content.length === 0 ? null : content;
}

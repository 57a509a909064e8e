// SPDX-License-Identifier: MIT
/*
 * tool-register - registers tools on a server of the official MCP TypeScript SDK, of version
 * 1 or 2, its McpServer or its low-level Server, without loading the SDK.
 */
import { finished } from 'node:stream';

import { wrong } from './argument.js';
import { setTimeout } from './clock.js';
import { requestSchemaFor, schemaForSDK } from './tool-schema.js';

const INVALID_PARAMS = -32602;

/* The signal that aborts when a client cancels or leaves, wherever each version has it. */
function requestOf(extra) {
  return { signal: extra?.signal ?? extra?.mcpReq?.signal, extra };
}

/* ---- clients that disconnect ---------------------------------------------------------- */

/* What was sent before the input ended, as in a pipe, still gets its answers. */
const GRACE_MS = 500;

const watched = new WeakSet();

/* Version 1 of the SDK does not notice that its standard input has ended: calls would run on
 * without a client. Closing the transport aborts their signals. */
function watchInput(server) {
  const { transport } = server.server ?? server;
  const input = transport?._stdin;
  if (typeof input?.on !== 'function' || '_onstdinclose' in transport || watched.has(transport)) return;
  watched.add(transport);
  finished(input, { writable: false }, () => setTimeout(() => transport.close(), GRACE_MS).unref());
}

/* ---- McpServer ------------------------------------------------------------------------ */

function registerOnMcpServer(server, tools, call) {
  const registered = {};
  for (const tool of tools) {
    const { name, description, annotations } = tool;
    const inputSchema = schemaForSDK(() => structuredClone(tool.inputSchema)); /* Zod writes into it */
    registered[name] = server.registerTool(name, { description, inputSchema, annotations },
      (input, extra) => call(name, input, requestOf(extra)));
  }
  return registered;
}

/* ---- the low-level server ----------------------------------------------------------- */

function takesMethodNames(server) {
  return typeof server.setRequestHandler === 'function' && 'getNegotiatedProtocolVersion' in server;
}

/* The existing handler. Both versions keep handlers in this map. In other versions a probe
 * shows whether one exists, and it is not silently replaced. */
function existingHandler(server, method) {
  if (server._requestHandlers instanceof Map) return server._requestHandlers.get(method);
  server.assertCanSetRequestHandler?.(method);
  return undefined;
}

function setHandler(server, method, handler) {
  if (takesMethodNames(server)) server.setRequestHandler(method, handler);
  else server.setRequestHandler(requestSchemaFor(method), handler);
}

/* Our tools on the first page, then the other handler's list without names of ours. */
function lister(tools, names, existing) {
  return async (request, extra) => {
    const other = await existing?.(request, extra);
    const ours = request.params?.cursor === undefined ? tools : [];
    return { ...other, tools: [...ours, ...(other?.tools ?? []).filter(({ name }) => !names.has(name))] };
  };
}

function caller(names, existing, call) {
  return async (request, extra) => {
    const { name, arguments: input } = request.params;
    if (names.has(name)) return call(name, input, requestOf(extra));
    if (existing !== undefined) return existing(request, extra);
    throw Object.assign(new Error(`unknown tool ${JSON.stringify(name)}`), { code: INVALID_PARAMS });
  };
}

function registerOnServer(server, tools, call) {
  const names = new Set(tools.map(({ name }) => name));
  if (server.transport === undefined) server.registerCapabilities({ tools: {} });
  const list = existingHandler(server, 'tools/list');
  const tell = existingHandler(server, 'tools/call');
  setHandler(server, 'tools/list', lister(tools, names, list));
  setHandler(server, 'tools/call', caller(names, tell, call));
}

/** call(name, input, { signal, extra }): resolves with a result of the protocol. */
export function registerTools(server, tools, call) {
  const watchAndCall = (...args) => {
    watchInput(server);
    return call(...args);
  };
  if (typeof server?.registerTool === 'function') return registerOnMcpServer(server, tools, watchAndCall);
  if (typeof server?.setRequestHandler === 'function') return registerOnServer(server, tools, watchAndCall);
  throw wrong('server', 'an McpServer or a Server of the MCP TypeScript SDK', server);
}

// SPDX-License-Identifier: MIT
/*
 * runner-thread - the source of a worker thread that speaks the messages of
 * SandboxMainToWorkerMessage and SandboxWorkerToMainMessage, for adapters of others. It
 * isolates nothing: code that leaves its context has all rights of this process.
 */

/* CommonJS, as `new Worker(WORKER_SOURCE, { eval: true })` needs it. */
export const WORKER_SOURCE = `'use strict';
const { parentPort } = require('node:worker_threads');
const { inspect } = require('node:util');
const vm = require('node:vm');

const fetches = new Map();
let lastFetch = 0;

async function fetch(url, init) {
  const id = ++lastFetch;
  parentPort.postMessage({ type: 'fetch', id, url: String(url), init });
  return new Promise((resolve, reject) => fetches.set(id, { resolve, reject }));
}

function answerFetch({ id, error, body, headers, ...response }) {
  const { resolve, reject } = fetches.get(id) ?? {};
  if (!fetches.delete(id)) return;
  if (error !== undefined) reject(new Error(error));
  else resolve({ ...response, headers: new Headers(headers), text: async () => body, json: async () => JSON.parse(body) });
}

const shown = (value) => (typeof value === 'string' ? value : inspect(value));
const console = Object.fromEntries(['log', 'info', 'warn', 'error', 'debug'].map((level) => [level, (...values) =>
  parentPort.postMessage({ type: 'console', level, message: values.map(shown).join(' ') })]));

function contextOf({ contextVariables, executionParams, envVars, isCustomTool }) {
  return vm.createContext({
    ...contextVariables, ...(isCustomTool ? executionParams : {}),
    params: executionParams, env: envVars, environmentVariables: envVars,
    fetch, console, setTimeout, clearTimeout,
  });
}

async function execute(message) {
  const { execId, code, syncTimeout } = message;
  try {
    const script = new vm.Script('(async () => {' + code + '\\n})()');
    const value = await script.runInContext(contextOf(message), { timeout: syncTimeout });
    parentPort.postMessage({ type: 'result', execId, value });
  } catch (error) {
    const { name = 'Error', message: text = String(error), stack } = Object(error);
    parentPort.postMessage({ type: 'error', execId, error: { name: String(name), message: String(text), stack: stack && String(stack) } });
  }
}

parentPort.on('message', (message) => {
  if (message.type === 'execute') void execute(message);
  else if (message.type === 'fetch_response') answerFetch(message);
});
`;

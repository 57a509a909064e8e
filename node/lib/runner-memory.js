// SPDX-License-Identifier: MIT
/*
 * runner-memory - the adapter without isolation: code runs in this very process, with all
 * that this process may do. For tests and for looking at things; it says so when it is used.
 */
import { BOUND, InvalidData, jsonOf } from './input.js';
import { runnerArguments, runnerBindings, SandboxExecutionError, tellSink, withOwnPath } from './runner.js';

const AsyncFunction = (async () => {}).constructor;
let hasWarned = false;

function warnOnce() {
  if (hasWarned) return;
  hasWarned = true;
  process.emitWarning(
    'the memory adapter runs code in this very process, without any isolation: never give it code of others',
    { type: 'GloveboxWarning', code: 'GLOVEBOX_NO_ISOLATION' });
}

function consoleOf(sink) {
  const tell = (level) => (...args) => {
    const words = args.map((each) => (typeof each === 'string' ? each : JSON.stringify(each) ?? String(each)));
    if (sink !== undefined) tellSink(sink, level, words.join(' '));
  };
  return { log: tell('log'), info: tell('info'), warn: tell('warn'), error: tell('error'), debug: tell('debug') };
}

/* Without secureFetchImpl a name that is undefined: never this process's own. */
function fetchOf(secureFetchImpl) {
  return secureFetchImpl && (async (url, init) => secureFetchImpl(String(url), { method: 'GET', ...init }));
}

/* The values as they would arrive in a box; what would not is refused alike. */
function bindingsOf(given) {
  try {
    return JSON.parse(jsonOf(runnerBindings(given), BOUND));
  } catch (error) {
    if (!(error instanceof InvalidData)) throw error;
    const { message, path, hint } = error;
    throw new SandboxExecutionError({ code: 'INVALID_DATA', message: withOwnPath(message, path, given), hint });
  }
}

/* What the box could not return either is refused alike. */
function plain(value) {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value) ?? 'null');
}

async function within(timeout, signal, run) {
  let timer, abort;
  const ended = new Promise((_, reject) => {
    const fail = (code, message) => reject(new SandboxExecutionError({ code, message }));
    timer = setTimeout(() => fail('TIMEOUT', `ran past the time limit of ${timeout} ms`), timeout);
    abort = () => fail('ABORTED', 'the call was aborted');
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
  });
  try {
    return await Promise.race([ended, run()]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** A loop that does not wait cannot be ended: the timeout is for what does. */
export function memory() {
  return {
    name: 'memory (no isolation)',
    async execute(args) {
      const given = runnerArguments(args);
      const bindings = {
        fetch: fetchOf(given.secureFetchImpl), console: consoleOf(given.consoleSink), ...bindingsOf(given),
      };
      warnOnce();
      const run = new AsyncFunction(...Object.keys(bindings), `'use strict';\n${given.code}`);
      return { result: plain(await within(given.timeout, given.signal, () => run(...Object.values(bindings)))) };
    },
    async dispose() {},
  };
}

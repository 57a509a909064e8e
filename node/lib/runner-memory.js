// SPDX-License-Identifier: MIT
/*
 * runner-memory - the adapter without isolation: code runs in this process, with all its
 * rights. For tests and experiments; it warns when it is used.
 */
import { inspect } from 'node:util';

import { clearTimeout, now, setTimeout } from './clock.js';
import { hintOfCode } from './hints.js';
import { BOUND, InvalidData, jsonOf } from './input.js';
import { addon } from './native.js';
import { BOX_FETCH, answerFetch } from './runner-fetch.js';
import { emptiness, NO_FETCH, runnerArguments, runnerBindings, SandboxExecutionError, Sink, withOwnPath } from './runner.js';
import { consoleOf, resultOf, timersOf } from './runner-world.js';

const AsyncFunction = (async () => {}).constructor;
const BODY = 2; /* the number of the form */
let hasWarned = false;

function warnOnce() {
  if (hasWarned) return;
  hasWarned = true;
  process.emitWarning(
    'the memory adapter runs code in this very process, without any isolation: never give it code of others',
    { type: 'GloveboxWarning', code: 'GLOVEBOX_NO_ISOLATION' });
}

/* The fetch of the sandbox; without secureFetchImpl the name is undefined, and never this
 * process's own fetch. */
function fetchOf(secureFetchImpl) {
  if (secureFetchImpl === NO_FETCH) return undefined;
  const host = { fetch: async (url, init) => answerFetch(secureFetchImpl, url, init) };
  return new Function('globalThis', `${BOX_FETCH}\nreturn fetch;`)(host);
}

/* The values as they would arrive in the sandbox; what it would refuse is refused here
 * too. */
function bindingsOf(given) {
  try {
    return JSON.parse(jsonOf(runnerBindings(given), BOUND));
  } catch (error) {
    if (!(error instanceof InvalidData)) throw error;
    const { message, path, hint } = error;
    throw new SandboxExecutionError({ code: 'INVALID_DATA', message: withOwnPath(message, path, given), hint: hintOfCode(hint) });
  }
}

/* ---- failures, as the sandbox reports them -------------------------------------------------- */

/* What the code threw, whatever it is; reading it may throw again. */
function partsOf(thrown) {
  const isObject = (typeof thrown === 'object' && thrown !== null) || typeof thrown === 'function';
  const shown = () => inspect(thrown, { customInspect: false });
  try {
    const isError = thrown instanceof Error;
    const { message, name, stack } = isObject ? thrown : { message: thrown };
    const own = { name: typeof name === 'string' && name !== '' ? name : undefined, message: shown() };
    if (typeof message !== 'string' || (isObject && !isError && message === '')) return own;
    const hasMore = isObject && !isError && typeof stack !== 'string' && Object.keys(thrown).some((key) => key !== 'name' && key !== 'message');
    return hasMore ? { message: own.message } : { name: own.name ?? (isError ? 'Error' : undefined), message, stack };
  } catch {
    return { message: shown() };
  }
}

function errorOf(thrown, code) {
  if (thrown instanceof SandboxExecutionError) return thrown;
  const { name, message, stack } = partsOf(thrown);
  const frames = String(stack ?? '').split('\n').filter((line) => /^\s+at /.test(line)).join('\n');
  return new SandboxExecutionError({ code, name, message, stack: frames });
}

/* The code as a function of its names. It may redeclare `fetch` and `console`, which are in
 * an outer scope, and cannot close brackets that it did not open. */
function compile(code, names, around) {
  const text = `"use strict";\n${code}`;
  try {
    new AsyncFunction(...names, text);
    return new Function(...Object.keys(around), `return async function (${names}) {${text}\n}`)(...Object.values(around));
  } catch (error) {
    throw errorOf(error, 'SYNTAX');
  }
}

/* Ends with the first of these: the code, its timeout, its signal, a timer's failure. */
async function within({ timeout, signal }, run) {
  let timer, abort, fail;
  const ended = new Promise((_, reject) => {
    fail = reject;
    const end = (code, message) => reject(new SandboxExecutionError({ code, message }));
    timer = setTimeout(() => end('TIMEOUT', `ran past the time limit of ${timeout} ms`), timeout);
    abort = () => end('ABORTED', 'the call was aborted');
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
  });
  try {
    return await (signal?.aborted ? ended : Promise.race([ended, run(fail)]));
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/* The code in the text: models like to put a fence around it. */
function properOf(code) {
  return addon !== undefined && /^\uFEFF?\s*(```|~~~)/.test(code) ? addon.proper(BODY, code)[0] : code;
}

/* Runs the code in a separate world, as far as that is possible here. */
async function runIn(given, bindings, tell) {
  let timers;
  try {
    const code = properOf(given.code);
    const message = emptiness(code);
    if (message !== undefined) throw new SandboxExecutionError({ code: 'INVALID_CODE', message });
    return resultOf(await within(given, (fail) => {
      timers = timersOf(fail);
      const around = { fetch: fetchOf(given.secureFetchImpl), console: consoleOf(tell), ...timers.own };
      return compile(code, Object.keys(bindings), around)(...Object.values(bindings));
    }));
  } finally {
    timers?.end();
  }
}

/** A loop that never awaits cannot be ended: the timeout only ends code that does. */
export function memory() {
  return {
    name: 'memory (no isolation)',
    async execute(args) {
      const given = runnerArguments(args);
      const bindings = bindingsOf(given);
      const logs = [];
      const begun = now();
      const sink = new Sink(given.consoleSink);
      const tell = (level, text) => {
        logs.push({ level, timeMs: now() - begun, text });
        sink.tell(level, text);
      };
      warnOnce();
      const ended = await runIn(given, bindings, tell).then(
        (result) => ({ result }),
        (error) => ({ failed: Object.assign(errorOf(error, 'RUNTIME'), { logs, executionMs: now() - begun }) }));
      sink.end();
      if (ended.failed !== undefined) throw ended.failed;
      return { result: ended.result };
    },
    async dispose() {},
  };
}

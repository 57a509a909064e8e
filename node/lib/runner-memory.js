// SPDX-License-Identifier: MIT
/*
 * runner-memory - the adapter without isolation: code runs in this very process, with all
 * that this process may do. For tests and for looking at things; it says so when it is used.
 */
import { BOUND, InvalidData, jsonOf } from './input.js';
import { BOX_FETCH, answerFetch } from './runner-fetch.js';
import { runnerArguments, runnerBindings, SandboxExecutionError, tellSink, withOwnPath } from './runner.js';

const RESULT = { subject: 'the result', root: 'result' };

const AsyncFunction = (async () => {}).constructor;
let hasWarned = false;

function warnOnce() {
  if (hasWarned) return;
  hasWarned = true;
  process.emitWarning(
    'the memory adapter runs code in this very process, without any isolation: never give it code of others',
    { type: 'GloveboxWarning', code: 'GLOVEBOX_NO_ISOLATION' });
}

function consoleOf(sink, logs) {
  const begun = performance.now();
  const tell = (level) => (...args) => {
    const text = args.map((each) => (typeof each === 'string' ? each : JSON.stringify(each) ?? String(each))).join(' ');
    logs.push({ level, timeMs: performance.now() - begun, text });
    if (sink !== undefined) tellSink(sink, level, text);
  };
  return { log: tell('log'), info: tell('info'), warn: tell('warn'), error: tell('error'), debug: tell('debug') };
}

/* The fetch of the box, here; without secureFetchImpl a name that is undefined: never this
 * process's own. */
function fetchOf(secureFetchImpl) {
  if (secureFetchImpl === undefined) return undefined;
  const host = { fetch: async (url, init) => answerFetch(secureFetchImpl, url, init) };
  return new Function('globalThis', `${BOX_FETCH}\nreturn fetch;`)(host);
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

/* ---- failures, as the box tells them -------------------------------------------------- */

function textOf(value) {
  try {
    return String(value);
  } catch {
    return 'unknown error';
  }
}

/* What the code threw, whatever it is. */
function errorOf(thrown, code) {
  if (thrown instanceof SandboxExecutionError) return thrown;
  const isError = typeof thrown === 'object' && thrown !== null && typeof thrown.message === 'string';
  if (!isError) return new SandboxExecutionError({ code, message: textOf(thrown) });
  const { name, message, stack } = thrown;
  const frames = textOf(stack).split('\n').filter((line) => /^\s+at /.test(line)).join('\n');
  return new SandboxExecutionError({ code, message, stack: frames, name: typeof name === 'string' ? name : 'Error' });
}

/* What the box could not return either is refused alike; a function inside of a value is
 * left out, as JSON does. */
function plain(value) {
  if (value === undefined) return undefined;
  try {
    return JSON.parse(jsonOf(value, RESULT));
  } catch (error) {
    if (!(error instanceof InvalidData)) throw error;
    if (/^the result holds a (function|symbol) /.test(error.message)) return JSON.parse(JSON.stringify(value));
    throw new SandboxExecutionError({ code: 'RUNTIME', message: `${error.message}, which JSON cannot hold` });
  }
}

function needCode(code) {
  let rest = code.trimStart();
  while (rest.startsWith('//') || rest.startsWith('/*')) {
    const mark = rest.startsWith('//') ? '\n' : '*/';
    const end = rest.indexOf(mark, 2);
    if (end < 0) break;
    rest = rest.slice(end + mark.length).trimStart();
  }
  if (rest !== '' && !rest.startsWith('//')) return;
  const message = code.trim() === '' ? 'the code is empty' : 'the code is only comments';
  throw new SandboxExecutionError({ code: 'INVALID_CODE', message });
}

/* The code as a function of its names. It may declare `fetch` and `console` again, which
 * are around it, and close nothing that it did not open. */
function compile(code, names, around) {
  const text = `"use strict";\n${code}`;
  try {
    new AsyncFunction(...names, text);
    return new Function(...Object.keys(around), `return async function (${names}) {${text}\n}`)(...Object.values(around));
  } catch (error) {
    throw errorOf(error, 'SYNTAX');
  }
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
      const bindings = bindingsOf(given);
      const logs = [];
      const around = { fetch: fetchOf(given.secureFetchImpl), console: consoleOf(given.consoleSink, logs) };
      const begun = performance.now();
      warnOnce();
      try {
        needCode(given.code);
        const run = compile(given.code, Object.keys(bindings), around);
        return { result: plain(await within(given.timeout, given.signal, () => run(...Object.values(bindings)))) };
      } catch (error) {
        throw Object.assign(errorOf(error, 'RUNTIME'), { logs, executionMs: performance.now() - begun });
      }
    },
    async dispose() {},
  };
}

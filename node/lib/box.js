// SPDX-License-Identifier: MIT
//
// box - the processes behind an engine, and its calls in flight. The engine's object may be
// collected while its calls run: they hold the box, and the box holds the processes.
import { types } from 'node:util';

import { turn } from './clock.js';
import {
  addon, ASKED, AUDIT, DONE, FETCH, hold, job, LINE, LINES, listen, problem, refusal, release,
} from './native.js';
import { hintOfEngine } from './hints.js';
import { InvalidData, snapshot, Taken, whole } from './input.js';
import { Listeners, unwatch } from './listeners.js';
import { asArgument, asOption, LEVELS } from './options.js';
import { messageOf, partsOf } from './thrown.js';

const { parse } = JSON;

/** An option of run(): the `this` of host functions when code of that call calls them. For
 * modules of this package. */
export const ANSWERS = Symbol('answers');

const boxes = new Map(); // number -> WeakRef
const calls = new Map(); // number -> Call
const forgotten = new FinalizationRegistry((number) => boxes.delete(number));
let lastBox = 0;
let lastCall = 0;

/** The result of a call that ran in no process. */
export function failure(code, error, hint) {
  const result = { ok: false, code, error };
  if (hint) result.hint = hint;
  return { ...result, executionMs: 0, logs: [], stats: {} };
}

export class Box {
  /** Throws a TypeError if the library refuses the options. */
  constructor(taken, options) {
    this.number = ++lastBox;
    this.exposed = new Set(); // names in the engine
    this.functions = new Map(); // the functions themselves
    this.tickets = undefined; // ticket -> Call, for calls with answers
    this.datasets = new Set();
    this.waiting = new Set(); // calls that have not been submitted
    this.console = typeof options.console === 'object' ? options.console : undefined;
    this.baseDir = taken.baseDir;
    this.trustFiles = taken.trustFiles;
    this.transport = options.transport;
    this.securityLog = options.securityLog;
    this.sink = undefined;
    this.listeners = new Listeners('a SandboxEngine');
    this.isDisposed = false;
    this.failed = problem; // why no call can run, or undefined
    this.runner = 'process';
    this.jit = undefined;
    this.gate = undefined; // calls wait for it
    this.gone = undefined; // after dispose(): a promise of its end
    this.opened = addon === undefined ? Promise.resolve() : this.open(taken, options);
    this.work = this.opened; // changes to the engine, in sequence
    this.change(this.opened);
  }

  open(taken, options) {
    boxes.set(this.number, new WeakRef(this));
    forgotten.register(this, this.number);
    const opening = job((id) => {
      try {
        this.handle = addon.open(this.number, id, taken);
      } catch (error) {
        throw asOption(error, options);
      }
    });
    return opening.then(
      (json) => {
        const report = parse(json);
        this.runner = report.runner ?? this.runner;
        this.jit = report.jit;
      },
      (error) => {
        this.failed = error.message;
      },
    );
  }

  /** Later calls wait for the promise. */
  change(promise) {
    const gate = Promise.all([this.gate, promise.catch(() => {})]).then(() => {
      if (this.gate === gate) this.gate = undefined;
    });
    this.gate = gate;
  }

  /** Run work() after all pending changes to the engine. The process stays alive until
   * then. */
  inTurn(work) {
    hold();
    const done = this.work.then(work);
    this.work = done.catch(() => {}).finally(release);
    return done;
  }

  /** Run a job of this engine now. */
  job(start) {
    if (this.failed !== undefined) throw refusal(-4, this.failed);
    return job(start);
  }

  /** Change the engine in its turn: start(what, number) begins the job, with prepare()'s
    * result. */
  enqueue(prepare, start) {
    return this.inTurn(async () => {
      const what = prepare === undefined ? undefined : await prepare();
      return this.job((id) => start(what, id));
    });
  }

  dispose() {
    if (this.isDisposed) return;
    this.isDisposed = true;
    for (const call of this.waiting) call.end(failure('ABORTED', 'the engine was disposed of'));
    this.gone = Promise.resolve();
    if (this.handle === undefined) return;
    try {
      this.gone = job((id) => addon.close(this.handle, id));
    } catch {
      // No thread is available to end it: it ends with this one.
    }
  }

  /** Resolves when every process has ended. */
  async end() {
    hold();
    try {
      await this.gone;
    } finally {
      release();
    }
  }
}

export class Call {
  constructor(box, resolve, reject) {
    this.number = ++lastCall;
    this.box = box;
    this.resolve = resolve;
    this.reject = reject;
    this.ticket = undefined; // 0: a thread is submitting it
    this.signal = undefined;
    this.onLog = undefined;
    this.answers = undefined;
    this.logs = [];
    calls.set(this.number, this);
    hold();
  }

  submit(form, code, input, extra) {
    try {
      this.ticket = addon.submit(this.box.handle, this.number, form, code, input, extra);
    } catch (error) {
      if (error.name === 'TypeError') this.fail(asArgument(error));
      else this.end(failure('UNAVAILABLE', error.message));
      return;
    }
    if (this.answers !== undefined && this.ticket > 0) this.box.tickets.set(this.ticket, this);
  }

  /** Set the `this` of functions of the host in this call. */
  answerWith(answers) {
    this.answers = answers;
    this.box.tickets ??= new Map();
  }

  abort() {
    if (this.ticket === undefined) this.end(failure('ABORTED', 'the call was aborted'));
    else addon.abort(this.box.handle, this.ticket, this.number);
  }

  leave() {
    if (!calls.delete(this.number)) return false;
    this.box.waiting.delete(this);
    this.box.tickets?.delete(this.ticket);
    if (this.signal !== undefined) unwatch(this.signal, this);
    release();
    return true;
  }

  fail(error) {
    if (this.leave()) this.reject(error);
  }

  end(result) {
    if (!this.leave()) return;
    const { sink } = this.box;
    const hasRun = this.ticket !== undefined && result.code !== 'INVALID_CODE';
    if (sink !== undefined && hasRun) tellSink(this.box, sink, result);
    this.resolve(result);
  }
}

function tellSink(box, sink, result) {
  const event = {
    type: 'sandbox.exec',
    ok: result.ok,
    executionMs: result.executionMs,
    timestamp: Date.now(),
  };
  if (!result.ok) event.errorCode = result.code;
  box.listeners.call('the telemetry sink', () => sink(event));
}

/** Figures of the result being reported: node/src/addon.h. */
const figures = addon?.figures;

/** Append [level, time, text, ...] as objects. */
function addLines(logs, flat) {
  for (let i = 0; i < flat.length; i += 3) {
    logs.push({ level: LEVELS[flat[i]], timeMs: flat[i + 1], text: flat[i + 2] });
  }
}

/* Name and message of what was thrown, by the result, which has only one line of it. */
const thrown = new WeakMap();

/** {name, message} of the error that ended the call of that result; '' for a missing one. */
export function thrownOf(result) {
  return thrown.get(result) ?? { name: '', message: '' };
}

function addFailure(result, code, [error, hint, stack, line, column, frame, name, message]) {
  thrown.set(result, { name, message });
  result.ok = false;
  result.code = addon.codes[code];
  result.error = error;
  if (hint !== '') result.hint = hintOfEngine(hint);
  if (line > 0) result.location = { line, column, frame };
  if (stack !== '') result.stack = stack;
}

/** The result, with the same names as in the library's JSON. */
function resultOf(call, code, value, callId, failed, wasCut, machine) {
  const { box, logs } = call;
  const result = {};
  if (Array.isArray(failed)) {
    addFailure(result, code, failed);
  } else {
    result.ok = true;
    result.value = value === undefined ? undefined : parse(value);
    if (failed !== undefined) result.hint = hintOfEngine(failed);
  }
  result.executionMs = figures[0];
  result.logs = logs;
  if (wasCut) result.logsTruncated = true;
  result.stats = {
    cpuMs: figures[1],
    peakMemoryBytes: figures[2],
    inputBytes: figures[3],
    outputBytes: figures[4],
    logBytes: figures[5],
    hostCalls: figures[6],
  };
  result.runner = box.runner;
  if (machine !== '') result.machine = machine;
  if (box.runner === 'memory') result.isolated = false;
  if (box.jit !== undefined) result.jit = box.jit;
  result.call = figures[7];
  result.callId = callId;
  return result;
}

listen(LINES, (number, flat) => {
  const call = calls.get(number);
  if (call !== undefined) addLines(call.logs, flat);
});

listen(DONE, (number, code, value, callId, failed, flat, wasCut, machine) => {
  const call = calls.get(number);
  if (call === undefined) return;
  if (code < 0) {
    const error = refusal(code, value);
    if (error instanceof TypeError) call.fail(asArgument(error));
    else call.end(failure('UNAVAILABLE', error.message));
    return;
  }
  if (flat !== undefined) addLines(call.logs, flat);
  call.end(resultOf(call, code, value, callId, failed, wasCut, machine));
});

/** The result of a call whose input JSON cannot hold. */
export function invalid(error) {
  if (!(error instanceof InvalidData)) throw error;
  const result = failure('INVALID_DATA', error.message, error.hint);
  if (error.path) result.path = error.path;
  return result;
}

listen(LINE, (number, level, text, timeMs) => {
  const call = calls.get(number);
  if (call === undefined) return;
  const { box, onLog } = call;
  const name = LEVELS[level];
  if (onLog !== undefined) box.listeners.call('onLog', () => onLog(name, text, timeMs));
  if (box.console !== undefined) box.listeners.call(`console.${name}`, () => box.console[name]?.(text));
});

listen(AUDIT, (number, line) => {
  const box = boxes.get(number)?.deref();
  box?.listeners.call('securityLog', () => box.securityLog?.(line));
});

/** A value for the sandboxed code: JSON text or a gather. */
async function answerOf(value, name) {
  return value instanceof Taken ? value.text : whole(snapshot(value, { subject: `the answer of ${name}`, root: 'answer' }));
}

const NO_FUNCTION = Object.assign(new Error('this call has no function of that name'), { code: 'ERR_NOT_ALLOWED' });

/* The call with that ticket, or undefined if it has ended. */
async function callOf(box, ticket) {
  const known = box.tickets.get(ticket);
  if (known !== undefined) return known;
  for (;;) {
    const number = addon.callOf(box.handle, ticket);
    if (number >= 0) return calls.get(number);
    await turn(); // the submitting thread has not reported yet
  }
}

async function serve(box, request, name, args, ticket) {
  const { handle } = box;
  try {
    const serves = box.functions.get(name);
    // It was exposed with others that were refused, so it does not exist for the code.
    if (serves === undefined) throw NO_FUNCTION;
    const call = box.tickets === undefined ? undefined : await callOf(box, ticket);
    const answer = await serves.apply(call?.answers, parse(args));
    addon.answer(handle, request, await answerOf(answer, name));
  } catch (error) {
    const { name: kind, message, code } = partsOf(error);
    addon.answerError(handle, request, kind, message, code);
  }
}

listen(ASKED, (number, request, name, args, ticket) => {
  const box = boxes.get(number)?.deref();
  if (box !== undefined) void serve(box, request, name, args, ticket);
});

async function transport(box, token, request) {
  const answer = (...rest) => addon.answerFetch(box.handle, token, ...rest);
  try {
    const response = await box.transport(request);
    const headers = [];
    for (const [name, value] of new Headers(response.headers ?? {})) headers.push(name, value);
    const { body } = response;
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
    if (bytes !== undefined && bytes !== null && !types.isUint8Array(bytes)) {
      throw new TypeError('the body must be a string or a Uint8Array');
    }
    answer(response.status, response.statusText, headers, bytes ?? undefined, undefined);
  } catch (error) {
    answer(0, undefined, [], undefined, `the transport failed: ${messageOf(error)}`);
  }
}

listen(FETCH, (number, token, method, url, pairs, body, maxBytes, timeoutMs) => {
  const box = boxes.get(number)?.deref();
  if (box === undefined) return;
  const headers = [];
  for (let i = 0; i < pairs.length; i += 2) headers.push([pairs[i], pairs[i + 1]]);
  void transport(box, token, { method, url, headers, body, maxBytes, timeoutMs });
});

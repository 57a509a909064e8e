// SPDX-License-Identifier: MIT
//
// engine - SandboxEngine. Nothing here blocks the event loop, and the code's outcome is always
// a value.
import { isObject, isPlainObject, needFunction, needKnown, needNumber, needObject, needText, needValues, wrong } from './argument.js';
import { ANSWERS, Box, Call, failure, invalid } from './box.js';
import { BOUND, given, InvalidData, snapshot, whole } from './input.js';
import { addon } from './native.js';
import { policyJson, takeForm, takeLimits, takeOptions } from './options.js';
import { isSignal, watch } from './listeners.js';
import { powerCheck } from './powers.js';

const RUN = [
  'form', 'code', 'input', 'inputJson', 'dataset', 'bindings', 'limits', 'policy', 'signal', 'onLog', 'seed', 'nowMs',
];

/** Engines that were not disposed of: their processes end anyway, but late. */
const collected = new FinalizationRegistry((state) => {
  if (state.isDisposed) return;
  process.emitWarning(
    'a SandboxEngine was garbage collected without dispose(): its processes lived until now',
    { type: 'GloveboxWarning', code: 'GLOVEBOX_UNDISPOSED' },
  );
});

/** [name, function] for each function, such as "db.query" of {db: {query}} or {'db.query': ...}.
  * check(name, value) throws for what must not be exposed; without it, others are ignored. */
function flatten(functions, check, prefix = '', above = []) {
  const list = Object.entries(functions).flatMap(([key, value]) => {
    const name = prefix + key;
    check?.(`functions.${name}`, value);
    if (typeof value === 'function') return [[name, value]];
    const isCycle = value === functions || above.includes(value);
    if (check === undefined && (!isObject(value) || isCycle)) return [];
    if (!isObject(value)) throw wrong(`functions.${name}`, 'a function', value);
    if (isCycle) throw new TypeError(`functions.${name} is a cycle: it leads back to what it is in`);
    return flatten(value, check, `${name}.`, [...above, functions]);
  });
  if (list.length > 0 || check === undefined || (prefix === '' && isPlainObject(functions))) return list;
  const name = `functions.${prefix}`.slice(0, -1);
  throw new TypeError(`${name} has no function of its own: of an instance of a class name each method, {get: (id) => store.get(id)}`);
}

/**
 * The names that an engine does not have yet. First come names that the library may refuse
 * since they exist already: if one is refused, nothing has been exposed.
 */
function freshNames(list, exposed) {
  const names = list.map(([name]) => name).filter((name) => !exposed.has(name));
  const isDoubtful = (name) => name.split('.')[0] in globalThis;
  return [...names.filter(isDoubtful), ...names.filter((name) => !isDoubtful(name))];
}

/** Further arguments of addon.submit(), next to code and input, or undefined. */
function takeExtra(options, { baseDir, trustFiles }) {
  const { bindings, dataset, limits, policy, seed, nowMs } = options;
  if (
    bindings === undefined && dataset === undefined && limits === undefined && policy === undefined &&
    seed === undefined && nowMs === undefined
  ) {
    return undefined;
  }
  const extra = {};
  if (bindings !== undefined) extra.bindings = needValues(bindings, 'bindings'); // copied together with the input
  if (dataset !== undefined) extra.dataset = needText(dataset, 'dataset');
  if (limits !== undefined) extra.limits = takeLimits(limits, 'limits');
  if (policy !== undefined) Object.assign(extra, { policy: policyJson(policy), baseDir, trustFiles });
  if (seed !== undefined) extra.seed = needNumber(seed, 'seed', 0);
  if (nowMs !== undefined) extra.nowMs = needNumber(nowMs, 'nowMs', -8.64e15, 8.64e15);
  return extra;
}

const NO_DATA = 'GBX_E_DATA';
const FORMATS = ['json', 'ndjson', 'csv', 'tsv']; // in the order of gbx_data_format

/** An invalid dataset or script is wrong use, no matter where it is detected. */
function wrongData(message, { line, column } = {}) {
  return Object.assign(new TypeError(message), { code: NO_DATA }, line > 0 ? { line, column } : {});
}

/** The bits of gbx_data_format for how a table is read. */
function takeTable(options) {
  needKnown(options, ['header', 'skip', 'bad'], 'options');
  const { header = true, skip = 0, bad = 'refuse' } = options;
  if (typeof header !== 'boolean') throw wrong('options.header', 'a boolean', header);
  if (!Number.isInteger(skip) || skip < 0 || skip > 65535) throw wrong('options.skip', 'a number of lines up to 65535', skip);
  if (bad !== 'refuse' && bad !== 'skip') throw wrong('options.bad', "'refuse' or 'skip'", bad);
  return (header ? 0 : 0x40) | (bad === 'skip' ? 0x80 : 0) | skip << 8;
}

/** The same for an error from the library, if it is of that kind. */
function asWrongData(error) {
  if (error instanceof InvalidData) return wrongData(error.message);
  return error.code === NO_DATA && !(error instanceof TypeError) ? wrongData(error.message, error) : error;
}

/**
 * Work on the engine that callers need not await: calls also report its failure, unless it is
 * wrong use. An unhandled rejection would end the process.
 */
function optional(work) {
  const told = new Promise((resolve, reject) => {
    work.then(resolve, (error) => {
      if (!(error instanceof TypeError)) told.catch(() => {});
      reject(error);
    });
  });
  return told;
}

/** Wait for texts and changes of the engine, then submit, unless the call has ended. */
async function submitLater(call, form, code, input, bound, extra) {
  const { box } = call;
  box.waiting.add(call);
  try {
    let { text } = input;
    if (input.ready !== undefined) text = await input.ready;
    if (bound?.ready !== undefined) extra.bindings = await bound.ready;
    while (box.gate !== undefined) await box.gate;
    if (!box.waiting.delete(call)) return;
    if (box.failed !== undefined) call.end(failure('UNAVAILABLE', box.failed));
    else call.submit(form, code, text, extra);
  } catch (error) {
    call.fail(error);
  }
}

export class SandboxEngine {
  #box;
  #state;

  constructor(options = {}) {
    this.#box = new Box(takeOptions(options), options);
    this.#state = { isDisposed: false };
    collected.register(this, this.#state, this.#state);
  }

  /** Run one function over one input; the promise's value is the outcome. */
  execute(code, data, options) {
    try {
      if (options !== undefined) needKnown(needObject(options, 'options'), ['signal'], 'options');
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#run(0, code, data, undefined, options?.signal, undefined, undefined);
  }

  /** Run one piece of code, with all options. */
  run(options) {
    try {
      needKnown(needObject(options, 'options'), RUN, 'options');
      const { form, code, input, inputJson, signal, onLog } = options;
      if (input !== undefined && inputJson !== undefined) {
        throw new TypeError('input and inputJson exclude each other');
      }
      if (onLog !== undefined) needFunction(onLog, 'onLog');
      return this.#run(takeForm(form), code, input, inputJson, signal, onLog, takeExtra(options, this.#box), options[ANSWERS]);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #run(form, code, data, json, signal, onLog, extra, answers) {
    const box = this.#box;
    return new Promise((resolve, reject) => {
      if (signal !== undefined && signal !== null && !isSignal(signal)) {
        throw wrong('signal', 'an AbortSignal', signal);
      }
      const early = this.#early(code, signal);
      if (early !== undefined) {
        resolve(early);
        return;
      }
      const call = new Call(box, resolve, reject);
      if (answers !== undefined) call.answerWith(answers);
      this.#begin(call, form, code, data, json, signal, onLog, extra);
    });
  }

  /* The result of a call that cannot begin, or undefined. It has no telemetry event. */
  #early(code, signal) {
    const box = this.#box;
    if (box.isDisposed) return failure('UNAVAILABLE', 'the engine has been disposed of');
    if (signal?.aborted) return failure('ABORTED', 'the call was aborted before it began');
    if (addon === undefined) return failure('UNAVAILABLE', box.failed);
    if (typeof code !== 'string') return failure('INVALID_CODE', 'the code must be a string');
    return undefined;
  }

  #begin(call, form, code, data, json, signal, onLog, extra) {
    const box = this.#box;
    let input;
    let bound;
    try {
      input = json === undefined ? snapshot(data) : given(json);
      if (extra?.bindings !== undefined) bound = snapshot(extra.bindings, BOUND);
    } catch (error) {
      if (error instanceof InvalidData) call.end(invalid(error));
      else call.fail(error);
      return;
    }
    if (signal) {
      if (signal.aborted) { // for example by a getter of the input
        call.end(failure('ABORTED', 'the call was aborted before it began'));
        return;
      }
      call.signal = signal;
      watch(signal, call);
    }
    if (onLog !== undefined || box.console !== undefined) {
      call.onLog = onLog;
      extra = { ...extra, logs: true };
    }
    if (bound !== undefined) extra.bindings = bound.text;
    const isReady = input.ready === undefined && bound?.ready === undefined;
    if (isReady && box.gate === undefined && box.failed === undefined) {
      call.submit(form, code, input.text, extra);
    } else {
      void submitLater(call, form, code, input, bound, extra);
    }
  }

  /** Give the engine a dataset: calls find it as datasets.NAME, without delay. */
  load(name, data) {
    return optional(this.#load(name, () => {
      const input = snapshot(data, { subject: 'data', root: 'data' });
      if (input.text === undefined && input.ready === undefined) {
        throw new TypeError('data must be a value that JSON can hold, not undefined');
      }
      return input;
    }));
  }

  /** The same for JSON: a string or a Uint8Array. */
  loadJson(name, json) {
    return optional(this.#load(name, () => given(json, 'json')));
  }

  /** The same for a text: 'json', 'ndjson', 'csv' or 'tsv'. options: how to read a table. */
  loadText(name, text, format, options = {}) {
    return optional(this.#load(name, () => given(text, 'text'), format, addon.load, options));
  }

  /** Rows of an SQLite database, read in a sealed process; without a query, all tables. */
  loadSqlite(name, path, query) {
    const isText = (value) => typeof value === 'string' && !value.includes('\0');
    return optional(this.#load(name, () => {
      if (!isText(path)) throw wrong('path', 'a string', path);
      if (query !== undefined && !isText(query)) throw wrong('query', 'a string', query);
      return { text: query === undefined ? path : `${path}\0${query}` };
    }, 'json', addon.loadSqlite));
  }

  async #load(name, take, format = 'json', send = addon.load, options = {}) {
    needText(name, 'name');
    if (!FORMATS.includes(format)) throw wrong('format', "'json', 'ndjson', 'csv' or 'tsv'", format);
    const how = FORMATS.indexOf(format) | takeTable(options);
    const box = this.#box;
    const prepared = (async () => whole(take()))();
    prepared.catch(() => {}); // it may take long until this job's turn
    const loaded = box.enqueue(() => prepared, (text, id) => send(box.handle, id, name, text, how))
      .catch((error) => {
        throw asWrongData(error);
      });
    // If calls may have the dataset already, it is replaced without making them wait.
    if (!box.datasets.has(name)) box.change(loaded);
    await loaded;
    box.datasets.add(name);
  }

  /** Functions of the host: code calls them by name, `await db.query(...)`. */
  expose(functions, options = {}) {
    return optional(this.#expose(functions, options));
  }

  async #expose(functions, options) {
    const box = this.#box;
    needKnown(needObject(options, 'options'), ['unsafe'], 'options');
    const check = options.unsafe === true ? undefined : powerCheck();
    const list = flatten(needObject(functions, 'functions', 'an object of functions'), check);
    const exposed = box.inTurn(async () => {
      for (const name of freshNames(list, box.exposed)) {
        await box.job((id) => addon.expose(box.handle, id, name));
        box.exposed.add(name);
      }
      for (const [name, fn] of list) box.functions.set(name, fn);
    });
    box.change(exposed);
    await exposed;
  }

  /** A script that every call finds already evaluated: a library, helpers. */
  preload(name, source) {
    return optional(this.#preload(name, source));
  }

  async #preload(name, source) {
    const box = this.#box;
    needText(name, 'name');
    needText(source, 'source');
    const done = box.enqueue(undefined, (_, id) => addon.preload(box.handle, id, name, source));
    box.change(done);
    await done.catch((error) => {
      throw asWrongData(error);
    });
  }

  /** The engine's runner, layers of the seal, pool. */
  async report() {
    const box = this.#box;
    return JSON.parse(await box.enqueue(undefined, (_, id) => addon.report(box.handle, id)));
  }

  /** Call `sink` with one event for every call that has ended. */
  telemetry(sink) {
    if (sink !== undefined) needFunction(sink, 'sink');
    this.#box.sink = sink;
    return this;
  }

  /** End the engine: calls in flight end as ABORTED, later ones as UNAVAILABLE. */
  dispose() {
    this.#state.isDisposed = true;
    collected.unregister(this.#state);
    this.#box.dispose();
  }

  get isDisposed() {
    return this.#box.isDisposed;
  }

  /** dispose(), and wait until every process has ended. */
  async close() {
    this.dispose();
    await this.#box.end();
  }
}

// Node before 18.18 has neither.
if (Symbol.dispose) {
  Object.defineProperty(SandboxEngine.prototype, Symbol.dispose, {
    value() {
      this.dispose();
    },
    configurable: true,
    writable: true,
  });
}
if (Symbol.asyncDispose) {
  Object.defineProperty(SandboxEngine.prototype, Symbol.asyncDispose, {
    value() {
      return this.close();
    },
    configurable: true,
    writable: true,
  });
}

export { validateSandboxCode } from './guard.js';
export { SANDBOX_SYSTEM_INSTRUCTION } from './instruction.js';

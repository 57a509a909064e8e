// SPDX-License-Identifier: MIT
/*
 * runner - the port through which an application runs its users' code, with adapters behind
 * it: `glovebox()` for production, `memory()` for tests, or your own.
 *
 * execute() rejects when the code failed, because the port's users catch that; attempt()
 * never rejects for it.
 */
import { isObject, needFunction, needKnown, needName, needNumber, needObject, needText, needValues, wrong } from './argument.js';
import { guarded, isSignal, Listeners } from './listeners.js';

const MOST_MS = 600000;
const LEVELS = ['log', 'info', 'warn', 'error', 'debug'];
const ARGUMENTS = [
  'code', 'executionParams', 'envVars', 'contextVariables', 'isCustomTool', 'timeout', 'secureFetchImpl',
  'consoleSink', 'signal',
];

/** A failure of the user's code, or its forced end: `code` says which. */
export class SandboxExecutionError extends Error {
  constructor({ name = 'SandboxError', message, stack, code, hint, location, logs = [], executionMs = 0 }) {
    super(message);
    this.name = name;
    this.stack = stack ? `${name}: ${message}\n${stack}` : `${name}: ${message}`;
    this.code = code;
    this.logs = logs;
    this.executionMs = executionMs;
    if (hint) this.hint = hint;
    if (location) this.location = location;
  }
}

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;

/* Words that cannot name a variable in strict code of an async function. */
const RESERVED = new Set(`arguments await break case catch class const continue debugger default delete do else enum eval
  export extends false finally for function if implements import in instanceof interface let new null package private
  protected public return static super switch this throw true try typeof var void while with yield`.split(/\s+/));

const LONGEST_NAME = 247; /* in bytes: the engine refuses longer ones */

const isName = (name) => IDENTIFIER.test(name) && !RESERVED.has(name);

function needNames(contextVariables) {
  needValues(contextVariables, 'args.contextVariables');
  for (const name of Object.keys(contextVariables))
    if (!isName(name)) throw new TypeError(`args.contextVariables['${name}'] is not the name of a variable`);
}

function needSink(sink) {
  needObject(sink, 'args.consoleSink', 'an object with log, info, warn and error');
  for (const level of LEVELS) if (sink[level] !== undefined) needFunction(sink[level], `args.consoleSink.${level}`);
}

/** The fetch of a call that was given none: the adapters here then have no fetch at all. */
export async function NO_FETCH() {
  throw new Error('fetch is off: the call was given no secureFetchImpl');
}

/** The sink of a call that was given none. */
export const SILENT = Object.freeze(Object.fromEntries(LEVELS.map((level) => [level, () => {}])));

/* A sink with every method: log stands in for a missing one. */
function wholeSink(sink) {
  if (LEVELS.every((level) => sink[level] !== undefined)) return sink;
  return Object.fromEntries(LEVELS.map((level) =>
    [level, (message) => (sink[level] === undefined ? sink.log?.(message) : sink[level](message))]));
}

/** The arguments of execute(), complete and checked; throws for wrong use. */
export function runnerArguments(args) {
  needObject(args, 'args');
  needKnown(args, ARGUMENTS, 'args');
  const { code, executionParams = {}, envVars = {}, contextVariables = {}, isCustomTool = false } = args;
  const { timeout = 5000, secureFetchImpl = NO_FETCH, consoleSink = SILENT, signal } = args;
  needText(code, 'args.code');
  needValues(executionParams, 'args.executionParams');
  needValues(envVars, 'args.envVars');
  needNames(contextVariables);
  needNumber(timeout, 'args.timeout', 1, MOST_MS);
  if (typeof isCustomTool !== 'boolean') throw wrong('args.isCustomTool', 'true or false', isCustomTool);
  needFunction(secureFetchImpl, 'args.secureFetchImpl');
  needSink(consoleSink);
  if (signal !== undefined && signal !== null && !isSignal(signal)) throw wrong('args.signal', 'an AbortSignal', signal);
  return {
    code, executionParams, envVars, contextVariables, isCustomTool, timeout, secureFetchImpl,
    consoleSink: wholeSink(consoleSink), signal,
  };
}

/** The names that the code sees, and their values. A parameter whose name no variable can
  * have is only in params. */
export function runnerBindings({ executionParams, envVars, contextVariables, isCustomTool }) {
  const own = { params: executionParams, env: envVars, environmentVariables: envVars };
  if (!isCustomTool) return { ...contextVariables, ...own };
  const names = Object.entries(executionParams).filter(([name, value]) =>
    value !== undefined && isName(name) && Buffer.byteLength(name) <= LONGEST_NAME);
  return { ...contextVariables, ...Object.fromEntries(names), ...own };
}

/* The argument that a binding came from. */
function argumentOf(name, { executionParams, isCustomTool }) {
  if (name === 'params') return 'executionParams';
  if (name === 'env' || name === 'environmentVariables') return 'envVars';
  return isCustomTool && Object.hasOwn(executionParams, name) ? `executionParams.${name}` : `contextVariables.${name}`;
}

/** A message about a binding in its caller's terms: executionParams.a, not
 * bindings.params.a. */
export function withOwnPath(message, path, given) {
  const [all, name, quoted] = /^bindings(?:\.([\w$]+)|\[("(?:[^"\\]|\\.)*")\])/.exec(path ?? '') ?? [];
  if (all === undefined) return message;
  return message.replace(path, () => argumentOf(name ?? JSON.parse(quoted), given) + path.slice(all.length));
}

/** Why the text contains no code; or undefined. */
export function emptiness(code) {
  let rest = code.trimStart(), hasComment = false;
  for (let mark; (mark = /^(?:;|\/\/|\/\*)/.exec(rest)?.[0]) !== undefined;) {
    const end = mark === ';' ? 0 : rest.indexOf(mark === '//' ? '\n' : '*/', 2);
    if (end < 0 && mark === '/*') return undefined;
    hasComment ||= mark !== ';';
    rest = end < 0 ? '' : rest.slice(end + (mark === '/*' ? 2 : 1)).trimStart();
  }
  if (rest !== '') return undefined;
  return hasComment ? 'the code is only comments' : 'the code is empty';
}

/**
 * Passes lines of the console to a sink. If a method throws, or its
 * promise is rejected, the call fails once the code has ended; a later rejection is a
 * warning.
 */
export class Sink {
  #sink;
  #listeners = new Listeners('a runner');
  #failure; /* of the sink, unchanged */
  #hasEnded = false;

  constructor(sink) {
    this.#sink = sink;
  }

  tell(level, message) {
    const method = LEVELS.includes(level) ? level : 'log';
    guarded(() => this.#sink[method](message), (error) => {
      if (this.#hasEnded) this.#listeners.complain(`consoleSink.${method}`, error);
      else this.#failure ??= { error };
    });
  }

  /** Call when the code has ended: throws what failed the call. */
  end() {
    this.#hasEnded = true;
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

function needAdapter(adapter) {
  if (!isObject(adapter) || typeof adapter.execute !== 'function' || typeof adapter.dispose !== 'function')
    throw wrong('options.adapter', 'an adapter: {name, execute(args), dispose()}', adapter);
  needName(adapter.name, 'options.adapter.name');
  return adapter;
}

function describe(error) {
  const isError = isObject(error) && typeof error.message === 'string';
  const { name = 'Error', message = String(error), stack, code, hint, location, logs } = isError ? error : {};
  return { name, message, stack, code: typeof code === 'string' ? code : 'RUNTIME', hint, location, logs: logs ?? [] };
}

class SandboxClient {
  #adapter;
  #isDisposed = false;
  #running = new Set(); /* promises of calls */

  constructor(adapter) {
    this.#adapter = adapter;
  }

  get name() {
    return this.#adapter.name;
  }

  /* Adapters get every argument. */
  async #run(given) {
    if (this.#isDisposed) throw new SandboxExecutionError({ code: 'UNAVAILABLE', message: 'dispose() was called' });
    const running = Promise.resolve(this.#adapter.execute(given));
    const ended = running.catch(() => {}).then(() => this.#running.delete(ended));
    this.#running.add(ended);
    return running;
  }

  /** Runs the body of an async function; resolves with {result}, rejects if it failed. */
  async execute(args) {
    return this.#run(runnerArguments(args));
  }

  /** The same as a value: {ok: true, result} or {ok: false, error}. Rejects only for wrong
   * use. */
  async attempt(args) {
    const given = runnerArguments(args);
    try {
      return { ok: true, result: (await this.#run(given)).result };
    } catch (error) {
      return { ok: false, error: describe(error) };
    }
  }

  /** Frees what the adapter keeps. options.drain: calls that run may end first. */
  async dispose(options = {}) {
    needObject(options, 'options');
    needKnown(options, ['drain'], 'options');
    this.#isDisposed = true;
    if (options.drain === true) await Promise.all(this.#running);
    await this.#adapter.dispose();
  }

  async [Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose')]() {
    await this.dispose();
  }
}

/** options.adapter: {name, execute(args), dispose()}. */
export function createSandboxClient(options) {
  needObject(options, 'options');
  needKnown(options, ['adapter'], 'options');
  return new SandboxClient(needAdapter(options.adapter));
}

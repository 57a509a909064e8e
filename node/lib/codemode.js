// SPDX-License-Identifier: MIT
/*
 * codemode - one tool in place of many: a model writes code that calls the tools of several
 * servers, and gets only what the code returns. For embedders with an agent of their own; the
 * server `glovebox mcp` does the same for any client.
 */
import { isObject, needFunction, needKnown, needName, needNumber, needObject, needText, wrong } from './argument.js';
import { ANSWERS } from './box.js';
import { now } from './clock.js';
import { answerOf, doubtOf, errorOf, notesOf } from './codemode-answer.js';
import { Run } from './codemode-calls.js';
import { definitionOf } from './codemode-describe.js';
import { HOST_NAME, serversScript } from './codemode-script.js';
import { takeServer } from './codemode-servers.js';
import { EngineCache } from './engine-cache.js';
import { isSignal, Listeners, unwatch, watch } from './listeners.js';
import { powerCheck } from './powers.js';
import { RequestEngine } from './request.js';
import { shownText } from './shown.js';

const MIB = 1048576;
const CODE_BYTES = 51200;

/* Default, least, most. */
const NUMBERS = {
  timeoutMs: [120000, 1, 600000],
  callTimeoutMs: [60000, 1, 600000],
  memoryMB: [128, 8, 4096],
  maxOutputBytes: [10 * MIB, 1, 256 * MIB],
  maxTextCharacters: [40000, 200, 10 * MIB],
  maxCalls: [1000, 1, 100000],
  maxCallsAtOnce: [16, 1, 256],
  maxArtifacts: [100, 0, 10000],
  maxWorkers: [64, 1, 1024],
  sleepMs: [30000, 0, 600000],
};

function takeOptions(options) {
  needObject(options, 'options');
  needKnown(options, ['servers', 'name', 'allow', 'unsafe', 'globals', ...Object.keys(NUMBERS)], 'options');
  needObject(options.servers, 'options.servers');
  if (Object.keys(options.servers).length === 0) throw new TypeError('options.servers has no server');
  if (options.allow !== undefined) needFunction(options.allow, 'options.allow');
  const { globals = 'standard' } = options;
  if (!['standard', 'minimal'].includes(globals)) throw wrong('options.globals', "'standard' or 'minimal'", globals);
  const taken = { name: needName(options.name ?? 'execute', 'options.name'), allow: options.allow, globals };
  for (const [name, [standard, least, most]] of Object.entries(NUMBERS))
    taken[name] = needNumber(options[name] ?? standard, `options.${name}`, least, most);
  return taken;
}

/* The codes of runs that do not wait for their calls. */
const STOPPED = ['ABORTED', 'TIMEOUT'];

const POLICY = { console: true, timers: true, functions: [HOST_NAME] };

function usageOf({ executionMs, stats }, calls) {
  return { wallMs: executionMs, cpuMs: stats?.cpuMs ?? 0, memoryBytes: stats?.peakMemoryBytes ?? 0, calls };
}

class CodeMode {
  #options;
  #servers = new Map();
  #lists = new Map();
  #engines;
  #listeners = new Listeners('code mode');

  constructor(options) {
    this.#options = takeOptions(options);
    const check = options.unsafe === true ? undefined : powerCheck();
    for (const [name, server] of Object.entries(options.servers)) this.#servers.set(name, takeServer(name, server, check));
    const source = serversScript([...this.#servers.keys()], this.#options.sleepMs);
    this.#engines = new EngineCache(() => this.#makeEngine(source));
    /* Passed to servers and agents as a plain function. */
    this.handler = this.handler.bind(this);
  }

  /* One engine for all runs: requests to the host go to the Run that makes them. */
  #makeEngine(source) {
    const { timeoutMs, memoryMB, maxOutputBytes, maxWorkers, globals } = this.#options;
    const engine = new RequestEngine({
      timeout: timeoutMs, memoryLimit: memoryMB, maxOutputBytes, maxWorkers, globals, policy: POLICY,
      preload: [{ name: 'servers.js', source }],
    });
    engine.expose({
      [HOST_NAME](operation, ...args) {
        return this.answer(operation, args);
      },
    }).catch(() => {}); /* if it could not start, its calls say why */
    return engine;
  }

  /** Asks every server for its tools, so that the definition can list them. If a server does
   * not answer, code can use discover(). */
  async prepare() {
    await Promise.all([...this.#servers].map(async ([name, server]) => {
      try {
        this.#lists.set(name, await server.list());
      } catch {
        this.#lists.delete(name);
      }
    }));
    return this;
  }

  /** The definition of the tool: {name, description, inputSchema, annotations}. */
  get definition() {
    return definitionOf(this.#options, [...this.#servers.keys()], this.#lists);
  }

  /** The same as a list, as in a server's tools/list. */
  get definitions() {
    return [this.definition];
  }

  /* Returns the outcome, and notes for its reader. */
  async #run(code, { input = null, timeoutMs, onProgress, signal }) {
    const begin = now();
    const run = new Run(this.#servers, this.#options, onProgress && ((told) =>
      this.#listeners.call('onProgress', () => onProgress(told))));
    const watcher = { abort: () => run.stop(signal.reason) };
    if (signal !== undefined) watch(signal, watcher);
    try {
      const limits = { timeoutMs, codeBytes: CODE_BYTES };
      const result = await this.#engines.use({}, (engine) =>
        engine.run({ form: 'script', code, input, limits, signal, [ANSWERS]: run }), signal);
      const { awaited } = run;
      await run.end(STOPPED.includes(result.code) || signal?.aborted ? 0 : timeoutMs - (now() - begin));
      const error = result.ok ? doubtOf(run) : errorOf(result, run, awaited, { timeoutMs, most: this.#options.timeoutMs });
      const { calls, artifacts } = run;
      const outcome = {
        ok: error === undefined, logs: result.logs ?? [], calls, artifacts,
        truncated: result.logsTruncated === true, usage: usageOf(result, calls.length),
        ...(result.ok && { result: result.value, ...(result.hint && { hint: result.hint }) }), ...(error && { error }),
      };
      return { outcome, notes: notesOf(run, result.ok, error, result.value) };
    } finally {
      if (signal !== undefined) unwatch(signal, watcher);
      run.stop(new Error('the run has ended'));
    }
  }

  /**
   * Runs code; resolves with {ok, result | error, logs, calls, artifacts, truncated, usage}.
   * options: input, timeoutMs, signal, onProgress.
   */
  async run(code, options = {}) {
    return (await this.#checked(code, options)).outcome;
  }

  async #checked(code, options) {
    needText(code, 'code');
    needObject(options, 'options');
    needKnown(options, ['input', 'timeoutMs', 'signal', 'onProgress'], 'options');
    const most = this.#options.timeoutMs;
    const timeoutMs = needNumber(options.timeoutMs ?? most, 'options.timeoutMs', 1, most);
    if (options.onProgress !== undefined) needFunction(options.onProgress, 'options.onProgress');
    if (options.signal !== undefined && !isSignal(options.signal)) throw wrong('options.signal', 'an AbortSignal', options.signal);
    return this.#run(code, { ...options, timeoutMs });
  }

  /* The problem with a model's input, or undefined. */
  #problem(input) {
    if (!isObject(input)) return 'the arguments must be an object with code';
    const { code, timeout_ms: timeoutMs } = input;
    if (typeof code !== 'string') return 'code must be a string of JavaScript';
    if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs >= 1 && timeoutMs <= this.#options.timeoutMs))
      return `timeout_ms must be a number from 1 to ${this.#options.timeoutMs}`;
    const other = Object.keys(input).find((key) => !['code', 'input', 'timeout_ms'].includes(key));
    return other === undefined ? undefined : `unknown argument ${JSON.stringify(other)}: there are code, input and timeout_ms`;
  }

  /**
   * Serves the tool: handler(input, extra) resolves with a result of the protocol, whatever
   * the model sent. extra: as the SDK passes it; its signal ends the run and its calls.
   */
  async handler(input, extra = {}) {
    const problem = this.#problem(input);
    if (problem !== undefined)
      return { content: [{ type: 'text', text: shownText(`INVALID_ARGS: ${problem}`) }], isError: true };
    const { code, input: given, timeout_ms: timeoutMs } = input;
    const { outcome, notes } = await this.#checked(code, {
      input: given, timeoutMs, signal: extra?.signal ?? extra?.mcpReq?.signal, onProgress: progressTo(extra),
    });
    return answerOf(outcome, notes, this.#options.maxTextCharacters);
  }

  /** Ends all runs; the clients belong to the caller, and stay open. */
  dispose() {
    this.#engines.dispose();
  }

  [Symbol.dispose ?? Symbol.for('nodejs.dispose')]() {
    this.dispose();
  }
}

/* From here on, adding one may give the same number. */
const FIGURE_END = 2 ** 52;

/* Progress for a client that asked for it. */
function progressTo(extra) {
  const progressToken = extra?._meta?.progressToken ?? extra?.mcpReq?._meta?.progressToken;
  const send = extra?.sendNotification ?? extra?.mcpReq?.notify;
  let last = -1;
  if (progressToken === undefined || typeof send !== 'function') return undefined;
  return ({ progress, total, message }) => {
    const has = progress >= 0 && progress > last && progress < FIGURE_END; /* it must grow */
    last = has ? progress : Math.max(last, 0) + 1;
    const params = { progressToken, progress: last, total: has ? total : undefined, message: message && shownText(message) };
    Promise.resolve(send({ method: 'notifications/progress', params })).catch(() => {});
  };
}

/** options.servers: by name, a client of the MCP SDK, or an object of functions. */
export function createCodeMode(options) {
  return new CodeMode(options);
}

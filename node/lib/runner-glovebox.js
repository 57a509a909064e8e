// SPDX-License-Identifier: MIT
/*
 * runner-glovebox - the adapter for production: each piece of code in a sealed process of its
 * own. It reaches the network only through secureFetchImpl, which runs in the host and checks
 * every request.
 */
import { needKnown, needNumber, needObject } from './argument.js';
import { ANSWERS, thrownOf } from './box.js';
import { EngineCache } from './engine-cache.js';
import { hintOfCode } from './hints.js';
import { RequestEngine } from './request.js';
import { BOX_FETCH, answerFetch } from './runner-fetch.js';
import { NO_FETCH, runnerArguments, runnerBindings, SandboxExecutionError, SILENT, Sink, withOwnPath } from './runner.js';

const MIB = 1048576;
const MOST_MS = 600000; /* for an engine; a call's timeout is lower */
const POLICY = { console: true, timers: true };
const FETCH_POLICY = { ...POLICY, functions: ['fetch'] };
const PLAIN_FETCH = 'fetch takes a URL and a plain object {method, headers, body}, not Headers or a Request: write it so';

/* The engine's failure as the error that the port's users catch. */
function errorOf(result, given) {
  const { code, error, location, stack, logs, executionMs, path } = result;
  const { name, message } = thrownOf(result);
  const hasWords = name !== '' || message !== '' || error === 'unknown error'; /* for throw
                                                                                  '' */
  const isThrown = (code === 'RUNTIME' || code === 'SYNTAX') && hasWords;
  const hint = hintOfCode(result.hint);
  return new SandboxExecutionError({
    ...(isThrown ? { name: name || undefined, message } : { message: withOwnPath(error, path, given) }),
    stack,
    code,
    hint: given.secureFetchImpl !== NO_FETCH && hint.startsWith('fetch is off') ? PLAIN_FETCH : hint,
    location,
    logs,
    executionMs,
  });
}

/* Each fetch is answered by the secureFetchImpl of its own execute(). */
function makeEngine(config) {
  if (config.policy !== FETCH_POLICY) return new RequestEngine(config);
  const engine = new RequestEngine({ ...config, preload: [{ name: 'fetch.js', source: BOX_FETCH }] });
  engine.expose({
    fetch(url, init) {
      return answerFetch(this, url, init);
    },
  }).catch(() => {}); /* if it could not start, its calls say why */
  return engine;
}

class GloveboxRunner {
  name = 'glovebox';
  #engineOptions;
  #memoryBytes;
  #engines = new EngineCache((config) => makeEngine(config));

  constructor({ workerMemoryMb = 128, maxOutputBytes = MIB, maxWorkers }) {
    this.#memoryBytes = workerMemoryMb * MIB;
    this.#engineOptions = { timeout: MOST_MS, memoryLimit: workerMemoryMb, maxOutputBytes };
    if (maxWorkers !== undefined) this.#engineOptions.maxWorkers = maxWorkers;
  }

  #run(call, secureFetchImpl) {
    const policy = secureFetchImpl === NO_FETCH ? POLICY : FETCH_POLICY;
    return this.#engines.use({ ...this.#engineOptions, policy }, (engine) =>
      engine.run({ ...call, [ANSWERS]: secureFetchImpl }), call.signal);
  }

  async execute(args) {
    const given = runnerArguments(args);
    const sink = new Sink(given.consoleSink);
    const result = await this.#run({
      form: 'body',
      code: given.code,
      bindings: runnerBindings(given),
      limits: { timeoutMs: given.timeout, memoryBytes: this.#memoryBytes },
      signal: given.signal,
      ...(given.consoleSink === SILENT ? {} : { onLog: (level, text) => sink.tell(level, text) }),
    }, given.secureFetchImpl);
    sink.end();
    if (!result.ok) throw errorOf(result, given);
    return { result: result.value };
  }

  async dispose() {
    await this.#engines.close();
  }
}

/** options.workerMemoryMb: for one piece of code; options.maxOutputBytes: for its result. */
export function glovebox(options = {}) {
  needObject(options, 'options');
  needKnown(options, ['workerMemoryMb', 'maxOutputBytes', 'maxWorkers'], 'options');
  if (options.workerMemoryMb !== undefined) needNumber(options.workerMemoryMb, 'options.workerMemoryMb', 8, 4096);
  if (options.maxOutputBytes !== undefined) needNumber(options.maxOutputBytes, 'options.maxOutputBytes', 1, 256 * MIB);
  if (options.maxWorkers !== undefined) needNumber(options.maxWorkers, 'options.maxWorkers', 1, 1024);
  return new GloveboxRunner(options);
}

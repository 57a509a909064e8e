// SPDX-License-Identifier: MIT
/*
 * codemode-calls - one run of code, seen from the host: handles every request of the sandbox.
 * The requests are untrusted: limits and the embedder's approval apply.
 */
import { isObject } from './argument.js';
import { clearTimeout, now, setTimeout } from './clock.js';
import { CallError, notFound, valueOf } from './codemode-servers.js';
import { mendText } from './half.js';
import { InvalidData, snapshot, Taken, whole } from './input.js';
import { messageOf } from './thrown.js';

const NAME_MAX = 256;
const MESSAGE_MAX = 2000; // of progress
const LINE_MAX = 10000000;
const MIME_MAX = 100;
const AWAITED_MOST = 3; // named in a message
const LISTS_MOST = 5; // requested from one server in one run: all but the last have failed

const isText = (value, most) => typeof value === 'string' && value.length <= most;

/* As the code reports it: bounded, and 0 if missing. */
const lineOf = (line) => (Number.isInteger(line) && line > 0 && line <= LINE_MAX ? line : 0);

/* As in src/mcp/code/artifacts.c: a reader may put it into a header. */
const MIME = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+ *(;[ -~]*)?$/;

function mimeOf(given, usual) {
  if (typeof given !== 'string' || given === '') return usual;
  const made = given.replaceAll(' ', '');
  if (given.length <= NAME_MAX && MIME.test(given) && made.length <= MIME_MAX) return made;
  throw new CallError('INVALID_ARGS', 'mimeType is a type and a subtype, as in "text/csv"');
}

/* {value} as JSON, for the script in the sandbox. If it cannot be JSON, that is the fault of
 * whoever answers, and does not mean that the call did not happen. more: of further
 * members. */
async function taken(value, who, more = '') {
  if (value === undefined) return new Taken('{}');
  const place = { subject: `the answer of ${who}`, root: 'answer' };
  try {
    return new Taken(await whole(snapshot(value, place, (text) => `{"value":${text}${more}}`)));
  } catch (error) {
    throw error instanceof InvalidData ? new CallError('UPSTREAM', error.message) : error;
  }
}

/* Waits for one of so many places, in order. */
class Gate {
  #free;
  #waiting = [];

  constructor(most) {
    this.#free = most;
  }

  async pass(run) {
    if (this.#free > 0) this.#free--;
    else await new Promise((resolve) => this.#waiting.push(resolve));
    try {
      return await run();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}

export class Run {
  artifacts = [];
  #byUri = new Map(); // the same
  #calls = [];
  #begun = new Map(); // by the call, for calls in progress
  #awaited = []; // names of what the code awaits
  #servers;
  #options;
  #signal;
  #onProgress;
  #gate;
  #lists = new Map(); // by the server's name: {promise, asked}
  #stops = new Set(); // one for each call in progress

  /** signal: ends with the run; onProgress({progress, total, message}) is optional. */
  constructor(servers, options, signal, onProgress) {
    this.#servers = servers;
    this.#options = options;
    this.#signal = signal;
    this.#onProgress = onProgress;
    this.#gate = new Gate(options.maxCallsAtOnce);
    signal.addEventListener('abort', () => {
      for (const stop of this.#stops) stop();
    });
  }

  /** The answer to a request, in the form that the script in the sandbox expects. */
  async answer(operation, args) {
    try {
      const value = await this.#operations[operation]?.(...args);
      return value instanceof Taken ? value : await taken(value, `'${operation}'`);
    } catch (error) {
      const isOurs = error instanceof CallError;
      const code = isOurs ? error.code : 'UNAVAILABLE';
      return { error: { code, message: messageOf(error), retryable: isOurs && error.isRetryable } };
    }
  }

  /** A snapshot of the calls: later ends do not change it. */
  get calls() {
    return this.#calls.map((call) => ({ ...call, ms: this.#msOf(call) }));
  }

  /** What the code is waiting for, in words; '' if for nothing. */
  get awaited() {
    const names = [...new Set(this.#awaited)];
    return names.slice(0, AWAITED_MOST).join(', ') + (names.length > AWAITED_MOST ? ', ...' : '');
  }

  async #waiting(name, work) {
    this.#awaited.push(name);
    try {
      return await work();
    } finally {
      this.#awaited.splice(this.#awaited.indexOf(name), 1);
    }
  }

  #msOf(call) {
    const begin = this.#begun.get(call);
    return begin === undefined ? call.ms : Math.round((now() - begin) * 10) / 10;
  }

  #operations = {
    __proto__: null,
    call: (server, tool, args, settings) => this.#call(server, tool, args, settings),
    tools: (server) => this.#waiting('tools()', () => this.#tools(server)),
    discover: (query, settings) => this.#waiting('discover()', () => this.#discover(query, settings)),
    progress: (progress, total, message) => this.#progress(progress, total, message),
    artifact: (name, value, mimeType, settings) => this.#artifact(name, value, mimeType, settings),
    read: (uri) => this.#read(uri),
    show: (uri) => this.#show(uri),
  };

  #server(name) {
    const server = isText(name, NAME_MAX) ? this.#servers.get(name) : undefined;
    if (server === undefined) throw notFound('server', String(name).slice(0, NAME_MAX), [...this.#servers.keys()]);
    return server;
  }

  async #call(name, tool, args, settings) {
    const server = this.#server(name);
    const { line, raw, timeoutMs } = isObject(settings) ? settings : {};
    if (!isText(tool, NAME_MAX) || !isObject(args))
      throw new CallError('INVALID_ARGS', 'a call has the name of a tool and one object of arguments');
    if (this.#calls.length >= this.#options.maxCalls)
      throw new CallError('CALL_LIMIT', `no more than ${this.#options.maxCalls} calls may be made in one run`);
    const call = { server: name, tool, line: lineOf(line), ms: 0, ok: false, code: 'ABORTED' };

    this.#begun.set(call, now());
    this.#calls.push(call);
    try {
      const made = await this.#waiting(`${name}.${tool}`, () =>
        this.#gate.pass(() => this.#make(server, call, args, timeoutMs, raw === true)));
      const value = await taken(made, `${name}.${tool}`);
      call.ok = true;
      delete call.code;
      return value;
    } catch (error) {
      call.code = error instanceof CallError ? error.code : 'UNAVAILABLE';
      throw error;
    } finally {
      call.ms = this.#msOf(call);
      this.#begun.delete(call);
    }
  }

  async #make(server, call, args, wanted, isRaw) {
    const most = this.#options.callTimeoutMs;
    const timeoutMs = typeof wanted === 'number' && wanted >= 1 ? Math.min(wanted, most) : most;

    this.#needRunning(); /* it may have been queued until now */
    await this.#ask(call, args);
    this.#needRunning();
    const { result, value, isValue, failure } = await this.#within(timeoutMs, call, (signal) =>
      server.call(call.tool, args, { signal, timeoutMs, onProgress: this.#progressOf(call) }));
    return result === undefined || (isValue && !isRaw) ? value : valueOf(result, isRaw, failure);
  }

  #needRunning() {
    if (this.#signal.aborted) throw new CallError('ABORTED', 'the run has ended');
  }

  /* The embedder's approval, before anything is done. */
  async #ask({ server, tool, line }, args) {
    const { allow } = this.#options;
    if (allow === undefined) return;
    const verdict = await allow({ server, tool, args, line, signal: this.#signal });
    if (verdict === true) return;
    throw new CallError('DENIED', typeof verdict === 'string' ? verdict : `${server}.${tool} is not allowed`);
  }

  /* Do not wait for a tool that ignores its signal. */
  async #within(timeoutMs, { server, tool }, run) {
    const over = new AbortController();
    let timer, stop;
    const ended = new Promise((_, reject) => {
      stop = () => {
        over.abort(this.#signal.reason);
        reject(new CallError('ABORTED', 'the run has ended'));
      };
      timer = setTimeout(() => {
        const error = new CallError('UPSTREAM_TIMEOUT', `${server}.${tool} did not answer within ${timeoutMs} ms`, true);
        over.abort(error);
        reject(error);
      }, timeoutMs);
      this.#stops.add(stop);
    });
    try {
      return await Promise.race([ended, run(over.signal)]);
    } finally {
      clearTimeout(timer);
      this.#stops.delete(stop);
    }
  }

  /* ---- what is there --------------------------------------------------------------- */

  /* Once per run, however often the code asks: only a failed list is requested again. */
  #listed(name, server) {
    const known = this.#lists.get(name) ?? { promise: undefined, asked: 0 };
    if (known.promise === undefined) {
      known.asked++;
      known.promise = this.#list(name, server);
      this.#lists.set(name, known);
      known.promise.catch(() => {
        if (known.asked < LISTS_MOST) known.promise = undefined;
      });
    }
    return known.promise;
  }

  async #list(name, server) {
    try {
      return (await server.list()).map(({ name: tool, description, inputSchema, outputSchema }) =>
        ({ server: name, mark: '', tool: { name: tool, description, inputSchema, outputSchema } }));
    } catch (error) {
      throw new CallError('UNAVAILABLE', `${name} does not list its tools: ${messageOf(error)}`, true);
    }
  }

  /* The script in the sandbox finds what fits the query. */
  async #tools(name) {
    return await this.#listed(name, this.#server(name));
  }

  async #discover(query, settings) {
    const { server, tool } = isObject(settings) ? settings : {};
    const names = isText(server, NAME_MAX) && server !== '' ? [server] : [...this.#servers.keys()];
    const lists = await Promise.allSettled(names.map((name) => this.#listed(name, this.#server(name))));
    if (names.length === 1 && lists[0].status === 'rejected') throw lists[0].reason;
    const absent = names.filter((_, i) => lists[i].status === 'rejected').join(', ');
    const docs = lists.flatMap(({ value = [] }) => value)
      .filter((doc) => !isText(tool, NAME_MAX) || tool === '' || doc.tool.name === tool);
    return taken(docs, "'discover'", absent === '' ? '' : `,"absent":${JSON.stringify(absent)}`);
  }

  /* ---- what the code says meanwhile ------------------------------------------------ */

  #progress(progress, total, message) {
    this.#onProgress?.({
      progress: typeof progress === 'number' ? progress : undefined,
      total: typeof total === 'number' ? total : undefined,
      message: isText(message, MESSAGE_MAX) && message !== '' ? mendText(message) : undefined,
    });
  }

  /* Several calls may run at once, so a tool's progress has its name in front. */
  #progressOf({ server, tool }) {
    if (this.#onProgress === undefined) return undefined;
    return ({ progress, total, message: said }) => {
      if (this.#signal.aborted) return;
      const words = said || (total === undefined ? `${progress}` : `${progress}/${total}`);
      const message = mendText(`${server}.${tool}: ${words}`.slice(0, MESSAGE_MAX));
      this.#onProgress({ progress: undefined, total: undefined, message });
    };
  }

  #artifact(name, value, mimeType, settings) {
    if (this.artifacts.length >= this.#options.maxArtifacts)
      throw new CallError('OUTPUT_TOO_LARGE', `no more than ${this.#options.maxArtifacts} artifacts are kept`);
    const isBytes = isObject(settings) && settings.bytes === true && typeof value?.base64 === 'string';
    const content = isBytes ? Buffer.from(value.base64, 'base64') : value;
    const bytes = isBytes ? content.length : Buffer.byteLength(JSON.stringify(content) ?? '');
    const artifact = {
      name: isText(name, NAME_MAX) && name !== '' ? mendText(name) : `artifact-${this.artifacts.length + 1}`,
      mimeType: mimeOf(mimeType, isBytes ? 'application/octet-stream'
        : typeof content === 'string' ? 'text/plain' : 'application/json'),
      bytes,
      value: content,
    };
    const before = this.artifacts.filter((each) => each.name === artifact.name).length;
    const uri = `artifact://${encodeURIComponent(artifact.name)}${before > 0 ? `/${before + 1}` : ''}`;
    this.artifacts.push(artifact);
    this.#byUri.set(uri, artifact);
    return { uri, bytes, mimeType: artifact.mimeType };
  }

  #kept(uri) {
    const artifact = this.#byUri.get(uri);
    if (artifact === undefined) throw new CallError('NOT_FOUND', 'no such artifact in this run');
    return artifact;
  }

  #read(uri) {
    const { mimeType, value } = this.#kept(uri);
    if (Buffer.isBuffer(value)) return { mimeType, base64: value.toString('base64') };
    // A text of JSON that the code kept is a value to it, as in the command.
    return { mimeType, text: typeof value === 'string' ? value : JSON.stringify(value) };
  }

  /* The host of a run shows what it likes: the artifact is marked. */
  #show(uri) {
    const artifact = this.#kept(uri);
    if (!artifact.mimeType.startsWith('image/')) throw new CallError('INVALID_ARGS', 'it is not an image');
    artifact.isShown = true;
    return undefined;
  }
}

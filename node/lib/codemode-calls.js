// SPDX-License-Identifier: MIT
/*
 * codemode-calls - the host's side of one run of code: handles every request of the sandbox.
 * The requests are untrusted: limits and the embedder's approval apply.
 */
import { isObject, nearest } from './argument.js';
import { clearTimeout, now, setTimeout } from './clock.js';
import { CallError, valueOf } from './codemode-servers.js';
import { mendText } from './half.js';
import { InvalidData, snapshot, Taken, whole } from './input.js';
import { messageOf } from './thrown.js';
import { toToolResult } from './tool-result.js';

const NAME_MAX = 256;
const MESSAGE_MAX = 2000; // of progress
const LINE_MAX = 10000000;
const MIME_MAX = 100;
const AWAITED_MOST = 3; // named in a message
const NAMED_MOST = 20; // servers, in a message
const LISTS_MOST = 5; // requested from one server in one run: all but the last have failed
const FAULTS_MAX = 64; // the last errors that the code got
const FAULT_CODES = ['NOT_FOUND', 'INVALID_ARGS', 'CALL_LIMIT', 'INPUT_TOO_LARGE'];
const ASKED_MAX = 'the limit on questions of one run is reached: ask less often'; // as in servers.js

/** For a call that was sent, but whose answer did not arrive. */
export const DOUBT = 'it may have taken effect: look before you repeat it';

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

/* {value} as JSON, for the script in the sandbox. If JSON cannot hold the value, that is a fault
 * of the tool: the call took place all the same. more: JSON of further members. */
async function taken(value, who, more = '') {
  if (value === undefined) return new Taken('{}');
  const place = { subject: `the answer of ${who}`, root: 'answer' };
  try {
    return new Taken(await whole(snapshot(value, place, (text) => `{"value":${text}${more}}`)));
  } catch (error) {
    throw error instanceof InvalidData ? new CallError('TOOL_ERROR', error.message) : error;
  }
}

/* Runs a limited number of functions at once; further ones wait, in order. */
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

/* The outcome of a call that has ended. */
function outcomeOf({ ok, code, isDoubtful }) {
  if (isDoubtful) return 'DOUBTFUL';
  if (ok) return 'DONE';
  return code === 'NOT_SENT' || code === 'CANCELLED' ? code : 'FAILED';
}

export class Run {
  artifacts = [];
  #byUri = new Map(); // the same, by URI
  #calls = []; // what is reported, and begun, done, isSent, wasOpen, isDoubtful, message
  #awaited = []; // names of the calls that the code awaits
  #servers;
  #options;
  #over = new AbortController();
  #isEnding = false; // the code has ended
  #faults = []; // [message, code] of errors that the code got, the last one first
  #onProgress;
  #gate;
  #lists = new Map(); // by the server's name: {promise, asked}
  #stops = new Set(); // one for each call in progress

  /** onProgress({progress, total, message}) is optional. */
  constructor(servers, options, onProgress) {
    this.#servers = servers;
    this.#options = options;
    this.#onProgress = onProgress;
    this.#gate = new Gate(options.maxCallsAtOnce);
  }

  /** Ends all calls. */
  stop(reason) {
    this.#over.abort(reason);
    for (const stop of this.#stops) stop();
  }

  /** Call it when the code has ended. Calls that were sent take effect anyway: waits for them,
   * for leftMs. Nothing more is sent. */
  async end(leftMs) {
    this.#isEnding = true;
    for (const call of this.#calls) call.wasOpen = call.begun !== undefined;
    let timer;
    const isLate = new Promise((resolve) => {
      timer = setTimeout(resolve, Math.max(leftMs, 0));
      this.#stops.add(resolve);
    });
    if (leftMs > 0) await Promise.race([isLate, Promise.allSettled(this.#calls.filter(({ wasOpen, isSent }) => wasOpen && isSent).map(({ done }) => done))]);
    clearTimeout(timer);
    this.stop(new Error('the run has ended'));
    for (const call of this.#calls) if (call.begun !== undefined) this.#close(call, call.isSent ? 'CANCELLED' : 'NOT_SENT');
  }

  /** The answer to a request, in the form that the script in the sandbox expects. */
  async answer(operation, args) {
    try {
      const value = await this.#operations[operation]?.(...args);
      return value instanceof Taken ? value : await taken(value, `'${operation}'`);
    } catch (error) {
      const isOurs = error instanceof CallError;
      const code = isOurs ? error.code : 'UNAVAILABLE';
      const message = messageOf(error);
      this.#remember(message, code);
      return { error: { code, message, retryable: isOurs && error.isRetryable } };
    }
  }

  /** The calls, with `wasOpen` if they were open when the code ended, the `message` of a failure,
   * and the `outcome`: DONE, FAILED, NOT_SENT, CANCELLED or DOUBTFUL. */
  get fates() {
    return this.#calls.map((call) => ({ ...call, outcome: outcomeOf(call) }));
  }

  /** A snapshot of the calls: later ends do not change it. */
  get calls() {
    return this.#calls.map(({ server, tool, line, ms, ok, code, isDoubtful }) => (
      { server, tool, line, ms, ok, ...(code !== undefined && { code }), ...(isDoubtful && { outcome: DOUBT }) }));
  }

  /** The code of the ToolError with that message, if there was one. */
  codeOf(message) {
    return this.#faults.find(([text]) => text === message)?.[1] ?? (message === ASKED_MAX ? 'CALL_LIMIT' : undefined);
  }

  /** What the code is waiting for, as text; '' if for nothing. */
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

  /* Records the end of a call; without a code it succeeded. */
  #close(call, code, message) {
    if (call.begun === undefined) return;
    call.ms = Math.round((now() - call.begun) * 10) / 10;
    call.begun = undefined;
    call.ok = code === undefined;
    call.code = code;
    call.message = message;
    if (code === 'CANCELLED' || code === 'UPSTREAM_TIMEOUT')
      call.isDoubtful = call.isSent && !this.#servers.get(call.server).isReader(call.tool);
  }

  #operations = {
    __proto__: null,
    call: (server, tool, args, settings) => this.#call(server, tool, args, settings),
    discover: (query, settings) => this.#waiting(settings?.tool === undefined ? 'tools()' : 'discover()',
      () => this.#discover(query, settings)),
    progress: (progress, total, message) => this.#progress(progress, total, message),
    artifact: (name, value, mimeType, settings) => this.#artifact(name, value, mimeType, settings),
    read: (uri) => this.#read(uri),
    show: (uri) => this.#show(uri),
    fault: (code, message) => this.#fault(code, message),
  };

  #server(name) {
    const server = isText(name, NAME_MAX) ? this.#servers.get(name) : undefined;
    if (server !== undefined) return server;
    const [given, names] = [String(name).slice(0, NAME_MAX), [...this.#servers.keys()]];
    const meant = nearest(given, names);
    const all = `${names.slice(0, NAMED_MOST).join(', ')}${names.length > NAMED_MOST ? ', ...' : ''}`;
    throw new CallError('NOT_FOUND', `unknown server '${given}'${meant === undefined ? '' : `: did you mean '${meant}'?`} (there are: ${all})`);
  }

  #fault(code, message) {
    if (FAULT_CODES.includes(code) && typeof message === 'string') this.#remember(message, code);
  }

  /* Remembers an error: if the code does not catch it, its code is looked up. */
  #remember(message, code) {
    this.#faults = [[message, code], ...this.#faults].slice(0, FAULTS_MAX);
  }

  async #call(name, tool, args, settings) {
    const server = this.#server(name);
    const { line, raw, timeoutMs } = isObject(settings) ? settings : {};
    if (!isText(tool, NAME_MAX) || !isObject(args))
      throw new CallError('INVALID_ARGS', 'a call has the name of a tool and one object of arguments');
    if (this.#calls.length >= this.#options.maxCalls)
      throw new CallError('CALL_LIMIT', 'the limit on calls of one execute is reached: ask for more at once');
    const call = { server: name, tool, line: lineOf(line), ms: 0, ok: false, begun: now(), isSent: false, wasOpen: false };

    this.#calls.push(call);
    call.done = this.#serve(server, call, args, timeoutMs, raw === true);
    return call.done;
  }

  async #serve(server, call, args, timeoutMs, isRaw) {
    const name = `${call.server}.${call.tool}`;
    try {
      const made = await this.#waiting(name, () => this.#gate.pass(() => this.#make(server, call, args, timeoutMs, isRaw)));
      const value = await taken(made, name);
      this.#close(call);
      return value;
    } catch (error) {
      this.#close(call, error instanceof CallError ? error.code : 'UNAVAILABLE', messageOf(error));
      throw error;
    }
  }

  async #make(server, call, args, wanted, isRaw) {
    this.#needRunning(); /* it may have been queued until now */
    try {
      server.check(call.tool, args);
      await this.#ask(call, args);
      this.#needRunning();
      const { result, value, isValue, failure } = await this.#within(wanted, server, call, (options) => server.call(call.tool, args, options));
      if (isRaw) return result ?? toToolResult(value);
      return result === undefined || isValue ? value : valueOf(result, failure);
    } catch (error) {
      if (error.instead === undefined) throw error;
      call.tool = error.instead;
      call.isSent = false;
      return this.#make(server, call, args, wanted, isRaw);
    }
  }

  #needRunning() {
    if (this.#isEnding || this.#over.signal.aborted) throw new CallError('NOT_SENT', 'the run has ended');
  }

  /* Asks for the embedder's approval before the call. */
  async #ask({ server, tool, line }, args) {
    const { allow } = this.#options;
    if (allow === undefined) return;
    const verdict = await allow({ server, tool, args, line, signal: this.#over.signal });
    if (verdict === true) return;
    throw new CallError('DENIED', typeof verdict === 'string' ? verdict : `${server}.${tool} is not allowed`);
  }

  /* Do not wait for a tool that ignores its signal. */
  async #within(wanted, server, call, run) {
    const { callTimeoutMs: most } = this.#options;
    const isWanted = typeof wanted === 'number' && wanted >= 1 && wanted < most;
    const timeoutMs = isWanted ? wanted : most;
    const isLate = () => {
      const reads = server.isReader(call.tool);
      return new CallError('UPSTREAM_TIMEOUT', `no answer after ${timeoutMs} ms (${isWanted ? 'opts.timeoutMs' : 'callTimeoutMs'})${
        reads ? '' : `; ${DOUBT}`}`, reads);
    };
    const over = new AbortController();
    let timer, stop;
    const ended = new Promise((_, reject) => {
      stop = () => {
        over.abort(this.#over.signal.reason);
        reject(new CallError('CANCELLED', 'the run has ended'));
      };
      timer = setTimeout(() => {
        const error = isLate();
        over.abort(error);
        reject(error);
      }, timeoutMs);
      this.#stops.add(stop);
    });
    call.isSent = true;
    try {
      return await Promise.race([ended, run({ signal: over.signal, timeoutMs, onProgress: this.#progressOf(call) })]);
    } catch (error) {
      throw error instanceof CallError && error.code === 'UPSTREAM_TIMEOUT' ? isLate() : error;
    } finally {
      clearTimeout(timer);
      this.#stops.delete(stop);
    }
  }

  /* ---- lists of tools -------------------------------------------------------------- */

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

  /* ---- progress and artifacts ------------------------------------------------------ */

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
      if (this.#over.signal.aborted) return;
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
    const bytes = isBytes ? content.length : Buffer.byteLength(typeof content === 'string' ? content : JSON.stringify(content) ?? '');
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
    // The script parses application/json: a string kept as such is a value, as in the command.
    return { mimeType, text: typeof value === 'string' ? value : JSON.stringify(value) };
  }

  /* Only marks the artifact: the embedder decides what to show. */
  #show(uri) {
    const artifact = this.#kept(uri);
    if (!artifact.mimeType.startsWith('image/')) throw new CallError('INVALID_ARGS', 'it is not an image');
    artifact.isShown = true;
    return undefined;
  }
}

/* SPDX-License-Identifier: MIT */
/*
 * servers - the globals of code mode's scripts: other servers' tools as functions.
 *
 * A trusted preload: it runs in the template before the realm is locked down, so it
 * holds the original built-ins even if a call replaces them later. It enforces nothing:
 * the host decides what is allowed, from the requests that it receives. These,
 * including the line number, come from the code and prove nothing.
 *
 * Evaluates to a function of (names, host, options, finder, digitsOf):
 *   names    array of the servers' names, any strings
 *   host     name of the host function, "codemode" or "a.b"; it may be exposed before
 *            or after this runs, and is looked up when first called
 *   options  { sleepMs }: the longest sleep(); without it sleep is the realm's
 *   finder   what discover.js evaluates to
 *   digitsOf what digits.js makes of declarations.js; undefined: for a host whose arguments
 *            are Numbers anyway
 * It makes the globals servers, ToolError, discover, progress, artifact, show.
 *
 * The host function is called with an operation first:
 *   ('call', server, tool, args, { line, raw, timeoutMs })   object; raw: boolean
 *   ('discover', query, { line, server, tool, detail })      unset ones are missing
 *   ('progress', progress, total, message)                   numbers or null; string
 *   ('artifact', name, value, mimeType, { line, bytes })     any JSON; { base64 } if
 *                                                            bytes; mimeType or null
 *   ('read', uri, { line })                                  of an artifact: gives
 *                                                            { mimeType, text | base64 }
 *   ('show', uri, { line })                                  of an image, to the model
 *   ('fault', code, message)                                 a ToolError was made here
 * and answers (answers to 'progress' and 'fault' are ignored) with one of
 *   { value }                                     what the code gets; may be missing; of
 *                                                 'discover': docs, and { absent }
 *   { json }                                      the same as JSON, if it may have integers
 *                                                 beyond 2^53 - 1
 *   { error: { code, message, retryable } }       thrown as ToolError
 * An error of the host function itself becomes a ToolError with code UNAVAILABLE, or
 * with its own code if it has one.
 */
(function (names, host, options, finder, digitsOf) {
  'use strict';
  const { apply, defineProperty, getPrototypeOf, ownKeys } = Reflect;
  const { create, freeze } = Object;
  const { isArray } = Array;
  const { isView } = ArrayBuffer;
  const ErrorOf = Error, PromiseOf = Promise, ProxyOf = Proxy, NumberOf = Number;
  const BytesOf = Uint8Array;
  const { isFinite } = Number;
  const uncurry = (f) => (self, ...args) => apply(f, self, args);
  const then = uncurry(Promise.prototype.then);
  const indexOf = uncurry(String.prototype.indexOf);
  const slice = uncurry(String.prototype.slice);
  const charCodeAt = uncurry(String.prototype.charCodeAt);
  const toBase64 = uncurry(Uint8Array.prototype.toBase64);
  const { fromBase64 } = Uint8Array; /* needs no receiver */
  const { toPrimitive } = Symbol;
  const toLowerCase = uncurry(String.prototype.toLowerCase);
  const split = uncurry(String.prototype.split);
  const getter = (object, name) => uncurry(Reflect.getOwnPropertyDescriptor(object, name).get);
  const bufferOf = getter(getPrototypeOf(Uint8Array.prototype), 'buffer');
  const offsetOf = getter(getPrototypeOf(Uint8Array.prototype), 'byteOffset');
  const bytesOf = getter(getPrototypeOf(Uint8Array.prototype), 'byteLength');
  const lengthOf = getter(ArrayBuffer.prototype, 'byteLength');
  const { min, max } = Math;
  const { parse, stringify } = JSON;
  const global = globalThis;
  const warn = global.console !== undefined ? global.console.warn : undefined;
  const digits = digitsOf === undefined ? undefined
    : digitsOf(typeof warn === 'function' ? warn : () => {});
  const CODE = '@code.js:'; /* precedes the position in a stack frame of the code */
  const LINES = 10000000;
  const TIMEOUT_MAX = 4294967295; /* the most that the host accepts */
  const ASKED_MAX = 'the limit on questions of one run is reached: ask less often'; // code_mode.h
  const TOO_LARGE = 'it is too large to be handed over in one piece: keep or send it in parts';

  const put = (object, name, value, enumerable) =>
    defineProperty(object, name, { value, writable: true, enumerable, configurable: true });

  /* ---- errors -------------------------------------------------------------- */

  class ToolError extends ErrorOf {}
  put(ToolError.prototype, 'name', 'ToolError', false);
  /* In a run's result the realm writes the error like any other. JSON.stringify() in
   * the code would lose its text, so there it gets toJSON. */
  const { get: leaving } = Reflect.getOwnPropertyDescriptor(ErrorOf.prototype, 'toJSON');
  function spelled() {
    return { name: this.name, message: this.message, ...this };
  }
  defineProperty(ToolError.prototype, 'toJSON', {
    get() {
      const whole = apply(leaving, this, []);
      return whole !== undefined ? whole : spelled;
    },
    set(own) {
      put(this, 'toJSON', own, true);
    },
    enumerable: false, configurable: true,
  });

  /* Keep only the code's own frames, as in every stack. */
  function ownFrames(stack) {
    const lines = split(stack, '\n');
    let own = '';
    for (let i = 0; i < lines.length; i++)
      if (indexOf(lines[i], CODE) >= 0) own += (own === '' ? '' : '\n') + lines[i];
    return own;
  }

  /* A ToolError is created at the call, directly by `new`, so that its stack shows the
   * line; each extra frame costs time. This fills it in if the call fails. */
  function describe(error, server, tool, fault) {
    const { stack } = error;
    put(error, 'stack', typeof stack === 'string' ? ownFrames(stack) : '', false);
    put(error, 'message', fault.message, false);
    put(error, 'server', server, true);
    put(error, 'tool', tool, true);
    put(error, 'code', fault.code, true);
    put(error, 'retryable', fault.retryable === true, true);
    return error;
  }

  /* The line of the code's innermost frame, or 0, since code can turn stacks off. */
  function lineOf(error) {
    const { stack } = error;
    const at = typeof stack === 'string' ? indexOf(stack, CODE) : -1;
    let line = 0;
    if (at < 0) return 0;
    for (let i = at + CODE.length; i < stack.length && line < LINES; i++) {
      const digit = charCodeAt(stack, i) - 48;
      if (digit < 0 || digit > 9) break;
      line = line * 10 + digit;
    }
    return line < LINES ? line : 0;
  }

  /* ---- the host ------------------------------------------------------------ */

  /* The realm's function for asking the host works with our own promises and errors;
   * the public one would create two of each per call. */
  const askHost = global[Symbol.for('glovebox.ask')];
  let isThere = false; /* was the host function found? a call's policy may lack it */

  function ask(args, resolve, no, check) {
    if (!isThere) {
      const path = split(host, '.');
      let at = global;
      for (let i = 0; i < path.length && at !== undefined && at !== null; i++) at = at[path[i]];
      if (typeof at !== 'function') throw new ErrorOf('no host to ask');
      isThere = true;
    }
    askHost(host, args, resolve, no, check);
  }

  /* Returns what the code got; undefined: an error. */
  function settle(answer, error, server, tool, settings, resolve, reject) {
    if (typeof answer === 'object' && answer !== null && answer.error === undefined) {
      if (typeof answer.absent === 'string' && typeof warn === 'function')
        warn(`not there, and not in what discover() found: ${answer.absent}; `
          + 'discover({ server }) says why');
      const value = answer.json === undefined ? answer.value
        : digits.given(answer.json, `${slice(server, 0, 64)}.${tool}`, settings.line);
      resolve(value);
      return value;
    }
    reject(describe(error, server, tool, typeof answer === 'object' && answer !== null
      ? answer.error : { code: 'UNAVAILABLE', message: 'the host did not answer' }));
    return undefined;
  }

  function ignore() {}

  /* Make an error and report it to the host, which then recognises it if it is not
   * caught. */
  function fault(error, server, tool, code, message) {
    try {
      ask(['fault', code, message], ignore, ignore);
    } catch {
      /* Without the report, the reply names the error less precisely. */
    }
    return describe(error, server, tool, { __proto__: null, code, message });
  }

  function reject(error, server, tool, code, message) {
    return new PromiseOf((_, no) => no(fault(error, server, tool, code, message)));
  }

  /* A message names the code's value arguments[at]; replace that by `name`. A message
   * about a cycle has it twice. */
  function named(message, at, name) {
    const ours = `arguments[${at}]`;
    if (name === undefined || indexOf(message, ours) !== 0) return message;
    const back = ' refers back to ';
    const cycle = indexOf(message, back + ours);
    const rest = cycle < 0 ? message.length : cycle;
    return name + slice(message, ours.length, rest)
      + (cycle < 0 ? '' : back + name + slice(message, cycle + back.length + ours.length));
  }

  /* Handle an exception of the host function: arguments that JSON cannot express, or a
   * limit. */
  function refuse(thrown, error, server, tool, no, at, name) {
    const known = typeof thrown === 'object' && thrown !== null;
    const code = known && typeof thrown.code === 'string' ? thrown.code : undefined;
    if (known && thrown.name === 'RangeError' && thrown.message === 'Out of memory') {
      no(fault(error, server, tool, 'INPUT_TOO_LARGE', TOO_LARGE));
      return;
    }
    if (code === 'ERR_HOST_CALLS') {
      no(describe(error, server, tool, { __proto__: null, code: 'CALL_LIMIT', message: ASKED_MAX }));
      return;
    }
    no(fault(error, server, tool,
      code === 'ERR_HOST_BYTES' ? 'INPUT_TOO_LARGE'
        : code !== undefined ? code : known && thrown.name === 'TypeError' ? 'INVALID_ARGS'
        : 'UNAVAILABLE',
      known && typeof thrown.message === 'string' ? named(thrown.message, at, name)
        : 'the host failed'));
  }

  /* at and name: which of args is the code's own value, and its name there. Other
   * objects in args must be plain: one without a prototype makes the engine write all
   * args as JSON in a slow way that takes several times the memory. */
  function request(error, server, tool, args, at, name) {
    return new PromiseOf((resolve, no) => {
      let isExact = digits === undefined || args[0] !== 'call';
      function fail(thrown) {
        const exact = isExact ? undefined : digits.exact(thrown, args);
        isExact = true;
        if (exact === undefined) refuse(thrown, error, server, tool, no, at, name);
        else if (exact.why !== undefined) no(fault(error, server, tool, 'INVALID_ARGS', exact.why));
        else if (exact.hasTexts) sendFitting(exact.value);
        else sendExact(exact.value);
      }
      function sendExact(value) {
        send([args[0], args[1], args[2], value, args[4]]);
      }
      /* Texts of digits are integers where the tool's schema wants them. */
      function sendFitting(value) {
        const asIs = () => sendExact(value);
        schemaOf(server, tool, (schema) => sendExact(digits.fit(value, schema)), asIs);
      }
      function send(sent) {
        try {
          ask(sent, (answer) => {
            const value = settle(answer, error, server, tool, args[4], resolve, no);
            return args[0] === 'call' ? value : undefined;
          }, fail, isExact ? undefined : digits.check);
        } catch (thrown) {
          fail(thrown);
        }
      }
      send(args);
    });
  }

  const schemas = create(null); /* by server and tool */

  function schemaOf(server, tool, resolve, no) {
    const key = stringify([server, tool]);
    if (schemas[key] !== undefined) {
      resolve(schemas[key]);
      return;
    }
    ask(['discover', '', { server }], (answer) => {
      const docs = answer?.value;
      for (let i = 0; isArray(docs) && i < docs.length; i++)
        if (docs[i].tool?.name === tool) schemas[key] = docs[i].tool.inputSchema;
      if (schemas[key] === undefined) no();
      else resolve(schemas[key]);
    }, no);
  }

  /* ---- names --------------------------------------------------------------- */

  /* 'my-server' is also my_server, unless another server has that name. */
  function plain(name) {
    let text = '';
    for (let i = 0; i < name.length; i++) {
      const c = charCodeAt(name, i);
      const isWord = c >= 97 && c <= 122 || c >= 65 && c <= 90 || c >= 48 && c <= 57;
      text += isWord ? name[i] : '_';
    }
    return text;
  }

  /* The edit distance of a and b, at most `most`. */
  function distance(a, b, most) {
    let row = [];
    for (let j = 0; j <= b.length; j++) row[j] = j;
    for (let i = 1; i <= a.length; i++) {
      const next = [i];
      let least = i;
      for (let j = 1; j <= b.length; j++) {
        next[j] = min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
        least = min(least, next[j]);
      }
      if (least > most) return most + 1;
      row = next;
    }
    return row[b.length];
  }

  function nearest(word, words) {
    const wanted = toLowerCase(word);
    let best, least = 1 + max(1, min(3, wanted.length >> 1));
    for (let i = 0; i < words.length; i++) {
      const there = toLowerCase(words[i]);
      const edits = indexOf(there, wanted) >= 0 && wanted.length > 1
        ? 1 : distance(wanted, there, least);
      if (edits < least) {
        best = words[i];
        least = edits;
      }
    }
    return best;
  }

  function listed() {
    let list = '';
    for (let i = 0; i < names.length && i < 20; i++) list += (i > 0 ? ', ' : '') + names[i];
    return names.length > 0 ? ` (there are: ${list}${names.length > 20 ? ', ...' : ''})` : '';
  }

  function unknownServer(name) {
    if (name === 'call' || HABITS[name] === 1)
      return `unknown server '${name}': write servers.NAME.call("tool", { name: value })`
        + listed();
    const meant = name.length <= 64 ? nearest(name, names) : undefined;
    return `unknown server '${slice(name, 0, 64)}'`
      + (meant !== undefined ? `: did you mean '${meant}'?` : '') + listed();
  }

  /* ---- servers ------------------------------------------------------------- */

  /* Names that await, JSON.stringify, the console and common habits look up. A tool of such
   * a name is reached only by call() (TAKEN in declarations.js has them, too). */
  const NEVER = {
    __proto__: null, then: 1, toJSON: 1, constructor: 1, toString: 1, valueOf: 1, inspect: 1,
    hasOwnProperty: 1, nodeType: 1, $$typeof: 1, prototype: 1, ['__proto__']: 1,
  };

  /* Those that turn a server into text, which cannot be returned or printed itself. */
  const SPELLED = { __proto__: null, toString: 1, toJSON: 1 };

  /* Names that other clients use for call(). */
  const HABITS = { __proto__: null, callTool: 1, call_tool: 1, invoke: 1, invokeTool: 1,
    execute: 1, executeTool: 1, run: 1, runTool: 1, use: 1, useTool: 1 };

  function notArguments(server, tool, args) {
    if (typeof args === 'string' && HABITS[tool] === 1)
      return `no method ${tool} (a tool of that name would take one object): write `
        + (plain(server) === server ? `servers.${server}` : `servers["${server}"]`)
        + `.call("${slice(args, 0, 64)}", { name: value })`;
    return `arguments are one object, such as { name: value }, not ${isArray(args)
      ? 'an array' : `a ${typeof args}`}`;
  }

  const CALL_OPTIONS = ['timeoutMs', 'raw'];
  const QUERY_OPTIONS = ['query', 'server', 'tool', 'detail'];

  /* What is wrong with options, or undefined. An unknown option is refused: a known one was
   * meant, and the call would be different without it. */
  function wrongOptions(options, known) {
    if (options === undefined || options === null) return undefined;
    if (typeof options !== 'object' || isArray(options))
      return `opts is an object, such as { ${known[0]}: value }, not ${isArray(options)
        ? 'an array' : `a ${typeof options}`}`;
    const keys = ownKeys(options);
    for (let i = 0; i < keys.length; i++) {
      let is = typeof keys[i] !== 'string', list = '';
      for (let k = 0; k < known.length; k++) {
        is = is || keys[i] === known[k];
        list += (k > 0 ? ', ' : '') + known[k];
      }
      if (is) continue;
      const meant = keys[i].length <= 64 ? nearest(keys[i], known) : undefined;
      return `unknown option '${slice(keys[i], 0, 64)}': `
        + (meant !== undefined ? `did you mean '${meant}'?` : `there are ${list}`);
    }
    return undefined;
  }

  function callTool(server, tool, args, settings) {
    const error = new ToolError();
    const line = lineOf(error);
    if (typeof tool !== 'string')
      return reject(error, server, '', 'INVALID_ARGS', 'the name of the tool is a string');
    if (args === undefined || args === null) args = {};
    if (typeof args !== 'object' || isArray(args))
      return reject(error, server, tool, 'INVALID_ARGS', notArguments(server, tool, args));
    const wrong = wrongOptions(settings, CALL_OPTIONS);
    if (wrong !== undefined) return reject(error, server, tool, 'INVALID_ARGS', wrong);
    const given = settings !== undefined && settings !== null ? settings : {};
    const timeout = given.timeoutMs === null ? undefined : given.timeoutMs;
    if (timeout !== undefined && !(typeof timeout === 'number' && timeout > 0 && isFinite(timeout)))
      return reject(error, server, tool, 'INVALID_ARGS',
        'opts.timeoutMs is a number of milliseconds, more than 0');
    return request(error, server, tool, ['call', server, tool, args, {
      line, raw: given.raw === true,
      timeoutMs: timeout === undefined ? undefined : max(1, min(timeout, TIMEOUT_MAX)),
    }], 3, 'args');
  }

  function listTools(server, query) {
    const error = new ToolError();
    const words = query === undefined || query === null ? '' : `${query}`;
    const docs = request(error, server, '', ['discover', words, { line: lineOf(error), server }]);
    return then(docs, (found) => isArray(found)
      ? finder.rank(found, words).map((doc) => doc.tool) : found);
  }

  function makeServer(name) {
    const own = create(null);
    const tools = create(null);
    const spell = () => `[server ${name}: await servers${plain(name) === name ? `.${name}`
      : `[${stringify(name)}]`}.tools() lists its tools]`;
    put(own, 'call', (tool, args, settings) => callTool(name, tool, args, settings), true);
    put(own, 'tools', (query) => listTools(name, query), true);
    return new ProxyOf(freeze(own), {
      __proto__: null,
      get(_, key) {
        if (key === 'call' || key === 'tools') return own[key];
        if (key === toPrimitive || SPELLED[key] === 1) return spell;
        if (typeof key !== 'string' || NEVER[key] === 1) return undefined;
        if (tools[key] === undefined)
          tools[key] = (args, settings, ...more) =>
            callTool(name, key, args, more.length > 0 ? undefined : settings); /* list.map() */
        return tools[key];
      },
    });
  }

  const known = create(null);
  const aliases = create(null);
  for (let i = 0; i < names.length; i++)
    if (known[names[i]] === undefined) put(known, names[i], makeServer(names[i]), true);
  for (let i = 0; i < names.length; i++) {
    const other = plain(names[i]);
    if (known[other] === undefined)
      aliases[other] = aliases[other] === undefined ? known[names[i]] : null;
  }

  const spellServers = () => `[servers${listed()}]`;
  put(global, 'servers', new ProxyOf(freeze(known), {
    __proto__: null,
    get(_, key) {
      if (key === toPrimitive) return spellServers;
      if (typeof key !== 'string') return undefined;
      if (known[key] !== undefined) return known[key];
      if (aliases[key] !== undefined && aliases[key] !== null) return aliases[key];
      if (key === 'toString') return spellServers;
      if (NEVER[key] === 1) return undefined;
      throw fault(new ToolError(), slice(key, 0, 64), '', 'NOT_FOUND', unknownServer(key));
    },
  }), false);
  put(global, 'ToolError', ToolError, false);

  /* ---- other globals ------------------------------------------------------- */

  const text = (value) => value === undefined || value === null ? undefined : `${value}`;
  const number = (value) => typeof value === 'number' && isFinite(value) ? value : null;

  function discover(asked, settings) {
    const error = new ToolError();
    const given = typeof asked === 'object' && asked !== null ? asked
      : typeof settings === 'object' && settings !== null ? settings : {};
    const wrong = wrongOptions(typeof asked === 'object' && asked !== null ? asked : settings,
      QUERY_OPTIONS);
    if (wrong !== undefined) return reject(error, '', '', 'INVALID_ARGS', wrong);
    const words = typeof asked === 'object' && asked !== null ? asked.query : asked;
    if (text(words) !== undefined && typeof words !== 'string')
      return reject(error, '', '', 'INVALID_ARGS', "'query' is a string of keywords");
    const query = {
      words: words === undefined || words === null ? '' : words,
      server: text(given.server) ?? '', tool: text(given.tool) ?? '', detail: text(given.detail) ?? '',
    };
    const { server, tool, detail } = query;
    const docs = request(error, server, '',
      ['discover', query.words, { line: lineOf(error), server, tool, detail }]);
    return then(docs, (found) => isArray(found) ? finder.find(query, found) : found);
  }

  /* At most TELLING_MAX messages are open at once; of further ones the latest is kept. A
   * run sends at most TOLD_MAX, a separate quota (code.c), so that progress does not use
   * up calls. */
  const TOLD_MAX = 5000, TELLING_MAX = 32;
  let told = 0, telling = 0, latest;

  function heard() {
    const next = latest;
    telling--;
    latest = undefined;
    if (next !== undefined) tell(next);
  }

  function tell(said) {
    if (telling >= TELLING_MAX) latest = said;
    if (telling >= TELLING_MAX || told >= TOLD_MAX) return;
    told++;
    telling++;
    try {
      ask(said, heard, heard);
    } catch {
      telling--; /* progress was not sent; the code must not fail for that */
    }
  }

  /* progress('text'), progress(0.5, 'text'), progress(3, 10, 'text'), and the protocol's
   * progress({ progress: 3, total: 10, message: 'text' }) */
  function progress(...args) {
    if (typeof args[0] === 'object' && args[0] !== null)
      args = [args[0].progress, args[0].total, args[0].message];
    let message = '', count = 0;
    const figures = [null, null];
    for (let i = 0; i < args.length && i < 3; i++) {
      if (typeof args[i] === 'string') message = slice(args[i], 0, 2000);
      else if (count < 2) figures[count++] = number(args[i]);
    }
    tell(['progress', figures[0], figures[1], message]);
  }

  /* The bytes of a buffer or a view of one, else undefined. */
  function asBytes(value) {
    if (typeof value !== 'object' || value === null) return undefined;
    try {
      return isView(value)
        ? new BytesOf(bufferOf(value), offsetOf(value), bytesOf(value))
        : new BytesOf(value, 0, lengthOf(value));
    } catch {
      return undefined;
    }
  }

  /* artifact(name, value) keeps the value for readers of the reply. It returns a promise
   * of { uri, bytes, mimeType }. */
  function artifact(name, value, mimeType) {
    const error = new ToolError();
    const kind = typeof value;
    if (kind === 'undefined')
      return reject(error, '', '', 'INVALID_ARGS',
        'the value is missing: artifact(name, value) keeps one');
    if (kind === 'function' || kind === 'symbol')
      return reject(error, '', '', 'INVALID_ARGS',
        `value is a ${kind}, which JSON cannot hold: give what is to be kept`);
    const bytes = asBytes(value);
    const settings = { line: lineOf(error), bytes: bytes !== undefined };
    return request(error, '', '', ['artifact', text(name) === undefined ? '' : text(name),
      bytes === undefined ? value : { base64: toBase64(bytes) },
      text(mimeType) === undefined ? null : text(mimeType), settings], 2, 'value');
  }

  /* The uri of an artifact, or of what artifact() gave; else undefined. */
  const uriOf = (given) => {
    const uri = typeof given === 'object' && given !== null ? given.uri : given;
    return typeof uri === 'string' ? uri : undefined;
  };

  /* Returns a promise of a text, the value of JSON, or bytes. */
  function readArtifact(given) {
    const error = new ToolError();
    const uri = uriOf(given);
    if (uri === undefined)
      return reject(error, '', '', 'INVALID_ARGS',
        'artifact.read(uri) takes the uri of an artifact, or what artifact() gave');
    const kept = request(error, '', '', ['read', uri, { line: lineOf(error) }]);
    return then(kept, (found) => found.base64 !== undefined ? fromBase64(found.base64)
      : found.mimeType === 'application/json' ? parse(found.text) : found.text);
  }
  put(artifact, 'read', readArtifact, false);

  /* show(image) lets the model see it: an artifact, or bytes with their type. */
  function show(image, mimeType) {
    const error = new ToolError();
    const line = lineOf(error);
    const sent = (uri) => request(error, '', '', ['show', uri, { line }]);
    const uri = uriOf(image);
    if (uri !== undefined) return sent(uri);
    if (asBytes(image) === undefined || typeof mimeType !== 'string')
      return reject(error, '', '', 'INVALID_ARGS',
        "show(image) takes what artifact() or a tool gave, { uri }, or bytes: show(bytes, 'image/png')");
    return then(artifact('image', image, mimeType), (kept) => sent(kept.uri));
  }

  const functions = { discover, progress, artifact, show };
  const made = ownKeys(functions);
  for (let i = 0; i < made.length; i++) put(global, made[i], functions[made[i]], false);
  put(global, Symbol.for('glovebox.discover'), finder, false);
  put(global, Symbol.for('glovebox.digits'),
    { input: digits?.input, result: digits?.result, servers: global.servers }, false);

  /* Warn of a sleep that the limit cuts, since the code relies on it. A realm of minimal
   * globals has no sleep of its own. */
  const { setTimeout } = global;
  const realmSleep = global.sleep ?? ((ms) => new PromiseOf((resolve) => setTimeout(resolve, ms)));
  const cap = options !== undefined && options !== null ? options.sleepMs : undefined;
  if (typeof cap === 'number' && typeof realmSleep === 'function') {
    put(global, 'sleep', (ms) => {
      const wanted = NumberOf(ms);
      if (wanted > cap && typeof warn === 'function')
        warn(`sleep(${wanted}) ends after ${cap} ms, the limit of one sleep`);
      return realmSleep(min(wanted, cap));
    }, false);
  }

  /* Runs in the template, whose host answers {}, to compile what every call runs. */
  const WARM_TIMES = 150;

  async function warmAll() {
    const nobody = () => {};
    for (let i = 0; i < WARM_TIMES; i++) {
      const name = names.length > 0 ? names[i % names.length] : '';
      const server = names.length > 0 ? global.servers[name] : makeServer(name);
      await server.warm({ i });
      await server.call('warm', { text: 'a' }, { raw: true });
      await server.tools('a');
      await discover('a');
      await artifact('a', 1);
      progress(1, 2, 'a');
      settle({ error: { code: 'A', message: 'a' } }, new ToolError(), name, 'a', {}, nobody, nobody);
      try {
        await global.servers['no such server'];
      } catch {
        /* expected: this is what gets warm */
      }
    }
  }

  /* Runs like a script with `count` calls at once. */
  async function warmOnce(count) {
    const calls = [];
    for (let i = 0; i < count; i++) {
      const server = names.length > 0 ? global.servers[names[i % names.length]] : makeServer('');
      calls[i] = server.warm({ i });
    }
    for (let i = 0; i < count; i++) await calls[i];
  }

  put(global, Symbol.for('glovebox.warm'), async (count) => {
    await (count > 0 ? warmOnce(count) : warmAll());
    isThere = false;
    told = telling = 0;
  }, false);
})

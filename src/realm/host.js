/* SPDX-License-Identifier: MIT */
/*
 * host - functions of the host, as promises. Besides console lines and the result,
 * everything leaves the realm through `start` and enters it through `answer`.
 *
 * Calls beyond the limit on calls at once wait here, in the memory of the code that
 * makes them. An error object is made with its call, so that its stack shows where.
 *
 * Evaluates to a function of (natives, control, explain, giveWay). Its value is what
 * the C side and the scripts of capabilities call.
 */
(function (natives, control, explain, giveWay) {
  'use strict';
  const { request, withdraw, limits, reached, depth } = natives;
  const { apply, defineProperty, deleteProperty, ownKeys, setPrototypeOf } = Reflect;
  const { stringify, parse } = JSON;
  const ErrorOf = Error, PromiseOf = Promise, TypeErrorOf = TypeError;
  const splitText = String.prototype.split;
  const includes = String.prototype.includes;
  const split = (text, by) => apply(splitText, text, [by]);
  const global = globalThis;
  const prototypes = {
    __proto__: null,
    TypeError: TypeError.prototype, RangeError: RangeError.prototype,
    SyntaxError: SyntaxError.prototype, EvalError: EvalError.prototype,
    URIError: URIError.prototype,
  };

  const open = { __proto__: null }; /* calls by id, sent or waiting */
  const waiting = { __proto__: null }; /* ids by place in the queue */
  const spaces = { __proto__: null }; /* exposed functions, by root name */
  let first = 0, last = 0; /* of the queue */
  let nextId = 1, flying = 0, calls = -1, atOnce = 0;

  function put(object, name, value, enumerable) {
    defineProperty(object, name, { value, writable: true, enumerable, configurable: true });
  }

  /* Keeps only the code's own frames, as in every stack. */
  function ownFrames(stack) {
    const lines = split(stack, '\n');
    let own = '';
    for (let i = 0; i < lines.length; i++)
      if (apply(includes, lines[i], ['@code.js:'])) own += (own === '' ? '' : '\n') + lines[i];
    return own;
  }

  function describe(error, name, message, code) {
    put(error, 'stack', ownFrames(error.stack), false);
    if (prototypes[name] !== undefined) setPrototypeOf(error, prototypes[name]);
    else if (name !== '' && name !== 'Error') put(error, 'name', name, false);
    put(error, 'message', message, false);
    if (code !== '') put(error, 'code', code, true);
    return error;
  }

  /* Encodes like a result: what JSON would silently lose is an error that names it.
   * A getter or toJSON of an argument may itself make a call. */
  function encode(args) {
    for (let i = 0; i < args.length; i++)
      if (typeof args[i] === 'symbol')
        throw new TypeErrorOf(
          `arguments[${i}] is a Symbol, which JSON cannot hold: use its description`);
    const before = control[0];
    control[0] = 2;
    try {
      return stringify(args);
    } catch (error) {
      control[0] = 0;
      const why = explain(args, error, 'arguments');
      throw why === undefined ? error : new TypeErrorOf(why);
    } finally {
      control[0] = before;
    }
  }

  /* The caller of ask() makes its own errors: it gets the parts. */
  function fail(entry, name, message, code) {
    entry.reject(entry.error !== undefined ? describe(entry.error, name, message, code)
      : { __proto__: null, name, message, code: code !== '' ? code : undefined });
  }

  /* request() returns 0: sent. 1: the host's limit on bytes is reached. 2: nested too deep
   * for the host. */
  function send(entry) {
    const refused = request(entry.id, entry.name, entry.text, entry.bytes);
    if (refused !== 0) {
      delete open[entry.id];
      if (refused === 2)
        fail(entry, 'TypeError', `the arguments are nested deeper than ${depth} levels`, '');
      else
        fail(entry, 'RangeError',
          `${entry.name}: the arguments of all calls together are over the limit`,
          'ERR_HOST_BYTES');
      return;
    }
    flying++;
    entry.text = entry.bytes = undefined;
    entry.sent = true;
  }

  function sendWaiting() {
    while (first < last && flying < atOnce) {
      const entry = open[waiting[first]];
      delete waiting[first++];
      if (entry !== undefined) send(entry);
    }
  }

  function begin(entry, args, check) {
    const { name } = entry;
    if (calls < 0) {
      const allowed = limits();
      calls = allowed[0];
      atOnce = allowed[1];
    }
    try {
      entry.text = encode(args);
      if (check !== undefined) check(entry.text);
    } catch (error) {
      entry.reject(error);
      return;
    }
    if (calls < 0) {
      fail(entry, 'TypeError', `${name}: functions of the host serve calls, not preloads`,
        'ERR_HOST_CALLS');
      return;
    }
    if (calls === 0) {
      reached();
      fail(entry, 'RangeError', `${name}: the limit on calls of the host is reached`,
        'ERR_HOST_CALLS');
      return;
    }
    calls--;
    entry.id = nextId++; /* assigned now: they are sent in order */
    open[entry.id] = entry;
    if (flying < atOnce) send(entry);
    else waiting[last++] = entry.id;
  }

  /* plain: resolve to the value alone, not to { value, bytes }. */
  function start(name, args, bytes, plain) {
    const entry = {
      __proto__: null, id: 0, name, text: undefined, bytes, plain, sent: false,
      error: new ErrorOf(), resolve: undefined, reject: undefined,
    };
    const promise = new PromiseOf((resolve, reject) => {
      entry.resolve = resolve;
      entry.reject = reject;
    });
    begin(entry, args);
    return { __proto__: null, id: entry.id, promise };
  }

  /* For preloads, which make their own promises and errors. Calls resolve(value) or
   * reject(error) when the answer comes, or at once; neither may throw. Errors have the form
   * { name, message, code }, except exceptions of the arguments, or of check, which is called
   * with their JSON. resolve returns the value that the code got as a result. */
  function ask(name, args, resolve, reject, check) {
    begin({
      __proto__: null, id: 0, name, text: undefined, bytes: undefined, plain: true, sent: false,
      error: undefined, resolve, reject,
    }, args, check);
  }

  function call(name, args, bytes) {
    return start(name, args, bytes, false).promise;
  }

  /* Rejects the promise as an AbortError, at once if the request was never sent. */
  function cancel(id) {
    const entry = open[id];
    if (entry === undefined) return;
    if (entry.sent) {
      withdraw(id);
      return;
    }
    delete open[id];
    fail(entry, 'AbortError', `${entry.name}: cancelled`, 'ABORT_ERR');
  }

  function answer(id, isError, json, bytes, name, message, code) {
    const entry = open[id];
    if (entry === undefined) return;
    delete open[id];
    flying--;
    sendWaiting();
    if (isError) {
      fail(entry, name, message, code);
      return;
    }
    const value = json === undefined ? undefined : parse(json);
    const taken = entry.resolve(entry.plain ? value : { __proto__: null, value, bytes });
    if (!entry.plain) known = undefined; /* a file or a response: its content is not kept */
    else remember(entry.error === undefined ? taken : value, json === undefined ? 0 : json.length);
  }

  /* The call's answers so far, for hints about members that none has. Undefined once they are
   * too many or too large to be kept. */
  const KNOWN_MAX = 64, KNOWN_UNITS_MAX = 1048576;
  let known = [], knownUnits = 0;

  function remember(value, units) {
    if (known === undefined || typeof value !== 'object' || value === null) return;
    knownUnits += units;
    if (known.length === KNOWN_MAX || knownUnits > KNOWN_UNITS_MAX) known = undefined;
    else put(known, known.length, value, true);
  }

  function answered() {
    return known;
  }

  /* A method of an object literal has no prototype and is not a constructor. */
  function makeFunction(name, own) {
    return {
      [own](...args) {
        return start(name, args, undefined, true).promise;
      },
    }[own];
  }

  /* False if a name is in use. */
  function expose(name) {
    const parts = split(name, '.');
    const root = parts[0];
    let at = spaces;

    if (spaces[root] === undefined && root in global && !giveWay(root)) return false;
    for (let i = 0; i < parts.length - 1; i++) {
      if (at[parts[i]] === undefined) {
        const space = {};
        put(at, parts[i], space, true);
        if (i === 0) put(global, root, space, false);
      }
      at = at[parts[i]];
      if (typeof at === 'function') return false;
    }
    const own = parts[parts.length - 1];
    if (apply(hasOwn, at, [own])) return false;
    const made = makeFunction(name, own);
    put(at, own, made, true);
    if (at === spaces) put(global, own, made, false);
    return true;
  }
  const hasOwn = Object.prototype.hasOwnProperty;

  /* Removes the functions, a line each, that the running call may not use. */
  function withhold(names) {
    const list = split(names, '\n');
    for (let i = 0; i < list.length; i++) remove(spaces, split(list[i], '.'), 0);
  }

  function remove(at, parts, depth) {
    const name = parts[depth];
    if (!apply(hasOwn, at, [name])) return;
    if (depth < parts.length - 1) {
      remove(at[name], parts, depth + 1);
      if (ownKeys(at[name]).length > 0) return;
    }
    deleteProperty(at, name);
    if (depth === 0) deleteProperty(global, name);
  }

  /* After our own runs in the template: restart the numbering of calls. */
  function forget() {
    nextId = 1;
    calls = -1;
    flying = first = last = 0;
    known = [];
    knownUnits = 0;
  }

  return { forget, call, start, ask, cancel, answer, answered, expose, withhold };
})

/* SPDX-License-Identifier: MIT */
/* abort - AbortController and AbortSignal, and events: a signal is an EventTarget. */
(function (natives, load) {
  'use strict';
  const { apply } = Reflect;
  const { tag } = natives;
  const DELAY_MAX = 2147483647; /* of one timer */
  const KEY = { __proto__: null }; /* the holder of this key may make a signal */

  function failure(message, name) {
    return new (load('exception').DOMException)(message, name);
  }

  /* No code can catch what a listener throws: report it as an unhandled rejection. */
  function report(error) {
    Promise.reject(error);
  }

  /* Does not use list methods: code may have changed them. */
  function append(list, item) {
    list[list.length] = item;
  }

  function find(list, type, callback) {
    for (let i = 0; i < list.length; i++)
      if (list[i].type === type && list[i].callback === callback) return i;
    return -1;
  }

  function remove(list, index) {
    if (index < 0) return;
    list[index].removed = true;
    for (let i = index; i + 1 < list.length; i++) list[i] = list[i + 1];
    list.length--;
  }

  function call(callback, target, event) {
    try {
      if (typeof callback === 'function') apply(callback, target, [event]);
      else callback.handleEvent(event);
    } catch (error) {
      report(error);
    }
  }

  let ownOf, hasListener;

  /* An event has only one target: it neither bubbles nor is captured. */
  class Event {
    #own;

    static {
      ownOf = (event) => event.#own;
    }

    constructor(type, init = undefined) {
      natives.need(arguments, 1, 'Event');
      this.#own = {
        __proto__: null, type: `${type}`, cancelable: !!init?.cancelable, bubbles: !!init?.bubbles, target: null,
        current: null, isCanceled: false, isStopped: false, timeStamp: natives.clock(),
      };
    }

    get type() { return this.#own.type; }

    get target() { return this.#own.target; }

    get currentTarget() { return this.#own.current; }

    get bubbles() { return this.#own.bubbles; }

    get cancelable() { return this.#own.cancelable; }

    get defaultPrevented() { return this.#own.isCanceled; }

    get timeStamp() { return this.#own.timeStamp; }

    preventDefault() { this.#own.isCanceled ||= this.#own.cancelable; }

    stopPropagation() {}

    stopImmediatePropagation() { this.#own.isStopped = true; }
  }
  tag(Event.prototype, 'Event');

  class EventTarget {
    #listeners = [];

    static {
      hasListener = (target) => target.#listeners.length > 0;
    }

    addEventListener(type, callback, options = undefined) {
      const name = `${type}`, once = options?.once, signal = options?.signal;
      if (signal !== undefined && !isSignal(signal))
        throw new TypeError('addEventListener: the signal is not an AbortSignal');
      if (callback === null || callback === undefined || signal?.aborted) return;
      if (typeof callback !== 'function' && typeof callback !== 'object')
        throw new TypeError('addEventListener: the listener is not a function');
      if (find(this.#listeners, name, callback) >= 0) return;
      append(this.#listeners, { __proto__: null, type: name, callback, once: !!once, removed: false });
      if (signal !== undefined) onAbort(signal, () => this.removeEventListener(name, callback));
    }

    removeEventListener(type, callback) {
      remove(this.#listeners, find(this.#listeners, `${type}`, callback));
    }

    dispatchEvent(event) {
      const own = ownOf(event);
      if (own.current !== null) throw failure('the event is being dispatched', 'InvalidStateError');
      const list = [], count = this.#listeners.length;
      for (let i = 0; i < count; i++) list[i] = this.#listeners[i];
      own.target = own.current = this;
      for (let i = 0; i < count && !own.isStopped; i++) {
        const { type, callback, once, removed } = list[i];
        if (type !== own.type || removed) continue;
        if (once) remove(this.#listeners, find(this.#listeners, type, callback));
        call(callback, this, event);
      }
      own.current = null;
      own.isStopped = false; /* it may be dispatched again */
      return !own.isCanceled;
    }
  }
  tag(EventTarget.prototype, 'EventTarget');

  let isSignal, stateOf;

  class AbortSignal extends EventTarget {
    #state = {
      __proto__: null, aborted: false, reason: undefined, actions: [], dependents: [], onabort: null,
    };

    static {
      isSignal = (value) => typeof value === 'object' && value !== null && #state in value;
      stateOf = (signal) => signal.#state;
    }

    constructor(key = undefined) {
      if (key !== KEY) throw new TypeError('a signal is made by an AbortController');
      super();
    }

    static abort(reason = undefined) {
      const signal = new AbortSignal(KEY);
      mark(signal, reason);
      return signal;
    }

    static any(signals) {
      const sources = [];
      for (const signal of signals) {
        if (!isSignal(signal)) throw new TypeError('AbortSignal.any: an item is not an AbortSignal');
        append(sources, signal);
      }
      return makeSignal(sources);
    }

    static timeout(milliseconds) {
      const ms = +milliseconds;
      if (!(ms >= 0 && ms <= 9007199254740991))
        throw new TypeError('AbortSignal.timeout needs a number of milliseconds');
      const signal = new AbortSignal(KEY);
      waitFor(ms, () => abortSignal(signal,
        failure('the operation took longer than it may', 'TimeoutError')));
      return signal;
    }

    get aborted() { return this.#state.aborted; }

    get reason() { return reasonOf(this); }

    throwIfAborted() {
      if (this.#state.aborted) throw reasonOf(this);
    }

    get onabort() { return this.#state.onabort?.own ?? null; }

    /* The listener keeps its place when its function is replaced. */
    set onabort(own) {
      const state = this.#state, isListener = typeof own === 'function';
      if (!isListener) {
        if (state.onabort !== null) this.removeEventListener('abort', state.onabort.listener);
        state.onabort = null;
        return;
      }
      if (state.onabort !== null) {
        state.onabort.own = own;
        return;
      }
      const entry = { __proto__: null, own, listener: (event) => apply(entry.own, this, [event]) };
      state.onabort = entry;
      this.addEventListener('abort', entry.listener);
    }
  }
  tag(AbortSignal.prototype, 'AbortSignal');

  /* The default reason is made on first use. */
  function reasonOf(signal) {
    const state = stateOf(signal);
    if (state.aborted && state.reason === undefined)
      state.reason = failure('This operation was aborted', 'AbortError');
    return state.reason;
  }

  function mark(signal, reason) {
    const state = stateOf(signal);
    state.aborted = true;
    state.reason = reason;
  }

  function tell(signal) {
    const state = stateOf(signal), { actions } = state;
    state.actions = [];
    state.dependents = [];
    for (let i = 0; i < actions.length; i++)
      if (actions[i].action !== undefined) actions[i].action();
    if (hasListener(signal)) signal.dispatchEvent(new Event('abort'));
  }

  function abortSignal(signal, reason) {
    const { aborted, dependents } = stateOf(signal);
    if (aborted) return;
    const all = [signal];
    mark(signal, reason);
    for (let i = 0; i < dependents.length; i++) {
      if (stateOf(dependents[i]).aborted) continue;
      mark(dependents[i], reasonOf(signal));
      append(all, dependents[i]);
    }
    for (let i = 0; i < all.length; i++) tell(all[i]);
  }

  /* The returned function cancels the action. */
  function onAbort(signal, action) {
    const entry = { __proto__: null, action };
    append(stateOf(signal).actions, entry);
    return () => {
      entry.action = undefined;
    };
  }

  /* A signal that aborts when the first of its sources does. */
  function makeSignal(sources) {
    const made = new AbortSignal(KEY);
    for (let i = 0; i < sources.length; i++)
      if (stateOf(sources[i]).aborted) {
        mark(made, reasonOf(sources[i]));
        return made;
      }
    for (let i = 0; i < sources.length; i++) {
      append(stateOf(sources[i]).dependents, made);
      /* A composed source is only marked when its own sources abort: pass it on. */
      onAbort(sources[i], () => abortSignal(made, reasonOf(sources[i])));
    }
    return made;
  }

  class AbortController {
    #signal = new AbortSignal(KEY);

    get signal() { return this.#signal; }

    abort(reason = undefined) {
      abortSignal(this.#signal, reason);
    }
  }
  tag(AbortController.prototype, 'AbortController');

  /* Delays longer than one timer can wait take several steps. */
  function waitFor(ms, action) {
    const step = ms < DELAY_MAX ? ms : DELAY_MAX;
    natives.setTimeout(() => (ms > step ? waitFor(ms - step, action) : action()), step);
  }
  append(natives.views, (value) => (isSignal(value)
    ? { __proto__: null, fields: { __proto__: null, aborted: stateOf(value).aborted, reason: reasonOf(value) } }
    : undefined));

  const own = { __proto__: null, isSignal, makeSignal, onAbort };
  return { Event, EventTarget, AbortController, AbortSignal, own };
})

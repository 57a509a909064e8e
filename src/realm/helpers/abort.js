/* SPDX-License-Identifier: MIT */
/* abort - AbortController and AbortSignal, and the EventTarget that a signal is. */
(function (natives, load) {
  'use strict';
  const { apply, defineProperty } = Reflect;
  const PromiseOf = Promise, TypeErrorOf = TypeError;
  const DELAY_MAX = 2147483647; /* of one timer */
  const KEY = { __proto__: null }; /* who has it may make a signal */
  const append = (list, item) => {
    list[list.length] = item;
  };
  const tag = (of, value) =>
    defineProperty(of.prototype, Symbol.toStringTag, { value, configurable: true });

  function failure(message, name) {
    return new (load('exception').DOMException)(message, name);
  }

  /* What a listener throws is nobody's to catch: it is shown like a rejection. */
  function report(error) {
    new PromiseOf((_, reject) => reject(error));
  }

  let hasListener;

  class EventTarget {
    #listeners = [];

    static {
      hasListener = (target) => target.#listeners.length > 0;
    }

    addEventListener(type, callback, options = undefined) {
      const name = `${type}`;
      const { capture, once, passive, signal } = typeof options === 'object' && options !== null
        ? options : { capture: options };
      if (signal !== undefined && !isSignal(signal))
        throw new TypeErrorOf('addEventListener: the signal is not an AbortSignal');
      if (callback === null || callback === undefined || signal?.aborted) return;
      if (typeof callback !== 'function' && typeof callback !== 'object')
        throw new TypeErrorOf('addEventListener: the listener is not a function');
      if (this.#find(name, callback, !!capture) >= 0) return;
      append(this.#listeners, {
        __proto__: null, type: name, callback, capture: !!capture, once: !!once, passive: !!passive, removed: false,
      });
      if (signal !== undefined)
        onAbort(signal, () => this.removeEventListener(name, callback, !!capture));
    }

    removeEventListener(type, callback, options = undefined) {
      const capture = typeof options === 'object' && options !== null ? options.capture : options;
      this.#remove(this.#find(`${type}`, callback, !!capture));
    }

    dispatchEvent(event) {
      const { Event, own: { isDispatched, isStopped, setTarget } } = load('event');
      if (typeof event !== 'object' || event === null || !(event instanceof Event))
        throw new TypeErrorOf('dispatchEvent: an Event is needed');
      if (isDispatched(event))
        throw failure('the event is being dispatched', 'InvalidStateError');
      const { type } = event, all = this.#listeners;
      const count = all.length, list = [];
      for (let i = 0; i < count; i++) list[i] = all[i];
      for (let i = 0; i < count && !isStopped(event); i++)
        if (list[i].type === type && !list[i].removed) this.#call(list[i], event, setTarget);
      setTarget(event, this, null, false);
      return !event.defaultPrevented;
    }

    #call(listener, event, setTarget) {
      const { callback } = listener;
      if (listener.once) this.#remove(this.#indexOf(listener));
      setTarget(event, this, this, listener.passive);
      try {
        if (typeof callback === 'function') apply(callback, this, [event]);
        else callback.handleEvent(event);
      } catch (error) {
        report(error);
      }
    }

    #indexOf(listener) {
      for (let i = 0; i < this.#listeners.length; i++) if (this.#listeners[i] === listener) return i;
      return -1;
    }

    #find(type, callback, capture) {
      for (let i = 0; i < this.#listeners.length; i++) {
        const each = this.#listeners[i];
        if (each.type === type && each.callback === callback && each.capture === capture) return i;
      }
      return -1;
    }

    #remove(index) {
      if (index < 0) return;
      const list = this.#listeners;
      list[index].removed = true;
      for (let i = index; i + 1 < list.length; i++) list[i] = list[i + 1];
      list.length--;
    }
  }
  tag(EventTarget, 'EventTarget');

  let abortSignal, makeSignal, onAbort, isSignal, viewSignal;

  class AbortSignal extends EventTarget {
    #isAborted = false;
    #reason = undefined;
    #actions = []; /* of ours, before any listener */
    #dependents = [];
    #onabort = null;

    static {
      isSignal = (value) => typeof value === 'object' && value !== null && #reason in value;
      viewSignal = (value) => (isSignal(value)
        ? { __proto__: null, fields: { __proto__: null, aborted: value.#isAborted, reason: value.#reason } }
        : undefined);

      /* Aborted with the first of its sources. */
      makeSignal = (sources) => {
        const made = new AbortSignal(KEY);
        for (let i = 0; i < sources.length; i++)
          if (sources[i].#isAborted) {
            made.#mark(sources[i].#reason);
            return made;
          }
        for (let i = 0; i < sources.length; i++) {
          append(sources[i].#dependents, made);
          /* A source that is made of others itself is marked with them, and passes it on. */
          onAbort(sources[i], () => abortSignal(made, sources[i].#reason));
        }
        return made;
      };

      abortSignal = (signal, reason) => {
        if (signal.#isAborted) return;
        const all = [signal];
        signal.#mark(reason);
        for (let i = 0; i < signal.#dependents.length; i++) {
          const other = signal.#dependents[i];
          if (other.#isAborted) continue;
          other.#mark(signal.#reason);
          append(all, other);
        }
        for (let i = 0; i < all.length; i++) all[i].#tell();
      };

      /* Its value takes the action back. */
      onAbort = (signal, action) => {
        const entry = { __proto__: null, action };
        append(signal.#actions, entry);
        return () => {
          entry.action = undefined;
        };
      };
    }

    constructor(key = undefined) {
      if (key !== KEY) throw new TypeErrorOf('a signal is made by an AbortController');
      super();
    }

    static abort(reason = undefined) {
      const signal = new AbortSignal(KEY);
      signal.#mark(reason);
      return signal;
    }

    static any(signals) {
      const sources = [];
      for (const signal of signals) {
        if (!isSignal(signal)) throw new TypeErrorOf('AbortSignal.any: an item is not an AbortSignal');
        append(sources, signal);
      }
      return makeSignal(sources);
    }

    static timeout(milliseconds) {
      const ms = +milliseconds;
      if (!(ms >= 0 && ms <= 9007199254740991))
        throw new TypeErrorOf('AbortSignal.timeout needs a number of milliseconds');
      const signal = new AbortSignal(KEY);
      waitFor(ms, () => abortSignal(signal,
        failure('the operation took longer than it may', 'TimeoutError')));
      return signal;
    }

    get aborted() { return this.#isAborted; }

    get reason() { return this.#reason; }

    throwIfAborted() {
      if (this.#isAborted) throw this.#reason;
    }

    get onabort() { return this.#onabort?.own ?? null; }

    /* A listener that keeps its place while what it calls is exchanged. */
    set onabort(own) {
      const isListener = typeof own === 'function';
      if (!isListener) {
        if (this.#onabort !== null) this.removeEventListener('abort', this.#onabort.listener);
        this.#onabort = null;
        return;
      }
      if (this.#onabort !== null) {
        this.#onabort.own = own;
        return;
      }
      const entry = { __proto__: null, own, listener: (event) => apply(entry.own, this, [event]) };
      this.#onabort = entry;
      this.addEventListener('abort', entry.listener);
    }

    #mark(reason) {
      this.#isAborted = true;
      this.#reason = reason !== undefined ? reason
        : failure('This operation was aborted', 'AbortError');
    }

    #tell() {
      const actions = this.#actions;
      this.#actions = [];
      this.#dependents = [];
      for (let i = 0; i < actions.length; i++)
        if (actions[i].action !== undefined) actions[i].action();
      if (hasListener(this)) this.dispatchEvent(new (load('event').Event)('abort'));
    }
  }
  tag(AbortSignal, 'AbortSignal');

  class AbortController {
    #signal = new AbortSignal(KEY);

    get signal() { return this.#signal; }

    abort(reason = undefined) {
      abortSignal(this.#signal, reason);
    }
  }
  tag(AbortController, 'AbortController');

  /* Longer than one timer can wait, in several steps. */
  function waitFor(ms, action) {
    const step = ms < DELAY_MAX ? ms : DELAY_MAX;
    natives.setTimeout(() => (ms > step ? waitFor(ms - step, action) : action()), step);
  }
  append(natives.views, viewSignal);

  const own = { __proto__: null, isSignal, makeSignal, onAbort };
  return { EventTarget, AbortController, AbortSignal, own };
})

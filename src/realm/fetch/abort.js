/* SPDX-License-Identifier: MIT */
/* abort - AbortController and AbortSignal over the package's EventTarget. */
import { push, tag } from './primordials.js';

import {
  Event, EventTarget, getEventAttributeValue, setEventAttributeValue,
} from 'event-target-shim';
import { DOMException } from './corejs.js';

const KEY = { __proto__: null }; /* who has it may make a signal */
const DELAY_MAX = 2147483647; /* of one timer */

let startTimer; /* set by main.js; undefined: there are none */

export function setTimer(start) {
  startTimer = start;
}

let abortSignal, makeSignal, onAbort, isSignal;

export class AbortSignal extends EventTarget {
  #isAborted = false;
  #reason = undefined;
  #actions = []; /* of ours, before any listener */
  #dependents = [];

  static {
    isSignal = (value) => typeof value === 'object' && value !== null && #reason in value;

    /* Aborted with the first of its sources. */
    makeSignal = (sources) => {
      const made = new AbortSignal(KEY);
      for (let i = 0; i < sources.length; i++)
        if (sources[i].#isAborted) {
          made.#mark(sources[i].#reason);
          return made;
        }
      for (let i = 0; i < sources.length; i++) {
        push(sources[i].#dependents, made);
        /* A source that is made of others itself is marked with them, and tells it on. */
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
        push(all, other);
      }
      for (let i = 0; i < all.length; i++) all[i].#tell();
    };

    /* Its value takes the action back. */
    onAbort = (signal, action) => {
      const entry = { __proto__: null, action };
      push(signal.#actions, entry);
      return () => {
        entry.action = undefined;
      };
    };
  }

  constructor(key = undefined) {
    if (key !== KEY) throw new TypeError('a signal is made by an AbortController');
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
      if (!isSignal(signal)) throw new TypeError('AbortSignal.any: an item is no AbortSignal');
      push(sources, signal);
    }
    return makeSignal(sources);
  }

  static timeout(milliseconds) {
    const ms = +milliseconds;
    if (!(ms >= 0 && ms <= 9007199254740991))
      throw new TypeError('AbortSignal.timeout needs a number of milliseconds');
    if (startTimer === undefined) throw new TypeError('AbortSignal.timeout: there are no timers');
    const signal = new AbortSignal(KEY);
    waitFor(ms, () => abortSignal(signal,
      new DOMException('the operation took longer than it may', 'TimeoutError')));
    return signal;
  }

  get aborted() {
    return this.#isAborted;
  }

  get reason() {
    return this.#reason;
  }

  throwIfAborted() {
    if (this.#isAborted) throw this.#reason;
  }

  get onabort() {
    return getEventAttributeValue(this, 'abort');
  }

  set onabort(listener) {
    setEventAttributeValue(this, 'abort', listener);
  }

  #mark(reason) {
    this.#isAborted = true;
    this.#reason = reason !== undefined ? reason
      : new DOMException('the operation was aborted', 'AbortError');
  }

  #tell() {
    const actions = this.#actions;
    this.#actions = [];
    this.#dependents = [];
    for (let i = 0; i < actions.length; i++)
      if (actions[i].action !== undefined) actions[i].action();
    this.dispatchEvent(new Event('abort'));
  }
}
tag(AbortSignal, 'AbortSignal');

export class AbortController {
  #signal = new AbortSignal(KEY);

  get signal() {
    return this.#signal;
  }

  abort(reason = undefined) {
    abortSignal(this.#signal, reason);
  }
}
tag(AbortController, 'AbortController');

/* Longer than one timer can wait, in several steps. */
function waitFor(ms, action) {
  const step = ms < DELAY_MAX ? ms : DELAY_MAX;
  startTimer(() => (ms > step ? waitFor(ms - step, action) : action()), step);
}

export { isSignal, makeSignal, onAbort };

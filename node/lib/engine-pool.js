// SPDX-License-Identifier: MIT
/*
 * engine-pool - engines of which each serves one call at a time, where what the host
 * answers depends on the call: its function then knows whom it answers. Made as they are
 * needed; a few are kept.
 */
import { resultWithoutEngine } from './engine-cache.js';

export class EnginePool {
  #make;
  #most;
  #idle = [];
  #busy = new Set();
  #isDisposed = false;

  /**
   * make(serve): {engine, ready}, a new engine and when it can be used. Its functions call
   * serve(use): use(answers) is run with what was given for the call that is on it, or not
   * at all.
   */
  constructor(make, most = 4) {
    this.#make = make;
    this.#most = most;
  }

  #new() {
    const entry = { engine: undefined, ready: undefined, answers: undefined };
    const made = this.#make((use) => {
      if (entry.answers === undefined) throw new Error('the call has ended');
      return use(entry.answers);
    });
    /* An engine that could not be made ready could not start: its calls say why. */
    return Object.assign(entry, { engine: made.engine, ready: made.ready.catch(() => {}) });
  }

  /** Runs use(engine), which returns a promise of a result; answers: for its functions.
   * With a signal that is aborted no engine is made. */
  async use(answers, use, ...signals) {
    const early = resultWithoutEngine(this.#isDisposed, signals);
    if (early !== undefined) return early;
    const entry = this.#idle.pop() ?? this.#new();

    entry.answers = answers;
    this.#busy.add(entry);
    try {
      await entry.ready;
      return await use(entry.engine);
    } finally {
      entry.answers = undefined;
      this.#busy.delete(entry);
      if (this.#isDisposed || this.#idle.length >= this.#most) entry.engine.dispose();
      else this.#idle.push(entry);
    }
  }

  /** Ends every engine; calls in flight end as ABORTED. */
  dispose() {
    this.#isDisposed = true;
    for (const { engine } of [...this.#idle, ...this.#busy]) engine.dispose();
    this.#idle = [];
  }
}

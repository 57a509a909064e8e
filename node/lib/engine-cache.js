// SPDX-License-Identifier: MIT
/*
 * engine-cache - one engine for each configuration that is asked for, kept between calls.
 *
 * Bounded: where there are more, the one that was used least recently goes, though never
 * one that is serving a call.
 */
/* As an engine resolves calls that never had a process. */
function without(code, error, hint) {
  return { ok: false, code, error, hint, executionMs: 0, logs: [], stats: {} };
}

/** The result of a call that needs no engine: one after dispose(), or of a signal that is
 * aborted already; else undefined. */
export function resultWithoutEngine(isDisposed, signals) {
  if (isDisposed) return without('UNAVAILABLE', 'dispose() was called', 'make a new one');
  if (signals.some((signal) => signal?.aborted)) return without('ABORTED', 'the call was aborted before it began', '');
  return undefined;
}

export class EngineCache {
  #make;
  #most;
  #entries = new Map(); /* least recently used first */
  #functions = new WeakMap(); /* the number that stands for one in a key */
  #next = 1;
  #isDisposed = false;

  /** make(config): a new engine. */
  constructor(make, most = 8) {
    this.#make = make;
    this.#most = most;
  }

  /** Runs use(engine), which returns a promise of a result, with the engine of this
   * configuration: a plain object. With a signal that is aborted no engine is made. */
  async use(config, use, ...signals) {
    const early = resultWithoutEngine(this.#isDisposed, signals);
    if (early !== undefined) return early;
    const key = this.#keyOf(config);
    const entry = this.#entries.get(key) ?? { engine: this.#make(config), calls: 0 };

    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.calls++;
    this.#shrink();
    try {
      return await use(entry.engine);
    } finally {
      entry.calls--;
      this.#shrink();
    }
  }

  /* The same options in another order are the same; a function is only itself. */
  #keyOf(config) {
    return JSON.stringify(config, (_, value) => {
      if (typeof value === 'function') return this.#numberOf(value);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
      return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
    });
  }

  #numberOf(func) {
    if (!this.#functions.has(func)) this.#functions.set(func, this.#next++);
    return { function: this.#functions.get(func) };
  }

  #shrink() {
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= this.#most) return;
      if (entry.calls > 0) continue;
      this.#entries.delete(key);
      entry.engine.dispose();
    }
  }

  /** Ends every engine; calls in flight end as ABORTED. */
  dispose() {
    this.#isDisposed = true;
    for (const { engine } of this.#entries.values()) engine.dispose();
    this.#entries.clear();
  }
}

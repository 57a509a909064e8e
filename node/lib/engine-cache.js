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

/* Of a configuration: far below, a cycle would have no end. */
const DEEPEST = 16;

/* Does its text say everything of it? */
function isData(value, isConfig) {
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return isConfig || !Object.values(value).some((each) => typeof each === 'function');
}

export class EngineCache {
  #make;
  #most;
  #entries = new Map(); /* least recently used first */
  #itself = new WeakMap(); /* the number that stands for a function or an object in a key */
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

  /* The same options in another order are the same. A function is only itself, and so is an
   * object with methods or of a class, a sink say: what is behind it is not to be seen. */
  #keyOf(value, depth = 0) {
    if (typeof value === 'string') return JSON.stringify(value);
    if (typeof value !== 'function' && (typeof value !== 'object' || value === null))
      return `${typeof value} ${String(value)}`;
    if (depth > DEEPEST || !isData(value, depth === 0)) return `#${this.#numberOf(value)}`;
    if (Array.isArray(value)) return `[${value.map((each) => this.#keyOf(each, depth + 1)).join()}]`;
    const names = Object.keys(value).filter((name) => value[name] !== undefined).sort();
    return `{${names.map((name) => `${JSON.stringify(name)}:${this.#keyOf(value[name], depth + 1)}`).join()}}`;
  }

  #numberOf(object) {
    if (!this.#itself.has(object)) this.#itself.set(object, this.#next++);
    return this.#itself.get(object);
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

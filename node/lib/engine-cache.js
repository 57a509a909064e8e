// SPDX-License-Identifier: MIT
/*
 * engine-cache - one engine for each configuration that is requested, kept between calls.
 *
 * Bounded: beyond the bound the least recently used engine is removed, but never one that is
 * serving a call.
 */
import { failure } from './box.js';

/** The result of a call that needs no engine: after dispose(), or with an aborted signal;
 * else undefined. */
export function resultWithoutEngine(isDisposed, signals) {
  if (isDisposed) return failure('UNAVAILABLE', 'dispose() was called', 'make a new one');
  if (signals.some((signal) => signal?.aborted)) return failure('ABORTED', 'the call was aborted before it began');
  return undefined;
}

/* Depth of a configuration; without it a cycle would never end. */
const DEEPEST = 16;

/* True if the value's text describes it completely. */
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
  #itself = new WeakMap(); /* the number for a function or an object in a key */
  #next = 1;
  #isDisposed = false;
  #ending = new Set(); /* promises of the ends of engines */

  /** make(config): a new engine. */
  constructor(make, most = 8) {
    this.#make = make;
    this.#most = most;
  }

  /** Runs use(engine), which returns a promise of a result, with the engine of this
    * configuration, a plain object. If a signal is aborted, no engine is made. */
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

  /* Order of options does not matter. A function equals only itself, and so does an object
   * with methods or of a class, such as a sink: its state is not visible. */
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
      this.#end(entry.engine);
    }
  }

  #end(engine) {
    const ended = engine.close().then(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  /** Ends every engine; calls in flight end as ABORTED. */
  dispose() {
    this.#isDisposed = true;
    for (const { engine } of this.#entries.values()) this.#end(engine);
    this.#entries.clear();
  }

  /** dispose(), and wait until every process has ended. */
  async close() {
    this.dispose();
    await Promise.all(this.#ending);
  }
}

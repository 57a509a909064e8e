// SPDX-License-Identifier: MIT
/*
 * SandboxEngine as people write it over isolated-vm: one isolate, a new context for each
 * call, data in as a copy, the value out as JSON.
 */
import ivm from 'isolated-vm';

const SHAPE = /^\s*(async\s+)?(\([^)]*\)\s*=>|[\w$]+\s*=>|function\b)/;
const FORBIDDEN = /\b(require|eval)\s*\(|\bimport\b/;

export class SandboxEngine {
  #options;
  #isolate;
  isDisposed = false;

  constructor({ timeout = 5000, memoryLimit = 128, maxOutputBytes = 1048576 } = {}) {
    this.#options = { timeout, memoryLimit, maxOutputBytes };
  }

  async execute(code, data, { signal } = {}) {
    const fail = (errorCode, error) => ({ ok: false, code: errorCode, error });
    if (this.isDisposed) return fail('UNAVAILABLE', 'disposed');
    if (signal?.aborted) return fail('ABORTED', 'aborted');
    if (!SHAPE.test(code) || FORBIDDEN.test(code)) return fail('INVALID_CODE', 'not a function');
    if (!this.#isolate || this.#isolate.isDisposed) this.#isolate = new ivm.Isolate({ memoryLimit: this.#options.memoryLimit });
    let context, script;
    const begin = performance.now();
    try {
      context = await this.#isolate.createContext();
      await context.global.set('__input', new ivm.ExternalCopy(data ?? null).copyInto({ release: true }));
      try {
        script = await this.#isolate.compileScript(`const __fn = (${code}\n);\nJSON.stringify(__fn(__input));`);
      } catch (error) {
        return fail('SYNTAX', error.message);
      }
      const text = await script.run(context, { timeout: this.#options.timeout });
      if (text === undefined) return { ok: true, value: undefined, executionMs: performance.now() - begin };
      if (Buffer.byteLength(text) > this.#options.maxOutputBytes) return fail('OUTPUT_TOO_LARGE', 'too large');
      return { ok: true, value: JSON.parse(text), executionMs: performance.now() - begin };
    } catch (error) {
      if (this.#isolate.isDisposed) return fail('MEMORY', error.message);
      return fail(/timed out/.test(error.message) ? 'TIMEOUT' : 'RUNTIME', error.message);
    } finally {
      if (!this.#isolate.isDisposed) {
        script?.release();
        context?.release();
      }
    }
  }

  dispose() {
    this.isDisposed = true;
    if (this.#isolate && !this.#isolate.isDisposed) this.#isolate.dispose();
  }
}

// SPDX-License-Identifier: MIT
/*
 * request - the request that a handler serves, and its AbortSignal: it ends every engine call
 * that is made while the request is served, whether the handler passed the signal on or not.
 * After a client disconnects, none of its calls keeps running.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

import { isObject } from './argument.js';
import { SandboxEngine } from './engine.js';
import { isSignal, unwatch, watch } from './listeners.js';

const requests = new AsyncLocalStorage();

/** Runs `serve` as the handling of a request; `signal` ends the request. */
export function serveRequest(signal, serve) {
  return requests.run({ signal }, serve);
}

/**
 * Runs `use` with a signal that is aborted as soon as one of the two is. Its listeners are
 * removed when the promise of `use` is settled: a signal may live long.
 */
export async function withEither(one, other, use) {
  if (one === undefined || other === undefined || one === other || !isSignal(one)) return use(one ?? other);
  const both = new AbortController();
  const watchers = [one, other].map((signal) => ({ signal, abort: () => both.abort(signal.reason) }));
  for (const watcher of watchers) {
    if (watcher.signal.aborted) watcher.abort();
    else watch(watcher.signal, watcher);
  }
  try {
    return await use(both.signal);
  } finally {
    for (const watcher of watchers) unwatch(watcher.signal, watcher);
  }
}

/** An engine whose calls end with the request during which they were made. */
export class RequestEngine extends SandboxEngine {
  execute(code, data, options = {}) {
    return withEither(options?.signal, requests.getStore()?.signal,
      (signal) => super.execute(code, data, isObject(options) ? { ...options, signal } : options));
  }

  run(call) {
    return withEither(call?.signal, requests.getStore()?.signal,
      (signal) => super.run(isObject(call) ? { ...call, signal } : call));
  }
}

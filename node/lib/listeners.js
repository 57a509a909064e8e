// SPDX-License-Identifier: MIT
//
// listeners - the embedder's functions that only receive reports. Sandboxed code decides when
// they run, so an exception of theirs, or an unhandled rejection of an async one, must not end
// the process.
import { messageOf } from './thrown.js';

/** Calls tell(); passes its exception or rejection to failed(error). */
export function guarded(tell, failed) {
  try {
    const told = tell();
    if (typeof told?.then === 'function') Promise.resolve(told).catch(failed);
  } catch (error) {
    failed(error);
  }
}

/** The listeners of one object: an exception in one becomes a warning, once for each. */
export class Listeners {
  #owner;
  #complaints = new Set(); // names of listeners that have thrown

  /** owner: 'a SandboxEngine'. */
  constructor(owner) {
    this.#owner = owner;
  }

  /** Calls the listener of that name through tell(). */
  call(name, tell) {
    guarded(tell, (error) => this.complain(name, error));
  }

  complain(name, error) {
    if (this.#complaints.has(name)) return;
    this.#complaints.add(name);
    process.emitWarning(`${name} of ${this.#owner} threw: ${messageOf(error)}`,
      { type: 'GloveboxWarning', code: 'GLOVEBOX_LISTENER' });
  }
}

/* ---- of an AbortSignal ----
 *
 * One listener for all that watch a signal: a server passes a connection's signal to every
 * call on it, and Node warns about the eleventh listener.
 */

const watched = new WeakMap(); // {calls, onAbort} by the signal

/** Call call.abort() when the signal, which has not aborted yet, aborts. */
export function watch(signal, call) {
  const known = watched.get(signal);
  if (known !== undefined) {
    known.calls.add(call);
    return;
  }
  const calls = new Set([call]);
  const onAbort = () => { // does not use `this`: a polyfill may not set it
    end(signal);
    for (const each of calls) each.abort();
  };
  watched.set(signal, { calls, onAbort });
  signal.addEventListener('abort', onAbort);
}

function end(signal) {
  const { onAbort } = watched.get(signal) ?? {};
  if (watched.delete(signal)) signal.removeEventListener('abort', onAbort);
}

/** Stop watching; the last one removes the listener. */
export function unwatch(signal, call) {
  const calls = watched.get(signal)?.calls;
  if (calls?.delete(call) && calls.size === 0) end(signal);
}

/** A signal, or an object that behaves like one (of another realm or a polyfill). */
export function isSignal(value) {
  return (
    typeof value === 'object' && value !== null && typeof value.aborted === 'boolean' &&
    typeof value.addEventListener === 'function' && typeof value.removeEventListener === 'function'
  );
}

// SPDX-License-Identifier: MIT
//
// signals - one listener for all that watch an AbortSignal: a server gives the signal of a
// connection to every call of it, and Node warns of the eleventh listener.

const watched = new WeakMap();

function onAbort() {
  const calls = watched.get(this);
  watched.delete(this);
  this.removeEventListener('abort', onAbort);
  for (const call of calls) call.abort();
}

/** Have call.abort() called when the signal, which has not aborted yet, aborts. */
export function watch(signal, call) {
  let calls = watched.get(signal);
  if (calls === undefined) {
    calls = new Set();
    watched.set(signal, calls);
    signal.addEventListener('abort', onAbort);
  }
  calls.add(call);
}

/** No longer; the last one takes the listener along. */
export function unwatch(signal, call) {
  const calls = watched.get(signal);
  if (calls === undefined || !calls.delete(call) || calls.size > 0) return;
  watched.delete(signal);
  signal.removeEventListener('abort', onAbort);
}

/** A signal, or something that says what a signal says (of another realm or a polyfill). */
export function isSignal(value) {
  return (
    typeof value === 'object' && value !== null && typeof value.aborted === 'boolean' &&
    typeof value.addEventListener === 'function' && typeof value.removeEventListener === 'function'
  );
}

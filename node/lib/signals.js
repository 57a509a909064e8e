// SPDX-License-Identifier: MIT
//
// signals - one listener for all that watch an AbortSignal: a server gives the signal of a
// connection to every call of it, and Node warns of the eleventh listener.

const watched = new WeakMap(); // {calls, onAbort} by the signal

/** Have call.abort() called when the signal, which has not aborted yet, aborts. */
export function watch(signal, call) {
  const known = watched.get(signal);
  if (known !== undefined) {
    known.calls.add(call);
    return;
  }
  const calls = new Set([call]);
  const onAbort = () => { // with no word of `this`: a polyfill may have none
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

/** No longer; the last one takes the listener along. */
export function unwatch(signal, call) {
  const calls = watched.get(signal)?.calls;
  if (calls?.delete(call) && calls.size === 0) end(signal);
}

/** A signal, or something that says what a signal says (of another realm or a polyfill). */
export function isSignal(value) {
  return (
    typeof value === 'object' && value !== null && typeof value.aborted === 'boolean' &&
    typeof value.addEventListener === 'function' && typeof value.removeEventListener === 'function'
  );
}

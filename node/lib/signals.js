// SPDX-License-Identifier: MIT
//
// signals - one listener for all that watch an AbortSignal: a server passes a connection's
// signal to every call on it, and Node warns about the eleventh listener.

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

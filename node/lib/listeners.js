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

// SPDX-License-Identifier: MIT
//
// listeners - functions of the embedder's that are only told something. Code in the box
// decides when: it must not be able to end the process by what one of them throws, at once
// or, as an async function does, by a promise that nobody else looks at.
import { messageOf } from './thrown.js';

/** Calls tell(); what it throws, or its promise is rejected with, is what failed(error) gets. */
export function guarded(tell, failed) {
  try {
    const told = tell();
    if (typeof told?.then === 'function') Promise.resolve(told).catch(failed);
  } catch (error) {
    failed(error);
  }
}

/** The listeners of one object: what one of them throws is a warning, once for each. */
export class Listeners {
  #owner;
  #complaints = new Set(); // names of those that have thrown

  /** owner: 'a SandboxEngine'. */
  constructor(owner) {
    this.#owner = owner;
  }

  /** Calls the listener of that name by tell(). */
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

/* SPDX-License-Identifier: MIT */
/* event - the class Event. A signal without listeners creates no events. */
(function (natives) {
  'use strict';
  const TypeErrorOf = TypeError;
  let setTarget, isStopped, isDispatched;

  class Event {
    #type;
    #init;
    #target = null;
    #current = null;
    #canceled = false;
    #isStopped = false;
    #passive = false;
    #timeStamp = natives.clock();

    static {
      isDispatched = (event) => event.#current !== null;
      isStopped = (event) => event.#isStopped;
      setTarget = (event, target, current, passive) => {
        event.#target = target;
        event.#current = current;
        event.#passive = passive;
        event.#isStopped &&= current !== null; /* it may be dispatched again */
      };
    }

    constructor(type, init = undefined) {
      if (arguments.length === 0) throw new TypeErrorOf('an Event needs its type');
      this.#type = `${type}`;
      this.#init = {
        __proto__: null, bubbles: !!init?.bubbles, cancelable: !!init?.cancelable, composed: !!init?.composed,
      };
    }

    get type() { return this.#type; }

    get target() { return this.#target; }

    get srcElement() { return this.#target; }

    get currentTarget() { return this.#current; }

    get eventPhase() { return this.#current === null ? 0 : 2; }

    get bubbles() { return this.#init.bubbles; }

    get cancelable() { return this.#init.cancelable; }

    get composed() { return this.#init.composed; }

    get defaultPrevented() { return this.#canceled; }

    get returnValue() { return !this.#canceled; }

    get isTrusted() { return false; }

    get timeStamp() { return this.#timeStamp; }

    composedPath() { return this.#current === null ? [] : [this.#current]; }

    preventDefault() { this.#canceled ||= this.#init.cancelable && !this.#passive; }

    stopPropagation() {} /* an event has only one target */

    stopImmediatePropagation() { this.#isStopped = true; }
  }
  natives.tag(Event.prototype, 'Event');

  const own = { __proto__: null, isDispatched, isStopped, setTarget };
  return { Event, own };
})

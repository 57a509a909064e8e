/* SPDX-License-Identifier: MIT */
/*
 * timers - setTimeout, setInterval, their clears, and sleep.
 *
 * Timers do not run by themselves: between jobs the C side waits until the next one is
 * due, then calls fire(). The list is sorted by due time, then by age. A cleared timer stays
 * in it until its turn, or until most of the list has been cleared.
 *
 * Evaluates to a function of (natives, due), where due[0] is the time of the next timer,
 * or Infinity. Its value is what the C side calls.
 */
(function (natives, due) {
  'use strict';
  const { clock, hasTimers } = natives;
  const { apply, defineProperty, deleteProperty } = Reflect;
  const { includes } = String.prototype;
  const global = globalThis;
  const PromiseOf = Promise, RangeErrorOf = RangeError, TypeErrorOf = TypeError;
  const TIMERS_MAX = 10000;
  const DELAY_MAX = 2147483647; /* milliseconds: the usual limit */
  const SPARE = 64; /* unused places of the list that are always allowed */

  const byId = { __proto__: null };
  let list = [], first = 0; /* the ones before `first` have run */
  let count = 0, nextId = 1;

  /* Call after each change of the list. */
  function update() {
    if (list.length > 2 * count + SPARE) {
      const kept = [];
      for (let i = first; i < list.length; i++)
        if (list[i].fn !== undefined) kept[kept.length] = list[i];
      list = kept;
      first = 0;
    }
    while (first < list.length && list[first].fn === undefined) first++;
    due[0] = first < list.length ? list[first].due : Infinity;
  }

  function insert(timer, ms) {
    let at = list.length;
    timer.due = clock() + ms;
    for (; at > first && list[at - 1].due > timer.due; at--) list[at] = list[at - 1];
    list[at] = timer;
    timer.isListed = true;
    count++;
    update();
  }

  function forget(timer) {
    delete byId[timer.id];
    timer.fn = timer.args = undefined;
  }

  function delayOf(value) {
    const ms = +value;
    if (ms > DELAY_MAX) throw new RangeErrorOf(`A delay is at most ${DELAY_MAX} ms (24.8 days)`);
    return ms > 0 ? ms : 0;
  }

  /* A preload may have kept the functions for a call without timers, and a timer of a
   * preload would run in every call. */
  function add(fn, ms, repeats, args) {
    const delay = delayOf(ms);
    if (!hasTimers()) throw new TypeErrorOf('This call has no timers');
    if (count >= TIMERS_MAX) throw new RangeErrorOf(`Too many timers: ${TIMERS_MAX} are waiting`);
    const timer = {
      __proto__: null, id: nextId++, due: 0, isListed: false, fn, args,
      interval: !repeats ? 0 : delay < 1 ? 1 : delay,
    };
    byId[timer.id] = timer;
    insert(timer, delay);
    return timer.id;
  }

  function start(callback, ms, repeats, args) {
    if (typeof callback !== 'function')
      throw new TypeErrorOf('The callback of a timer must be a function');
    return add(callback, ms, repeats, args);
  }

  function clear(id) {
    const timer = typeof id === 'number' ? byId[id] : undefined;
    if (timer === undefined) return;
    if (timer.isListed) count--;
    forget(timer);
    update();
  }

  /* Runs the first timer. A repeating one becomes the youngest of its new time, unless it
   * has cleared itself. */
  function fire() {
    const timer = list[first++], { fn, args, interval } = timer;
    count--;
    timer.isListed = false;
    if (interval === 0) forget(timer);
    update();
    apply(fn, undefined, args);
    if (timer.fn !== undefined) insert(timer, interval);
  }

  /* Methods of an object literal have no prototype and are not constructors. */
  const functions = {
    __proto__: null,
    setTimeout(callback, ms = undefined, ...args) {
      return start(callback, ms, false, args);
    },
    clearTimeout(id) {
      clear(id);
    },
    sleep(ms = undefined) {
      let done;
      const promise = new PromiseOf((resolve) => {
        done = resolve;
      });
      add(done, ms, false, []);
      return promise;
    },
    setInterval(callback, ms = undefined, ...args) {
      return start(callback, ms, true, args);
    },
    clearInterval(id) {
      clear(id);
    },
  };
  natives.setTimeout = functions.setTimeout;

  function install() {
    for (const name in functions)
      defineProperty(global, name, {
        __proto__: null, value: functions[name], writable: true, enumerable: false, configurable: true,
      });
  }

  /* Removes the functions whose names contain part. */
  function remove(part) {
    for (const name in functions)
      if (apply(includes, name, [part])) deleteProperty(global, name);
  }

  return { fire, install, remove };
})

// SPDX-License-Identifier: MIT
//
// clock - timers and the clock as they are when the package is loaded. Test runners replace
// them by fakes that stand still until advanced, but this package waits for other threads and
// processes, which run in real time.
import { performance } from 'node:perf_hooks';
import timers from 'node:timers';

export const { clearTimeout, setImmediate, setInterval, setTimeout } = timers;

/** Milliseconds, only for differences. */
export const now = performance.now.bind(performance);

/** Resolves after a turn of the event loop. */
export const turn = () => new Promise((resolve) => setImmediate(resolve));

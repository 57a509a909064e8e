// SPDX-License-Identifier: MIT
//
// clock - timers and the clock as they are when the package is loaded. Test runners replace
// them by fakes, which stand still until advanced; but we wait for other threads and processes,
// whose time goes on.
import { performance } from 'node:perf_hooks';
import timers from 'node:timers';

export const { clearTimeout, setImmediate, setInterval, setTimeout } = timers;

/** Milliseconds, only for differences. */
export const now = performance.now.bind(performance);

/** Resolves after a turn of the event loop. */
export const turn = () => new Promise((resolve) => setImmediate(resolve));

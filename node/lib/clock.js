// SPDX-License-Identifier: MIT
//
// clock - timers and the clock as they are when the package is loaded. Test runners put fakes
// in their place, which stand still until they are told to go on; what is waited for here is
// done by other threads and processes, and their time does not stand still.
import { performance } from 'node:perf_hooks';
import timers from 'node:timers';

export const { clearTimeout, setImmediate, setInterval, setTimeout } = timers;

/** Milliseconds, of no use but for differences. */
export const now = performance.now.bind(performance);

/** When the event loop has had its turn. */
export const turn = () => new Promise((resolve) => setImmediate(resolve));

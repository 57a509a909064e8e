// SPDX-License-Identifier: MIT
//
// stall - how long the event loop came to nothing else. On a machine that has more to do
// than processors the time says nothing of us: then it is the processor's time that counts.
import { closeSync, openSync, readSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';

const processors = availableParallelism?.() ?? cpus().length;
const room = Buffer.alloc(128);
let file = -1;
try {
  // The thread of JavaScript is the process's first: its number is the process's.
  file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
} catch {
  // Then it is the time that counts.
}
process.on('exit', () => file >= 0 && closeSync(file));

/** Milliseconds of this thread. */
function clock() {
  if (file < 0 || loadavg()[0] < processors) return () => performance.now();
  return () => {
    const length = readSync(file, room, 0, room.length, 0);
    return Number(room.toString('latin1', 0, length).split(' ')[0]) / 1e6;
  };
}

/** What what() is worth, and the longest time in which nothing else was come to. */
export async function longestStall(what, now = clock()) {
  let longest = 0;
  let last = now();
  let isOver = false;
  const look = () => {
    const at = now();
    longest = Math.max(longest, at - last);
    last = at;
  };
  const tick = () => {
    look();
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  const value = await what().finally(() => {
    isOver = true;
    look();
  });
  return { value, stall: longest };
}

// SPDX-License-Identifier: MIT
// processes: who descends from whom, who is gone, what it is called, and who is busy, from /proc.
import { readdirSync, readFileSync } from 'node:fs';

/** Fields of /proc/PID/stat after the name, or null: state is [0], ppid [1], utime [11]. */
function stat(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ');
  } catch {
    return null;
  }
}

/** A process that is a zombie has ended: it only waits for its parent. */
export const isAlive = (pid) => {
  const fields = stat(pid);
  return fields !== null && fields[0] !== 'Z' && fields[0] !== 'X';
};

/** The children of all threads of a process: to read those is cheap, where /proc as a whole is not. */
export function children(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number));
  } catch {
    return []; // it is gone
  }
}

export const descendants = (root) => children(root).flatMap((pid) => [pid, ...descendants(pid)]);

export function nameOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return ''; // it is gone
  }
}

export const ticks = (pid) => Number(stat(pid)?.[11] ?? 0);

export const tick = () => new Promise((resolve) => { setTimeout(resolve, 2); });

/** Waits for something to be so; the longest wait is a failure, not a measure. */
export async function until(what, ms = 240000) {
  const end = performance.now() + ms;
  for (;;) {
    const value = await what();
    if (value) return value;
    if (performance.now() > end) throw new Error(`never came true: ${what}`);
    await tick();
  }
}

/** The worker that has computed for at least so many ticks of 10 ms since, which is longer than the
 *  trial run of a new one takes: a child of a child, since root's template also computes at its start. */
export function busyOne(root, atLeast = 25) {
  const before = new Map(descendants(root).map((pid) => [pid, ticks(pid)]));
  return until(() => descendants(root).find((pid) =>
    ticks(pid) - (before.get(pid) ?? 0) >= atLeast && Number(stat(pid)?.[1]) !== root));
}

/** VmHWM, in MiB. */
export const peakMib = (pid) =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

/** Takes the best of a few measures: the bound is ours, the machine's load is not. */
export async function within(ms, measure) {
  const all = [];
  do all.push(await measure()); while (Math.min(...all) >= ms && all.length < 10);
  if (Math.min(...all) >= ms) throw new Error(`${ms} ms were always passed: ${all}`);
}

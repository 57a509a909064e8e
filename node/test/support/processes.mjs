// SPDX-License-Identifier: MIT
//
// processes - what the kernel says of the processes below this one.
import { readdirSync, readFileSync } from 'node:fs';

/** {pid, parent, name, state, ticks} of a process, or undefined if it is gone. */
export function look(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const end = text.lastIndexOf(')');
    const fields = text.slice(end + 2).split(' ');
    return {
      pid: Number(pid),
      name: text.slice(text.indexOf('(') + 1, end),
      state: fields[0],
      parent: Number(fields[1]),
      ticks: Number(fields[11]) + Number(fields[12]),
      isExecuted: (Number(fields[6]) & 0x40) === 0, // not PF_FORKNOEXEC
    };
  } catch {
    return undefined;
  }
}

/** The children of all threads of a process: to read those is cheap, where /proc as a whole is not. */
function children(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' ').filter(Boolean));
  } catch {
    return []; // it is gone
  }
}

/** Those that live, below `root`. */
export const descendants = (root = process.pid) =>
  children(root).map(look).filter((one) => one !== undefined && one.state !== 'Z' && one.state !== 'X')
    .flatMap((one) => [one, ...descendants(one.pid)]);

/** Does this process start as a zygote? It gets its name a moment later. The arguments of its
 *  forks, which executed nothing, are the same. */
function isStartingZygote({ pid, isExecuted }) {
  try {
    const argv = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
    return isExecuted && (argv === '' || argv.includes('--zygote'));
  } catch {
    return false; // it is gone
  }
}

/** Templates and workers of this process. */
export const boxes = (root = process.pid) =>
  descendants(root).filter((one) => one.name === 'glovebox-worker' && !isStartingZygote(one));

export const isAlive = (pid) => {
  const one = look(pid);
  return one !== undefined && one.state !== 'Z' && one.state !== 'X';
};

/** Wait until what() is something; what it is. Never for a time: a loaded machine takes what it
 *  takes. */
export async function until(what, about = 'what was waited for') {
  for (let i = 0; i < 6000; i++) {
    const value = await what();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`never: ${about}`);
}

/** The pids of so many workers that have been at work for 100 ms of processor time; their
 *  templates, which take as long to start, are none of them. */
export function busyWorkers(root, count = 1) {
  return until(() => {
    const all = boxes(root);
    const ids = new Set(all.map(({ pid }) => pid));
    const busy = all.filter(({ ticks, parent }) => ticks >= 10 && ids.has(parent)).map(({ pid }) => pid);
    return busy.length >= count ? busy : undefined;
  }, `${count} workers below ${root} at work`);
}

/** Waits until these processes are gone. */
export const gone = (pids) => until(() => !pids.some(isAlive), `${pids} gone`);

/** Waits until no worker is below root. */
export const noneBelow = (root) => until(() => boxes(root).length === 0, `no worker below ${root}`);

export const descriptors = () => readdirSync('/proc/self/fd').length;

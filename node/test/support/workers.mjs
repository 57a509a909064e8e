// SPDX-License-Identifier: MIT
/* workers - the worker processes below a process, by pid, and which of them is at work. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const GIVE_UP_MS = 20000; /* of a loaded machine; nothing here waits for time */

/* Parent, name and processor time in ticks of a process; undefined: it is gone. */
function look(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const name = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'));
    const rest = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { pid, name, state: rest[0], parent: Number(rest[1]), ticks: Number(rest[11]) + Number(rest[12]) };
  } catch {
    return undefined;
  }
}

/** All worker processes below pid: [{pid, ticks}]. */
export function workersBelow(pid) {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map((name) => look(Number(name)));
  const live = all.filter((each) => each !== undefined && each.state !== 'Z');
  const below = new Set([pid]);
  for (let size = 0; size !== below.size;) {
    size = below.size;
    for (const each of live) if (below.has(each.parent)) below.add(each.pid);
  }
  return live.filter((each) => each.pid !== pid && below.has(each.pid) && each.name.startsWith('glovebox-worke'));
}

/** Waits until condition() is something; what it is. */
export async function until(condition, what) {
  const begin = performance.now();
  for (;;) {
    const value = condition();
    if (value) return value;
    if (performance.now() - begin > GIVE_UP_MS) throw new Error(`never: ${what}`);
    await pause(2);
  }
}

/** The pids of so many workers that have been at work for 100 ms of processor time; their
 *  templates, which take as long to start, are none of them. */
export function busyWorkers(pid, count = 1) {
  return until(() => {
    const all = workersBelow(pid);
    const ids = new Set(all.map((each) => each.pid));
    const busy = all.filter(({ ticks, parent }) => ticks >= 10 && ids.has(parent)).map((each) => each.pid);
    return busy.length >= count ? busy : undefined;
  }, `${count} workers below ${pid} at work`);
}

/** Waits until these processes are gone. */
export function gone(pids) {
  return until(() => pids.every((pid) => (look(pid)?.state ?? 'Z') === 'Z'), `${pids} gone`);
}

/** Waits until no worker is below pid. */
export function noneBelow(pid) {
  return until(() => workersBelow(pid).length === 0, `no worker below ${pid}`);
}

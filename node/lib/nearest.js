// SPDX-License-Identifier: MIT
/* nearest - the likely name behind one that does not exist. */

/* Names are untrusted: the search for the nearest one is bounded. */
const LONGEST = 48;
const MOST = 200;

/* Edits from one to the other: letters inserted, deleted, replaced or swapped. */
function distance(from, to) {
  let before = [], last = [], now = [];
  for (let j = 0; j <= to.length; j++) last[j] = j;
  for (let i = 1; i <= from.length; i++) {
    now = [i];
    for (let j = 1; j <= to.length; j++) {
      now[j] = Math.min(last[j] + 1, now[j - 1] + 1, last[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        now[j] = Math.min(now[j], before[j - 2] + 1);
    }
    before = last;
    last = now;
  }
  return last[to.length];
}

/** The most similar of names, or undefined if none is similar. */
export function nearest(name, names) {
  let found, least = Math.max(2, Math.floor(name.length / 3)) + 1;
  if (name.length > LONGEST) return undefined;
  for (const each of names.slice(0, MOST)) {
    if (each.length > LONGEST || Math.abs(each.length - name.length) >= least) continue;
    const edits = distance(name.toLowerCase(), each.toLowerCase());
    if (edits < least && edits < each.length) {
      least = edits;
      found = each;
    }
  }
  return found;
}

/** Advice for a name that does not exist: the likely one, or else all of them. */
export function insteadOf(name, names) {
  const meant = nearest(name, names);
  return meant === undefined ? `there are ${names.join(', ')}` : `did you mean '${meant}'?`;
}

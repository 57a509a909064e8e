// SPDX-License-Identifier: MIT
/*
 * scan - the part of `glovebox audit` that runs in sealed workers: it unpacks archives, makes the
 * graphs of files, and reports on all graphs. scan.c calls the exported functions.
 */
import { unpack as unpackArchive } from './archive.js';
import { judge, lockedOf } from './judge.js';
import { reportAs } from './report.js';
import { Solver } from './solve.js';
import { graphOf } from './value_graph.js';

/* The parser backtracks by exceptions: making their stacks takes a quarter of its time. */
Error.stackTraceLimit = 0;

const FILE_MAX = 8 << 20, LINE_MAX = 4 << 20, NOTES_MAX = 100;
const SOURCE = /\.[cm]?[jt]sx?$/;
const LOCK = /(^|\/)(package-lock\.json|yarn\.lock|pnpm-lock\.yaml)$/;

export function unpack({ base64 }) {
  const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(base64) : Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const files = [], unread = [], decoder = new TextDecoder();
  const note = (path, why) => unread.length < NOTES_MAX && unread.push({ path, why });
  unpackArchive(packed, (path, bytes) => {
    const inner = path.replace(/^[^/]*\//, '');
    if (!SOURCE.test(inner) && !LOCK.test(inner) && !/(^|\/)package\.json$/.test(inner)) return;
    if (bytes.length > FILE_MAX) note(inner, `it is larger than ${FILE_MAX >> 20} MB`);
    else files.push({ path: inner, text: decoder.decode(bytes) });
  }, note);
  return { files, unread };
}

/* The dependencies in a package.json, with their lines. */
function dependenciesOf(path, text) {
  const value = JSON.parse(text), lines = text.split('\n');
  const lineOf = (name) => lines.findIndex((line) => line.includes(`"${name}"`)) + 1;
  const all = { ...value.dependencies, ...value.optionalDependencies, ...value.peerDependencies };
  return { path, name: value.name, version: value.version,
    dependencies: Object.entries(all).map(([name, range]) => [name, String(range), lineOf(name)]) };
}

export function graphs({ files }) {
  const found = { graphs: [], packages: [], locks: [], unread: [] };
  for (const [path, text] of files)
    try {
      if (LOCK.test(path)) found.locks.push({ path, versions: lockedOf(text) });
      else if (path.endsWith('.json')) found.packages.push(dependenciesOf(path, text));
      else if (text.length > LINE_MAX && /[^\n]{4194304}/.test(text)) throw new Error('it has a line of more than 4 MB');
      else found.graphs.push(graphOf(path, text));
    } catch (error) {
      found.unread.push({ path, why: error instanceof RangeError ? 'it is nested too deeply' : `it cannot be parsed: ${String(error?.message ?? error).split('\n', 1)[0].slice(0, 200)}` });
    }
  return found;
}

export function report({ parts: batches, files: sources, unread, unreadCount, ...given }) {
  const parts = batches.sort(([a], [b]) => a - b).map(([, part]) => part);
  const files = parts.flatMap((part) => part.graphs), packages = parts.flatMap((part) => part.packages), locks = parts.flatMap((part) => part.locks);
  const all = [...unread, ...parts.flatMap((part) => part.unread)];
  /* Files that were not read must not get a grade. */
  if (files.length === 0) throw `no JavaScript or TypeScript could be read in it${all.length > 0 ? `: ${all[0].path}: ${all[0].why}` : ''}`;
  if (unreadCount > unread.length) all.push({ path: `${unreadCount - unread.length} more files`, why: 'they are not named here' });
  /* A file that was not read stands for itself without content: does a file with tools use it? */
  const missing = all.filter(({ path }) => SOURCE.test(path)).map((note) => ({ ...graphOf(note.path, ''), note }));
  const solver = new Solver([...files, ...missing]), isWhole = solver.run(), lost = solver.files.filter(({ note }) => note), cut = solver.cutFiles();
  for (const { note } of lost) note.why += ', and files with tools use it: the grade is not above B';
  if (!isWhole) all.push({ path: 'the project', why: 'it is too large to follow every value: findings may be missing' });
  for (const path of cut) all.push({ path, why: 'it is followed only in part: some places hold too many functions and objects: the grade is not above B' });
  const project = packages.sort((a, b) => a.path.length - b.path.length)[0] ?? null;
  return reportAs({ ...judge(solver, packages, locks, isWhole && lost.length + cut.length === 0), ...given, files: files.length, project, unread: all }, new Map(sources));
}

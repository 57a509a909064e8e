// SPDX-License-Identifier: MIT
//
// native - finds and loads the addon, and passes its reports to their listeners.
//
// If $GLOVEBOX_ADDON is set, only that is used. Otherwise the addon is where `make node` put it,
// or in the package for this kind of machine; the worker program is next to it. If the addon
// cannot be loaded, the import does not throw: engines report UNAVAILABLE, and why.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { setImmediate } from './clock.js';

/* A bundler moves this code, and may leave it without import.meta: the files are then not
 * found. Functions that need them report that; the import does not throw. */
const file = import.meta.url === undefined ? join(process.cwd(), 'bundle.js') : fileURLToPath(import.meta.url);

/** The folder that has the package's files. */
export const here = dirname(file);

/** CommonJS's require: addons cannot be imported. */
export const require = createRequire(file);

/** The kinds of the addon's reports: node/src/addon.h. */
export const DONE = 0;
export const JOB = 1;
export const ASKED = 2;
export const LINE = 3;
export const FETCH = 4;
export const AUDIT = 5;
export const LINES = 6;
const MORE = 7;

const listeners = [];

/** Call `listener` with the addon's reports of this kind. */
export function listen(kind, listener) {
  listeners[kind] = listener;
}

function dispatch(kind, a, b, c, d, e, f, g, h) {
  listeners[kind](a, b, c, d, e, f, g, h);
}

function find() {
  const asked = process.env.GLOVEBOX_ADDON;
  if (asked) return asked;
  const built = join(here, '..', 'native', place, 'glovebox.node');
  return existsSync(built) ? built : installed() ?? built;
}

function installed() {
  try {
    return join(dirname(require.resolve(`glovebox-${place}/package.json`)), 'lib', 'glovebox.node');
  } catch {
    return undefined;
  }
}

const place = `${process.platform}-${process.arch}`;

/* Why the addon is missing, and what to do. */
function missing(path) {
  if (process.platform !== 'linux')
    return `code runs in processes that Linux seals, and this is ${place}: ` +
      'run this on Linux, in a container or in a virtual machine';
  if (place !== 'linux-x64') return `there is no addon for ${place}, only for linux-x64`;
  return `the package 'glovebox-${place}' is not installed: there is no '${path}'. ` +
    'In a project run `npm install --include=optional`, in the sources `make node`; ' +
    'for the output of a bundler name the addon in $GLOVEBOX_ADDON';
}

/* Without a glibc version in its report, this process runs on musl. */
function unloadable(path, reason) {
  if (process.report.getReport().header.glibcVersionRuntime === undefined)
    return 'this Node.js is built for musl, and the addon for glibc: use the command instead, ' +
      'which brings its own C library: `npx glovebox`';
  return `the addon '${path}' cannot be loaded on ${place}: ${reason}`;
}

function load() {
  const path = find();
  if (!existsSync(path)) return { problem: missing(path) };
  try {
    const worker = join(dirname(path), 'glovebox-worker');
    return {
      addon: require(path).start(dispatch),
      // The library reads $GLOVEBOX_WORKER itself.
      workerPath: !process.env.GLOVEBOX_WORKER && existsSync(worker) ? worker : undefined,
    };
  } catch (error) {
    return { problem: unloadable(path, error.message) };
  }
}

const loaded = load();

/** What the addon offers, or undefined; then `problem` says why. */
export const addon = loaded.addon;
export const problem = loaded.problem;
export const workerPath = loaded.workerPath;

listen(MORE, () => setImmediate(addon.drain));

let held = 0;

/** Keep the process alive until release(), while something is awaited. */
export function hold() {
  if (held++ === 0) addon?.hold(true);
}

export function release() {
  if (--held === 0) addon?.hold(false);
}

let lastJob = 0;
const jobs = new Map();

/** The library's refusal as an error: wrong use is a TypeError. */
export function refusal(status, message, line = 0, column = 0) {
  const wrong = status === -1 || status === -8;
  const error = new (wrong ? TypeError : Error)(message);
  error.code = STATUS[-status] ?? 'GBX_E_OS';
  if (line > 0) Object.assign(error, { line, column });
  return error;
}

const STATUS = [
  'GBX_OK', 'GBX_E_USAGE', 'GBX_E_NOMEM', 'GBX_E_OS', 'GBX_E_UNSUPPORTED', 'GBX_E_PROTOCOL',
  'GBX_E_DATA', 'GBX_E_CLOSED', 'GBX_E_POLICY',
];

listen(JOB, (id, status, message, line, column, text) => {
  const job = jobs.get(id);
  jobs.delete(id);
  if (job === undefined) return;
  if (status === 0) job.resolve(text);
  else job.reject(refusal(status, message, line, column));
});

/** A promise of the end of a job; start(number) starts it, or returns false without an
  * engine. */
export function job(start) {
  const id = ++lastJob;
  const done = new Promise((resolve, reject) => jobs.set(id, { resolve, reject }));
  let started = false;
  try {
    started = start(id);
  } finally {
    if (started === false) jobs.delete(id);
  }
  if (started === false) throw refusal(-7, 'the engine has been disposed of');
  return done;
}

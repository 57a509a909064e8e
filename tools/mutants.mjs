#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// mutants - remove the mechanism behind each claim of SECURITY.md, and see its tests fail.
//
//     tools/mutants.mjs BUILD [CLAIM ...]
//     tools/mutants.mjs --check     only whether each row fits the tree; nothing is built
//
// Works on a copy of the tree in BUILD/mutants. Each row of tests/mutants/mutants.txt removes one
// mechanism there; the tests that it names must pass without that and fail with it. Prints a line for
// each row. The exit status is 1 if a mechanism can be removed unseen, or a claim has no row.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [build, ...chosen] = process.argv.slice(2);
if (!build || (build.startsWith('-') && build !== '--check')) {
  console.error('usage: tools/mutants.mjs BUILD [CLAIM ...]');
  process.exit(2);
}
const copy = resolve(build, 'mutants');
const objects = join(copy, 'build');
const tracked = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files'], { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
const read = (path) => readFileSync(join(root, path), 'utf8');

/** The claims' numbers. */
const claims = [...read('SECURITY.md').matchAll(/^\| (\d+) \|/gm)].map(([, number]) => number);

/** Rows `claim | symbol | change | tests`, each with its lines `+ | symbol | change`. */
const rows = [];
for (const line of read('tests/mutants/mutants.txt').split('\n').filter((text) => /^[\d+]/.test(text))) {
  const [claim, symbol, ...rest] = line.split(' | ').map((cell) => cell.trim());
  if (claim !== '+') rows.push({ claim, symbol, changes: [], tests: rest.pop().split(/,\s*/) });
  rows.at(-1).changes.push({ symbol, change: rest.join(' | ') });
}

function sameAsCopied(path) {
  try {
    return readFileSync(join(root, path)).equals(readFileSync(join(copy, path)));
  } catch {
    return false;
  }
}

/** Files that did not change keep their time: only what changed is built again. */
function copyTree() {
  for (const path of tracked.filter((name) => statSync(join(root, name), { throwIfNoEntry: false })?.isFile())) {
    if (sameAsCopied(path)) continue;
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    copyFileSync(join(root, path), join(copy, path));
  }
  for (const folder of ['tools/npm', 'tests/mcp', 'node']) {
    if (statSync(join(root, folder, 'node_modules'), { throwIfNoEntry: false }))
      spawnSync('cp', ['-al', '-n', join(root, folder, 'node_modules'), join(copy, folder)]);
  }
}

function run(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: copy, encoding: 'utf8', maxBuffer: 1 << 28 });
  return { ok: status === 0, text: stdout + stderr };
}

function mustRun(command, args) {
  const { ok, text } = run(command, args);
  if (ok) return;
  console.error(text.slice(-4000));
  process.exit(1);
}

// ---- a change --------------------------------------------------------------------

/** How a definition of `name` begins and ends. */
const definitions = (name) => [
  // A function in C: its body begins and ends in the first column.
  new RegExp(`^(?:[a-zA-Z_][^;{}]*?)?\\b${name}\\([^;{}]*\\)\\n\\{\\n([^]*?)^\\}`, 'm'),
  // A table in C.
  new RegExp(`^[a-zA-Z_}][^;\\n(]*\\b${name}\\b[^;\\n]*=\\s*\\{\\n?([^]*?)^\\};`, 'm'),
  // A function in JavaScript: its end is indented as its begin is.
  new RegExp(`^( *)(?:export )?(?:async )?function\\*? ${name}\\([^\\n]*\\{\\n([^]*?)^\\1\\}`, 'm'),
  // A macro.
  new RegExp(`^#define ${name}\\b((?:[^\\n]*\\\\\\n)*[^\\n]*)`, 'm'),
];

/** The one place in the tree that defines `name`, or PATH:SYMBOL, or all of PATH:. */
function findDefinition(name, texts) {
  const [symbol, only] = name.split(':').reverse();
  const sources = tracked.filter((path) => /^(src|node\/(lib|src))\/.*\.(c|h|js|mjs)$/.test(path));
  const found = sources.filter((path) => only === undefined || path === only).flatMap((path) => {
    const text = texts.get(path) ?? read(path);
    if (symbol === '') return [{ path, text, from: 0, to: text.length }];
    const match = text.includes(symbol) && definitions(symbol).map((form) => form.exec(text)).find(Boolean);
    if (!match) return [];
    const body = match[2] ?? match[1];
    const from = match.index + match[0].lastIndexOf(body);
    return [{ path, text, from, to: from + body.length }];
  });
  if (found.length !== 1) throw new Error(`${name} is defined in ${found.length} places`);
  return found[0];
}

/** `change` is `body CODE`, or `text OLD => NEW` for a piece that is there once. */
function changed(body, change) {
  const [, kind, rest] = /^(body|text) ?([^]*)$/.exec(change) ?? [];
  if (kind === 'body') return `${rest}\n`;
  const [, old, next] = /^([^]*?) =>(?: ([^]*))?$/.exec(rest ?? '') ?? [];
  if (kind !== 'text' || body.split(old).length !== 2) throw new Error(`${JSON.stringify(old)} is not there once`);
  // A removed statement may be all of a branch.
  return body.replace(old, () => next ?? (old.endsWith(';') ? ';' : ''));
}

// ---- building and running ----------------------------------------------------------

const programs = ['glovebox-command', 'glovebox-worker', 'glovebox-keeper', 'glovebox-runner-memory', 'mcp-fixture', 'node'];

/** The programs of a test: `test_realm` runs as test_realm_forms, replay_mcp names a dozen. */
function targetsOf(test) {
  return allTargets().filter((name) => name.startsWith(test) || test.startsWith(`${name}_`));
}

let known;
function allTargets() {
  known ??= run('ninja', ['-C', objects, '-t', 'targets', 'all']).text.split('\n')
    .map((line) => /^(\w+): phony$/.exec(line)?.[1]).filter((name) => /^(test|replay)_/.test(name));
  return known;
}

/** A test whose program has another name needs all of them. */
function buildFor(tests) {
  const hasProgram = (test) => allTargets().some((name) => test === name || test.startsWith(`${name}_`));
  const isBuilt = (test) => hasProgram(test) || !test.startsWith('test_');
  const targets = tests.every(isBuilt) ? tests.flatMap(targetsOf) : ['all'];
  const { ok, text } = run('ninja', ['-C', objects, ...new Set([...programs, ...targets])]);
  return ok ? '' : text;
}

let listed;
/** Does the test of this name pass, or if there is none, do all whose names begin so? */
function passes(test) {
  listed ??= run('ctest', ['--test-dir', objects, '-N']).text;
  const end = new RegExp(`: ${test}$`, 'm').test(listed) ? '$' : '';
  return run('ctest', ['--test-dir', objects, '--no-tests=error', '--parallel', '2', '-R', `^${test}${end}`]);
}

/** The files that the changes make. */
function textsOf(changes) {
  const texts = new Map();
  for (const { symbol, change } of changes) {
    const { path, text, from, to } = findDefinition(symbol, texts);
    texts.set(path, text.slice(0, from) + changed(text.slice(from, to), change) + text.slice(to));
  }
  return texts;
}

function verdictOf({ changes, tests }) {
  const texts = textsOf(changes);
  try {
    for (const [path, text] of texts) writeFileSync(join(copy, path), text);
    const fault = buildFor(tests);
    if (fault) return `does not build:\n${fault.slice(-1500)}`;
    const unseen = tests.filter((test) => passes(test).ok);
    return unseen.length > 0 ? `NOT SEEN by ${unseen.join(', ')}` : '';
  } finally {
    for (const path of texts.keys()) writeFileSync(join(copy, path), read(path));
  }
}

let bad = 0;
function report(row, verdict, end = '') {
  if (verdict) bad += 1;
  console.log(`${row.claim} ${row.symbol}: ${verdict || `seen by ${row.tests.join(', ')}`}${end}`);
}

/** Calls `judge` with a row; what it throws is the verdict, too. */
function tryRow(row, judge) {
  try {
    return judge(row);
  } catch (error) {
    return error.message;
  }
}

function reportClaims() {
  for (const claim of claims.filter((number) => !rows.some((row) => row.claim === number))) {
    console.log(`${claim}: no mutant`);
    bad += 1;
  }
}

if (build === '--check') {
  for (const row of rows) {
    const fault = tryRow(row, ({ changes }) => void textsOf(changes));
    if (fault) report(row, fault);
  }
  reportClaims();
  process.exit(bad === 0 ? 0 : 1);
}

copyTree();
mustRun('cmake', ['-S', copy, '-B', objects, '-G', 'Ninja', '--log-level=WARNING', '-DCMAKE_BUILD_TYPE=Release',
  '-DCMAKE_COMPILE_WARNING_AS_ERROR=OFF', '-DGLOVEBOX_TESTS=ON', '-DGLOVEBOX_ADDON=ON',
  ...(process.env.CMAKEFLAGS?.split(' ') ?? [])]);
const selected = rows.filter(({ claim }) => chosen.length === 0 || chosen.includes(claim));
const named = [...new Set(selected.flatMap(({ tests }) => tests))];
const broken = buildFor(named);
if (broken) throw new Error(broken.slice(-3000));
for (const test of named) {
  const { ok, text } = passes(test);
  if (ok) continue;
  console.log(`${test} fails without any change:\n${text.slice(-800)}`);
  bad += 1;
}
for (const row of selected) {
  const start = Date.now();
  report(row, tryRow(row, verdictOf), ` (${Math.round((Date.now() - start) / 1000)} s)`);
}
if (chosen.length === 0) reportClaims();
rmSync(join(copy, 'build/Testing'), { recursive: true, force: true });
console.log(bad === 0 ? `${selected.length} mutants, all seen` : `${bad} faults`);
process.exit(bad === 0 ? 0 : 1);

#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// check-shape - how large the tree is and how it is cut, against bars. A change that needs more
// raises the bar in its own commit and says why; one that needs less lowers it.
//
//     tools/check-shape.mjs BUILD [--list MEASURE]
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BARS = {
  'lines in src': 111548,
  'lines in src/mcp': 42217,
  'lines in src/mcp/code': 8399,
  'lines in src/mcp/data': 3652,
  'lines in tests and node/test': 80014,
  'files in src': 408,
  'headers in src': 81,
  'C files under 60 lines': 5,
  'C files over 800 lines': 0,
  'functions over 80 lines': 0,
  'file names in two folders': 0,
  'types defined twice': 0,
  'headers named inner.h or parts.h': 0,
  'pages in docs': 10,
  'words in pages of docs': 14388,
  'words in ARCHITECTURE.md': 2480,
  'call cycles between files of src': 0,
};

const root = fileURLToPath(new URL('..', import.meta.url));
const [build, , listed] = process.argv.slice(2);

function filesBelow(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return /^(node_modules|native|build.*)$/.test(entry.name) ? [] : filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}

const read = (path) => readFileSync(join(root, path), 'utf8');
const linesOf = (path) => read(path).split('\n').length - 1;
const wordsOf = (path) => read(path).split(/\s+/).filter(Boolean).length;
const isCode = (path) => /\.(c|h|js|mjs|ts)$/.test(path);
const source = filesBelow('src').filter(isCode);
const tests = [...filesBelow('tests'), ...filesBelow('node/test')].filter((path) => isCode(path) || path.endsWith('.sh'));
const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`);
const cFiles = source.filter((path) => path.endsWith('.c'));

/** A measure is a list of [place, weight]; its value is the sum of the weights. */
const counted = (paths) => paths.map((path) => [path, 1]);
const lines = (paths) => paths.map((path) => [path, linesOf(path)]);

function longFunctions() {
  return cFiles.flatMap((path) => [...read(path).matchAll(/^\{\n([^]*?)^\}\n/gm)]
    .filter(([, body]) => body.split('\n').length + 1 > 80)
    .map(({ index }) => [`${path}:${read(path).slice(0, index).split('\n').length}`, 1]));
}

/** Keys that more than one path has. */
function shared(pairs) {
  const places = new Map();
  for (const [key, path] of pairs) places.set(key, new Set(places.get(key)).add(path));
  return [...places].filter(([, paths]) => paths.size > 1).map(([key, paths]) => [`${key}: ${[...paths].join(' ')}`, 1]);
}

const typesDefined = () => source.filter((path) => /\.[ch]$/.test(path)).flatMap((path) =>
  [...read(path).matchAll(/^(?:typedef\s+)?(?:struct|enum|union)\s+(gbx_\w+)\s*\{/gm)].map(([, name]) => [name, path]));

/** Which file of src uses a function of which other, by the symbols of the objects in BUILD. */
function usesBetweenFiles() {
  const objects = readdirSync(join(build, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.endsWith('.c.o')).map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  const definedIn = new Map();
  const used = new Map();
  for (const line of execFileSync('nm', ['-A', '-g', ...objects], { encoding: 'utf8', maxBuffer: 1 << 28 }).split('\n')) {
    const [, object, kind, symbol] = /^(\S+):.* ([TU]) (\S+)$/.exec(line) ?? [];
    if (object === undefined) continue;
    const file = object.slice(build.length + 1).replace(/CMakeFiles\/[^/]+\.dir\//, '').replace(/\.o$/, '');
    if (!existsSync(join(root, file))) continue; /* left from a file that is gone */
    if (kind === 'T') definedIn.set(symbol, file);
    else used.set(file, [...used.get(file) ?? [], symbol]);
  }
  return new Map([...used].map(([file, symbols]) =>
    [file, new Set(symbols.map((symbol) => definedIn.get(symbol)).filter((other) => other !== undefined && other !== file))]));
}

/** Groups of files that use each other in a ring: what each reaches that also reaches it. */
function cycles() {
  const uses = usesBetweenFiles();
  const reached = new Map([...uses.keys()].map((file) => {
    const found = new Set();
    const open = [file];
    while (open.length > 0) for (const other of uses.get(open.pop()) ?? []) if (!found.has(other)) found.add(other) && open.push(other);
    return [file, found];
  }));
  const rings = [...reached].filter(([file, found]) => found.has(file))
    .map(([file, found]) => [...found].filter((other) => reached.get(other)?.has(file)).sort().join(' '));
  return [...new Set(rings)].map((ring) => [ring, 1]);
}

const MEASURES = {
  'lines in src': () => lines(source),
  'lines in src/mcp': () => lines(source.filter((path) => path.startsWith('src/mcp/'))),
  'lines in src/mcp/code': () => lines(source.filter((path) => path.startsWith('src/mcp/code/'))),
  'lines in src/mcp/data': () => lines(source.filter((path) => path.startsWith('src/mcp/data/'))),
  'lines in tests and node/test': () => lines(tests),
  'files in src': () => counted(source),
  'headers in src': () => counted(source.filter((path) => path.endsWith('.h'))),
  'C files under 60 lines': () => counted(cFiles.filter((path) => linesOf(path) < 60 && !path.endsWith('main.c'))),
  'C files over 800 lines': () => counted(cFiles.filter((path) => linesOf(path) > 800)),
  'functions over 80 lines': longFunctions,
  'file names in two folders': () => shared(cFiles.map((path) => [basename(path), path])),
  'types defined twice': () => shared(typesDefined()),
  'headers named inner.h or parts.h': () => counted(source.filter((path) => /\/(inner|parts)\.h$/.test(path))),
  'pages in docs': () => counted(pages),
  'words in pages of docs': () => pages.map((path) => [path, wordsOf(path)]),
  'words in ARCHITECTURE.md': () => [['ARCHITECTURE.md', wordsOf('ARCHITECTURE.md')]],
  'call cycles between files of src': cycles,
};

if (!build || !existsSync(join(build, 'src'))) {
  console.error('usage: tools/check-shape.mjs BUILD [--list MEASURE]');
  process.exit(2);
}
if (listed !== undefined) {
  if (!(listed in MEASURES)) throw new Error(`the measures are: ${Object.keys(MEASURES).join(', ')}`);
  for (const [place, weight] of MEASURES[listed]().sort((a, b) => b[1] - a[1])) console.log(String(weight).padStart(6), place);
} else {
  for (const [measure, bar] of Object.entries(BARS)) {
    const value = MEASURES[measure]().reduce((sum, [, weight]) => sum + weight, 0);
    const isOver = value > bar;
    console.log(`${isOver ? 'OVER ' : '     '}${measure.padEnd(34)} ${String(value).padStart(7)}   bar ${bar}`);
    if (isOver) process.exitCode = 1;
  }
}

#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// third-party - writes THIRD-PARTY.md: whose work is in the binaries beside our own, and
// under which licence, from the packages that tools/install-deps has fetched.
//
//     tools/third-party.mjs            (writes it)
//     tools/third-party.mjs --check    (exit status 1 if it is not what would be written)
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

const root = new URL('..', import.meta.url);
const read = (path) => readFileSync(new URL(path, root), 'utf8');

// In which binary each ends up. Packages that are named nowhere here are not built; those
// for development alone are in none.
const USED = {
  'tree-sitter': 'libglovebox and glovebox-worker: the parser',
  'tree-sitter-javascript': 'libglovebox and glovebox-worker: the grammar of JavaScript',
  'tree-sitter-typescript': 'glovebox-worker: the grammar by which types are removed',
  '@exodus/bytes': 'glovebox-worker: encodings of TextDecoder',
  '@babel/parser': 'glovebox: a script that reads servers for `audit`',
  'fflate': 'glovebox: a script that reads servers for `audit`',
  'jsonc-parser': 'glovebox: a script that reads the files of hosts',
  'smol-toml': 'glovebox: a script that reads the files of hosts',
};
// What packages have from others, under a licence of its own.
const PARTS = {
  'tree-sitter': {
    name: 'Headers of ICU that tree-sitter brings',
    path: 'vendor/tree-sitter/lib/src/unicode/LICENSE',
    end: '\n2. Chinese/Japanese', // what follows is for data that is not there
  },
};
const NEVER_BUILT = ['node-addon-api', 'node-gyp-build', '@babel/helper-string-parser', '@babel/helper-validator-identifier', '@babel/types'];

const lock = JSON.parse(read('tools/npm/package-lock.json'));
let text = `# Work of others

What is in Glovebox's binaries beside its own work. Libraries that are linked come from the
distribution, with their licences. Written by \`tools/third-party.mjs\`.
`;
function add(title, where, licence) {
  const lines = licence.replaceAll('\r', '').replace(/[ \t]+$/gm, '').trim();
  text += `\n## ${title}\n\nIn ${where}.\n\n\`\`\`\n${lines.replace(/^#+ /gm, '')}\n\`\`\`\n`;
}
for (const [path, { version, license, dev }] of Object.entries(lock.packages)) {
  const name = path.replace('node_modules/', '');
  if (path === '' || dev || NEVER_BUILT.includes(name)) continue;
  if (USED[name] === undefined) throw new Error(`third-party does not know ${name}`);
  const folder = `tools/npm/${path}/`;
  const file = readdirSync(new URL(folder, root)).find((entry) => /^licen[cs]e/i.test(entry));
  const part = PARTS[name];
  add(`${name} ${version} (${license})`, USED[name], read(folder + file));
  if (part === undefined) continue;
  const licence = read(folder + part.path);
  const end = licence.indexOf(part.end);
  if (end < 0) throw new Error(`third-party does not know the end of ${part.path}`);
  add(`${part.name} (Unicode, ICU)`, USED[name], licence.slice(0, end));
}
if (process.argv[2] !== '--check') {
  writeFileSync(new URL('THIRD-PARTY.md', root), text);
} else if (read('THIRD-PARTY.md') !== text) {
  console.error('third-party: THIRD-PARTY.md is old: run tools/third-party.mjs');
  process.exit(1);
}

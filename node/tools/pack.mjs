#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// pack - makes the folder of the package `glovebox`, for `npm pack`: the entry points as one file,
// their declarations and the command's start. The addon and the programs come with a package
// for each kind of machine: tools/make-bundle.mjs.
//
//     tools/pack.mjs FOLDER
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = join(dirname(fileURLToPath(import.meta.url)), '..');
const root = join(here, '..');
const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('usage: tools/pack.mjs FOLDER');
  process.exit(64);
}
const target = resolve(folder);
const dist = join(target, 'dist');

const esbuild = (...args) => execFileSync('esbuild', args, { cwd: here, stdio: ['ignore', 'pipe', 'inherit'] });

const LICENCE = '// SPDX-License-Identifier: MIT\n';

/**
 * One copy of the code for both kinds of import: classes and state are the same. It is handed
 * Node's modules, since a bundler of ES modules leaves it no require of its own.
 */
async function bundle() {
  const code = esbuild(
    'lib/index.js', '--bundle', '--platform=node', '--format=cjs', '--target=node18', '--packages=external',
    '--log-level=warning', '--define:import.meta.url=__url',
  ).toString();
  const modules = [...new Set([...code.matchAll(/require\("(node:[a-z_/]+)"\)/g)].map(([, name]) => name))];
  mkdirSync(dist, { recursive: true });
  writeFileSync(join(dist, 'core.cjs'), `${LICENCE}let made;
module.exports = ((require) => { // in brackets: it is then parsed once
  if (made !== undefined) return made;
  const module = { exports: {} };
  const __url = typeof __filename === 'undefined' ? undefined : require('node:url').pathToFileURL(__filename).href;
${code}
  made = module.exports;
  return made;
});
`);
  writeFileSync(join(dist, 'glovebox.cjs'),
    `${LICENCE}module.exports = require('./core.cjs')((name) => require(name));\n`);
  const names = Object.keys(await import('../lib/index.js'));
  writeFileSync(join(dist, 'glovebox.mjs'), `${LICENCE}${modules.map((name, i) => `import m${i} from '${name}';\n`).join('')}
import core from './core.cjs';

const modules = { __proto__: null, ${modules.map((name, i) => `'${name}': m${i}`).join(', ')} };

export const {
  ${names.join(',\n  ')},
} = core((name) => modules[name]);
`);
  // For Node itself: it would search a CommonJS file that is imported for names, which takes
  // three times as long as to load it. A bundler cannot follow this require.
  writeFileSync(join(dist, 'node.mjs'), `${LICENCE}import { createRequire } from 'node:module';

export const {
  ${names.join(',\n  ')},
} = createRequire(import.meta.url)('./glovebox.cjs');
`);
  for (const name of ['servers', 'discover', 'declarations'])
    cpSync(join(root, 'src', 'mcp', 'code', `${name}.js`), join(dist, `${name}.box.js`));
  // The declarations once more, for who requires: a package is of one kind or of the other.
  cpSync(join(here, 'types'), join(dist, 'types'), { recursive: true });
  writeFileSync(join(dist, 'types', 'package.json'), '{"type": "commonjs"}\n');
}

/** Of what the sources say, what a user of the package needs. */
function describe() {
  const { private: _, scripts, devDependencies, ...rest } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
  const mcpName = process.env.MCP_NAME; // the registry of MCP compares it
  const optionalDependencies = { 'glovebox-linux-x64': rest.version };
  writeFileSync(join(target, 'package.json'), `${JSON.stringify({ ...rest, mcpName, optionalDependencies }, null, 2)}\n`);
}

await bundle();
describe();
for (const name of ['bin', 'types', 'README.md']) cpSync(join(here, name), join(target, name), { recursive: true });
for (const name of ['LICENSE', 'THIRD-PARTY.md']) cpSync(join(root, name), join(target, name));

#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// pack - what `npm pack` puts into the package beside what is here: the entry points as one
// file (dist/), and the sources of the addon, the library and the worker program (core/),
// laid out as in the repository. With GLOVEBOX_PREBUILT=1 also what `make node` has built.
//
//     tools/pack.mjs            before packing (npm runs it)
//     tools/pack.mjs --clean    afterwards
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = join(dirname(fileURLToPath(import.meta.url)), '..');
const root = join(here, '..');
const core = join(here, 'core');
const dist = join(here, 'dist');
const packages = join(root, 'tools', 'npm', 'node_modules');

/** Parts of the command alone. */
const COMMAND = ['cli', 'mcp', 'runner'];

/** Of the repository. */
const SOURCES = [
  'CMakeLists.txt', 'LICENSE', 'THIRD-PARTY.md', 'cmake/checked.cmake', 'cmake/dependencies.cmake',
  'cmake/flags.cmake', 'include', 'node/CMakeLists.txt', 'node/place.cmake', 'node/src',
  ...readdirSync(join(root, 'src')).filter((name) => !COMMAND.includes(name)).map((name) => `src/${name}`),
];

/** Of npm's packages, what is compiled in. A folder called node_modules is never packed. */
const PACKAGES = [
  'tree-sitter/LICENSE', 'tree-sitter/vendor/tree-sitter/lib/include', 'tree-sitter/vendor/tree-sitter/lib/src',
  'tree-sitter-javascript/LICENSE', 'tree-sitter-typescript/LICENSE', 'tree-sitter-typescript/common/scanner.h',
  ...['tree-sitter-javascript/src', 'tree-sitter-typescript/typescript/src']
    .flatMap((folder) => ['parser.c', 'scanner.c', 'tree_sitter'].map((name) => `${folder}/${name}`)),
];

function copy(from, to) {
  if (!existsSync(from)) throw new Error(`there is no '${from}': run tools/install-deps build node`);
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true, dereference: true });
}

function clean() {
  for (const folder of ['core', 'dist', 'prebuilt']) rmSync(join(here, folder), { recursive: true, force: true });
}

const esbuild = (...args) => execFileSync('esbuild', args, { cwd: here, stdio: ['ignore', 'pipe', 'inherit'] });

function copySources() {
  for (const path of SOURCES) copy(join(root, path), join(core, path));
  for (const path of PACKAGES) copy(join(packages, path), join(core, 'npm', path));
  copy(join(here, 'node_modules', 'node-api-headers', 'include'), join(core, 'node', 'headers'));
  copy(join(here, 'node_modules', 'node-api-headers', 'LICENSE'), join(core, 'node', 'headers', 'LICENSE'));
  const program = execFileSync('sh', ['-c', 'command -v esbuild'], { encoding: 'utf8' }).trim();
  execFileSync('cmake', [
    `-DESBUILD=${program}`, `-DPACKAGES=${packages}`, `-DOUTPUT=${join(core, 'npm', 'web')}`,
    '-P', join(root, 'src', 'realm', 'fetch', 'bundle.cmake'),
  ], { stdio: ['ignore', 'ignore', 'inherit'] });
}

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
module.exports = (require) => {
  if (made !== undefined) return made;
  const module = { exports: {} };
  const __url = typeof __filename === 'undefined' ? undefined : require('node:url').pathToFileURL(__filename).href;
${code}
  made = module.exports;
  return made;
};
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
    copy(join(root, 'src', 'mcp', 'code', `${name}.js`), join(dist, `${name}.box.js`));
  // The declarations once more, for who requires: a package is of one kind or of the other.
  copy(join(here, 'types'), join(dist, 'types'));
  writeFileSync(join(dist, 'types', 'package.json'), '{"type": "commonjs"}\n');
}

clean();
if (!process.argv.includes('--clean')) {
  copySources();
  await bundle();
  if (process.env.GLOVEBOX_PREBUILT) {
    const native = join(here, 'native');
    for (const name of readdirSync(native)) copy(join(native, name), join(here, 'prebuilt', name));
  }
}

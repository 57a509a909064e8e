// SPDX-License-Identifier: MIT
/* project - a folder in which the package and the SDK are installed, as in a user's own. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const node = fileURLToPath(new URL('../..', import.meta.url));

/** {path, remove()}; files: contents by name. */
export function makeProject(files) {
  const path = mkdtempSync(join(tmpdir(), 'glovebox-project-'));
  const modules = join(path, 'node_modules');
  const installed = join(modules, 'glovebox');
  mkdirSync(installed, { recursive: true });
  /* The sources, under the name of the package. */
  writeFileSync(join(installed, 'package.json'), JSON.stringify({
    name: 'glovebox', version: '0.0.0', type: 'module',
    exports: { '.': { types: './types/index.d.ts', default: './index.js' } },
  }));
  writeFileSync(join(installed, 'index.js'), `export * from ${JSON.stringify(join(node, 'lib', 'index.js'))};\n`);
  symlinkSync(join(node, 'types'), join(installed, 'types'));
  for (const name of ['@modelcontextprotocol', '@types', 'typescript', 'zod', 'undici-types'])
    symlinkSync(join(node, 'node_modules', name), join(modules, name));
  writeFileSync(join(path, 'package.json'), JSON.stringify({ name: 'project', type: 'module' }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return { path, remove: () => rmSync(path, { recursive: true }) };
}

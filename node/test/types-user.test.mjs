// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { makeProject } from './support/project.mjs';

const read = (folder, kind) => readdirSync(folder).filter((name) => name.endsWith(kind))
  .map((name) => [name, readFileSync(join(folder, name), 'utf8')]);
const examples = read(fileURLToPath(new URL('../../examples/node/', import.meta.url)), '.mjs');

function compile(files, options) {
  const tsconfig = {
    compilerOptions: {
      noEmit: true, strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true,
      module: 'nodenext', target: 'es2022', lib: ['es2023', 'esnext.disposable', 'dom'], types: ['node'], ...options,
    },
    files: Object.keys(files),
  };
  const project = makeProject({ ...files, 'tsconfig.json': JSON.stringify(tsconfig) });
  const tsc = join(project.path, 'node_modules', 'typescript', 'bin', 'tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', project.path], { encoding: 'utf8' });
  project.remove();
  return stdout;
}

it('the types are right in themselves', () => {
  assert.equal(compile({ 'all.ts': "export * from 'glovebox';\n" }, { skipLibCheck: false }), '');
});

it('the examples compile as they are, checked strictly', () => {
  assert.equal(compile(Object.fromEntries(examples), { allowJs: true, checkJs: true }), '');
});

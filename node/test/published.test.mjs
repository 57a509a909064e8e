// SPDX-License-Identifier: MIT
/*
 * Programs in the published forms of five systems, in the folder published: they compile under
 * `tsc --strict` and run, with the import alone changed.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { after, it } from 'node:test';

import typescript from 'typescript';

import { compile } from './support/compile.mjs';
import { makeProject } from './support/project.mjs';

const folder = new URL('./published/', import.meta.url);
const sources = Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]));

const project = makeProject(Object.fromEntries(Object.entries(sources).map(([name, text]) => [
  name.replace(/\.ts$/, '.js'),
  typescript.transpileModule(text, { compilerOptions: { module: 'esnext', target: 'es2022' } }).outputText,
])));
after(() => project.remove());

it('the published programs compile strictly', () => {
  assert.equal(compile(sources, { exactOptionalPropertyTypes: false, noUncheckedIndexedAccess: false }), '');
  assert.equal(compile(sources), '');
});

for (const [name, said] of Object.entries({
  'fusion-main': ['false ["a"]', 'true VALIDATION_ERROR', 'false 1', 'left', 'aborted', 'a number', 'true true', 'string'],
  forge: ['5', "false [ 'eval() is forbidden' ]", 'true { sum: 30 } true'],
  runner: ['warn adds', '7', 'warn adds', '7', 'warn adds', '7'],
  codemode: ['true [{"sql":"SELECT 1"}] Step 1 complete; Found 1 items'],
  layers: [
    '5', 'SANDBOX_TIMEOUT: code exceeded 2000ms', '{ ok: true, result: [ 2, 4 ] }', "{ ok: false, error: 'Error: own words' }",
    'WORKER_TIMEOUT', "{ ok: false, error: 'needed more memory than the limit of 64 MiB' }", 'undefined,undefined,undefined,undefined',
  ],
})) {
  it(`${name}.ts does what it is published to do`, () => {
    const { stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', `${name}.js`], { cwd: project.path, encoding: 'utf8', timeout: 60000 });
    assert.deepEqual(stdout.trimEnd().split('\n'), said, stderr);
  });
}

// SPDX-License-Identifier: MIT
/* compile - the TypeScript compiler over a user's project. */
import assert from 'node:assert/strict';
import { join } from 'node:path';

import typescript from 'typescript';

import { makeProject } from './project.mjs';

/* What has been parsed, by its name and how: libraries are the same for all. */
const parsed = new Map();

/** What `tsc --strict` says of the files, beside which the package is installed. */
export function compile(files, options = {}) {
  const project = makeProject(files);
  const { options: taken, errors } = typescript.convertCompilerOptionsFromJson({
    noEmit: true, strict: true, skipLibCheck: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true,
    module: 'nodenext', target: 'es2022', lib: ['es2023', 'esnext.disposable', 'dom'], types: ['node'], ...options,
  }, project.path);
  const host = typescript.createCompilerHost(taken);
  const parse = host.getSourceFile;
  host.getCurrentDirectory = () => project.path;
  host.getSourceFile = (name, how, ...more) => {
    const key = JSON.stringify([name, how, taken.module]);
    if (name.startsWith(project.path)) return parse(name, how, ...more);
    if (!parsed.has(key)) parsed.set(key, parse(name, how, ...more));
    return parsed.get(key);
  };
  const program = typescript.createProgram(Object.keys(files).map((name) => join(project.path, name)), taken, host);
  /* Without the libraries, whose check takes longest. */
  const own = program.getSourceFiles().filter(({ fileName }) => !fileName.includes('/node_modules/'));
  const found = [...errors, ...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics(),
    ...own.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)])];
  assert.ok(own.some(({ fileName }) => fileName.endsWith('types/engine.d.ts')));
  project.remove();
  return typescript.formatDiagnostics(found, host);
}

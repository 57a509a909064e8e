#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// compare - blank the types of every TypeScript file of ten npm packages, once by our own
// analysis and once by ts-blank-space, which uses the TypeScript compiler. Both must leave
// the same program, character by character where it stood, or ours must refuse the file.
//
//     tests/types/compare.mjs STRIP_TYPES
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const here = import.meta.dirname ?? new URL('.', import.meta.url).pathname;
const require = createRequire(join(here, 'package.json'));
const ts = require('typescript');
const { blankSourceFile } = await import(require.resolve('ts-blank-space'));
const { devDependencies } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
const packages = Object.keys(devDependencies).filter((name) => !/^(typescript|ts-blank-space)$/.test(name));

const filesOf = (name) => readdirSync(join(here, 'node_modules', name), { recursive: true })
  .filter((path) => /\.[cm]?ts$/.test(path) && !/\.d\.[cm]?ts$/.test(path) && !path.includes('node_modules'))
  .map((path) => join(here, 'node_modules', name, path));

/** The program as the compiler reads it: without trivia and empty statements. Imports and lists
 * of exports do not count: code in the sandbox has no modules, so those of values are refused. */
function meaning(text) {
  const file = ts.createSourceFile('a.mjs', text, ts.ScriptTarget.Latest, false, ts.ScriptKind.JS);
  const errors = file.parseDiagnostics.filter(({ start }) => !isImport(file, start));
  if (errors.length > 0) {
    const { line } = file.getLineAndCharacterOfPosition(errors[0].start);
    return { error: `${line + 1}: ${ts.flattenDiagnosticMessageText(errors[0].messageText, ' ')}` };
  }
  const { transformed: [kept] } = ts.transform(file, [(context) => function visit(node) {
    if (ts.isSemicolonClassElement(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return undefined;
    const left = ts.visitEachChild(node, visit, context);
    if (left.statements === undefined) return left;
    const statements = left.statements.filter((each) => !ts.isEmptyStatement(each));
    if (ts.isSourceFile(left)) return ts.factory.updateSourceFile(left, statements);
    return ts.isBlock(left) ? ts.factory.updateBlock(left, statements) : left;
  }]);
  return { text: ts.createPrinter({ removeComments: true }).printFile(kept) };
}

const isImport = (file, at) => file.statements.some((each) =>
  (ts.isImportDeclaration(each) || ts.isExportDeclaration(each)) && each.pos <= at && at < each.end);

/** What ts-blank-space leaves; of a cast that it cannot blank, <T>x, what the compiler does. */
function theirs(text) {
  const refused = new Set();
  const source = ts.createSourceFile('a.mts', text, { languageVersion: ts.ScriptTarget.Latest, impliedNodeFormat: ts.ModuleKind.ESNext }, false, ts.ScriptKind.TS);
  const left = blankSourceFile(source, (node) => refused.add(ts.SyntaxKind[node.kind]));
  if (refused.delete('TypeAssertionExpression') && refused.size === 0) {
    const options = { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true };
    return { left: ts.transpileModule(text, { fileName: 'a.mts', compilerOptions: options }).outputText };
  }
  return refused.size > 0 ? { refused: [...refused].join(', ') } : { left };
}

const paths = packages.flatMap(filesOf);
const { stdout, status } = spawnSync(process.argv[2], { input: paths.map((path) => `${path}\n`).join(''), maxBuffer: 1 << 30 });
if (status !== 0) throw new Error(`strip_types ended with ${status}`);

let at = 0;
const next = () => {
  const end = stdout.indexOf(10, at);
  const head = stdout.toString('utf8', at, end);
  at = end + 1;
  if (head.startsWith('REFUSED')) return { refused: head };
  const from = at;
  at += Number(head);
  return { left: stdout.toString('utf8', from, at) };
};

const counts = { same: 0, 'refused by both': 0, 'refused by ours': 0, different: 0 };
for (const path of paths) {
  const text = readFileSync(path, 'utf8');
  const ours = next();
  const other = theirs(text);
  const say = (what) => console.log(`${what}: ${path.slice(here.length)}`);
  if (ours.refused !== undefined) {
    counts[other.refused !== undefined ? 'refused by both' : 'refused by ours']++;
    if (other.refused === undefined) say(ours.refused);
    continue;
  }
  const [a, b] = [meaning(ours.left), other.refused !== undefined ? { error: `ts-blank-space refuses ${other.refused}` } : meaning(other.left)];
  if (a.error === undefined && a.text === b.text && ours.left.length === text.length) {
    counts.same++;
    continue;
  }
  counts.different++;
  say(`DIFFERENT (${a.error ?? b.error ?? 'another program'})`);
  if (a.text !== undefined && b.text !== undefined) {
    const [x, y] = [a.text.split('\n'), b.text.split('\n')];
    const i = x.findIndex((line, n) => line !== y[n]);
    console.log(`  ours   ${x[i]}\n  theirs ${y[i]}`);
  }
}
console.log(`${paths.length} files of ${packages.length} packages: ${Object.entries(counts).map(([what, n]) => `${n} ${what}`).join(', ')}`);
process.exit(counts.different > 0 ? 1 : 0);

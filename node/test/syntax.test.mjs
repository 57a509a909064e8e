// SPDX-License-Identifier: MIT
/* What the engine takes for a syntax error is no valid code, and the other way round. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

import { SandboxEngine, SandboxedToolForge, validateSandboxCode } from '../lib/index.js';

const engine = new SandboxEngine();
const forge = new SandboxedToolForge();
after(() => {
  forge.dispose();
  return engine.close();
});

/* The grammar has no objection to these, JavaScript has. */
const FORBIDDEN = [
  'if (i) const x = 1;', 'for (;;) let x = 1;', 'if (i) i(); else const z = 1', 'let a; let a', 'let i = 1',
  'let a; var a', 'break;', 'continue', 'break there;', 'return 010', 'return "\\01"', 'with (i) {}', 'let a; delete a',
  'i?.x = 1', 'return /(/', 'return /a/gg', 'yield 1', 'let yield', 'function f(a, a) {}', 'return i.#p', 'super()',
  'arguments = 1', 'if (i) function f() {}', 'let [a];', '@dec class A {}', 'i ?? i || i', '-1 ** 2', 'try {}',
  'class A { constructor() {} constructor() {} }', 'catch', '1 = 2', 'f() = 1', 'return "\\u{110000}"',
  'return 1__0', 'return 3in [i]', 'return \u201cx\u201d', 'throw\n1', '({ a: 1 b: 2 })', '[1 2]', 'i(1 2)',
  'i(1 i(2))', 'i("a" "b")', 'return { a b }', 'i.map(x => x y)', 'new i?.b()', "return 'abc", 'return `abc',
];

/* They look as if something were wrong. */
const RIGHT = [
  'x = i.y\n++\ni.z', 'return i /* ` */ // (', 'return `}` + "]"', 'a: for (;;) break a;', '({ __proto__: null, a: 1 })',
  'return /[/(]/.source', 'return String.raw`C:\\users`', 'async () => { for await (const x of i) x }', 'let of = 1; return of',
  'return class { static #p = 1; static has(o) { return #p in o } }', 'return i?.["a"]?.(1) ?? 0', 'let async = 1; return async',
  'return 1_000n', 'if (i) ; else ;', 'switch (1) { case 1: { let a } default: { let a } }', 'let undefined = 1',
  'return function* () { yield 1 }', 'function f() {} function f() {}', 'return /(?i:a)|(?<y>b)|(?<y>c)/v',
];

const inFunction = (body) => `(i) => {\n  ${body}\n}`;

describe('what JavaScript forbids', () => {
  it('is a syntax error here if the engine says so, and nothing else is', async () => {
    for (const code of [...FORBIDDEN, ...RIGHT].map(inFunction)) {
      const run = await engine.execute(code, {});
      const { violations: [first] = [] } = validateSandboxCode(code);
      assert.equal(first?.code === 'SYNTAX', run.code === 'SYNTAX', `${code}: ${run.error ?? 'runs'}, ${first?.message ?? 'valid'}`);
    }
    for (const code of FORBIDDEN.map(inFunction)) assert.equal(validateSandboxCode(code).ok, false, code);
  });

  it('is told with the hint that the engine gives, where it is', async () => {
    for (const [body, line, column, hint] of [
      ['if (i) const x = 1;', 2, 10, /put it in braces/], ['let a;\n\n  let a', 4, 7, /choose another/],
      ['return [1,\n 2 3]', 3, 4, /in an array/], ['return { a: 1 b: 2 }', 2, 17, /in an object/],
      ['i(1 2)', 2, 7, /in the arguments/], ['break;', 2, 3, /'return'/], ['return \u201cx\u201d', 2, 10, /typographic/],
      ['return "\u{1F600}\u00e9" + \u201cx\u201d', 2, 17, /typographic/], ['return 010', 2, 10, /0o17/],
      ['return i.#p', 2, 12, /private field/], ['i?.x = 1', 2, 8, /only a variable/], ["return 'abc", 2, 10, /closes this string/],
    ]) {
      const code = inFunction(body);
      const { violations: [first] } = validateSandboxCode(code);
      assert.deepEqual([first.code, first.rule, first.line, first.column], ['SYNTAX', 'syntax', line, column], body);
      assert.match(first.hint, hint);
      assert.equal(first.hint, (await engine.execute(code, {})).hint, body);
      assert.ok(first.frame.includes(`>   ${line} | `), first.frame);
    }
  });

  it('has its place in the code that was given, fence and all', () => {
    const { violations: [first] } = validateSandboxCode('\n```js\n(i) => { let a; let a }\n```');
    assert.deepEqual([first.line, first.column], [3, 21]);
    const [second] = validateSandboxCode('/* \u00e9 */ (i) => { let a; let a };').violations;
    assert.deepEqual([second.line, second.column], [1, 29]);
  });

  it('is found in a line of any length', () => {
    const { violations: [first] } = validateSandboxCode(`(i) => { ${'i.a();'.repeat(800)} let a; let a }`);
    assert.deepEqual([first.line, first.column], [1, 4822]);
  });

  it('depends on the form, as in the engine', async () => {
    for (const form of ['execute', 'body', 'script']) {
      for (const code of ['return 1', 'await 1', 'const execute = 1; let execute', 'function execute() {} break;', '}); (() => {', '}} + { m() {{',
        'let params', 'let env = 1; return env', 'super.x', 'function execute() {}; let yield', 'new.target', 'var a; let b; ({ b }) => 1; function execute() {}']) {
        const run = await engine.run({ form, code });
        const [first] = validateSandboxCode(code, { form }).violations ?? [];
        assert.equal(first?.code === 'SYNTAX', run.code === 'SYNTAX', `${form}, ${code}: ${run.error ?? 'runs'}, ${first?.message ?? 'valid'}`);
      }
    }
  });

  it('is found at the same place, with the same hint, as where it runs', async () => {
    for (const [code, line, column, hint] of [
      ['const a = 1 +\n', 1, 14, /^the code ends here/], ['const x = 5;\nreturn x *', 2, 11, /^the code ends here/],
      ['if (1 &lt; 2) { return 1 }', 1, 7, /HTML entities/], ['return [1].map((x) => x &amp;&amp; 1)', 1, 25, /HTML entities/],
    ]) {
      const run = await engine.run({ form: 'script', code });
      const [first] = validateSandboxCode(code, { form: 'script' }).violations;
      for (const seen of [first, { ...run.location, hint: run.hint }]) {
        assert.deepEqual([seen.line, seen.column], [line, column], code);
        assert.match(seen.hint, hint);
      }
    }
  });

  it('makes code of a forge invalid, with place and hint', () => {
    for (const [code, said] of [
      ['function execute(i) { if (i) const x = 1; }', /^line 1, column 30: Unexpected token 'const' \(a declaration cannot stand here/],
      ['function execute(i) { return [1 2]; }', /^line 1, column 33: .*missing before this, in an array/],
      ['return 1; function execute() {}', /^line 1, column 1: .*only inside a function/],
    ]) {
      const { valid, violations } = forge.validateCode(code);
      assert.equal(valid, false);
      assert.match(violations[0], said);
    }
  });
});

describe('nothing that runs is refused', () => {
  it('of the code that other tests and examples have', () => {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    for (const folder of ['tests/escape/ordinary', 'tests/escape/corpus', 'node/lib', 'node/test', 'examples/node']) {
      for (const name of readdirSync(root + folder).filter((each) => /\.(m?js|cases)$/.test(each))) {
        const source = readFileSync(`${root}${folder}/${name}`, 'utf8').replace(/^(import|export) [^;]*from .*$|^export \{[^}]*\};/gm, '');
        const code = source.replace(/^export (default )?/gm, '').replaceAll('import.meta', 'meta').replaceAll('import(', 'load(');
        try {
          new vm.Script(`"use strict"; async () => {${code}\n}`);
        } catch {
          continue;
        }
        const found = validateSandboxCode(code, { form: 'body' }).violations?.filter((each) => each.code === 'SYNTAX');
        assert.deepEqual(found ?? [], [], `${folder}/${name}`);
      }
    }
  });

  it('nor is what is too deep for a parser', () => {
    for (const code of [`(i) => ${'['.repeat(30000)}${']'.repeat(30000)}`, `(i) => ${'a => '.repeat(12000)}1`])
      assert.deepEqual(validateSandboxCode(code), { ok: true });
  });
});

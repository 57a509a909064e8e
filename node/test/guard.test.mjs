// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { SANDBOX_SYSTEM_INSTRUCTION, validateSandboxCode } from '../lib/index.js';

test('functions of every shape are right', () => {
  for (const code of [
    '(d) => d', 'd => d', 'function (d) { return d; }', 'function f(d) { return d; }',
    'async (d) => d', 'async d => d', 'async function (d) { return d; }',
    '/* first */ (d) => d;', '```js\n(d) => d\n```', '() => "import require(1) eval(2)"',
    '() => ({ async: 1 }).async',
  ]) {
    assert.deepEqual(validateSandboxCode(code), { ok: true }, code);
  }
});

test('what is wrong has message, line and column', () => {
  for (const [code, rule] of [
    ['1 + 1', 'form'], ['', 'form'], ['() => require("fs")', 'require'], ['() => eval("1")', 'eval'],
    ['() => new Function("1")', 'Function'], ['() => Function("1")', 'Function'], ['() => process.exit()', 'process'],
    ['() => import("x")', 'import'],
  ]) {
    const result = validateSandboxCode(code);
    assert.equal(result.ok, false, code);
    assert.equal(result.violation, result.violations[0].message);
    const [first] = result.violations;
    assert.equal(typeof first.message, 'string');
    assert.ok(code === '' || (first.line >= 1 && first.column >= 1), code);
    assert.ok(new RegExp(rule, 'i').test(first.rule + first.message), `${code}: ${first.rule}`);
  }
});

test('all violations are told, in their places', () => {
  const { violations } = validateSandboxCode('() => {\n  require("a");\n  return eval("b");\n}');

  assert.deepEqual(violations.map(({ line, column }) => [line, column]), [[2, 3], [3, 10]]);
});

test('code may be as long as the engine takes it', () => {
  const code = `() => "${'x'.repeat(100000)}"`;
  const limits = (codeBytes) => ({ limits: { codeBytes } });
  const tooLong = (options) => validateSandboxCode(code, options).violations?.some(({ rule }) => rule === 'size');

  assert.equal(tooLong({}), true);
  assert.equal(tooLong(limits(1048576)), undefined);
  assert.equal(tooLong({ policy: limits(1048576) }), undefined);
  assert.equal(tooLong({ policy: limits(1048576), ...limits(70000) }), true);
  assert.equal(tooLong({ policy: limits(70000), ...limits(1048576) }), true);
  assert.equal(validateSandboxCode('() => 1', limits(3)).ok, false);
  assert.throws(() => validateSandboxCode(code, limits(0)), /limits\.codeBytes/);
});

test('what the engine allows is no violation', () => {
  const code = 'async (d) => (await fetch("https://a.example/x")).status';

  assert.equal(validateSandboxCode(code).ok, false);
  assert.equal(validateSandboxCode(code, { fetch: ['a.example'] }).ok, true);
  assert.equal(validateSandboxCode('1 + 1', { form: 'script' }).ok, true);
});

test('a hint names options of the engine, and no flag of the command', () => {
  const { violations: [first] } = validateSandboxCode("async () => fetch('https://b.example')", { fetch: ['a.example'] });

  assert.match(first.hint, /the engine's option fetch: \['SITE'\]/);
  assert.doesNotMatch(first.hint, /--allow/);
});

test('code that is no string is a violation, wrong options are a TypeError', () => {
  assert.equal(validateSandboxCode(7).ok, false);
  assert.throws(() => validateSandboxCode('() => 1', { form: 'poem' }), TypeError);
  assert.throws(() => validateSandboxCode('() => 1', 5), TypeError);
});

test('the instruction says what must be known', () => {
  assert.match(SANDBOX_SYSTEM_INSTRUCTION, /^\[SANDBOX\]/);
  assert.match(SANDBOX_SYSTEM_INSTRUCTION, /\(data\) => /);
  assert.match(SANDBOX_SYSTEM_INSTRUCTION, /JSON/);
});

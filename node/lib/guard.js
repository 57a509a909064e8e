// SPDX-License-Identifier: MIT
//
// guard - checks code without an engine: early advice, not a security boundary. It parses: a
// word in a string or a comment is never a use.
import { addon, problem } from './native.js';
import { hintOfEngine } from './hints.js';
import { asOption, needOptions, takeBaseDir, takeForm, takeLimits, takePolicy, takeTrust } from './options.js';
import { secondOpinion } from './syntax.js';

const FIELDS = 7; // per violation in the addon's list

/* Convert the addon's list to violations. */
function violationsOf(list) {
  const violations = [];
  for (let i = 0; i < list.length; i += FIELDS) {
    const [code, message, line, column, rule, hint, frame] = list.slice(i, i + FIELDS);
    const violation = { message, line, column, code, rule };
    if (hint !== '') violation.hint = hintOfEngine(hint);
    if (frame !== '') violation.frame = frame;
    violations.push(violation);
  }
  return violations;
}

/* V8 parses an assignment to a call, which throws when it runs; the engine refuses it. */
function hasAssignedCall(code, { line }) {
  const operator = /\)\s*(=(?![=>])|(?:[-+*/%&|^]|\*\*|&&|\|\||\?\?|<<|>>>?)=|\+\+|--)/;
  return operator.test(code.split('\n')[line - 1] ?? '');
}

/*
 * The guard's parser has better messages for open brackets. If it has no hint,
 * or finds nothing, V8 decides.
 */
function withSyntax(form, code, violations) {
  if (violations.some((each) => each.code !== 'SYNTAX' || each.hint !== undefined)) return violations;
  const opinion = secondOpinion(form, code);
  if (opinion === null) return violations;
  if (opinion === undefined) return violations.filter((each) => hasAssignedCall(code, each));
  const [message, line, column, hint, frame] = opinion;
  return violationsOf(['SYNTAX', message, line, column, 'syntax', hint, frame]);
}

/* [the form's number, the objections of the guard's parser] */
function check(code, options) {
  needOptions(options, ['form']);
  const form = takeForm(options.form);
  const { codeBytes = 0 } = takeLimits(options.limits ?? {}, 'limits');
  if (addon === undefined)
    return [form, [{ message: problem, line: 0, column: 0, code: 'UNAVAILABLE', rule: 'addon' }]];
  if (typeof code !== 'string')
    return [form, [{ message: 'the code must be a string', line: 0, column: 0, code: 'INVALID_CODE', rule: 'form' }]];
  try {
    const found = addon.check(form, code, takePolicy(options), codeBytes, takeBaseDir(options), takeTrust(options));
    return [form, violationsOf(found)];
  } catch (error) {
    throw asOption(error, options);
  }
}

/** True if code has the structure that its form requires. Quick: other errors are not
 * reported. */
export function hasForm(code, options) {
  return check(code, options)[1].length === 0;
}

/**
 * Check code. Options: form, and what the engine would allow (policy, fetch, fs, crypto, env;
 * limits.codeBytes); allowed uses are not violations.
 */
export function validateSandboxCode(code, options = {}) {
  const [form, found] = check(code, options);
  const violations = withSyntax(form, code, found);
  return violations.length === 0 ? { ok: true } : { ok: false, violation: violations[0].message, violations };
}

// SPDX-License-Identifier: MIT
//
// guard - the structural check of code, without an engine: early advice, no security
// boundary. It parses: a word in a string or a comment is never a use.
import { addon, problem } from './native.js';
import { hintOfEngine } from './hints.js';
import { needOptions, takePolicy, wrong } from './options.js';

const FORMS = ['function', 'execute', 'body', 'script'];
const FIELDS = 7; // of one violation in the list that the addon makes

/**
 * Check code. Options: form, and what the engine would allow (policy, fetch, fs, crypto,
 * env), so that what is allowed is no violation.
 */
export function validateSandboxCode(code, options = {}) {
  needOptions(options, ['form']);
  const form = FORMS.indexOf(options.form ?? 'function');
  if (form < 0) throw wrong('form', `one of ${FORMS.join(', ')}`, options.form);
  if (addon === undefined) throw new Error(problem);
  if (typeof code !== 'string') {
    const message = 'the code must be a string';
    return {
      ok: false,
      violation: message,
      violations: [{ message, line: 0, column: 0, code: 'INVALID_CODE', rule: 'form' }],
    };
  }
  const list = addon.check(form, code, takePolicy(options), 0);
  if (list.length === 0) return { ok: true };
  const violations = [];
  for (let i = 0; i < list.length; i += FIELDS) {
    const violation = { message: list[i + 1], line: list[i + 2], column: list[i + 3] };
    violations.push({ ...violation, code: list[i], rule: list[i + 4] });
    const last = violations[violations.length - 1];
    if (list[i + 5] !== '') last.hint = hintOfEngine(list[i + 5]);
    if (list[i + 6] !== '') last.frame = list[i + 6];
  }
  return { ok: false, violation: violations[0].message, violations };
}

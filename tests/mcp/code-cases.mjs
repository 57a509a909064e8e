// SPDX-License-Identifier: MIT
// code-cases: what models write in code mode, and what they get: one table (tables/code.txt) for
// `glovebox mcp` (codemode.test.mjs) and for createCodeMode() of the Node package.
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { rows, table, valueOf } from './tables.mjs';

/** The tools of the server `up`; over stdio they are code-upstream.mjs. */
export const tools = {
  list_orders: {
    description: 'Lists orders. There are many.',
    inputSchema: { type: 'object', properties: { page: { type: 'integer' }, state: { enum: ['open', 'done'] } }, required: ['page'] },
    annotations: { readOnlyHint: true },
    handler: ({ page }) => ({ items: [1, 2, 3].map((n) => ({ id: page * 10 + n, total: n * 5 })) }),
  },
  echo: { description: 'Gives its arguments back.', handler: (args) => args },
  fail: { description: 'Fails.', handler: ({ why = 'no stock' }) => { throw new Error(why); } },
  change: { description: 'Changes a thing, after a while.', handler: ({ ms = 0 }, { signal }) => setTimeout(ms, 'changed', { signal }) },
  read: {
    description: 'Reads a thing, after a while.', annotations: { readOnlyHint: true },
    handler: ({ ms = 0 }, { signal }) => setTimeout(ms, 'read', { signal }),
  },
};

/** Of both. */
export const CALLS_MAX = 20;
export const SLEEP_MS = 20;
export const OUTPUT_BYTES = 100000;

/** A row with the fields of its error, which are text in the table. */
function withError([code, words]) {
  const error = Object.keys(words).find((word) => word.toUpperCase() === word);
  if (error === undefined) return [code, words];
  const [, name, line, column, message] = /^([A-Z]\w+)? ?(?:(\d+)(?::(\d+))?)? ?(\/.*\/)?$/.exec(words[error]);
  const number = (digits) => digits && Number(digits);
  return [code, { error, name, line: number(line), column: number(column), message: message && valueOf(message), ...words }];
}

export const groups = Object.fromEntries(table('code').map(([group, lines]) => [group, rows(lines).map(withError)]));
groups.forms.push(['  \n', { error: 'INVALID_CODE', message: /^the code is empty$/ }], [' '.repeat(60000), { error: 'INVALID_CODE' }]);

const WORDS = ['error', 'value', 'name', 'message', 'line', 'column', 'hint', 'note', 'logs', 'calls', 'input', 'timeout'];

/** The result of `execute`, of either, against a row of the table. */
export function check([code, want], { content, structuredContent: got, isError }) {
  for (const word of Object.keys(want)) assert.ok(WORDS.includes(word) || word === want.error, `no word '${word}'`);
  const said = JSON.stringify(got).slice(0, 1500);
  const { error: { code: error, name, message, line, column, hint } = {} } = got;
  assert.equal(error, want.error, said);
  assert.equal(isError === true, want.error !== undefined);
  assert.deepEqual(got.result, want.value, said);
  if (want.name !== undefined) assert.equal(name, want.name);
  if (want.message !== undefined) assert.match(message, want.message);
  if (want.line !== undefined) assert.equal(line, want.line, said);
  if (want.column !== undefined) assert.equal(column, want.column, said);
  if (want.hint !== undefined) assert.match(hint, want.hint);
  if (want.note !== undefined) assert.match(content[0].text, want.note);
  if (want.logs !== undefined) assert.deepEqual(got.logs.map((each) => each.text ?? each), want.logs);
  if (want.calls !== undefined)
    assert.deepEqual(got.calls.map((each) => [each.tool, each.ok, ...(each.code === undefined ? [] : [each.code])]), want.calls);
}

/** The arguments of `execute` for a row. */
export const argumentsOf = ([code, { input, timeout }]) => ({ code, ...(input !== undefined && { input }), ...(timeout && { timeout_ms: timeout }) });

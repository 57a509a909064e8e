// SPDX-License-Identifier: MIT
// tables: the cases that tests have as text, in tables/ or beside a test.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

/** The cases of a table: [title, lines]. No title is there twice. */
export function table(name, base = new URL('tables/', import.meta.url)) {
  const text = readFileSync(new URL(`${name}.txt`, base), 'utf8');
  const cases = text.replace(/^# .*\n/gm, '').split(/^=== /m).slice(1).map((block) => {
    const [title, ...lines] = block.trimEnd().split('\n');
    return [title, lines];
  });
  assert.ok(cases.length > 0 && new Set(cases.map(([title]) => title)).size === cases.length, name);
  return cases;
}

/** JSON, or a regular expression. */
export function valueOf(text) {
  const [, source, flags] = /^\/(.*)\/(m?)$/.exec(text) ?? [];
  return source === undefined ? JSON.parse(text) : new RegExp(source, flags);
}

/** The rows of a case: [text, words]. The text stands behind "> " on its lines, and below it lines
 *  of a word and its value; a word in capitals has what follows as it is. */
export function rows(lines) {
  const all = [...`${lines.join('\n')}\n`.matchAll(/((?:>.*\n)+)((?:[^>\n].*\n)*)/g)];
  assert.equal(all.map(([whole]) => whole).join(''), `${lines.join('\n')}\n`, 'each line is of a row');
  return all.map(([, text, below]) => {
    const words = Array.from(below.matchAll(/^(\S+) ?(.*)$/gm), ([, word, value]) =>
      [word, /^[A-Z_]+$/.test(word) ? value : valueOf(value)]);
    return [text.replace(/^> ?/gm, '').slice(0, -1), Object.fromEntries(words)];
  });
}

// SPDX-License-Identifier: MIT
// tables: the cases that tests have as text, in tables/ or beside a test.
import { readFileSync } from 'node:fs';

/** The cases of a table: [title, lines]. */
export function table(name, base = new URL('tables/', import.meta.url)) {
  const text = readFileSync(new URL(`${name}.txt`, base), 'utf8');
  return text.replace(/^# .*\n/gm, '').split(/^=== /m).slice(1).map((block) => {
    const [title, ...lines] = block.trimEnd().split('\n');
    return [title, lines];
  });
}

/** JSON, or a regular expression. */
export function valueOf(text) {
  const [, source, flags] = /^\/(.*)\/(m?)$/.exec(text) ?? [];
  return source === undefined ? JSON.parse(text) : new RegExp(source, flags);
}

/** The rows of a case: [text, words]. The text stands behind "> " on its lines, and below it lines
 *  of a word and its value; a word in capitals has what follows as it is. */
export function rows(lines) {
  const all = `${lines.join('\n')}\n`.matchAll(/((?:>.*\n)+)((?:[^>].*\n)*)/g);
  return Array.from(all, ([, text, below]) => {
    const words = Array.from(below.matchAll(/^(\S+) ?(.*)$/gm), ([, word, value]) =>
      [word, /^[A-Z_]+$/.test(word) ? value : valueOf(value)]);
    return [text.replace(/^> ?/gm, '').slice(0, -1), Object.fromEntries(words)];
  });
}

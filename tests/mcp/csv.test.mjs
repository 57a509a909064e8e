// SPDX-License-Identifier: MIT
// CSV as datasets: what becomes of cells, and where a text is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inBox } from './scripts.mjs';
import { table } from './tables.mjs';

/** What becomes of texts, each [text, delimiter, extent]. */
const read = (texts) => inBox(`(texts) => texts.map(([text, delimiter = '', extent = 0]) => {
  const { rows, message, line, column } = table(text, delimiter, extent);
  return message !== undefined ? \`line \${line}, column \${column}: \${message}\` : JSON.stringify(rows) + (rows.columns ? ' of ' + JSON.stringify(rows.columns) : '')
    + (rows.isCut ? ' cut' : '');
})`, texts);

test('tables are those of the table', () => {
  const cases = table('csv').map(([title, lines]) => [JSON.parse(title), lines.join('\n')]);
  assert.ok(cases.length >= 100);
  read(cases.map(([text]) => [text])).forEach((is, i) => assert.equal(is, cases[i][1], cases[i][0]));
});

test('a delimiter that is named is not guessed', () => {
  assert.deepEqual(read([['a,b\tc\n1\t2\n', '\t'], ['a\n1\n', '\t']]), ['[{"a,b":1,"c":2}]', '[{"a":1}]']);
});

const [WHOLE, UNFINISHED, GROWS] = [0, 1, 2];

test('a last record without an end is left out where that is asked for', () => {
  const one = '[{"a":1,"b":2}] cut';
  const two = '[{"a":1,"b":2},{"a":3,"b":4}]';
  const cases = [
    ['a,b\n1,2\n3', WHOLE, /^line 3, column 1: 1 cell/], ['a,b\n1,2\n3', UNFINISHED, one], ['a,b\n1,2\n3', GROWS, one],
    ['a,b\n1,2\n3,4', WHOLE, two], ['a,b\n1,2\n3,4', UNFINISHED, two], ['a,b\n1,2\n3,4', GROWS, one],
    ['a,b\n1,2\n3,4\n', GROWS, two], ['a,b\r1,2\r3,4\r', GROWS, two], ['a,b\n1,2\n3,"x\ny\n', UNFINISHED, one],
    ['a,b\n1,2\n3,"x\ny', GROWS, one], ['a,b\n1,2\n3\n', GROWS, /^line 3, column 1/], ['a,b\n1,2\n3,4,5', UNFINISHED, /^line 3, column 5/],
    ['a,b\n1\n3', UNFINISHED, /^line 2/], ['a,b', GROWS, '[] of ["a","b"]'], ['a,"b', GROWS, /never closed/],
  ];
  read(cases.map(([text, extent]) => [text, '', extent])).forEach((is, i) => {
    const [text, extent, wanted] = cases[i];
    if (typeof wanted === 'string') assert.equal(is, wanted, `${text} ${extent}`);
    else assert.match(is, wanted, `${text} ${extent}`);
  });
});

test('hostile texts are read or refused', () => {
  const cases = [['a,'.repeat(200000) + 'b\n', /^line 1, column 8193: there are more than 4096 columns/],
    ['a,'.repeat(4095) + 'a\n', /^\[\] of \["a","a_2",/], ['""'.repeat(2000000) + '"\n', /^line 1, column 1: /],
    ['x'.repeat(5000) + '\n1', /^line 1, column 1: the name of a column is longer/],
    ['\n'.repeat(1000000), /^line 1, column 1: the first line/], ['a\r'.repeat(200000), /^\[\{"a":"a"\},/],
    [' '.repeat(1000000) + 'x' + ' '.repeat(1000000), /^\[\] of \["x"\]/], ['a\n' + 'y'.repeat(3000000), /^\[\{"a":"yyy/]];
  for (const [text, wanted] of cases) assert.match(read([[text]])[0].slice(0, 200), wanted);
});

test('every truncation is read or refused', () => {
  const text = 'a;"b"""\r\n"1";2\n\u00e9; "x\ny" \n';
  const cases = Array.from(text, (_, i) => [WHOLE, UNFINISHED, GROWS].map((extent) => [text.slice(0, i), '', extent])).flat();
  for (const is of read(cases)) assert.match(is, /^(\[|line \d+, column \d+: )/);
});

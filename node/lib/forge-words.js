// SPDX-License-Identifier: MIT
/*
 * forge-words - the texts of validateCode() that programs for a forge compare, one for each
 * pattern of the published list, in the order of that list.
 */
const WORDS = [
  [/^eval$/, 'eval() is forbidden'],
  [/^(?:new )?Function$/, 'Function() is forbidden'],
  [/^new Function$/, 'new Function() is forbidden'],
  [/^require$/, 'require() is forbidden'],
  [/^import$/, 'import statements are forbidden'],
  [/^import\(\)$/, 'dynamic import() is forbidden'],
  [/^process$/, 'process access is forbidden'],
  [/^child_process$/, 'child_process access is forbidden'],
  [/^fs\.write/, 'fs.write* is forbidden'],
  [/^fs\.unlink/, 'fs.unlink is forbidden'],
  [/^fs\.rm$/, 'fs.rm is forbidden'],
  [/^fs\.rmdir/, 'fs.rmdir is forbidden'],
  [/^fs\.appendFile/, 'fs.appendFile is forbidden'],
  [/^fs\.truncate/, 'fs.truncate is forbidden'],
];

/* Texts for entries that the allowlist lacks. */
const NOT_LISTED = {
  fetch: 'fetch() is not in the allowlist',
  'fs.readFile': 'fs access is not in the allowlist',
  crypto: 'crypto access is not in the allowlist',
};

/* What the code uses there, in the form of the patterns: 'new Function', 'fs.writeFile'. */
function useAt(code, { message, line, column }) {
  const name = /^'([^']+)'/.exec(message)?.[1] ?? '';
  const text = [...(code.split('\n')[line - 1] ?? '')];
  if (name === 'fs') return /^fs\s*\.\s*\w+/.exec(text.slice(column - 1).join(''))?.[0].replace(/\s/g, '') ?? name;
  if (name === 'Function' && /\bnew\s+$/.test(text.slice(0, column - 1).join(''))) return 'new Function';
  return name;
}

/** The published texts of the violations, each once, in their order. own: the text of one that is
  * not in the list; unlisted: the entry that the allowlist lacks. */
export function wordsOf(code, found) {
  const texts = found.flatMap(({ violation, unlisted, own }) => {
    const use = useAt(code, violation);
    const known = WORDS.filter(([pattern]) => pattern.test(use)).map(([, text]) => text);
    return known.length > 0 ? known : [NOT_LISTED[unlisted] ?? own];
  });
  const order = [...WORDS.map(([, text]) => text), ...Object.values(NOT_LISTED)];
  const place = (text) => (order.includes(text) ? order.indexOf(text) : order.length);
  return [...new Set(texts)].sort((a, b) => place(a) - place(b));
}

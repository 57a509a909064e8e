// SPDX-License-Identifier: MIT
// scripts: what our own scripts make of data, in the box where they run.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { env, put } from './box.mjs';

const source = (path) => readFileSync(fileURLToPath(new URL(`../../src/mcp/${path}`, import.meta.url)), 'utf8');
const declarations = source('code/declarations.js');
const scripts = {
  table: source('../realm/table.js'),
  describe: source('data/describe.js'),
  declarations,
  finder: `(${source('code/discover.js')})(${declarations})`,
};

/** The value of a function over data; it sees those of the scripts that it names. */
export function inBox(code, data) {
  const seen = Object.entries(scripts).filter(([name]) => code.includes(name)).map(([name, text]) => `const ${name} = ${text};\n`);
  const file = put('script.js', `(data) => { ${seen.join('')}return (${code})(data); }`);
  const { stdout, stderr } = spawnSync(process.env.GLOVEBOX,
    ['run', '--file', file, '--data', '-', '--max-output', '50000000', '--timeout', '60000', '--memory', '512'],
    { input: JSON.stringify(data), env, maxBuffer: 2 ** 27 });
  assert.equal(stderr.toString(), '');
  return JSON.parse(stdout);
}

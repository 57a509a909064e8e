// SPDX-License-Identifier: MIT
// node-side - the same work in Node, for the ratios. One JSON object on standard output:
// median milliseconds of each kind. Reads the records from the file it is given.
import { readFileSync } from 'node:fs';

const median = (xs) => xs.sort((a, b) => a - b)[xs.length >> 1];

function time(times, work) {
  const ms = [];
  for (let i = 0; i <= times; i++) {
    const start = process.hrtime.bigint();
    work();
    if (i > 0) ms.push(Number(process.hrtime.bigint() - start) / 1e6);
  }
  return median(ms);
}

// The very code strings that glovebox runs, so that neither side does less.
const work = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const text = readFileSync(process.argv[3], 'utf8');
const results = {};

// A fresh function each time: a call in the box has no warm code either.
const fresh = (code) => (0, eval)(`(${code})`);

results.records = time(5, () => JSON.stringify(fresh(work.records)(JSON.parse(text))));
for (const [name, code] of Object.entries(work.compute))
  results[name] = time(5, () => JSON.stringify(fresh(code)()));
process.stdout.write(JSON.stringify(results));

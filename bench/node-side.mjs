// SPDX-License-Identifier: MIT
// node-side - the same work in Node, for the ratios. One JSON object on standard output:
// milliseconds of each kind. Reads the records from the file it is given.
import { readFileSync } from 'node:fs';

// Once each, in a process that has not run it before: as a call in the box is. The
// rounds of run.mjs make the median.
function time(work) {
  const start = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

// The very code strings that glovebox runs, so that neither side does less.
const work = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const text = readFileSync(process.argv[3], 'utf8');
const results = {};

const fresh = (code) => (0, eval)(`(${code})`);

results.records = time(() => JSON.stringify(fresh(work.records)(JSON.parse(text))));
for (const [name, code] of Object.entries(work.compute))
  results[name] = time(() => JSON.stringify(fresh(code)()));
process.stdout.write(JSON.stringify(results));

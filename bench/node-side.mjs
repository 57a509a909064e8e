// SPDX-License-Identifier: MIT
// node-side - the same work in Node, for the ratios: milliseconds, on standard output. A
// process of its own for each, as a call has: time is that of the work alone, in an engine
// that has run nothing before it, without the start of Node.
//
//   node node-side.mjs CODE [RECORDS.json]
import crypto from 'node:crypto';
import { readFileSync } from 'node:fs';

const [code, recordsFile] = process.argv.slice(2);
const text = recordsFile === undefined ? 'null' : readFileSync(recordsFile, 'utf8');

Object.defineProperty(globalThis, 'crypto', { value: crypto });

const start = process.hrtime.bigint();
const f = (0, eval)(`(${code})`);
JSON.stringify(f(JSON.parse(text)));
process.stdout.write(String(Number(process.hrtime.bigint() - start) / 1e6));

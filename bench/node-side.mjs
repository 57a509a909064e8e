// SPDX-License-Identifier: MIT
// node-side - one kind of the same work in Node, for the ratios: milliseconds, on
// standard output. A process of its own for each, as a call has: time is that of the
// work alone, in an engine that has run nothing before it, without the start of Node.
//
//   node node-side.mjs WORK.json RECORDS.json KIND
import crypto from 'node:crypto';
import { readFileSync } from 'node:fs';

const [workFile, recordsFile, kind] = process.argv.slice(2);
const work = JSON.parse(readFileSync(workFile, 'utf8'));
const text = kind === 'records' ? readFileSync(recordsFile, 'utf8') : '';

Object.defineProperty(globalThis, 'crypto', { value: crypto });

// The very code strings that glovebox runs, so that neither side does less.
const start = process.hrtime.bigint();
const f = (0, eval)(`(${kind === 'records' ? work.records : work.compute[kind]})`);
JSON.stringify(kind === 'records' ? f(JSON.parse(text)) : f());
process.stdout.write(String(Number(process.hrtime.bigint() - start) / 1e6));

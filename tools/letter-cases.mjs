#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// letter-cases - writes src/mcp/rules/letters_table.h: of letters that differ in case alone,
// which one stands for all of them. The cases are those of Unicode, as this program's Node
// knows them, one letter for one.
//
//     tools/letter-cases.mjs
import { writeFileSync } from 'node:fs';

const path = new URL('../src/mcp/rules/letters_table.h', import.meta.url);
const least = new Map(); // of a letter and its cases the one that comes first

function find(point) {
  while (least.has(point)) point = least.get(point);
  return point;
}

function join(one, other) {
  const [a, b] = [find(one), find(other)].sort((x, y) => x - y);
  if (a !== b) least.set(b, a);
}

for (let point = 0; point < 0x110000; point++) {
  if (point >= 0xD800 && point < 0xE000) continue;
  const text = String.fromCodePoint(point);
  for (const other of [text.toLowerCase(), text.toUpperCase()])
    if ([...other].length === 1) join(point, other.codePointAt(0));
}
join(0x130, 0x69); // its small letter is an i with a dot of its own

// Runs of letters that are as far from theirs, side by side or one in two.
const runs = [];
for (const point of [...least.keys()].sort((a, b) => a - b)) {
  const back = point - find(point);
  const run = runs.at(-1);
  if (Buffer.byteLength(String.fromCodePoint(find(point))) >
      Buffer.byteLength(String.fromCodePoint(point)))
    throw new Error(`U+${point.toString(16)} would become longer`);
  if (run?.back === back && (run.first === run.last ? point - run.last <= 2
    : point - run.last === run.step)) {
    run.step = point - run.last;
    run.last = point;
  } else {
    runs.push({ first: point, last: point, step: 1, back });
  }
}

const hex = (point) => `0x${point.toString(16).toUpperCase().padStart(4, '0')}`;
const rows = runs.map((r) => `{${hex(r.first)}, ${hex(r.last)}, ${r.step}, ${r.back}},`);
const lines = [];
for (const row of rows) {
  if (lines.length > 0 && lines.at(-1).length + row.length < 87) lines[lines.length - 1] += ` ${row}`;
  else lines.push(`    ${row}`);
}
writeFileSync(path, `/* SPDX-License-Identifier: MIT */
/* letters_table - written by tools/letter-cases.mjs from Unicode ${process.versions.unicode}. For glob.c alone. */
#ifndef GBX_MCP_RULES_LETTERS_TABLE_H
#define GBX_MCP_RULES_LETTERS_TABLE_H

#include <stdint.h>

/* Each step-th letter from first to last stands for the one that is so far before it. */
typedef struct letters {
    uint32_t first;
    uint32_t last;
    uint32_t step;
    uint32_t back;
} letters;

/* clang-format off */
static const letters letters_table[] = {
${lines.join('\n')}
};
/* clang-format on */

#endif
`);

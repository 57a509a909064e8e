// SPDX-License-Identifier: MIT
// cases: the small servers of a table, with the findings that their comments mark.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const SDK = "import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'; import { z } from 'zod'; " +
  "const server = new McpServer({ name: 's', version: '1' });";

/** [{ name, files: { path: text }, expected: ['rule path:line'] }] */
export function casesOf(table) {
  const text = readFileSync(join(import.meta.dirname, table), 'utf8');
  return text.split(/^=== /m).slice(1).map((block) => {
    const [name, ...rest] = block.split('\n');
    const files = {}, expected = [];
    for (const part of rest.join('\n').split(/^--- /m).slice(1)) {
      const [head, ...lines] = part.split('\n');
      const [path, more] = head.split(' | ');
      if (more) expected.push(more);
      lines.forEach((line, i) => {
        for (const rule of /\/\/ <- (.*)$/.exec(line)?.[1].split(', ') ?? []) expected.push(`${rule} ${path}:${i + 1}`);
      });
      files[path] = lines.join('\n').replaceAll('%sdk', SDK).replaceAll('%text', 'z.string().max(8192)');
    }
    return { name, files, expected: expected.sort() };
  });
}

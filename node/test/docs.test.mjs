// SPDX-License-Identifier: MIT
/* The programs in the documents run as they stand there. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';

import { makeProject } from './support/project.mjs';

const project = makeProject({});
after(() => project.remove());

for (const name of ['migrating.md', 'node-tools.md']) {
  const text = readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
  const programs = [...text.matchAll(/^## (.*)$|^```js\n([\s\S]*?)^```$/gm)];
  let heading = '';

  describe(`docs/${name}`, () => {
    for (const [, title, program] of programs) {
      if (title !== undefined) heading = title;
      if (program === undefined || !program.includes("from 'glovebox'")) continue;
      it(heading, () => {
        const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program],
          { cwd: project.path, encoding: 'utf8', timeout: 60000 });
        assert.equal(status, 0, stderr);
        assert.equal(stderr, '');
      });
    }
  });
}

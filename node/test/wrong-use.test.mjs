// SPDX-License-Identifier: MIT
/* Wrong use of the package, by the table of wrong-use.txt. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';

import { table } from '../../tests/mcp/tables.mjs';
import * as lib from '../lib/index.js';

const cycle = { a: {} };
cycle.a.back = cycle;
const servers = { up: { f() {} } };
const engine = new lib.SandboxEngine({ timeout: 1000 });
const tools = lib.createSandboxTools();
tools.query('there').handle(() => 1);
const mode = lib.createCodeMode({ servers });
const forge = new lib.SandboxedToolForge();
const ofProcess = lib.createSandboxClient({ adapter: lib.glovebox() });
const ofMemory = lib.createSandboxClient({ adapter: lib.memory() });
after(() => {
  for (const each of [engine, tools, mode, forge, ofProcess, ofMemory]) each.dispose();
});

/* What the lines of the table see. */
const scope = { ...lib, code: '() => 1', cycle, servers, engine, tools, mode, forge, ofProcess, ofMemory };
const evaluate = (code) => new Function(...Object.keys(scope), `return ${code}`)(...Object.values(scope));

for (const [title, lines] of table('wrong-use', import.meta.url)) {
  const [, how, code, uses] = /^(throws|rejects)(?: (GBX_\w+))? (.*)$/.exec(title);
  describe(title, () => {
    for (const line of lines.filter(Boolean)) {
      const [, argument, message] = /^(.*) -> (.*)$/.exec(line);
      const fits = (error) => error instanceof TypeError && new RegExp(message).test(error.message)
        && (code === undefined || error.code === code);
      for (const use of uses.split('; ').map((each) => each.replace('@', () => argument)))
        it(use, async () => {
          if (how === 'throws') assert.throws(() => evaluate(use), fits);
          else await assert.rejects(evaluate(use), fits);
        });
    }
  });
}

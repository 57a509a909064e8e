// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import * as lib from '../lib/index.js';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const tsc = here('../node_modules/typescript/bin/tsc');

test('the declarations are what tsc --strict takes and refuses', () => {
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', here('types/tsconfig.json')], { encoding: 'utf8' });

  assert.equal(status, 0, stdout);
});

test('everything that is exported is declared, and the other way round', () => {
  const declared = readdirSync(here('../types'))
    .map((name) => readFileSync(here(`../types/${name}`), 'utf8'))
    .flatMap((text) => [
      ...[...text.matchAll(/^export (?:declare )?(?:class|function|const) (\w+)/gm)].map((match) => match[1]),
      ...[...text.matchAll(/^export \{([^}]+)\};/gm)].flatMap((match) => match[1].split(',').map((one) => one.trim().split(' ').pop())),
    ]);

  assert.deepEqual([...new Set(declared)].sort(), Object.keys(lib).sort());
});

test('the codes of the declarations are those of the addon', () => {
  const text = readFileSync(here('../types/engine.d.ts'), 'utf8');
  const [, union] = /type SandboxErrorCode =([^;]+);/.exec(text);
  const table = here('../../include/glovebox/status.h');
  if (!existsSync(table)) return;
  const codes = [...readFileSync(table, 'utf8').matchAll(/^    XX\((\w+), \d+, \d+,/gm)].map((match) => match[1]);

  assert.deepEqual([...union.matchAll(/'(\w+)'/g)].map((match) => match[1]), codes.filter((code) => code !== 'VALUE' && code !== 'OK'));
});

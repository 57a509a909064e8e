// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

test('the quickstart shows what code is for, and what becomes of hostile code', () => {
  const file = fileURLToPath(new URL('../../examples/node/quickstart.mjs', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });

  assert.equal(status, 0, stderr);
  const [value, ...codes] = stdout.trimEnd().split('\n');
  assert.equal(JSON.parse(value).risky, 117);
  assert.deepEqual(codes.map((line) => line.split(':')[0]), ['TIMEOUT', 'MEMORY', 'INVALID_CODE', 'RUNTIME']);
});

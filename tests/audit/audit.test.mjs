// SPDX-License-Identifier: MIT
// audit: `glovebox audit` finds what is planted in small servers, at its line, and nothing in
// sound ones that look bad.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { casesOf } from './cases.mjs';

const folder = mkdtempSync(join(tmpdir(), 'glovebox-audit-'));
after(() => rmSync(folder, { recursive: true }));

let count = 0;

/** A project of these files; its folder. */
function project(files) {
  const root = join(folder, `p${++count}`);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const audit = (...args) => spawnSync(process.env.GLOVEBOX, ['audit', ...args], { encoding: 'utf8', maxBuffer: 1 << 28 });

function found(files) {
  const { stdout, stderr } = audit(project(files), '--json');
  assert.equal(stderr, '');
  const report = JSON.parse(stdout);
  assert.deepEqual(report.unread, []);
  return report;
}

const faulty = casesOf('faulty.txt'), sound = casesOf('sound.txt');

test('there are enough cases', () => {
  assert.ok(faulty.length >= 40, `${faulty.length} with faults`);
  assert.ok(sound.length >= 20, `${sound.length} without`);
});

for (const { name, files, expected } of faulty)
  test(`faulty: ${name}`, () => {
    const report = found(files);
    assert.deepEqual(report.findings.map(({ rule, file, line }) => `${rule} ${file}:${line}`).sort(), expected);
    for (const { frame, why, instead, points } of report.findings) assert.ok(frame.includes('^') && why !== '' && instead !== '' && points > 0);
  });

for (const { name, files } of sound)
  test(`sound: ${name}`, () => assert.deepEqual(found(files).findings.map(({ rule, file, line, detail }) => `${rule} ${file}:${line} ${detail}`), []));

test('every rule has a case', () => {
  const rules = JSON.parse(readFileSync(join(import.meta.dirname, '../../src/scan/rules.json'), 'utf8'));
  const marked = new Set(faulty.flatMap(({ expected }) => expected.map((one) => one.split(' ')[0])));
  assert.deepEqual(rules.map(({ id }) => id).filter((id) => !marked.has(id)), []);
});

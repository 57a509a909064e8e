// SPDX-License-Identifier: MIT
/*
 * The same programs, changed in their import alone, over the public packages and over this
 * one; the results are compared. $GLOVEBOX_PEERS is a folder in which those packages are
 * installed: without it only ours runs, against what is known of theirs.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = fileURLToPath(new URL('./migration/', import.meta.url));
const repository = fileURLToPath(new URL('../../', import.meta.url));
const peers = process.env.GLOVEBOX_PEERS;
const ours = pathToFileURL(join(repository, 'node', 'lib', 'index.js')).href;
const folder = mkdtempSync(join(tmpdir(), 'glovebox-migration-'));
writeFileSync(join(folder, 'file.txt'), 'some text');
writeFileSync(join(folder, 'large.bin'), Buffer.alloc(1048577, 'x'));
after(() => rmSync(folder, { recursive: true }));

/* Where a package of others is, or why its test is skipped. */
function peer(...path) {
  if (peers === undefined) return { skip: 'GLOVEBOX_PEERS is not set' };
  const file = join(peers, ...path);
  return existsSync(file) ? { file, url: pathToFileURL(file).href, skip: false } : { skip: `there is no ${file}` };
}

let count = 0;

/* What the program prints with its import replaced: an object of each line. */
function run(program, from, flags = []) {
  const text = readFileSync(join(here, program), 'utf8');
  const file = join(folder, `program-${count++}.mjs`);
  assert.equal(text.split("'the-package'").length, 2);
  writeFileSync(file, text.replace("'the-package'", JSON.stringify(from)));
  const { stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', ...flags, file],
    { cwd: folder, encoding: 'utf8', timeout: 120000, maxBuffer: 1 << 26 });
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
  assert.ok(lines.length > 0, stderr);
  return lines.map((line) => JSON.parse(line));
}

const by = (list, key) => new Map(list.map((each) => [each[key], each]));

/* The outcomes that are meant to differ are named; all others are the same. */
function assertSame(mine, theirs, key, differing = {}) {
  const own = by(mine, key), other = by(theirs, key);
  assert.deepEqual([...own.keys()], [...other.keys()]);
  for (const [name, outcome] of own) {
    const meant = differing[name];
    if (meant === undefined) assert.deepEqual(outcome, other.get(name), name);
    else assert.deepEqual([pick(outcome, meant[0]), pick(other.get(name), meant[1])], meant, name);
  }
}

const pick = (object, like) => Object.fromEntries(Object.keys(like).map((key) => [key, object[key]]));

describe('a program for SandboxedToolForge', () => {
  it('runs with its import changed: options, validateCode, execute and their results', () => {
    const outcomes = by(run('forge-program.mjs', ours), 'title');
    assert.equal(outcomes.size, 36);
    assert.deepEqual(outcomes.get('an object'), {
      title: 'an object', valid: true, violations: false, success: true, output: { sum: 30 },
      error: 'undefined', time: 'number', memory: 'number',
    });
    for (const title of ['eval', 'Function', 'require', 'process', 'import', 'fetch without leave', 'fs without leave', 'crypto without leave', 'writing'])
      assert.equal(outcomes.get(title).valid, false, title);
    for (const outcome of outcomes.values()) assert.equal(outcome.error, outcome.success ? 'undefined' : 'string');
  });

  const agentos = peer('heavy', 'node_modules', '@framers', 'agentos', 'dist', 'cognition', 'emergent', 'SandboxedToolForge.js');
  it('gives what @framers/agentos gives', { skip: agentos.skip }, () => {
    assertSame(run('forge-program.mjs', ours), run('forge-program.mjs', agentos.url), 'title', {
      /* Theirs looks for words, so that it sees no fault before it runs; here a parser does. */
      types: [{ valid: false, success: false }, { valid: true, success: false }],
      'a missing bracket': [{ valid: false, success: false }, { valid: true, success: false }],
      'words in a string': [{ valid: true, success: true }, { valid: false, success: false }],
      /* Theirs lets it read the environment of the host. */
      'a way out': [{ success: false }, { success: true, output: 'string' }],
    });
  });
});

describe('a program for a SandboxEngine over isolated-vm', () => {
  it('runs with its import changed, and has the same codes', () => {
    const outcomes = by(run('engine-program.mjs', ours), 'code');
    assert.equal(outcomes.get('(d) => { for (;;); }').errorCode, 'TIMEOUT');
    assert.equal(outcomes.get('(d) => (').errorCode, 'SYNTAX');
    assert.equal(outcomes.get('(d) => "x".repeat(3000000)').errorCode, 'OUTPUT_TOO_LARGE');
    assert.equal(outcomes.get('42').errorCode, 'INVALID_CODE');
  });

  const ivm = peer('node_modules', 'isolated-vm', 'isolated-vm.js');
  it('gives what isolated-vm gives', { skip: ivm.skip }, () => {
    /* The recipe finds the package beside itself. */
    const recipe = readFileSync(join(here, 'isolated-vm-engine.mjs'), 'utf8').replace("'isolated-vm'", JSON.stringify(ivm.file));
    writeFileSync(join(folder, 'isolated-vm-engine.mjs'), recipe);
    const theirs = run('engine-program.mjs', pathToFileURL(join(folder, 'isolated-vm-engine.mjs')).href, ['--no-node-snapshot']);
    assertSame(run('engine-program.mjs', ours), theirs, 'code');
  });
});

describe('functions over data give the same everywhere', () => {
  const adapter = join(repository, 'bench', 'node-adapter', 'glovebox.mjs');
  const own = existsSync(adapter) ? pathToFileURL(adapter).href : undefined;

  /* It has a process and a require of its own. */
  const hasNode = { '(d)=>typeof process === "undefined" && typeof require === "undefined"': [{ value: true }, { value: false }] };

  for (const [name, flags, differing] of [
    ['isolated-vm-5', ['--no-node-snapshot']], ['utcp', ['--no-node-snapshot']], ['quickjs-emscripten', []],
    ['sebastianwessel-quickjs', [], hasNode], ['run', []], ['vm2', []], ['node-vm', []], ['worker-vm-pool', []], ['agentos-forge', []],
  ]) {
    const found = peer('adapters', `${name}.mjs`);
    it(name, { skip: own === undefined ? 'there is no adapter of ours' : found.skip }, (t) => {
      let theirs;
      try {
        theirs = run('functions-program.mjs', found.url, flags);
      } catch (error) {
        t.skip(`it does not run here: ${String(error.message).split('\n').find((line) => /Error/.test(line)) ?? error.message}`);
        return;
      }
      assertSame(run('functions-program.mjs', own), theirs, 'code', differing);
    });
  }
});

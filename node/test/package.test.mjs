// SPDX-License-Identifier: MIT
//
// The package as npm makes it, installed into an empty project without the network: built
// from its own sources, used with import, require and TypeScript.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));

function why() {
  try {
    accessSync(folder, constants.W_OK); // npm packs in place
  } catch {
    return 'the folder cannot be written to';
  }
  for (const program of ['npm', 'cmake', 'esbuild']) {
    if (spawnSync(program, ['--version']).status !== 0) return `there is no ${program}`;
  }
  return false;
}

/** Neither the addon of this build nor its worker is to be found by accident. What was compiled
 * before, in another folder, is not compiled again. */
const environment = { ...process.env, npm_config_offline: 'true', npm_config_update_notifier: 'false', CCACHE_BASEDIR: tmpdir() };
delete environment.GLOVEBOX_ADDON;
delete environment.GLOVEBOX_WORKER;
if (spawnSync('ccache', ['--version']).status === 0) environment.CMAKE_C_COMPILER_LAUNCHER = 'ccache';

function run(cwd, program, ...args) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8', env: environment });
  assert.equal(status, 0, `${program} ${args.join(' ')}\n${stdout}\n${stderr}`);
  return stdout;
}

const MODULE = `
import { SandboxEngine, createSandboxTools } from 'glovebox';
import { createRequire } from 'node:module';
const required = createRequire(import.meta.url)('glovebox');
const engine = new SandboxEngine({ fetch: ['api.example.com'] });
const result = await engine.execute('(d) => [d.length, typeof fetch, new URL("https://ä.example").host]', [1, 2]);
await engine.close();
const isNodes = new URL(import.meta.resolve('glovebox')).pathname.endsWith('/dist/node.mjs');
console.log(JSON.stringify([result.value ?? result, required.SandboxEngine === SandboxEngine, typeof createSandboxTools, isNodes]));
`;

const COMMON = `
const { SandboxEngine, SANDBOX_SYSTEM_INSTRUCTION, validateSandboxCode } = require('glovebox');
(async () => {
  const engine = new SandboxEngine();
  const result = await engine.execute('(d) => d * 2', 21);
  engine.dispose();
  console.log(JSON.stringify([result.value ?? result, validateSandboxCode('1').ok, SANDBOX_SYSTEM_INSTRUCTION.slice(0, 9)]));
})();
`;

const TYPED = `
import { SandboxEngine, type SandboxResult } from 'glovebox';
export const result: Promise<SandboxResult<number>> = new SandboxEngine({ timeout: 5 }).execute<number>('() => 1');
`;

test('npm pack makes a package that installs into an empty project and works', { skip: why() }, () => {
  const place = mkdtempSync(join(tmpdir(), 'glovebox-package-'));
  const project = join(place, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{"name": "empty", "version": "1.0.0", "private": true}');
  writeFileSync(join(project, 'module.mjs'), MODULE);
  writeFileSync(join(project, 'common.cjs'), COMMON);
  writeFileSync(join(project, 'module.mts'), TYPED);
  writeFileSync(join(project, 'common.cts'), TYPED);
  try {
    run(folder, 'npm', 'pack', '--pack-destination', place);
    for (const name of ['core', 'dist', 'prebuilt']) assert.equal(existsSync(join(folder, name)), false, `${name} is left over`);
    const [tarball] = readdirSync(place).filter((name) => name.endsWith('.tgz'));
    run(project, 'npm', 'install', join(place, tarball));
    const installed = join(project, 'node_modules', 'glovebox');
    // An npm that asks before it runs scripts of packages has not run this one.
    if (!existsSync(join(installed, 'native'))) run(installed, process.execPath, 'install.mjs');

    assert.equal(run(project, process.execPath, 'module.mjs'), '[[2,"function","xn--4ca.example"],true,"function",true]\n');
    assert.equal(run(project, process.execPath, 'common.cjs'), '[42,false,"[SANDBOX]"]\n');
    run(project, process.execPath, join(folder, 'node_modules', 'typescript', 'bin', 'tsc'), '--strict', '--noEmit',
      '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,esnext.disposable,dom', '--typeRoots', './none', 'module.mts', 'common.cts');
    assert.match(run(installed, process.execPath, 'install.mjs'), /^$/, 'what is there is not built again');
    // What a bundler makes of it is loaded, and says where the addon is missing.
    writeFileSync(join(project, 'main.mjs'), BUNDLED);
    for (const [format, file] of [['esm', 'out.mjs'], ['cjs', 'out.cjs']]) {
      run(project, 'esbuild', 'main.mjs', '--bundle', '--platform=node', `--format=${format}`, '--log-level=error', `--outfile=${file}`);
      assert.equal(run(project, process.execPath, file), '["UNAVAILABLE",true]\n');
    }
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});

const BUNDLED = `(async () => {
  const { createSandboxTools, SANDBOX_SYSTEM_INSTRUCTION, SandboxEngine } = await import('glovebox');
  const engine = new SandboxEngine();
  const { value, code } = await engine.execute('(d) => d * 2', 21);
  const { description } = createSandboxTools().query('q').sandboxed().handle(() => 1);
  console.log(JSON.stringify([value ?? code, description === SANDBOX_SYSTEM_INSTRUCTION]));
  engine.dispose();
})();
`;

const hasEsbuild = spawnSync('esbuild', ['--version']).status === 0;

test('a bundle that the package was put into can be run', { skip: hasEsbuild ? false : 'there is no esbuild' }, () => {
  const place = mkdtempSync(join(tmpdir(), 'glovebox-bundle-'));
  const native = process.env.GLOVEBOX_ADDON
    ?? join(folder, 'native', `${process.platform}-${process.arch}`, 'glovebox.node');
  try {
    writeFileSync(join(place, 'main.mjs'), BUNDLED);
    for (const [format, file] of [['esm', 'out.mjs'], ['cjs', 'out.cjs']]) {
      run(place, 'esbuild', 'main.mjs', '--bundle', '--platform=node', `--format=${format}`, '--log-level=error',
        `--alias:glovebox=${join(folder, 'lib', 'index.js')}`, `--outfile=${file}`);
      assert.equal(run(place, process.execPath, file), '["UNAVAILABLE",true]\n');
      assert.equal(run(place, 'env', `GLOVEBOX_ADDON=${native}`, process.execPath, file), '[42,true]\n');
    }
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});

/* As test runners load modules: with the globals of a realm of its own, and Node's bytes. */
const ELSEWHERE = `
const { createRequire } = require('node:module');
const { readFileSync } = require('node:fs');
const vm = require('node:vm');
const { AbortController, AbortSignal, clearTimeout, Headers, performance, setImmediate, setTimeout, TextDecoder, TextEncoder } = globalThis;
const context = vm.createContext({
  AbortController, AbortSignal, clearTimeout, console, Headers, performance, process, setImmediate, setTimeout, TextDecoder, TextEncoder,
});
const module_ = { exports: {} };
vm.runInContext('(function (module, exports, require, __filename) {' + readFileSync('whole.cjs') + '\\n})', context)(
  module_, module_.exports, createRequire(__filename), __filename);
const { SandboxEngine, validateSandboxCode } = module_.exports;
(async () => {
  const body = Buffer.from('body');
  const engine = new SandboxEngine({ fetch: ['a.example'], transport: () => ({ status: 200, body }) });
  const { value } = await engine.run({ code: '(d) => d', inputJson: new TextEncoder().encode('[1]') });
  await engine.loadJson('rows', Buffer.from('[2]'));
  const fetched = await engine.execute("async () => (await fetch('https://a.example/')).text()");
  const wrong = await engine.run({ code: '() => 1', limits: { timeoutMs: 60000 } }).catch(({ name }) => name);
  const twice = validateSandboxCode('() => { let a; let a }');
  console.log(JSON.stringify([value, (await engine.execute('(d) => d')).value, fetched.value, wrong, twice.ok]));
  engine.dispose();
})();
`;

test('in a realm of its own it takes the bytes of Node, and sees its errors', { skip: hasEsbuild ? false : 'there is no esbuild' }, () => {
  const place = mkdtempSync(join(tmpdir(), 'glovebox-realm-'));
  const native = process.env.GLOVEBOX_ADDON
    ?? join(folder, 'native', `${process.platform}-${process.arch}`, 'glovebox.node');
  try {
    writeFileSync(join(place, 'elsewhere.cjs'), ELSEWHERE);
    run(folder, 'esbuild', 'lib/index.js', '--bundle', '--platform=node', '--format=cjs', '--log-level=error',
      `--outfile=${join(place, 'whole.cjs')}`);
    assert.equal(run(place, 'env', `GLOVEBOX_ADDON=${native}`, process.execPath, 'elsewhere.cjs'), '[[1],[2],"body","TypeError",false]\n');
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});

test('the instruction is that of the MCP server', async () => {
  const { SANDBOX_SYSTEM_INSTRUCTION } = await import('../lib/index.js');

  assert.equal(`${SANDBOX_SYSTEM_INSTRUCTION}\n`, readFileSync(join(folder, '..', 'share', 'glovebox', 'sandbox-instruction.txt'), 'utf8'));
});

test('without what it is built with, the installation says which packages are missing', () => {
  const place = mkdtempSync(join(tmpdir(), 'glovebox-install-'));
  try {
    mkdirSync(join(place, 'core'));
    writeFileSync(join(place, 'install.mjs'), '');
    const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', `
      import { copyFileSync } from 'node:fs';
      copyFileSync(${JSON.stringify(join(folder, 'install.mjs'))}, ${JSON.stringify(join(place, 'install.mjs'))});
      await import(${JSON.stringify(join(place, 'install.mjs'))});
    `], { encoding: 'utf8', env: { PATH: place } });

    assert.equal(status, 1);
    assert.match(stdout, /apt-get install cmake gcc libc6-dev make pkg-config/);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});

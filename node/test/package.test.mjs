// SPDX-License-Identifier: MIT
//
// The packages as npm makes them, installed into an empty project without the network, a compiler
// or a script; used with import, require, TypeScript, and as a command.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));

const build = process.env.GLOVEBOX_BUILD ?? join(folder, '..', 'build');

/** Neither the addon of this build nor its worker is to be found by accident. */
const environment = { ...process.env, npm_config_offline: 'true', npm_config_update_notifier: 'false' };
delete environment.GLOVEBOX_ADDON;
delete environment.GLOVEBOX_WORKER;

function run(cwd, program, ...args) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8', env: environment });
  assert.equal(status, 0, `${program} ${args.join(' ')}\n${stdout}\n${stderr}`);
  return stdout;
}

/** What tools/make-bundle.mjs has packed. */
function packages() {
  const dist = join(build, 'dist');
  assert.ok(existsSync(dist), `there is no '${dist}': run tools/make-bundle.mjs`);
  return readdirSync(dist).filter((name) => name.endsWith('.tgz')).map((name) => join(dist, name));
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

/** A project that has both packages. */
function project(t) {
  const place = mkdtempSync(join(tmpdir(), 'glovebox-package-'));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  writeFileSync(join(place, 'package.json'), '{"name": "empty", "version": "1.0.0", "private": true}');
  run(place, 'npm', 'install', '--ignore-scripts', ...packages());
  return place;
}

/** The server answers over the pipe, and gets the signal. */
async function checkSignal(place) {
  const child = spawn(join(place, 'node_modules', '.bin', 'glovebox'), ['mcp', '--data', 'orders=orders.json'],
    { cwd: place, env: environment, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`);
  const [answer] = await once(child.stdout, 'data');
  assert.deepEqual(JSON.parse(answer), { jsonrpc: '2.0', id: 1, result: {} });
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'close'), [0, null]); // as the server ends
}

const COUNTS = `#!${process.execPath}
let count = 0;
process.on('SIGINT', () => ++count === 1 && setTimeout(() => process.exit(count), 500));
setInterval(() => {}, 1000);
console.log('on');
`;

/** A terminal sends an interrupt to all processes: the command must not get it twice. */
async function checkInterrupt(place) {
  writeFileSync(join(place, 'node_modules', 'glovebox-linux-x64', 'bin', 'glovebox'), COUNTS);
  const child = spawn(join(place, 'node_modules', '.bin', 'glovebox'), { env: environment, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  process.kill(-child.pid, 'SIGINT');
  assert.deepEqual(await once(child, 'close'), [1, null]);
}

test('the packed packages install into an empty project and work', async (t) => {
  const place = project(t);
  const command = join(place, 'node_modules', '.bin', 'glovebox');
  writeFileSync(join(place, 'module.mjs'), MODULE);
  writeFileSync(join(place, 'common.cjs'), COMMON);
  writeFileSync(join(place, 'module.mts'), TYPED);
  writeFileSync(join(place, 'common.cts'), TYPED);
  writeFileSync(join(place, 'main.mjs'), BUNDLED);
  writeFileSync(join(place, 'orders.json'), '[{"total": 12}]');

  assert.equal(run(place, process.execPath, 'module.mjs'), '[[2,"function","xn--4ca.example"],true,"function",true]\n');
  assert.equal(run(place, process.execPath, 'common.cjs'), '[42,false,"[SANDBOX]"]\n');
  run(place, process.execPath, join(folder, 'node_modules', 'typescript', 'bin', 'tsc'), '--strict', '--noEmit',
    '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,esnext.disposable,dom', '--typeRoots', './none', 'module.mts', 'common.cts');
  assert.equal(run(place, command, 'run', '(d) => d[0].total', '--data', 'orders.json'), '12\n');
  assert.equal(spawnSync(command, ['run', '() => { throw 1 }'], { env: environment }).status, 13);
  await checkSignal(place);

  // What a bundler makes of it finds the package for this machine, and says where it is missing.
  const bundles = [['esm', 'out.mjs'], ['cjs', 'out.cjs']];
  for (const [format, file] of bundles) {
    run(place, 'esbuild', 'main.mjs', '--bundle', '--platform=node', `--format=${format}`, '--log-level=error', `--outfile=${file}`);
    assert.equal(run(place, process.execPath, file), '[42,true]\n');
  }
  await checkInterrupt(place);
  checkUnloadable(place);
  rmSync(join(place, 'node_modules', 'glovebox-linux-x64'), { recursive: true });
  for (const [, file] of bundles) assert.equal(run(place, process.execPath, file), '["UNAVAILABLE",true]\n');
  const without = spawnSync(command, ['--version'], { encoding: 'utf8', env: environment });
  assert.equal(without.status, 69);
  assert.equal(without.stderr, "glovebox: the package 'glovebox-linux-x64' is not installed: run `npm install --include=optional`\n");
});

/** An addon that the loader refuses, in a Node.js with glibc and, by what it reports, with musl. */
function checkUnloadable(place) {
  writeFileSync(join(place, 'node_modules', 'glovebox-linux-x64', 'lib', 'glovebox.node'), 'not a library');
  writeFileSync(join(place, 'unloadable.mjs'), `import { SandboxEngine } from 'glovebox';
    console.log((await new SandboxEngine().execute('() => 1')).error);`);
  const musl = 'data:text/javascript,process.report.getReport = () => ({ header: {} })';

  assert.match(run(place, process.execPath, 'unloadable.mjs'), /glovebox\.node' cannot be loaded on linux-x64: /);
  assert.match(run(place, process.execPath, '--import', musl, 'unloadable.mjs'), /built for musl.* use the command instead.*`npx glovebox`$/m);
}

test('npx runs the command in an empty folder', (t) => {
  const place = mkdtempSync(join(tmpdir(), 'glovebox-npx-'));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  const said = run(place, 'npx', '--yes', `--cache=${join(place, 'cache')}`, ...packages().flatMap((file) => ['-p', file]), 'glovebox', 'run', '() => 6 * 7');

  assert.equal(said, '42\n');
});

test('the package without the programs has at most 1 MB, the one with them 45', () => {
  const sizes = packages().map((file) => statSync(file).size).sort((a, b) => a - b);

  assert.equal(sizes.length, 2);
  assert.ok(sizes[0] < 1e6 && sizes[1] < 45e6, `${sizes}`);
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

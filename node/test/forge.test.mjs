// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import { SandboxedToolForge } from '../lib/index.js';
import { boxes, busyWorkers, gone, until } from './support/processes.mjs';

const forge = new SandboxedToolForge({ timeoutMs: 60000 });
after(() => forge.dispose());

/* Each engine has one template, which is below no worker. */
function countEngines() {
  const all = boxes(process.pid);
  const ids = new Set(all.map(({ pid }) => pid));
  return all.filter(({ parent }) => !ids.has(parent)).length;
}

describe('a forged tool', () => {
  it('may have more time and memory than others, in few engines', async () => {
    const before = countEngines();
    const own = new SandboxedToolForge({ timeoutMs: 60000, memoryMB: 32 });
    try {
      for (const [timeoutMs, memoryMB] of [[59000, 16], [60001, 32], [60002, 33], [60003, 48], [60004, 64], [60005, 20]]) {
        const { output, error } = await own.execute({ code: 'function run(i) { return i; }', input: 7, timeoutMs, memoryMB });
        assert.equal(output, 7, error);
      }
      await until(() => countEngines() - before === 2); // the first template of an engine is soon replaced
      assert.match((await own.execute({ code: 'function run() { for (;;); }', timeoutMs: 50 })).error, /50 ms/);
      assert.match((await own.execute({ code: 'function run() { return "x".repeat(8e7).length; }', memoryMB: 40 })).error, /40 MiB/);
    } finally {
      own.dispose();
    }
  });

  it('that defines execute or run, sync or async, gives its output and what it cost', async () => {
    for (const code of [
      'function execute(input) { return { sum: input.a + input.b }; }',
      'async function execute(input) { await sleep(1); return { sum: input.a + input.b }; }',
      'const run = (input) => ({ sum: input.a + input.b });',
      'const run = async ({ a, b }) => ({ sum: a + b });',
    ]) {
      const result = await forge.execute({ code, input: { a: 10, b: 20 }, allowlist: [], memoryMB: 128, timeoutMs: 60000 });
      assert.deepEqual(result.output, { sum: 30 }, result.error);
      assert.equal(result.success, true);
      assert.ok(result.executionTimeMs > 0);
      assert.ok(result.memoryUsedBytes > 0);
    }
  });

  it('that gives nothing has the output undefined, and input that is missing is null', async () => {
    const result = await forge.execute({ code: 'function execute(input) { if (input !== null) throw input; }' });
    assert.equal(result.success, true);
    assert.equal(result.output, undefined);
  });

  it('that throws fails with its message and place, in its own words', async () => {
    const result = await forge.execute({ code: 'function execute() {\n  throw new RangeError("too far");\n}' });
    assert.equal(result.success, false);
    assert.equal(result.code, 'RUNTIME');
    assert.match(result.error, /^RangeError: too far \(line 2, column \d+\)/);
    assert.equal(result.output, undefined);
  });

  it('that runs too long, or needs too much memory, fails as that and nothing else', async () => {
    const late = await forge.execute({ code: 'function execute() { for (;;); }', timeoutMs: 1000 });
    assert.equal(late.code, 'TIMEOUT');
    assert.match(late.error, /1000 ms/);
    const bomb = await forge.execute({ code: 'function execute() { const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1)); }', memoryMB: 32 });
    assert.equal(bomb.code, 'MEMORY');
    assert.match(bomb.error, /32 MiB/);
    const liar = await forge.execute({ code: 'function execute() { throw new Error("out of memory"); }' });
    assert.equal(liar.code, 'RUNTIME');
  });

  it('may have more time and memory in one call than the forge has', async () => {
    const small = new SandboxedToolForge({ timeoutMs: 50, memoryMB: 16 });
    const code = 'async function execute() { await sleep(120); return new Uint8Array(24e6).fill(1).length; }';
    assert.equal((await small.execute({ code })).success, false);
    assert.equal((await small.execute({ code, timeoutMs: 60000, memoryMB: 64 })).output, 24e6);
    small.dispose();
  });

  it('ends with the signal of the call', async () => {
    const call = new AbortController();
    const running = forge.execute({ code: 'function execute() { for (;;); }', signal: call.signal });
    const busy = await busyWorkers(process.pid);
    call.abort();
    assert.equal((await running).code, 'ABORTED');
    await gone(busy);
  });

  it('runs beside others: 16 at once, each with its own outcome', async () => {
    const codes = ['function run(i) { return i; }', 'function run() { throw new Error("x"); }', 'const = 1', 'function run() { eval("1"); }'];
    const results = await Promise.all(Array.from({ length: 16 }, (_, i) => forge.execute({ code: codes[i % 4], input: i })));
    assert.deepEqual(results.map(({ output, code }) => code ?? output),
      results.map((_, i) => [i, 'RUNTIME', 'SYNTAX', 'INVALID_CODE'][i % 4]));
  });

  it('is told what who wrote it can do, not what who made the forge can', async () => {
    for (const [body, code, said] of [
      ['return fetch', 'RUNTIME', /Hint: fetch is off: make the request outside$/], ['return fs', 'RUNTIME', /Hint: files are off: give the data as the input$/],
      ['return crypto', 'RUNTIME', /Hint: hashing is off: compute the hash outside$/], ['return env', 'RUNTIME', /Hint: variables are off/],
      ['return [1n]', 'RUNTIME', /Hint: JSON has no BigInt: return String\(n\)/],
      ['for (const a = [];;) a.push(new Uint8Array(1e7).fill(1))', 'MEMORY', /Hint: work on the data in smaller pieces, and keep/],
    ]) {
      const result = await forge.execute({ code: `function execute() { ${body}; }` });
      assert.equal(result.code, code, body);
      assert.match(result.error, said);
      assert.doesNotMatch(result.error, /option|--allow|raise/);
    }
    const { code, error } = await forge.execute({ code: 'function execute() {}', input: { f() {} } });
    assert.equal(code, 'INVALID_DATA');
    assert.match(error, /at data\.f\. Hint: the input is data alone/);
  });

  it('after dispose() does not run', async () => {
    const ended = new SandboxedToolForge();
    await ended.execute({ code: 'function run() {}' });
    ended.dispose();
    assert.equal((await ended.execute({ code: 'function run() {}' })).code, 'UNAVAILABLE');
  });
});

describe('validateCode', () => {
  const refused = (code, allowlist = []) => {
    const { valid, violations, details } = forge.validateCode(code, allowlist);
    assert.equal(valid, violations.length === 0);
    assert.equal(details === undefined, valid);
    return violations;
  };
  const inTool = (body) => `function execute(input) { ${body} }`;

  for (const [use, ...said] of [
    ['eval("exploit")', 'eval() is forbidden'],
    ['Function("return 1")()', 'Function() is forbidden'],
    ['new Function("return 1")()', 'Function() is forbidden', 'new Function() is forbidden'],
    ['require("fs")', 'require() is forbidden'],
    ['import("fs")', 'dynamic import() is forbidden'],
    ['process.env.HOME', 'process access is forbidden'],
    ['child_process.exec("ls")', 'child_process access is forbidden'],
    ['fs.writeFile("x", "y")', 'fs.write* is forbidden'],
    ['fs.unlink("x")', 'fs.unlink is forbidden'],
    ['fs.rm("x")', 'fs.rm is forbidden'],
    ['fs.rmdir("x")', 'fs.rmdir is forbidden'],
    ['fs . appendFile("x", "y")', 'fs.appendFile is forbidden'],
    ['fs.truncate("x")', 'fs.truncate is forbidden'],
    ['fetch("https://example.com")', 'fetch() is not in the allowlist'],
    ['fs.readFile("x")', 'fs access is not in the allowlist'],
    ['crypto.createHash("md5")', 'crypto access is not in the allowlist'],
  ]) {
    it(`has the published text of ${use}, and its place and help besides`, () => {
      const violations = said;
      assert.deepEqual(refused(use), violations);
      assert.deepEqual(refused(inTool(`return "\u{1F600}" + ${use} + ${use}`)), violations);
      const { details } = forge.validateCode(inTool(`return ${use}`));
      assert.equal(details.length, 1);
      assert.match(details[0].message, /^'(eval|Function|require|import\(\)|process|child_process|fs|fetch|crypto)' /);
      assert.deepEqual([details[0].line, details[0].column], [1, use.startsWith('new ') ? 38 : 34]);
    });
  }

  it('has the text of a statement, too', () => {
    assert.deepEqual(refused('import fs from "fs"'), ['import statements are forbidden']);
  });

  it('lists each text once, in the published order', () => {
    assert.deepEqual(refused('process.exit(); fetch("x"); eval("1"); fs.rm("x"); eval("2")'),
      ['eval() is forbidden', 'process access is forbidden', 'fs.rm is forbidden', 'fetch() is not in the allowlist']);
  });

  it('is not misled by strings, comments, properties and names of the code itself', () => {
    assert.deepEqual(refused(inTool('/* require("x") process.exit() */ return "eval(1) import x" + input.process.env')), []);
    assert.deepEqual(refused(inTool('const fetch = (x) => x; return fetch(input)')), []);
    assert.deepEqual(refused(inTool('return input.constructor.name')), []);
  });

  it('is not deceived by escapes', () => {
    assert.equal(refused(inTool('return \\u0065val("1")')).length, 1);
  });

  it('names everything at once', () => {
    assert.equal(refused(inTool('eval("1");\n require("x");\n process.exit()')).length, 3);
  });

  it('judges a fragment without a function by its patterns alone; execute() wants the function', async () => {
    assert.deepEqual(forge.validateCode('const x = 1;', []), { valid: true, violations: [] });
    const { code, error } = await forge.execute({ code: 'const x = 1;' });
    assert.equal(code, 'INVALID_CODE');
    assert.match(error, /no function 'execute' or 'run' is defined/);
    assert.match((await forge.execute({ code: 'eval("1")' })).error, /'eval' cannot make code from a string.*; .*no function 'execute' or 'run' is defined/);
  });

  it('says what is wrong, wherever it stands: no permission is missing in code that does not parse', () => {
    const cases = [
      ['function execute(i) { return [1 fs] }', [/^line 1, column 33: Unexpected identifier/]],
      ['function execute() {}\nlet crypto = 1; let crypto = 2', [/^line 2, column 21: Identifier 'crypto' has already been declared/]],
      [inTool('new XMLHttpRequest()'), [/'XMLHttpRequest' is not available: code has no network/]],
    ];
    for (const [code, said] of cases) {
      const violations = refused(code);
      assert.equal(violations.length, said.length, violations.join('\n'));
      said.forEach((about, i) => assert.match(violations[i], about));
    }
  });

  it('lets pass what the allowlist has, if the forge has it too', async () => {
    const open = new SandboxedToolForge({ fetchDomains: ['api.example.com'], fsReadPaths: [tmpdir()] });
    const uses = { fetch: 'return fetch("https://api.example.com/x")', 'fs.readFile': 'return fs.readFile("a")', crypto: 'return crypto.randomUUID()' };
    for (const [api, body] of Object.entries(uses)) {
      assert.deepEqual(open.validateCode(inTool(body), [api]).violations, []);
      assert.equal(open.validateCode(inTool(body), []).valid, false);
    }
    assert.match(refused(inTool(uses.fetch), ['fetch'])[0], /'fetch' is off: the forge was made without fetchDomains/);
    assert.match(refused(inTool(uses['fs.readFile']), ['fs.readFile'])[0], /'fs' is off: the forge was made without fsReadPaths/);
    const { error } = await new SandboxedToolForge().execute({ code: inTool(uses.fetch), allowlist: ['fetch'] });
    assert.match(error, /\(list what it may reach: new SandboxedToolForge\(\{ fetchDomains: \['api\.example\.com'\] \}\)\)/);
    open.dispose();
  });

  it('is what execute() refuses too, before anything runs', async () => {
    const result = await forge.execute({ code: inTool('return process.pid') });
    assert.equal(result.success, false);
    assert.match(result.error, /^the code may not run: line 1, column 34: 'process'/);
    assert.equal(result.memoryUsedBytes, 0);
  });
});

describe('a tool that does not parse is told how to repair it', () => {
  for (const [title, code, hint] of [
    ['a declaration where a statement belongs', 'function execute(i) { if (i) const x = 1; return 2; }', /declaration/],
    ['what is more than a type', 'enum A { b }\nfunction execute(i) { return A.b; }', /use an object/],
    ['a missing comma', 'function execute(i) { return { a: 1 b: 2 }; }', /',' is missing/],
    ['a missing brace', 'function execute(i) { if (i) { return 1; ', /bracket/],
  ]) {
    it(title, async () => {
      const result = await forge.execute({ code });
      assert.equal(result.code, 'SYNTAX');
      assert.match(result.error, /SyntaxError: .* \(line \d+, column \d+\)\. Hint: /);
      assert.match(result.error, hint);
    });
  }
});

it('a tool may be TypeScript', async () => {
  const code = 'interface A { n: number }\nexport async function execute(input: A): Promise<number> { return input.n as number; }';
  assert.deepEqual(forge.validateCode(code, []).violations, []);
  assert.equal((await forge.execute({ code, input: { n: 3 } })).output, 3);
});

describe('what a forge opens', () => {
  let folder, server, origin, asked;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'glovebox-forge-'));
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data', 'a.txt'), 'héllo');
    writeFileSync(join(folder, 'data', 'big.bin'), Buffer.alloc(1048577));
    writeFileSync(join(folder, 'data', 'most.bin'), Buffer.alloc(1048576, 'x'));
    writeFileSync(join(folder, 'secret.txt'), 'secret');
    server = createServer((request, response) => {
      asked.push(request.url);
      response.end(JSON.stringify({ path: request.url }));
    });
    asked = [];
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${server.address().port}`;
  });
  after(() => {
    rmSync(folder, { recursive: true });
    server.close();
  });
  const run = async (open, body, allowlist, input) => {
    const one = new SandboxedToolForge(open);
    const result = await one.execute({ code: `async function execute(input) { ${body} }`, input, allowlist });
    one.dispose();
    return result;
  };

  it('files: text of those below its paths, and no others', async () => {
    const open = { fsReadPaths: [join(folder, 'data')] };
    const read = (path) => run(open, 'return fs.readFile(input)', ['fs.readFile'], path);
    assert.equal((await read(join(folder, 'data', 'a.txt'))).output, 'héllo');
    assert.equal((await read('a.txt')).output, 'héllo');
    assert.equal((await run(open, 'return fs.readFile("a.txt", "hex")', ['fs.readFile'])).output, Buffer.from('héllo').toString('hex'));
    for (const path of [join(folder, 'secret.txt'), join(folder, 'data', '..', 'secret.txt'), '/etc/passwd', '../secret.txt'])
      assert.match((await read(path)).error, /not below a listed directory/);
  });

  it('files: no code that would write them, whatever is allowed', async () => {
    const open = new SandboxedToolForge({ fsReadPaths: [join(folder, 'data')] });
    for (const call of ['writeFile', 'writeFileSync', 'unlink', 'rm', 'rmdir', 'appendFile', 'truncate', 'promises.writeFile']) {
      const code = `function execute() {\n  return fs.${call}("a.txt", "x");\n}`;
      const { valid, details: [said] } = open.validateCode(code, ['fs.readFile', 'fetch', 'crypto']);
      assert.equal(valid, false, call);
      assert.match(`${said.line}:${said.column} ${said.message} ${said.hint}`,
        /^2:10 'fs\.\w+' is not available: files can only be read return the text instead/);
      const { success, code: why } = await open.execute({ code, allowlist: ['fs.readFile'] });
      assert.deepEqual([success, why], [false, 'INVALID_CODE'], call);
    }
    open.dispose();
  });

  it('files: at most 1 MiB of each', async () => {
    const open = { fsReadPaths: [join(folder, 'data')] };
    const size = (name) => run(open, 'return (await fs.readFile(input)).length', ['fs.readFile'], name);
    assert.equal((await size('most.bin')).output, 1048576);
    assert.match((await size('big.bin')).error, /larger|more than|1048576|1 MiB/);
  });

  it('nothing, to a call whose allowlist lacks it', async () => {
    const open = { fsReadPaths: [join(folder, 'data')], fetchDomains: [origin] };
    const names = 'return [typeof fs, typeof fetch, typeof crypto]';
    assert.deepEqual((await run(open, names, [])).output, ['undefined', 'undefined', 'undefined']);
    assert.deepEqual((await run(open, names, ['crypto'])).output, ['undefined', 'undefined', 'object']);
    assert.deepEqual((await run(open, names, ['fs.readFile'])).output, ['object', 'undefined', 'undefined']);
    assert.deepEqual((await run(open, names, ['fetch'])).output, ['undefined', 'function', 'undefined']);
    /* Past the guard, which sees no computed name. */
    const sly = await run(open, 'return typeof globalThis["f" + "s"]', []);
    assert.equal(sly.output, 'undefined');
  });

  it('fetch: its domains alone; an empty list is none', async () => {
    const get = (open, url) => run(open, 'return (await fetch(input)).json()', ['fetch'], url);
    assert.deepEqual((await get({ fetchDomains: [origin] }, `${origin}/x`)).output, { path: '/x' });
    asked.length = 0;
    assert.equal((await get({ fetchDomains: ['https://example.com'] }, `${origin}/y`)).success, false);
    assert.equal((await get({ fetchDomains: [] }, `${origin}/z`)).success, false);
    assert.equal((await get({}, `${origin}/z`)).success, false);
    assert.deepEqual(asked, []);
  });

  it('crypto: hashes, HMAC and UUIDs', async () => {
    const { output } = await run({}, `return [
      crypto.createHash('sha256').update(input).digest('hex'),
      crypto.createHmac('sha256', 'key').update(input).digest('base64'),
      crypto.randomUUID(), crypto.randomUUID()]`, ['crypto'], 'text');
    assert.equal(output[0], createHash('sha256').update('text').digest('hex'));
    assert.equal(output[1], createHmac('sha256', 'key').update('text').digest('base64'));
    assert.match(output[2], /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.notEqual(output[2], output[3]);
  });

  it('the same under the names of other forges', async () => {
    const open = { fsReadRoots: [join(folder, 'data')], fetchDomainAllowlist: [origin] };
    assert.equal((await run(open, 'return fs.readFile("a.txt")', ['fs.readFile'])).output, 'héllo');
    assert.equal((await run(open, 'return (await fetch(input)).status', ['fetch'], `${origin}/x`)).output, 200);
  });
});

const HELPERS = ['URL', 'structuredClone', 'TextDecoder', 'atob', 'queueMicrotask', 'AbortController', 'performance', 'crypto'];

describe('the allowlist of a forge', () => {
  it('is all there is: helpers that other code has are not in it', async () => {
    const code = `const run = () => ${JSON.stringify(HELPERS)}.filter((name) => name in globalThis)`;
    assert.deepEqual((await forge.execute({ code })).output, []);
    assert.deepEqual((await forge.execute({ code, allowlist: ['crypto'] })).output, ['crypto']);
    const { valid, violations } = forge.validateCode('const run = () => crypto.randomUUID()', []);
    assert.equal(valid, false);
    assert.equal(violations[0], 'crypto access is not in the allowlist');
  });
});

describe('a package without its addon', () => {
  it('says for which platform, and what to do, in every answer; nothing throws', () => {
    const code = `
      import { SandboxedToolForge, validateSandboxCode } from ${JSON.stringify(new URL('../lib/index.js', import.meta.url).href)};
      const forge = new SandboxedToolForge({ fetchDomains: ['a.example'] });
      const { success, code, error } = await forge.execute({ code: 'function run() {}' });
      console.log(JSON.stringify([validateSandboxCode('() => 1'), forge.validateCode('function run() {}'), success, code, error]));
      process.exit(0);`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code],
      { encoding: 'utf8', env: { ...process.env, GLOVEBOX_ADDON: '/nowhere.node' } });
    const [report, { valid, violations }, success, ended, error] = JSON.parse(stdout || JSON.stringify(stderr));
    const words = new RegExp(`${process.platform}-${process.arch}.*npm install --include=optional`);
    assert.deepEqual([report.ok, report.violations[0].code, valid, success, ended], [false, 'UNAVAILABLE', false, false, 'UNAVAILABLE']);
    for (const text of [report.violation, violations[0], error]) assert.match(text, words);
  });
});

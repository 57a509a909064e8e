// SPDX-License-Identifier: MIT
// The command's own policy beside its tools: what it gives to code comes on top of what
// code has without it, and is told to models and hosts.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { allow, folder, open, put, upstream } from './box.mjs';

const config = put('mcp.json', allow({ up: upstream('plain') }));
const data = put('d.json', [{ a: 1 }]);
const openWith = (...args) => open(undefined, { args, env: { A_TOKEN: 'the value of it' } });

const console_ = { console: true, timers: true };
for (const [args, code, value] of [
  [['console', 'timers', 'crypto', 'env=X=1', 'fetch=example.com', `file=${folder}`].flatMap((each) => ['--allow', each]),
    `[typeof console, await sleep(1), crypto.createHash('md5').update('').digest('hex').length, env.X, typeof fetch,
      (await fs.promises.readFile('${data}', 'utf8')).length]`, ['object', null, 32, '1', 'function', 9]],
  [['--allow', 'functions=*'], '1', 1],
  [['--allow', 'functions=db.*,codemode'], '1', 1],
  [['--secret', 'TOKEN=A_TOKEN@example.com'], '1', 1],
  [['--policy', put('p.json', console_)], 'await sleep(1)', undefined],
  [['--policy', put('empty.json', {})], 'typeof console', 'undefined'],
  [['--allow', 'crypto', '--data', `d=${data}`], 'typeof crypto.createHash', 'function'],
]) {
  test(`code has the servers as well as what is given to it: ${args.join(' ')
    .replaceAll(folder, '.')}`, async () => {
    const wire = await openWith('--config', config, ...args);
    const { result: { structuredContent: s } } = await wire.call('execute', {
      code: `const kept = await artifact('a', 'text');
        return [(await servers.up.list_items()).items.length, (await servers.up.tools()).length,
          (await discover('items')).length > 0, kept.bytes, ${code}];` });
    assert.deepEqual(s.error, undefined);
    assert.deepEqual(s.result, [2, 8, true, 4, value ?? null]);
    await wire.close();
  });
}

const everything = ['--allow', 'fetch=https://a.test,*.b.test', '--allow', `file=${folder}`,
  '--allow', 'crypto', '--allow', 'env=X=1,Y=2'];
const listed = new Map();

/** Starts a server with those options; its tool of that name. */
async function toolOf(name, ...args) {
  const wire = await openWith(...args);
  const tools = await wire.listTools();
  await wire.close();
  return tools.find((tool) => tool.name === name);
}

/** The same, of one server for all who ask. */
function sharedTool(...args) {
  const key = args.join(' ');
  if (!listed.has(key)) listed.set(key, toolOf(...args));
  return listed.get(key);
}
const withData = ['compute', '--data', `d=${data}`];
const computeWith = (...args) => sharedTool(...withData, ...args);
const executeWith = (...args) => sharedTool('execute', '--config', config, ...args);

test('compute tells models what the policy gives to code, and of nothing else', async () => {
  const { description: plain } = await computeWith();
  const { description } = await computeWith(...everything);
  const nothing = 'there is no\nrequire, no import, no process, no file system and no network.\n';
  assert.ok(plain.includes(nothing));
  assert.match(plain, /^Compute over data that stays on this machine\.\n/);
  assert.equal(description, plain
    .replace('data that stays on this machine', 'data of this machine')
    .replace(nothing, `there is
no require, no import and no process.
await fetch(url) reaches these sites and no others: https://a.test, https://*.b.test.
await fs.readFile(path, 'utf8') reads the files that are allowed; nothing writes.
crypto has createHash, createHmac, randomUUID and the like.
env has: X, Y.
`));
  assert.ok(!description.includes(folder));
  assert.equal((await toolOf(...withData, ...everything)).description, description);
  for (const allow of ['console', 'timers'])
    assert.equal((await computeWith('--allow', allow)).description, plain);
  assert.match((await computeWith('--allow', 'fetch=a.test')).description,
    /there is\nno require, no import, no process and no file system\.\nawait fetch/);
  assert.match((await computeWith('--allow', `file=${folder}`)).description,
    /there is\nno require, no import, no process and no network\.\nawait fs/);
  assert.match((await computeWith('--allow', 'crypto')).description,
    /there is\nno require, no import, no process, no file system and no network\.\ncrypto has/);
});

test('execute tells models what the policy gives to code, and of nothing else', async () => {
  const { description: plain } = await executeWith();
  const { description } = await executeWith(...everything);
  const nothing = 'Nothing else: no network, files or modules. return';
  assert.ok(plain.includes(nothing));
  assert.equal(description, plain.replace(nothing, `\
- await fetch(url) reaches these sites and no others: https://a.test, https://*.b.test.
- await fs.readFile(path, 'utf8') reads the files that are allowed; nothing writes.
- crypto has createHash, createHmac, randomUUID and the like.
- env has: X, Y.
Nothing else: no modules. return`));
  assert.match((await executeWith('--allow', 'fetch=a.test')).description,
    /\nNothing else: no files or modules\. /);
  assert.match((await executeWith('--allow', `file=${folder}`)).description,
    /\nNothing else: no network or modules\. /);
  assert.match((await executeWith('--policy', put('empty.json', {}))).description,
    /\n- input; progress\(text\); await artifact/);
});

test('limits of a policy that are below those of the tools bound each tool', async () => {
  const limits = { timeoutMs: 9000, cpuMs: 4000, memoryBytes: 2 ** 26, outputBytes: 100000, codeBytes: 60000, logBytes: 1000, hostCalls: 500 };
  const wire = await openWith('--config', config, '--data', `d=${data}`, '--policy', put('limits.json', { limits }));
  assert.equal((await wire.call('execute', { code: 'return 1 + 1' })).result.structuredContent.result, 2);
  assert.equal((await wire.call('compute', { code: '(d) => d[0].a' })).result.structuredContent.value, 1);
  assert.match((await wire.listTools()).find(({ name }) => name === 'compute').description, /d: 1 record, /);
  assert.match((await wire.call('discover', { query: 'items' })).result.content[0].text, /list_items/);
  await wire.close();
});

test('many sites are told in part', async () => {
  const sites = Array.from({ length: 20 }, (_, i) => `s${i}.test`);
  const { description } = await computeWith('--allow', `fetch=${sites.join()}`);
  assert.match(description, /https:\/\/s5\.test and others\.\n/);
  assert.doesNotMatch(description, /s12\.test/);
});

for (const [args, annotations] of [
  [[], { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }],
  [['--allow', 'crypto', '--allow', `file=${folder}`],
    { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }],
  [['--allow', 'fetch=a.test'],
    { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }],
  [['--policy', put('get.json', { fetch: { allow: ['a.test'], methods: ['GET', 'HEAD'] } })],
    { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true }],
  [['--policy', put('post.json', { fetch: { allow: ['a.test'], methods: ['GET', 'POST'] } })],
    { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }],
]) {
  test(`hosts are told whether compute can change anything: ${args.join(' ')
    .replaceAll(folder, '.')}`, async () => {
    assert.deepEqual((await computeWith(...args)).annotations, annotations);
  });
}

test('the security log of the configuration has the calls of compute, and what describes the data', async () => {
  const logged = put('logged.json', { ...JSON.parse(readFileSync(config, 'utf8')),
    glovebox: { audit: 'calls.log', rules: [{ action: 'allow' }] } });
  const wire = await openWith('--config', logged, '--data', `d=${data}`);
  await wire.call('compute', { code: '(d) => d.length' });
  await wire.call('execute', { code: 'return servers.up.list_items()' });
  await wire.close();
  const lines = readFileSync(join(folder, 'calls.log'), 'utf8').trim().split('\n').map((l) => JSON.parse(l));
  const of = (event) => lines.filter((line) => line.event === event);
  assert.deepEqual(['engine.started', 'call.started', 'mcp.call'].map((event) => of(event).length), [1, 3, 1]);
});

test('a model is told the limits of the policy, or lower ones of the options', async () => {
  const policy = put('limits.json', { limits: { timeoutMs: 20000, memoryBytes: 64 << 20 } });
  for (const [args, said] of [[[], '20 s, 64 MiB'], [['--timeout', '1000'], '1 s, 64 MiB'], [['--timeout', '30000'], '20 s, 64 MiB']]) {
    const { description } = await computeWith('--policy', policy, ...args);
    assert.ok(description.includes(`Limits of a call: ${said}`), description);
  }
});

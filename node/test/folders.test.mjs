// SPDX-License-Identifier: MIT
/* folders - relative ones are those that were named, wherever the process goes afterwards. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';

import { createSandboxTools, SandboxedToolForge, SandboxEngine, validateSandboxCode } from '../lib/index.js';

const READ = "await fs.readFile('in/f', 'utf8')";
const begin = process.cwd();
let folder;

before(() => {
  process.umask(0o077); // or others may write there
  folder = mkdtempSync(join(tmpdir(), 'glovebox-folders-'));
  for (const name of ['here', 'there']) {
    mkdirSync(join(folder, name, 'in'), { recursive: true });
    writeFileSync(join(folder, name, 'in', 'f'), name);
  }
  mkdirSync(join(folder, 'nowhere'));
});
after(() => {
  process.chdir(begin);
  rmSync(folder, { recursive: true });
});

/* use(make()), made in one directory and used in others. */
async function moved(make, use) {
  process.chdir(join(folder, 'here'));
  const made = make();
  try {
    for (const name of ['there', 'nowhere']) {
      process.chdir(join(folder, name));
      assert.equal(await use(made), 'here', name);
    }
  } finally {
    made.dispose();
  }
}

it('of a forge', () => moved(() => new SandboxedToolForge({ fsReadPaths: ['in'] }), async (forge) => {
  const code = `async function execute() { return ${READ}; }`;
  assert.deepEqual(forge.validateCode(code, ['fs.readFile']), { valid: true, violations: [] });
  return (await forge.execute({ code, allowlist: ['fs.readFile'] })).output;
}));

it('of a tool', () => moved(() => {
  const tools = createSandboxTools();
  tools.query('read').sandboxed({ fs: ['in'] })
    .handle(async (_, ctx) => tools.result(await ctx.sandbox.execute(`async () => ${READ}`)));
  return tools;
}, async (tools) => (await tools.callTool('read')).content[0].text));

it('of an engine, and of a call of it', () => moved(() => new SandboxEngine({ fs: ['in'] }), async (engine) =>
  (await engine.run({ form: 'script', code: READ, policy: { file: { allow: ['in'] } } })).value));

it('begin at baseDir, if it is given', async () => {
  process.chdir(join(folder, 'nowhere'));
  const options = { fs: ['in'], baseDir: join(folder, 'there') };
  const engine = new SandboxEngine(options);
  try {
    assert.equal((await engine.run({ form: 'script', code: READ })).value, 'there');
    assert.equal(validateSandboxCode(READ, { form: 'script', ...options }).ok, true);
  } finally {
    engine.dispose();
  }
  for (const baseDir of [5, '']) assert.throws(() => new SandboxEngine({ baseDir }), { name: 'TypeError', message: /^baseDir must be a path/ });
});

it('and files that others can change are taken if they are to be trusted', async () => {
  process.chdir(join(folder, 'here'));
  writeFileSync('token', 'a-token-of-eight');
  chmodSync('token', 0o622);
  const policy = { secrets: { T: { file: 'token', sites: ['a.example'] } } };
  assert.throws(() => new SandboxEngine({ policy }), { code: 'GBX_E_POLICY', message: /^policy.secrets.T.file: the secret '.*token' is refused, since others may read or write it: run .*chmod go-rw .*token / });
  assert.throws(() => validateSandboxCode('() => 1', { policy }), /is refused/);
  const engine = new SandboxEngine({ policy, trustFiles: true });
  try {
    assert.equal((await engine.run({ code: '() => 1' })).value, 1);
    assert.equal((await engine.run({ code: '() => 1', policy })).value, 1);
    assert.equal(validateSandboxCode('() => 1', { policy, trustFiles: true }).ok, true);
  } finally {
    engine.dispose();
  }
  if (process.getuid() === 0) { // root's secrets are taken, with a warning
    chmodSync('token', 0o604);
    const [warned] = await Promise.all([once(process, 'warning'), new SandboxEngine({ policy }).dispose()]);
    assert.match(warned[0].message, /^others may read the secret '.*token': it is taken since root owns it$/);
  }
  assert.throws(() => new SandboxEngine({ trustFiles: 1 }), { name: 'TypeError', message: /^trustFiles must be a boolean/ });
});

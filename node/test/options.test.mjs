// SPDX-License-Identifier: MIT
/* What only the library sees to be wrong is told by the names that were used here. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';

import { SandboxEngine, validateSandboxCode } from '../lib/index.js';

const code = '() => 1';

describe('an option that does not exist', () => {
  const engine = new SandboxEngine();
  after(() => engine.dispose());

  for (const [name, message] of [
    ['memoryLimt', "unknown option 'memoryLimt': did you mean 'memoryLimit'?"],
    ['timeoutMs', "unknown option 'timeoutMs': it is one of the limits, limits.timeoutMs"],
    ['Timeout', "unknown option 'Timeout': did you mean 'timeout'?"],
    ['constructor', /^unknown option 'constructor': there are timeout, memoryLimit, maxOutputBytes, /],
  ])
    it(`is told with what was meant: ${name}`, () => {
      for (const use of [() => new SandboxEngine({ [name]: 1 }), () => validateSandboxCode(code, { [name]: 1 })])
        assert.throws(use, { name: 'TypeError', message });
    });

  it('is one of a limit and of a call as well', async () => {
    assert.throws(() => new SandboxEngine({ limits: { timeout: 1 } }), { message: "limits.timeout is not a limit: did you mean 'timeoutMs'?" });
    assert.throws(() => new SandboxEngine({ limits: { toString: 1 } }), /^TypeError: limits\.toString is not a limit: there are timeoutMs, /);
    await assert.rejects(engine.run({ code, inputs: 1 }), { message: "options.inputs is not an option: did you mean 'input'?" });
    await assert.rejects(engine.run({ code, limit: { timeoutMs: 1 } }), { message: "options.limit is not an option: did you mean 'limits'?" });
    await assert.rejects(engine.execute(code, 1, { timeout: 1 }), { message: 'options.timeout is not an option: there are signal' });
  });
});

describe('a TypeError of the library names the argument', () => {
  const engine = new SandboxEngine({ timeout: 1000 });
  after(() => engine.dispose());

  for (const [options, message] of [
    [{ policy: { timeoutMs: 1 } }, /^policy\.timeoutMs: /],
    [{ policy: { 'foo-bar': 1 } }, /^policy\.foo-bar: /],
    [{ policy: { file: { allow: ['/no/such/folder'] } } }, /^policy\.file\.allow\[0\]: /],
    [{ fs: ['/no/such/folder'] }, /^fs\[0\]: /],
    [{ fs: { allow: ['/no/such/folder'] } }, /^fs\.allow\[0\]: /],
    [{ fetch: [''] }, /^fetch\[0\]: /],
  ]) {
    it(`of an engine and of a check: ${JSON.stringify(options)}`, () => {
      for (const use of [() => new SandboxEngine(options), () => validateSandboxCode(code, options)])
        assert.throws(use, (error) => error instanceof TypeError && error.code === 'GBX_E_POLICY' && message.test(error.message));
    });
  }

  for (const [options, message] of [
    [{ limits: { timeoutMs: 2000 } }, /^limits\.timeoutMs is above the engine's: 2000 > 1000/],
    [{ limits: { memoryBytes: 2 ** 31 } }, /^limits\.memoryBytes is above/],
    [{ limits: { outputBytes: 2 ** 24 } }, /^limits\.outputBytes is above/],
    [{ limits: { hostCallsAtOnce: 4096 } }, /^limits\.hostCallsAtOnce is above/],
    [{ dataset: 'none' }, /^dataset is not the name of one that is loaded/],
    [{ policy: { foo: 1 } }, /^policy\.foo: unknown key/],
    [{ policy: { console: 5 } }, /^policy\.console: /],
    [{ policy: { fetch: { allow: [''] } } }, /^policy\.fetch\.allow\[0\]: /],
    [{ policy: { crypto: true } }, /^the call's policy is wider than the engine's: capability 'crypto'/],
  ]) {
    it(`of a call: ${JSON.stringify(options)}`, () =>
      assert.rejects(engine.run({ code, ...options }), (error) => error instanceof TypeError && message.test(error.message)));
  }
});

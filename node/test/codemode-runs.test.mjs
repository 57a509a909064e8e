// SPDX-License-Identifier: MIT
/* codemode-runs - several runs of code mode beside each other, and what outlives them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';

import { createCodeMode } from '../lib/index.js';

async function withMode(options, use) {
  const mode = createCodeMode({ memoryMB: 32, ...options });
  try {
    return await use(mode);
  } finally {
    mode.dispose();
  }
}

describe('a listener of progress', () => {
  for (const [kind, onProgress] of [
    ['throws', () => { throw new Error('no room'); }],
    ['is async and throws', async () => { throw new Error('no room'); }],
  ])
    it(`that ${kind} is a warning, and the process lives`, () =>
      withMode({ servers: { s: { f: () => 1 } } }, async (mode) => {
        const warned = once(process, 'warning');
        const run = await mode.run('progress(1, 2); await servers.s.f({}); return 7', { onProgress });
        assert.equal(run.result, 7);
        const [{ code, message }] = await warned;
        assert.deepEqual([code, message], ['GLOVEBOX_LISTENER', 'onProgress of code mode threw: no room']);
      }));
});

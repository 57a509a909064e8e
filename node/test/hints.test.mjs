// SPDX-License-Identifier: MIT
/* What only who made the engine can do is not said as if the code could. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { hintOfCode } from '../lib/hints.js';

const verdict = readFileSync(new URL('../../src/engine/verdict.c', import.meta.url), 'utf8');
const hints = [...verdict.matchAll(/(?:say\([^,]*,[^,]*,|hint =)((?:\s*"[^"\n]*")+)[,;]/g)].map(([, text]) =>
  [...text.matchAll(/"([^"]*)"/g)].map(([, part]) => part).join(''));

describe('a hint for who wrote the code', () => {
  it('tells nobody to raise a limit', () => {
    assert.ok(hints.length > 8);
    for (const hint of hints) assert.doesNotMatch(hintOfCode(hint), /^(?!whoever).*raise/);
  });
  it('says who can give the host what it lacks', () => {
    const [lack] = hints.filter((hint) => /^the host lacks/.test(hint));
    assert.equal(hintOfCode(lack), 'whoever runs this must free some of what is lacking, or raise its limit');
  });
});

// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { EngineCache } from '../lib/engine-cache.js';
import { EnginePool } from '../lib/engine-pool.js';

/* Engines that do nothing, in the order in which they were made. */
function engines() {
  const made = [];
  const make = (config) => {
    const engine = { config, isDisposed: false, dispose() { this.isDisposed = true; } };
    made.push(engine);
    return engine;
  };
  return { made, make };
}

describe('engines by configuration', () => {
  it('are made once for each, in whatever order its options are', async () => {
    const { made, make } = engines();
    const cache = new EngineCache(make);
    const use = (config) => cache.use(config, async (engine) => engine);
    const first = await use({ timeout: 1, policy: { console: true, crypto: true } });
    assert.equal(await use({ policy: { crypto: true, console: true }, timeout: 1 }), first);
    assert.notEqual(await use({ timeout: 2 }), first);
    assert.equal(made.length, 2);
  });

  it('differ by the identity of functions', async () => {
    const { made, make } = engines();
    const cache = new EngineCache(make);
    const one = () => 1, other = () => 1;
    for (const transport of [one, other, one]) await cache.use({ transport }, async () => {});
    assert.equal(made.length, 2);
  });

  it('differ by the identity of sinks, whatever these are', async () => {
    class Sink {
      #lines = [];
      log(text) { this.#lines.push(text); }
    }
    const log = () => {};
    const looped = { log };
    looped.self = looped;
    const sinks = [new Sink(), new Sink(), { log }, { log }, Object.create({ log }), Object.create({ log }), looped];
    const { made, make } = engines();
    const cache = new EngineCache(make);
    for (const console of [...sinks, ...sinks])
      assert.equal((await cache.use({ console }, async (engine) => engine)).config.console, console);
    assert.equal(made.length, sinks.length);
  });

  it('are told apart by what JSON has no word for, and a cycle is no trouble', async () => {
    const { made, make } = engines();
    const cache = new EngineCache(make, 20);
    const cycle = {};
    cycle.self = [cycle];
    const configs = [{ n: 1 }, { n: 1n }, { n: '1' }, { n: new Map() }, { n: new Map() }, { n: null }, { n: [] }, { n: {} }, { n: cycle }];
    for (const config of [...configs, ...configs, { n: {}, m: undefined }]) await cache.use(config, async () => {});
    assert.equal(made.length, configs.length);
  });

  it('are at most so many: the one that was used least recently goes, but none at work', async () => {
    const { made, make } = engines();
    const cache = new EngineCache(make, 2);
    let finish;
    const long = cache.use({ n: 0 }, () => new Promise((resolve) => {
      finish = resolve;
    }));
    for (const n of [1, 2, 3]) await cache.use({ n }, async () => {});
    assert.deepEqual(made.map(({ isDisposed }) => isDisposed), [false, true, true, false]);
    finish();
    await long;
    await cache.use({ n: 4 }, async () => {});
    assert.deepEqual(made.map(({ isDisposed }) => isDisposed), [true, true, true, false, false]);
  });

  it('are not made for a signal that is aborted, nor after dispose()', async () => {
    const { made, make } = engines();
    const cache = new EngineCache(make);
    assert.equal((await cache.use({}, async () => {}, undefined, AbortSignal.abort())).code, 'ABORTED');
    assert.equal(made.length, 0);
    await cache.use({}, async () => {}, new AbortController().signal);
    cache.dispose();
    assert.equal(made[0].isDisposed, true);
    assert.equal((await cache.use({}, async () => {})).code, 'UNAVAILABLE');
    assert.equal(made.length, 1);
  });
});

describe('engines of one call each', () => {
  const pool = (most) => {
    const { made, make } = engines();
    return { made, pool: new EnginePool((serve) => ({ engine: Object.assign(make(), { serve }), ready: Promise.resolve() }), most) };
  };

  it('serve what was given for the call that is on them, and nothing afterwards', async () => {
    const { made, pool: one } = pool();
    const seen = await Promise.all(['a', 'b'].map((answers) => one.use(answers, async (engine) => engine.serve((own) => own))));
    assert.deepEqual(seen, ['a', 'b']);
    assert.equal(made.length, 2);
    assert.throws(() => made[0].serve((own) => own), /the call has ended/);
    assert.equal(await one.use('c', async (engine) => engine.serve((own) => own)), 'c');
    assert.equal(made.length, 2);
  });

  it('are kept up to so many, and end with dispose()', async () => {
    const { made, pool: one } = pool(1);
    await Promise.all(['a', 'b', 'c'].map((answers) => one.use(answers, async () => {})));
    assert.equal(made.filter(({ isDisposed }) => !isDisposed).length, 1);
    assert.equal((await one.use('d', async () => {}, AbortSignal.abort())).code, 'ABORTED');
    one.dispose();
    assert.ok(made.every(({ isDisposed }) => isDisposed));
    assert.equal((await one.use('d', async () => {})).code, 'UNAVAILABLE');
  });

  it('that cannot be made ready are used all the same: their calls say why', async () => {
    const { make } = engines();
    const one = new EnginePool(() => ({ engine: make(), ready: Promise.reject(new Error('no process')) }));
    assert.equal(await one.use('a', async () => 'used'), 'used');
  });
});

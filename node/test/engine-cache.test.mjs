// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { EngineCache } from '../lib/engine-cache.js';

/* Engines that do nothing, in the order in which they were made. */
function engines() {
  const made = [];
  const make = (config) => {
    const engine = { config, isDisposed: false, async close() { this.isDisposed = true; } };
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

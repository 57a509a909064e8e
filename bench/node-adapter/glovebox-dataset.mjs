// SPDX-License-Identifier: MIT
//
// The same adapter, but records are loaded when they first come: each call finds them as a
// dataset, pristine and in a process of its own. Only the rows of data are of interest.
import { SandboxEngine } from '../../node/lib/engine.js';

export const meta = {
  id: 'glovebox-dataset',
  pkg: 'glovebox (this package), data as a dataset',
  isolation: 'a sealed process per call, forked ahead of time',
  unit: 'engine',
  skip: 'cold,compute,kill_,mem_,rss',
};

export async function create({ timeoutMs = 5000, memMB = 128 } = {}) {
  const engine = new SandboxEngine({ timeout: timeoutMs, memoryLimit: memMB });
  const names = new WeakMap();
  let count = 0;
  return {
    async run(code, data) {
      if (!Array.isArray(data) || data.length < 1000) return engine.execute(code, data);
      let name = names.get(data);
      if (name === undefined) {
        name = `data${++count}`;
        names.set(data, name);
        await engine.load(name, data);
      }
      return engine.run({ code, dataset: name });
    },
    dispose() {
      engine.dispose();
    },
  };
}

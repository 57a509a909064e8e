// SPDX-License-Identifier: MIT
//
// An adapter of the package for benchmarks that ask each sandbox for the same:
//   meta                          what it is
//   create({timeoutMs, memMB})    -> {run(code, data, {timeoutMs}), dispose()}
// run() resolves to {ok: true, value} or {ok: false, code, error}.
import { SandboxEngine } from '../../node/lib/engine.js';

export const meta = {
  id: 'glovebox',
  pkg: 'glovebox (this package)',
  isolation: 'a sealed process per call, forked ahead of time',
  unit: 'engine',
};

export async function create({ timeoutMs = 5000, memMB = 128 } = {}) {
  const engine = new SandboxEngine({
    timeout: timeoutMs,
    memoryLimit: memMB,
    maxOutputBytes: 64 * 1048576,
  });
  return {
    run(code, data, options) {
      if (options === undefined) return engine.execute(code, data);
      return engine.run({ code, input: data, limits: options });
    },
    dispose() {
      engine.dispose();
    },
  };
}

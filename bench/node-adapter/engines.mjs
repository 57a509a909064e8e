// SPDX-License-Identifier: MIT
//
// What an engine for each request costs: new SandboxEngine(), one call, dispose(). Prints the median
// in milliseconds of the first two, which start processes, and of those after them.
import { SandboxEngine } from '../../node/lib/engine.js';

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const times = [];
for (let i = 0; i < 42; i++) {
  const begin = performance.now();
  const engine = new SandboxEngine();
  const result = await engine.execute('() => 1');
  engine.dispose();
  if (!result.ok) throw new Error(result.error);
  times.push(performance.now() - begin);
}
console.log(JSON.stringify({ first: times[0], second: times[1], later: median(times.slice(2)) }));

// SPDX-License-Identifier: MIT
// front: `glovebox mcp` at an address or a socket file. It is killed after the tests, and with
// them: no input ends it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after } from 'node:test';
import { env } from './box.mjs';
import { until } from './processes.mjs';

const fronts = [];
after(() => { for (const { child } of fronts) child.kill('SIGKILL'); });

/** under: a command that starts it; descriptors: besides the standard ones. */
function run({ under = [], descriptors = [] }, args) {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...under, process.env.GLOVEBOX, 'mcp', ...args],
    { env, stdio: ['ignore', 'ignore', 'pipe', ...descriptors] });
  const front = { child, stderr: '' };
  fronts.push(front);
  front.exited = new Promise((resolve) => { child.on('close', (code, signal) => resolve({ code, signal })); });
  child.stderr.setEncoding('utf8').on('data', (text) => { front.stderr += text; });
  front.exited.then(() => { front.isOver = true; });
  return front;
}

export async function start(how, ...args) {
  const front = run(how, args);
  const place = await until(() => front.isOver ? ['', ''] : /listening on (https?:\S+|.*(?=, path))/.exec(front.stderr));
  assert.ok(place[1], front.stderr);
  if (place[1].startsWith('http')) {
    front.url = place[1];
    front.port = Number(new URL(front.url).port);
  }
  return front;
}

/** At a free port. */
export const serve = (...args) => start({}, '--http', '0', ...args);

/** How a start ends that is refused, and what it says. */
export async function refused(how, ...args) {
  const front = run(how, args);
  const { code } = await front.exited;
  return `${code} ${front.stderr}`;
}

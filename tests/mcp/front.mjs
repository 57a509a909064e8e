// SPDX-License-Identifier: MIT
// front: `glovebox mcp --http` at a free port. It is killed after the tests, and with them: no
// input ends it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after } from 'node:test';
import { env } from './box.mjs';
import { until } from './processes.mjs';

const fronts = [];
after(() => { for (const { child } of fronts) child.kill('SIGKILL'); });

export const serve = (...args) => serveUnder([], ...args);

/** The same as a command's command. */
export async function serveUnder(command, ...args) {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...command, process.env.GLOVEBOX, 'mcp', '--http', '0', ...args],
    { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const front = { child, stderr: '' };
  fronts.push(front);
  front.exited = new Promise((resolve) => { child.on('close', (code, signal) => resolve({ code, signal })); });
  child.stderr.setEncoding('utf8').on('data', (text) => { front.stderr += text; });
  front.exited.then(() => { front.isOver = true; });
  await until(() => front.isOver || /listening on (\S+)/.test(front.stderr));
  front.url = /listening on (\S+)/.exec(front.stderr)?.[1];
  assert.ok(front.url, front.stderr);
  front.port = Number(new URL(front.url).port);
  return front;
}

// SPDX-License-Identifier: MIT
// Whatever becomes of `glovebox mcp`, nothing that its servers have started is left.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { open } from './box.mjs';
import { isAlive, until, within } from './processes.mjs';

/** Processes that have this text in their environment, zombies not counted. */
function marked(mark) {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const state = readFileSync(`/proc/${pid}/stat`, 'utf8').match(/\) (\S)/)[1];
      return state !== 'Z' && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}

let count = 0;

/** A server in the middle of a call of a server of its own, which never answers. */
async function inTheMiddle(server) {
  const mark = `GBX_ORPHANS_${process.pid}_${++count}`;
  const wire = await open({ mcpServers: { bad: { ...server, env: { GBX_ORPHANS: mark } } },
    glovebox: { rules: [{ server: 'bad', action: 'allow' }] } });
  const code = 'await servers.bad.echo({}); progress("called"); await servers.bad.hang({})';
  wire.ask('tools/call', { name: 'execute', arguments: { code }, _meta: { progressToken: 1 } })
    .catch(() => {});
  await wire.hear((m) => m.method === 'notifications/progress' && m.params.message === 'called');
  await new Promise((resolve) => setTimeout(resolve, 200));
  const started = marked(mark);
  assert.ok(started.length > 0);
  return { wire, mark, started };
}

const bad = join(import.meta.dirname, 'bad-upstream.mjs');
const servers = {
  'a server': { command: process.execPath, args: [bad] },
  'one that ignores everything': { command: process.execPath, args: [bad, 'stubborn'] },
  'one behind two shells': {
    command: 'sh',
    args: ['-c', `exec 3<&0; sh -c '"${process.execPath}" "${bad}" stubborn <&3 & wait' & wait`],
  },
};

const ends = {
  SIGKILL: (wire) => wire.child.kill('SIGKILL'),
  SIGTERM: (wire) => wire.child.kill('SIGTERM'),
  'the end of its input': (wire) => wire.child.stdin.end(),
};

for (const [end, bring] of Object.entries(ends))
  for (const [name, server] of Object.entries(servers))
    test(`${name} is gone a second after ${end}`, async () => {
      await within(1500, async () => {
        const { wire, mark, started } = await inTheMiddle(server);
        const start = performance.now();

        bring(wire);
        await until(() => !started.some(isAlive)); // a look at all processes takes long
        await until(() => marked(mark).length === 0);
        await wire.exited;
        return performance.now() - start;
      });
    });

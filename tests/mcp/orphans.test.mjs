// SPDX-License-Identifier: MIT
// Whatever becomes of `glovebox mcp`, nothing that its servers have started is left.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until, within } from './processes.mjs';
import { Wire } from './wire.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'gbx-orphans-'));
after(() => rmSync(folder, { recursive: true }));

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
  const config = join(folder, `${mark}.json`);
  const env = { GBX_ORPHANS: mark };
  writeFileSync(
    config,
    JSON.stringify({
      mcpServers: { bad: { ...server, env } },
      glovebox: { rules: [{ server: 'bad', action: 'allow' }] },
    }),
  );
  const wire = new Wire(process.env.GLOVEBOX, ['mcp', '--config', config]);
  await wire.ask('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
  wire.say({ method: 'notifications/initialized' });
  const code = 'await servers.bad.echo({}); progress("called"); await servers.bad.hang({})';
  wire.ask('tools/call', { name: 'execute', arguments: { code }, _meta: { progressToken: 1 } })
    .catch(() => {});
  await wire.hear((m) => m.method === 'notifications/progress' && m.params.message === 'called');
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.ok(marked(mark).length > 0);
  return { wire, mark };
}

const bad = join(here, 'bad-upstream.mjs');
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
        const { wire, mark } = await inTheMiddle(server);
        const start = performance.now();

        bring(wire);
        await until(() => marked(mark).length === 0);
        await wire.exited;
        return performance.now() - start;
      });
    });

// SPDX-License-Identifier: MIT
// box: a folder that is gone after the tests, configurations in it, and `glovebox mcp` with
// them. What was opened and not closed is closed after the tests.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { Wire, killAll } from './wire.mjs';

export const folder = mkdtempSync(join(tmpdir(), 'glovebox-mcp-'));
export const env = { GLOVEBOX_WORKER: process.env.GLOVEBOX_WORKER, PATH: process.env.PATH, HOME: folder };

const opened = [];
after(async () => {
  for (const { child } of opened) child.stdin.end();
  await Promise.race([Promise.all(opened.map(({ exited }) => exited)),
    new Promise((resolve) => { setTimeout(resolve, 5000).unref(); })]);
  killAll();
});
process.on('exit', () => rmSync(folder, { recursive: true })); // all hooks have run

/** A file in the folder, of a text or of a value as JSON; its path. */
export function put(name, value) {
  const path = join(folder, name);
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
}

/** The entry of a server that is NAME-upstream.mjs. */
export const upstream = (name, ...args) =>
  ({ command: process.execPath, args: [join(import.meta.dirname, `${name}-upstream.mjs`), ...args] });

/** A configuration of servers all of whose tools may be called. */
export const allow = (mcpServers, more = {}) =>
  ({ mcpServers, glovebox: { rules: [{ action: 'allow' }], ...more } });

let count = 0;

/** A client of `glovebox mcp` with a configuration or its path, or without; it has said hello. */
export async function open(config, { args = [], env: more = {}, version = undefined } = {}) {
  const path = config === undefined || typeof config === 'string' ? config : put(`mcp-${++count}.json`, config);
  const wire = new Wire(process.env.GLOVEBOX, ['mcp', ...(path === undefined ? [] : ['--config', path]), ...args],
    { env: { ...env, ...more } });
  opened.push(wire);
  await wire.initialize(version);
  return wire;
}

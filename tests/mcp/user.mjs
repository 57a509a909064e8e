// SPDX-License-Identifier: MIT
// user - somebody with a home, a project and the files of hosts in them.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after } from 'node:test';

const folder = mkdtempSync(join(tmpdir(), 'glovebox-hosts-'));
after(() => rmSync(folder, { recursive: true }));
let count = 0;

export const glovebox = process.env.GLOVEBOX;

/** A user with a home, a project that is the working folder, and these files. */
export function user(files) {
  const root = join(folder, String(++count));
  const home = join(root, 'home');
  const project = join(root, 'project');
  const fill = (text) => text.replaceAll('@ROOT@', root).replaceAll('@PROJECT@', project).replaceAll('@HOME@', home)
    .replaceAll('@US@', glovebox);
  const write = (name, text) => {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, fill(text));
    return fill(text);
  };
  mkdirSync(home, { recursive: true });
  mkdirSync(project);
  for (const [name, text] of Object.entries(files)) write(name, typeof text === 'string' ? text : JSON.stringify(text));
  const env = { PATH: process.env.PATH, HOME: home };
  const runAs = (other, ...args) => spawnSync(glovebox, ['mcp', ...args],
    { cwd: other.cwd ?? project, env: { ...env, ...other.env }, encoding: 'utf8', timeout: other.timeout });
  return {
    root, home, project, fill, write, runAs,
    own: join(home, '.config/glovebox/mcp.json'),
    read: (name) => readFileSync(join(root, name), 'utf8'),
    json: (name) => JSON.parse(readFileSync(join(root, name), 'utf8')),
    servers: () => JSON.parse(readFileSync(join(home, '.config/glovebox/mcp.json'), 'utf8')).mcpServers,
    run: (...args) => runAs({}, ...args),
  };
}

// SPDX-License-Identifier: MIT
// sign-in: `glovebox mcp login` with a browser that agrees to everything.
import { spawn } from 'node:child_process';

/** config: the path of a configuration. How it ends, what it says, and the browser's responses.
 *  browse(url, child) is the browser. */
export async function login(config, { server = 'up', env, browse = (url) => fetch(url), args = [] }) {
  const child = spawn(process.env.GLOVEBOX, ['mcp', 'login', server, '--config', config, '--no-browser', ...args],
    { env, stdio: ['pipe', 'ignore', 'pipe'] });
  let stderr = '', browsing;
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
    const [, url] = /^ {2}(http\S+)\n/m.exec(stderr) ?? [];
    if (url) browsing ??= browse(url, child);
  });
  const code = await new Promise((resolve) => { child.on('close', resolve); });
  return { code, stderr, page: await browsing };
}

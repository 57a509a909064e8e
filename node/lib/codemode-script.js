// SPDX-License-Identifier: MIT
/*
 * codemode-script - the scripts that make `servers` in the sandbox, the same ones that the MCP
 * server of glovebox preloads. The package has copies of them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import vm from 'node:vm';

import { here } from './native.js';

/** The function of the host that they call. */
export const HOST_NAME = 'codemode';

function scriptOf(name) {
  const places = [join(here, `${name}.box.js`), join(here, '..', '..', 'src', 'mcp', 'code', `${name}.js`)];
  const path = places.find((each) => existsSync(each));
  if (path === undefined) throw new Error(`the package is not complete: there is no '${places[0]}'`);
  return readFileSync(path, 'utf8');
}

let typeWriter;

/** The functions that write types of schemas: see declarations.js. */
export function declarations() {
  typeWriter ??= vm.runInThisContext(scriptOf('declarations'));
  return typeWriter;
}

/** The source for these servers, as a preload. */
export function serversScript(names, sleepMs) {
  const finder = `(${scriptOf('discover')})(${scriptOf('declarations')})`;
  const args = [names, HOST_NAME, { sleepMs }].map((arg) => JSON.stringify(arg));
  return `${scriptOf('servers')}(${args.join(', ')}, ${finder});`;
}

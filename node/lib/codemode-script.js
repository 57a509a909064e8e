// SPDX-License-Identifier: MIT
/*
 * codemode-script - the script that makes `servers` in the sandbox, the same one that the MCP
 * server of glovebox preloads. The package has a copy of it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { here } from './here.js';

const PLACES = [join(here, 'servers.box.js'), join(here, '..', '..', 'src', 'mcp', 'code', 'servers.js')];

/** The function of the host that it calls. */
export const HOST_NAME = 'codemode';

/** The source for these servers, as a preload. */
export function serversScript(names, sleepMs) {
  const path = PLACES.find((each) => existsSync(each));
  if (path === undefined) throw new Error(`the package is not complete: there is no '${PLACES[0]}'`);
  const options = JSON.stringify({ sleepMs });
  return `${readFileSync(path, 'utf8')}(${JSON.stringify(names)}, ${JSON.stringify(HOST_NAME)}, ${options});`;
}

// SPDX-License-Identifier: MIT
//
// here - the folder that has the package's files. A bundler moves this code, and may leave it
// without import.meta: the files are then not found. Whoever needs them reports that; the
// import does not throw.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const file = import.meta.url === undefined ? join(process.cwd(), 'bundle.js') : fileURLToPath(import.meta.url);

export const here = dirname(file);

/** CommonJS's require: addons cannot be imported. */
export const require = createRequire(file);

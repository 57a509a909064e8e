// SPDX-License-Identifier: MIT
//
// here - the folder in which files of the package are looked for. A bundler puts this code
// elsewhere, and may leave it no import.meta: then they are not found, which is said by who
// needs them, and is no exception of the import.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const file = import.meta.url === undefined ? join(process.cwd(), 'bundle.js') : fileURLToPath(import.meta.url);

export const here = dirname(file);

/** Of CommonJS: addons cannot be imported. */
export const require = createRequire(file);

// SPDX-License-Identifier: MIT
// with-node - runs the ordinary cases in Node and compares: the expected values are the
// language's, not ours. Exit status 0 if all agree.
import crypto from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('./ordinary/', import.meta.url);
const AsyncFunction = (async () => {}).constructor;

// The form of a case is described in cases.h.
function* casesOf(text) {
  const defaults = {};
  let at = null;
  for (const line of text.split('\n')) {
    if (line.startsWith('//// ')) {
      if (at) yield at;
      at = { ...defaults, name: line.slice(5), code: '' };
    } else if (line.startsWith('//: ')) {
      const colon = line.indexOf(': ', 4);
      (at ?? defaults)[line.slice(4, colon)] = line.slice(colon + 2);
    } else if (at) at.code += `${line}\n`;
  }
  if (at) yield at;
}

async function run({ form, code, input = 'null', bindings = '{}' }) {
  const source = code.trim();
  const data = JSON.parse(input);
  const named = JSON.parse(bindings);
  switch (form ?? 'function') {
    case 'function': return (0, eval)(`"use strict";(${source.replace(/;$/, '')}\n)`)(data);
    case 'execute':
      return Function(`"use strict";${source}\n;return typeof execute === "function" ? execute : run`)()(data);
    case 'body': return AsyncFunction(...Object.keys(named), `"use strict";${source}`)(...Object.values(named));
    default:
      globalThis.input = data;
      if (/^\s*(return|if .*return)|await /m.test(source)) return AsyncFunction(`"use strict";${source}`)();
      return (0, eval)(`"use strict";void 0;${source}`);
  }
}

Object.defineProperty(globalThis, 'crypto', { value: crypto, configurable: true });
const log = console.log;
for (const name of ['log', 'info', 'warn', 'error', 'debug', 'table', 'group', 'groupEnd', 'count', 'assert'])
  console[name] = () => {};
let agreed = 0, differ = 0;
for (const file of readdirSync(folder).filter((f) => f.endsWith('.cases')).sort())
  for (const test of casesOf(readFileSync(new URL(file, folder), 'utf8'))) {
    let value;
    try {
      value = JSON.stringify(await run(test)) ?? 'undefined';
    } catch (error) {
      value = String(error);
    }
    if (value === test.value) agreed++;
    else {
      differ++;
      log(`${file}: ${test.name}\n  expected ${test.value}\n  Node has ${value}`);
    }
  }
log(`with-node: ${agreed} agree, ${differ} differ`);
process.exit(differ === 0 && agreed > 0 ? 0 : 1);

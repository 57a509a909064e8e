// SPDX-License-Identifier: MIT
/*
 * hints - the core's advice in the terms of this package: an option of the engine replaces
 * each flag of the command.
 */
import { addon } from './native.js';

const OPTIONS = {
  '--allow fetch=HOST': "the engine's option fetch: ['HOST']",
  '--allow fetch=SITE': "the engine's option fetch: ['SITE']",
  '--allow file=DIRECTORY': "the engine's option fs: ['DIRECTORY']",
  '--allow crypto': "the engine's option crypto: true",
  '--allow env=NAME': "the engine's option env: ['NAME']",
};

/* Advice of this package that only the engine's owner can follow. */
const OF_THE_ENGINE = [
  [/allow (it|them) with [^,]*, or /, ''],
  [/^expose\(\) gives .*$/, 'the input is data alone: leave functions out of it'],
  [/^load\(\) parts of it .*$/, 'give the code less data at once'],
];

/** The hint with options in place of flags. */
export function hintOfEngine(hint) {
  if (!hint?.includes('--allow ')) return hint;
  for (const [flag, option] of Object.entries(OPTIONS)) hint = hint.replaceAll(flag, option);
  return hint;
}

/** The hint for the author of the code, who can change only the code. */
export function hintOfCode(hint = '') {
  return OF_THE_ENGINE.reduce((text, [about, instead]) => text.replace(about, instead), addon?.advise(hint) ?? hint);
}

// SPDX-License-Identifier: MIT
/*
 * hints - the core's advice in the words of this package: where it names a flag of the
 * command, here is an option of the engine.
 */
const OPTIONS = {
  '--allow fetch=HOST': "the engine's option fetch: ['HOST']",
  '--allow file=DIRECTORY': "the engine's option fs: ['DIRECTORY']",
  '--allow crypto': "the engine's option crypto: true",
  '--allow env=NAME': "the engine's option env: ['NAME']",
};

/** The hint with options in place of flags. */
export function hintOfEngine(hint) {
  if (!hint?.includes('--allow ')) return hint;
  for (const [flag, option] of Object.entries(OPTIONS)) hint = hint.replaceAll(flag, option);
  return hint;
}

/** The hint without what only who made the engine can do; what is left may be nothing. */
export function hintOfCode(hint = '') {
  return hint.replace(/^allow it with [^,]*, or /, '');
}

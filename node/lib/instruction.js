// SPDX-License-Identifier: MIT
//
// instruction - instructions for a language model about the code that it sends. The same text
// as the MCP server's, share/glovebox/sandbox-instruction.txt: a test compares them. It is
// copied here because a bundle of this package has no files next to it.

import { takePolicy } from './options.js';

/** Appended to the description of a tool that takes code. */
export const SANDBOX_SYSTEM_INSTRUCTION = `\
[SANDBOX] This tool takes code instead of sending you the data.
Pass one JavaScript function as a string: (data) => result. It may be async.
It gets the data as its first argument and runs in a sealed process of its own: there is no
require, no import, no process, no file system and no network.
Write JavaScript or TypeScript: no Markdown fence, no eval.
Return a value that JSON can hold, and only what you need of it.`;

/* The text about code without any capability. */
const NOTHING = /there is no\s+require, no import, no process, no file system and no network\./;
const MOST_NAMES = 12;

function listed(names) {
  return names.length <= MOST_NAMES ? names.join(', ') : `${names.slice(0, MOST_NAMES).join(', ')} and others`;
}

/* A sentence for each capability that is on. Directories belong to the host and are not
 * shown. */
const SENTENCES = {
  fetch: ({ allow }) => `await fetch(url) reaches these sites and no others: ${listed(allow)}.`,
  file: () => "await fs.readFile(path, 'utf8') reads the files that are allowed; nothing writes.",
  crypto: () => 'crypto has createHash, createHmac, randomUUID and the like.',
  env: (env) => `env has: ${listed(Array.isArray(env) ? env : Object.keys(env))}.`,
};

/** The same for code that runs in an engine of this config, which must be valid. */
export function instructionFor(config) {
  const policy = JSON.parse(takePolicy(config) ?? '{}');
  const said = Object.entries(SENTENCES).filter(([name]) => policy[name]).map(([name, say]) => say(policy[name]));
  if (said.length === 0) return SANDBOX_SYSTEM_INSTRUCTION;
  const missing = ['no require', 'no import', 'no process', policy.file ? '' : 'no file system', policy.fetch ? '' : 'no network']
    .filter((each) => each !== '');
  const none = `${missing.slice(0, -1).join(', ')} and ${missing.at(-1)}`;
  return SANDBOX_SYSTEM_INSTRUCTION.replace(NOTHING, () => `there is\n${none}.\n${said.join('\n')}`);
}

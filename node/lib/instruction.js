// SPDX-License-Identifier: MIT
//
// instruction - what a language model is told about code that it sends. The text of the MCP
// server, share/glovebox/sandbox-instruction.txt, word for word: a test compares them. It is
// here too because no file lies beside a bundle that this was put into.

/** Appended to the description of a tool that takes code. */
export const SANDBOX_SYSTEM_INSTRUCTION = `\
[SANDBOX] This tool takes code instead of sending you the data.
Pass one JavaScript function as a string: (data) => result. It may be async.
It gets the data as its first argument and runs in a sealed process of its own: there is no
require, no import, no process, no file system and no network.
Write plain JavaScript: no Markdown fence, no TypeScript, no eval.
Return a value that JSON can hold, and only what you need of it.`;

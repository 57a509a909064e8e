// SPDX-License-Identifier: MIT
//
// instruction - what a language model is told about code that it sends. One text for the
// package and the MCP server: share/glovebox/sandbox-instruction.txt.
import { existsSync, readFileSync } from 'node:fs';

const FILE = 'share/glovebox/sandbox-instruction.txt';

// In a package the sources are below core/, in the sources the package is below the root.
const places = [`../core/${FILE}`, `../../${FILE}`].map((path) => new URL(path, import.meta.url));

/** Appended to the description of a tool that takes code. */
export const SANDBOX_SYSTEM_INSTRUCTION = readFileSync(
  places.find((place) => existsSync(place)) ?? places[0],
  'utf8',
).trimEnd();

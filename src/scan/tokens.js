// SPDX-License-Identifier: MIT
/* tokens - kinds of what a place may hold. TAINT: text of a tool's argument; QUOTED: the same as
 * a JSON literal; FILE: the path of a file with such text; RESULT: what code has returned;
 * OBJECT, FUNCTION: made in the project; MODULE: of Node.js, the language or a package; TEXT: a
 * constant; SETTLE: resolves a promise. */
export const TAINT = 1, QUOTED = 2, FILE = 3, RESULT = 4, OBJECT = 5, FUNCTION = 6, MODULE = 7, TEXT = 8, SETTLE = 9;

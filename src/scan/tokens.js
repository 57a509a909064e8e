// SPDX-License-Identifier: MIT
/* tokens - the kinds of values that a node may hold. TAINT: text from a tool's argument; QUOTED:
 * such text as a JSON literal; FILE: the path of a file with such text; RESULT: a value that code
 * returned; OBJECT, FUNCTION: made in the project; MODULE: a name of Node.js, the language or a
 * package; TEXT: a constant; SETTLE: a function that resolves a promise. */
export const TAINT = 1, QUOTED = 2, FILE = 3, RESULT = 4, OBJECT = 5, FUNCTION = 6, MODULE = 7, TEXT = 8, SETTLE = 9;

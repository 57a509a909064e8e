// SPDX-License-Identifier: MIT
/* tokens - the kinds of values that a node may hold. TAINT: text from a tool's argument; QUOTED:
 * such text as a JSON literal; WORD: such text that a strict pattern has
 * checked; FILE: the path of a file with such text; RESULT: a value that code
 * returned; OBJECT, FUNCTION: made in the project; MODULE: a name of Node.js, the language or a
 * package; TEXT: a constant; SETTLE: a function that resolves a promise. */
export const TAINT = 1, QUOTED = 2, WORD = 3, FILE = 4, RESULT = 5, OBJECT = 6, FUNCTION = 7, MODULE = 8, TEXT = 9, SETTLE = 10;

// SPDX-License-Identifier: MIT
/*
 * syntax - a second opinion on code that passes the guard's parser, which knows the grammar
 * but not JavaScript's further rules. V8 knows them, and is available here.
 *
 * Nothing runs: a vm.Script only compiles. V8's message is translated into the wording of the
 * sandbox's engine, for which the core has hints.
 */
import vm from 'node:vm';

import { addon } from './native.js';

const FILE = 'code-of-the-box';
const STRICT = '"use strict";';

/*
 * Each form, wrapped as the engine does. Code that closes a bracket of one wrapper does not
 * fit the other. A script is a body only if it awaits or returns and otherwise would not
 * parse.
 */
const WRAPPERS = [
  [[`${STRICT}(`, '\n)'], [`${STRICT}[`, '\n]']],
  [[STRICT, '']],
  [[`${STRICT}(async function(params,env){`, '\n})'], [`${STRICT}({async m(params,env){`, '\n}})']],
  [[`${STRICT}(async function(){`, '\n})'], [`${STRICT}({async m(){`, '\n}})']],
];
const SCRIPT = 3;

/* Syntax that the engine accepts and some V8 does not: if V8 refuses it, its opinion does not
 * count. */
const NEWER = [
  ['/a/v', /regular expression flags/, /\/[dgimsy]*v[dgimsy]*/],
  ['/(?i:a)/', /Invalid group/, /\(\?[ims-]+:/],
  ['/(?<a>x)|(?<a>y)/', /Duplicate capture group name/, /\(\?</],
];

function errorOf(text) {
  try {
    new vm.Script(text, { filename: FILE });
    return undefined;
  } catch (error) {
    return error;
  }
}

const isNewer = ({ message }, text) => NEWER.some(([code, about, looks]) =>
  about.test(message) && looks.test(text) && errorOf(code) !== undefined);

/* The word is removed before the code runs. */
const isExport = ({ message }) => message === "Unexpected token 'export'";

/* ---- V8's messages in the engine's wording -------------------------------------------- */

/* The message for a character that V8 could not use: what it begins shows the error. */
function characterOf(rest) {
  const [character = ''] = rest;
  if (/^['"`]/.test(rest)) return 'Unexpected EOF';
  if (/^\d/.test(rest)) return 'No identifiers allowed directly after numeric literal';
  if (character === '@') return "Invalid character: '@'";
  return `Invalid character '\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}'`;
}

function tokenOf([, token], rest) {
  if (/^(\|\||&&|\?\?)$/.test(token)) return `Unexpected token '${token}'. Coalescing and logical operators`;
  return `Unexpected ${/^[a-z]+$/.test(token) ? 'keyword' : 'token'} '${token || rest[0]}'`;
}

const wordAt = (rest) => /^[\p{L}\p{N}_$.]+/u.exec(rest)?.[0] ?? '';

/* A token after a complete expression, whose kind V8 does not report. */
const unexpected = (kind) => (_, rest) => `Unexpected ${kind} '${wordAt(rest)}'`;

const TABLE = [
  [/^Missing initializer in const/, 'const declared variable must have an initializer'],
  [/^Identifier '(#.*)' has already been declared/, 'Cannot declare private field twice'],
  [/^Identifier '(.*)' has already been declared/, ([, name]) => `Cannot declare a let variable twice: '${name}'.`],
  [/^Duplicate parameter name/, "Cannot declare a parameter named '' in strict mode"],
  [/^Illegal (break|continue)/, ([, word]) => `'${word}' is only valid inside a loop statement.`],
  [/^Illegal return/, 'Return statements are only valid inside functions.'],
  [/with statement/, "'with' statements are not valid in strict mode."],
  [/^(Octal literals|Decimals with leading zero)/, 'literals with a leading zero are forbidden'],
  [/^Delete of an unqualified/, 'Cannot delete unqualified property'],
  [/^Unexpected eval or arguments/, (_, rest) => `Cannot modify '${wordAt(rest)}' in strict mode.`],
  [/^Missing catch or finally/, 'Try statements must have at least a catch or finally block.'],
  [/^missing \) after argument list/, (_, rest) => `Unexpected '${wordAt(rest) || rest[0]}'. Expected ')' to end an argument list.`],
  [/^Invalid regular expression: missing \//, (_, rest) => `Unterminated regular expression literal '${rest.split('\n', 1)[0]}'`],
  [/^Unterminated template|^Unexpected end of input/, 'Unexpected EOF'],
  [/^Function statements require/, 'Function statements must have a name.'],
  [/^Invalid left-hand.*single binding/, 'can only declare a single variable in an enumeration.'],
  [/^Invalid (left-hand side|destructuring assignment)/, 'Left side of assignment is not a reference.'],
  [/^Private field '(.*)'/, ([, name]) => `Cannot reference undeclared private names: "${name}"`],
  [/^Octal escape/, 'The only valid numeric escape in strict mode is \\0'],
  [/^Undefined label '(.*)'/, ([, name]) => `Cannot use the undeclared label '${name}'.`],
  [/exponentiation/, "Unexpected token '**'. Ambiguous unary expression"],
  [/^'super' keyword/, 'super is not valid in this context.'],
  [/^Numeric sep|numeric separator/, 'No identifiers allowed directly after numeric literal'],
  [/^Lexical declaration cannot/, "Unexpected keyword 'let'"],
  [/^Invalid or unexpected token/, (_, rest) => characterOf(rest)],
  [/^Unexpected strict mode reserved word/, (_, rest) => (wordAt(rest) === 'yield'
    ? "Unexpected keyword 'yield'. Cannot use yield expression out of generator."
    : `Cannot use the reserved word '${wordAt(rest)}'`)],
  [/^Unexpected reserved word/, (_, rest) => (wordAt(rest) === 'await'
    ? "Unexpected identifier 'await'" : `Unexpected use of reserved word '${wordAt(rest)}'`)],
  [/^Unexpected identifier/, unexpected('identifier')],
  [/^Unexpected number/, unexpected('number')],
  [/^Unexpected string/, 'Unexpected string literal'],
  [/^Unexpected token '(.*)'/, tokenOf],
];

function inEngineWords(message, rest) {
  for (const [about, words] of TABLE) {
    const match = about.exec(message);
    if (match !== null) return typeof words === 'string' ? words : words(match, rest);
  }
  return message;
}

/* ---- positions ------------------------------------------------------------------------ */

/* V8 gives the place only in the stack, below the line; for a very long line only its
 * number. */
const UNDERLINE_MAX = 1000;
const PLACE = new RegExp(`^${FILE}:(\\d+)\\n.*\\n([ \\t]*)(\\^*)\\n`);

/* The text offset of V8's place, or of the line that it names. */
function placeOf(error, prefix, text) {
  const [, line, { length: before } = '', { length: under } = ''] = PLACE.exec(error.stack) ?? [];
  if (line === undefined) return { offset: 0, isKnown: false };
  const lines = text.split('\n');
  if (line > lines.length) return { offset: text.length, isKnown: true };
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  if (before + under === 0 || before >= UNDERLINE_MAX) return { offset: start, isKnown: false };
  const offset = start + Math.max(0, before - (line === '1' ? prefix.length : 0));
  /* In a list of arguments V8 points to the last one that it read, the engine to what
   * follows. */
  const skipped = error.message.startsWith('missing )') ? under + /^\s*/.exec(text.slice(offset + under))[0].length : 0;
  return { offset: offset + skipped, isKnown: true };
}

/* Line, and column in UTF-16 units, in the caller's code for an offset in the engine's part
 * of it. */
function positionOf(offset, isKnown, [text, firstLine, firstColumn]) {
  const before = text.slice(0, offset).split('\n');
  const column = before.at(-1).length + (before.length === 1 ? firstColumn : 1);
  return [firstLine + before.length - 1, isKnown ? column : 0];
}

/* The first error, and the text before the code. */
function compile(form, text) {
  if (form === SCRIPT) {
    const error = errorOf(STRICT + text);
    if (error === undefined || !/await|return/.test(text)) return error && { error, prefix: STRICT };
  }
  for (const [prefix, suffix] of WRAPPERS[form]) {
    const error = errorOf(prefix + text + suffix);
    if (error !== undefined) return { error, prefix };
  }
  return undefined;
}

/**
 * V8's objection to code: undefined without one, null if V8 cannot judge it, else [message,
 * line, column, hint, frame]. form: the number of the form.
 */
export function secondOpinion(form, code) {
  const proper = addon.proper(form, code);
  if (proper[3]) return null; /* types are removed where the code runs */
  const found = compile(form, proper[0]);
  if (found === undefined) return undefined;
  const { error, prefix } = found;
  /* A stack that is too small for deep code says nothing about the code's syntax. */
  if (error.name !== 'SyntaxError' || isNewer(error, proper[0]) || isExport(error)) return null;
  const { offset, isKnown } = placeOf(error, prefix, proper[0]);
  /* A bracket after the code is that of the wrapper. */
  const isCut = isKnown && offset >= proper[0].trimEnd().length && /^Unexpected token '[)}]'/.test(error.message);
  const message = isCut ? 'Unexpected end of input' : error.message;
  const words = inEngineWords(message, proper[0].slice(offset));
  return [message, ...addon.explain(form, code, words, ...positionOf(offset, isKnown, proper))];
}

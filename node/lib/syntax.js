// SPDX-License-Identifier: MIT
/*
 * syntax - a second opinion on code that the guard's parser has no objection to: it knows
 * the grammar, but not what JavaScript forbids beside it. V8 knows that, and it is here.
 *
 * Nothing runs: a vm.Script compiles. What V8 says is put into the words of the engine in
 * the box, for which the core has its hints.
 */
import vm from 'node:vm';

import { addon } from './native.js';

const FILE = 'code-of-the-box';
const STRICT = '"use strict";';

/*
 * As the engine wraps each form. Code that closes a bracket of one wrapper does not fit
 * the other. A script is a body only if it awaits or returns and else would not do.
 */
const WRAPPERS = [
  [[`${STRICT}(`, '\n)'], [`${STRICT}[`, '\n]']],
  [[STRICT, '']],
  [[`${STRICT}(async function(params,env){`, '\n})'], [`${STRICT}({async m(params,env){`, '\n}})']],
  [[`${STRICT}(async function(){`, '\n})'], [`${STRICT}({async m(){`, '\n}})']],
];
const SCRIPT = 3;

/* What the engine takes and some V8 here does not, if V8 does not: then it has no say. */
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

/* ---- V8's words as the engine's ------------------------------------------------------- */

/* The character that V8 could not use: what it begins says what is wrong. */
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

/* What follows something that is complete: V8 does not say of what. */
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

/* ---- where it is ---------------------------------------------------------------------- */

/* V8 tells the place in the stack alone, under the line; of a very long line only which
 * it is. */
const UNDERLINE_MAX = 1000;
const PLACE = new RegExp(`^${FILE}:(\\d+)\\n.*\\n([ \\t]*)(\\^*)\\n`);

/* The offset in the text of V8's place, or of the line that it names. */
function placeOf(error, prefix, text) {
  const [, line, { length: before } = '', { length: under } = ''] = PLACE.exec(error.stack) ?? [];
  if (line === undefined) return { offset: 0, isKnown: false };
  const lines = text.split('\n');
  if (line > lines.length) return { offset: text.length, isKnown: true };
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  if (before + under === 0 || before >= UNDERLINE_MAX) return { offset: start, isKnown: false };
  const offset = start + Math.max(0, before - (line === '1' ? prefix.length : 0));
  /* Of a list of arguments V8 means the last that it could read, the engine what follows. */
  const skipped = error.message.startsWith('missing )') ? under + /^\s*/.exec(text.slice(offset + under))[0].length : 0;
  return { offset: offset + skipped, isKnown: true };
}

/* Line and column, in the code given, of an offset in what the engine gets of it. */
function positionOf(offset, isKnown, [text, firstLine, firstColumn]) {
  const before = text.slice(0, offset).split('\n');
  const column = [...before.at(-1)].length + (before.length === 1 ? firstColumn : 1);
  return [firstLine + before.length - 1, isKnown ? column : 0];
}

/* The first error, and what stood before the code. */
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
 * What V8 has against code: undefined if nothing, null if it has no say, else [message,
 * line, column, hint, frame]. form: the number of the form.
 */
export function secondOpinion(form, code) {
  const proper = addon.proper(form, code);
  const found = compile(form, proper[0]);
  if (found === undefined) return undefined;
  const { error, prefix } = found;
  /* A stack that is too small for deep code says nothing about the code. */
  if (error.name !== 'SyntaxError' || isNewer(error, proper[0])) return null;
  const { offset, isKnown } = placeOf(error, prefix, proper[0]);
  const words = inEngineWords(error.message, proper[0].slice(offset));
  return [error.message, ...addon.explain(form, code, words, ...positionOf(offset, isKnown, proper))];
}

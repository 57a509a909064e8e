// SPDX-License-Identifier: MIT
/*
 * shown - text for people and models, with invisible characters as escapes: controls,
 * direction marks, characters without width, tags. `src/base/utf8.c` does the same for
 * `glovebox mcp`.
 */
const UNSEEN = '\\p{Cc}\\p{Default_Ignorable_Code_Point}\\u2028\\u2029\\u2800\\ufff9-\\ufffb\\u{13430}-\\u{1343f}';
/* A letter or an emoji, which one joiner or one shape selector may follow. */
const BEARER = `[^\\0-\\xa8${UNSEEN}]`;
const KEPT = `[\\n\\t]|\\r(?=\\n)|(?<=${BEARER}|(?:[#*0-9]|${BEARER})[\\ufe0e\\ufe0f])[\\u200c\\u200d]|(?<=[#*0-9]|${BEARER})[\\ufe0e\\ufe0f]`;
const HIDDEN = new RegExp(`(${KEPT})|[${UNSEEN}]`, 'gu');

const replaced = (text, escape) => text.replace(HIDDEN, (character, kept) => kept ?? escape(character));

const inText = (character) => `\\u{${character.codePointAt(0).toString(16)}}`;
/* A carriage return can only be white space there: strings have it escaped. */
const inJson = (character) => (character === '\r' ? ' ' : character.split('')
  .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''));

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Escapes JSON text; its value stays the same. */
export const shownJson = (json) => replaced(json, inJson);

/** Escapes any text; JSON stays JSON. */
export function shownText(text) {
  const shown = replaced(text, inText);
  return shown !== text && isJson(text) ? shownJson(text) : shown;
}

// SPDX-License-Identifier: MIT
/* tool-result - converts a handler's return value to a tool's result in the protocol. */
import { isObject } from './argument.js';
import { mendHalves, mendText } from './half.js';
import { hintOfCode } from './hints.js';
import { jsonOf } from './input.js';
import { shownJson, shownText } from './shown.js';
import { partsOf } from './thrown.js';
import { ToolErrorBuilder } from './tool-error.js';

/* Advice for each code, if the engine has none. */
const ADVICE = {
  TIMEOUT: 'Do less: filter first, or avoid a loop in a loop.',
  MEMORY: 'Use less memory: keep what is needed, not copies of all.',
  OUTPUT_TOO_LARGE: 'Return less: counts, sums or the first few instead of everything.',
  INVALID_DATA: 'The data of this tool is at fault, not the code: report it.',
  UNAVAILABLE: 'The server cannot run code now: try again later.',
};

/** The error that explains to a model what its code did, and what to do. */
export function errorOf(result) {
  const { code, error, hint, location } = result;
  const builder = new ToolErrorBuilder(code, error);
  const advice = hintOfCode(hint) || ADVICE[code];
  if (advice) builder.suggest(advice);
  if (location?.frame) builder.details({ at: `line ${location.line}, column ${location.column}\n${location.frame}` });
  return builder;
}

/* ---- what a handler returned ---------------------------------------------------------- */

const isText = (value) => typeof value === 'string';
/* Examines each blank once: a hostile value may have a million blanks before a mark that
 * does not match. */
const isBase64 = (value) => isText(value) && /^[A-Za-z0-9+/\s]*(?:={1,2}\s*)?$/.test(value);
const isMedia = ({ data, mimeType }) => isBase64(data) && isText(mimeType);

/* The protocol's kinds of content, and the members that each must have. */
const CONTENTS = {
  text: ({ text }) => isText(text),
  image: isMedia,
  audio: isMedia,
  resource: ({ resource }) => isObject(resource) && isText(resource.uri) && (isText(resource.text) || isBase64(resource.blob)),
  resource_link: ({ uri, name }) => isText(uri) && isText(name),
};
const PARTS = {
  content: (list) => Array.isArray(list) && list.every((each) =>
    isObject(each) && isText(each.type) && Object.hasOwn(CONTENTS, each.type) && CONTENTS[each.type](each)),
  structuredContent: (value) => value === undefined || isObject(value),
  isError: (value) => value === undefined || typeof value === 'boolean',
  _meta: (value) => value === undefined || isObject(value),
};

/* Plain data may have a `content` too: a result has only what clients accept. An empty list
 * is a result's if it has no members that a result lacks. */
function isResult(value) {
  if (!isObject(value) || value.content === undefined) return false;
  if (!Object.entries(PARTS).every(([name, isRight]) => isRight(value[name]))) return false;
  return value.content.length > 0 || Object.keys(value).every((name) => Object.hasOwn(PARTS, name));
}

/* The escape of half a character, or text like it: whole characters are not escaped. */
const HALF_ESCAPED = /\\ud[89a-f]/;

const RETURNED = { subject: 'what the tool returned', root: 'result' };

/* The same result, or a copy in which invisible characters are shown. */
function shownResult(result) {
  const content = result.content.map((each) => {
    const text = each.type === 'text' ? shownText(each.text) : each.text;
    return text === each.text ? each : { ...each, text };
  });
  return content.every((each, i) => each === result.content[i]) ? result : { ...result, content };
}

/* The value behind a text: 3, null and 'null' give similar texts. */
const values = new WeakMap();

/** {value, isValue: true} if the result is the text of a value that a handler returned. */
export function returnedBy(result) {
  return isObject(result) && values.has(result) ? { value: values.get(result), isValue: true } : {};
}

/** Throws if JSON cannot hold the value. */
export function toToolResult(returned) {
  if (returned instanceof ToolErrorBuilder) return returned.toResult();
  const text = returned === undefined ? 'undefined' : jsonOf(returned, RETURNED);
  const repaired = HALF_ESCAPED.test(text) ? mendHalves(JSON.parse(text)) : undefined;
  if (isResult(returned)) return shownResult(repaired ?? returned);
  const shown = typeof returned === 'string' ? shownText(mendText(returned))
    : shownJson(repaired === undefined ? text : JSON.stringify(repaired));
  const result = { content: [{ type: 'text', text: shown }] };
  values.set(result, returned);
  return result;
}

/** The result for what a handler has thrown, whatever it is. */
export function toToolFailure(thrown) {
  if (thrown instanceof ToolErrorBuilder) return thrown.toResult();
  const { name, message } = partsOf(thrown);
  return new ToolErrorBuilder('TOOL_FAILED', message || `${name} without a message`).toResult();
}

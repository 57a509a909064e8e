// SPDX-License-Identifier: MIT
/* tool-result - what a handler returned, as the protocol has the result of a tool. */
import { isObject } from './argument.js';
import { hintOfCode } from './hints.js';
import { ToolErrorBuilder } from './tool-error.js';

/* What would help with each code, where the engine has no advice of its own. */
const ADVICE = {
  TIMEOUT: 'Do less: filter first, or avoid a loop in a loop.',
  MEMORY: 'Use less memory: keep what is needed, not copies of all.',
  OUTPUT_TOO_LARGE: 'Return less: counts, sums or the first few instead of everything.',
  INVALID_DATA: 'The data of this tool is at fault, not the code: report it.',
  UNAVAILABLE: 'The server cannot run code now: try again later.',
};

/** The error that tells a model what its code did, and what to do. */
export function errorOf(result) {
  const { code, error, hint, location } = result;
  const builder = new ToolErrorBuilder(code, error);
  const advice = hintOfCode(hint) || ADVICE[code];
  if (advice) builder.suggest(advice);
  if (location?.frame) builder.details({ at: `line ${location.line}, column ${location.column}\n${location.frame}` });
  return builder;
}

function text(value) {
  if (typeof value === 'string') return value;
  return JSON.stringify(value) ?? String(value);
}

/** Throws where JSON cannot hold the value. */
export function toToolResult(returned) {
  if (returned instanceof ToolErrorBuilder) return returned.toResult();
  if (isObject(returned) && Array.isArray(returned.content)) return returned;
  return { content: [{ type: 'text', text: text(returned) }] };
}

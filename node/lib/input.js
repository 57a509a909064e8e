// SPDX-License-Identifier: MIT
//
// input - a JavaScript value as JSON text, and the values in it that JSON cannot hold.
//
// JSON.stringify takes a snapshot at once: nothing else is that quick, and later changes do
// not get in. A large text is handed over in slices, with turns of the event loop between.
import { types } from 'node:util';

import { wrong } from './argument.js';
import { turn } from './clock.js';
import { check, explain, INPUT } from './lost.js';
import { addon } from './native.js';

export { BOUND, InvalidData } from './lost.js';

/** Characters or bytes handed over at once: that takes less than 1 ms. */
const PIECE = 262144;

const { stringify } = JSON;

/** Copy a large text to the addon's memory. */
async function handOver(text) {
  const gather = addon.gather(text.length);
  for (let at = 0, end; at < text.length; at = end) {
    await turn(); // JSON.stringify has just taken long
    end = Math.min(at + PIECE, text.length);
    // Do not cut between the halves of a character.
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end++;
    addon.append(gather, text.slice(at, end));
  }
  return gather;
}

async function handOverBytes(bytes, name) {
  const gather = addon.gather(bytes.length);
  const length = bytes.length;
  for (let at = 0; at < length; at += PIECE) {
    if (bytes.length !== length) throw new TypeError(`${name} was detached while it was read`);
    addon.append(gather, bytes.subarray(at, Math.min(at + PIECE, length)));
    if (at + PIECE < length) await turn();
  }
  return gather;
}

/** The promise may be rejected before anything awaits it. */
function quiet(promise) {
  promise.catch(() => {});
  return promise;
}

/** A value as JSON. Throws InvalidData. */
export function jsonOf(value, place) {
  let text;
  try {
    text = stringify(value);
  } catch (error) {
    throw explain(error, value, place);
  }
  if (text === undefined) throw explain(undefined, value, place);
  if (typeof value === 'object' && value !== null) check(value, place);
  return text;
}

/**
 * Take a snapshot of a value. Throws InvalidData.
 *
 * text: JSON, if it is short; undefined without input, and if there is `ready`:
 * ready: a promise of the text in the addon's memory.
 *
 * wrap(text): the JSON to use in its place.
 */
export function snapshot(value, place = INPUT, wrap = (text) => text) {
  if (value === undefined) return { text: undefined, ready: undefined };
  const text = jsonOf(value, place);
  if (text.length <= PIECE) return { text: wrap(text), ready: undefined };
  return { text: undefined, ready: quiet(handOver(wrap(text))) };
}

/** The same for JSON: a string, or bytes. */
export function given(json, name = 'inputJson') {
  if (typeof json === 'string') {
    if (json.length <= PIECE) return { text: json, ready: undefined };
    return { text: undefined, ready: quiet(handOver(json)) };
  }
  if (types.isUint8Array(json)) {
    return { text: undefined, ready: quiet(handOverBytes(json, name)) };
  }
  throw wrong(name, 'a string or a Uint8Array', json);
}

/** The text that snapshot() or given() returned, once it is complete. */
export async function whole({ text, ready }) {
  return ready === undefined ? text : ready;
}

/** A host function's answer that is JSON already: the result of whole(). */
export class Taken {
  constructor(text) {
    this.text = text;
  }
}

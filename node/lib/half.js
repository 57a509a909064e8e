// SPDX-License-Identifier: MIT
/*
 * half - replaces unpaired surrogates, halves of a character, by U+FFFD. Clients in Python and
 * Rust refuse a whole message if its JSON has the escape of one.
 */
import { isObject } from './argument.js';

const HALF = /\p{Surrogate}/gu;

export const mendText = (text) => text.replace(HALF, '\ufffd');

/** A copy of a value that JSON can hold, with halves replaced in names and texts. */
export function mendHalves(value) {
  if (typeof value === 'string') return mendText(value);
  if (Array.isArray(value)) return value.map(mendHalves);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [mendText(name), mendHalves(each)]));
}

// SPDX-License-Identifier: MIT
/*
 * half - half a character, an unpaired surrogate, has an escape in JSON that clients in Python
 * and Rust refuse, and the whole message with it. In what goes out it is U+FFFD.
 */
import { isObject } from './argument.js';

const HALF = /\p{Surrogate}/gu;

export const mendText = (text) => text.replace(HALF, '\ufffd');

/** A copy of what JSON can hold, names and texts mended. */
export function mendHalves(value) {
  if (typeof value === 'string') return mendText(value);
  if (Array.isArray(value)) return value.map(mendHalves);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [mendText(name), mendHalves(each)]));
}

/* SPDX-License-Identifier: MIT */
/* address - where a request goes: an absolute address on the web. */
import { getOwnPropertyDescriptor, slice, uncurry } from './primordials.js';
import { refusal } from './refusal.js';

import { URL, URLSearchParams } from './shared.js';

const get = (constructor, name) =>
  uncurry(getOwnPropertyDescriptor(constructor.prototype, name).get);
const href = get(URL, 'href'), protocol = get(URL, 'protocol'), hash = get(URL, 'hash');
const username = get(URL, 'username'), password = get(URL, 'password');
const size = get(URLSearchParams, 'size');

export function isSearchParams(value) {
  try {
    size(value);
    return true;
  } catch {
    return false;
  }
}

function parse(text, base) {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

const short = (text) => (text.length > 80 ? `${slice(text, 0, 80)}...` : text);

/* Drops the fragment, which only the caller needs. */
export function readURL(input) {
  const given = `${input}`;
  const url = parse(given);
  if (url === undefined)
    throw refusal('URL', parse(given, 'https://relative.invalid/') === undefined
      ? `'${short(given)}' is not a URL`
      : `'${short(given)}' is a relative URL, and has no page that it could be ` +
        'relative to: give all of it, such as https://example.org/path');
  if (protocol(url) !== 'https:' && protocol(url) !== 'http:')
    throw refusal('URL',
      `'${short(given)}' is not an address on the web: only https: and http: are`);
  if (username(url) !== '' || password(url) !== '')
    throw refusal('URL', 'a URL with a user name or a password cannot be fetched: ' +
      'use the header authorization');
  const all = href(url);
  return slice(all, 0, all.length - hash(url).length);
}

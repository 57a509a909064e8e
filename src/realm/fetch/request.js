/* SPDX-License-Identifier: MIT */
/* request - a request, checked by the rules of the Fetch standard. */
import { addBodyMethods, cloneBody, extract, makeBody } from './body.js';
import { Headers, isToken } from './headers.js';
import {
  isSignal, makeSignal, need, parseURL, refusal, slice, tag, toUpperCase,
} from './primordials.js';

/* ---- where it goes: an absolute address on the web ---- */

const short = (text) => (text.length > 80 ? `${slice(text, 0, 80)}...` : text);

/* Drops the fragment, which only the caller needs. */
function readURL(input) {
  const given = `${input}`;
  const url = parseURL(given);
  if (url === undefined)
    throw refusal('URL', parseURL(given, 'https://relative.invalid/') === undefined
      ? `'${short(given)}' is not a URL`
      : `'${short(given)}' is a relative URL, and has no page that it could be ` +
        'relative to: give all of it, such as https://example.org/path');
  const { href, protocol, username, password, hash } = url;
  if (protocol !== 'https:' && protocol !== 'http:')
    throw refusal('URL',
      `'${short(given)}' is not an address on the web: only https: and http: are`);
  if (username !== '' || password !== '')
    throw refusal('URL', 'a URL with a user name or a password cannot be fetched: ' +
      'use the header authorization');
  return slice(href, 0, href.length - hash.length);
}

/* ---- the interface ---- */

const NORMAL = {
  __proto__: null, DELETE: 1, GET: 1, HEAD: 1, OPTIONS: 1, POST: 1, PUT: 1,
};
const FORBIDDEN = { __proto__: null, CONNECT: 1, TRACE: 1, TRACK: 1 };
const REDIRECTS = { __proto__: null, follow: 1, error: 1, manual: 1 };

function readMethod(value) {
  const given = `${value}`;
  if (!isToken(given)) throw refusal('METHOD', `'${slice(given, 0, 40)}' is not a method`);
  const upper = toUpperCase(given);
  if (FORBIDDEN[upper] === 1) throw refusal('METHOD', `the method ${upper} cannot be used`);
  return NORMAL[upper] === 1 ? upper : given;
}

function readRedirect(value) {
  const given = `${value}`;
  if (REDIRECTS[given] !== 1)
    throw refusal('REQUEST', "redirect is 'follow', 'error' or 'manual'");
  return given;
}

function readSignal(value) {
  if (value === null) return undefined;
  if (!isSignal(value)) throw refusal('REQUEST', 'the signal is not an AbortSignal');
  return value;
}

function takeBody(own, body, from) {
  const has = body !== undefined && body !== null;
  const wrong = (message) => refusal('REQUEST', message);
  const inherited = body === undefined ? from?.body ?? null : null;
  if ((has || inherited !== null) && (own.method === 'GET' || own.method === 'HEAD'))
    throw wrong(`a request with the method ${own.method} cannot have a body`);
  if (inherited !== null) {
    const taken = cloneBody(inherited, wrong); /* refuses one that was read */
    inherited.isUsed = true;
    return taken;
  }
  if (!has) return null;
  const { bytes, type } = extract(body, wrong);
  if (type !== null && !own.headers.has('content-type'))
    own.headers.append('Content-Type', type);
  return makeBody(bytes);
}

let partsOf, isRequest;

export class Request {
  #own; /* url, method, headers, body, redirect, signal */

  static {
    isRequest = (value) => typeof value === 'object' && value !== null && #own in value;
    partsOf = (request) => request.#own;
    addBodyMethods(this.prototype, (request) => request.#own.body);
  }

  constructor(input, init = undefined) {
    need(arguments, 1, 'Request');
    const from = isRequest(input) ? input.#own : undefined;
    const given = init === undefined || init === null ? {} : init;
    if (typeof given !== 'object' && typeof given !== 'function')
      throw refusal('REQUEST',
        'the second argument is an object, such as { method: "POST" }');
    const { body, headers, integrity, method, redirect, signal } = given;
    const url = from !== undefined ? from.url : readURL(input);
    if (integrity !== undefined && `${integrity}` !== '')
      throw refusal('REQUEST', 'integrity is not supported');
    const own = {
      __proto__: null, url,
      redirect: redirect !== undefined ? readRedirect(redirect) : from?.redirect ?? 'follow',
      method: method !== undefined ? readMethod(method) : from?.method ?? 'GET',
    };
    const parent = signal !== undefined ? readSignal(signal) : from?.signal;
    own.signal = makeSignal(parent !== undefined ? [parent] : []);
    own.headers = new Headers(headers !== undefined ? headers : from?.headers);
    own.body = takeBody(own, body, from);
    this.#own = own;
  }

  get headers() {
    return this.#own.headers;
  }

  get method() {
    return this.#own.method;
  }

  get redirect() {
    return this.#own.redirect;
  }

  get signal() {
    return this.#own.signal;
  }

  get url() {
    return this.#own.url;
  }

  clone() {
    const copy = new Request(this.#own.url, { ...this.#own, __proto__: null, body: null });
    copy.#own.body = cloneBody(this.#own.body);
    return copy;
  }
}
tag(Request, 'Request');

export { isRequest, partsOf };

/* SPDX-License-Identifier: MIT */
/* response - a response from the host, or one that code makes itself. */
import { addBodyMethods, cloneBody, extract, isUsed, makeBody } from './body.js';
import { Headers, makeImmutable } from './headers.js';
import { matches, need, stringify, tag } from './primordials.js';
import { isSearchParams, readURL } from './request.js';

const KEY = { __proto__: null }; /* the holder of this key may make any response */
const STATUS_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;

/* Responses with these statuses never have a body. */
const isNullBody = (status) =>
  status === 101 || status === 103 || status === 204 || status === 205 || status === 304;

function readInit(init) {
  const given = init === undefined || init === null ? {} : init;
  if (typeof given !== 'object' && typeof given !== 'function')
    throw new TypeError('the second argument is an object, such as { status: 200 }');
  const { status = 200, statusText = '', headers } = given;
  const number = +status, text = `${statusText}`;
  if (!(number >= 200 && number < 600))
    throw new RangeError('the status of a response is a number from 200 to 599');
  if (!matches(STATUS_TEXT, text)) throw new TypeError('the statusText has a character it cannot');
  return { __proto__: null, status: number - number % 1, statusText: text, headers };
}

const isOk = (status) => status >= 200 && status < 300;

let fromHost, isResponse, shown;

export class Response {
  #type = 'default';
  #url = '';
  #isRedirected = false;
  #status;
  #statusText;
  #headers;
  #body = null;

  static {
    isResponse = (value) => typeof value === 'object' && value !== null && #status in value;
    addBodyMethods(this.prototype, (response) => response.#body);
    shown = (response) => ({
      __proto__: null, status: response.#status, statusText: response.#statusText,
      headers: response.#headers, bodyUsed: isUsed(response.#body), ok: isOk(response.#status),
      redirected: response.#isRedirected, type: response.#type, url: response.#url,
    });
    /* The host supplies status, statusText, url, headers and redirected. */
    fromHost = (said, bytes) => {
      const response = new Response(null, KEY);
      const headers = new Headers(said.headers);
      makeImmutable(headers);
      response.#type = 'basic';
      response.#url = said.url;
      response.#isRedirected = said.redirected;
      response.#status = said.status;
      response.#statusText = said.statusText;
      response.#headers = headers;
      response.#body = isNullBody(said.status) ? null : makeBody(bytes);
      return response;
    };
  }

  constructor(body = null, init = undefined) {
    if (init === KEY) return;
    const { status, statusText, headers } = readInit(init);
    this.#status = status;
    this.#statusText = statusText;
    this.#headers = new Headers(headers);
    if (body === null || body === undefined) return;
    if (isNullBody(status))
      throw new TypeError(`a response with the status ${status} cannot have a body`);
    const { bytes, type } = extract(body, isSearchParams);
    this.#body = makeBody(bytes);
    if (type !== null && !this.#headers.has('content-type'))
      this.#headers.append('content-type', type);
  }

  static error() {
    const response = new Response(null, KEY);
    response.#type = 'error';
    response.#status = 0;
    response.#statusText = '';
    response.#headers = new Headers();
    makeImmutable(response.#headers);
    return response;
  }

  static json(data, init = undefined) {
    need(arguments, 1, 'Response.json');
    const text = stringify(data);
    if (text === undefined) throw new TypeError('the data has no JSON');
    const response = new Response(extract(text).bytes, init); /* bytes have no type */
    if (!response.#headers.has('content-type'))
      response.#headers.set('content-type', 'application/json');
    return response;
  }

  static redirect(url, status = 302) {
    need(arguments, 1, 'Response.redirect');
    const to = readURL(url), number = +status;
    if (number !== 301 && number !== 302 && number !== 303 && number !== 307 && number !== 308)
      throw new RangeError('the status of a redirect is 301, 302, 303, 307 or 308');
    const response = new Response(null, { __proto__: null, status: number });
    response.#headers.set('location', to);
    makeImmutable(response.#headers);
    return response;
  }

  get headers() {
    return this.#headers;
  }

  get ok() {
    return isOk(this.#status);
  }

  get redirected() {
    return this.#isRedirected;
  }

  get status() {
    return this.#status;
  }

  get statusText() {
    return this.#statusText;
  }

  get type() {
    return this.#type;
  }

  get url() {
    return this.#url;
  }

  clone() {
    const copy = new Response(null, KEY);
    copy.#body = cloneBody(this.#body);
    copy.#type = this.#type;
    copy.#url = this.#url;
    copy.#isRedirected = this.#isRedirected;
    copy.#status = this.#status;
    copy.#statusText = this.#statusText;
    copy.#headers = new Headers(this.#headers);
    if (this.#type !== 'default') makeImmutable(copy.#headers);
    return copy;
  }
}
tag(Response, 'Response');

export { fromHost, isResponse, shown };

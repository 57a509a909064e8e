/* SPDX-License-Identifier: MIT */
/* response - a response from the host, or one that code makes itself. */
import { addBodyMethods, cloneBody, extract, isUsed, makeBody } from './body.js';
import { Headers, makeImmutable } from './headers.js';
import { matches, need, stringify, tag } from './primordials.js';

const KEY = { __proto__: null }; /* the holder of this key may make any response, of its state */
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
  #own;

  static {
    isResponse = (value) => typeof value === 'object' && value !== null && #own in value;
    addBodyMethods(this.prototype, (response) => response.#own.body);
    shown = (response) => {
      const { body, headers, redirected, status, statusText, type, url } = response.#own;
      return {
        __proto__: null, status, statusText, headers, bodyUsed: isUsed(body), ok: isOk(status),
        redirected, type, url,
      };
    };
    /* The host supplies status, statusText, url, headers and redirected. */
    fromHost = ({ status, statusText, url, headers, redirected }, bytes) => new Response({
      __proto__: null, status, statusText, url, redirected, type: 'basic',
      headers: makeImmutable(new Headers(headers)), body: isNullBody(status) ? null : makeBody(bytes),
    }, KEY);
  }

  constructor(body = null, init = undefined) {
    if (init === KEY) {
      this.#own = body;
      return;
    }
    const { status, statusText, headers } = readInit(init);
    this.#own = {
      __proto__: null, status, statusText, headers: new Headers(headers), type: 'default', url: '',
      redirected: false, body: null,
    };
    if (body === null || body === undefined) return;
    if (isNullBody(status))
      throw new TypeError(`a response with the status ${status} cannot have a body`);
    const { bytes, type } = extract(body);
    this.#own.body = makeBody(bytes);
    if (type !== null && !this.#own.headers.has('content-type'))
      this.#own.headers.append('content-type', type);
  }

  static json(data, init = undefined) {
    need(arguments, 1, 'Response.json');
    const text = stringify(data);
    if (text === undefined) throw new TypeError('the data has no JSON');
    const response = new Response(extract(text).bytes, init); /* bytes have no type */
    if (!response.#own.headers.has('content-type'))
      response.#own.headers.set('content-type', 'application/json');
    return response;
  }

  get headers() {
    return this.#own.headers;
  }

  get ok() {
    return isOk(this.#own.status);
  }

  get redirected() {
    return this.#own.redirected;
  }

  get status() {
    return this.#own.status;
  }

  get statusText() {
    return this.#own.statusText;
  }

  get type() {
    return this.#own.type;
  }

  get url() {
    return this.#own.url;
  }

  clone() {
    const own = this.#own, body = cloneBody(own.body), headers = new Headers(own.headers);
    if (own.type !== 'default') makeImmutable(headers);
    return new Response({ ...own, __proto__: null, body, headers }, KEY);
  }
}
tag(Response, 'Response');

export { fromHost, isResponse, shown };

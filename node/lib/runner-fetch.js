// SPDX-License-Identifier: MIT
/*
 * runner-fetch - fetch of the runner port: in the sandbox a function like the web's, in the
 * host secureFetchImpl, which makes the request. JSON travels between the two.
 */
import { types } from 'node:util';

import { isObject, needObject } from './argument.js';
import { jsonOf } from './input.js';

/*
 * Runs in the sandbox before the code. A script's constant hides the global of the same name,
 * which is the host's function: code calls the constant, which calls the global.
 */
export const BOX_FETCH = `
const fetch = (() => {
  const global = globalThis, { create, entries, freeze } = Object, { parse } = JSON, ErrorOf = TypeError;
  const lower = (name) => String(name).toLowerCase();

  class Headers {
    #values = create(null);
    constructor(values) {
      for (const [name, value] of entries(values)) this.#values[lower(name)] = value;
    }
    get(name) { return this.#values[lower(name)] ?? null; }
    has(name) { return lower(name) in this.#values; }
    forEach(use) { for (const [name, value] of entries(this.#values)) use(value, name, this); }
    entries() { return entries(this.#values)[Symbol.iterator](); }
    [Symbol.iterator]() { return this.entries(); }
    toJSON() { return { ...this.#values }; }
  }

  class Response {
    #body;
    #used = false;
    constructor({ ok, status, statusText, headers, body, url }) {
      this.ok = ok;
      this.status = status;
      this.statusText = statusText;
      this.headers = new Headers(headers);
      this.url = url;
      this.#body = body;
    }
    get bodyUsed() { return this.#used; }
    async text() {
      if (this.#used) throw new ErrorOf('the body has been read already');
      this.#used = true;
      return this.#body;
    }
    async json() { return parse(await this.text()); }
  }

  function plain(init = {}) {
    const { method, headers, body, redirect } = init ?? {};
    const list = headers === undefined || headers === null ? {}
      : typeof headers[Symbol.iterator] === 'function' ? headers : entries(headers);
    const values = create(null);
    for (const [name, value] of typeof list[Symbol.iterator] === 'function' ? list : []) {
      const key = lower(name), text = String(value);
      values[key] = key in values ? values[key] + ', ' + text : text;
    }
    if (body !== undefined && body !== null && typeof body !== 'string')
      throw new ErrorOf('fetch: the body must be a string; JSON.stringify(value) makes one');
    return { method: method === undefined ? 'GET' : String(method).toUpperCase(), headers: values, body, redirect };
  }

  return async function fetch(url, init) {
    const request = typeof url === 'object' && url !== null && 'url' in url ? url : undefined;
    const answer = await global.fetch(String(request === undefined ? url : request.url), plain(init ?? request));
    return freeze(new Response(answer));
  };
})();
`;

function headersOf(headers) {
  if (headers === undefined || headers === null) return {};
  const found = Object.create(null);
  const add = (value, name) => {
    const key = String(name).toLowerCase();
    const text = Array.isArray(value) ? value.join(', ') : String(value);
    found[key] = key in found ? `${found[key]}, ${text}` : text;
  };
  if (typeof headers[Symbol.iterator] === 'function') for (const [name, value] of headers) add(value, name);
  else if (typeof headers.forEach === 'function') headers.forEach(add);
  else for (const [name, value] of Object.entries(headers)) add(value, name);
  return found;
}

const BODY = { subject: 'the body of the response', root: 'body' };
const isStream = (body) => ['getReader', 'pipe', Symbol.asyncIterator].some((name) => typeof body[name] === 'function');

async function bodyOf(response) {
  if (typeof response.text === 'function') return String(await response.text());
  const { body } = response;
  if (body === undefined || body === null) return '';
  if (typeof body === 'string') return body;
  if (types.isAnyArrayBuffer(body) || ArrayBuffer.isView(body)) return new TextDecoder().decode(body);
  if (isStream(body)) throw new TypeError(`${BODY.subject} is a stream: read it first, or give the response as it is`);
  return jsonOf(body, BODY);
}

/** Lets secureFetchImpl make a request of the sandbox; the sandbox's fetch throws its
 * exceptions. */
export async function answerFetch(secureFetchImpl, url, init) {
  const { method, headers, body, redirect } = isObject(init) ? init : {};
  const request = { method, headers, ...(body === undefined || body === null ? {} : { body }), ...(redirect ? { redirect } : {}) };
  const response = needObject(await secureFetchImpl(String(url), request), 'what secureFetchImpl resolves with', 'a response');
  const status = Number(response.status ?? 200);
  return {
    ok: typeof response.ok === 'boolean' ? response.ok : status >= 200 && status < 300,
    status,
    statusText: String(response.statusText ?? ''),
    headers: headersOf(response.headers),
    body: await bodyOf(response),
    url: String(response.url || url),
  };
}

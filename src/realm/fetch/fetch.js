/* SPDX-License-Identifier: MIT */
/* fetch - sends a request to the host and settles it with the answer or the abort; defines
 * what becomes global. */
import { isUsed } from './body.js';
import { Headers, isHeaders, pairsOf } from './headers.js';
import { PromiseOf, defineProperty, explain, need, onAbort, refusal } from './primordials.js';
import { Request, isRequest, partsOf } from './request.js';
import { Response, fromHost, isResponse, shown } from './response.js';

/* `await` on a native promise calls nothing that code could replace. */
async function settle(promise, resolve, reject) {
  let answer;
  try {
    answer = await promise;
  } catch (error) {
    reject(explain(error));
    return;
  }
  try {
    resolve(fromHost(answer.value, answer.bytes ?? new Uint8Array(0)));
  } catch (error) {
    reject(error);
  }
}

function send(host, request) {
  const { url, method, headers, body, redirect, signal } = partsOf(request);
  if (signal.aborted) throw signal.reason;
  if (body !== null && body.isUsed)
    throw refusal('REQUEST', 'the body of the request was read already');
  if (body !== null) body.isUsed = true;
  const { id, promise } = host.start('fetch',
    [{ __proto__: null, url, method, headers: pairsOf(headers), redirect }],
    body === null ? undefined : body.bytes);
  return new PromiseOf((resolve, reject) => {
    const forget = onAbort(signal, () => {
      host.cancel(id);
      reject(signal.reason);
    });
    settle(promise,
      (response) => {
        forget();
        resolve(response);
      },
      (error) => {
        forget();
        reject(error);
      });
  });
}

function makeFetch(host) {
  return {
    async fetch(input, init = undefined) {
      need(arguments, 1, 'fetch');
      /* Returning the promise itself would call its `then`, which code may replace. */
      return await send(host, new Request(input, init));
    },
  }.fetch;
}

/* ---- what the console shows of an interface's object, whose state is private ---- */

function headersView(headers) {
  const fields = { __proto__: null }, pairs = pairsOf(headers);
  for (let i = 0; i < pairs.length; i++) {
    const name = pairs[i][0], value = pairs[i][1];
    fields[name] = fields[name] === undefined ? value : `${fields[name]}, ${value}`;
  }
  return fields;
}

function requestView(request) {
  const { method, url, headers, redirect, body, signal } = partsOf(request);
  return { __proto__: null, method, url, headers, redirect, bodyUsed: isUsed(body), signal };
}

/* A value as the console shows it: { fields }, an object without prototype; undefined for
 * any other object. */
function view(value) {
  if (isResponse(value)) return { __proto__: null, fields: shown(value) };
  if (isRequest(value)) return { __proto__: null, fields: requestView(value) };
  if (isHeaders(value)) return { __proto__: null, fields: headersView(value) };
  return undefined;
}

/* ---- what becomes global, with the helpers if those are not global ---- */

/* Returned directly, these would silently become {}. */
const ADVICE = {
  __proto__: null,
  Response: [Response, 'use await response.json() or await response.text()'],
  Request: [Request, 'use its url, method and headers'],
  Headers: [Headers, 'use Object.fromEntries(headers)'],
};
const HELPERS = ['exception', 'abort', 'text', 'clone', 'url', 'params'];

export default function (host) {
  for (const name in ADVICE) natives.refuse(ADVICE[name][0].prototype, name, ADVICE[name][1]);
  natives.views[natives.views.length] = view;
  const made = { Headers, Request, Response, fetch: makeFetch(host) };
  /* Minifying the bundle has changed the names. */
  for (const name in made) defineProperty(made[name], 'name', { value: name, configurable: true });
  const { isGlobal, load } = natives.lazy;
  for (let i = 0; i < HELPERS.length && !isGlobal(); i++) {
    const { own, ...helpers } = load(HELPERS[i]);
    for (const name in helpers) made[name] = helpers[name];
  }
  return made;
}

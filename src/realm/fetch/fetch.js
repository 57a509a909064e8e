/* SPDX-License-Identifier: MIT */
/* fetch - a request's way to the host, and the answer's or the abort's way back. */
import { Request, partsOf } from './request.js';
import { fromHost } from './response.js';
import { need, pairsOf } from './headers.js';
import { PromiseOf } from './primordials.js';
import { onAbort } from './shared.js';
import { explain, refusal } from './refusal.js';

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

export function makeFetch(host) {
  return {
    async fetch(input, init = undefined) {
      need(arguments, 1, 'fetch');
      /* Returning the promise itself would call its `then`, which code may replace. */
      return await send(host, new Request(input, init));
    },
  }.fetch;
}

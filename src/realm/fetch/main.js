/* SPDX-License-Identifier: MIT */
/* main - what becomes global; includes the helpers where they are missing. */
import { Headers } from './headers.js';
import { defineProperty } from './primordials.js';
import { Request } from './request.js';
import { Response } from './response.js';
import { makeFetch } from './fetch.js';
import { prepare, view } from './view.js';

/* Returned directly, these would silently become {}. */
const ADVICE = {
  __proto__: null,
  Response: [Response, 'use await response.json() or await response.text()'],
  Request: [Request, 'use its url, method and headers'],
  Headers: [Headers, 'use Object.fromEntries(headers)'],
};
const HELPERS = ['exception', 'event', 'abort', 'text', 'clone', 'url', 'params'];

export default function (host) {
  for (const name in ADVICE) natives.refuse(ADVICE[name][0].prototype, name, ADVICE[name][1]);
  prepare({ Request, Response });
  natives.views[natives.views.length] = view;
  const made = { Headers, Request, Response, fetch: makeFetch(host) };
  /* The bundle is minified. */
  for (const name in made) defineProperty(made[name], 'name', { value: name, configurable: true });
  const { isGlobal, load } = natives.lazy;
  for (let i = 0; i < HELPERS.length && !isGlobal(); i++) {
    const { own, ...helpers } = load(HELPERS[i]);
    for (const name in helpers) made[name] = helpers[name];
  }
  return made;
}

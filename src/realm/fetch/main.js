/* SPDX-License-Identifier: MIT */
/* main - what becomes global. URL and the like are packages', the rest is made here. */
import { Event, EventTarget, setErrorHandler, setWarningHandler } from 'event-target-shim';
import { URL, URLSearchParams } from 'whatwg-url';

import {
  DOMException, atob as atobOf, btoa as btoaOf, structuredClone as cloneOf,
} from './corejs.js';
import { TextDecoder, TextEncoder } from './encoding.js';
import { AbortController, AbortSignal, setTimer } from './abort.js';
import { Headers, need } from './headers.js';
import { PromiseOf, defineProperty } from './primordials.js';
import { Request } from './request.js';
import { Response } from './response.js';
import { makeFetch } from './fetch.js';
import { prepare, view } from './view.js';
import { setDecoder } from './body.js';

/* Returned as they are they would be {}, without a word. */
const ADVICE = {
  __proto__: null,
  Response: [Response, 'use await response.json() or await response.text()'],
  Request: [Request, 'use its url, method and headers'],
  Headers: [Headers, 'use Object.fromEntries(headers)'],
  URLSearchParams: [URLSearchParams, 'use String(params) or Object.fromEntries(params)'],
};

/* As functions of the language are: without a prototype, no constructors. */
const functions = {
  atob(data) {
    need(arguments, 1, 'atob');
    return atobOf(data);
  },
  btoa(data) {
    need(arguments, 1, 'btoa');
    return btoaOf(data);
  },
  structuredClone(value, options = undefined) {
    need(arguments, 1, 'structuredClone');
    return cloneOf(value, options);
  },
};

export default function (natives, host) {
  setDecoder(natives.text);
  setTimer(natives.setTimeout);
  /* What a listener throws is nobody's to catch: it is told like a rejection. */
  setErrorHandler((error) => {
    new PromiseOf((_, reject) => reject(error));
  });
  setWarningHandler(() => {});
  for (const name in ADVICE) natives.refuse(ADVICE[name][0].prototype, name, ADVICE[name][1]);
  prepare({ AbortSignal, Request, Response });
  natives.view = view;
  const made = {
    AbortController, AbortSignal, DOMException, Event, EventTarget, Headers, Request, Response,
    TextDecoder, TextEncoder, URL, URLSearchParams, fetch: makeFetch(host), ...functions,
  };
  /* The bundle is minified. */
  for (const name in made) defineProperty(made[name], 'name', { value: name, configurable: true });
  return made;
}

/* SPDX-License-Identifier: MIT */
/* view - what the console shows of an interface's object, which keeps all it has private. */
import { DOMException } from './corejs.js';
import {
  getOwnPropertyDescriptor, getPrototypeOf, ownKeys, push, uncurry,
} from './primordials.js';
import { isHeaders, pairsOf } from './headers.js';
import { isRequest } from './request.js';
import { isResponse } from './response.js';
import { isSignal } from './abort.js';

import { URL, URLSearchParams } from 'whatwg-url';

const PARTS = [
  'href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname',
  'search', 'searchParams', 'hash',
];
const SEEN = {
  __proto__: null,
  request: ['method', 'url', 'headers', 'redirect', 'bodyUsed', 'signal'],
  response: [
    'status', 'statusText', 'headers', 'bodyUsed', 'ok', 'redirected', 'type', 'url',
  ],
  signal: ['aborted', 'reason'],
};

/* Getters as they are now, by name. */
const gettersOf = (proto) => {
  const getters = { __proto__: null };
  for (const name of ownKeys(proto)) {
    const own = getOwnPropertyDescriptor(proto, name);
    if (own.get !== undefined) getters[name] = uncurry(own.get);
  }
  return getters;
};
const ofURL = gettersOf(URL.prototype), ofException = gettersOf(DOMException.prototype);
const each = uncurry(URLSearchParams.prototype.forEach);
const size = uncurry(getOwnPropertyDescriptor(URLSearchParams.prototype, 'size').get);

let interfaces; /* set by prepare() */

export function prepare({ AbortSignal, Request, Response }) {
  interfaces = [
    { is: isResponse, names: SEEN.response, get: gettersOf(Response.prototype) },
    { is: isRequest, names: SEEN.request, get: gettersOf(Request.prototype) },
    { is: isSignal, names: SEEN.signal, get: gettersOf(AbortSignal.prototype) },
  ];
}

function pick(value, names, getters) {
  const fields = { __proto__: null };
  for (let i = 0; i < names.length; i++) fields[names[i]] = getters[names[i]](value);
  return fields;
}

function isOf(value, proto) {
  for (let at = value; at !== null; at = getPrototypeOf(at)) if (at === proto) return true;
  return false;
}

function headersView(headers) {
  const fields = { __proto__: null }, pairs = pairsOf(headers);
  for (let i = 0; i < pairs.length; i++) {
    const name = pairs[i][0], value = pairs[i][1];
    fields[name] = fields[name] === undefined ? value : `${fields[name]}, ${value}`;
  }
  return fields;
}

/* { fields }, an object without prototype; { pairs }, a list; { text }; undefined: any
 * other object. */
export function view(value) {
  for (let i = 0; i < interfaces.length; i++)
    if (interfaces[i].is(value))
      return { __proto__: null, fields: pick(value, interfaces[i].names, interfaces[i].get) };
  if (isHeaders(value)) return { __proto__: null, fields: headersView(value) };
  if (isOf(value, URL.prototype)) {
    try {
      return { __proto__: null, fields: pick(value, PARTS, ofURL) };
    } catch {
      return undefined; /* only looks like one */
    }
  }
  if (isOf(value, URLSearchParams.prototype)) {
    const pairs = [];
    try {
      size(value);
      each(value, (item, name) => push(pairs, [name, item]));
    } catch {
      return undefined;
    }
    return { __proto__: null, pairs };
  }
  if (isOf(value, DOMException.prototype)) {
    try {
      const { name, message } = ofException;
      return { __proto__: null, text: `DOMException [${name(value)}]: ${message(value)}` };
    } catch {
      return undefined;
    }
  }
  return undefined;
}

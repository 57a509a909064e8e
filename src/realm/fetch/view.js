/* SPDX-License-Identifier: MIT */
/* view - what the console shows of an interface's object, whose state is private. */
import {
  getOwnPropertyDescriptor, getPrototypeOf, ownKeys, push, uncurry,
} from './primordials.js';
import { isHeaders, pairsOf } from './headers.js';
import { isRequest } from './request.js';
import { isResponse } from './response.js';

const SEEN = {
  __proto__: null,
  request: ['method', 'url', 'headers', 'redirect', 'bodyUsed', 'signal'],
  response: [
    'status', 'statusText', 'headers', 'bodyUsed', 'ok', 'redirected', 'type', 'url',
  ],
};

/* The current getters, by name. */
const gettersOf = (proto) => {
  const getters = { __proto__: null };
  for (const name of ownKeys(proto)) {
    const own = getOwnPropertyDescriptor(proto, name);
    if (own.get !== undefined) getters[name] = uncurry(own.get);
  }
  return getters;
};
let interfaces; /* set by prepare() */

export function prepare({ Request, Response }) {
  interfaces = [
    { is: isResponse, names: SEEN.response, get: gettersOf(Response.prototype) },
    { is: isRequest, names: SEEN.request, get: gettersOf(Request.prototype) },
  ];
}

function pick(value, names, getters) {
  const fields = { __proto__: null };
  for (let i = 0; i < names.length; i++) fields[names[i]] = getters[names[i]](value);
  return fields;
}

function headersView(headers) {
  const fields = { __proto__: null }, pairs = pairsOf(headers);
  for (let i = 0; i < pairs.length; i++) {
    const name = pairs[i][0], value = pairs[i][1];
    fields[name] = fields[name] === undefined ? value : `${fields[name]}, ${value}`;
  }
  return fields;
}

/* { fields }, an object without prototype; { pairs }, a list; { text }; undefined
 * for any other object. */
export function view(value) {
  for (let i = 0; i < interfaces.length; i++)
    if (interfaces[i].is(value))
      return { __proto__: null, fields: pick(value, interfaces[i].names, interfaces[i].get) };
  if (isHeaders(value)) return { __proto__: null, fields: headersView(value) };
  return undefined;
}

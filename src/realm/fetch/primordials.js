/* SPDX-License-Identifier: MIT */
/* primordials - the built-ins and helpers, captured before any code could change them, and
 * errors about a request. */
const { apply } = Reflect;

/* A method as a function of (this, ...arguments). */
const uncurry = (method) => (self, ...args) => apply(method, self, args);

export const {
  defineProperty, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys,
} = Reflect;
export { apply };
export const { isArray } = Array;
export const { parse, stringify } = JSON;
export const PromiseOf = Promise;
export const { iterator } = Symbol;

export const sort = uncurry(Array.prototype.sort);
export const charCodeAt = uncurry(String.prototype.charCodeAt);
export const slice = uncurry(String.prototype.slice);
export const toLowerCase = uncurry(String.prototype.toLowerCase);
export const toUpperCase = uncurry(String.prototype.toUpperCase);
const exec = uncurry(RegExp.prototype.exec);
export const matches = (pattern, text) => exec(pattern, text) !== null;

const typedArray = getPrototypeOf(Uint8Array.prototype);
const getter = (proto, name) => uncurry(getOwnPropertyDescriptor(proto, name).get);
export const viewBuffer = getter(typedArray, 'buffer');
const viewLength = getter(typedArray, 'byteLength');
export const bufferLength = getter(ArrayBuffer.prototype, 'byteLength');
const setBytes = uncurry(typedArray.set);

/* The bytes of an ArrayBuffer or of a view, copied; undefined for anything else. */
export function copyBytes(value) {
  const bytes = natives.bytesOf(value);
  if (bytes === undefined) return undefined;
  const copy = new Uint8Array(viewLength(bytes));
  setBytes(copy, bytes); /* slice() looks up a species */
  return copy;
}

/* Appends to an internal list, even if Array.prototype.push was replaced. */
export function push(list, item) {
  list[list.length] = item;
}

export const { need, put } = natives;

export function tag(constructor, name) {
  natives.tag(constructor.prototype, name);
}

/* ---- what also exists without fetch (helpers/) ---- */

const { load } = natives.lazy;

export const { DOMException } = load('exception');
export const { own: { parse: parseURL } } = load('url');
export const { own: { isParams } } = load('params');
export const { AbortSignal, own: { isSignal, makeSignal, onAbort } } = load('abort');

/* ---- errors about a request, by the host's codes ---- */

/* Adds the text that Node puts into the cause of such an error. */
export function explain(error) {
  if (error.code !== undefined && error.cause === undefined)
    put(error, 'cause', { code: error.code, message: error.message }, false);
  return error;
}

/* code: 'URL', 'METHOD', 'HEADER' or 'REQUEST'. */
export function refusal(code, message) {
  const error = new TypeError(message);
  put(error, 'code', `ERR_FETCH_${code}`, false);
  return explain(error);
}

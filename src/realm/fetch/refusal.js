/* SPDX-License-Identifier: MIT */
/* refusal - what is wrong with a request, by the codes that the host has for it. */
import { defineProperty } from './primordials.js';

const put = (error, name, value) =>
  defineProperty(error, name, { value, writable: true, configurable: true });

/* What Node says in the cause of such an error is said there as well. */
export function explain(error) {
  if (error.code !== undefined && error.cause === undefined)
    put(error, 'cause', { code: error.code, message: error.message });
  return error;
}

/* code: 'URL', 'METHOD', 'HEADER' or 'REQUEST'. */
export function refusal(code, message) {
  const error = new TypeError(message);
  put(error, 'code', `ERR_FETCH_${code}`);
  return explain(error);
}

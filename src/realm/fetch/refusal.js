/* SPDX-License-Identifier: MIT */
/* refusal - errors about a request, by the host's codes. */
import { defineProperty } from './primordials.js';

const put = (error, name, value) =>
  defineProperty(error, name, { value, writable: true, configurable: true });

/* Adds the text that Node puts into the cause of such an error. */
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

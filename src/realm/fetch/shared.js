/* SPDX-License-Identifier: MIT */
/* shared - what also exists without fetch (helpers/). */
const { load } = natives.lazy;

export const { DOMException } = load('exception');
export const { URL } = load('url');
export const { URLSearchParams } = load('params');
export const { AbortSignal, own: { isSignal, makeSignal, onAbort } } = load('abort');

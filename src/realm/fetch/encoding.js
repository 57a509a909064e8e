/* SPDX-License-Identifier: MIT */
/* encoding - what packages mean by TextEncoder and TextDecoder: another package's. */
export { TextDecoder, TextEncoder } from '@exodus/bytes/encoding-lite.js';

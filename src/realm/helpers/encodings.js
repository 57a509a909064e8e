/* SPDX-License-Identifier: MIT */
/* encodings - a package's TextDecoder, for encodings besides Unicode and Latin-1. */
export { TextDecoder } from '@exodus/bytes/encoding-lite.js';

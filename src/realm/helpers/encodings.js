/* SPDX-License-Identifier: MIT */
/* encodings - a package's TextDecoder, for encodings that are neither Unicode's nor Latin-1. */
export { TextDecoder } from '@exodus/bytes/encoding-lite.js';

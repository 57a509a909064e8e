// SPDX-License-Identifier: MIT
/* archive - unpacks an untrusted npm package, a tar archive in gzip, in memory. Entries that do
 * not fit are reported and left out. */
import { Gunzip } from 'fflate';

const UNPACKED_MAX = 96 << 20, BLOCK = 512;

/* Unpacks up to the bound; isCut if there was more. */
function gunzip(packed) {
  const all = new Uint8Array(UNPACKED_MAX);
  let size = 0;
  const stream = new Gunzip((part) => {
    if (size + part.length <= UNPACKED_MAX) all.set(part, size);
    size += part.length;
  });
  /* In small pieces: a bomb is noticed before all of it is unpacked. */
  for (let at = 0; at < packed.length && size <= UNPACKED_MAX; at += 1 << 14) stream.push(packed.subarray(at, at + (1 << 14)), false);
  return { all: all.subarray(0, size), isCut: size > UNPACKED_MAX };
}

const decoder = new TextDecoder();
const textOf = (bytes) => decoder.decode(bytes.indexOf(0) < 0 ? bytes : bytes.subarray(0, bytes.indexOf(0)));
const numberOf = (bytes) => Number.parseInt(textOf(bytes).trim() || '0', 8);

/* Calls take(path, bytes) for each regular file, and note(path, why) for each link. */
export function unpack(packed, take, note) {
  let { all, isCut } = packed[0] === 0x1f && packed[1] === 0x8b ? gunzip(packed) : { all: packed, isCut: false };
  let name, hasEnd = false;
  if (isCut) note('the archive', `unpacked it is larger than ${UNPACKED_MAX >> 20} MB: the rest is not read`);
  for (let at = 0; at + BLOCK <= all.length;) {
    const head = all.subarray(at, at + BLOCK);
    hasEnd = head[0] === 0;
    if (hasEnd) break;
    const size = numberOf(head.subarray(124, 136)), kind = String.fromCharCode(head[156]);
    if (!Number.isSafeInteger(size) || size < 0 || textOf(head.subarray(257, 262)) !== 'ustar')
      throw new Error('it is not an archive that npm makes: a header is malformed');
    const bytes = all.subarray(at + BLOCK, at + BLOCK + size);
    const prefix = textOf(head.subarray(345, 500)), own = textOf(head.subarray(0, 100));
    const path = name ?? (prefix === '' ? own : `${prefix}/${own}`);
    name = undefined;
    /* The value of "path=" in an extended header. */
    if (kind === 'x') name = /(?:^|\n)\d+ path=([^\n]*)\n/.exec(decoder.decode(bytes))?.[1];
    else if (kind === 'L') name = textOf(bytes);
    else if (kind === '1' || kind === '2') note(path, 'it is a link');
    else if ((kind === '0' || kind === '\0') && bytes.length === size) take(path, bytes);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  if (!hasEnd && !isCut) note('the archive', 'it is cut short: the rest is not read');
}

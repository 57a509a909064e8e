#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""vectors.py - make hashes.txt and macs.txt anew: `python3 vectors.py` in this folder.

The values are those of Python's own implementations, which share no code with the
library under test; where Python has none (the two truncated SHA-512), those of its
binding. HMAC is written out here, as RFC 2104 has it.
"""
import _blake2
import _md5
import _sha1
import _sha256
import _sha3
import _sha512
import hashlib

HASHES = {  # name: (hash function, bytes of a block)
    "blake2b512": (_blake2.blake2b, 128),
    "blake2s256": (_blake2.blake2s, 64),
    "md5": (_md5.md5, 64),
    "sha1": (_sha1.sha1, 64),
    "sha224": (_sha256.sha224, 64),
    "sha256": (_sha256.sha256, 64),
    "sha3-224": (_sha3.sha3_224, 144),
    "sha3-256": (_sha3.sha3_256, 136),
    "sha3-384": (_sha3.sha3_384, 104),
    "sha3-512": (_sha3.sha3_512, 72),
    "sha384": (_sha512.sha384, 128),
    "sha512": (_sha512.sha512, 128),
    "sha512-224": (lambda d=b"": hashlib.new("sha512_224", d), 128),
    "sha512-256": (lambda d=b"": hashlib.new("sha512_256", d), 128),
    "shake128": (_sha3.shake_128, 168),
    "shake256": (_sha3.shake_256, 136),
}
FREE = {"shake128": 16, "shake256": 32}
LENGTHS_OF_FREE = (0, 1, 64, 65, 1000)


def pattern(length):
    """The bytes that tests make again: 7, 138, 13, 144 ..."""
    return bytes((i * 131 + 7) & 255 for i in range(length))


def value(name, data, length=None):
    made = HASHES[name][0](data)
    if name in FREE:
        return made.digest(FREE[name] if length is None else length)
    return made.digest()


def edges(block):
    """Lengths about a block, and about what its padding needs."""
    return sorted({0, 1, block - 17, block - 16, block - 9, block - 8, block - 1, block,
                   block + 1, 2 * block - 1, 2 * block, 2 * block + 1, 1000})


def hmac(name, key, data):
    block = HASHES[name][1]
    if len(key) > block:
        key = value(name, key)
    key = key.ljust(block, b"\0")
    inner = value(name, bytes(b ^ 0x36 for b in key) + data)
    return value(name, bytes(b ^ 0x5C for b in key) + inner)


def text(data):
    return data.hex() or "-"


with open("hashes.txt", "w", encoding="ascii") as out:
    out.write("# name, length of the value, text (TEXTxTIMES) or length of the pattern, value\n")
    for name, (_, block) in HASHES.items():
        for data, shown in ((b"abc", "abcx1"), (b"a" * 1000000, "ax1000000")):
            made = value(name, data)
            out.write(f"{name} {len(made)} {shown} {made.hex()}\n")
        for length in edges(block):
            made = value(name, pattern(length))
            out.write(f"{name} {len(made)} {length} {made.hex()}\n")
        for length in LENGTHS_OF_FREE if name in FREE else ():
            out.write(f"{name} {length} 200 {text(value(name, pattern(200), length))}\n")

RFC4231 = [  # key, data
    (b"\x0b" * 20, b"Hi There"),
    (b"Jefe", b"what do ya want for nothing?"),
    (b"\xaa" * 20, b"\xdd" * 50),
    (bytes(range(1, 26)), b"\xcd" * 50),
    (b"\x0c" * 20, b"Test With Truncation"),
    (b"\xaa" * 131, b"Test Using Larger Than Block-Size Key - Hash Key First"),
    (b"\xaa" * 131, b"This is a test using a larger than block-size key and a larger "
     b"than block-size data. The key needs to be hashed before being used by the HMAC "
     b"algorithm."),
]

with open("macs.txt", "w", encoding="ascii") as out:
    out.write("# HMAC: name, key, data, value; the keys and data of RFC 4231 first, then keys\n"
              "# about a block's length and past what is kept of one\n")
    for name, (_, block) in HASHES.items():
        if name in FREE:
            continue
        for key, data in RFC4231:
            out.write(f"{name} {key.hex()} {data.hex()} {hmac(name, key, data).hex()}\n")
        for length in (0, block - 1, block, block + 1, 255, 256, 257, 600):
            key, data = pattern(length), pattern(length % 7)
            out.write(f"{name} {text(key)} {text(data)} {hmac(name, key, data).hex()}\n")

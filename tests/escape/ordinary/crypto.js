// SPDX-License-Identifier: MIT
// Hashes as scripts written for Node use them; what differs from Node by choice is in the
// realm's own tests.
//: form: script
//: layer: realm
//: expect: VALUE
//: world: open

//// H101 a checksum of a record
//: why: the commonest use of all
//: value: "43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777"
const record = { b: 2, a: 1 };
const sorted = Object.fromEntries(Object.entries(record).sort());
crypto.createHash('sha256').update(JSON.stringify(sorted)).digest('hex')

//// H102 every algorithm of a text, in every encoding
//: why: names and encodings are Node's
//: value: "da21b053721e0d2bde10e3b1a9ec2d02bbe26fe8e4808201e3c219ea30af48fa"
const all = [];
for (const name of ['blake2b512', 'blake2s256', 'md5', 'sha1', 'sha224', 'sha256', 'sha3-224', 'sha3-256', 'sha3-384',
  'sha3-512', 'sha384', 'sha512', 'sha512-224', 'sha512-256', 'shake128', 'shake256', 'SHA-256', 'sha-1', 'BLAKE2b512'])
  for (const encoding of ['hex', 'base64', 'base64url', 'latin1', 'binary'])
    all.push(crypto.createHash(name).update('Gr\u00fc\u00dfe, \u4e16\u754c \ud83d\ude00').digest(encoding));
crypto.createHash('sha256').update(all.join('|'), 'latin1').digest('hex')

//// H103 text in every encoding
//: why: lenient where Node is, too
//: value: "de39db3dc53d058b8277961127accfe65244e9c2cc57348304f9a4c914e92f52"
const texts = ['', 'a', 'abcd', 'Gr\u00fc\u00dfe', '\u4e16\u754c', '\ud83d\ude00', '\ud800', 'YQ==', 'YQ', 'Y Q = =', '-_-_', '+/+/',
  '=bad', 'YWJjZA==YQ==', 'YW*I=', '61zz', '6162', 'zz61'];
const all = [];
for (const text of texts)
  for (const encoding of [undefined, 'utf8', 'UTF-8', 'latin1', 'binary', 'ascii', 'base64', 'base64url', 'utf16le', 'ucs2', ...(text.length % 2 ? [] : ['hex'])])
    all.push(crypto.createHash('md5').update(text, encoding).digest('hex'));
crypto.createHash('sha256').update(all.join()).digest('hex')

//// H104 signatures of requests
//: why: HMAC with keys of any length
//: value: "65dbf8fd0c1fab58a0aa3186a3ab566a27edfc46b81887f3e7781ffc73193e56"
const sign = (key, text) => crypto.createHmac('sha256', key).update(text).digest();
const key = sign(sign(sign(sign('AWS4secret', '20260101'), 'us-east-1'), 's3'), 'aws4_request');
crypto.createHmac('sha256', key).update('AWS4-HMAC-SHA256\nscope').digest('hex')

//// H105 HMAC of every algorithm
//: why: blocks differ in length
//: value: "a87a17a4ff05c7bbf5f029b00a557a50b40e096601c166baa7237538c0a7694e"
const all = [];
for (const name of ['blake2b512', 'blake2s256', 'md5', 'sha1', 'sha224', 'sha256', 'sha3-224', 'sha3-256', 'sha3-384',
  'sha3-512', 'sha384', 'sha512', 'sha512-224', 'sha512-256'])
  for (const length of [0, 1, 63, 64, 65, 127, 128, 129, 143, 144, 145, 1000])
    all.push(crypto.createHmac(name, 'k'.repeat(length)).update('message').digest('base64'));
crypto.createHash('sha256').update(all.join()).digest('hex')

//// H106 in pieces, with copies on the way
//: why: a running hash can be looked at
//: value: ["900150983cd24fb0d6963f7d28e17f72","187ef4436122d1cc2f40dc2b92f0eba0","0cc175b9c0f1b6a831c399e269772661"]
const h = crypto.createHash('md5').update('a');
const first = h.copy().digest('hex');
const second = h.update('b').copy().digest('hex');
[h.update('c').digest('hex'), second, first]

//// H107 views and buffers
//: why: the bytes count, not their kind
//: value: true
const bytes = Uint8Array.from({ length: 64 }, (_, i) => i);
const kinds = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array,
  Float64Array, BigInt64Array, BigUint64Array, DataView];
new Set(kinds.map((K) => crypto.createHash('sha1').update(new K(bytes.buffer)).digest('hex'))).size === 1

//// H108 the codes of errors
//: why: scripts ask for them
//: value: ["ERR_CRYPTO_HASH_FINALIZED","ERR_CRYPTO_HASH_FINALIZED","ERR_CRYPTO_HASH_FINALIZED","ERR_INVALID_ARG_TYPE","ERR_INVALID_ARG_TYPE","ERR_INVALID_ARG_VALUE","ERR_CRYPTO_INVALID_DIGEST","ERR_INVALID_ARG_TYPE","ERR_OUT_OF_RANGE","ERR_INVALID_ARG_TYPE","ERR_OSSL_EVP_NOT_XOF_OR_INVALID_LENGTH","ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH","ERR_OUT_OF_RANGE","TypeMismatchError 17","QuotaExceededError 22"]
const done = () => { const h = crypto.createHash('md5'); h.digest(); return h; };
[
  () => done().digest(), () => done().update('a'), () => done().copy(),
  () => crypto.createHash('md5').update(5), () => crypto.createHash('md5').update({}),
  () => crypto.createHash('md5').update('abc', 'hex'), () => crypto.createHmac('nope', 'k'),
  () => crypto.createHmac('md5'), () => crypto.createHash('shake128', { outputLength: -1 }),
  () => crypto.createHash('shake128', { outputLength: 'a' }), () => crypto.createHash('md5', { outputLength: 5 }),
  () => crypto.timingSafeEqual(new Uint8Array(1), new Uint8Array(2)), () => crypto.randomBytes(-1),
  () => crypto.getRandomValues(new Float32Array(1)), () => crypto.getRandomValues(new Uint8Array(65537)),
].map((f) => { try { return f(); } catch (e) { return typeof e.code === 'string' ? e.code : `${e.name} ${e.code}`; } })

//// H109 the digest of Web Crypto
//: why: the same name in browsers
//: value: ["a9993e364706816aba3e25717850c26c9cd0d89d","ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"]
const hex = (buffer) => Array.from(new Uint8Array(buffer), (b) => b.toString(16).padStart(2, '0')).join('');
const bytes = new Uint8Array([97, 98, 99]);
return [hex(await crypto.subtle.digest('SHA-1', bytes)), hex(await crypto.subtle.digest({ name: 'sha-256' }, bytes.buffer))]

//// H110 identifiers and tokens
//: why: what randomness is asked for
//: value: [true,36,16,true,4]
const ids = new Set(Array.from({ length: 100 }, () => crypto.randomUUID()));
const view = new Uint32Array(4);
[ids.size === 100, [...ids][0].length, crypto.randomBytes(16).length, crypto.getRandomValues(view) === view, view.length]

//// H111 the bytes of a digest as text
//: why: digest().toString('hex') is written as often as digest('hex')
//: value: ["900150983cd24fb0d6963f7d28e17f72","kAFQmDzST7DWlj99KOF/cg==","kAFQmDzST7DWlj99KOF_cg"]
const digest = () => crypto.createHash('md5').update('abc').digest();
[digest().toString('hex'), digest().toString('base64'), digest().toString('base64url')]

//// H112 a long text in a long loop
//: why: what is hot is compiled
//: value: "88725d84e056622a62860ce41101fa4d"
let chain = 'seed';
for (let i = 0; i < 20000; i++) chain = crypto.createHash('md5').update(chain + i).digest('hex');
chain

//// H113 hashes with hash()
//: why: at once, as newer versions have it
//: value: ["a9993e364706816aba3e25717850c26c9cd0d89d","qZk+NkcGgWq6PiVxeFDCbJzQ2J0="]
[crypto.hash('sha1', 'abc'), crypto.hash('sha1', 'abc', 'base64')]

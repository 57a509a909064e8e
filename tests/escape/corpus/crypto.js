// SPDX-License-Identifier: MIT
// Hashes: native code that a call can reach, with memory of its own and objects that
// the collector ends; and randomness, which forks of one template must not share.
//: form: script
//: layer: realm
//: expect: VALUE
//: world: open

//// Y001 without the capability there is a random name alone
//: why: nothing is there that is not allowed, and the guard says so before anything runs
//: world: standard
//: guard: INVALID_CODE
//: value: [["randomUUID"],"TypeError"]
let name; try { crypto.createHash("md5"); } catch (e) { name = e.name; }
[Object.getOwnPropertyNames(crypto), name]

//// Y002 what can be reached from crypto
//: why: natives and tables live in closures; a function leads to no more than its own name
//: value: []
const seen = new Set(), odd = [], queue = [crypto, crypto.createHash("md5"), crypto.createHmac("md5", "k"), crypto.createHash("md5").digest()];
const known = new Set([Object, Function, Array, Promise, Uint8Array, ArrayBuffer, Error].flatMap((f) => [f, f.prototype]));
const internal = /open|keyed|scratch|words|native|decoded|algorithms|encodings|state/i;
for (let o; (o = queue.pop()) !== undefined;) {
  if ((typeof o !== "object" && typeof o !== "function") || o === null || seen.has(o) || known.has(o)) continue;
  seen.add(o);
  for (const k of Reflect.ownKeys(o)) {
    if (typeof k === "string" && internal.test(k)) odd.push(k);
    const own = Reflect.getOwnPropertyDescriptor(o, k);
    queue.push(own.value, own.get, own.set);
  }
  if (!(o instanceof Uint8Array)) queue.push(Reflect.getPrototypeOf(o));
}
odd

//// Y003 code from strings by way of its functions
//: why: they are of this realm, whose constructors are off
//: value: ["EvalError","EvalError","EvalError","EvalError"]
[crypto.createHash, crypto.createHash("md5").update, crypto.createHash("md5").constructor, crypto.subtle.digest]
  .map((f) => { try { return f.constructor("return 1")(); } catch (e) { return e.name; } })

//// Y004 hashes made by hand
//: why: the constructors are reachable; they must give whole hashes or none
//: value: ["hex 32","ERR_INVALID_ARG_TYPE","ERR_INVALID_ARG_TYPE","ERR_CRYPTO_INVALID_DIGEST","hex 32","TypeError"]
const Hash = crypto.createHash("md5").constructor, Hmac = crypto.createHmac("md5", "k").constructor;
[
  () => new Hash("md5").digest("hex"), () => new Hash({}, new Hash("md5")), () => new Hash(),
  () => new Hmac("shake128", "k"), () => Reflect.construct(Hash, ["md5"], Hmac) && new Hmac("md5", "").digest("hex"),
  () => Hash("md5"),
].map((f) => { try { return `hex ${f().length}`; } catch (e) { return e.code ?? e.name; } })

//// Y005 methods on what is no hash
//: why: the state is in a private field: nothing else is taken for one
//: value: ["TypeError"]
const { update, digest, copy } = Object.getPrototypeOf(crypto.createHash("md5"));
const others = [{}, null, undefined, 5, "x", [], new Proxy(crypto.createHash("md5"), {}), Object.create(crypto.createHash("md5")), crypto.createHmac("md5", "k")];
const names = new Set();
for (const o of others) for (const f of [update, digest, copy])
  try { names.add(`ran: ${f.call(o, "x")}`); } catch (e) { names.add(e.name); }
[...names]

//// Y006 a constructor that returns another object
//: why: a private field must not land on what is not a hash
//: value: ["TypeError","TypeError"]
const Hash = crypto.createHash("md5").constructor;
class Odd extends Hash { constructor(o) { super("md5"); return o; } }
const o = new Odd({});
[() => Hash.prototype.digest.call(o), () => Hash.prototype.update.call(o, "a")].map((f) => { try { f(); return "ran"; } catch (e) { return e.name; } })

//// Y010 every built-in replaced first
//: why: the script has its own; what the code replaces is its own affair
//: value: ["900150983cd24fb0d6963f7d28e17f72","d2fe98063f876b03193afb49b4979591",36,"object","ERR_CRYPTO_INVALID_DIGEST"]
const bytes = new Uint8Array([97, 98, 99]);
const broken = () => { throw new Error("mine"); };
for (const o of [Reflect, Object, String.prototype, String, Math, ArrayBuffer, ArrayBuffer.prototype, DataView.prototype,
  Object.getPrototypeOf(Uint8Array), Object.getPrototypeOf(Uint8Array.prototype), Uint8Array.prototype, Number, Promise, Promise.prototype, Symbol, Error])
  for (const k of Reflect.ownKeys(o)) {
    if (["prototype", "constructor", "map"].includes(k) || (o === Reflect && k === "ownKeys") || o === Object && k === "defineProperty") continue;
    try { Object.defineProperty(o, k, { value: broken, configurable: true, writable: true }); } catch {}
  }
const names = ["Uint8Array", "Error", "TypeError", "RangeError", "ArrayBuffer", "DataView", "Math", "BigInt"];
for (let i = 0; i < names.length; i++) try { globalThis[names[i]] = broken; } catch {}
let code; try { crypto.createHash("nope"); } catch (e) { code = e.code; }
[crypto.createHash("md5").update(bytes).digest("hex"), crypto.createHmac("md5", "key").update(bytes).digest("hex"),
  crypto.randomUUID().length, typeof crypto.randomBytes(8), code]

//// Y011 setters and getters where an object inherits
//: why: tables have no prototype and results are defined, not assigned
//: value: ["ERR_CRYPTO_INVALID_DIGEST",1]
Object.defineProperty(Error.prototype, "code", { set() { throw new Error("mine"); }, configurable: true });
let hits = 0;
try { Object.defineProperty(Function.prototype, "name", { get() { hits++; } }); } catch { hits = 1; }
let code; try { crypto.createHash("nope"); } catch (e) { code = e.code; }
[code, hits]

//// Y012 objects that convert to text
//: why: nothing is converted: no code of the caller's runs in the middle
//: value: [0,6]
let ran = 0, refused = 0;
const odd = { toString() { ran++; return "md5"; }, valueOf() { ran++; return 1; }, [Symbol.toPrimitive]() { ran++; return "md5"; } };
for (const f of [() => crypto.createHash(odd), () => crypto.createHash("md5").update(odd), () => crypto.createHash("md5").update("a", odd),
  () => crypto.createHash("md5").digest(odd), () => crypto.createHmac("md5", odd), () => crypto.randomBytes(odd)])
  try { f(); } catch (e) { refused += e.code === "ERR_INVALID_ARG_TYPE"; }
[ran, refused]

//// Y013 an option that takes the buffer away
//: why: a getter between the check and the use
//: value: [true,true,true,true]
const none = crypto.createHmac("md5", "").update("x").digest("hex");
const tries = [(b) => b, (b) => new Uint8Array(b), (b) => new DataView(b), (b) => new Float64Array(b)];
tries.map((make) => {
  const buffer = new ArrayBuffer(1 << 20), view = make(buffer);
  return crypto.createHmac("md5", view, { get encoding() { buffer.transfer(); return "hex"; } }).update("x").digest("hex") === none;
})

//// Y014 an option that ends or feeds the hash
//: why: the state is used after the getter, not before
//: value: ["ERR_CRYPTO_HASH_FINALIZED","46b9dd2b"]
const h = crypto.createHash("md5");
let code;
const x = crypto.createHash("shake256", { get outputLength() { h.update("a"); h.digest(); try { h.update("b"); } catch (e) { code = e.code; } return 4; } });
[code, x.digest("hex")]

//// Y015 a name that is got twice
//: why: what was checked is what is used
//: value: [1,64]
let reads = 0;
const algorithm = { get name() { return reads++ === 0 ? "SHA-512" : "md5"; } };
return [reads + 1, (await crypto.subtle.digest(algorithm, new Uint8Array(1))).byteLength]

//// Y016 buffers that shrink and grow under their views
//: why: lengths are the engine's, of that moment
//: value: true
const buffer = new ArrayBuffer(1 << 20, { maxByteLength: 1 << 24 });
const views = [new Uint8Array(buffer), new Uint8Array(buffer, 4096), new Uint8Array(buffer, 4096, 4096), new DataView(buffer, 8), new Float64Array(buffer, 64)];
let ok = true;
for (const size of [1 << 24, 4095, 0, 5000, 1 << 23, 17, 1 << 20]) {
  buffer.resize(size);
  for (const v of views) {
    let shown; try { shown = v.byteLength; } catch { shown = 0; }
    ok &&= crypto.createHash("md5").update(v).digest("hex") === crypto.createHash("md5").update(new Uint8Array(shown)).digest("hex");
    if (!(v instanceof DataView) && !(v instanceof Float64Array) && shown > 0 && shown <= 65536) crypto.getRandomValues(v).fill(0);
  }
}
ok

//// Y017 the end of a mapping
//: why: a read past the last byte of 64 MiB would end the process
//: value: 32
const big = new Uint8Array(1 << 26);
crypto.createHash("md5").update(big.subarray((1 << 26) - 1)).update(new DataView(big.buffer, (1 << 26) - 5)).update(big).digest("hex").length

//// Y020 many hashes that are forgotten
//: why: what ends outside the engine's heap is given back
//: layer: memory
//: memory: 48
//: value: 300000
let n = 0;
const byte = new Uint8Array(1);
for (let i = 0; i < 3e5; i++) { crypto.createHash("sha512").update(byte); n++; }
n

//// Y020b MACs that are forgotten, in little memory
//: why: the engine is told what it does not see, or it would collect too late
//: layer: memory
//: memory: 48
//: value: 300000
let n = 0;
for (let i = 0; i < 3e5; i++) { crypto.createHmac("sha512", "k"); n++; }
n

//// Y021 a million hashes that are kept
//: why: they are memory like any other
//: layer: memory
//: memory: 64
//: expect: MEMORY
const all = [], byte = new Uint8Array(1);
for (let i = 0; i < 1e6; i++) all.push(crypto.createHash("sha3-256").update(byte));
all.length

//// Y022 copies without end
//: why: as above, by another door
//: layer: memory
//: memory: 64
//: expect: MEMORY
const all = [crypto.createHash("blake2b512")];
for (;;) all.push(all[all.length - 1].copy());

//// Y023 MACs with long keys without end
//: why: as above
//: layer: memory
//: memory: 64
//: expect: MEMORY
const all = [], key = "k".repeat(2000);
for (;;) all.push(crypto.createHmac("sha512", key));

//// Y024 long values without end
//: why: bytes outside the engine's heap count too
//: layer: memory
//: memory: 64
//: expect: MEMORY
const all = [];
for (;;) all.push(crypto.createHash("shake256", { outputLength: 1 << 20 }).digest());

//// Y025 long values that are forgotten
//: why: what is freed comes back
//: layer: memory
//: value: 400
let n = 0;
for (let i = 0; i < 400; i++) n += crypto.createHash("shake128", { outputLength: 1 << 20 }).digest().length >> 20;
n

//// Y026 a text larger than half the limit
//: why: pieces of it are hashed, never a second whole
//: layer: memory
//: value: "b67c8ea8"
const text = "0123456789abcdef".repeat(5e6);
crypto.createHash("sha1").update(text).digest("hex").slice(0, 8)

//// Y027 a text of ropes of ropes
//: why: it is made whole once, in the engine
//: layer: memory
//: expect: VALUE MEMORY
let s = "x"; for (let i = 0; i < 26; i++) s += s;
crypto.createHash("sha1").update(s).digest("hex").length

//// Y028 randomness beyond the limit
//: why: the engine refuses it, not the allocator
//: layer: memory
//: memory: 32
//: expect: MEMORY
crypto.randomBytes(2 ** 31 - 1).length

//// Y029 hashing for ever
//: why: native code is ended from outside as well
//: layer: deadline
//: timeout: 300
//: expect: TIMEOUT
const a = new Uint8Array(1 << 24);
for (;;) crypto.createHash("sha3-512").update(a).digest();

//// Y030 at the edge of the stack
//: why: native code entered at the very edge must not crash
//: value: 1
const h = crypto.createHash("md5"), bytes = new Uint8Array(70000), text = "x".repeat(70000);
const tries = [() => crypto.createHash("sha1"), () => h.update("a"), () => h.update(bytes), () => h.update(text), () => h.copy(),
  () => crypto.createHmac("md5", text), () => crypto.randomUUID(), () => crypto.getRandomValues(bytes.subarray(9)), () => crypto.createHash("nope"),
  () => crypto.createHash("md5").digest(), () => crypto.createHash("md5").digest().toString("hex"), () => crypto.subtle.digest("SHA-1", bytes), () => crypto.hash("md5", "x")];
let left = 60;
function f() { try { f(); } catch { if (left-- > 0) for (const t of tries) { try { t(); } catch {} } throw 1; } }
try { f(); } catch {}
1

//// Y031 interrupted in the middle of an update
//: why: after an overflow of the stack inside it a hash has all of the data, or none, or is over
//: value: true
const long = "abc".repeat(60000), bytes = Uint8Array.from(long, (c) => c.charCodeAt());
const right = new Set(["", "abc", long, `abc${long}`].map((t) => crypto.hash("md5", t)));
const kept = [];
let left = 60;
const probe = () => {
  for (const data of ["abc", long, bytes]) {
    const h = crypto.createHash("md5"), m = crypto.createHmac("md5", "k");
    kept.push(h, m);
    try { h.update("abc"); } catch {}
    try { h.update(data); } catch {}
    try { m.update(data); } catch {}
    try { kept.push(h.copy()); } catch {}
  }
};
(function f() { try { f(); } catch { if (left-- > 0) try { probe(); } catch {} if (left > 0) throw 1; } })();
for (const t of ["", "abc", long]) right.add(crypto.createHmac("md5", "k").update(t).digest("hex"));
right.add(crypto.hash("md5", "abcabc")).add("ERR_CRYPTO_HASH_FINALIZED");
kept.length > 60 && kept.every((h) => { let v; try { v = h.digest("hex"); } catch (e) { v = e.code; } return right.has(v); })

//// Y040 random bytes differ between calls
//: why: every fork inherits the same state
[crypto.randomUUID(), crypto.randomBytes(16).toString("hex"), [...crypto.getRandomValues(new Uint32Array(4))]]
//: then: the next call has others
//: next: other
[crypto.randomUUID(), crypto.randomBytes(16).toString("hex"), [...crypto.getRandomValues(new Uint32Array(4))]]
//: then: and the one after that
//: next: other
[crypto.randomUUID(), crypto.randomBytes(16).toString("hex"), [...crypto.getRandomValues(new Uint32Array(4))]]

//// Y041 with the same seed they are the same
//: why: a call can be repeated
//: seed: 7
[crypto.randomUUID(), crypto.randomBytes(100000).toString("base64").slice(-20)]
//: then: again
//: seed: 7
//: next: same
[crypto.randomUUID(), crypto.randomBytes(100000).toString("base64").slice(-20)]
//: then: another seed
//: seed: 8
//: next: other
[crypto.randomUUID(), crypto.randomBytes(100000).toString("base64").slice(-20)]

//// Y042 Math.random does not follow from random bytes, nor moves them
//: why: its state is small and can be computed from a few of its numbers
//: seed: 7
[crypto.randomUUID(), crypto.randomUUID()]
//: then: with numbers drawn in between
//: seed: 7
//: next: same
[crypto.randomUUID(), (Math.random(), Math.random(), crypto.randomUUID())]

//// Y043 random bytes are spread
//: why: a poor stream is guessed
//: value: [true,true]
const bytes = crypto.randomBytes(1 << 18), counts = new Uint32Array(256);
let ones = 0;
for (const b of bytes) { counts[b]++; for (let k = b; k > 0; k >>= 1) ones += k & 1; }
[counts.every((c) => c > 800 && c < 1250), Math.abs(ones / (1 << 21) - 0.5) < 0.002]

//// Y044 scratch is not seen in what is returned
//: why: bytes and values pass through memory that is used again
//: value: true
crypto.createHash("md5").update(new Uint8Array(65536).fill(0x5a)).digest();
const results = [crypto.randomBytes(0), crypto.createHash("shake128", { outputLength: 0 }).digest(), new Uint8Array(await crypto.subtle.digest("SHA-1", new ArrayBuffer(0)))];
return results.every((r) => !(r.buffer.byteLength > 20) && !r.includes(0x5a, 19))

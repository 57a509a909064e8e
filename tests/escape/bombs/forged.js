// SPDX-License-Identifier: MIT
// MEMORY is decided by what the kernel and the engine did, never by what an error says:
// forged errors are RUNTIME, the engine's own is MEMORY as long as nobody caught it.
//: form: function
//: layer: broker
//: expect: RUNTIME

//// G01 a message
//: why: the plainest forgery
//: error: Error: out of memory
() => { throw new Error('out of memory'); }

//// G02 the engine's very words
//: why: class and message as the engine has them
//: error: RangeError: Out of memory
() => { throw new RangeError('Out of memory'); }

//// G03 the prototype changed
//: why: a class by its prototype is no class
() => { throw Object.setPrototypeOf(new Error('Out of memory'), RangeError.prototype); }

//// G04 Reflect.construct
//: why: newTarget chooses the prototype, too
() => { throw Reflect.construct(Error, ['Out of memory'], RangeError); }

//// G05 a subclass
//: why: as above
() => { throw new (class RangeError extends Error { name = 'RangeError'; })('Out of memory'); }

//// G06 the words for buffers
//: why: the engine has others for these
() => { throw new RangeError('Array buffer allocation failed'); }

//// G07 a plain object
//: why: no error at all
() => { throw { name: 'RangeError', message: 'Out of memory', stack: '' }; }

//// G08 a proxy of an error
//: why: reads go through to the target
() => { throw new Proxy(new RangeError('Out of memory'), {}); }

//// G09 the message of a stack overflow changed
//: why: an error that the engine made, of another kind
() => { try { (function f() { f(); })(); } catch (e) { e.message = 'Out of memory'; throw e; } }

//// G10 an error of a bad length renamed
//: why: as above
() => { try { new Array(-1); } catch (e) { e.message = 'Out of memory'; throw e; } }

//// G11 fields that look like the engine's
//: why: nothing is read from properties
() => { throw Object.assign(new RangeError('Out of memory'), { outOfMemory: true, isOutOfMemoryError: true, code: 'MEMORY', failure: 2 }); }

//// G12 a rejection
//: why: as above, by way of a promise
async () => { throw new RangeError('Out of memory'); }

//// G13 half of the memory taken, then a forgery
//: why: growth alone does not make it true
() => { const a = []; for (let i = 0; i < 60; i++) a.push(new Uint8Array(1 << 20).fill(1)); throw new RangeError('Out of memory'); }

//// G14 a forgery with the engine's as its cause
//: why: the error that was thrown counts, and it is the code's own
() => { try { 'ab'.repeat(2 ** 30); } catch (e) { throw new Error('could not', { cause: e }); } }

//// G15 a genuine error caught and ignored
//: why: the code went on and has a value
//: expect: VALUE
//: value: "went on"
() => { try { 'ab'.repeat(2 ** 30); } catch {} return 'went on'; }

//// G16 a genuine error caught and shown
//: why: the code may look at it
//: expect: VALUE
//: value: ["RangeError","Out of memory"]
() => { try { 'ab'.repeat(2 ** 30); } catch (e) { return [e.name, e.message]; } }

//// G17 a refused buffer caught and ignored
//: why: the kernel said no, the code did without
//: expect: VALUE
//: value: "went on"
() => { try { new ArrayBuffer(2 ** 30); } catch {} return 'went on'; }

//// G18 a flood of refused buffers, caught and ignored
//: why: the same until little is left
//: expect: VALUE MEMORY
//: value: "went on"
() => { const a = []; try { for (;;) a.push(new Uint8Array(1 << 20).fill(1)); } catch {} a.length = 0; return 'went on'; }

//// G19 a genuine error rethrown
//: why: uncaught in the end
//: expect: MEMORY
() => { try { 'ab'.repeat(2 ** 30); } catch (e) { throw e; } }

//// G20 a genuine error renamed and rethrown
//: why: its words are the code's, the error is the engine's
//: expect: MEMORY
() => { try { 'ab'.repeat(2 ** 30); } catch (e) { e.message = 'nothing to see'; e.name = 'Error'; throw e; } }

//// G21 a genuine error with another prototype
//: why: as above
//: expect: MEMORY
() => { try { 'ab'.repeat(2 ** 30); } catch (e) { throw Object.setPrototypeOf(e, TypeError.prototype); } }

//// G22 a genuine error by rejection
//: why: as above, by way of a promise
//: expect: MEMORY
async () => { await null; return 'ab'.repeat(2 ** 30); }

//// G23 a refused buffer uncaught
//: why: refused by the kernel, thrown by the engine
//: expect: MEMORY
() => new Uint8Array(2 ** 30).length

//// G24 caught and retried for ever
//: why: an end by one of the two, no swap storm
//: expect: MEMORY TIMEOUT
//: timeout: 400
() => { for (;;) try { const a = []; for (;;) a.push(new ArrayBuffer(1 << 24)); } catch {} }

//// G25 caught and retried, objects
//: why: as above, in the collector's heap
//: expect: MEMORY TIMEOUT
//: timeout: 1500
() => { for (;;) try { const a = []; for (;;) a.push({ a: [1, 2, 3] }); } catch {} }

//// G26 garbage within the limit
//: why: much memory one after the other is no bomb
//: expect: VALUE
//: value: 300
() => { let n = 0; for (let i = 0; i < 300; i++) { const a = new Uint8Array(8 << 20); a[0] = 1; n += a[0]; } return n; }

//// G27 just below the limit
//: why: what fits runs
//: expect: VALUE
//: value: 64
() => { const a = []; for (let i = 0; i < 64; i++) a.push(new Uint8Array(1 << 20).fill(1)); return a.length; }

//// G28 an input that does not fit
//: why: told as what it is
//: memory: 16
//: expect: VALUE
//: input: [1,2,3]
//: value: 3
(d) => d.length

//// G29 abort by hand
//: why: no such function: an ordinary error
//: error: ReferenceError
() => abort()

//// G30 garbage: objects, texts, lists and maps, one after the other
//: why: the collector must keep pace with a limit that it does not know
//: expect: VALUE
//: value: [6000000,14000000,2000000,500000]
() => {
  let a = 0, b = 0, c = 0, d = 0;
  for (let i = 0; i < 3e6; i++) { const o = { i, l: [i, i + 1] }; a += o.l.length; }
  for (let i = 0; i < 4e5; i++) { const s = 'abc'.repeat(10) + (i % 10).toString().repeat(5); b += s.split('').length; }
  for (let i = 0; i < 400; i++) c += Array.from({ length: 10000 }, (_, k) => ({ k })).filter((x) => x.k % 2).length;
  for (let i = 0; i < 100; i++) { const m = new Map(); for (let k = 0; k < 5000; k++) m.set('k' + k, { k }); d += m.size; }
  return [a, b, c, d];
}

//// G31 garbage: parsing and writing JSON
//: why: as above, made by native code
//: expect: VALUE
//: value: 400000
() => { const text = JSON.stringify(Array.from({ length: 2000 }, (_, k) => ({ k, s: 'x' + k }))); let n = 0; for (let i = 0; i < 200; i++) n += JSON.parse(JSON.stringify(JSON.parse(text))).length; return n; }

// SPDX-License-Identifier: MIT
// Memory bombs: every way to ask for more that the engine has. Each ends as MEMORY, at
// most 48 MiB past its limit, whether the engine throws or dies of it.
//: form: function
//: layer: memory
//: memory: 64
//: expect: MEMORY

//// M01 objects
//: why: cells of the collector's heap
//: memory: 16 128
() => { const a = []; for (;;) a.push({ x: 1, y: [1, 2, 3] }); }

//// M02 typed arrays
//: why: memory beside the collector's heap
//: memory: 16 128 512
() => { const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1)); }

//// M03 one huge buffer
//: why: one request past everything
//: memory: 16 128 512
() => new ArrayBuffer(2 ** 30).byteLength

//// M04 a growing buffer
//: why: reserved at once, taken step by step
//: memory: 16 128 512
() => { const b = new ArrayBuffer(1024, { maxByteLength: 2 ** 30 }); for (let n = 1024; ; n *= 2) { b.resize(n); new Uint8Array(b).fill(1); } }

//// M05 many growing buffers
//: why: each reserves more than it ever uses
() => { const a = []; for (;;) { const b = new ArrayBuffer(0, { maxByteLength: 2 ** 24 }); b.resize(2 ** 20); new Uint8Array(b).fill(1); a.push(b); } }

//// M06 string doubling
//: why: a rope costs nothing until it is too long to be
//: memory: 16 128 512
() => { let s = 'x'; for (;;) s += s; }

//// M07 ropes, then flat
//: why: one read of a character makes all of it
() => { const a = []; for (let i = 0; ; i++) { let s = 'x' + i; while (s.length < 2 ** 20) s += s; s.charCodeAt(1); a.push(s); } }

//// M08 flat strings
//: why: text by text
() => { const a = []; for (let i = 0; ; i++) a.push(('k'.repeat(1e5) + i).toUpperCase()); }

//// M09 two bytes a character
//: why: as above, twice as wide
() => { const a = []; for (let i = 0; ; i++) a.push(('\u20ac'.repeat(1e5) + i).toLowerCase()); }

//// M10 arrays
//: why: butterflies of numbers
() => { const a = []; for (;;) a.push(new Array(1e6).fill(7)); }

//// M11 arrays of doubles
//: why: another layout of the same
() => { const a = []; for (;;) a.push(Array.from({ length: 1e5 }, (_, i) => i + 0.5)); }

//// M12 array fill
//: why: a billion at once
//: memory: 16 128
() => Array(1e9).fill(0).length

//// M13 split of a repeat
//: why: half a billion strings from one
() => 'a'.repeat(5e8).split('').length

//// M14 sparse array that becomes dense
//: why: the change of layout asks for all of it
() => { const a = []; for (let i = 5e7; i >= 0; i--) a[i] = i; return a.length; }

//// M15 Map
//: why: a table that doubles
//: memory: 16 128 256
() => { const m = new Map(); for (let i = 0; ; i++) m.set(i, { i }); }

//// M16 Set
//: why: as above, of strings
() => { const s = new Set(); for (let i = 0; ; i++) s.add('v' + i); }

//// M17 WeakMap
//: why: entries that are never weak, since their keys are held
() => { const w = new WeakMap(); const keys = []; for (;;) { const k = {}; keys.push(k); w.set(k, [k]); } }

//// M18 BigInt squaring
//: why: each number twice as long as the one before
//: expect: MEMORY TIMEOUT RUNTIME
//: timeout: 1000
() => { let a = 3n; const all = []; for (;;) { a = a * a; all.push(a); } }

//// M19 many BigInts
//: why: digits beside the cells
() => { const a = []; for (let i = 1n; ; i++) a.push(i << 4096n); }

//// M20 closures
//: why: functions and their scopes
//: memory: 16 128 256
() => { const a = []; for (;;) a.push(() => a); }

//// M21 symbols
//: why: symbols and their texts
() => { const a = []; for (;;) a.push(Symbol('s' + a.length)); }

//// M22 symbols in the registry
//: why: kept by the engine itself
() => { const a = []; for (let i = 0; ; i++) a.push(Symbol.for('s' + i)); }

//// M23 new shapes
//: why: layouts of objects live in a region reserved up front
//: memory: 16 128 512
() => { const a = []; for (let i = 0; ; i++) { const o = {}; o['p' + i] = i; o['q' + i] = i; a.push(o); } }

//// M24 properties of one object
//: why: a dictionary and its names
() => { const o = {}; for (let i = 0; ; i++) o['k' + i] = i; }

//// M25 promises
//: why: promises that nobody settles
async () => { const a = []; for (;;) a.push(new Promise(() => {})); }

//// M26 promise reactions
//: why: one promise, ever more waiting for it
() => { const p = new Promise(() => {}); for (;;) p.then(() => 1, () => 2); }

//// M27 jobs
//: why: the queue of the engine itself
() => { const p = Promise.resolve(); for (;;) p.then(() => 1); }

//// M28 proxies
//: why: pairs of target and handler
() => { const a = []; for (;;) a.push(new Proxy({}, {})); }

//// M29 regular expressions
//: why: compiled patterns, beside the collector's heap
//: expect: MEMORY TIMEOUT
() => { const a = []; for (let i = 0; ; i++) { const r = new RegExp('a{' + (i % 50) + '}b' + i); r.test('x'); a.push(r); } }

//// M30 one large regular expression
//: why: a pattern that unrolls
//: expect: VALUE MEMORY RUNTIME TIMEOUT
//: timeout: 1500
() => { let p = 'a'; for (let i = 0; i < 6; i++) p = `(?:${p}){60}`; return new RegExp(p).test('a'.repeat(100)); }

//// M31 Intl objects
//: why: memory of another library
//: expect: MEMORY TIMEOUT
//: timeout: 2500
() => { const a = []; for (let i = 0; ; i++) a.push(new Intl.NumberFormat('en', { minimumFractionDigits: i % 20 })); }

//// M32 generators
//: why: suspended frames
() => { const a = []; const g = function* (x) { yield x; yield a; }; for (;;) { const it = g({}); it.next(); a.push(it); } }

//// M33 async functions that wait
//: why: suspended frames and their promises
() => { const a = []; const p = new Promise(() => {}); const f = async (x) => { await p; return x; }; for (;;) a.push(f({})); }

//// M34 errors with stacks
//: why: a trace each
() => { const a = []; const f = (n) => n > 0 ? f(n - 1) : new Error('e' + a.length); for (;;) { const e = f(20); e.stack; a.push(e); } }

//// M35 growth by JSON.parse
//: why: native code that makes many at once
() => { const text = JSON.stringify(Array.from({ length: 1000 }, (_, i) => ({ i, s: 'x' + i }))); const a = []; for (;;) a.push(JSON.parse(text)); }

//// M36 growth by JSON.stringify
//: why: native code that makes a long text
() => { let o = { a: 'x'.repeat(100) }; const a = []; for (;;) { o = { o, p: 'y'.repeat(1000) + a.length }; a.push(JSON.stringify(o).toUpperCase()); } }

//// M37 growth by sort, slice and concat
//: why: copies by native code
() => { let a = Array.from({ length: 1e5 }, (_, i) => i); for (;;) a = a.concat(a.slice().sort()); }

//// M38 growth by spread
//: why: as above
() => { let a = [1, 2, 3]; for (;;) a = [...a, ...a]; }

//// M39 growth by replaceAll
//: why: a text that grows by a factor
() => { let s = 'ab'; for (;;) s = s.replaceAll('a', 'aab').replaceAll('b', 'bba'); }

//// M40 growth by matchAll and split
//: why: lists of texts from one
() => { const s = 'a,'.repeat(1e6); const a = []; for (;;) a.push(s.split(','), [...s.matchAll(/a/g)].length); }

//// M41 growth by Array.from of strings
//: why: iterators that feed lists
() => { const s = 'ab\u20ac'.repeat(1e6); const a = []; for (;;) a.push(Array.from(s)); }

//// M42 dates, boxed values and small objects of every kind
//: why: each kind has a space of its own
() => { const a = []; for (let i = 0; ; i++) a.push(new Date(i), new Number(i), new String('s' + i), new Boolean(1), /x/g, [i], new Map([[i, i]])); }

//// M43 classes
//: why: functions, prototypes and layouts at once
() => { const a = []; for (let i = 0; ; i++) a.push(class { static x = i; #p = i; m() { return this.#p; } }); }

//// M44 getters and setters
//: why: pairs of accessors
() => { const a = []; for (let i = 0; ; i++) a.push(Object.defineProperty({}, 'p' + i, { get() { return i; }, set() {} })); }

//// M45 bound functions
//: why: as closures, by native code
() => { const a = []; const f = function () {}; for (;;) a.push(f.bind(a, 1, 2, 3)); }

//// M46 arguments objects
//: why: as arrays, by calls
() => { const a = []; const f = function () { return arguments; }; for (;;) a.push(f(1, 2, 3, 4, 5, 6, 7, 8)); }

//// M47 timers
//: why: a cap stands before memory
//: expect: RUNTIME MEMORY
() => { for (;;) setTimeout(() => {}, 1000); }

//// M48 a deep recursion that holds memory
//: why: both run out together
//: expect: MEMORY RUNTIME
() => { const f = (n, a) => f(n + 1, new Array(10000).fill(n)).concat(a); return f(0, []).length; }

//// M49 console lines
//: why: text that leaves costs the host, up to its cap
//: expect: MEMORY TIMEOUT
//: timeout: 1000
//: log-bytes: 100000
() => { const a = []; for (let i = 0; ; i++) { console.log('x'.repeat(1000) + i); a.push(new Array(1000).fill(i)); } }

//// M50 memory while the result is written
//: why: serialising is part of the call
() => ({ toJSON() { const a = []; for (;;) a.push({ x: [1, 2, 3] }); } })

//// M51 memory in a getter of an exception
//: why: so is describing an error
//: memory: 128
() => { throw { get message() { const a = []; for (;;) a.push({ x: [1, 2, 3] }); } }; }

//// M52 memory in a timer
//: why: so is what runs later
async () => { await new Promise((r) => setTimeout(() => { const a = []; for (;;) a.push({ x: [1, 2, 3] }); }, 1)); }

//// M53 a slow leak beside garbage
//: why: much that is freed and a little that is not
() => { const keep = []; for (let i = 0; ; i++) { const t = Array.from({ length: 1000 }, () => ({ i })); if (i % 3 === 0) keep.push(t); } }

//// M54 a long error of its own with the last bytes gone
//: why: the message that tells of it is memory too
//: memory: 96 144 160 176
//: expect: MEMORY RUNTIME
() => { const a = []; let e; const recurse_under_a_name_that_makes_the_stack_of_an_error_long = (n) => n > 0 ? recurse_under_a_name_that_makes_the_stack_of_an_error_long(n - 1) + 1 : (e = new Error('last words '.repeat(740)), 1); Error.stackTraceLimit = 400; recurse_under_a_name_that_makes_the_stack_of_an_error_long(390); e.stack.charCodeAt(5); e.message.charCodeAt(5); for (let size = 2 ** 23; size >= 2 ** 16; size /= 2) { try { for (;;) a.push(new ArrayBuffer(size)); } catch { } } throw e; }

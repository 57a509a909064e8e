// SPDX-License-Identifier: MIT
// Single lines that kill or hang sandboxes made of one process. Here: one clear code in
// time, and a neighbour that notices nothing.
//: form: function
//: layer: deadline
//: expect: TIMEOUT
//: timeout: 300

//// K01 split of 5e8
//: why: half a billion strings in native code
//: layer: memory
//: expect: MEMORY
//: timeout: 5000
() => 'a'.repeat(5e8).split('')

//// K02 fill of 1e9
//: why: eight gigabytes at once
//: layer: memory
//: expect: MEMORY
//: timeout: 5000
() => Array(1e9).fill(0)

//// K03 BigInt squaring
//: why: no interrupt inside a multiplication
//: expect: TIMEOUT MEMORY RUNTIME
() => { let x = 3n; for (;;) x = x * x; }

//// K04 promise loop
//: why: jobs that queue jobs
//: expect: TIMEOUT MEMORY
async () => { const f = () => Promise.resolve().then(f); await f(); }

//// K05 await loop
//: why: as above
async () => { for (;;) await 0; }

//// K06 lying sort
//: why: a comparator that never agrees and takes its time
() => Array.from({ length: 3e5 }, (_, i) => i).sort(() => { for (let i = 0; i < 1e5; i++); return 1; })

//// K07 catastrophic regular expression
//: why: no interrupt inside the matcher, which gives one match up after a while
() => { for (;;) /(a+)+$/.test('a'.repeat(40) + 'b'); }

//// K08 another one
//: why: as above
() => /^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(60))

//// K09 join over 2^53
//: why: no interrupt inside the engine's own loop
() => Array.prototype.join.call({ length: 2 ** 53 - 1 }, '').length

//// K10 loop that catches
//: why: a deadline that is an exception is caught
() => { for (;;) try { for (;;); } catch {} }

//// K11 getter that loops while the result is written
//: why: after the code has returned
() => ({ get a() { for (;;); } })

//// K12 sparse array as the result
//: why: four billion nulls
//: expect: TIMEOUT OUTPUT_TOO_LARGE MEMORY
() => { const a = []; a[4294967294] = 1; return a; }

//// K13 deep recursion in native code
//: why: a native stack that overflows is a crash
//: layer: realm
//: expect: RUNTIME
//: timeout: 5000
() => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a.flat(Infinity).length; }

//// K14 flood of the log
//: why: the host keeps all of it, up to the cap
//: expect: TIMEOUT
//: log-bytes: 100000
() => { for (;;) console.log('x'.repeat(1000)); }

//// K15 an exception as large as the memory
//: why: describing it copies
//: layer: realm
//: expect: RUNTIME MEMORY
//: timeout: 5000
() => { throw new Error('x'.repeat(1e8)); }

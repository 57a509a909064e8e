// SPDX-License-Identifier: MIT
// Code that does not end. The clock is outside: the process is killed, whatever it is
// doing, and no code of it runs again.
//: form: script
//: layer: deadline
//: expect: TIMEOUT
//: timeout: 150

//// A086 endless loop
//: why: the plainest one
for(;;);

//// A087 loop that catches
//: why: a deadline that is an exception could be caught
for(;;)try{for(;;);}catch{}

//// A088 loop that finishes
//: why: finally must not run on
for (;;) try { for (;;); } finally { continue; }

//// A089 promise chain
//: why: jobs that queue jobs never give control back
(function f() { return Promise.resolve().then(f); })()

//// A090 async loop
//: why: the same with await, its promise not even looked at
(async()=>{for(;;)await 0})(),1

//// A090b endless async generator
//: why: as above
(async () => { for await (const x of (async function* () { for (;;) yield 1; })()); })()

//// A091 catastrophic regex
//: why: no interrupt is looked at inside the matcher
/(a+)+$/.test("a".repeat(40)+"b")

//// A092 regex 2
//: why: as above
/^(([a-z])+.)+[A-Z]([a-z])+$/.test("a".repeat(60))

//// A093 regex with backreferences
//: why: as above, of another kind
/^(a*)*\1*b$/.test("a".repeat(40))

//// A094 regex in replace with a callback
//: why: as above, through another door
"a".repeat(40).replace(/(a|aa)+$(?=b)/, () => "x"); /(x+x+)+y/.test("x".repeat(60))

//// A095 native long op: normalize
//: why: a library's loop that knows of no limit
//: expect: TIMEOUT MEMORY RUNTIME
'\u0390'.repeat(2**25).normalize("NFD").length

//// A096 native long op: localeCompare
//: why: as above
//: expect: TIMEOUT MEMORY RUNTIME VALUE
'a'.repeat(2**27).localeCompare("b".repeat(2**27))

//// A097 native long op: join over 2^53
//: why: as above
Array.prototype.join.call({length:2**53-1},"").length

//// A097b native long op: indexOf over 2^53
//: why: as above
Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)

//// A097c native long op: includes on a proxy
//: why: as above, with a trap a step
Array.prototype.includes.call(new Proxy({}, { get: (t, k) => k === "length" ? 2 ** 53 - 1 : 0 }), 1)

//// A097d native long op: reverse over 2^53
//: why: as above
Array.prototype.reverse.call({ length: 2 ** 53 - 1 })

//// A097e native long op: fill over 2^53
//: why: as above
//: expect: TIMEOUT MEMORY RUNTIME
Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 0)

//// A098 BigInt: squaring
//: why: one multiplication can take minutes
//: timeout: 400
//: expect: TIMEOUT MEMORY RUNTIME
let x = 3n; for (;;) x = x * x;

//// A099 BigInt: a power
//: why: as above
//: expect: TIMEOUT MEMORY RUNTIME
(3n ** (2n ** 22n)) % 7n === 0n

//// A100 BigInt toString
//: why: quadratic; ends in time or is ended
//: expect: VALUE TIMEOUT
//: value: 253530
//: timeout: 300
(7n**300000n).toString().length

//// T001 sort with a lying comparator
//: why: the engine's sort must end, and the comparator loops
Array.from({ length: 3e5 }, (_, i) => i).sort(() => { for (let i = 0; i < 1e5; i++); return 1; })

//// T002 sort with a comparator that changes the array
//: why: no crash, an end
//: timeout: 3000
//: layer: process
//: expect: VALUE TIMEOUT
const a = Array.from({ length: 1e4 }, (_, i) => i % 7); a.sort((x, y) => { a.length = 1; a.push(1, 2, 3); return x - y; }); a.length

//// T003 iterator that never ends
//: why: spread collects for ever
//: expect: TIMEOUT MEMORY
[...{ [Symbol.iterator]: () => ({ next: () => ({ value: 1, done: false }) }) }].length

//// T004 Array.from of an endless iterator that yields nothing
//: why: a loop inside the engine
new Set({ [Symbol.iterator]: () => ({ next: () => ({ value: 1, done: false }) }) }).size

//// T005 Object.assign with a proxy that never ends
//: why: as above
//: expect: TIMEOUT MEMORY
Object.assign({}, new Proxy({}, { ownKeys: () => { for (;;); } }))

//// T006 Symbol.toPrimitive that loops
//: why: conversions run code
`${{ [Symbol.toPrimitive]() { for (;;); } }}`

//// T007 getter that loops, read by the engine's own code
//: why: as above
Object.entries({ get a() { for (;;); } })

//// T008 a loop in a getter of the result
//: why: serialising is inside the deadline
({ get a() { for (;;); } })

//// T009 a loop in then
//: why: asking whether the result is a promise runs code
({ get then() { for (;;); } })

//// T010 a loop in the console's argument
//: why: formatting a line runs getters of nobody, but toString of some
//: expect: TIMEOUT VALUE
console.log("%s %d", { toString() { for (;;); } }, { valueOf() { for (;;); } }); 1

//// T011 a loop in a timer
//: why: after the first result of the script, before its promise
await new Promise((r) => setTimeout(() => { for (;;); }, 1))

//// T012 an interval that is never cleared, awaited
//: why: waiting for ever is running out of time
await new Promise(() => setInterval(() => {}, 1))

//// T013 sleep past the limit
//: why: asleep in the kernel, not in a loop
await sleep(30000)

//// T014 nine thousand sleeps
//: why: no more than the same time
await Promise.all(Array.from({ length: 9000 }, () => sleep(30000)))

//// T015 sleep of a negative or odd time
//: why: taken as zero, not as four billion
//: layer: realm
//: timeout: 2000
//: expect: VALUE
await sleep(-5); await sleep(NaN); await sleep("x"); await sleep(); return 1

//// T016 hash flood of strings
//: why: hashes are not seeded: a flood is work for the clock
//: timeout: 3000
//: expect: VALUE TIMEOUT
const m = new Map(); for (let i = 0; i < 2e5; i++) m.set("k" + i * 4294967296, i); m.size

//// T017 string comparison of long equal ropes
//: why: native loops again
//: timeout: 500
//: expect: VALUE TIMEOUT MEMORY
let a = "a", b = "a"; for (let i = 0; i < 22; i++) { a += a; b += b; } let n = 0; for (let i = 0; i < 1e6; i++) n += a + i === b + i ? 1 : 0; n

//// T018 split by a regular expression that backtracks
//: why: native loops again
"a".repeat(50000).split(/(?:a|a)*b/).length; /(?:a*)*c/.test("a".repeat(30)); for (;;);

//// T019 parseFloat and Number of megabytes
//: why: quadratic conversions
//: timeout: 2000
//: expect: VALUE TIMEOUT MEMORY
Number("1".repeat(5e6)) === Infinity

//// T020 BigInt of a megabyte of digits
//: why: as above
//: timeout: 300
//: expect: VALUE TIMEOUT RUNTIME MEMORY
BigInt("7".repeat(1e6)) > 0n

//// T021 Date parsing of megabytes
//: why: as above
//: timeout: 2000
//: expect: VALUE TIMEOUT RUNTIME MEMORY
Number.isNaN(Date.parse("2".repeat(5e6))) || true

//// T022 Intl.Segmenter over megabytes
//: why: a library's loop
//: timeout: 200
//: expect: VALUE TIMEOUT MEMORY
[...new Intl.Segmenter("en", { granularity: "word" }).segment("word ".repeat(4e5))].length > 0

//// T023 copyWithin, set and fill on a large typed array in a loop
//: why: native memory moves
const t = new Uint8Array(2 ** 25); for (;;) t.copyWithin(1, 0);

//// T024 Atomics.wait is not there to sleep with
//: why: a sleep outside our timers would be uncounted
//: layer: realm
//: expect: RUNTIME
//: error: ReferenceError
Atomics.wait(new Int32Array(new ArrayBuffer(8)), 0, 0)

//// A127 Date.now fine timer
//: why: the clock counts whole milliseconds and nothing is finer
//: layer: realm
//: timeout: 2000
//: expect: VALUE
//: value: [true,true,true]
let n=0,t=Date.now();while(Date.now()===t);t=Date.now();while(Date.now()===t)n++;
[Number.isInteger(Date.now()), Number.isInteger(performance.now()), n > 0]

//// A127b the clock when it is fixed
//: why: deterministic calls see no time pass
//: layer: realm
//: timeout: 2000
//: now: 1700000000123
//: expect: VALUE
//: value: [1700000000123,1700000000123,"2023-11-14T22:13:20.123Z",true]
const t = Date.now(); for (let i = 0; i < 1e5; i++);
[t, +new Date(), new Date().toISOString(), Date().includes("2023")]

//// A127c sleep when the clock is fixed
//: why: the time slept is the only time that passes, to the millisecond
//: layer: realm
//: timeout: 2000
//: now: 1700000000123
//: expect: VALUE
//: value: [1700000000128,1700000000128]
await sleep(5); const t = Date.now(); for (let i = 0; i < 1e5; i++); return [t, Date.now()]

//// T025 console.time with a fixed clock
//: why: nor another clock beside it
//: layer: realm
//: timeout: 2000
//: now: 1700000000123
//: expect: VALUE
//: log: x: 0.000ms
console.time("x"); for (let i = 0; i < 1e5; i++); console.timeEnd("x"); 1

//// T026 timers are as coarse as the clock
//: why: counting turns of a zero timer is a clock too, of a millisecond at best
//: layer: realm
//: timeout: 2000
//: expect: VALUE
const t = Date.now(); let n = 0; while (Date.now() < t + 20) { await sleep(0); n++; } return n < 200

// SPDX-License-Identifier: MIT
// What happens later: promises, async functions, timers; and the console.
//: form: function
//: layer: lockdown
//: why: asynchronous code as people write it, with every order as the language has it

//// P001 async and await
//: value: 3
async () => { const f = async (x) => x + 1; return (await f(1)) + (await 1); }

//// P002 Promise.all, allSettled, race, any
//: value: [[1,2],["fulfilled","rejected"],"fast","ok"]
async () => [await Promise.all([1, Promise.resolve(2)]), (await Promise.allSettled([1, Promise.reject(2)])).map((r) => r.status), await Promise.race(["fast", new Promise(() => {})]), await Promise.any([Promise.reject(1), "ok"])]

//// P003 AggregateError of any
//: value: ["AggregateError",[1,2]]
async () => { try { await Promise.any([Promise.reject(1), Promise.reject(2)]); } catch (e) { return [e.name, e.errors]; } }

//// P004 then, catch, finally
//: value: ["then 1","catch boom","finally"]
async () => { const log = []; await Promise.resolve(1).then((x) => log.push(`then ${x}`)); await Promise.reject("boom").catch((e) => log.push(`catch ${e}`)).finally(() => log.push("finally")); return log; }

//// P005 the order of jobs
//: value: ["sync","a","b","c","d"]
async () => { const log = []; const p = Promise.resolve(); p.then(() => log.push("a")).then(() => log.push("c")); p.then(() => log.push("b")).then(() => log.push("d")); log.push("sync"); for (let i = 0; i < 4; i++) await null; return log; }

//// P006 errors through await
//: value: ["caught x","TypeError"]
async () => { const out = []; try { await (async () => { throw new Error("x"); })(); } catch (e) { out.push(`caught ${e.message}`); } try { await (async () => null.x)(); } catch (e) { out.push(e.name); } return out; }

//// P007 Promise.withResolvers
//: value: 7
async () => { const { promise, resolve } = Promise.withResolvers(); resolve(7); return promise; }

//// P008 async generators and for await
//: value: [[0,1,2],[1,2]]
async () => { async function* g(n) { for (let i = 0; i < n; i++) yield i; } const a = []; for await (const x of g(3)) a.push(x); const b = []; for await (const x of [1, Promise.resolve(2)]) b.push(x); return [a, b]; }

//// P009 Array.fromAsync
//: value: [0,2,4]
async () => { async function* g() { yield 0; yield 1; yield 2; } return Array.fromAsync(g(), (x) => x * 2); }

//// P010 an async iterator by hand
//: value: [1,2]
async () => { const it = { [Symbol.asyncIterator]() { let i = 0; return { next: async () => ({ value: ++i, done: i > 2 }) }; } }; const out = []; for await (const x of it) out.push(x); return out; }

//// P011 a thenable
//: value: 5
async () => await { then(resolve) { resolve(5); } }

//// P012 sequential and parallel
//: value: [[1,4,9],[1,4,9]]
async () => { const sq = async (x) => { await null; return x * x; }; const seq = []; for (const x of [1, 2, 3]) seq.push(await sq(x)); return [seq, await Promise.all([1, 2, 3].map(sq))]; }

//// P013 setTimeout in order
//: value: ["b","a","c"]
async () => { const log = []; await new Promise((r) => { setTimeout(() => log.push("a"), 1000); setTimeout(() => log.push("b"), 1); setTimeout(() => { log.push("c"); r(); }, 1001); }); return log; }

//// P014 setTimeout with arguments, and clearTimeout
//: value: [[1,2],"not called"]
async () => { let got, late = "not called"; const id = setTimeout(() => { late = "called"; }, 2); clearTimeout(id); await new Promise((r) => setTimeout((a, b) => { got = [a, b]; r(); }, 5, 1, 2)); return [got, late]; }

//// P015 setInterval
//: value: 3
async () => { let n = 0; await new Promise((r) => { const id = setInterval(() => { if (++n === 3) { clearInterval(id); r(); } }, 1); }); return n; }

//// P016 a timeout by race
//: value: "timed out"
async () => { const slow = new Promise((r) => setTimeout(r, 2000, "slow")); return Promise.race([slow, new Promise((_, j) => setTimeout(() => j(new Error("timed out")), 2))]).catch((e) => e.message); }

//// P017 retry with growing pauses
//: value: ["ok",3]
async () => { let n = 0; const flaky = async () => { if (++n < 3) throw new Error("again"); return "ok"; }; const pause = (ms) => new Promise((r) => setTimeout(r, ms)); const retry = async (f, k) => { for (let i = 0; ; i++) { try { return await f(); } catch (e) { if (i === k) throw e; await pause(1 << i); } } }; return [await retry(flaky, 5), n]; }

//// P018 a pool of two
//: value: [[0,10,20,30],2]
async () => { let now = 0, most = 0; const work = async (x) => { most = Math.max(most, ++now); await new Promise((r) => setTimeout(r, 1)); now--; return x * 10; }; const out = [], jobs = [0, 1, 2, 3].entries(); await Promise.all([0, 1].map(async () => { for (const [i, x] of jobs) out[i] = await work(x); })); return [out, most]; }

//// P019 debounce
//: value: ["last"]
async () => { const out = []; const debounce = (f, ms) => { let id; return (...a) => { clearTimeout(id); id = setTimeout(() => f(...a), ms); }; }; const d = debounce((x) => out.push(x), 3); d("first"); d("second"); d("last"); await new Promise((r) => setTimeout(r, 20)); return out; }

//// P020 a promise that is returned and not awaited
//: value: {"a":[1,2]}
() => Promise.resolve({ a: [1, 2] })

//// P021 own then, catch and constructor on a promise
//: value: ["mine","ctor"]
async () => { const p = Promise.resolve(1); p.then = () => "mine"; p.constructor = "ctor"; return [p.then(), p.constructor]; }

//// P022 console with every level
//: log: "level":"warn","timeMs"
//: value: "done"
() => { console.log("a", 1, { b: [2] }); console.info("i"); console.warn("w"); console.error(new Error("e")); console.debug("d"); return "done"; }

//// P023 console.log of nested values
//: log: { a: 1, b: [ 1, 2 ], c: { d: Map(1) { 'k' => 'v' } } }
//: value: 1
() => { console.log({ a: 1, b: [1, 2], c: { d: new Map([["k", "v"]]) } }); return 1; }

//// P024 console.log with directives
//: log: "text":"x is 5 and {\"a\":1}"
//: value: 1
() => { console.log("%s is %d and %j", "x", 5, { a: 1 }); return 1; }

//// P025 console.table, group, count and assert
//: log: Assertion failed: oops
//: value: 1
() => { console.table([{ a: 1 }]); console.group("g"); console.log("in"); console.groupEnd(); console.count(); console.assert(1 === 2, "oops"); return 1; }

//// P026 console.log handed on
//: log: "text":"1 0 [ 1, 2 ]"
//: value: 2
() => { [1, 2].forEach(console.log); const { log } = console; log("x"); return 2; }

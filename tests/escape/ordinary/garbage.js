// SPDX-License-Identifier: MIT
// Loops that let go of all they make, many times their memory limit in sum. Most of it is
// memory that the engine's collector does not count.
//: form: function
//: layer: memory
//: why: only what is kept may count
//: memory: 24

//// G01 dates as text
//: memory: 64
//: value: 50000
() => { let n = 0; for (let i = 0; i < 50000; i++) n += new Date(i * 36e5).toLocaleDateString("en-US").length > 0; return n; }

//// G02 dates as text, with options
//: value: 1000
() => { let n = 0; for (let i = 0; i < 1000; i++) n += new Date(i * 36e5).toLocaleString("en-US", { timeZone: "America/New_York" }).length > 0; return n; }

//// G03 names sorted as in German
//: value: ["Name 0","Name 9999"]
() => { const a = Array.from({ length: 20000 }, (_, i) => "Name " + ((i * 7919) % 20000)).sort((a, b) => a.localeCompare(b, "de")); return [a[0], a[19999]]; }

//// G04 names sorted by number
//: value: "Name 2"
() => Array.from({ length: 3000 }, (_, i) => "Name " + ((i * 791) % 3000)).sort((a, b) => a.localeCompare(b, "de", { numeric: true }))[2]

//// G05 errors that are caught
//: memory: 16
//: value: 20000
() => { let n = 0; for (let i = 0; i < 20000; i++) try { throw new Error("x" + i); } catch (e) { n++; } return n; }

//// G06 errors of the engine that are caught
//: value: 100000
() => { let n = 0; for (let i = 0; i < 100000; i++) try { null.x; } catch (e) { n++; } return n; }

//// G07 rejections that are awaited and caught
//: value: 100000
async () => { let n = 0; const f = async () => { throw new Error("x"); }; for (let i = 0; i < 100000; i++) try { await f(); } catch (e) { n++; } return n; }

//// G08 rejected promises that are awaited and caught
//: value: 50000
async () => { let n = 0; for (let i = 0; i < 50000; i++) try { await Promise.reject(new Error("x")); } catch (e) { n++; } return n; }

//// G09 short strings
//: value: 30000000
() => { let n = 0; for (let i = 0; i < 3e5; i++) n += "x".repeat(100).length; return n; }

//// G10 padded strings
//: value: 36000000
() => { let n = 0; for (let i = 0; i < 3e5; i++) n += String(i).padStart(120).length; return n; }

//// G11 resizable buffers
//: value: 16000
() => { let n = 0; for (let i = 0; i < 2000; i++) n += new ArrayBuffer(8, { maxByteLength: 16 }).byteLength; return n; }

//// G12 formatters of dates
//: value: 1000
() => { let n = 0; for (let i = 0; i < 1000; i++) n += new Intl.DateTimeFormat("en-US").format(0).length > 0; return n; }

//// G13 formatters of relative times
//: value: 2000
() => { let n = 0; for (let i = 0; i < 2000; i++) n += new Intl.RelativeTimeFormat("en").format(-1, "day") === "1 day ago"; return n; }

//// G14 segmenters
//: value: 8000
() => { let n = 0; for (let i = 0; i < 4000; i++) n += [...new Intl.Segmenter("en").segment("ab")].length; return n; }

//// G15 names of regions
//: value: 5000
() => { let n = 0; for (let i = 0; i < 5000; i++) n += new Intl.DisplayNames("en", { type: "region" }).of("US") === "United States"; return n; }

//// G16 one kind after the other
//: value: 23000
() => { let n = 0; for (let i = 0; i < 500; i++) n += new Intl.DateTimeFormat("en").format(0).length > 0; for (let i = 0; i < 20000; i++) try { throw new Error("x"); } catch { n++; } for (let i = 0; i < 2000; i++) n += [...new Intl.Segmenter("en").segment("a")].length; for (let i = 0; i < 500; i++) n += new Intl.DateTimeFormat("en").format(0).length > 0; return n; }

//// G17 what was kept for a while
//: memory: 64
//: value: 3000
() => { const kept = []; let n = 0; for (let i = 0; i < 3000; i++) n += (kept[i % 200] = new Intl.DateTimeFormat("en")).format(0).length > 0; return n; }

//// G18 regular expressions
//: value: 30000
() => { let n = 0; for (let i = 0; i < 30000; i++) n += new RegExp("a" + i + "[b-d]+").test("a" + i + "bcd"); return n; }

//// G19 large integers
//: memory: 16
//: value: 25
() => { let n = 0n; for (let i = 0n; i < 300000n; i++) n = (i * 12345678901234567890n) ^ n; return String(n).length; }

//// G20 objects that are kept fill the limit, and no gaps between them
//: memory: 16
//: value: 270000
() => { const a = new Array(270000); for (let i = 0; i < 270000; i++) a[i] = { i }; return a.length; }

//// G21 typed arrays of which two fit
//: memory: 32
//: value: 10
() => { let n = 0; for (let i = 0; i < 10; i++) { const b = new Uint8Array(12e6); n += b.length / 12e6; } return n; }

//// G22 arrays of which two fit
//: memory: 32
//: value: 10
() => { let n = 0; for (let i = 0; i < 10; i++) { const b = new Array(1500000).fill(i); n += b.length / 1500000; } return n; }

//// G23 a large block behind small garbage
//: memory: 32
//: value: 18000000
() => { for (let i = 0; i < 20000; i++) try { null.x; } catch {} return new Uint8Array(18e6).length; }

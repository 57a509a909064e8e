// SPDX-License-Identifier: MIT
// Texts, numbers, dates, regular expressions, Intl, binary data.
//: form: function
//: layer: lockdown
//: why: the library of the language, with one locale and one time zone

//// S101 padding, trimming, repeating, slicing
//: value: ["005","ab--","x","abab","bc","c"]
() => ["5".padStart(3, "0"), "ab".padEnd(4, "-"), "  x ".trim(), "ab".repeat(2), "abc".slice(1), "abc".at(-1)]

//// S102 split, join, replace, replaceAll
//: value: [["a","b","c"],"a-b","xbc","x.x","$1,234.50"]
() => ["a,b,c".split(","), ["a", "b"].join("-"), "abc".replace("a", "x"), "a.a".replaceAll("a", "x"), "$" + (1234.5).toFixed(2).replace(/\B(?=(\d{3})+(?!\d))/g, ",")]

//// S103 cases and titles
//: value: ["Hello World","helloWorld","hello-world","HELLO"]
() => ["hello world".replace(/\b\w/g, (c) => c.toUpperCase()), "hello world".replace(/ (\w)/g, (_, c) => c.toUpperCase()), "helloWorld".replace(/[A-Z]/g, (c) => "-" + c.toLowerCase()), "hello".toUpperCase()]

//// S104 startsWith, endsWith, includes, indexOf, codePointAt, fromCodePoint
//: value: [true,true,true,1,128512,"😀"]
() => ["abc".startsWith("a"), "abc".endsWith("c"), "abc".includes("b"), "abc".indexOf("b"), "😀".codePointAt(0), String.fromCodePoint(128512)]

//// S105 characters beyond one unit
//: value: [2,1,["😀","é"],"é",true]
() => ["😀".length, [..."😀"].length, [..."😀é"], "e\u0301".normalize("NFC"), "\ud83d\ude00".isWellFormed?.() ?? true]

//// S106 regular expressions: groups, names, flags
//: value: ["2024","03",["1","22"],["a1","b2"],true]
() => { const { y, m } = /(?<y>\d{4})-(?<m>\d\d)/.exec("on 2024-03-01").groups; return [y, m, "a1b22".match(/\d+/g), [..."a1 b2".matchAll(/\w\d/g)].map((x) => x[0]), /^a.c$/s.test("a\nc")]; }

//// S107 regular expressions: lookaround, unicode, sticky, indices
//: value: ["100","Ж",[2,4],3]
() => { const s = /b/y; s.lastIndex = 2; s.test("aab"); return [/(?<=\$)\d+/.exec("$100")[0], /\p{Script=Cyrillic}/u.exec("aЖ")[0], /bb/d.exec("aabb").indices[0], s.lastIndex]; }

//// S108 regular expressions: replace with a function and names
//: value: ["2/1","<b>","aXc","a-b-c"]
() => ["1/2".replace(/(?<a>\d)\/(?<b>\d)/, "$<b>/$<a>"), "b".replace(/b/, "<$&>"), "abc".replace(/b/, () => "X"), "a b  c".split(/\s+/).join("-")]

//// S109 regular expressions: the v flag and exec in a loop
//: value: [true,["1@0","22@2"]]
() => { const re = /\d+/g; const out = []; let m; while ((m = re.exec("1 22")) !== null) out.push(`${m[0]}@${m.index}`); return [/^[\p{L}--[a-z]]$/v.test("Q"), out]; }

//// S110 e-mail, URL and UUID patterns
//: value: [true,false,["https","example.com","/a/b","q=1"],true]
() => [/^[^@\s]+@[^@\s]+\.[a-z]{2,}$/i.test("a.b@c.org"), /^[^@\s]+@[^@\s]+\.[a-z]{2,}$/i.test("nope"), /^(\w+):\/\/([^/]+)(\/[^?]*)\?(.*)$/.exec("https://example.com/a/b?q=1").slice(1), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test("123e4567-e89b-12d3-a456-426614174000")]

//// S111 numbers: parsing and formatting
//: value: [42,255,3.14,"ff","1.50","1.23e+5","12.3",0.1,true]
() => [parseInt("42px", 10), parseInt("ff", 16), parseFloat("3.14abc"), (255).toString(16), (1.5).toFixed(2), (123456).toExponential(2), (12.345).toPrecision(3), +(0.1).toFixed(1), Number.isInteger(5)]

//// S112 Math
//: value: [3,2,-3,4,5,1,8,2,0.5,[1,-1]]
() => [Math.max(1, 3, 2), Math.floor(2.9), Math.ceil(-3.5), Math.round(3.5), Math.hypot(3, 4), Math.sign(9), Math.pow(2, 3), Math.log2(4), Math.abs(-0.5), [Math.sign(2), Math.sign(-2)]]

//// S113 Math.trunc, clz32, fround, imul, sqrt, log10, atan2
//: value: [-2,31,5.5,6,3,3,0]
() => [Math.trunc(-2.7), Math.clz32(1), Math.fround(5.5), Math.imul(2, 3), Math.sqrt(9), Math.log10(1000), Math.atan2(0, 1)]

//// S114 BigInt arithmetic given as text
//: value: ["1267650600228229401496703205376","3","123456789012345678901234567890","93326215443944152681699238856266700490715968264381621468592963895217599993229915608941463976156518286253697920827223758251185210916864000000000000000000000000",true]
() => { let f = 1n; for (let i = 2n; i <= 100n; i++) f *= i; return [(2n ** 100n).toString(), String(10n / 3n), BigInt("123456789012345678901234567890").toString(), f.toString(), 10n > 9]; }

//// S115 BigInt: asIntN, mixing refused, conversions
//: value: ["-1","TypeError",42,"2a"]
() => { let n; try { 1n + 1; } catch (e) { n = e.name; } return [BigInt.asIntN(8, 255n).toString(), n, Number(42n), (42n).toString(16)]; }

//// S116 bits, hexadecimal, octal and binary literals, separators
//: value: [1,7,6,-6,10,255,8,5,1000000]
() => [5 & 3, 5 | 3, 5 ^ 3, ~5, 5 << 1, 0xff, 0o10, 0b101, 1_000_000]

//// S117 dates: parts, arithmetic and ISO
//: value: ["2024-03-01T00:00:00.000Z",5,29,"2024-02-29","2025-01-01T00:00:00.000Z"]
() => { const d = new Date(Date.UTC(2024, 1, 29)); const next = new Date(d); next.setUTCDate(next.getUTCDate() + 1); return [next.toISOString(), next.getUTCDay(), d.getUTCDate(), d.toISOString().slice(0, 10), new Date(2024, 12, 1).toISOString()]; }

//// S118 dates: differences, parsing, invalid
//: value: [31,1709251200000,true,"RangeError",null]
() => { let n; try { new Date("nope").toISOString(); } catch (e) { n = e.name; } return [(new Date("2024-02-01") - new Date("2024-01-01")) / 864e5, Date.parse("2024-03-01T00:00:00Z"), Number.isNaN(new Date("nope").getTime()), n, JSON.parse(JSON.stringify({ d: new Date("nope") })).d]; }

//// S119 dates: group by month
//: value: {"2024-01":2,"2024-02":1}
() => ["2024-01-05", "2024-01-31", "2024-02-01"].map((s) => new Date(s)).reduce((a, d) => { const k = `${d.getFullYear()}-${String(d.getMonth() + 1).padStart(2, "0")}`; a[k] = (a[k] || 0) + 1; return a; }, {})

//// S120 dates: own methods on an instance
//: value: ["mine",0]
() => { const d = new Date(0); d.toString = () => "mine"; d.label = 1; return [String(d), d.getTime()]; }

//// S121 toLocaleString of numbers and dates
//: value: ["1,234.5","12%","$1,234.50","1/2/2024"]
() => [(1234.5).toLocaleString("en-US"), (0.12).toLocaleString("en-US", { style: "percent" }), (1234.5).toLocaleString("en-US", { style: "currency", currency: "USD" }), new Date(Date.UTC(2024, 0, 2)).toLocaleDateString("en-US", { timeZone: "UTC" })]

//// S122 Intl.NumberFormat in other languages
//: value: ["1.234,5","1.5K","5 km"]
() => [new Intl.NumberFormat("de-DE").format(1234.5), new Intl.NumberFormat("en", { notation: "compact" }).format(1500), new Intl.NumberFormat("en", { style: "unit", unit: "kilometer" }).format(5)]

//// S123 Intl.DateTimeFormat in other zones
//: value: ["01/02/2024","09:30","Tuesday, January 2, 2024"]
() => [new Intl.DateTimeFormat("en-US", { year: "numeric", month: "2-digit", day: "2-digit", timeZone: "UTC" }).format(Date.UTC(2024, 0, 2)), new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: "Asia/Tokyo" }).format(Date.UTC(2024, 0, 2, 0, 30)), new Intl.DateTimeFormat("en-US", { dateStyle: "full", timeZone: "UTC" }).format(Date.UTC(2024, 0, 2))]

//// S124 Intl: plurals, lists, relative time, names
//: value: ["one","other","a, b, and c","in 3 days","yesterday","Germany"]
() => [new Intl.PluralRules("en").select(1), new Intl.PluralRules("en").select(2), new Intl.ListFormat("en").format(["a", "b", "c"]), new Intl.RelativeTimeFormat("en").format(3, "day"), new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-1, "day"), new Intl.DisplayNames("en", { type: "region" }).of("DE")]

//// S125 Intl.Collator and localeCompare
//: value: [["a2","a10"],["a","ä","z"],["ä","a"],0]
() => [["a10", "a2"].sort(new Intl.Collator("en", { numeric: true }).compare), ["z", "ä", "a"].sort(new Intl.Collator("de").compare), ["ä", "a"].sort((x, y) => 0), "a".localeCompare("A", "en", { sensitivity: "base" })]

//// S126 Intl.Segmenter
//: value: [["Hello"," ","world"],2]
() => [[...new Intl.Segmenter("en", { granularity: "word" }).segment("Hello world")].map((s) => s.segment), [...new Intl.Segmenter("en").segment("👨‍👩‍👧x")].length]

//// S127 URI functions
//: value: ["a%20b%26c","a b&c","a%20b&c","URIError"]
() => { let n; try { decodeURIComponent("%"); } catch (e) { n = e.name; } return [encodeURIComponent("a b&c"), decodeURIComponent("a%20b%26c"), encodeURI("a b&c"), n]; }

//// S128 a query string, both ways
//: value: ["a=1&b=x%20y",{"a":"1","b":"x y"}]
() => { const q = Object.entries({ a: 1, b: "x y" }).map(([k, v]) => `${k}=${encodeURIComponent(v)}`).join("&"); return [q, Object.fromEntries(q.split("&").map((p) => p.split("=").map(decodeURIComponent)))]; }

//// S129 typed arrays
//: value: [[1,2,255],[0,1],6,[2,4,6],true]
() => { const u = new Uint8Array([1, 2, 255]); const i = Int8Array.from([0, 1]); return [[...u], Array.from(i), new Uint16Array(3).byteLength, [...new Float32Array([1, 2, 3]).map((x) => x * 2)], u.buffer instanceof ArrayBuffer]; }

//// S130 DataView and byte order
//: value: [258,513,-1,1.5]
() => { const v = new DataView(new ArrayBuffer(16)); v.setUint16(0, 258); v.setInt8(4, -1); v.setFloat32(8, 1.5); return [v.getUint16(0), v.getUint16(0, true), v.getInt8(4), v.getFloat32(8)]; }

//// S131 base64 by hand
//: value: ["aGVsbG8=","hello"]
() => { const A = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"; const enc = (s) => { let o = ""; for (let i = 0; i < s.length; i += 3) { const n = (s.charCodeAt(i) << 16) | ((s.charCodeAt(i + 1) || 0) << 8) | (s.charCodeAt(i + 2) || 0); o += A[n >> 18] + A[(n >> 12) & 63] + (i + 1 < s.length ? A[(n >> 6) & 63] : "=") + (i + 2 < s.length ? A[n & 63] : "="); } return o; }; const dec = (s) => { let o = "", b = 0, k = 0; for (const c of s.replace(/=+$/, "")) { b = (b << 6) | A.indexOf(c); k += 6; if (k >= 8) { k -= 8; o += String.fromCharCode((b >> k) & 255); } } return o; }; return [enc("hello"), dec("aGVsbG8=")]; }

//// S132 a hash by hand
//: value: "89340d1e"
() => { let h = 0x811c9dc5; for (const c of "abc!") { h ^= c.charCodeAt(0); h = Math.imul(h, 0x01000193) >>> 0; } return h.toString(16); }

//// S133 levenshtein
//: value: 3
() => { const d = (a, b) => { const r = Array.from({ length: b.length + 1 }, (_, i) => i); for (let i = 1; i <= a.length; i++) { let p = r[0]; r[0] = i; for (let j = 1; j <= b.length; j++) { const t = r[j]; r[j] = a[i - 1] === b[j - 1] ? p : 1 + Math.min(p, r[j], r[j - 1]); p = t; } } return r[b.length]; }; return d("kitten", "sitting"); }

//// S134 a template of a report
//: value: "# Sales\n- Ann: 3\n- Bob: 5\nTotal: 8"
() => { const rows = [["Ann", 3], ["Bob", 5]]; return `# Sales\n${rows.map(([n, v]) => `- ${n}: ${v}`).join("\n")}\nTotal: ${rows.reduce((s, [, v]) => s + v, 0)}`; }

//// S135 parsing CSV with quotes
//: value: [["a","b,c","d\"e"],["1","2","3"]]
() => "a,\"b,c\",\"d\"\"e\"\n1,2,3".split("\n").map((l) => [...l.matchAll(/("([^"]|"")*"|[^,]*)(,|$)/g)].slice(0, 3).map((m) => m[1].startsWith('"') ? m[1].slice(1, -1).replaceAll('""', '"') : m[1]))

//// S136 a tokenizer and an evaluator
//: value: [14,20,-1]
() => { const calc = (s) => { const t = s.match(/\d+|[-+*/()]/g); let i = 0; const f = () => { if (t[i] === "(") { i++; const v = e(); i++; return v; } return Number(t[i++]); }; const m = () => { let v = f(); while (t[i] === "*" || t[i] === "/") v = t[i++] === "*" ? v * f() : v / f(); return v; }; const e = () => { let v = m(); while (t[i] === "+" || t[i] === "-") v = t[i++] === "+" ? v + m() : v - m(); return v; }; return e(); }; return [calc("2+3*4"), calc("(2+3)*4"), calc("1-2")]; }

//// S137 the words that a check could stumble over, in texts and names
//: value: {"eval":"eval('1')","process":"process.env","require":["require('fs')","import x from 'y'"],"Function":"new Function"}
() => ({ eval: "eval('1')", process: `process${"."}env`, require: ["require('fs')", "import x from 'y'"], "Function": "new Function" })

//// S138 variables named like what is off
//: value: [3,"p",["f"]]
() => { const process = { env: 3 }; const fetch = () => "p"; const require = (x) => [x]; return [process.env, fetch(), require("f")]; }

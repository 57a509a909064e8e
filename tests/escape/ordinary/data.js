// SPDX-License-Identifier: MIT
// Ordinary code over records: filter, group, aggregate, sort, reshape.
//: form: function
//: layer: lockdown
//: why: what people write every day must work as everywhere
//: input: [{"id":1,"name":"Ann","team":"red","age":31,"tags":["a","b"],"pay":1200.5},{"id":2,"name":"Bob","team":"blue","age":25,"tags":[],"pay":900},{"id":3,"name":"Cy","team":"red","age":47,"tags":["b"],"pay":2100.25},{"id":4,"name":"Dee","team":"green","age":25,"tags":["c","a"],"pay":null}]

//// D001 filter and map
//: value: ["Ann","Cy"]
(data) => data.filter((p) => p.age > 30).map((p) => p.name)

//// D002 reduce to a sum
//: value: 4200.75
(data) => data.reduce((sum, p) => sum + (p.pay ?? 0), 0)

//// D003 group by reduce
//: value: {"red":["Ann","Cy"],"blue":["Bob"],"green":["Dee"]}
(data) => data.reduce((acc, p) => { (acc[p.team] ||= []).push(p.name); return acc; }, {})

//// D004 Object.groupBy
//: value: {"red":2,"blue":1,"green":1}
(data) => Object.fromEntries(Object.entries(Object.groupBy(data, (p) => p.team)).map(([k, v]) => [k, v.length]))

//// D005 Map.groupBy
//: value: [[false,2],[true,2]]
(data) => [...Map.groupBy(data, (p) => p.age > 30)].map(([k, v]) => [k, v.length]).sort((a, b) => a[0] - b[0])

//// D006 sort with a comparator of several keys
//: value: ["Bob","Dee","Ann","Cy"]
(data) => [...data].sort((a, b) => a.age - b.age || a.name.localeCompare(b.name)).map((p) => p.name)

//// D007 toSorted, toReversed, with, toSpliced
//: value: [[1,2,3],[2,1,3],[3,9,2],[3,2],[3,1,2]]
() => { const a = [3, 1, 2]; return [a.toSorted(), a.toReversed(), a.with(1, 9), a.toSpliced(1, 1), a]; }

//// D008 at, findLast, findLastIndex
//: value: ["Dee","Cy",3]
(data) => [data.at(-1).name, data.findLast((p) => p.team === "red").name, data.findLastIndex((p) => p.tags.length > 0)]

//// D009 flatMap and a Set of unique values
//: value: ["a","b","c"]
(data) => [...new Set(data.flatMap((p) => p.tags))].sort()

//// D010 count by a Map
//: value: {"a":2,"b":2,"c":1}
(data) => { const m = new Map(); for (const p of data) for (const t of p.tags) m.set(t, (m.get(t) ?? 0) + 1); return Object.fromEntries([...m].sort()); }

//// D011 destructuring with defaults and rest
//: value: [{"name":"Ann","rest":["id","team","age","tags"],"pay":1200.5},{"name":"Dee","rest":["id","team","age","tags"],"pay":null}]
(data) => [data[0], data[3]].map(({ name, pay = 0, ...rest }) => ({ name, rest: Object.keys(rest), pay }))

//// D012 nested optional chaining
//: value: ["none","a",0]
(data) => [data[9]?.name ?? "none", data[0]?.tags?.[0], data[1].tags?.length]

//// D013 min, max, mean, median
//: value: [25,47,32,28]
(data) => { const ages = data.map((p) => p.age).sort((a, b) => a - b); const m = ages.length / 2; return [Math.min(...ages), Math.max(...ages), ages.reduce((a, b) => a + b) / ages.length, (ages[m - 1] + ages[m]) / 2]; }

//// D014 join of two lists
//: value: [{"name":"Ann","city":"Ulm"},{"name":"Cy","city":"Bonn"}]
(data) => { const cities = { 1: "Ulm", 3: "Bonn" }; return data.filter((p) => p.id in cities).map(({ id, name }) => ({ name, city: cities[id] })); }

//// D015 pivot
//: value: {"red":{"n":2,"pay":3300.75},"blue":{"n":1,"pay":900},"green":{"n":1,"pay":0}}
(data) => { const out = {}; data.forEach((p) => { const row = out[p.team] ?? (out[p.team] = { n: 0, pay: 0 }); row.n++; row.pay += p.pay || 0; }); return out; }

//// D016 pagination
//: value: {"page":2,"pages":2,"items":[3,4]}
(data) => { const size = 2, page = 2; return { page, pages: Math.ceil(data.length / size), items: data.slice((page - 1) * size, page * size).map((p) => p.id) }; }

//// D017 deep clone and change
//: value: ["Ann","Zoe"]
(data) => { const copy = JSON.parse(JSON.stringify(data)); copy[0].name = "Zoe"; return [data[0].name, copy[0].name]; }

//// D018 spread, merge, delete
//: value: {"id":1,"name":"Ann","team":"gold","age":31,"pay":1200.5,"extra":true}
(data) => { const p = { ...data[0], team: "gold", extra: true }; delete p.tags; return p; }

//// D019 CSV
//: value: "id,name,pay\n1,Ann,1200.5\n2,Bob,900\n3,Cy,2100.25\n4,Dee,"
(data) => ["id,name,pay", ...data.map((p) => [p.id, p.name, p.pay].join(","))].join("\n")

//// D020 running totals
//: value: [1,3,6,10]
(data) => { let sum = 0; return data.map((p) => (sum += p.id)); }

//// D021 entries, keys, values
//: value: [[0,"a"],[1,"b"],["x"],[1]]
() => [...["a", "b"].entries(), Object.keys({ x: 1 }), Object.values({ x: 1 })]

//// D022 Array.from with a mapping, fill, keys
//: value: [[0,1,4,9],[0,0,0],[0,1,2]]
() => [Array.from({ length: 4 }, (_, i) => i * i), new Array(3).fill(0), [...Array(3).keys()]]

//// D023 some, every, includes, indexOf, find
//: value: [true,false,true,1,"Bob"]
(data) => [data.some((p) => p.pay === null), data.every((p) => p.tags.length), data.map((p) => p.team).includes("blue"), data.map((p) => p.id).indexOf(2), data.find((p) => p.age < 30).name]

//// D024 chunk, zip, range
//: value: [[[1,2],[3]],[[1,"a"],[2,"b"]],[5,7,9]]
() => { const chunk = (a, n) => a.length ? [a.slice(0, n), ...chunk(a.slice(n), n)] : []; const zip = (a, b) => a.map((x, i) => [x, b[i]]); const range = (f, t, s) => Array.from({ length: Math.ceil((t - f) / s) }, (_, i) => f + i * s); return [chunk([1, 2, 3], 2), zip([1, 2], ["a", "b"]), range(5, 10, 2)]; }

//// D025 flat, copyWithin, splice, lastIndexOf
//: value: [[1,2,3,[4]],[3,2,3],[2],[1,3],2]
() => { const a = [1, 2, 3]; const removed = a.splice(1, 1); return [[1, [2, [3, [4]]]].flat(2), [1, 2, 3].copyWithin(0, 2), removed, a, [1, 2, 1].lastIndexOf(1)]; }

//// D026 sort of numbers, texts and mixed case
//: value: [[1,10,2],[1,2,10],["a","B","c"],["B","a","c"]]
() => [[10, 1, 2].sort(), [10, 1, 2].sort((a, b) => a - b), ["c", "B", "a"].sort((a, b) => a.localeCompare(b)), ["c", "B", "a"].sort()]

//// D027 a stable sort of 1,000
//: value: true
() => { const a = Array.from({ length: 1000 }, (_, i) => ({ k: i % 10, i })); a.sort((x, y) => x.k - y.k); return a.every((x, i) => i === 0 || a[i - 1].k < x.k || a[i - 1].i < x.i); }

//// D028 Set methods
//: value: [[1,2,3,4],[2,3],[1],[1,4],true,false,true]
() => { const a = new Set([1, 2, 3]), b = new Set([2, 3, 4]); return [[...a.union(b)], [...a.intersection(b)], [...a.difference(b)], [...a.symmetricDifference(b)], new Set([2]).isSubsetOf(a), a.isSupersetOf(b), a.isDisjointFrom(new Set([9]))]; }

//// D029 iterator helpers
//: value: [[4,16],10,[1,2],true,[2,3]]
() => [[1, 2, 3, 4].values().filter((x) => x % 2 === 0).map((x) => x * x).toArray(), [1, 2, 3, 4].values().reduce((a, b) => a + b), [1, 2, 3].values().take(2).toArray(), [1, 2].values().some((x) => x > 1), [...[1, 2, 3].values().drop(1)]]

//// D030 iterator helpers over a generator
//: value: [[0,2,4],[[0,"a"],[1,"b"]]]
() => { function* nat() { for (let i = 0; ; i++) yield i; } return [nat().filter((x) => x % 2 === 0).take(3).toArray(), Iterator.from(["a", "b"]).map((x, i) => [i, x]).toArray()]; }

//// D031 an object as a map with odd keys
//: value: {"toString":1,"constructor":2,"valueOf":3,"hasOwnProperty":4}
() => { const counts = {}; for (const w of ["toString", "constructor", "valueOf", "hasOwnProperty"]) counts[w] = Object.keys(counts).length + 1; return counts; }

//// D032 counting words, with the names of methods among them
//: value: {"constructor":2,"map":1,"toString":1}
() => { const counts = Object.create(null); for (const w of "constructor map constructor toString".split(" ")) counts[w] = (counts[w] ?? 0) + 1; return counts; }

//// D033 hasOwn and hasOwnProperty
//: value: [true,false,true,false]
() => { const o = { a: 1 }; return [Object.hasOwn(o, "a"), Object.hasOwn(o, "toString"), o.hasOwnProperty("a"), Object.prototype.hasOwnProperty.call(o, "b")]; }

//// D034 a tree from a list, and back
//: value: {"tree":{"id":1,"kids":[{"id":2,"kids":[{"id":4,"kids":[]}]},{"id":3,"kids":[]}]},"flat":[1,2,4,3]}
() => { const rows = [[1, 0], [2, 1], [3, 1], [4, 2]]; const build = (p) => rows.filter((r) => r[1] === p).map(([id]) => ({ id, kids: build(id) })); const tree = build(0)[0]; const flat = (n) => [n.id, ...n.kids.flatMap(flat)]; return { tree, flat: flat(tree) }; }

//// D035 memoise with a Map
//: value: 354224848179262000000
() => { const memo = new Map(); const fib = (n) => n < 2 ? n : memo.get(n) ?? (memo.set(n, fib(n - 1) + fib(n - 2)), memo.get(n)); return fib(100); }

//// D036 a graph by breadth first
//: value: ["a","b","c","d"]
() => { const g = { a: ["b", "c"], b: ["d"], c: ["d"], d: [] }; const seen = new Set(["a"]); for (const n of seen) g[n].forEach((m) => seen.add(m)); return [...seen]; }

//// D037 matrices
//: value: [[19,22],[43,50]]
() => { const mul = (a, b) => a.map((r) => b[0].map((_, j) => r.reduce((s, x, k) => s + x * b[k][j], 0))); return mul([[1, 2], [3, 4]], [[5, 6], [7, 8]]); }

//// D038 ten thousand records
//: value: [10000,3333,"r9999"]
() => { const rows = Array.from({ length: 1e4 }, (_, i) => ({ id: `r${i}`, v: i % 3 })); return [rows.length, rows.filter((r) => r.v === 1).length, rows.at(-1).id]; }

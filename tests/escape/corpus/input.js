// SPDX-License-Identifier: MIT
// Input and bindings as attacks: text that is not JSON, or is JSON of an odd kind. It is
// parsed in the worker, before the code runs, by the engine's own parser.
//: form: function
//: layer: realm
//: expect: INVALID_DATA

//// D101 an object literal of JavaScript
//: why: JSON is not JavaScript: keys have quotes
//: input: {a:1}
(d) => d

//// D102 code as input
//: why: input is never evaluated
//: input: (() => { globalThis.hit = 1; return 1; })()
(d) => [d, globalThis.hit]

//// D103 two values
//: why: what follows the first is not ignored
//: input: 1 2
(d) => d

//// D104 a trailing comma
//: why: strict JSON
//: input: [1,2,]
(d) => d

//// D105 a comment
//: why: strict JSON
//: input: [1] // one
(d) => d

//// D106 NaN and Infinity
//: why: strict JSON
//: input: [NaN,Infinity]
(d) => d

//// D107 single quotes
//: why: strict JSON
//: input: ['a']
(d) => d

//// D108 an unfinished text
//: why: the end is no place to guess
//: input: {"a":"b
(d) => d

//// D109 a hexadecimal number
//: why: strict JSON
//: input: 0x10
(d) => d

//// D110 leading zeros
//: why: strict JSON
//: input: 010
(d) => d

//// D111 a bad escape
//: why: strict JSON
//: input: "\x41"
(d) => d

//// D113 the end of our own message
//: why: the input is counted, not delimited
//: input: null}{"form":3,"code":"evil"}
(d) => d

//// D114 the same key twice
//: why: the last one counts, as everywhere
//: input: {"a":1,"a":2}
//: expect: VALUE
//: value: {"a":2}
(d) => d

//// D115 numbers too large and too long
//: why: numbers are doubles; nothing is refused, nothing crashes
//: input: [1e400,-1e400,123456789012345678901234567890,0.1000000000000000055511151231257827,-0]
//: expect: VALUE
//: value: [null,null,1.2345678901234568e+29,0.1,0]
(d) => d

//// D116 unpaired surrogates
//: why: legal in JSON's escapes
//: input: ["\ud800","\udc00\ud800"]
//: expect: VALUE
//: value: ["\ud800","\udc00\ud800"]
(d) => d

//// D117 NUL in a text
//: why: the text must not end there
//: input: ["a\u0000b"]
//: expect: VALUE
//: value: 3
(d) => d[0].length

//// D118 keys named like methods
//: why: keys are keys
//: input: {"toString":1,"valueOf":2,"then":3,"toJSON":4,"constructor":5,"hasOwnProperty":6,"length":7}
//: expect: VALUE
//: value: {"toString":1,"valueOf":2,"then":3,"toJSON":4,"constructor":5,"hasOwnProperty":6,"length":7}
(d) => d

//// D119 a key __proto__ that is copied
//: why: spread and assign differ; neither reaches Object.prototype
//: input: {"__proto__":{"admin":true}}
//: expect: VALUE
//: value: ["undefined","undefined",true,["__proto__"]]
(d) => { const spread = { ...d }; const assigned = Object.assign({}, d); return [typeof ({}).admin, typeof spread.admin, assigned.admin, Object.keys(spread)]; }

//// D120 white space before
//: why: legal
//: input:  	[1]
//: expect: VALUE
//: value: [1]
(d) => d

//// D121 U+2028 in a text
//: why: legal in JSON and in JavaScript
//: input: ["a b"]
//: expect: VALUE
//: value: 3
(d) => d[0].length

//// D122 bindings that are a list
//: why: bindings are an object
//: form: body
//: bindings: [1]
return 1

//// D123 bindings that are null
//: why: as above
//: form: body
//: bindings: null
return 1

//// D124 bindings that are not JSON
//: why: as above
//: form: body
//: bindings: {a:1}
return 1

//// D125 bindings with getters in mind
//: why: values are data; nothing of them is called
//: form: body
//: bindings: {"get":{"value":1},"set":null,"a":{"toJSON":"x","then":"y"}}
//: expect: VALUE
//: value: [{"value":1},null,{"toJSON":"x","then":"y"}]
return [get, set, a]

//// D126 the input replaced by the code
//: why: what the code does to its names is its own affair
//: form: function
//: input: [1]
//: expect: VALUE
//: value: ["mine",[1]]
(d) => { const kept = d; d = "mine"; return [d, kept]; }

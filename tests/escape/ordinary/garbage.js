// SPDX-License-Identifier: MIT
// Loops that let go of all they make, many times their memory limit in sum. Most of it is
// memory that the engine's collector does not count.
//: form: function
//: layer: memory
//: why: only what is kept may count
//: memory: 24

//// G20 objects that are kept fill the limit, and no gaps between them
//: memory: 16
//: value: 270000
() => { const a = new Array(270000); for (let i = 0; i < 270000; i++) a[i] = { i }; return a.length; }

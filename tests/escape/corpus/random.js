// SPDX-License-Identifier: MIT
// Randomness, clock and place: workers are forks of one template, and must not share
// what should differ nor show what is the host's.
//: form: script
//: layer: realm
//: expect: VALUE

//// N001 Math.random differs between calls
//: why: every fork inherits the same state of the engine's generator
[Math.random(), Math.random(), Math.random()]
//: then: the next call has other numbers
//: next: other
[Math.random(), Math.random(), Math.random()]
//: then: and the one after that
//: next: other
[Math.random(), Math.random(), Math.random()]

//// N002 the same seed gives the same numbers
//: why: deterministic calls can be repeated
//: seed: 42
Array.from({ length: 20 }, () => Math.random())
//: then: again
//: seed: 42
//: next: same
Array.from({ length: 20 }, () => Math.random())
//: then: another seed gives others
//: seed: 43
//: next: other
Array.from({ length: 20 }, () => Math.random())

//// N003 seed zero
//: why: a generator of zeros alone would stay at zero
//: seed: 0
//: value: [true,true]
const a = Array.from({ length: 1000 }, () => Math.random());
[new Set(a).size > 990, a.every((x) => x >= 0 && x < 1)]

//// N004 the greatest seed
//: why: 64 bits are taken as they are
//: seed: 18446744073709551615
//: value: true
new Set(Array.from({ length: 1000 }, () => Math.random())).size > 990

//// N005 Math.random's numbers are spread
//: why: a poor generator is guessed
//: value: [true,true]
let low = 0, sum = 0; for (let i = 0; i < 1e5; i++) { const x = Math.random(); low += x < 0.5 ? 1 : 0; sum += x; }
[Math.abs(low - 5e4) < 2000, Math.abs(sum / 1e5 - 0.5) < 0.01]

//// N006 the state of the generator is out of reach
//: why: it is in memory shared between C and our closure
//: value: []
Reflect.ownKeys(Math.random).filter((k) => !["length", "name"].includes(k))

//// N007 Math.random under other names
//: why: as new, bound and with arguments
//: value: ["TypeError",true,true]
let name; try { new Math.random(); } catch (e) { name = e.name; }
[name, Math.random.call(null, 5) < 1, Math.random.bind(0)() < 1]

//// N008 the engine's own generator does not show elsewhere
//: why: other users of it: sort, shuffles, hash orders
//: seed: 1
[...new Set("hello world")].sort(() => Math.random() - 0.5).join("")
//: then: the same again
//: seed: 1
//: next: same
[...new Set("hello world")].sort(() => Math.random() - 0.5).join("")

//// N009 dates with a fixed clock
//: why: every way to the time goes through the one clock
//: now: 0
//: value: [0,0,"1970-01-01T00:00:00.000Z",1970,"1/1/1970, 12:00:00 AM"]
[Date.now(), new Date().getTime(), new Date().toJSON(), new Date().getFullYear(), new Date().toLocaleString().replace("\u202f", " ")]

//// N010 Intl with a fixed clock
//: why: format() without an argument asks the time by itself
//: now: 0
//: value: ["1/1/1970","1/1/1970"]
[new Intl.DateTimeFormat("en").format(), new Intl.DateTimeFormat("en").format(undefined)]

//// N011 the clock is not behind nor fixed by itself
//: why: a template's time frozen in its forks would be hours old
//: value: [true,true]
const t = Date.now(); while (Date.now() < t + 3); [Date.now() > t, t > 1600000000000]

//// L001 the time zone
//: why: UTC, whatever TZ of the host says, in summer and winter
//: value: ["UTC",0,0,0]
[Intl.DateTimeFormat().resolvedOptions().timeZone, ...[0, 1e12, 1.75e12].map((t) => new Date(t).getTimezoneOffset())]

//// L002 dates as text
//: why: toString uses the zone's name
//: value: "Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)"
String(new Date(0))

//// L003 local time
//: why: the parts of a date are those of UTC
//: value: ["2020-06-01T00:00:00.000Z",0,5]
[new Date(2020, 5, 1).toISOString(), new Date(2020, 5, 1).getUTCHours(), new Date(2020, 5, 1).getMonth()]

//// L004 default locales
//: why: en-US, whatever LANG of the host says
//: value: ["en-US","en-US","en-US","en-US","en-US"]
[Intl.DateTimeFormat, Intl.NumberFormat, Intl.Collator, Intl.PluralRules, Intl.ListFormat].map((F) => new F().resolvedOptions().locale)

//// L005 numbers and letters in the default locale
//: why: a Turkish host would make another letter of I
//: value: ["1,234.5","i","I","12/31/1999"]
[(1234.5).toLocaleString(), "I".toLocaleLowerCase(), "i".toLocaleUpperCase(), new Date(Date.UTC(1999, 11, 31)).toLocaleDateString()]

//// L006 sorting in the default locale
//: why: as above
//: value: ["a","ä","b","z"]
["z", "ä", "b", "a"].sort((a, b) => a.localeCompare(b))

//// L007 currency, units and calendars are not the host's
//: why: as above
//: value: ["gregory","latn","h12"]
const o = new Intl.DateTimeFormat(undefined, { hour: "numeric" }).resolvedOptions(); [o.calendar, o.numberingSystem, o.hourCycle]

//// L008 Temporal's idea of now
//: why: switched off, or of the same clock and zone
//: value: "undefined"
typeof Temporal

//// L009 names of the machine
//: why: nothing says where this runs
//: value: []
["hostname", "navigator", "os", "platform", "arch", "env", "argv", "pid", "cwd", "location", "origin", "__filename"].filter((n) => n in globalThis)

//// L010 the environment
//: why: no object holds it
//: value: []
const seen = new Set(), found = [];
(function walk(o, path) {
  if ((typeof o !== "object" && typeof o !== "function") || o === null || seen.has(o)) return;
  seen.add(o);
  for (const key of Reflect.ownKeys(o)) {
    const d = Object.getOwnPropertyDescriptor(o, key);
    if (typeof d.value === "string" && /(^|[^a-z])(\/usr|\/home|\/tmp|\/root|\/work|Kathmandu|de_DE|tr_TR)/.test(d.value)) found.push(`${path}.${String(key)}`);
    walk(d.value, `${path}.${String(key)}`);
  }
  walk(Object.getPrototypeOf(o), `${path}.__proto__`);
})(globalThis, "globalThis");
found

/* SPDX-License-Identifier: MIT */
/*
 * result - turns the code's value into JSON, and a promise into its value.
 *
 * The engine's own JSON.stringify does the work. What it would silently lose (a Map
 * becomes {}) is caught by hidden toJSON accessors, which do nothing until the worker
 * sets the flag `control[0]`: to 1 for the result, after the guest's code has ended; to
 * 2 for the arguments of a host function, where a function also counts as lost. For
 * ordinary code, JSON.stringify(new Map()) is {} as ever, and the code's own toJSON
 * wins.
 *
 * Evaluates to a function of (natives, control); its value is what the C side calls.
 */
(function (natives, control) {
  'use strict';
  const { kind } = natives;
  const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
  const { isArray } = Array;
  const MapOf = Map;
  const { get: mapGet, set: mapSet, delete: mapDelete } = Map.prototype;
  const getTime = Date.prototype.getTime;
  const regexpToString = RegExp.prototype.toString;
  const regexpExec = RegExp.prototype.exec;
  const typedArrays = getPrototypeOf(Uint8Array.prototype);
  const typedLength = getOwnPropertyDescriptor(typedArrays, 'length').get;
  const typedTag = getOwnPropertyDescriptor(typedArrays, Symbol.toStringTag).get;
  /* The name of a typed array's class; undefined for any other value. */
  const typedArray = natives.typedArray = (value) => apply(typedTag, value, []);
  const { charCodeAt, includes, isWellFormed, slice, toUpperCase } = String.prototype;
  const { toString: numberToString } = Number.prototype;
  const LOST = { __proto__: null };
  let lost; /* the value that refuse() has thrown for */

  /* Values without JSON of their own, and what to do instead. */
  const ADVICE = {
    __proto__: null,
    'Map': 'use Object.fromEntries(map) or [...map]',
    'Set': 'use [...set]',
    'WeakMap': 'its items cannot be listed',
    'WeakSet': 'its items cannot be listed',
    'Promise': 'await it, or use await Promise.all(list) on a list of them',
    'ArrayBuffer': 'use [...new Uint8Array(buffer)]',
    'DataView': 'use [...new Uint8Array(view.buffer)]',
    'Iterator': 'use [...iterator] or Array.from(iterator)',
    'AsyncIterator': 'use await Array.fromAsync(iterator)',
    'BigInt': 'use String(value) or Number(value)',
    'Symbol': 'use its description',
    'Function': 'call it, or return its value',
  };

  /* For arguments: results leave out functions, but passing one is deliberate. */
  const NO_FUNCTION =
    'a Function, which JSON cannot hold: pass what it returns, the host cannot call it';

  const ITERATORS = {
    __proto__: null,
    'Generator': 1, 'Array Iterator': 1, 'Map Iterator': 1, 'Set Iterator': 1,
    'String Iterator': 1, 'RegExp String Iterator': 1, 'Iterator Helper': 1,
  };

  function whenLeaving(proto, toJSON, from = 1) {
    defineProperty(proto, 'toJSON', {
      get() {
        return control[0] >= from ? toJSON : undefined;
      },
      set(own) {
        defineProperty(this, 'toJSON', {
          value: own, writable: true, enumerable: true, configurable: true,
        });
      },
      enumerable: false,
      configurable: true,
    });
  }

  function refuse() {
    lost = this;
    throw LOST;
  }

  const refused = [
    Map.prototype, Set.prototype, WeakMap.prototype, WeakSet.prototype, Promise.prototype,
    ArrayBuffer.prototype, DataView.prototype, Iterator.prototype,
    getPrototypeOf(getPrototypeOf(async function* () {}.prototype)),
  ];
  for (let i = 0; i < refused.length; i++) whenLeaving(refused[i], refuse);
  whenLeaving(Function.prototype, refuse, 2);

  whenLeaving(typedArrays, function () {
    const length = apply(typedLength, this, []);
    const list = [];
    for (let i = 0; i < length; i++) list[i] = this[i];
    return list;
  });
  whenLeaving(RegExp.prototype, function () {
    return apply(regexpToString, this, []);
  });
  whenLeaving(Error.prototype, function () {
    const plain = { name: this.name, message: this.message };
    const names = ownKeys(this);
    for (let i = 0; i < names.length; i++) {
      const { value, enumerable } = getOwnPropertyDescriptor(this, names[i]);
      if (enumerable && typeof names[i] === 'string')
        defineProperty(plain, names[i], {
          value, writable: true, enumerable: true, configurable: true,
        });
    }
    if (getOwnPropertyDescriptor(this, 'cause') !== undefined) plain.cause = this.cause;
    if (getOwnPropertyDescriptor(this, 'errors') !== undefined) plain.errors = this.errors;
    return plain;
  });

  /* Interfaces of capabilities that are refused too, by prototype. */
  const interfaces = new MapOf();
  let hasInterfaces = false;

  function refuseInterface(proto, name, advice) {
    whenLeaving(proto, refuse);
    apply(mapSet, interfaces, [proto, name]);
    ADVICE[name] = advice;
    hasInterfaces = true;
  }
  natives.refuse = refuseInterface;

  function interfaceOf(value) {
    for (let at = getPrototypeOf(value); at !== null; at = getPrototypeOf(at)) {
      if (kind(at) === 'Proxy') return undefined;
      const name = apply(mapGet, interfaces, [at]);
      if (name !== undefined) return name;
    }
    return undefined;
  }

  function typeOf(value) {
    if (typeof value === 'bigint') return 'BigInt';
    if (typeof value !== 'object' || value === null) return undefined;
    const name = kind(value);
    if (name === undefined && hasInterfaces) return interfaceOf(value);
    if (ITERATORS[name] === 1) return 'Iterator';
    return name === 'AsyncGenerator' ? 'AsyncIterator' : name;
  }

  const LETTERS = { __proto__: null, '\b': '\\b', '\t': '\\t', '\n': '\\n', '\f': '\\f', '\r': '\\r' };
  const ODD = /['\\\0-\x1f\x7f-\x9f]/g;
  const ODD_OR_LONE = /['\\\0-\x1f\x7f-\x9f\ud800-\udfff]/g;

  function isLone(string, i, code) {
    const isHigh = code < 0xdc00, other = apply(charCodeAt, string, [isHigh ? i + 1 : i - 1]);
    return (other & 0xfc00) !== (isHigh ? 0xdc00 : 0xd800);
  }

  /* The unit of string at i, escaped if needed; ODD_OR_LONE has found it. */
  function escaped(string, i, mark) {
    const unit = string[i], code = apply(charCodeAt, string, [i]);
    if (unit === '\\' || unit === mark) return `\\${unit}`;
    if (unit === "'" || (code > 0x9f && !isLone(string, i, code))) return unit;
    const hex = apply(numberToString, code, [16]);
    if (code > 0x9f) return `\\u${hex}`;
    return LETTERS[unit] ?? `\\x${code < 16 ? '0' : ''}${apply(toUpperCase, hex, [])}`;
  }

  /* A string as a literal, in the quotes that need the least escaping. */
  function quote(string) {
    ODD_OR_LONE.lastIndex = 0;
    if (apply(regexpExec, ODD_OR_LONE, [string]) === null) return `'${string}'`;
    const has = (part) => apply(includes, string, [part]);
    const mark = !has("'") ? "'" : !has('"') ? '"' : !has('`') && !has('${') ? '`' : "'";
    const odd = apply(isWellFormed, string, []) ? ODD : ODD_OR_LONE;
    let all = mark;
    for (let from = 0; ;) {
      odd.lastIndex = from;
      const found = apply(regexpExec, odd, [string]);
      if (found === null) return all + apply(slice, string, [from]) + mark;
      all += apply(slice, string, [from, found.index]) + escaped(string, found.index, mark);
      from = found.index + 1;
    }
  }
  natives.quote = quote;

  function step(path, key, inArray) {
    if (inArray) return `${path}[${key}]`;
    return isIdentifier(key) ? `${path}.${key}` : `${path}[${quote(key)}]`;
  }

  function isIdentifier(name) {
    return apply(regexpExec, /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u, [name]) !== null;
  }

  /* An object with a plain function toJSON is not searched: its function decides
   * what is inside. Getters are not run a second time. */
  function hasToJSON(object) {
    for (let at = object; at !== null; at = getPrototypeOf(at)) {
      if (kind(at) === 'Proxy') return true;
      const own = getOwnPropertyDescriptor(at, 'toJSON');
      if (own !== undefined) return typeof own.value === 'function';
    }
    return false;
  }

  /*
   * Why a value could not become JSON: one sentence that names the path, or undefined
   * if nothing is wrong with the value (then the guest's own code threw). Depth first,
   * as JSON.stringify went.
   */
  function explain(root, thrown, name = 'result') {
    const open = new MapOf();
    const isResult = name === 'result';
    let visits = 0;

    function visit(value, path) {
      const type = typeOf(value);
      if (++visits > 1000000) return undefined;
      if (ADVICE[type] !== undefined && (type === 'BigInt' || !hasToJSON(value)))
        return `${path} is ${article(type)}, which JSON cannot hold: ${ADVICE[type]}`;
      if (typeof value === 'function' && !isResult && !hasToJSON(value))
        return `${path} is ${NO_FUNCTION}`;
      if (typeof value !== 'object' || value === null || type === 'Proxy') return undefined;
      if (hasToJSON(value)) return undefined;
      const above = apply(mapGet, open, [value]);
      if (above !== undefined)
        return `${path} refers back to ${above}: JSON cannot hold a cycle`;
      apply(mapSet, open, [value, path]);
      const list = isArray(value) || typedArray(value) !== undefined;
      const keys = ownKeys(value);
      for (let i = 0; i < keys.length; i++) {
        const own = getOwnPropertyDescriptor(value, keys[i]);
        if (typeof keys[i] !== 'string' || !own.enumerable || own.get !== undefined) continue;
        const why = visit(own.value, step(path, keys[i], list));
        if (why !== undefined) return why;
      }
      apply(mapDelete, open, [value]);
      return undefined;
    }

    try {
      return visit(root, name) ?? (thrown === LOST ? explainHidden(name) : undefined);
    } catch {
      return `${name} is nested too deeply for JSON`;
    }
  }

  /* The place is not searched for: that would run getters, toJSON and proxy traps a
   * second time. */
  function explainHidden(name) {
    const type = typeOf(lost);
    const what = typeof lost === 'function' ? NO_FUNCTION
      : ADVICE[type] === undefined ? 'nothing that JSON can hold'
      : `${article(type)}, which JSON cannot hold: ${ADVICE[type]}`;
    return `what a getter, a toJSON or a proxy gave for a part of the ${name} is ${what}`;
  }

  /*
   * A lower bound for the length of a value's JSON, in UTF-16 units; it stops above the
   * limit. For a value whose JSON did not fit in memory: nothing is copied, and anything
   * but plain data counts as zero.
   */
  function leastUnits(root, limit) {
    let units = 0;
    let visits = 0;
    const isPlain = (object) => kind(object) !== 'Proxy' && !hasToJSON(object);
    const goesOn = () => units <= limit && ++visits < 1000000;

    function visit(value) {
      if (typeof value === 'string') units += value.length;
      else if (typeof value === 'number' || typeof value === 'boolean') units += 1;
      else if (typeof value === 'object' && value !== null && isPlain(value)) visitMembers(value);
    }

    function visitMembers(object) {
      const keys = isArray(object) ? undefined : ownKeys(object);
      const count = keys === undefined ? object.length : keys.length;
      for (let i = 0; i < count && goesOn(); i++) {
        const key = keys === undefined ? i : keys[i];
        const own = getOwnPropertyDescriptor(object, key);
        if (own === undefined) units += 4; /* a hole in a list: null */
        else if (own.enumerable && typeof key !== 'symbol') visit(own.value);
      }
    }

    try {
      visit(root);
    } catch {
      /* Out of memory here too: return the count so far. */
    }
    return units;
  }

  /* Values that JSON turns into null in a list and omits as a member. */
  const LEFT_OUT = {
    __proto__: null, 'undefined': 'undefined', 'function': 'a Function', 'symbol': 'a Symbol',
  };

  /* The name of a value that JSON turns into null; undefined for what it can hold. */
  function nameOfNull(value) {
    if (typeof value === 'number') {
      if (value !== value) return 'NaN';
      return value === Infinity ? 'Infinity' : value === -Infinity ? '-Infinity' : undefined;
    }
    if (kind(value) !== 'Date') return undefined;
    const time = apply(getTime, value, []);
    return time === time ? undefined : 'an invalid Date';
  }

  /*
   * What was lost in a result that JSON could hold, as null or because an object came
   * out empty: one sentence that names the first loss, or undefined. Only the first
   * VISITS values of a large result are checked. Holes in a list and values from a
   * getter or toJSON are not reported.
   */
  function explainLost(root) {
    const VISITS = 10000;
    let visits = 0, lost = 0, first = '';

    function lose(path, name, whole, as) {
      if (lost++ === 0)
        first = `${path} is ${name}, which JSON cannot hold: ${whole} was returned as ${as}`;
    }

    function visit(value, path, inList) {
      const name = nameOfNull(value) ?? (inList ? LEFT_OUT[typeof value] : undefined);
      visits++;
      if (name !== undefined) lose(path(), name, 'it', 'null');
      else if (typeof value !== 'object' || value === null) return;
      else if (kind(value) === 'Proxy' || hasToJSON(value)) return;
      else if (isArray(value)) visitItems(value, value.length, path);
      else if (typedArray(value) !== undefined) visitItems(value, apply(typedLength, value, []), path);
      else visitMembers(value, path);
    }

    function visitItems(list, length, path) {
      for (let i = 0; i < length && visits < VISITS; i++) {
        const own = getOwnPropertyDescriptor(list, i);
        if (own !== undefined && own.get === undefined)
          visit(own.value, () => step(path(), i, true), true);
      }
    }

    function visitMembers(object, path) {
      const keys = ownKeys(object);
      let missing, kept = false; /* the first omitted member; are there others? */
      for (let i = 0; i < keys.length && visits < VISITS; i++) {
        const key = keys[i];
        const own = getOwnPropertyDescriptor(object, key);
        if (typeof key === 'symbol' || !own.enumerable) continue;
        const name = own.get === undefined ? LEFT_OUT[typeof own.value] : undefined;
        if (name === undefined) kept = true;
        else missing ??= { __proto__: null, key, name };
        if (name === undefined && own.get === undefined)
          visit(own.value, () => step(path(), key, false), false);
      }
      if (missing !== undefined && !kept)
        lose(step(path(), missing.key, false), missing.name, path(), '{}');
    }

    try {
      visit(root, () => 'result', false);
    } catch {
      /* Nested too deep for this check: report what was found so far. */
    }
    if (lost === 0) return undefined;
    return lost === 1 ? first : visits >= VISITS ? `${first}; others were lost, too`
      : lost === 2 ? `${first}; another value was lost, too`
        : `${first}; ${lost - 1} more values were lost, too`;
  }

  const OBJECTS = 500000; /* most objects to search, */
  const FIELDS = 2000; /* distinct names of fields, */
  const DEPTH = 100; /* and levels of nesting */
  const BUILT_IN = [Object, Array, String, Number, Boolean, BigInt, Symbol, Map, Set, Date, RegExp, Promise, Error,
    Function, JSON, Math, Intl, Uint8Array, ArrayBuffer, Iterator];

  function isBuiltIn(name) {
    for (let i = 0; i < BUILT_IN.length; i++)
      if (name in BUILT_IN[i] || (BUILT_IN[i].prototype !== undefined && name in BUILT_IN[i].prototype)) return true;
    return name in globalThis;
  }

  /*
   * Finds the first name that is neither a field of any object in the data nor built in.
   * Returns an array of its index and all fields; undefined: none, or too much data.
   */
  function missingField(names, data) {
    const wanted = { __proto__: null };
    const fields = { __proto__: null };
    let left = 0;
    let objects = 0;
    let count = 0;

    /* False: the search has ended. No getter or trap that the code has left in the data runs. */
    function look(value, depth) {
      if (kind(value) === 'Proxy') return true;
      if (++objects > OBJECTS || depth > DEPTH) return false;
      const isList = isArray(value);
      const keys = ownKeys(value);
      for (let i = 0; i < keys.length; i++) {
        const key = keys[i];
        if (!isList && typeof key === 'string' && fields[key] === undefined) {
          fields[key] = true;
          if (++count > FIELDS || (wanted[key] && --left === 0)) return false;
        }
        const item = getOwnPropertyDescriptor(value, key).value;
        if (typeof item === 'object' && item !== null && !look(item, depth + 1)) return false;
      }
      return true;
    }

    for (let i = 0; i < names.length; i++) {
      if (isBuiltIn(names[i])) continue;
      wanted[names[i]] = true;
      left++;
    }
    if (left === 0 || !look(data, 0)) return undefined;
    for (let i = 0; i < names.length; i++) {
      if (!wanted[names[i]] || fields[names[i]] !== undefined) continue;
      const found = [i];
      for (const key in fields) found[found.length] = key;
      return found;
    }
    return undefined;
  }

  function article(type) {
    return type === 'Iterator' || type === 'ArrayBuffer' || type === 'AsyncIterator'
      ? `an ${type}` : `a ${type}`;
  }

  /* The same sentence for the top level, where JSON.stringify returns nothing. */
  function explainTop(value) {
    const type = typeof value === 'function' ? 'Function' : 'Symbol';
    return `the result is a ${type}, which JSON cannot hold: ${ADVICE[type]}`;
  }

  /* `await` uses neither Promise.prototype.then nor species: the guest cannot come
   * between a native promise and its value. */
  async function watch(promise, state) {
    try {
      state.value = await promise;
      state.status = 1;
    } catch (error) {
      state.value = error;
      state.status = 2;
    }
  }

  return {
    watch,
    explain,
    explainTop,
    explainLost,
    missingField,
    leastUnits,
    isIdentifier,
    call: Function.prototype.call,
    parse: JSON.parse,
    asyncFunction: (async function () {}).constructor,
    errors: { __proto__: null, TypeError, RangeError },
    topThis: Object.freeze({}),
    inspectOptions: { __proto__: null },
    lineOptions: { __proto__: null, oneLine: true },
    causesOptions: { __proto__: null, causes: true, oneLine: true },
    pending: () => ({ __proto__: null, value: undefined, status: 0 }),
  };
})

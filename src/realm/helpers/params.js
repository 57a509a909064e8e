/* SPDX-License-Identifier: MIT */
/* params - URLSearchParams: pairs in the form encoding. */
(function (natives) {
  'use strict';
  const { apply, defineProperty, ownKeys, getOwnPropertyDescriptor } = Reflect;
  const { iterator } = Symbol;
  const { need } = natives;

  function text(value) {
    return `${value}`.toWellFormed();
  }

  const UTF8 = 0, PERCENT = 0x25;

  /* Decodes a name or a value: + is a blank, and %XX a byte of UTF-8. */
  function decodeForm(query) {
    const blanks = query.replaceAll('+', ' ');
    try {
      return decodeURIComponent(blanks);
    } catch {
      return decodeOdd(natives.bytes(blanks, UTF8));
    }
  }

  /* Other percent signs stay; bytes that are not UTF-8 become U+FFFD. */
  function decodeOdd(bytes) {
    let used = 0;
    for (let i = 0; i < bytes.length; i++, used++) {
      const digits = bytes[i] === PERCENT ? String.fromCharCode(bytes[i + 1], bytes[i + 2]) : '';
      const isByte = /^[0-9a-f]{2}$/i.test(digits);
      bytes[used] = isByte ? parseInt(digits, 16) : bytes[i];
      if (isByte) i += 2;
    }
    return natives.text(bytes.slice(0, used), UTF8);
  }

  function encodeForm(value) {
    return encodeURIComponent(value).replace(/%20|[!'()~]/g,
      (found) => (found === '%20' ? '+' : `%${found.charCodeAt(0).toString(16).toUpperCase()}`));
  }

  function parsePairs(query) {
    const pairs = [];
    for (let from = 0; from <= query.length;) {
      const found = query.indexOf('&', from), end = found < 0 ? query.length : found;
      const part = query.slice(from, end), at = part.indexOf('=');
      if (part !== '')
        pairs.push([decodeForm(at < 0 ? part : part.slice(0, at)), at < 0 ? '' : decodeForm(part.slice(at + 1))]);
      from = end + 1;
    }
    return pairs;
  }

  function writePairs(pairs) {
    return pairs.map((pair) => `${encodeForm(pair[0])}=${encodeForm(pair[1])}`).join('&');
  }

  function pairsOf(init) {
    if (typeof init !== 'object' && typeof init !== 'function' || init === null) {
      const query = text(init);
      return parsePairs(query[0] === '?' ? query.slice(1) : query);
    }
    const pairs = [], method = init[iterator];
    if (method === undefined || method === null) {
      const names = ownKeys(init);
      for (let i = 0; i < names.length; i++)
        if (getOwnPropertyDescriptor(init, names[i])?.enumerable)
          pairs.push([text(names[i]), text(init[names[i]])]);
      return pairs;
    }
    if (typeof method !== 'function') throw new TypeError('URLSearchParams: the list of pairs is not iterable');
    for (const each of init) {
      const pair = typeof each === 'object' && each !== null && typeof each[iterator] === 'function' ? [...each] : [];
      if (pair.length !== 2) throw new TypeError('URLSearchParams: a pair is a list of a name and a value');
      pairs.push([text(pair[0]), text(pair[1])]);
    }
    return pairs;
  }

  let stateOf, isParams;

  function find(pairs, name, value = undefined) {
    for (let i = 0; i < pairs.length; i++)
      if (pairs[i][0] === name && (value === undefined || pairs[i][1] === value)) return i;
    return -1;
  }

  function change(params, pairs) {
    const state = stateOf(params);
    state.pairs = pairs;
    state.changed?.(writePairs(pairs));
  }

  class URLSearchParams {
    #state;

    static {
      stateOf = (params) => params.#state;
      isParams = (value) => typeof value === 'object' && value !== null && #state in value;
    }

    constructor(init = '') {
      this.#state = {
        __proto__: null, pairs: pairsOf(init), changed: undefined, /* tells the URL that these are part of */
      };
    }

    get size() { return this.#state.pairs.length; }

    append(name, value) {
      need(arguments, 2, 'URLSearchParams.append');
      const { pairs } = this.#state;
      pairs.push([text(name), text(value)]);
      change(this, pairs);
    }

    delete(name, value = undefined) {
      need(arguments, 1, 'URLSearchParams.delete');
      const wanted = text(name), other = value === undefined ? undefined : text(value);
      change(this, this.#state.pairs.filter((pair) =>
        pair[0] !== wanted || (other !== undefined && pair[1] !== other)));
    }

    get(name) {
      need(arguments, 1, 'URLSearchParams.get');
      const { pairs } = this.#state, at = find(pairs, text(name));
      return at < 0 ? null : pairs[at][1];
    }

    getAll(name) {
      need(arguments, 1, 'URLSearchParams.getAll');
      const wanted = text(name);
      return this.#state.pairs.filter((pair) => pair[0] === wanted).map((pair) => pair[1]);
    }

    has(name, value = undefined) {
      need(arguments, 1, 'URLSearchParams.has');
      return find(this.#state.pairs, text(name), value === undefined ? undefined : text(value)) >= 0;
    }

    set(name, value) {
      need(arguments, 2, 'URLSearchParams.set');
      const { pairs } = this.#state, wanted = text(name), to = text(value), at = find(pairs, wanted);
      if (at < 0) {
        this.append(wanted, to);
        return;
      }
      pairs[at][1] = to;
      change(this, pairs.filter((pair, i) => pair[0] !== wanted || i === at));
    }

    /* Sorts by UTF-16 units; pairs of the same name keep their order. */
    sort() {
      change(this, this.#state.pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
    }

    forEach(callback, self = undefined) {
      need(arguments, 1, 'URLSearchParams.forEach');
      if (typeof callback !== 'function') throw new TypeError('URLSearchParams.forEach: the callback is not a function');
      for (const [name, value] of this) apply(callback, self, [value, name, this]);
    }

    * entries() {
      for (let i = 0; i < this.#state.pairs.length; i++) yield [...this.#state.pairs[i]];
    }

    * keys() { for (const [name] of this) yield name; }

    * values() { for (const [, value] of this) yield value; }

    toString() { return writePairs(this.#state.pairs); }
  }

  function link(query, changed) {
    const made = new URLSearchParams();
    relist(made, query);
    stateOf(made).changed = changed;
    return made;
  }

  function relist(params, query) {
    stateOf(params).pairs = parsePairs(query);
  }

  const { prototype } = URLSearchParams;
  defineProperty(prototype, iterator, { value: prototype.entries, writable: true, configurable: true });
  natives.tag(prototype, 'URLSearchParams');
  natives.views[natives.views.length] = (value) =>
    (isParams(value) ? { __proto__: null, pairs: stateOf(value).pairs } : undefined);
  /* Returned directly it would silently become {}. */
  natives.refuse(prototype, 'URLSearchParams', 'use String(params) or Object.fromEntries(params)');
  const own = { __proto__: null, isParams, link, relist };
  return { URLSearchParams, own };
})

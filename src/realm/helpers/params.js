/* SPDX-License-Identifier: MIT */
/* params - URLSearchParams: pairs as a form has them. */
(function (natives) {
  'use strict';
  const { undoPercent } = natives;
  const { apply, defineProperty, ownKeys, getOwnPropertyDescriptor } = Reflect;
  const TypeErrorOf = TypeError;
  const encode = encodeURIComponent;
  const { iterator } = Symbol;
  const uncurry = (method) => (self, ...args) => apply(method, self, args);
  const slice = uncurry(String.prototype.slice), indexOf = uncurry(String.prototype.indexOf);
  const replaceAll = uncurry(String.prototype.replaceAll), wellFormed = uncurry(String.prototype.toWellFormed);
  const includes = uncurry(String.prototype.includes);
  const text = (value) => wellFormed(`${value}`);

  function need(args, count, name) {
    if (args.length < count)
      throw new TypeErrorOf(`${name} needs ${count} argument${count > 1 ? 's' : ''}`);
  }

  function decodeForm(part) {
    const spaced = replaceAll(part, '+', ' ');
    return includes(spaced, '%') ? undoPercent(spaced) : spaced;
  }

  function parsePairs(query) {
    const pairs = [];
    for (let from = 0; from <= query.length;) {
      const found = indexOf(query, '&', from), end = found < 0 ? query.length : found;
      const part = slice(query, from, end), at = indexOf(part, '=');
      if (part !== '')
        pairs[pairs.length] = at < 0 ? [decodeForm(part), '']
          : [decodeForm(slice(part, 0, at)), decodeForm(slice(part, at + 1))];
      from = end + 1;
    }
    return pairs;
  }

  const ESCAPES = [['%20', '+'], ['!', '%21'], ["'", '%27'], ['(', '%28'], [')', '%29'], ['~', '%7E']];

  function encodeForm(part) {
    let all = encode(part);
    for (let i = 0; i < ESCAPES.length; i++) all = replaceAll(all, ESCAPES[i][0], ESCAPES[i][1]);
    return all;
  }

  function writePairs(pairs) {
    let all = '';
    for (let i = 0; i < pairs.length; i++)
      all += `${i > 0 ? '&' : ''}${encodeForm(pairs[i][0])}=${encodeForm(pairs[i][1])}`;
    return all;
  }

  function pairsOf(init) {
    if (typeof init !== 'object' && typeof init !== 'function' || init === null) {
      const query = text(init);
      return parsePairs(query[0] === '?' ? slice(query, 1) : query);
    }
    const pairs = [], method = init[iterator];
    if (method === undefined || method === null) {
      const names = ownKeys(init);
      for (let i = 0; i < names.length; i++)
        if (getOwnPropertyDescriptor(init, names[i])?.enumerable)
          pairs[pairs.length] = [text(names[i]), text(init[names[i]])];
      return pairs;
    }
    if (typeof method !== 'function') throw new TypeErrorOf('URLSearchParams: the list of pairs is not iterable');
    for (const each of init) {
      const pair = typeof each === 'object' && each !== null && typeof each[iterator] === 'function' ? [...each] : [];
      if (pair.length !== 2) throw new TypeErrorOf('URLSearchParams: a pair is a list of a name and a value');
      pairs[pairs.length] = [text(pair[0]), text(pair[1])];
    }
    return pairs;
  }

  let link, relist, view;

  class URLSearchParams {
    #pairs;
    #changed; /* of the URL that these are part of */

    static {
      link = (query, changed) => {
        const made = new URLSearchParams();
        made.#pairs = parsePairs(query);
        made.#changed = changed;
        return made;
      };
      relist = (params, query) => {
        params.#pairs = parsePairs(query);
      };
      view = (value) => (typeof value === 'object' && value !== null && #pairs in value
        ? { __proto__: null, pairs: value.#pairs } : undefined);
    }

    constructor(init = '') {
      this.#pairs = pairsOf(init);
    }

    get size() { return this.#pairs.length; }

    append(name, value) {
      need(arguments, 2, 'URLSearchParams.append');
      const pair = [text(name), text(value)];
      this.#pairs[this.#pairs.length] = pair;
      this.#update();
    }

    delete(name, value = undefined) {
      need(arguments, 1, 'URLSearchParams.delete');
      const wanted = text(name), other = value === undefined ? undefined : text(value);
      this.#keep((pair) => pair[0] !== wanted || (other !== undefined && pair[1] !== other));
    }

    get(name) {
      need(arguments, 1, 'URLSearchParams.get');
      const at = this.#find(text(name));
      return at < 0 ? null : this.#pairs[at][1];
    }

    getAll(name) {
      need(arguments, 1, 'URLSearchParams.getAll');
      const wanted = text(name), all = [];
      for (let i = 0; i < this.#pairs.length; i++)
        if (this.#pairs[i][0] === wanted) all[all.length] = this.#pairs[i][1];
      return all;
    }

    has(name, value = undefined) {
      need(arguments, 1, 'URLSearchParams.has');
      return this.#find(text(name), value === undefined ? undefined : text(value)) >= 0;
    }

    set(name, value) {
      need(arguments, 2, 'URLSearchParams.set');
      const wanted = text(name), to = text(value);
      let isFirst = true;
      const at = this.#find(wanted);
      if (at < 0) {
        this.append(wanted, to);
        return;
      }
      this.#pairs[at][1] = to;
      this.#keep((pair) => {
        const keeps = pair[0] !== wanted || isFirst;
        if (pair[0] === wanted) isFirst = false;
        return keeps;
      });
    }

    /* By UTF-16 units, and what has one name in its order. */
    sort() {
      const list = this.#pairs;
      for (let width = 1; width < list.length; width *= 2) merge(list, width);
      this.#update();
    }

    forEach(callback, self = undefined) {
      need(arguments, 1, 'URLSearchParams.forEach');
      if (typeof callback !== 'function') throw new TypeErrorOf('URLSearchParams.forEach: the callback is not a function');
      for (let i = 0; i < this.#pairs.length; i++)
        apply(callback, self, [this.#pairs[i][1], this.#pairs[i][0], this]);
    }

    * entries() { for (let i = 0; i < this.#pairs.length; i++) yield [this.#pairs[i][0], this.#pairs[i][1]]; }

    * keys() { for (let i = 0; i < this.#pairs.length; i++) yield this.#pairs[i][0]; }

    * values() { for (let i = 0; i < this.#pairs.length; i++) yield this.#pairs[i][1]; }

    toString() { return writePairs(this.#pairs); }

    #find(name, value = undefined) {
      for (let i = 0; i < this.#pairs.length; i++)
        if (this.#pairs[i][0] === name && (value === undefined || this.#pairs[i][1] === value)) return i;
      return -1;
    }

    #keep(isKept) {
      const kept = [];
      for (let i = 0; i < this.#pairs.length; i++) if (isKept(this.#pairs[i])) kept[kept.length] = this.#pairs[i];
      this.#pairs = kept;
      this.#update();
    }

    #update() {
      if (this.#changed !== undefined) this.#changed(writePairs(this.#pairs));
    }
  }

  /* One round of a merge sort: lists of width become lists of twice that. */
  function merge(list, width) {
    for (let from = 0; from < list.length; from += 2 * width) {
      const middle = from + width, end = from + 2 * width < list.length ? from + 2 * width : list.length;
      const sorted = [];
      for (let a = from, b = middle; a < middle && a < end || b < end;)
        sorted[sorted.length] = b >= end || a < middle && list[a][0] <= list[b][0] ? list[a++] : list[b++];
      for (let i = 0; i < sorted.length; i++) list[from + i] = sorted[i];
    }
  }

  const { prototype } = URLSearchParams;
  defineProperty(prototype, iterator, { value: prototype.entries, writable: true, configurable: true });
  defineProperty(prototype, Symbol.toStringTag, { value: 'URLSearchParams', configurable: true });
  natives.views[natives.views.length] = view;
  /* Returned as it is it would be {}, without a word. */
  natives.refuse(prototype, 'URLSearchParams', 'use String(params) or Object.fromEntries(params)');
  const own = { __proto__: null, link, relist };
  return { URLSearchParams, own };
})

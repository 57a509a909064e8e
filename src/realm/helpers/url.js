/* SPDX-License-Identifier: MIT */
/* url - URL and URLSearchParams over the parser of url.c. */
(function (natives) {
  'use strict';
  const { parseURL, setURL, undoPercent } = natives;
  const { apply, defineProperty, ownKeys, getOwnPropertyDescriptor } = Reflect;
  const TypeErrorOf = TypeError;
  const encode = encodeURIComponent;
  const { iterator, toStringTag } = Symbol;
  const uncurry = (method) => (self, ...args) => apply(method, self, args);
  const slice = uncurry(String.prototype.slice), indexOf = uncurry(String.prototype.indexOf);
  const replaceAll = uncurry(String.prototype.replaceAll), wellFormed = uncurry(String.prototype.toWellFormed);
  const includes = uncurry(String.prototype.includes);
  const text = (value) => wellFormed(`${value}`);
  const HREF = 0, PROTOCOL = 1, USERNAME = 2, PASSWORD = 3, HOSTNAME = 4, PORT = 5, PATHNAME = 6, SEARCH = 7, HASH = 8;
  /* As url.h numbers them. */
  const SET = { __proto__: null, protocol: 0, username: 1, password: 2, host: 3, hostname: 4, port: 5, pathname: 6, search: 7, hash: 8 };
  const WEB = { __proto__: null, 'http:': true, 'https:': true, 'ws:': true, 'wss:': true, 'ftp:': true };

  function need(args, count, name) {
    if (args.length < count)
      throw new TypeErrorOf(`${name} needs ${count} argument${count > 1 ? 's' : ''}`);
  }

  /* ---- pairs as a form has them --------------------------------------------------- */

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

  let link, relist, viewParams;

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
      viewParams = (value) => (typeof value === 'object' && value !== null && #pairs in value
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

  /* ---- addresses ------------------------------------------------------------------ */

  function parse(url, base) {
    return parseURL(text(url), base === undefined ? undefined : text(base));
  }

  let viewURL;

  class URL {
    #parts;
    #params; /* made when they are asked for */

    static {
      viewURL = (value) => (typeof value === 'object' && value !== null && #parts in value
        ? { __proto__: null, fields: fieldsOf(value) } : undefined);
    }

    constructor(url, base = undefined) {
      need(arguments, 1, 'URL');
      this.#parts = parse(url, base);
      if (this.#parts !== undefined) return;
      const error = new TypeErrorOf('Invalid URL');
      const put = (name, value) =>
        defineProperty(error, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
      put('code', 'ERR_INVALID_URL');
      put('input', text(url));
      if (base !== undefined) put('base', text(base));
      throw error;
    }

    static canParse(url, base = undefined) {
      need(arguments, 1, 'URL.canParse');
      return parse(url, base) !== undefined;
    }

    static parse(url, base = undefined) {
      need(arguments, 1, 'URL.parse');
      try {
        return new URL(url, base);
      } catch {
        return null;
      }
    }

    get href() { return this.#parts[HREF]; }

    set href(value) {
      const parts = parse(value, undefined);
      if (parts === undefined) throw new TypeErrorOf('Invalid URL');
      this.#take(parts);
    }

    get origin() {
      const protocol = this.#parts[PROTOCOL];
      if (WEB[protocol]) return `${protocol}//${this.host}`;
      const inner = protocol === 'blob:' ? parseURL(this.#parts[PATHNAME], undefined) : undefined;
      return inner !== undefined && (inner[PROTOCOL] === 'http:' || inner[PROTOCOL] === 'https:')
        ? new URL(inner[HREF]).origin : 'null';
    }

    get protocol() { return this.#parts[PROTOCOL]; }

    set protocol(value) { this.#set(SET.protocol, value); }

    get username() { return this.#parts[USERNAME]; }

    set username(value) { this.#set(SET.username, value); }

    get password() { return this.#parts[PASSWORD]; }

    set password(value) { this.#set(SET.password, value); }

    get host() {
      const port = this.#parts[PORT];
      return port === '' ? this.#parts[HOSTNAME] : `${this.#parts[HOSTNAME]}:${port}`;
    }

    set host(value) { this.#set(SET.host, value); }

    get hostname() { return this.#parts[HOSTNAME]; }

    set hostname(value) { this.#set(SET.hostname, value); }

    get port() { return this.#parts[PORT]; }

    set port(value) { this.#set(SET.port, value); }

    get pathname() { return this.#parts[PATHNAME]; }

    set pathname(value) { this.#set(SET.pathname, value); }

    get search() { return this.#parts[SEARCH]; }

    set search(value) { this.#set(SET.search, value); }

    get searchParams() {
      this.#params ??= link(slice(this.#parts[SEARCH], 1), (query) => {
        this.#parts = setURL(this.#parts[HREF], SET.search, query);
      });
      return this.#params;
    }

    get hash() { return this.#parts[HASH]; }

    set hash(value) { this.#set(SET.hash, value); }

    toString() { return this.#parts[HREF]; }

    toJSON() { return this.#parts[HREF]; }

    #set(part, value) {
      this.#take(setURL(this.#parts[HREF], part, text(value)));
    }

    #take(parts) {
      this.#parts = parts;
      if (this.#params !== undefined) relist(this.#params, slice(parts[SEARCH], 1));
    }
  }

  const FIELDS = [
    'href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname',
    'search', 'searchParams', 'hash',
  ];
  const getters = { __proto__: null };
  for (let i = 0; i < FIELDS.length; i++) getters[FIELDS[i]] = getOwnPropertyDescriptor(URL.prototype, FIELDS[i]).get;

  function fieldsOf(url) {
    const fields = { __proto__: null };
    for (let i = 0; i < FIELDS.length; i++) fields[FIELDS[i]] = apply(getters[FIELDS[i]], url, []);
    return fields;
  }

  const { prototype } = URLSearchParams;
  defineProperty(prototype, iterator, { value: prototype.entries, writable: true, configurable: true });
  defineProperty(prototype, toStringTag, { value: 'URLSearchParams', configurable: true });
  defineProperty(URL.prototype, toStringTag, { value: 'URL', configurable: true });
  natives.views[natives.views.length] = viewURL;
  natives.views[natives.views.length] = viewParams;
  /* Returned as it is it would be {}, without a word. */
  natives.refuse(prototype, 'URLSearchParams', 'use String(params) or Object.fromEntries(params)');
  return { URL, URLSearchParams };
})

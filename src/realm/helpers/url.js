/* SPDX-License-Identifier: MIT */
/* url - URL, over the parser of url_parser.c. */
(function (natives, load) {
  'use strict';
  const { parseURL, setURL } = natives;
  const { apply, defineProperty } = Reflect;
  const TypeErrorOf = TypeError;
  const { slice, toWellFormed } = String.prototype;
  const text = (value) => apply(toWellFormed, `${value}`, []);
  const query = (parts) => apply(slice, parts[SEARCH], [1]);
  const HREF = 0, PROTOCOL = 1, USERNAME = 2, PASSWORD = 3, HOSTNAME = 4, PORT = 5, PATHNAME = 6, SEARCH = 7, HASH = 8;
  /* Numbers from realm/internal.h. */
  const SET = { __proto__: null, protocol: 0, username: 1, password: 2, host: 3, hostname: 4, port: 5, pathname: 6, search: 7, hash: 8 };
  const WEB = { __proto__: null, 'http:': true, 'https:': true, 'ws:': true, 'wss:': true, 'ftp:': true };

  function need(args, name) {
    if (args.length === 0) throw new TypeErrorOf(`${name} needs 1 argument`);
  }

  function parse(url, base) {
    return parseURL(text(url), base === undefined ? undefined : text(base));
  }

  function hostOf(parts) {
    return parts[PORT] === '' ? parts[HOSTNAME] : `${parts[HOSTNAME]}:${parts[PORT]}`;
  }

  function originOf(parts) {
    const protocol = parts[PROTOCOL];
    if (WEB[protocol]) return `${protocol}//${hostOf(parts)}`;
    const inner = protocol === 'blob:' ? parseURL(parts[PATHNAME], undefined) : undefined;
    return inner !== undefined && (inner[PROTOCOL] === 'http:' || inner[PROTOCOL] === 'https:')
      ? originOf(inner) : 'null';
  }

  let view;

  class URL {
    #parts;
    #params; /* made on first use */

    static {
      view = (value) => (typeof value === 'object' && value !== null && #parts in value
        ? { __proto__: null, fields: value.#fields() } : undefined);
    }

    constructor(url, base = undefined) {
      need(arguments, 'URL');
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
      need(arguments, 'URL.canParse');
      return parse(url, base) !== undefined;
    }

    static parse(url, base = undefined) {
      need(arguments, 'URL.parse');
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

    get origin() { return originOf(this.#parts); }

    get protocol() { return this.#parts[PROTOCOL]; }

    set protocol(value) { this.#set(SET.protocol, value); }

    get username() { return this.#parts[USERNAME]; }

    set username(value) { this.#set(SET.username, value); }

    get password() { return this.#parts[PASSWORD]; }

    set password(value) { this.#set(SET.password, value); }

    get host() { return hostOf(this.#parts); }

    set host(value) { this.#set(SET.host, value); }

    get hostname() { return this.#parts[HOSTNAME]; }

    set hostname(value) { this.#set(SET.hostname, value); }

    get port() { return this.#parts[PORT]; }

    set port(value) { this.#set(SET.port, value); }

    get pathname() { return this.#parts[PATHNAME]; }

    set pathname(value) { this.#set(SET.pathname, value); }

    get search() { return this.#parts[SEARCH]; }

    set search(value) { this.#set(SET.search, value); }

    get searchParams() { return this.#linked(); }

    get hash() { return this.#parts[HASH]; }

    set hash(value) { this.#set(SET.hash, value); }

    toString() { return this.#parts[HREF]; }

    toJSON() { return this.#parts[HREF]; }

    #linked() {
      this.#params ??= load('params').own.link(query(this.#parts), (changed) => {
        this.#parts = setURL(this.#parts[HREF], SET.search, changed);
      });
      return this.#params;
    }

    #fields() {
      const parts = this.#parts;
      return {
        __proto__: null, href: parts[HREF], origin: originOf(parts), protocol: parts[PROTOCOL],
        username: parts[USERNAME], password: parts[PASSWORD], host: hostOf(parts),
        hostname: parts[HOSTNAME], port: parts[PORT], pathname: parts[PATHNAME],
        search: parts[SEARCH], searchParams: this.#linked(), hash: parts[HASH],
      };
    }

    #set(part, value) {
      this.#take(setURL(this.#parts[HREF], part, text(value)));
    }

    #take(parts) {
      this.#parts = parts;
      if (this.#params !== undefined) load('params').own.relist(this.#params, query(parts));
    }
  }

  defineProperty(URL.prototype, Symbol.toStringTag, { value: 'URL', configurable: true });
  natives.views[natives.views.length] = view;
  return { URL };
})

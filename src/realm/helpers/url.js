/* SPDX-License-Identifier: MIT */
/*
 * url - the class URL. The engine's own parser (helper_natives.c) normalises URLs: its output
 * has all parts in known places. A setter puts its text into that output, which is then
 * parsed again.
 */
(function (natives, load) {
  'use strict';
  const { need, parseURL } = natives;
  const { apply } = Reflect;
  const TypeErrorOf = TypeError, encode = encodeURIComponent;
  const uncurry = (f) => (self, ...args) => apply(f, self, args);
  const exec = uncurry(RegExp.prototype.exec);
  const indexOf = uncurry(String.prototype.indexOf);
  const replace = uncurry(String.prototype.replace);
  const slice = uncurry(String.prototype.slice);
  const toLowerCase = uncurry(String.prototype.toLowerCase);
  const toWellFormed = uncurry(String.prototype.toWellFormed);
  const text = (value) => toWellFormed(`${value}`);
  const SPECIAL = { __proto__: null, 'http:': true, 'https:': true, 'ws:': true, 'wss:': true, 'ftp:': true, 'file:': true };

  /* search and hash begin with their mark, even if no text follows it. host is undefined, not
   * empty, if the URL has no host. */
  function partsOf(href) {
    const parts = {
      __proto__: null, href, protocol: '', username: '', password: '', host: undefined, port: '',
      path: '', search: '', hash: '',
    };
    const hash = indexOf(href, '#');
    let rest = hash < 0 ? href : slice(href, 0, hash);
    if (hash >= 0) parts.hash = slice(href, hash);
    const query = indexOf(rest, '?');
    if (query >= 0) parts.search = slice(rest, query);
    if (query >= 0) rest = slice(rest, 0, query);
    const colon = indexOf(rest, ':');
    parts.protocol = slice(rest, 0, colon + 1);
    rest = slice(rest, colon + 1);
    if (slice(rest, 0, 2) === '//') rest = takeAuthority(parts, slice(rest, 2));
    else if (slice(rest, 0, 4) === '/.//') rest = slice(rest, 2);
    parts.path = rest;
    return parts;
  }

  /* Returns the text after the authority. */
  function takeAuthority(parts, rest) {
    const end = indexOf(rest, '/'), all = end < 0 ? rest : slice(rest, 0, end);
    const at = indexOf(all, '@'), named = slice(all, at + 1);
    const split = indexOf(slice(all, 0, at + 1), ':');
    const port = indexOf(named, ':', indexOf(named, ']') + 1);
    if (at >= 0) {
      parts.username = slice(all, 0, split < 0 ? at : split);
      parts.password = split < 0 ? '' : slice(all, split + 1, at);
    }
    parts.host = port < 0 ? named : slice(named, 0, port);
    parts.port = port < 0 ? '' : slice(named, port + 1);
    return end < 0 ? '' : slice(rest, end);
  }

  /* Joins the parts to a URL and parses it; undefined if it is not valid. */
  function written(parts) {
    const { protocol, username, password, host, port, path, search, hash } = parts;
    const user = username + (password === '' ? '' : `:${password}`);
    const before = host !== undefined ? `//${user === '' ? '' : `${user}@`}${host}${port === '' ? '' : `:${port}`}`
      : slice(path, 0, 2) === '//' ? '/.' : '';
    return parseURL(`${protocol}${before}${path}${search}${hash}`, undefined);
  }

  const isOpaque = ({ host, path }) => host === undefined && path[0] !== '/';
  const hasCredentials = ({ username, password }) => username !== '' || password !== '';
  const takesPort = ({ host, protocol }) => host !== undefined && host !== '' && protocol !== 'file:';
  const clean = (value) => replace(value, /[\t\n\r]/g, '');
  const escaped = (value, which) => replace(clean(value), which, encode);

  /* Each changes the parts. False if the value is to be ignored. */
  const SET = {
    __proto__: null,
    protocol(parts, value) {
      const found = exec(/^[a-z][a-z0-9+.-]*(?=:|$)/i, clean(value));
      const next = found === null ? '' : `${toLowerCase(found[0])}:`;
      if (found === null || SPECIAL[next] !== SPECIAL[parts.protocol]) return false;
      if (next === 'file:' && (hasCredentials(parts) || parts.port !== '')) return false;
      if (parts.protocol === 'file:' && parts.host === '') return false;
      parts.protocol = next;
      return true;
    },
    username: (parts, value) => setUser(parts, 'username', value),
    password: (parts, value) => setUser(parts, 'password', value),
    host: (parts, value) => setHost(parts, value, true),
    hostname: (parts, value) => setHost(parts, value, false),
    port(parts, value) {
      const found = exec(/^(?:$|[0-9]+)/, value === '' ? value : clean(value) || ' ');
      if (found === null || !takesPort(parts)) return false;
      parts.port = found[0];
      return true;
    },
    pathname(parts, value) {
      if (isOpaque(parts)) return false;
      const path = escaped(value, /[\0- ?#]/g), isSpecial = SPECIAL[parts.protocol];
      const isWhole = path[0] === '/' || (isSpecial && path[0] === '\\') || (path === '' && parts.host !== undefined);
      parts.path = isWhole ? path : `/${path}`;
      return true;
    },
    search: (parts, value) => setTail(parts, 'search', '?', value, /[\0- #]/g),
    hash: (parts, value) => setTail(parts, 'hash', '#', value, /[\0- ]/g),
  };

  function setUser(parts, name, value) {
    if (!takesPort(parts)) return false;
    parts[name] = replace(value, /[^!$%&'()*+,\-.0-9A-Z_a-z~]/gu, encode);
    return true;
  }

  function setHost(parts, value, withPort) {
    const isFile = parts.protocol === 'file:', ends = SPECIAL[parts.protocol] ? /[/\\?#]/ : /[/?#]/;
    let host = clean(value), port;
    const end = exec(ends, host);
    if (end !== null) host = slice(host, 0, end.index);
    const colon = isFile ? -1 : indexOf(host, ':', indexOf(host, ']') + 1);
    if (colon >= 0) {
      port = exec(/^[0-9]+/, slice(host, colon + 1))?.[0];
      host = slice(host, 0, colon);
    }
    if (isOpaque(parts) || (colon >= 0 && (host === '' || !withPort))) return false;
    if (host === '' && !isFile && (SPECIAL[parts.protocol] || hasCredentials(parts) || parts.port !== '')) return false;
    /* The parser would read these characters as something else. */
    if (exec(isFile ? /[ @:|]/ : /[ @]/, host) !== null) return false;
    parts.host = host;
    if (port !== undefined && +port < 65536) parts.port = port;
    return true;
  }

  function setTail(parts, name, mark, value, which) {
    parts[name] = value === '' ? '' : mark + escaped(value[0] === mark ? slice(value, 1) : value, which);
    return true;
  }

  function parse(url, base) {
    const href = parseURL(text(url), base === undefined ? undefined : text(base));
    return href === undefined ? undefined : partsOf(href);
  }

  function hostOf({ host = '', port }) {
    return port === '' ? host : `${host}:${port}`;
  }

  function originOf(parts) {
    const { protocol, path } = parts;
    if (SPECIAL[protocol] && protocol !== 'file:') return `${protocol}//${hostOf(parts)}`;
    const inner = protocol === 'blob:' ? parse(path, undefined) : undefined;
    return inner !== undefined && (inner.protocol === 'http:' || inner.protocol === 'https:')
      ? originOf(inner) : 'null';
  }

  const tail = (part) => (part.length > 1 ? part : '');

  let view;

  class URL {
    #parts;
    #params; /* made on first use */

    static {
      view = (value) => (typeof value === 'object' && value !== null && #parts in value
        ? { __proto__: null, fields: value.#fields() } : undefined);
    }

    constructor(url, base = undefined) {
      need(arguments, 1, 'URL');
      this.#parts = parse(url, base);
      if (this.#parts !== undefined) return;
      const error = natives.withCode(new TypeErrorOf('Invalid URL'), 'ERR_INVALID_URL');
      natives.put(error, 'input', text(url), true);
      if (base !== undefined) natives.put(error, 'base', text(base), true);
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

    get href() { return this.#parts.href; }

    set href(value) {
      const parts = parse(value, undefined);
      if (parts === undefined) throw new TypeErrorOf('Invalid URL');
      this.#parts = parts;
      this.#relist();
    }

    get origin() { return originOf(this.#parts); }

    get protocol() { return this.#parts.protocol; }

    set protocol(value) { this.#set('protocol', value); }

    get username() { return this.#parts.username; }

    set username(value) { this.#set('username', value); }

    get password() { return this.#parts.password; }

    set password(value) { this.#set('password', value); }

    get host() { return hostOf(this.#parts); }

    set host(value) { this.#set('host', value); }

    get hostname() { return this.#parts.host ?? ''; }

    set hostname(value) { this.#set('hostname', value); }

    get port() { return this.#parts.port; }

    set port(value) { this.#set('port', value); }

    get pathname() { return this.#parts.path; }

    set pathname(value) { this.#set('pathname', value); }

    get search() { return tail(this.#parts.search); }

    set search(value) { this.#set('search', value); }

    get searchParams() { return this.#linked(); }

    get hash() { return tail(this.#parts.hash); }

    set hash(value) { this.#set('hash', value); }

    toString() { return this.#parts.href; }

    toJSON() { return this.#parts.href; }

    #linked() {
      this.#params ??= load('params').own.link(slice(this.#parts.search, 1), (changed) => {
        this.#change('search', changed);
      });
      return this.#params;
    }

    #fields() {
      const parts = this.#parts;
      return {
        __proto__: null, href: parts.href, origin: originOf(parts), protocol: parts.protocol,
        username: parts.username, password: parts.password, host: hostOf(parts),
        hostname: parts.host ?? '', port: parts.port, pathname: parts.path,
        search: tail(parts.search), searchParams: this.#linked(), hash: tail(parts.hash),
      };
    }

    #change(part, value) {
      const parts = { __proto__: null, ...this.#parts }, href = SET[part](parts, value) ? written(parts) : undefined;
      if (href !== undefined) this.#parts = partsOf(href);
    }

    #set(part, value) {
      this.#change(part, text(value));
      this.#relist();
    }

    #relist() {
      if (this.#params !== undefined) load('params').own.relist(this.#params, slice(this.#parts.search, 1));
    }
  }

  natives.tag(URL.prototype, 'URL');
  natives.views[natives.views.length] = view;
  const own = { __proto__: null, parse };
  return { URL, own };
})

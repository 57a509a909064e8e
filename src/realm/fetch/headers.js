/* SPDX-License-Identifier: MIT */
/* headers - names and values of a request or a response, by the Fetch standard. */
import {
  apply, charCodeAt, defineProperty, deleteProperty, getOwnPropertyDescriptor, iterator,
  matches, need, ownKeys, push, refusal, slice, sort, tag, toLowerCase,
} from './primordials.js';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

export const isToken = (text) => matches(TOKEN, text);

function isSpace(code) {
  return code === 9 || code === 10 || code === 13 || code === 32;
}

function readName(name) {
  const text = `${name}`;
  if (!isToken(text)) throw refusal('HEADER', `a header cannot be named ${quote(text)}`);
  return text;
}

function readValue(value, name) {
  const text = `${value}`;
  let from = 0, to = text.length;
  while (from < to && isSpace(charCodeAt(text, from))) from++;
  while (to > from && isSpace(charCodeAt(text, to - 1))) to--;
  for (let i = from; i < to; i++) {
    const code = charCodeAt(text, i);
    if (code > 255)
      throw refusal('HEADER', `the header ${name} has a character that is not a byte: ` +
        `${quote(text[i])}; encodeURIComponent() makes bytes of it`);
    if (code === 0 || code === 10 || code === 13)
      throw refusal('HEADER', `the header ${name} has a line break or a NUL in its value`);
  }
  return slice(text, from, to);
}

function quote(text) {
  return text.length > 40 ? `'${slice(text, 0, 40)}...'` : `'${text}'`;
}

let pairsOf, makeImmutable, sorted, isHeaders;

export class Headers {
  #list = { __proto__: null }; /* by the name in lower case */
  #sorted = null; /* the list that an iteration sees; null: not made yet */
  #isImmutable = false;

  static {
    isHeaders = (value) => typeof value === 'object' && value !== null && #list in value;
    makeImmutable = (headers) => {
      headers.#isImmutable = true;
      return headers;
    };
    /* The pairs as they are sent to the host: each name as it was first written. */
    pairsOf = (headers) => {
      const pairs = [], keys = ownKeys(headers.#list);
      for (let i = 0; i < keys.length; i++) {
        const { name, values } = headers.#list[keys[i]];
        for (let k = 0; k < values.length; k++) push(pairs, [name, values[k]]);
      }
      return pairs;
    };
    sorted = (headers) => {
      if (headers.#sorted === null) headers.#sorted = headers.#sort();
      return headers.#sorted;
    };
  }

  constructor(init = undefined) {
    if (init === undefined) return;
    if ((typeof init !== 'object' && typeof init !== 'function') || init === null)
      throw refusal('HEADER', 'headers are an object, a list of pairs or a Headers');
    if (isHeaders(init)) this.#fillFromPairs(pairsOf(init));
    else if (init[iterator] !== undefined && init[iterator] !== null)
      this.#fillFromSequence(init);
    else this.#fillFromRecord(init);
  }

  append(name, value) {
    need(arguments, 2, 'append');
    const given = readName(name);
    this.#add(given, readValue(value, given));
  }

  delete(name) {
    need(arguments, 1, 'delete');
    const key = toLowerCase(readName(name));
    this.#change();
    deleteProperty(this.#list, key);
  }

  get(name) {
    need(arguments, 1, 'get');
    const entry = this.#list[toLowerCase(readName(name))];
    return entry === undefined ? null : join(entry.values);
  }

  getSetCookie() {
    const entry = this.#list['set-cookie'], values = [];
    for (let i = 0; entry !== undefined && i < entry.values.length; i++)
      push(values, entry.values[i]);
    return values;
  }

  has(name) {
    need(arguments, 1, 'has');
    return this.#list[toLowerCase(readName(name))] !== undefined;
  }

  set(name, value) {
    need(arguments, 2, 'set');
    const given = readName(name);
    const text = readValue(value, given);
    this.#change();
    this.#list[toLowerCase(given)] = { __proto__: null, name: given, values: [text] };
  }

  forEach(callback, self = undefined) {
    need(arguments, 1, 'forEach');
    if (typeof callback !== 'function')
      throw new TypeError('Headers.forEach: the callback is not a function');
    for (let i = 0; i < sorted(this).length; i++) {
      const { name, value } = sorted(this)[i];
      apply(callback, self, [value, name, this]);
    }
  }

  /* Live: after a change of the headers, it continues at the same index of the new list. */
  * entries() {
    for (let i = 0; i < sorted(this).length; i++) {
      const { name, value } = sorted(this)[i];
      yield [name, value];
    }
  }

  * keys() { for (let i = 0; i < sorted(this).length; i++) yield sorted(this)[i].name; }

  * values() { for (let i = 0; i < sorted(this).length; i++) yield sorted(this)[i].value; }

  #change() {
    if (this.#isImmutable) throw new TypeError('these headers cannot be changed');
    this.#sorted = null;
  }

  #add(name, value) {
    const key = toLowerCase(name);
    this.#change();
    if (this.#list[key] === undefined)
      this.#list[key] = { __proto__: null, name, values: [value] };
    else push(this.#list[key].values, value);
  }

  #fillFromPairs(pairs) {
    for (let i = 0; i < pairs.length; i++) this.#add(pairs[i][0], pairs[i][1]);
  }

  #fillFromSequence(init) {
    for (const item of init) {
      const pair = [];
      if (typeof item !== 'object' || item === null)
        throw refusal('HEADER', 'an item of a list of headers is a pair: [name, value]');
      for (const part of item) push(pair, part);
      if (pair.length !== 2)
        throw refusal('HEADER',
          `a header is a pair of name and value, not ${pair.length} things`);
      this.append(pair[0], pair[1]);
    }
  }

  #fillFromRecord(init) {
    const keys = ownKeys(init);
    for (let i = 0; i < keys.length; i++) {
      const own = getOwnPropertyDescriptor(init, keys[i]);
      if (own === undefined || !own.enumerable) continue;
      if (typeof keys[i] === 'symbol') throw refusal('HEADER', 'a header is named by a string');
      this.append(keys[i], init[keys[i]]);
    }
  }

  /* Sorts by name, and joins the values of one name, except cookies. */
  #sort() {
    const names = ownKeys(this.#list), list = [];
    sort(names, (a, b) => (a < b ? -1 : 1));
    for (let i = 0; i < names.length; i++) {
      const { values } = this.#list[names[i]];
      if (names[i] !== 'set-cookie')
        push(list, { __proto__: null, name: names[i], value: join(values) });
      else
        for (let k = 0; k < values.length; k++)
          push(list, { __proto__: null, name: names[i], value: values[k] });
    }
    return list;
  }
}

defineProperty(Headers.prototype, iterator, {
  value: Headers.prototype.entries, writable: true, configurable: true,
});
tag(Headers, 'Headers');

function join(values) {
  let all = values[0];
  for (let i = 1; i < values.length; i++) all += `, ${values[i]}`;
  return all;
}

export { isHeaders, makeImmutable, pairsOf };

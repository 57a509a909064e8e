/* SPDX-License-Identifier: MIT */
/*
 * digits - keeps all digits of integers beyond 2^53 - 1, whose last digits a Number loses.
 *
 * Code gets such integers as texts. A Number among arguments or in the result gets the
 * original digits back if only one known integer maps to it. A text becomes an integer
 * where the tool's schema wants one.
 *
 * Evaluates to a function of the object of declarations.js. It returns a function of (warn),
 * which returns
 *   input(code, text)       the value of the input, JSON
 *   result(text)            the JSON of a result with all digits; undefined: it needs no change
 *   given(text, who, line)  the value of the JSON that a tool gave
 *   check(text)             throws if a call's JSON needs exact()
 *   exact(thrown, call)     after check() or stringify() has thrown: { why }, a refusal, or
 *                           { value, hasTexts }, arguments with all digits; undefined: it has
 *                           thrown for another reason
 *   fit(value, schema)      arguments whose texts are integers where the schema wants them
 */
({ follow }) => (warn) => {
  'use strict';
  const { isRawJSON, parse, rawJSON, stringify } = JSON;
  const { isArray } = Array;
  const SAFE = Number.MAX_SAFE_INTEGER;
  const DIGITS_MIN = 16; // of 2^53 - 1
  const DIGITS_MAX = 40; // of a known integer
  const KNOWN_MAX = 65536;
  const SHOWN_MAX = 64; // digits shown
  const PLACE_MAX = 256;
  const NAME_MAX = 128; // shown as part of a place
  const REMARKS_MAX = 16;
  const LEVELS_MAX = 12; // of schemas that refer to others
  const SCHEMAS_MAX = 100000; // visited for one call

  const isFar = (value) => typeof value === 'number' && (value > SAFE || value < -SAFE);
  const isFarText = (text) => typeof text === 'string' && /^-?[1-9]\d{15,}$/.test(text) && isFar(Number(text));

  /* ---- what is known -------------------------------------------------------- */

  /* Key: the Number that an integer becomes. Value: its digits; '' if they are as JavaScript
   * writes them; null if several integers become that Number. */
  const known = new Map();
  let isFull = false; // there were too many: no lookup is certain

  function know(number, digits) {
    if (number <= SAFE || isFull) return;
    if (known.has(number)) {
      if (known.get(number) !== digits) known.set(number, null);
      return;
    }
    isFull = known.size === KNOWN_MAX;
    if (!isFull) known.set(number, digits);
  }

  function knowDigits(text) {
    const digits = text.replace(/^0+/, '');
    if (digits.length >= DIGITS_MIN && digits.length <= DIGITS_MAX) know(Number(digits), digits);
  }

  /* Digits that are not part of a name, a fraction or another number. In JSON a letter before
   * them may end an escape. */
  const INTEGERS = /(?:(?<![.\w])|(?<=\\[a-z]))\d{16,}(?!\d|[_a-mo-zA-Z]|\.\d)/g;

  function learn(text) {
    for (const [digits] of text.matchAll(INTEGERS)) knowDigits(digits);
  }

  /* True if these are the digits that JavaScript writes for that Number, the fewest. */
  function isAsWritten(number, digits) {
    const fewest = `${number}`.replace(/e.*|\./g, '');
    return fewest.replace(/0+$/, '') === digits.replace(/0+$/, '');
  }

  /* ---- the literals of code ------------------------------------------------- */

  function positionOf(code, at) {
    const lines = code.slice(0, at).split('\n');
    return `line ${lines.length}, column ${lines.at(-1).length + 1}`;
  }

  /* A number, or a token that may contain digits that are not a number of the code. */
  const TOKENS = new RegExp([/"(?:\\.|[^"\\\n])*"/, /'(?:\\.|[^'\\\n])*'/, /`(?:\\[^]|[^`\\])*`/, /\/\/.*/,
    /\/\*[^]*?\*\//, /[A-Za-z_$][\w$]*/, /(\.?\d(?:\w|\.\d|(?<=[\d_.]e)[+-]\d)*)/].map(({ source }) => source).join('|'), 'gi');

  /* A Number with an exponent or a fraction is taken to be exact. */
  function learnLiterals(code) {
    let remarks = 0;
    for (const { 1: text, index: at } of code.matchAll(TOKENS)) {
      if (text === undefined) continue;
      const plain = text.replaceAll('_', '').replace(/n$/, '');
      const isInteger = /^(?:\d+|0[xob][\da-f]+)$/i.test(plain);
      const number = Number(plain);
      const digits = isInteger ? `${BigInt(plain)}` : '';
      if (isInteger) knowDigits(digits);
      else know(number, '');
      if (!isInteger || text.endsWith('n') || !isFar(number) || isAsWritten(number, digits)) continue;
      const shown = text.slice(0, SHOWN_MAX);
      if (remarks++ < REMARKS_MAX)
        warn(`${positionOf(code, at)}: a Number cannot hold ${shown}: arguments of tools and the result get its ` +
          `digits, nothing else does: write ${shown}n or a text`);
    }
  }

  /* ---- values --------------------------------------------------------------- */

  /* rows[0].id */
  function placeOf(name, keys) {
    let place = name;
    for (const { isList, key } of keys) {
      if (place.length >= PLACE_MAX) break;
      if (isList) place += `[${key}]`;
      else if (/^[A-Za-z_$][\w$]*$/.test(key) && key.length < NAME_MAX) place += (place === '' ? '' : '.') + key;
      else place += key.length < NAME_MAX ? `[${stringify(key)}]` : '[...]';
    }
    return place;
  }

  /* Parse JSON. change(value, source, find) is called for each number and text, which its
   * result replaces. found and keys: the source of the first one that calls find(), its path. */
  function rewrite(text, change) {
    const keys = [];
    let holder, found;
    const value = parse(text, function (key, old, context) {
      if (found !== undefined && old === holder) {
        keys.unshift({ isList: isArray(this), key });
        holder = this;
      }
      if (typeof old !== 'number' && typeof old !== 'string') return old;
      return change(old, context.source, () => {
        if (found !== undefined) return;
        found = context.source;
        keys.unshift({ isList: isArray(this), key });
        holder = this;
      });
    });
    keys.shift(); // the holder of the whole value
    return { value, keys, found };
  }

  /* found: describes the integers that have become texts; or undefined. */
  function read(text, name) {
    let count = 0;
    learn(text);
    const { value, keys, found } = rewrite(text, (old, source, find) => {
      if (!isFar(old) || !/^-?\d+$/.test(source)) return old;
      count++;
      find();
      return source;
    });
    if (found === undefined) return { value };
    const shown = found.length > SHOWN_MAX ? `${found.slice(0, SHOWN_MAX)}...` : found;
    return { value, found: 'integers beyond 2^53 - 1: they are texts in the code, to keep their digits: ' +
      `${placeOf(name, keys)} is "${shown}" (${count} in all); a tool whose schema wants an integer gets one` };
  }

  const reported = new Set(); // tools

  function given(text, who, line) {
    const { value, found } = read(text, '');
    if (found !== undefined && !reported.has(who)) warn(`${who} (line ${line}) gave ${found}`);
    if (found !== undefined) reported.add(who);
    return value;
  }

  function input(code, text) {
    learn(code);
    learnLiterals(code);
    const { value, found } = read(text, 'input');
    if (found !== undefined) warn(`the input has ${found}`);
    return value;
  }

  /* BigInts are written as 123.0, which stringify() writes for no Number. */
  const isBigInt = (source) => source.endsWith('.0');

  /* The digits of a Number beyond the safe ones; '': as JavaScript writes it; null: unknown.
   * A source that differs from the Number is from rawJSON() in the code. */
  function digitsOf(number, source) {
    if (isBigInt(source)) return source.slice(0, -2);
    if (source !== `${number}`) return source;
    const digits = isFull ? null : known.get(Math.abs(number)) ?? null;
    return digits === null || digits === '' ? digits : (number < 0 ? '-' : '') + digits;
  }

  function restore(text) {
    let hasTexts = false, hasLost = false;
    const { value, keys, found } = rewrite(text, (old, source, find) => {
      hasTexts = hasTexts || isFarText(old);
      if (!isFar(old)) return old;
      const digits = digitsOf(old, source);
      hasLost = hasLost || digits === null;
      if (digits === null) find();
      return digits === null || digits === '' ? old : rawJSON(digits);
    });
    return { value, keys, hasTexts, lost: hasLost ? found : undefined };
  }

  const result = (text) => (known.size === 0 ? undefined : stringify(restore(text).value));

  /* ---- arguments ------------------------------------------------------------ */

  const ARGS = 3; // their index in a call

  class Far {
    #text;

    constructor(text) {
      this.#text = text;
    }

    static textOf(thrown) {
      return typeof thrown === 'object' && thrown !== null && #text in thrown ? thrown.#text : undefined;
    }
  }

  function check(text) {
    if (/\d{16}|\de\+/.test(text)) throw new Far(text);
  }

  /* undefined: the arguments have another fault. */
  function withBigInts(call) {
    try {
      return stringify(call, (_, value) => {
        if (typeof value === 'function' || typeof value === 'symbol') throw value;
        return typeof value === 'bigint' ? rawJSON(`${value}.0`) : value;
      });
    } catch {
      return undefined;
    }
  }

  function exact(thrown, call) {
    let text = Far.textOf(thrown);
    if (text === undefined && typeof thrown.message === 'string' && thrown.message.includes('BigInt'))
      text = withBigInts(call);
    if (text === undefined) return undefined;
    const { value, keys, lost, hasTexts } = restore(text);
    if (lost === undefined) return { value: value[ARGS], hasTexts };
    return { why: `${placeOf('args', keys.slice(1))} is ${lost.slice(0, DIGITS_MAX)}, and a Number beyond 2^53 - 1 ` +
      'has lost digits: write them as 123n or as a text' };
  }

  /* ---- schemas -------------------------------------------------------------- */

  const own = (object, name) =>
    (typeof object === 'object' && object !== null && Object.hasOwn(object, name) ? object[name] : undefined);
  const isSchema = (value) => typeof value === 'object' && value !== null && !isArray(value);
  const list = (value) => (isArray(value) ? value : []);

  function fit(args, root) {
    let left = SCHEMAS_MAX;

    function resolve(schema) {
      for (let i = 0; i < LEVELS_MAX && typeof own(schema, '$ref') === 'string'; i++) schema = follow(root, schema.$ref);
      return schema;
    }

    const choicesOf = (schema) => ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => list(own(schema, keyword)));

    function typesOf(given, level) {
      if (level > LEVELS_MAX || left-- <= 0) return [];
      const schema = resolve(given), type = own(schema, 'type');
      return type !== undefined ? [type].flat() : choicesOf(schema).flatMap((one) => typesOf(one, level + 1));
    }

    /* The schema of a member or an item. */
    function below(given, key, isItem, level) {
      if (level > LEVELS_MAX || left-- <= 0) return undefined;
      const schema = resolve(given), items = own(schema, 'items');
      const found = isItem
        ? list(isArray(items) ? items : own(schema, 'prefixItems'))[key] ?? items
        : own(own(schema, 'properties'), key) ?? own(schema, 'additionalProperties');
      if (isSchema(found)) return found;
      for (const one of choicesOf(schema)) {
        const other = below(one, key, isItem, level + 1);
        if (isSchema(other)) return other;
      }
      return undefined;
    }

    function wantsInteger(schema) {
      const types = typesOf(schema, 0);
      return (types.includes('integer') || types.includes('number')) && !types.includes('string');
    }

    function fitted(value, schema) {
      if (isFarText(value) && wantsInteger(schema)) return rawJSON(value);
      if (typeof value !== 'object' || value === null || isRawJSON(value)) return value;
      if (isArray(value)) return value.map((item, i) => fitted(item, below(schema, i, true, 0)));
      return Object.fromEntries(Object.entries(value).map(([key, member]) =>
        [key, fitted(member, below(schema, key, false, 0))]));
    }

    return fitted(args, root);
  }

  return { input, result, given, check, exact, fit };
}

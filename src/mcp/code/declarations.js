/* SPDX-License-Identifier: MIT */
/*
 * declarations - writes tools of upstream servers as TypeScript. The type of a JSON Schema is
 * the types of its keywords, joined by &.
 *
 * Names, descriptions and schemas come from servers: nothing in them can end its literal or
 * comment, or disguise it. Work is bounded by the schemas and characters visited, recursion
 * by levels and by nested objects and arrays. What exceeds a bound becomes `unknown`, with
 * a note where to find the schema.
 *
 * Evaluates to { declare, declareTool, summary, isByCall, isAllOptional, typeOf, escaped,
 * follow }; a doc is { server, tool }, the tool as its server lists it.
 */
(() => {
  'use strict';
  const CHOICES_MAX = 24;
  const OPEN_MAX = 24;
  const NODES_MAX = 400;
  const LEVELS_MAX = 40;
  const SEEN_MAX = 4000000; // characters of names, and entries of required and enum, visited
  const MEMBERS_MAX = 64;
  const REST_MAX = 200; // characters of the type of other members, to show
  const COMPOSED_MAX = 4; // of nested schemas
  const REFERENCE_MAX = 60;
  const POINTER_MAX = 200;
  const CUT = 'unknown /* see tools() */';

  const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
  const own = (object, name) => (isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined);
  const list = (value) => (Array.isArray(value) ? value : []);
  const entries = (value) => (isObject(value) ? Object.entries(value) : []);

  /* ---- strings, names and comments ----------------------------------------- */

  const STEERING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
  const STEERING_ALL = new RegExp(STEERING, 'gu');

  /* One line of at most so many characters. */
  function comment(text, max) {
    const plain = text.slice(0, max * 4)
      .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').replace(/\*\//g, '*|').trimStart();
    const chars = [...plain];
    return chars.length > max ? `${chars.slice(0, max).join('')}...` : plain;
  }

  const escaped = (text) =>
    text.replace(STEERING_ALL, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
  const string = (text) => escaped(JSON.stringify(text));

  const nameText = (name) => (/^[A-Za-z_$][\w$]{0,57}$/.test(name) ? name : string(name));

  /* ---- references ---------------------------------------------------------- */

  /* A reference within a schema is a JSON pointer (RFC 6901) in a URI fragment. */
  function decodePercent(text) {
    return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (escaped) => {
      try {
        return decodeURIComponent(escaped);
      } catch {
        return escaped;
      }
    });
  }

  function step(at, part) {
    const name = part.replace(/~(.)/g, (_, c) => (c === '1' ? '/' : '~'));
    if (Array.isArray(at)) return /^\d{1,4}$/.test(name) ? at[Number(name)] : undefined;
    return own(at, name);
  }

  /* The definition whose keyword has that value. */
  function findNamed(root, keyword, wanted) {
    const all = [...entries(own(root, '$defs')), ...entries(own(root, 'definitions'))];
    return all.map(([, schema]) => schema).find((schema) => own(schema, keyword) === wanted);
  }

  function follow(root, ref) {
    if (ref.length === 0 || ref.length > POINTER_MAX) return undefined;
    const text = decodePercent(ref);
    const hash = text.indexOf('#');
    if (text.includes('\0')) return undefined;
    if (hash < 0 || (hash > 0 && own(root, '$id') !== text.slice(0, hash)))
      return findNamed(root, '$id', text);
    const fragment = text.slice(hash + 1);
    if (fragment !== '' && fragment[0] !== '/') return findNamed(root, '$anchor', fragment);
    return fragment.split('/').slice(1).reduce(step, root);
  }

  /* ---- does a schema require any member? ----------------------------------- */

  const requiresAny = (schema) => list(own(schema, 'required')).length > 0;

  function isAllOptional(root) {
    let nodes = 0;
    const isOptional = (schema, depth) => {
      if (depth > COMPOSED_MAX || nodes++ >= NODES_MAX) return true;
      if (requiresAny(schema)) return false;
      const ref = own(schema, '$ref');
      if (typeof ref === 'string' && !isOptional(follow(root, ref), depth + 1)) return false;
      const below = (keyword) =>
        list(own(schema, keyword)).map((part) => isOptional(part, depth + 1));
      const one = (choices) => choices.length === 0 || choices.includes(true);
      return below('allOf').every(Boolean) && one(below('anyOf')) && one(below('oneOf'));
    };
    return isOptional(root, 0);
  }

  /* ---- types that are joined ----------------------------------------------- */

  /* A type is [text, kind]. */
  const NOTHING = 0; // `unknown`
  const OPEN = 1; // `unknown` with other types, or because a bound was reached
  const CHOICE = 2; // a union: needs parentheses where it is joined by &
  const ONE = 3;

  /* Types joined by & or |. Duplicates are left out, and so is `unknown` in &. */
  class Join {
    parts = [];
    isOpen = false;
    #isAll;

    constructor(isAll) {
      this.#isAll = isAll;
    }

    add([text, kind]) {
      this.isOpen ||= kind === OPEN || (kind === NOTHING && !this.#isAll);
      if (kind === NOTHING && this.#isAll) return;
      if (!this.parts.some(([other]) => other === text)) this.parts.push([text, kind]);
    }

    /* If no type is left, or all are `unknown`, the result is `unknown`. */
    end() {
      const { parts } = this;
      if (parts.every(([, kind]) => kind === NOTHING)) return ['unknown', NOTHING];
      if (parts.length === 1) return parts[0];
      if (!this.#isAll)
        return [parts.map(([text]) => text).join(' | '), this.isOpen ? OPEN : CHOICE];
      const texts = parts.map(([text, kind]) =>
        (kind === CHOICE || kind === OPEN ? `(${text})` : text));
      return [texts.join(' & '), ONE];
    }
  }

  /* ---- values of an enum --------------------------------------------------- */

  /* Values left out of a list remain in the type as their kind; otherwise valid arguments
   * would be refused. */
  const LITERAL_MAX = 60;
  const NUMBER_MAX = 15;
  const VALUE_MEAN = 16; // mean characters of a value in a list of any number
  const KINDS = ['string', 'number', 'boolean', 'null', '{ [key: string]: unknown }', 'Array<unknown>'];

  function kindOf(value) {
    if (value === null) return 'null';
    if (Array.isArray(value)) return 'Array<unknown>';
    return typeof value === 'object' ? '{ [key: string]: unknown }' : typeof value;
  }

  const isShortNumber = (value) =>
    typeof value === 'number' && /^-?[\d.]{1,15}$/.test(String(value)) &&
    String(value).length <= NUMBER_MAX;

  /* undefined: it is not written in full. */
  function literal(value) {
    if (typeof value === 'string')
      return JSON.stringify(value).length <= LITERAL_MAX ? string(value) : undefined;
    if (typeof value === 'number') return isShortNumber(value) ? String(value) : undefined;
    return typeof value === 'object' && value !== null ? undefined : String(value);
  }

  function valuesType(values, form) {
    const texts = [], leftOut = new Set();
    let chars = 0;
    for (const value of values) {
      const isFull = texts.length >= form.valuesMax && chars >= form.valuesMax * VALUE_MEAN;
      const text = isFull ? undefined : literal(value);
      if (text === undefined) {
        leftOut.add(kindOf(value));
        continue;
      }
      texts.push(text);
      chars += text.length + 3;
    }
    texts.push(...KINDS.filter((kind) => leftOut.has(kind)));
    const note = leftOut.size > 0 ? ` /* one of ${values.length}: see tools() */` : '';
    return [(texts.length > 0 ? texts.join(' | ') : 'never') + note, texts.length > 1 ? CHOICE : ONE];
  }

  /* ---- notes on a parameter ------------------------------------------------ */

  const DEFAULT_MAX = 40;
  const FORMAT_MAX = 24;

  function rangeFacts(schema) {
    const bound = (keyword, sign) => {
      const value = own(schema, keyword);
      return isShortNumber(value) ? [`${sign}${value}`] : [];
    };
    const least = own(schema, 'minimum'), most = own(schema, 'maximum');
    const range = isShortNumber(least) && isShortNumber(most)
      ? [`${least}..${most}`]
      : [...bound('minimum', '>= '), ...bound('maximum', '<= ')];
    return [...range, ...bound('exclusiveMinimum', '> '), ...bound('exclusiveMaximum', '< ')];
  }

  /* A default of null usually means a missing value. */
  function defaultFacts(schema) {
    const value = own(schema, 'default');
    if (value === undefined || typeof value === 'object') return [];
    const text = JSON.stringify(value);
    if (text.length > DEFAULT_MAX) return [];
    return [`@default ${typeof value === 'string' ? `"${comment(value, DEFAULT_MAX)}"` : text}`];
  }

  function formatFacts(schema) {
    const format = own(schema, 'format');
    const isShort = typeof format === 'string' && format.length > 0 && format.length < FORMAT_MAX - 1;
    return isShort ? [comment(format, FORMAT_MAX)] : [];
  }

  function note(schema, form) {
    const description = own(schema, 'description');
    const about = typeof description === 'string' && form.describeMax > 0
      ? comment(description, form.describeMax) : '';
    const facts = [...defaultFacts(schema), ...rangeFacts(schema), ...formatFacts(schema)].join(', ');
    const text = about + (about !== '' && facts !== '' ? ' ' : '') + facts;
    return text === '' ? '' : `/** ${text} */ `;
  }

  /* ---- the type of a schema ------------------------------------------------ */

  class Writer {
    #root;
    #form;
    #indent;
    #nodes = 0;
    #levels = 0;
    #nested = 0; // of the levels, objects and arrays
    #seen = 0;
    #open; // targets of references, outside in

    constructor(root, form) {
      this.#root = root;
      this.#form = form;
      this.#indent = form.indent;
      this.#open = [root];
    }

    #line() {
      return `\n${'  '.repeat(this.#indent)}`;
    }

    #choices(schemas) {
      const join = new Join(false);
      for (const [i, schema] of schemas.entries()) {
        join.add(i === CHOICES_MAX ? [CUT, OPEN] : this.type(schema));
        if (i === CHOICES_MAX) break;
      }
      return join.end();
    }

    /* The type of other members must not exclude the named ones, since an index signature
     * applies to all members. text: their type, or ''; isAny: some may have any type;
     * fitsAll: no member has another type. */
    #rest(schema) {
      const others = own(schema, 'additionalProperties');
      const fitting = entries(own(schema, 'patternProperties'));
      const join = new Join(false);
      if (fitting.length > 0) join.add(this.#choices(fitting.map(([, value]) => value)));
      if (isObject(others)) join.add(this.type(others));
      return {
        text: fitting.length > 0 || isObject(others) ? join.end()[0] : '',
        isAny: others === true || (fitting.length > 0 && others === undefined),
        fitsAll: true,
      };
    }

    /* The signature that admits every member, with the type of the others in a comment. */
    static #any({ text }) {
      const isBrief = text.length <= REST_MAX && !/[\n*]/.test(text);
      return `[key: string]: unknown${text === '' || text === 'unknown' ? ''
        : ` /* others: ${isBrief ? text : 'see tools()'} */`}`;
    }

    #members(schema, names, rest) {
      const members = entries(own(schema, 'properties'));
      const required = new Set(list(own(schema, 'required')));
      const lines = [];
      this.#indent++;
      for (const [name, value] of members.slice(0, MEMBERS_MAX)) {
        names.add(name);
        this.#seen += name.length;
        const start = this.#line() + note(value, this.#form) + nameText(name);
        const [text] = this.type(value);
        rest.fitsAll &&= text === rest.text;
        lines.push(`${start}${required.has(name) ? ': ' : '?: '}${text};`);
      }
      if (members.length > MEMBERS_MAX) lines.push(`${this.#line()}/* and more */`);
      if (names.size > 0 && (rest.isAny || (rest.text !== '' && !rest.fitsAll))) {
        lines.push(`${this.#line()}${Writer.#any(rest)};`);
        rest.text = '';
        rest.isAny = false;
      }
      this.#indent--;
      return names.size > 0 ? [`{${lines.join('')}${this.#line()}}`] : [];
    }

    /* Required members that are not listed: nothing else is known of them. */
    static #unlisted(schema, names) {
      const more = [];
      for (const name of list(own(schema, 'required'))) {
        if (typeof name !== 'string' || names.has(name)) continue;
        names.add(name);
        more.push(more.length === MEMBERS_MAX - 1 ? '/* and more */' : `${nameText(name)}: unknown`);
        if (more.length === MEMBERS_MAX) break;
      }
      return more.length > 0 ? [`{ ${more.join('; ')} }`] : [];
    }

    #object(schema) {
      const names = new Set();
      const rest = this.#rest(schema);
      const parts = [...this.#members(schema, names, rest), ...Writer.#unlisted(schema, names)];
      if (rest.isAny) parts.push(`{ ${Writer.#any(rest)} }`);
      else if (rest.text !== '') parts.push(`{ [key: string]: ${rest.text} }`);
      else if (names.size === 0)
        parts.push(own(schema, 'additionalProperties') === false ? '{}' : '{ [key: string]: unknown }');
      return parts.join(' & ');
    }

    #tuple(schema, first, others) {
      const parts = first.slice(0, CHOICES_MAX).map((part) => this.type(part)[0]);
      if (first.length > CHOICES_MAX) others = undefined;
      else if (own(schema, 'maxItems') === parts.length) others = false;
      if (others !== false) parts.push(`...Array<${this.type(others)[0]}>`);
      return `[${parts.join(', ')}]`;
    }

    #array(schema) {
      const first = own(schema, 'prefixItems'), items = own(schema, 'items');
      if (Array.isArray(first)) return this.#tuple(schema, first, items);
      if (Array.isArray(items)) return this.#tuple(schema, items, own(schema, 'additionalItems'));
      return `Array<${this.type(items)[0]}>`;
    }

    #container(schema, isArray) {
      if (this.#nested >= this.#form.nestedMax) return [CUT, OPEN];
      this.#nested++;
      const text = isArray ? this.#array(schema) : this.#object(schema);
      this.#nested--;
      return [text, ONE];
    }

    #named(type, schema) {
      switch (type) {
        case 'array': case 'object': return this.#container(schema, type === 'array');
        case 'integer': return ['number', ONE];
        case 'string': case 'number': case 'boolean': case 'null': return [type, ONE];
        default: return ['unknown', NOTHING];
      }
    }

    /* The type by the schema's own keywords, without the schemas that it is composed of. */
    #plain(schema) {
      const has = (keyword) => own(schema, keyword) !== undefined;
      const type = own(schema, 'type');
      if (Array.isArray(type)) {
        const join = new Join(false);
        for (const each of type.slice(0, 7)) join.add(this.#named(each, schema));
        return join.end();
      }
      if (type !== undefined) return this.#named(type, schema);
      if (has('properties') || has('additionalProperties') || has('patternProperties') || requiresAny(schema))
        return this.#container(schema, false);
      return has('items') || has('prefixItems') ? this.#container(schema, true) : ['unknown', NOTHING];
    }

    /* True if it says more than its kind. Otherwise the schemas that it is composed of do. */
    static #isMore(schema) {
      const others = own(schema, 'additionalProperties');
      return entries(own(schema, 'properties')).length > 0 ||
        ['items', 'prefixItems', 'patternProperties'].some((keyword) => own(schema, keyword) !== undefined) ||
        isObject(others) || others === true || requiresAny(schema);
    }

    #reference(ref) {
      const target = follow(this.#root, ref);
      if (this.#open.includes(target)) return [`unknown /* as ${comment(ref, REFERENCE_MAX)} */`, OPEN];
      if (this.#open.length === OPEN_MAX) return [CUT, OPEN];
      this.#open.push(target);
      const type = this.type(target);
      this.#open.pop();
      return type;
    }

    /* `if` with `then`, or `else`: neither branch may exclude what the other allows. */
    #addCondition(join, schema) {
      if (own(schema, 'if') === undefined || join.parts.length + 2 > CHOICES_MAX) return;
      const both = new Join(true);
      both.add(this.type(own(schema, 'if')));
      const then = this.type(own(schema, 'then'));
      both.add(then);
      if (then[1] !== NOTHING) join.add(both.end());
      const other = this.type(own(schema, 'else'));
      if (other[1] !== NOTHING) join.add(other);
    }

    /* The members that a given member requires. */
    #addDependents(join, members) {
      for (const [name, value] of entries(members)) {
        if (join.parts.length >= CHOICES_MAX) return;
        const [text, kind] = this.type(value);
        if (kind === ONE) join.add([`{ ${nameText(name)}: unknown } & ${text}`, ONE]);
      }
    }

    /* The conditions of the schema and of its allOf, as one choice that admits all
     * objects. */
    #conditions(schema) {
      const join = new Join(false);
      for (const each of [schema, ...list(own(schema, 'allOf'))]) this.#addCondition(join, each);
      this.#addDependents(join, own(schema, 'dependentSchemas'));
      this.#addDependents(join, own(schema, 'dependencies'));
      if (join.parts.length > 0) join.add(['{}', ONE]);
      return join.end();
    }

    /* For a scalar, write the kind only if its composed schemas leave it open. */
    #parts(schema, hasIf) {
      const join = new Join(true);
      const isFirst = Writer.#isMore(schema);
      const ref = own(schema, '$ref');
      if (isFirst) join.add(this.#plain(schema));
      if (typeof ref === 'string') join.add(this.#reference(ref));
      /* Conditions in its parts are written once for all of them. */
      hasIf &&= own(schema, 'type') === 'object' || own(schema, 'properties') !== undefined;
      for (const [i, part] of list(own(schema, 'allOf')).slice(0, CHOICES_MAX + 1).entries())
        join.add(i === CHOICES_MAX ? [CUT, OPEN] : this.type(part, !hasIf));
      for (const keyword of ['oneOf', 'anyOf'])
        if (Array.isArray(own(schema, keyword))) join.add(this.#choices(schema[keyword]));
      if (hasIf) join.add(this.#conditions(schema));
      if (!isFirst && (join.parts.length === 0 || join.isOpen)) join.add(this.#plain(schema));
      return join.end();
    }

    #schema(schema, hasIf) {
      const values = own(schema, 'enum'), constant = own(schema, 'const');
      if (Array.isArray(values)) return valuesType(values, this.#form);
      if (constant !== undefined) return [literal(constant) ?? kindOf(constant), ONE];
      return this.#parts(schema, hasIf);
    }

    /* hasIf: write its conditions here, not in the type that contains it. */
    type(schema, hasIf = true) {
      if (schema === false) return ['never', ONE];
      if (!isObject(schema)) return ['unknown', NOTHING];
      this.#seen += list(schema.required).length + list(schema.enum).length;
      if (this.#levels >= LEVELS_MAX || this.#nodes++ >= NODES_MAX || this.#seen > SEEN_MAX)
        return [CUT, OPEN];
      this.#levels++;
      const [text, kind] = this.#schema(schema, hasIf);
      this.#levels--;
      if (kind === NOTHING || own(schema, 'nullable') !== true) return [text, kind];
      return [`${text} | null`, kind === OPEN ? OPEN : CHOICE];
    }
  }

  const typeOf = (schema, form) => new Writer(schema, form).type(schema)[0];

  /* ---- tools --------------------------------------------------------------- */

  const ONE_MAX = 12288; // characters of one declaration
  const TOOLS_MAX = 4096; // of a server
  const SUMMARY_MAX = 160;
  const DESCRIBE_MAX = 100; // characters of a parameter's description
  const DESCRIBE_ONE = 300; // the same for a tool that is requested alone

  /* From the longest form to the shortest. */
  const FORMS = (describeMax) => [
    { indent: 2, nestedMax: 10, valuesMax: 24, describeMax },
    { indent: 2, nestedMax: 10, valuesMax: 24, describeMax: DESCRIBE_MAX },
    { indent: 2, nestedMax: 3, valuesMax: 24, describeMax: DESCRIBE_MAX },
    { indent: 2, nestedMax: 2, valuesMax: 12, describeMax: DESCRIBE_MAX / 2 },
    { indent: 2, nestedMax: 1, valuesMax: 2, describeMax: 0 },
  ];

  /* Names that mean something else on a server's object (servers.js): only
   * call("name", args) reaches a tool of such a name. */
  const TAKEN = new Set(['call', 'tools', 'then', 'toJSON', 'constructor', 'toString', 'valueOf', 'inspect',
    'hasOwnProperty', 'nodeType', '$$typeof', 'prototype', '__proto__']);
  const isByCall = (name) => TAKEN.has(name);

  /* Up to the end of the first sentence or paragraph that has content. */
  const SENTENCE_MIN = 20; // characters
  function firstSentence(text) {
    const trimmed = text.trimStart();
    for (const { 0: end, index } of trimmed.matchAll(/\n|\.(?=[\s"\\]|$)/g))
      if (end === '\n' || index >= SENTENCE_MIN) return trimmed.slice(0, index);
    return trimmed;
  }

  /* The first sentence of a description, or '', fit for a comment. If calls of the tool must
   * be tasks, it first says that the tool cannot be called. */
  function summary(tool, max) {
    const text = own(tool, 'description');
    const isTask = own(own(tool, 'execution'), 'taskSupport') === 'required';
    return (isTask ? '[cannot be called here: only as a task] ' : '') +
      (typeof text === 'string' ? comment(firstSentence(text), max) : '');
  }

  /* The name, and the start of the argument list. `new(...)` would be a constructor. */
  function head(name) {
    if (isByCall(name)) return `call(tool: ${string(name)}, `;
    return `${name === 'new' ? '"new"' : nameText(name)}(`;
  }

  function withTypes(tool, form) {
    /* Arguments are an object even if the server does not say so. */
    const input = own(tool, 'inputSchema') ?? { type: 'object' };
    const output = own(tool, 'outputSchema');
    const args = isAllOptional(input) ? 'args?' : 'args';
    if (form === undefined) return `${args}: any /* see tools() */): Promise<any>;`;
    return `${args}: ${typeOf(input, form)}): Promise<${isObject(output) ? typeOf(output, form) : 'any'}>;`;
  }

  /* One tool as a member of its server's object, in the first form that fits. */
  function declareTool(tool, describeMax = DESCRIBE_MAX) {
    const about = summary(tool, SUMMARY_MAX);
    let text;
    for (const form of [...FORMS(describeMax), undefined]) {
      text = withTypes(tool, form);
      if (text.length <= ONE_MAX) break;
    }
    return `${about === '' ? '' : `    /** ${about} */\n`}    ${head(tool.name)}${text}\n`;
  }

  /* `declare const servers: {...}`. Tools keep their order, grouped by server. A tool name
   * that a server lists twice is written once. */
  function declare(docs) {
    const servers = new Map();
    for (const { server, tool } of docs) {
      if (!servers.has(server)) servers.set(server, new Map());
      const tools = servers.get(server);
      if (typeof own(tool, 'name') === 'string' && !tools.has(tool.name) && tools.size < TOOLS_MAX)
        tools.set(tool.name, tool);
    }
    const describeMax = docs.length === 1 ? DESCRIBE_ONE : DESCRIBE_MAX;
    const blocks = [...servers].map(([server, tools]) =>
      `  ${JSON.stringify(server)}: {\n${[...tools.values()].map((tool) =>
        declareTool(tool, describeMax)).join('')}  };\n`);
    return `declare const servers: {\n${blocks.join('')}};\n`;
  }

  return { declare, declareTool, summary, isByCall, isAllOptional, typeOf, escaped, follow };
})()

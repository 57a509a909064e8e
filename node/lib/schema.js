// SPDX-License-Identifier: MIT
/*
 * schema - a model's arguments, checked against the JSON Schema of a tool.
 *
 * Errors are worded so that a model can repair them: where, what was expected, what was sent, and
 * what to send instead. A keyword that is not checked here refuses nothing. Patterns are
 * among these: a regular expression over untrusted text can run for ever.
 */
import { isObject, nearest, received } from './argument.js';
import { declarations } from './codemode-script.js';

const MOST_PROBLEMS = 8;
const LEVELS_MAX = 64; /* of schemas in schemas */
const CHECKS_MAX = 200000; /* of a value against a schema, in one call */

const KINDS = {
  __proto__: null, string: 'a string', number: 'a number', integer: 'a whole number', boolean: 'true or false',
  array: 'an array', object: 'an object', null: 'null',
};

function isOf(kind, value) {
  switch (kind) {
    case 'integer': return Number.isInteger(value);
    case 'array': return Array.isArray(value);
    case 'object': return isObject(value);
    case 'null': return value === null;
    default: return !(kind in KINDS) || typeof value === kind;
  }
}

/* In code points, as JSON Schema counts; an unpaired half counts as one. */
function lengthOf(text) {
  let pairs = 0;
  for (let i = 1; i < text.length; i++)
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) pairs++;
  return text.length - pairs;
}

/* Bounds of a value: the keyword, the test that the value breaks it, and the message. */
const BOUNDS = {
  string: (value) => {
    const size = lengthOf(value);
    return [['minLength', (min) => size < min, (min) => `must have at least ${min} characters, and has ${size}`],
      ['maxLength', (max) => size > max, (max) => `must have at most ${max} characters, and has ${size}`]];
  },
  array: ({ length }) => [['minItems', (min) => length < min, (min) => `must have at least ${min} items, and has ${length}`],
    ['maxItems', (max) => length > max, (max) => `must have at most ${max} items, and has ${length}`]],
  number: (value) => [['minimum', (min) => value < min, (min) => `must be at least ${min}, not ${value}`],
    ['maximum', (max) => value > max, (max) => `must be at most ${max}, not ${value}`],
    ['exclusiveMinimum', (min) => value <= min, (min) => `must be more than ${min}, not ${value}`],
    ['exclusiveMaximum', (max) => value >= max, (max) => `must be less than ${max}, not ${value}`]],
};

const list = (value) => (Array.isArray(value) ? value : []);
const own = (object, name) => (isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined);

class Check {
  problems = [];
  #root;
  #left = CHECKS_MAX;

  constructor(root) {
    this.#root = root;
  }

  #report(path, what) {
    this.problems.push(`${path || 'the arguments'} ${what}`);
  }

  #type(value, given, path) {
    const kinds = [given].flat();
    if (kinds.some((kind) => isOf(kind, value))) return true;
    const isNumeric = kinds.includes('number') || kinds.includes('integer');
    if (isNumeric && typeof value === 'number') this.#report(path, `must be a whole number, not ${value}`);
    else {
      const isText = isNumeric && typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value));
      const wanted = kinds.map((kind) => KINDS[kind === 'integer' ? 'number' : kind]);
      this.#report(path, `must be ${wanted.join(' or ')}, not ${received(value)}${isText ? ': send it without quotes' : ''}`);
    }
    return false;
  }

  #oneOf(value, values, path) {
    const json = JSON.stringify(value);
    const texts = values.map((each) => JSON.stringify(each));
    if (texts.includes(json)) return;
    const meant = typeof value === 'string' ? nearest(value, values.filter((each) => typeof each === 'string')) : undefined;
    this.#report(path, `must be ${texts.length === 1 ? '' : 'one of '}${texts.join(', ')}, not ${received(value)}${
      meant === undefined ? '' : `: did you mean ${JSON.stringify(meant)}?`}`);
  }

  #members(value, schema, path, level) {
    const prefix = path === '' ? '' : `${path}.`;
    const known = own(schema, 'properties') ?? {};
    const others = own(schema, 'additionalProperties');
    const names = new Set([...Object.keys(known), ...list(own(schema, 'required'))]);
    for (const name of names) {
      const member = own(value, name);
      if (member !== undefined) this.value(member, own(known, name), prefix + name, level);
      else if (list(own(schema, 'required')).includes(name)) this.#report(prefix + name, 'is required');
    }
    if (others === undefined || own(schema, 'patternProperties') !== undefined) return;
    for (const name of Object.keys(value)) {
      if (names.has(name) || value[name] === undefined) continue;
      const meant = nearest(name, Object.keys(known));
      if (others !== false) this.value(value[name], others, prefix + name, level);
      else this.#report(prefix + name, `is not a parameter${meant === undefined ? '' : `: did you mean '${meant}'?`}`);
    }
  }

  #items(value, schema, path, level) {
    const items = own(schema, 'items');
    const first = list(own(schema, 'prefixItems') ?? items);
    value.forEach((each, i) => this.value(each, first[i] ?? (isObject(items) ? items : undefined), `${path}[${i}]`, level));
  }

  /* One of several forms must match; the problems are those of the best match. */
  #forms(value, forms, path, level) {
    const before = this.problems;
    let best;
    for (const form of forms) {
      this.problems = [];
      this.value(value, form, path, level);
      if (best === undefined || this.problems.length < best.length) best = this.problems;
    }
    this.problems = [...before, ...(best ?? [])];
  }

  value(value, schema, path = '', above = 0) {
    const level = above + 1;
    if (!isObject(schema) || level > LEVELS_MAX || this.#left-- <= 0) return;
    const ref = own(schema, '$ref'), type = own(schema, 'type'), values = own(schema, 'enum');
    if (typeof ref === 'string') this.value(value, declarations().follow(this.#root, ref), path, level);
    if (Array.isArray(values)) this.#oneOf(value, values, path);
    else if (type !== undefined && !this.#type(value, type, path)) return;
    if (own(schema, 'const') !== undefined) this.#oneOf(value, [schema.const], path);
    const kind = Array.isArray(value) ? 'array' : typeof value;
    const broken = (BOUNDS[kind]?.(value) ?? []).find(([keyword, breaks]) => breaks(own(schema, keyword)));
    if (broken !== undefined) this.#report(path, broken[2](schema[broken[0]]));
    if (kind === 'array') this.#items(value, schema, path, level);
    else if (isObject(value)) this.#members(value, schema, path, level);
    for (const part of list(own(schema, 'allOf'))) this.value(value, part, path, level);
    for (const keyword of ['anyOf', 'oneOf']) this.#forms(value, list(own(schema, keyword)), path, level);
  }
}

/** What is wrong with a tool's arguments, a sentence each; if empty, they can be handled. */
export function problemsOf(schema, args) {
  if (!isObject(args)) return [`the arguments must be an object, not ${received(args)}`];
  const check = new Check(schema);
  check.value(args, schema);
  const { problems } = check;
  const more = problems.length - MOST_PROBLEMS;
  return more <= 0 ? problems : [...problems.slice(0, MOST_PROBLEMS), `and ${more} more`];
}

// SPDX-License-Identifier: MIT
/*
 * tool-parameters - a tool's parameters: declared once, published to clients as JSON Schema,
 * and checked against what they send.
 *
 * Errors are worded so that a model can repair them: where, what was expected, what came, and
 * what to send instead. Patterns are not supported: a regular expression over untrusted text
 * can run for ever.
 */
import { isObject, needFunction, needKnown, needName, needNumber, needObject, received, wrong } from './argument.js';
import { nearest } from './nearest.js';

const MOST_PROBLEMS = 8;

/* ---- kinds of values: schema(detail) and check(value, detail, path, report) --------- */

function within(size, detail, unit, path, report) {
  if (detail.min !== undefined && size < detail.min)
    report(path, `must have at least ${detail.min} ${unit}, and has ${size}`);
  else if (detail.max !== undefined && size > detail.max)
    report(path, `must have at most ${detail.max} ${unit}, and has ${size}`);
}

/* In code points, as JSON Schema counts; an unpaired half counts as one. */
function lengthOf(text) {
  let pairs = 0;
  for (let i = 1; i < text.length; i++)
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) pairs++;
  return text.length - pairs;
}

function notA(kind, value, path, report) {
  report(path, `must be ${kind}, not ${received(value)}`);
}

function checkNumber(value, detail, path, report) {
  if (typeof value !== 'number') {
    const isText = typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value));
    report(path, `must be a number, not ${received(value)}${isText ? ': send it without quotes' : ''}`);
  } else if (detail.integer && !Number.isInteger(value)) report(path, `must be a whole number, not ${value}`);
  else if (detail.min !== undefined && value < detail.min) report(path, `must be at least ${detail.min}, not ${value}`);
  else if (detail.max !== undefined && value > detail.max) report(path, `must be at most ${detail.max}, not ${value}`);
}

function checkEnum(value, { values }, path, report) {
  if (values.includes(value)) return;
  const meant = typeof value === 'string' ? nearest(value, values) : undefined;
  report(path, `must be one of ${values.map((each) => JSON.stringify(each)).join(', ')}, not ${received(value)}${
    meant === undefined ? '' : `: did you mean ${JSON.stringify(meant)}?`}`);
}

const KINDS = {
  string: {
    options: ['min', 'max'],
    schema: ({ min, max }) => ({ type: 'string', minLength: min, maxLength: max }),
    check(value, detail, path, report) {
      if (typeof value !== 'string') notA('a string', value, path, report);
      else within(lengthOf(value), detail, 'characters', path, report);
    },
  },
  number: {
    options: ['min', 'max', 'integer'],
    schema: ({ min, max, integer }) => ({ type: integer ? 'integer' : 'number', minimum: min, maximum: max }),
    check: checkNumber,
  },
  boolean: {
    options: [],
    schema: () => ({ type: 'boolean' }),
    check(value, detail, path, report) {
      if (typeof value !== 'boolean') notA('true or false', value, path, report);
    },
  },
  enum: {
    options: [],
    schema: ({ values }) => ({ type: 'string', enum: values }),
    check: checkEnum,
  },
  array: {
    options: ['min', 'max'],
    schema: ({ item, min, max }) => ({ type: 'array', items: schemaOf(item), minItems: min, maxItems: max }),
    check(value, detail, path, report) {
      if (!Array.isArray(value)) return notA('an array', value, path, report);
      within(value.length, detail, 'items', path, report);
      return value.forEach((each, i) => checkValue(each, detail.item, `${path}[${i}]`, report));
    },
  },
  object: {
    options: [],
    schema: ({ properties }) => (properties === undefined ? { type: 'object' } : properties.toJSONSchema()),
    check(value, { properties }, path, report) {
      if (!isObject(value)) notA('an object', value, path, report);
      else properties?.check(value, `${path}.`, report);
    },
  },
};

function schemaOf(detail) {
  const schema = { ...KINDS[detail.kind].schema(detail), description: detail.description };
  for (const key of Object.keys(schema)) if (schema[key] === undefined) delete schema[key];
  return schema;
}

function checkValue(value, detail, path, report) {
  KINDS[detail.kind].check(value, detail, path, report);
}

/* ---- declarations ------------------------------------------------------------------- */

function needOptions(options, kind) {
  needObject(options, 'options');
  needKnown(options, KINDS[kind].options, 'options');
  const { min, max, integer } = options;
  for (const [name, value] of Object.entries({ min, max })) {
    if (value === undefined) continue;
    needNumber(value, `options.${name}`, kind === 'number' ? -Number.MAX_VALUE : 0, Number.MAX_VALUE);
    if (kind !== 'number' && !Number.isInteger(value)) throw wrong(`options.${name}`, 'a whole number', value);
  }
  if (min > max) throw new TypeError(`options.min must be at most options.max, ${max}, not ${min}`);
  if (integer !== undefined && typeof integer !== 'boolean') throw wrong('options.integer', 'true or false', integer);
}

function itemOf(type) {
  if (['string', 'number', 'boolean', 'object'].includes(type)) return { kind: type };
  if (typeof type === 'function') return { kind: 'object', properties: propertiesOf(type, 'items') };
  throw wrong('items', "'string', 'number', 'boolean', 'object' or a function of parameters", type);
}

function propertiesOf(declare, name) {
  if (declare === undefined) return undefined;
  needFunction(declare, name);
  const properties = new Parameters();
  declare(properties);
  return properties;
}

/**
 * The parameters of a tool, or the properties of an object among them. Every `with` method
 * has a twin `withOptional`.
 */
export class Parameters {
  #details = new Map();

  #add(name, description, detail, options = {}) {
    needName(name, 'name');
    if (this.#details.has(name)) throw new TypeError(`name: there is a parameter '${name}' already`);
    if (description !== undefined && typeof description !== 'string')
      throw wrong('description', 'a string', description);
    needOptions(options, detail.kind);
    this.#details.set(name, { ...detail, ...options, description });
    return this;
  }

  #addEnum(name, values, description, isOptional) {
    if (!Array.isArray(values) || values.length === 0 || values.some((each) => typeof each !== 'string'))
      throw wrong('values', 'an array of strings, and not empty', values);
    return this.#add(name, description, { kind: 'enum', values: [...values], isOptional });
  }

  #addObject(name, declare, description, isOptional) {
    if (typeof declare === 'string' && description === undefined)
      return this.#addObject(name, undefined, declare, isOptional);
    return this.#add(name, description, { kind: 'object', properties: propertiesOf(declare, 'properties'), isOptional });
  }

  withString(name, description, options) {
    return this.#add(name, description, { kind: 'string' }, options);
  }

  withOptionalString(name, description, options) {
    return this.#add(name, description, { kind: 'string', isOptional: true }, options);
  }

  withNumber(name, description, options) {
    return this.#add(name, description, { kind: 'number' }, options);
  }

  withOptionalNumber(name, description, options) {
    return this.#add(name, description, { kind: 'number', isOptional: true }, options);
  }

  withBoolean(name, description) {
    return this.#add(name, description, { kind: 'boolean' });
  }

  withOptionalBoolean(name, description) {
    return this.#add(name, description, { kind: 'boolean', isOptional: true });
  }

  withEnum(name, values, description) {
    return this.#addEnum(name, values, description, false);
  }

  withOptionalEnum(name, values, description) {
    return this.#addEnum(name, values, description, true);
  }

  withArray(name, items, description, options) {
    return this.#add(name, description, { kind: 'array', item: itemOf(items) }, options);
  }

  withOptionalArray(name, items, description, options) {
    return this.#add(name, description, { kind: 'array', item: itemOf(items), isOptional: true }, options);
  }

  /** properties: a function that declares them; without it any object is valid. */
  withObject(name, properties, description) {
    return this.#addObject(name, properties, description, false);
  }

  withOptionalObject(name, properties, description) {
    return this.#addObject(name, properties, description, true);
  }

  /** The schema that clients get. */
  toJSONSchema() {
    const properties = {};
    const required = [];
    for (const [name, detail] of this.#details) {
      properties[name] = schemaOf(detail);
      if (!detail.isOptional) required.push(name);
    }
    const schema = { type: 'object', properties, additionalProperties: false };
    return required.length === 0 ? schema : { ...schema, required };
  }

  /** Calls report(path, what) for each error in the values of an object. */
  check(values, prefix, report) {
    for (const [name, detail] of this.#details) {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      if (value !== undefined) checkValue(value, detail, prefix + name, report);
      else if (!detail.isOptional) report(prefix + name, 'is required');
    }
    for (const name of Object.keys(values)) {
      if (this.#details.has(name) || values[name] === undefined) continue;
      const meant = nearest(name, [...this.#details.keys()]);
      report(prefix + name, `is not a parameter${meant === undefined ? '' : `: did you mean '${meant}'?`}`);
    }
  }

  /** The problems of a client's input, a sentence each; if empty, it can be handled. */
  problems(input) {
    const found = [];
    let more = 0;
    if (!isObject(input)) return [`the arguments must be an object, not ${received(input)}`];
    this.check(input, '', (path, what) => {
      if (found.length < MOST_PROBLEMS) found.push(`${path} ${what}`);
      else more++;
    });
    return more === 0 ? found : [...found, `and ${more} more`];
  }
}

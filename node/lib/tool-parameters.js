// SPDX-License-Identifier: MIT
/*
 * tool-parameters - a tool's parameters, declared as a JSON Schema: clients get it, and what
 * they send is checked against it.
 */
import { needFunction, needKnown, needName, needNumber, needObject, wrong } from './argument.js';
import { problemsOf } from './schema.js';

/* The options of a kind of value, and what they are in a schema. */
const LENGTH = { min: 'minLength', max: 'maxLength' };
const RANGE = { min: 'minimum', max: 'maximum' };
const COUNT = { min: 'minItems', max: 'maxItems' };

function boundsOf(options = {}, keywords) {
  needObject(options, 'options');
  needKnown(options, keywords === RANGE ? ['min', 'max', 'integer'] : ['min', 'max'], 'options');
  const { min, max, integer } = options;
  for (const [name, value] of Object.entries({ min, max })) {
    if (value === undefined) continue;
    needNumber(value, `options.${name}`, keywords === RANGE ? -Number.MAX_VALUE : 0, Number.MAX_VALUE);
    if (keywords !== RANGE && !Number.isInteger(value)) throw wrong(`options.${name}`, 'a whole number', value);
  }
  if (min > max) throw new TypeError(`options.min must be at most options.max, ${max}, not ${min}`);
  if (integer !== undefined && typeof integer !== 'boolean') throw wrong('options.integer', 'true or false', integer);
  return { [keywords.min]: min, [keywords.max]: max };
}

function itemOf(type) {
  if (['string', 'number', 'boolean', 'object'].includes(type)) return { type };
  if (typeof type === 'function') return propertiesOf(type, 'items');
  throw wrong('items', "'string', 'number', 'boolean', 'object' or a function of parameters", type);
}

function propertiesOf(declare, name) {
  needFunction(declare, name);
  const properties = new Parameters();
  declare(properties);
  return properties.toJSONSchema();
}

function needChoices(values) {
  if (!Array.isArray(values) || values.length === 0 || values.some((each) => typeof each !== 'string'))
    throw wrong('values', 'an array of strings, and not empty', values);
  return [...values];
}

/* Each gives the schema of a parameter: what follows its name. */
const KINDS = {
  String: (description, options) => ({ type: 'string', ...boundsOf(options, LENGTH), description }),
  Number: (description, options) =>
    ({ type: options?.integer ? 'integer' : 'number', ...boundsOf(options, RANGE), description }),
  Boolean: (description) => ({ type: 'boolean', description }),
  Enum: (values, description) => ({ type: 'string', enum: needChoices(values), description }),
  Array: (items, description, options) => ({ type: 'array', items: itemOf(items), ...boundsOf(options, COUNT), description }),
  Object(declare, description) {
    if (typeof declare === 'string' && description === undefined) return { type: 'object', description: declare };
    return { ...(declare === undefined ? { type: 'object' } : propertiesOf(declare, 'properties')), description };
  },
};

/**
 * The parameters of a tool, or the properties of an object among them: withString(name,
 * description, options), and so on. Every `with` method has a twin `withOptional`.
 */
export class Parameters {
  #properties = new Map();
  #required = [];

  /* By 'this': bundlers rename the class. */
  static {
    for (const [kind, schemaOf] of Object.entries(KINDS))
      for (const [prefix, isRequired] of [['with', true], ['withOptional', false]])
        this.prototype[prefix + kind] = function add(name, ...rest) {
          needName(name, 'name');
          if (this.#properties.has(name)) throw new TypeError(`name: there is a parameter '${name}' already`);
          const schema = schemaOf(...rest);
          if (schema.description !== undefined && typeof schema.description !== 'string')
            throw wrong('description', 'a string', schema.description);
          this.#properties.set(name, schema);
          if (isRequired) this.#required.push(name);
          return this;
        };
  }

  /** The schema that clients get, a copy. */
  toJSONSchema() {
    const schema = { type: 'object', properties: Object.fromEntries(this.#properties), additionalProperties: false };
    if (this.#required.length > 0) schema.required = this.#required;
    return JSON.parse(JSON.stringify(schema));
  }

  /** The problems of a client's input, a sentence each; if empty, it can be handled. */
  problems(input) {
    return problemsOf(this.toJSONSchema(), input);
  }
}

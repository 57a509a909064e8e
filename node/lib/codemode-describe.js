// SPDX-License-Identifier: MIT
/*
 * codemode-describe - the definition of the tool: only what a model must know to write the
 * code. The same servers give the same bytes, for prompt caches.
 *
 * Servers' descriptions of their tools are untrusted, of any shape and size.
 */
import { isObject } from './argument.js';

const MOST_CHARACTERS = 3600; /* for the list of tools: about 900 tokens */
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const MOST_DEPTH = 3;
const MOST_MEMBERS = 20; /* of an object or a union */

/* ---- a JSON Schema as a TypeScript type, shortly ------------------------------------- */

function propertyOf(name) {
  return IDENTIFIER.test(name) ? name : JSON.stringify(name);
}

function isIn(list, value) {
  return Array.isArray(list) && list.includes(value);
}

function unionOf(list, describe) {
  return list.slice(0, MOST_MEMBERS).map(describe).join(' | ') + (list.length > MOST_MEMBERS ? ' | ...' : '');
}

function objectType({ properties, required }, depth) {
  const names = Object.keys(isObject(properties) ? properties : {});
  if (names.length === 0 || depth >= MOST_DEPTH) return depth === 0 ? '{}' : 'object';
  const members = names.slice(0, MOST_MEMBERS).map((name) =>
    `${propertyOf(name)}${isIn(required, name) ? '' : '?'}: ${typeOf(properties[name], depth + 1)}`);
  return `{ ${members.join('; ')}${names.length > MOST_MEMBERS ? '; ...' : ''} }`;
}

/* The types of its partial schemas, except those without information. */
function partsOf({ allOf, oneOf, anyOf }, depth) {
  const all = Array.isArray(allOf) ? allOf.slice(0, MOST_MEMBERS) : [];
  const choices = [oneOf, anyOf].filter(Array.isArray).map((list) => {
    const types = list.slice(0, MOST_MEMBERS + 1).map((each) => typeOf(each, depth + 1));
    return types.every((type) => type === 'any') ? 'any' : unionOf(types, (type) => type);
  });
  return [...all.map((each) => typeOf(each, depth + 1)), ...choices].filter((type) => type !== 'any');
}

function plainType(schema, depth) {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return unionOf(types, (type) => {
    if (type === 'integer' || type === 'number') return 'number';
    if (type === 'string' || type === 'boolean' || type === 'null') return type;
    if (type === 'array') return `Array<${typeOf(schema.items, depth + 1)}>`;
    if (type === 'object' || schema.properties !== undefined) return objectType(schema, depth);
    return 'any';
  });
}

function typeOf(schema, depth = 0) {
  if (!isObject(schema) || depth > 2 * MOST_DEPTH) return 'any';
  if (Array.isArray(schema.enum)) return unionOf(schema.enum, (value) => JSON.stringify(value));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const parts = partsOf(schema, depth);
  const hasMembers = isObject(schema.properties) && Object.keys(schema.properties).length > 0;
  if (hasMembers || parts.length === 0) parts.unshift(plainType(schema, depth));
  if (parts.length === 1) return parts[0];
  return parts.map((part) => part.includes(' | ') ? `(${part})` : part).join(' & ');
}

function firstSentence(text) {
  if (typeof text !== 'string') return '';
  const line = text.trim().split('\n', 1)[0];
  const end = line.search(/\.(\s|$)/);
  const sentence = end < 0 ? line : line.slice(0, end);
  return sentence.length > 120 ? `${sentence.slice(0, 117)}...` : sentence;
}

function accessOf(name) {
  return IDENTIFIER.test(name) ? `servers.${name}` : `servers[${JSON.stringify(name)}]`;
}

function linesOf(server, tools) {
  return tools.map(({ name, description, inputSchema }) => {
    const args = isObject(inputSchema) ? typeOf({ type: 'object', ...inputSchema }) : 'args';
    const about = firstSentence(description);
    return `${accessOf(server)}.call(${JSON.stringify(name)}, ${args})${about === '' ? '' : ` // ${about}`}`;
  });
}

/* ---- the text ----------------------------------------------------------------------- */

const HEAD = 'Run JavaScript that calls tools of several servers in one go. The code runs in a sealed '
  + 'process without network, files or modules; the tools are all that it reaches.';

const RULES = [
  'await servers.NAME.call(tool, args) gives the value of the tool (structured content, else parsed JSON, '
    + 'else text); servers.NAME.tool(args) is the same. A tool that fails throws ToolError '
    + '{server, tool, code, message, retryable}.',
  'Write statements with a return, one expression, or one async function. Make independent calls together '
    + 'with Promise.all, filter before you return, and return little: only what is returned and logged comes back.',
  'There are also: console.log, sleep(ms), progress(n, total, message), artifact(name, value), input, '
    + 'await servers.NAME.tools(query), await discover(query). No types: plain JavaScript.',
];

const EXAMPLE = (name) => `Example: const [a, b] = await Promise.all([1, 2].map((id) => ${accessOf(name)}.call('get', { id }))); `
  + 'return { total: a.count + b.count };';

/* As much as fits: tools with their arguments, else their names, else their number. */
function listing(servers, lists) {
  const tools = (name) => lists.get(name) ?? [];
  const isKnown = servers.every((name) => tools(name).length > 0);
  const full = `Tools:\n${servers.flatMap((name) => linesOf(name, tools(name))).join('\n')}`;
  if (isKnown && full.length <= MOST_CHARACTERS) return full;

  const find = 'Find the arguments of tools with discover(query) or servers.NAME.tools(query) first.';
  const names = servers.map((name) => `${accessOf(name)}: ${tools(name).map((tool) => tool.name).join(', ')}`);
  const short = `Tools:\n${names.join('\n')}\n${find}`;
  if (isKnown && short.length <= MOST_CHARACTERS) return short;

  const counted = servers.map((name) => {
    const count = tools(name).length;
    return count === 0 ? name : `${name} (${count === 1 ? '1 tool' : `${count} tools`})`;
  });
  return `Servers: ${counted.join(', ')}. Find their tools with discover(query) or servers.NAME.tools() first.`;
}

/** The definition of the tool; lists: known tools by server. */
export function definitionOf({ name, timeoutMs, maxCalls }, servers, lists) {
  return {
    name,
    description: [
      HEAD, ...RULES, EXAMPLE(servers[0]), `Limits: ${timeoutMs / 1000} s, ${maxCalls} calls.`, listing(servers, lists),
    ].join('\n'),
    inputSchema: {
      type: 'object',
      properties: {
        code: { type: 'string', description: 'JavaScript: statements with return, an expression, or one async function' },
        input: { description: 'any JSON value that the code sees as input' },
        timeout_ms: { type: 'number', description: 'less time than the limit', minimum: 1, maximum: timeoutMs },
      },
      required: ['code'],
      additionalProperties: false,
    },
    annotations: { destructiveHint: true, openWorldHint: true, readOnlyHint: false },
  };
}

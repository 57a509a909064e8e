// SPDX-License-Identifier: MIT
/*
 * codemode-describe - the definition of the tool: only what a model must know to write the
 * code. The same servers give the same bytes, for prompt caches.
 *
 * Servers' descriptions of their tools are untrusted, of any shape and size.
 */
import { isObject } from './argument.js';
import { declarations } from './codemode-script.js';

const MOST_CHARACTERS = 3600; /* for the list of tools: about 900 tokens */
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const ABOUT_MOST = 117; /* characters about a tool */
const TYPE_MOST = 1000; /* characters of the type of its arguments */
const FORM = { indent: 0, nestedMax: 3, valuesMax: 20, describeMax: 0 }; /* of a type */

/* The type of a tool's arguments, on one line and without notes on its members. */
function argumentsOf(schema) {
  if (!isObject(schema)) return 'args';
  const type = declarations().typeOf({ type: 'object', ...schema }, FORM)
    .replace(/\n *(?:\/\*\* .*? \*\/ )?/g, ' ').replaceAll('; }', ' }');
  return type.length > TYPE_MOST ? 'args' : type;
}

function accessOf(name) {
  return IDENTIFIER.test(name) ? `servers.${name}` : `servers[${JSON.stringify(name)}]`;
}

function linesOf(server, tools) {
  return tools.map(({ name, description, inputSchema }) => {
    const about = declarations().summary({ description }, ABOUT_MOST);
    return `${accessOf(server)}.call(${JSON.stringify(name)}, ${argumentsOf(inputSchema)})${about === '' ? '' : ` // ${about}`}`;
  });
}

/* ---- the text ----------------------------------------------------------------------- */

const HEAD = 'Run JavaScript or TypeScript that calls tools of several servers in one go. The code runs in a sealed '
  + 'process without network, files or modules; the tools are all that it reaches.';

const RULES = [
  'await servers.NAME.call(tool, args) gives the value of the tool (structured content, else parsed JSON, '
    + 'else text); servers.NAME.tool(args) is the same. A tool that fails throws ToolError '
    + '{server, tool, code, message, retryable}.',
  'Write statements with a return, one expression, or one async function. Make independent calls together '
    + 'with Promise.all, filter before you return, and return little: only what is returned and logged comes back.',
  'There are also: console.log, sleep(ms), progress(n, total, message), artifact(name, value), input, '
    + 'await servers.NAME.tools(query), await discover(query).',
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
        code: { type: 'string', description: 'JavaScript or TypeScript: statements with return, an expression, or one async function' },
        input: { description: 'any JSON value that the code sees as input' },
        timeout_ms: { type: 'number', description: 'less time than the limit', minimum: 1, maximum: timeoutMs },
      },
      required: ['code'],
      additionalProperties: false,
    },
    annotations: { destructiveHint: true, openWorldHint: true, readOnlyHint: false },
  };
}

// SPDX-License-Identifier: MIT
/*
 * models - how functions of Node.js, of the language and of some packages pass values on where the
 * call does not show it, and which calls register tools.
 */
import apis from './apis.json';
import { FILE, OBJECT, QUOTED, RESULT, SETTLE, TAINT, TEXT } from './tokens.js';

/* The patterns of apis.json, by their names. */
export const patterns = Object.fromEntries(Object.entries(apis.patterns).map(([name, { is, flags }]) => [name, new RegExp(is, flags)]));
const { WRITES, RUNS, SAME_SCHEMA, CALLBACKS, ELEMENT, SAME, OTHERS } = patterns;

/* The names that are followed; other members of these packages are not. */
const FOLLOWED = new RegExp(`^(${apis.followed.join('|')})$`);

export const isFollowed = (path) => FOLLOWED.test(path);
export const isSameSchema = (path, name) => path.startsWith('zod') && path.endsWith('()') && SAME_SCHEMA.test(name);

/* "node:fs/promises" is fs; "@scope/name/part" is itself. */
export function packageOf(spec) {
  const name = spec.replace(/^node:/, '').replace(/\/promises$/, '');
  if (name === 'fs-extra' || name === 'graceful-fs') return 'fs';
  if (name === 'process') return 'global.process';
  return name;
}

const resultOf = (s, call) => s.token(RESULT, s.calls.indexOf(call), { call });

/* What functions from outside the project do; the first that fits counts. */
const MODELS = [
  [RUNS, (s, call) => s.give(call.result, resultOf(s, call))],
  [WRITES, (s, { args: [path, text] }) => s.watch(text, ({ kind, key, source }) => {
    if (kind === TAINT || kind === QUOTED) s.give(path, s.token(FILE, key, { source }));
  })],
  [/^global\.(require|import)$/, (s, { args: [name], result }) => s.watch(name, ({ kind, key }) => {
    if (kind === TEXT && !key.startsWith('.')) s.give(result, s.module(packageOf(key)));
  })],
  [/^module\.createRequire$/, (s, { result }) => s.give(result, s.module('global.require'))],
  [/^(util\.(promisify|inspect)|vm\.createContext|global\.(structuredClone|Array\.from|Object\.(freeze|seal)|Promise\.(resolve|all|race|any|allSettled)))$/,
    (s, { args: [value], result }) => s.edge(value, result)],
  /* Texts become literals, which are safe in code, but not in a shell. */
  [/^global\.JSON\.stringify$/, (s, { args: [value], result }) => {
    s.edge(value, result, 2);
    s.edge(s.read(value, '*'), result, 2);
  }],
  /* ... and text again. */
  [/^global\.JSON\.parse$/, (s, { args: [value], result }) => s.watch(value, (token) => token.kind <= RESULT && s.give(result, token.plain ?? token))],
  [/^global\.Promise$/, (s, { args: [executor], result }) => s.eachFunction(executor, (f) => s.give(f.params[0], s.token(SETTLE, result, { to: result })))],
  [/^global\.Object\.assign$/, (s, { args: [to, ...rest], result }) => {
    for (const from of rest) s.copyMembers(from, to);
    s.edge(to, result);
  }],
  [/^global\.Object\.create$/, (s, { args: [above], result }) => s.copyMembers(above, s.fresh(result))],
  [/^global\.(Object|Reflect)\.getPrototypeOf$/, (s, { args: [value], result }) => s.eachFunction(value, (f, token) => s.give(result, token))],
  [/^global\.Object\.(values|entries)$/, (s, { args: [object], result }, path) => {
    const isPair = path.endsWith('entries'), member = s.read(object, '*'), made = s.fresh(result), element = isPair ? s.fresh() : member;
    if (isPair) s.write(member, element, '[]');
    s.write(element, made, '[]');
  }],
  [/^global\.(Map|Set|WeakMap|Array)$/, (s, { args, result }) => {
    const made = s.fresh(result), pair = s.node();
    for (const arg of args) s.read(arg, '*', pair);
    s.write(s.read(pair, '*'), made, '*');
    s.write(pair, made, '*');
  }],
  /* What a worker is sent arrives at its channel, and what it sends is a result of code. */
  [/^(worker_threads|global)\.Worker$/, (s, { args: [, options] }) => s.read(options, 'workerData', s.channel)],
  [/^((worker_threads|global)\.Worker\(\)\.postMessage|child_process\.fork\(\)\.send)$/, (s, { args: [value] }) => s.edge(value, s.channel)],
  [/^((worker_threads\.Worker|global\.Worker|child_process\.fork)\(\)\.on|worker_threads\.Worker\(\)\.once)$/,
    (s, call) => s.eachFunction(call.args[1], (f) => s.give(f.params[0], resultOf(s, call)))],
  [/^(worker_threads\.parentPort|global\.process)\.(on|once)$/, (s, { args: [event, listener] }, path) => {
    if (!path.startsWith('global') || s.textsAt(event).includes('message')) s.eachFunction(listener, (f) => s.edge(s.channel, f.params[0]));
  }],
  [/^(global\.(Number|parseInt|parseFloat|Boolean|isNaN|encodeURIComponent|encodeURI|Math\.\w+|Array\.isArray|Date|fetch|console\.\w+|RegExp|Symbol|Error|Reflect\.\w+|Buffer\.byteLength)|fs\.|axios|node-fetch|undici|got|http|https|net|ws|os\.|zod|glovebox|child_process\.|process\.|worker_threads)/,
    () => {}],
  [/^/, (s, call) => s.passArguments(call)],
];

export const callModel = (s, call, path) => MODELS.find(([is]) => is.test(path))[1](s, call, path);

/* ---- methods, by their names ------------------------------------------------------- */


/* Models a call by its method's name alone: a registration of a tool, or a method of an array, a
 * map or a promise. */
export function methodModel(s, call) {
  const { name, args } = call;
  if (call.receiver === 0 && name !== 'createTool' && name !== 'tool') return;
  if (registration(s, call)) return;
  if (/^(parse|safeParse|parseAsync|safeParseAsync)$/.test(name)) parsed(s, call);
  if (name === 'then' || name === 'catch' || name === 'finally') {
    if (name === 'then') s.eachFunction(args[0], (f) => s.edge(call.receiver, f.params[0]));
    for (const arg of args) s.eachFunction(arg, (f) => s.edge(f.result, call.result));
    if (name !== 'then') s.edge(call.receiver, call.result);
    call.isResolved = true;
  } else if ([CALLBACKS, ELEMENT, SAME, OTHERS].some((names) => names.test(name))) {
    s.watch(call.receiver, (token) => token.kind === OBJECT && arrayMethod(s, call, token));
  }
}

/* SCHEMA.parse(args): from there on, that schema describes the fields. */
function parsed(s, call) {
  s.watch(call.args[0], ({ kind, source }) => {
    if (kind === TAINT) s.watch(call.receiver, ({ path }) => {
      if (!path?.startsWith('zod.object')) return;
      call.isResolved = true;
      s.give(call.result, s.taint(s.parsedBy(source.tool, call)));
    });
  });
}

function arrayMethod(s, call, token) {
  const { name, args } = call, isMade = name === 'map' || name === 'flatMap';
  if (s.box(token).members.has(name)) return;
  const element = s.node();
  s.readBox(token, '*', element);
  call.isResolved = true;
  if (/^(push|unshift|add|set)$/.test(name))
    for (const arg of name === 'set' ? args.slice(-1) : args) s.edge(arg, s.memberOf(token, '*'));
  if (name === 'join' || name === 'toString') {
    s.edge(element, call.result, 1);
    s.edge(s.read(call.receiver, '0'), call.result, 5);
  }
  if (CALLBACKS.test(name)) {
    const made = isMade ? s.fresh(call.result) : 0;
    s.eachFunction(args[0], (f) => {
      s.edge(element, f.params[name === 'reduce' ? 1 : 0]);
      if (name === 'reduce') for (const from of [f.result, args[1]]) for (const to of [f.params[0], call.result]) s.edge(from, to);
      s.write(f.result, made, '[]');
    });
  }
  if (ELEMENT.test(name)) s.edge(element, call.result);
  else if (SAME.test(name)) s.give(call.result, token);
}

/* ---- where tools are made ------------------------------------------------------------ */

/* Calls that register tools, and how many arguments one has that is not one object. */
export const REGISTERS = { tool: 2, registerTool: 3, addTool: 2, defineTool: 2, createTool: 2, setRequestHandler: 2 };

/* True if the call registers a handler, its last argument. */
function registration(s, call) {
  const { name, args, file, line } = call, handler = args.at(-1);
  if (!Object.hasOwn(REGISTERS, name)) return false;
  if (args.length < REGISTERS[name] || (name === 'tool' && call.receiver === 0)) {
    if (args.length === 1 && name !== 'setRequestHandler') toolObject(s, call, args[0]);
    return false;
  }
  const isRequest = name === 'setRequestHandler', tool = s.tool(isRequest ? '' : s.textsAt(args[0], 0)[0] ?? '', file, line, { how: name });
  if (isRequest) {
    s.late.push([args[1], () => s.seed(args[1], tool, true)]);
    return true;
  }
  if (name === 'registerTool') {
    tool.config = args[1];
    tool.schema = s.read(args[1], 'inputSchema');
  } else {
    /* name, [description], [schema], [annotations], handler */
    tool.schemas = args.slice(name === 'tool' ? 1 : 0, -1);
  }
  s.seed(handler, tool);
  return true;
}

function toolObject(s, call, object) {
  const tool = s.tool('', call.file, call.line, { how: call.name, config: object, schema: s.node() });
  for (const key of ['parameters', 'inputSchema']) s.read(object, key, tool.schema);
  for (const key of ['execute', 'handler', 'run', 'callback']) s.seed(s.read(object, key), tool);
}

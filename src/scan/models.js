// SPDX-License-Identifier: MIT
/*
 * models - how functions of Node.js, of the language and of some packages pass values on where the
 * call does not show it, and which calls register tools.
 */
import { FILE, OBJECT, QUOTED, RESULT, SETTLE, TAINT, TEXT } from './tokens.js';

/* The names that are followed; other members of these packages are not. */
const PATHS = [
  /global\.(Promise|Object|Array|JSON|Math|Buffer|Reflect|Number|Bun|Deno)\.\w+/, /global\.\w+/, /global\.process\.(execPath|on|once)/,
  /global\.(Function|Worker|Bun|Deno)\(\)(\.(on|once|postMessage|terminate))?(\(\))?/,
  /vm(\.(runIn\w+|createContext|compileFunction|Script|SourceTextModule)(\(\)(\.runIn\w+)?)?)?/,
  /child_process(\.(exec|execSync|execFile|execFileSync|spawn|spawnSync|fork)(\(\)(\.(stdin(\.(write|end))?|on|send|kill))?)?)?/,
  /worker_threads(\.(Worker(\(\)(\.(on|once|postMessage|terminate))?)?|parentPort(\.(on|once|postMessage))?|workerData))?/,
  /(vm2|isolated-vm|quickjs-emscripten(-core)?|@sebastianwessel\/quickjs|@jitl\/[\w-]+)(\.\w+|\(\)){0,8}/,
  /(execa|shelljs|cross-spawn|zx|node-pty)(\.(\w+|\$))?(\(\)(\.(stdin(\.(write|end))?|write))?)?/,
  /fs(\.(writeFile|writeFileSync|appendFile|appendFileSync|outputFile|outputFileSync|readFile|readFileSync))?/,
  /(util(\.(promisify|inspect))?|module(\.(createRequire|Module|Module\(\)|Module\(\)\._compile))?|(path|os|url|timers)(\.\w+)?)/,
  /(safe-eval|safer-eval|notevil|static-eval|eval|require-from-string|glovebox)(\.\w+|\(\)){0,3}/,
  /@modelcontextprotocol\/[\w./-]+?(\.\w+Schema)?/,
  /(node-fetch|axios|undici|got|http|https|net|tls|dgram|ws)(\.\w+)?/,
  /zod(\.z)?(\.coerce)?(\.(string|number|boolean|enum|nativeEnum|literal|int|bigint|date|any|unknown|object|record|array|union|max|length|regex|uuid|email|ip)(\(\))?){0,4}/,
];
const FOLLOWED = new RegExp(`^(${PATHS.map(({ source }) => source).join('|')})$`);
/* Methods that keep the schema's kind: z.string().describe() is text, as z.string() is. */
const SAME_SCHEMA = /^(describe|optional|nullable|nullish|default|min|trim|strict|refine|transform|url|nonempty|positive|nonnegative|meta)$/;

export const isFollowed = (path) => FOLLOWED.test(path);
export const isSameSchema = (path, name) => path.startsWith('zod') && path.endsWith('()') && SAME_SCHEMA.test(name);

/* "node:fs/promises" is fs; "@scope/name/part" is itself. */
export function packageOf(spec) {
  const name = spec.replace(/^node:/, '').replace(/\/promises$/, '');
  if (name === 'fs-extra' || name === 'graceful-fs') return 'fs';
  if (name === 'process') return 'global.process';
  return name;
}

const NOTHING = /^(global\.(Number|parseInt|parseFloat|Boolean|isNaN|encodeURIComponent|encodeURI|Math\.\w+|Array\.isArray|Date|fetch|console\.\w+|RegExp|Symbol|Error|Reflect\.\w+|Buffer\.byteLength)|fs\.|axios|node-fetch|undici|got|http|https|net|ws|os\.|zod|glovebox|child_process\.|process\.|worker_threads)/;

/* Functions (path, text) that write a text into a file. */
const WRITES = /^(fs\.(writeFile|writeFileSync|appendFile|appendFileSync|outputFile|outputFileSync)|global\.(Bun|Deno)\.(write|writeTextFile|writeTextFileSync))$/;

/* Functions that return a result of code, which is followed to the tool's reply. */
const RUNS = /^(global\.eval|vm\.(run\w+|Script\(\)\.run\w+|compileFunction\(\))|vm2\.\w+\(\)\.run\w*|isolated-vm\..*(eval|evalClosure|run|apply|evalSync|runSync)|quickjs-emscripten.*evalCode(Async)?|safe-eval|global\.Function\(\)|notevil|static-eval)$/;

export function callModel(s, call, path) {
  const [first = 0, second = 0] = call.args;
  if (RUNS.test(path)) {
    s.give(call.result, s.token(RESULT, s.calls.indexOf(call), { call }));
    return;
  }
  if (WRITES.test(path)) {
    s.watch(second, ({ kind, key, source }) => {
      if (kind === TAINT || kind === QUOTED) s.give(first, s.token(FILE, key, { source }));
    });
    return;
  }
  switch (path) {
    case 'global.require': case 'global.import':
      s.watch(first, ({ kind, key }) => {
        if (kind === TEXT && !key.startsWith('.')) s.give(call.result, s.module(packageOf(key)));
      });
      return;
    case 'module.createRequire': s.give(call.result, s.module('global.require')); return;
    case 'util.promisify': case 'global.Promise.resolve': case 'global.Promise.all': case 'global.Promise.race': case 'global.Promise.any':
    case 'global.Promise.allSettled': case 'global.Object.freeze': case 'global.Object.seal': case 'vm.createContext': case 'global.Array.from':
    case 'util.inspect': case 'global.structuredClone':
      s.edge(first, call.result);
      return;
    case 'global.JSON.stringify': jsonOf(s, call); return;
    case 'global.Promise': promise(s, call); return;
    case 'global.Object.assign':
      for (const arg of call.args.slice(1)) s.copyMembers(arg, first);
      s.edge(first, call.result);
      return;
    case 'global.Object.create': {
      const made = s.fresh();
      s.edge(made, call.result);
      s.copyMembers(first, made);
      return;
    }
    case 'global.Object.getPrototypeOf': case 'global.Reflect.getPrototypeOf':
      s.eachFunction(first, (f, token) => s.give(call.result, token));
      return;
    case 'global.Object.values': case 'global.Object.entries': entries(s, call, path); return;
    case 'global.Map': case 'global.Set': case 'global.WeakMap': case 'global.Array': collection(s, call); return;
    case 'worker_threads.Worker': case 'global.Worker': {
      const data = s.node();
      s.read(second, 'workerData', data);
      s.edge(data, s.channel);
      return;
    }
    case 'worker_threads.Worker().postMessage': case 'global.Worker().postMessage': case 'child_process.fork().send':
      s.edge(first, s.channel);
      return;
    case 'worker_threads.Worker().on': case 'worker_threads.Worker().once': case 'global.Worker().on': case 'child_process.fork().on':
      s.eachFunction(second, (f) => f.params.length > 0 && s.give(f.params[0], s.token(RESULT, s.calls.indexOf(call), { call })));
      return;
    case 'worker_threads.parentPort.on': case 'worker_threads.parentPort.once': case 'global.process.on':
      if (path !== 'global.process.on' || s.textsAt(first).includes('message'))
        s.eachFunction(second, (f) => s.edge(s.channel, f.params[0] ?? 0));
      return;
  }
  if (!NOTHING.test(path)) s.passArguments(call);
}

/* Texts become literals, which are safe in code, but not in a shell. */
function jsonOf(s, call) {
  s.edge(call.args[0] ?? 0, call.result, 2);
  s.contents(call.args[0] ?? 0, call.result, 2);
}

function promise(s, call) {
  s.eachFunction(call.args[0] ?? 0, (f) => {
    if (f.params.length > 0) s.give(f.params[0], s.token(SETTLE, call.result, { to: call.result }));
  });
}

function entries(s, call, path) {
  const inner = s.node(), made = s.fresh();
  s.read(call.args[0] ?? 0, '*', inner);
  s.edge(call.args[0] ?? 0, inner, 1);
  s.edge(made, call.result);
  if (path.endsWith('values')) {
    s.write(inner, made, '[]');
    return;
  }
  const pair = s.fresh();
  s.write(inner, pair, '[]');
  s.write(pair, made, '[]');
}

function collection(s, call) {
  const made = s.fresh(), pair = s.node(), value = s.node();
  s.edge(made, call.result);
  for (const arg of call.args) {
    s.read(arg, '*', pair);
    s.read(pair, '*', value);
  }
  s.write(value, made, '*');
  s.write(pair, made, '*');
}

/* ---- methods, by their names ------------------------------------------------------- */

const CALLBACKS = /^(map|forEach|filter|find|findLast|findIndex|some|every|flatMap|reduce|sort)$/;
const ELEMENT = /^(find|findLast|at|pop|shift|get|reduce|next)$/;
const SAME = /^(filter|slice|concat|sort|reverse|values|flat|toSorted|entries|splice|flatMap|map)$/;

/* Models a call by its method's name alone: a registration of a tool, or a method of an array, a
 * map or a promise. */
export function methodModel(s, call) {
  const { name, args } = call;
  if (call.receiver === 0 && name !== 'createTool' && name !== 'tool') return;
  if (registration(s, call)) return;
  if (/^(parse|safeParse|parseAsync|safeParseAsync)$/.test(name)) parsed(s, call);
  if (name === 'then' || name === 'catch' || name === 'finally') {
    if (name === 'then') s.eachFunction(args[0] ?? 0, (f) => s.edge(call.receiver, f.params[0] ?? 0));
    for (const arg of args) s.eachFunction(arg, (f) => s.edge(f.result, call.result));
    if (name !== 'then') s.edge(call.receiver, call.result);
    call.isResolved = true;
    return;
  }
  if (CALLBACKS.test(name) || ELEMENT.test(name) || SAME.test(name) || /^(push|unshift|add|set|join|toString)$/.test(name))
    s.watch(call.receiver, (token) => token.kind === OBJECT && arrayMethod(s, call, token));
}

/* SCHEMA.parse(args): from there on, that schema describes the fields. */
function parsed(s, call) {
  s.watch(call.args[0] ?? 0, ({ kind, source }) => {
    if (kind === TAINT) s.watch(call.receiver, ({ path }) => {
      if (!path?.startsWith('zod.object')) return;
      call.isResolved = true;
      s.give(call.result, s.source(s.parsedBy(source.tool, call), '').taint);
    });
  });
}

function arrayMethod(s, call, token) {
  const { name, args } = call, own = s.box(token).members.has(name);
  if (own) return;
  const element = s.node();
  s.readBox(token, '*', element);
  call.isResolved = true;
  if (/^(push|unshift|add|set)$/.test(name)) {
    for (const arg of name === 'set' ? args.slice(-1) : args) s.edge(arg, s.memberOf(token, '*'));
    return;
  }
  if (name === 'join' || name === 'toString') s.edge(element, call.result, 1);
  if (CALLBACKS.test(name)) {
    const made = name === 'map' || name === 'flatMap' ? s.fresh() : 0;
    s.eachFunction(args[0] ?? 0, (f) => {
      s.edge(element, f.params[name === 'reduce' ? 1 : 0] ?? 0);
      if (name === 'reduce') for (const to of [f.params[0] ?? 0, call.result]) s.edge(f.result, to);
      s.write(f.result, made, '[]');
    });
    s.edge(made, call.result);
  }
  if (ELEMENT.test(name)) s.edge(element, call.result);
  else if (SAME.test(name) && name !== 'map' && name !== 'flatMap') s.give(call.result, token);
}

/* ---- where tools are made ------------------------------------------------------------ */

function registration(s, call) {
  const { name, args, file, line } = call;
  const nameOfTool = () => s.textsAt(args[0] ?? 0, 0)[0] ?? '';
  switch (name) {
    case 'tool': case 'registerTool': {
      if (call.receiver === 0 || args.length < 2 || (name === 'registerTool' && args.length < 3)) {
        if (args.length === 1) return toolObject(s, call, args[0]);
        return false;
      }
      const tool = s.tool(nameOfTool(), file, line, { how: name });
      if (name === 'registerTool') {
        tool.schema = s.node();
        tool.config = args[1];
        s.read(args[1], 'inputSchema', tool.schema);
      } else {
        /* name, [description], [schema], [annotations], handler */
        tool.schemas = args.slice(1, -1);
      }
      s.seed(args.at(-1), tool);
      return true;
    }
    case 'addTool': case 'defineTool': case 'createTool':
      if (args.length > 1) {
        s.seed(args.at(-1), s.tool(nameOfTool(), file, line, { how: name, schemas: args.slice(0, -1) }));
        return true;
      }
      return toolObject(s, call, args[0] ?? 0);
    case 'setRequestHandler': {
      if (args.length < 2) return false;
      const tool = s.tool('', file, line, { how: name });
      s.late.push(() => s.seed(args[1], tool, true));
      return true;
    }
  }
  return false;
}

function toolObject(s, call, object) {
  const tool = s.tool('', call.file, call.line, { how: call.name, config: object, schema: s.node(), nameNode: s.node() });
  s.read(object, 'parameters', tool.schema);
  s.read(object, 'inputSchema', tool.schema);
  s.read(object, 'name', tool.nameNode);
  s.read(object, 'id', tool.nameNode);
  for (const key of ['execute', 'handler', 'run', 'callback']) {
    const node = s.node();
    s.read(object, key, node);
    s.seed(node, tool);
  }
  return false;
}

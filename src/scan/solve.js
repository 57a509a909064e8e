// SPDX-License-Identifier: MIT
/*
 * solve - follows values through the graphs of all files: which functions and objects a node may
 * hold, and which values depend on the arguments of a tool. This is Andersen's method: sets grow
 * along edges until nothing changes, and calls add edges once their functions are known.
 */
import { callModel, isFollowed, isSameSchema, methodModel, packageOf, patterns, REGISTERS } from './models.js';
import { FILE, FUNCTION, MODULE, OBJECT, QUOTED, RESULT, SETTLE, TAINT, TEXT, WORD } from './tokens.js';

/* Limits: steps; tokens per node, for small and large projects; steps or nodes that make a project so;
 * fields of one tool per node, in large projects. */
const STEPS_MAX = 6e6, TOKENS_MAX = 40, TOKENS_FEW = 12, STEPS_MANY = 150000, NODES_MANY = 60000, NODES_LARGE = 500000, FIELDS_MAX = 8;

/* What imports leave out of the names of files. */
const ENDINGS = ['.ts', '.tsx', '.mts', '.cts', '.js', '.mjs', '.cjs', '.jsx', '/index.ts', '/index.tsx', '/index.js', '/index.mjs', '/index.cjs'];

const { FREE_TEXT, BUILT_IN, DANGER, LOOKS_UP, WRAPS, ESCAPES, SHORTENS } = patterns;
const sizeOf = (files) => [...files].reduce((sum, { count }) => sum + count, 0);
/* True if a reader of one name gets the member of the other. Member "*" may be any; element 0 of an
 * array literal is known, so it is not read from there. */
const gets = ({ members }, wanted, name) => wanted === name || wanted === '*' || (name === '*' && !BUILT_IN.test(wanted) && !(wanted === '0' && members.has('0')));

export class Solver {
  sets = []; /* of each node: a list of tokens */
  flows = []; /* of each node: a Set of edges as to * 8 + kind */
  watchers = []; /* of each node: functions of a token */
  tokens = new Map(); /* by kind and key: { kind, key, ... } */
  calls = [];
  functions = new Map(); /* by their nodes */
  tools = [];
  queue = [];
  steps = 0;
  spreads = {}; /* of objects, by their keys: nodes whose members they have */
  cut = new Map(); /* objects that a full node did not take, and the node */
  owners = new Map(); /* the tools of the first parameters of registered handlers */
  late = []; /* [node, seed] of unregistered tools, laid once the registered ones are known */
  channel = 0; /* values posted to workers */

  constructor(files) {
    this.grow(1);
    this.channel = this.node();
    this.byPath = new Map(files.map((file) => [file.path, file]));
    this.roots = new Set(files.map(({ path }) => /^(.*?\/)?(src|lib|dist)\//.exec(path)?.[0]).filter(Boolean));
    this.files = this.related(files);
    this.most = sizeOf(this.files) > NODES_MANY ? TOKENS_FEW : TOKENS_MAX;
    for (const file of this.files) this.add(file);
    for (const file of this.files) this.link(file);
  }

  /*
   * Files with tools, files for workers and forks, and all files connected with these by imports. In a large
   * project, only files from which a dangerous call can be reached, and the files they import.
   */
  related(files) {
    const near = new Map(files.map((file) => [file, { below: [], above: [] }]));
    for (const file of files)
      for (const target of file.imports.map(([, spec]) => this.fileOf(file, spec)).filter(Boolean)) {
        near.get(file).below.push(target);
        near.get(target).above.push(file);
      }
    const hasTools = (file) => file.sources.length > 0 || file.calls.some((call) => Object.hasOwn(REGISTERS, call[2]));
    const kept = new Set(files.filter((file) => file.flags.worker || hasTools(file)));
    for (const file of files)
      for (const name of [...new Set(file.forks)].flatMap((one) => (one === '*' ? file.texts.map(([, text]) => text) : one))) {
        const script = /\.[cm]?[jt]s$/.test(name) ? this.resolve(file.path, name) : undefined;
        if (script === undefined) continue;
        kept.add(script);
        script.flags.worker ||= near.get(script).above.length === 0 && !hasTools(script);
      }
    for (const file of kept) for (const other of [...near.get(file).below, ...near.get(file).above]) kept.add(other);
    if (sizeOf(kept) <= NODES_LARGE) return files.filter((file) => kept.has(file));
    const isDangerous = ({ modules, imports, gets }) => [...modules, ...imports].some(([, name]) => DANGER.test(packageOf(name))) || gets.some(([, name]) => name === 'constructor');
    const reaching = new Set([...kept].filter(isDangerous));
    for (const file of reaching) for (const other of near.get(file).above) reaching.add(other);
    for (const file of [...reaching]) for (const other of near.get(file).below) reaching.add(other);
    return files.filter((file) => kept.has(file) && reaching.has(file));
  }

  fileOf(file, spec) {
    return spec.startsWith('.') || spec.startsWith('/') ? this.resolve(file.path, spec) : this.byAlias(spec);
  }

  node() {
    this.grow(1);
    return this.sets.length - 1;
  }

  /* Appends one by one: engines store arrays with holes as maps. */
  grow(count) {
    for (const list of [this.sets, this.flows, this.watchers])
      for (let i = 0; i < count; i++) list.push(undefined);
  }

  token(kind, key, more) {
    const id = `${kind} ${key}`;
    let token = this.tokens.get(id);
    if (token === undefined) this.tokens.set(id, token = { kind, key, ...more });
    return token;
  }

  /* ---- building -------------------------------------------------------------------- */

  add(file) {
    const base = this.sets.length - 1, at = (n) => (n === 0 ? 0 : n + base);
    this.grow(file.count);
    file.base = base;
    /* `import x from` a CommonJS file gives all of its exports. */
    if (!file.flags.esm) this.write(at(file.exports), at(file.exports), 'default');
    for (const [from, to, kind] of file.edges) (this.flows[at(from)] ??= new Set()).add(at(to) * 8 + kind);
    for (const [object, name, to] of file.gets) this.read(at(object), name, at(to));
    for (const [from, object, name] of file.puts) this.write(at(from), at(object), name);
    for (const n of file.objects) this.give(at(n), this.token(OBJECT, at(n)));
    for (const [node, params, rest, result, self, name, line, container, within] of file.funcs) {
      const f = { file, params: params.map(at), rest, result: at(result), self: at(self), name, line, container, within: this.functions.get(at(within)), instance: 0 };
      this.functions.set(at(node), f);
      this.give(at(node), this.token(FUNCTION, at(node), { f }));
    }
    for (const node of file.helpers) if (node !== 0) this.functions.get(at(node)).isHelper = true;
    for (const [node, path] of file.modules) this.give(at(node), this.module(path));
    for (const [node, text] of file.texts) this.give(at(node), this.token(TEXT, text));
    for (const [from, object] of file.spreads) this.copyMembers(at(from), at(object));
    for (const [node, instance, above] of file.classes) this.class(at(node), at(instance), at(above));
    for (const [callee, receiver, name, args, result, line, column, flags, container, spread, choice, within] of file.calls)
      this.call({ file, callee: at(callee), receiver: at(receiver), name, args: args.map(at), result: at(result), line, column, flags, container, spread, choice, within: this.functions.get(at(within)), isResolved: false });
  }

  class(node, instance, above) {
    const own = this.token(OBJECT, instance), made = this.token(FUNCTION, node);
    made.f.instance = instance;
    this.eachFunction(above, (f, token) => {
      if (f.instance === 0) return;
      this.inherit(own, this.token(OBJECT, f.instance));
      this.inherit(made, token);
    });
  }

  /* Links imports, of a file of the project or of a package. */
  link(file) {
    for (const [n, spec] of file.imports) {
      const node = n + file.base, target = this.fileOf(file, spec);
      if (target === undefined) this.give(node, this.module(packageOf(spec)));
      else this.edge(target.exports + target.base, node);
    }
    for (const n of file.bounded) this.watch(n + file.base, ({ kind, source, call }) => {
      if (source !== undefined && kind !== FILE) source.isBounded = true;
      if (call !== undefined) call.isBounded = true;
    });
    for (const [node, name] of file.sources) {
      const tool = this.tool(name, file, 0);
      this.late.push([node + file.base, () => this.seed(node + file.base, tool)]);
    }
  }

  resolve(from, spec) {
    const parts = spec.startsWith('/') ? [] : from.split('/').slice(0, -1);
    for (const part of spec.split('/'))
      if (part === '..') parts.pop();
      else if (part !== '.' && part !== '') parts.push(part);
    const path = parts.join('/'), stem = path.replace(/\.[cm]?jsx?$/, '');
    const names = [path, ...ENDINGS.flatMap((end) => [path + end, stem + end])];
    return this.byPath.get(names.find((name) => this.byPath.has(name)));
  }

  /* "@/tools/run" and "~/tools/run": compilers map these to the folder of sources. */
  byAlias(spec) {
    const rest = /^(@|~|src|#)\/(.+)/.exec(spec)?.[2];
    return rest && [...this.roots].map((root) => this.resolve(`${root}x`, `./${rest}`)).find(Boolean);
  }

  module(path) {
    return this.token(MODULE, path, { path });
  }

  tool(name, file, line, more = {}) {
    const tool = { name, file, line, id: `${this.tools.length}`, schema: 0, parsed: new Map(), ...more };
    this.tools.push(tool);
    return tool;
  }

  /* The same tool, with the schema by which a call has checked its arguments. */
  parsedBy(tool, call) {
    const { parsed, id } = tool;
    if (!parsed.has(call)) {
      const more = { id: `${id} ${parsed.size}`, schema: 0, schemas: [call.receiver] };
      parsed.set(call, Object.assign(Object.create(Object.hasOwn(tool, 'parsed') ? tool : Object.getPrototypeOf(tool)), more));
    }
    return parsed.get(call);
  }

  /* The text of a field of a tool's arguments; of all of them without a field. */
  taint(tool, field = '') {
    return this.token(TAINT, `${tool.id} ${field}`, { source: { tool, field, isBounded: false } });
  }

  /* Functions that arrive at the node are handlers of the tool. Registered ones get only its
   * arguments: a library's own request handler passes on what the tool's schema has checked. */
  seed(node, tool, isRequest = false) {
    this.eachFunction(node, (f) => {
      const owners = this.owners.get(f.params[0]);
      if ((tool.how === undefined && owners !== undefined) || (isRequest && f.isRequested)) return;
      f.isRequested ||= isRequest;
      tool.handlers = [...tool.handlers ?? [], f];
      tool.line ||= f.line;
      if (f.params.length === 0) return;
      if (!isRequest) {
        if (tool.how !== undefined && tool.schemas?.length !== 0) this.owners.set(f.params[0], [...owners ?? [], tool]);
        this.give(f.params[0], this.taint(tool));
        return;
      }
      /* In a request, only params.arguments is text from the model. */
      const request = this.fresh(), params = this.fresh(), args = this.node();
      this.give(args, this.taint(tool));
      this.write(args, params, 'arguments');
      this.write(params, request, 'params');
      this.edge(request, f.params[0]);
    });
  }

  /* ---- the graph: no node, 0 or undefined, takes and gives nothing -------------------------------------------------------------------- */

  give(node, token) {
    if (!node || !token) return;
    const set = this.sets[node], { kind, source } = token;
    if (this.owners.get(node)?.includes(source?.tool) === false) return;
    if (set === undefined) {
      this.sets[node] = [token];
    } else {
      /* A full node takes only tokens that come from arguments or results. */
      if (set.includes(token) || (kind === QUOTED && set.includes(token.plain))) return;
      if (set.length >= this.most && kind > RESULT) {
        if (kind === OBJECT && !this.cut.has(token)) this.cut.set(token, node);
        return;
      }
      /* Where many fields of a tool arrive in a large project, more of them are only its arguments. */
      if (kind === TAINT && source.field !== '' && this.most === TOKENS_FEW && set.filter((one) => one.kind === TAINT && one.source.tool === source.tool).length >= FIELDS_MAX)
        return this.give(node, this.taint(source.tool));
      set.push(token);
    }
    this.queue.push(node, token);
  }

  edge(from, to, kind = 0) {
    if (!from || !to || from === to) return;
    const flows = this.flows[from] ??= new Set(), key = to * 8 + kind;
    if (flows.has(key)) return;
    flows.add(key);
    const set = this.sets[from];
    if (set !== undefined) for (let i = 0, n = set.length; i < n; i++) this.pass(set[i], to, kind);
  }

  /* kinds: 0 as it is, 1 as a part of a text, 2 as a JSON literal, 3 a handler as well, 4 checked by a strict
   * pattern, 5 as the first word of a text */
  pass(token, to, kind) {
    const { kind: t, key, source } = token;
    if (kind === 4)
      this.give(to, t === TAINT || t === QUOTED ? this.token(WORD, key, { source }) : t === WORD ? token : undefined);
    else if (kind === 5 ? t !== OBJECT && t !== FUNCTION : kind === 0 || t === TAINT || t === QUOTED || t === RESULT || (kind === 1 && t === FILE) || (kind === 3 && (t === FILE || t === FUNCTION)))
      this.give(to, kind === 2 && t === TAINT ? this.token(QUOTED, key, { source, plain: token }) : token);
  }

  watch(node, then) {
    if (!node) return;
    (this.watchers[node] ??= []).push(then);
    for (const token of [...this.tokensAt(node)]) then(token);
  }

  /* The node to which that member flows, of all objects at a node; "*": all members. */
  read(object, name, to = this.node()) {
    if (to) this.watch(object, (token) => this.readFrom(token, name, to));
    return to;
  }

  write(from, object, name) {
    if (from) this.watch(object, (token) => this.writeTo(token, name, from));
  }

  /* The members of an object or function, and who reads them: [name, to]. */
  box(token) {
    return token.box ??= { members: new Map(), readers: new Map(), above: new Set() };
  }

  memberOf(token, name) {
    const box = this.box(token);
    let node = box.members.get(name);
    if (node === undefined) {
      node = this.node();
      box.members.set(name, node);
      for (const [wanted, to] of box.readers.values()) if (gets(box, wanted, name)) this.edge(node, to);
    }
    return node;
  }

  readBox(token, name, to) {
    const box = this.box(token), key = `${to} ${name}`;
    if (box.readers.has(key)) return;
    box.readers.set(key, [name, to]);
    for (const member of name === '*' ? box.members.keys() : [name, '*'])
      if (box.members.has(member) && gets(box, name, member)) this.edge(box.members.get(member), to);
    for (const above of box.above) this.readBox(above, name, to);
  }

  readFrom(token, name, to) {
    const { kind, f, source } = token;
    switch (kind) {
      case FUNCTION: case OBJECT:
        if (f && name === 'constructor') this.give(to, this.module('global.Function'));
        if (f && name === 'prototype') this.give(to, this.token(OBJECT, f.instance ||= this.fresh()));
        if (!f && name === 'shape') this.give(to, token);
        this.readBox(token, name, to);
        break;
      case TAINT: if (!FREE_TEXT.test(name)) this.give(to, source.field === '' && !/^(\*|\[\]|0|data)$/.test(name) ? this.taint(source.tool, name) : token); break;
      case QUOTED: case WORD: case RESULT: if (!FREE_TEXT.test(name)) this.give(to, token); break;
      case MODULE: this.readModule(token, name, to); break;
    }
  }

  readModule(token, name, to) {
    const { path } = token;
    if (isSameSchema(path, name)) this.give(to, this.module(path.replace(/\(\)$/, '')));
    else if (name === 'default' || name === 'promises') this.give(to, token);
    else if (/^global\.(globalThis|global|window|self)$/.test(path)) this.give(to, this.module(`global.${name}`));
    else if (path === 'worker_threads' && name === 'workerData') this.edge(this.channel, to);
    else if (isFollowed(`${path}.${name}`)) this.give(to, this.module(`${path}.${name}`));
  }

  writeTo(token, name, from) {
    if (token.kind === OBJECT || token.kind === FUNCTION) this.edge(from, this.memberOf(token, name));
  }

  /* A node with a new object, which flows to another. */
  fresh(to = 0) {
    const node = this.node();
    this.give(node, this.token(OBJECT, node));
    this.edge(node, to);
    return node;
  }

  inherit(token, above) {
    const box = this.box(token);
    if (token === above || box.above.has(above)) return;
    box.above.add(above);
    for (const [name, to] of [...box.readers.values()]) this.readBox(above, name, to);
  }

  /* { ...from }, Object.assign */
  copyMembers(from, object) {
    this.watch(object, (target) => {
      if (target.kind !== OBJECT) return;
      (this.spreads[target.key] ??= []).push(from);
      this.watch(from, (token) => {
        const { kind } = token;
        if (kind === OBJECT) this.inherit(target, token);
        else if (kind === TAINT || kind === RESULT || kind === MODULE) this.give(this.memberOf(target, '*'), token);
      });
    });
  }

  /* ---- calls -------------------------------------------------------------------------- */

  call(call) {
    this.calls.push(call);
    /* f(...list): any further argument may be any element. */
    call.args = call.args.map((arg, i) => (call.spread.includes(i) ? this.read(arg, '*') : arg));
    if (call.spread.includes(call.args.length - 1)) call.args.push(call.args.at(-1), call.args.at(-1));
    if (/^__(importStar|importDefault|toESM|toCommonJS)$/.test(call.name)) this.handOn(call);
    methodModel(this, call);
    this.watch(call.callee, (token) => this.enter(call, token));
  }

  enter(call, token) {
    const { kind, f, to, path } = token;
    switch (kind) {
      case FUNCTION:
        call.isResolved = true;
        this.bind(call, f);
        break;
      case SETTLE: this.edge(call.args[0], to); break;
      case MODULE:
        call.isResolved = true;
        (call.paths ??= []).push(path);
        callModel(this, call, path);
        if (isFollowed(`${path}()`)) this.give(call.result, this.module(`${path}()`));
        break;
      case TAINT: case QUOTED: case WORD: case RESULT: /* a method of it */
        call.isResolved = true;
        if (kind === RESULT && SHORTENS.test(call.name)) break;
        this.give(call.result, token);
        for (const arg of call.args) this.eachFunction(arg, (f) => {
          if (f.params.length > 0 && f.rest !== 0) this.give(f.params[0], token);
          this.edge(f.result, call.result);
        });
        break;
    }
  }

  /* The result is a module, or an object made of it. */
  handOn({ args: [module], result }) {
    this.edge(module, result);
    this.write(module, module, 'default');
  }

  bind(call, f) {
    if (ESCAPES.test(f.name)) return;
    if (f.isHelper) this.handOn(call);
    const { args, spread } = call;
    args.forEach((arg, i) => {
      const isSpread = spread[0] <= i;
      for (let k = i; k < (isSpread ? f.params.length : i + 1); k++)
        if (f.rest < 0 || k < f.rest) this.edge(arg, f.params[k]);
        else for (const slot of isSpread ? ['0', '*'] : [k === f.rest ? '0' : '[]']) this.writeTo(this.token(OBJECT, f.params[f.rest]), slot, arg);
    });
    if (call.flags & 1) {
      f.instance ||= this.fresh();
      this.edge(f.instance, call.result);
      this.edge(f.instance, f.self);
    } else {
      this.edge(call.receiver, f.self);
    }
    this.edge(f.result, call.result);
  }

  eachFunction(node, then) {
    this.watch(node, (token) => {
      if (token.kind === FUNCTION) then(token.f, token);
    });
  }

  passArguments(call) {
    if (LOOKS_UP.test(call.name) || FREE_TEXT.test(call.name) || SHORTENS.test(call.name) || ESCAPES.test(call.name)) return;
    for (const arg of call.args) {
      this.edge(arg, call.result, WRAPS.test(call.name) ? 3 : 1);
      this.edge(this.read(arg, '*'), call.result, 1);
    }
    this.edge(call.receiver, call.result, 1);
  }

  /* ---- running -------------------------------------------------------------------------- */

  run() {
    this.drain();
    /* A function that passes handlers on to setRequestHandler() has those of all its callers: it is last. */
    for (const [, seed] of this.late.sort(([a], [b]) => this.tokensAt(a).length - this.tokensAt(b).length)) seed();
    for (let round = 0; round < 12; round++) {
      this.drain();
      let isNew = false;
      for (const call of this.calls) {
        if (call.isResolved || call.isPassed) continue;
        call.isPassed = isNew = true;
        this.passArguments(call);
      }
      if (!isNew && this.queue.length === 0) break;
    }
    return this.steps < STEPS_MAX;
  }

  /* Files in which arguments of tools may go further than they were followed: into functions or
   * objects that a full node did not take. */
  cutFiles() {
    const holds = (node) => this.sets[node]?.some(({ kind }) => kind <= WORD);
    const called = this.calls.filter(({ callee, args }) => this.sets[callee]?.length >= this.most && args.some(holds)).map(({ file }) => file);
    const nodes = [...this.cut].filter(([token]) => [...this.membersOf(token).values()].some(holds)).map(([, node]) => node);
    const passed = this.files.filter(({ base, count }) => nodes.some((node) => node > base && node <= base + count));
    return [...new Set([...called, ...passed])].map(({ path }) => path);
  }

  drain() {
    const { queue } = this;
    for (let head = 0; head < queue.length && this.steps < STEPS_MAX; head += 2) {
      if (++this.steps > STEPS_MANY) this.most = TOKENS_FEW;
      this.arrive(queue[head], queue[head + 1]);
    }
    queue.length = 0;
  }

  /* Edges and watchers that are added meanwhile look at the token when they are added. */
  arrive(node, token) {
    const flows = this.flows[node], watchers = this.watchers[node];
    if (flows !== undefined) for (const key of flows) this.pass(token, key >> 3, key & 7);
    if (watchers !== undefined) for (let i = 0, n = watchers.length; i < n; i++) watchers[i](token);
  }

  /* ---- queries --------------------------------------------------------------------------- */

  tokensAt(node) {
    return this.sets[node] ?? [];
  }

  /* The tokens of a node, and those of its objects' members, down to that depth. */
  deep(node, depth = 2) {
    const found = new Set();
    for (let nodes = [node]; depth >= 0; depth--) {
      const met = nodes.flatMap((one) => this.tokensAt(one).filter((token) => !found.has(token)));
      for (const token of met) found.add(token);
      nodes = met.flatMap((token) => (token.kind === OBJECT ? [...this.membersOf(token).values()] : []));
    }
    return [...found];
  }

  /* The members of an object and of its prototypes: name, node. */
  membersOf(token, seen = new Set()) {
    if (seen.has(token)) return new Map();
    seen.add(token);
    const box = this.box(token), all = new Map();
    for (const above of box.above) for (const [name, node] of this.membersOf(above, seen)) all.set(name, node);
    for (const [name, node] of box.members) all.set(name, node);
    return all;
  }

  /* The members of all objects at a node; undefined without any object. */
  members(node) {
    const objects = this.tokensAt(node).filter(({ kind }) => kind === OBJECT);
    return objects.length === 0 ? undefined : new Map(objects.flatMap((token) => [...this.membersOf(token)]));
  }

  textsAt(node, depth = 1) {
    return this.deep(node, depth).filter(({ kind }) => kind === TEXT).map(({ key }) => key);
  }
}

// SPDX-License-Identifier: MIT
/*
 * judge - makes findings from the flows of values in a project, by the rules of rules.json, and
 * from these the points and the grade.
 */
import apis from './apis.json';
import { packageOf, patterns } from './models.js';
import rules from './rules.json';
import { FILE, FUNCTION, MODULE, OBJECT, QUOTED, RESULT, TAINT, TEXT, WORD } from './tokens.js';

const { SHELLS, INTERPRETERS, EVALUATES, GRANTS, CONFINED, HOST, NETWORK, INTRINSIC, EVAL, WORKER, START, KILLS, REJECTS } = patterns;

/* Calls that run code in a sandbox. code: the argument that is run, -1: the receiver; options: that
 * with the time limit; context: that with the globals. */
const SANDBOXES = apis.sandboxes.map((row) => ({ ...row, is: new RegExp(row.is) }));

/* Schema kinds of fields that cannot hold free text, that have a strict pattern, that hold others. */
const CHOSEN = /\.(number|boolean|enum|nativeEnum|literal|int|bigint|date|uuid|email|ip)\(\)|\.coerce\.(number|boolean)/;
const WORDS = /\.word\(\)/;
const HOLDS = /\.(object|strictObject|array|union)\(\)/;
/* How free the text of a kind is; a kind that is not known is freer than a pattern. */
const freedomOf = (kind) => (kind === '' ? 2 : CHOSEN.test(kind) ? 0 : WORDS.test(kind) ? 1 : 3);

/* The versions of packages that fail to contain code, in a lock file of npm, yarn or pnpm. */
export const lockedOf = (text) => Object.fromEntries(apis.broken.all.map(([name]) => [name,
  new RegExp(`"node_modules/${name}":\\s*\\{\\s*"version": "([^"]+)|^"?${name}@[^\\n]*:\\r?\\n +version:? "?([\\w.-]+)|^ +'?/?${name}[@/](\\d[\\w.-]*)`, 'm').exec(text)?.slice(1).find(Boolean)]));


export const MEANINGS = Object.fromEntries(apis.grades.map(([grade, , meaning]) => [grade, meaning]));
export const ruleOf = (finding) => rules.find(({ id }) => id === finding.rule);

const inWorker = ({ file, flags }) => file.flags.worker || (flags & 16) !== 0;

class Judge {
  findings = [];
  namesIn = new Map(); /* of functions: the names of what is called in them */
  ends = new Set(); /* "file name" of functions that end something */
  ran = new Set(); /* tools whose arguments run as code */
  kinds = new Map(); /* of the nodes of schemas */
  generates = new Map(); /* of functions: whether a validator makes its code in it */
  sandboxes = []; /* { call, sources }: calls that run code, with or without limits */

  constructor(solver, packages, locks) {
    this.s = solver;
    this.packages = packages;
    this.locks = locks;
    this.readNames();
  }

  /* Reports it unless sources are looked for and there are none; returns whether it does. */
  report(rule, call, detail, sources) {
    if (sources?.length === 0) return false;
    const source = sources?.[0], tool = source?.tool;
    const from = tool && { tool: tool.name || this.choicesAt(call).join(', '), field: source.field, file: tool.file.path, line: tool.line };
    this.findings.push({ rule, file: call.file.path ?? call.file, line: call.line, column: call.column, detail, from });
    if (rule === 'shell-command' || rule === 'code-process') this.ranBy(sources);
    return true;
  }

  /* For a server with one handler for all tools: the tool names that lead to the call, from the
   * `case 'run':` around the call or around a call of its function. */
  choicesAt(call) {
    const found = new Set(), seen = new Set(), list = [call];
    for (const { choice = null, within } of list) {
      if (choice !== null) found.add(choice);
      for (let f = within; choice === null && f !== undefined && !seen.has(f); f = f.within) {
        seen.add(f);
        list.push(...this.callersOf(f));
      }
    }
    return [...found];
  }

  callersOf(f) {
    this.callers ??= Map.groupBy(this.s.calls.flatMap((one) => this.s.tokensAt(one.callee).map((token) => [token.f, one])), ([of]) => of);
    return (this.callers.get(f) ?? []).map(([, one]) => one);
  }

  /* ---- sources of values ---------------------------------------------------------------- */

  isText(source, freedom = 2) {
    if (source.tool.schemas?.length === 0) return false; /* it gets no arguments */
    const kind = this.kindOf(source);
    return kind === undefined || freedomOf(kind) >= freedom;
  }

  /* The field's kind, such as "zod.z.string().max()", if its schema is known; of several, one
   * that allows free text. */
  kindOf({ tool, field }) {
    const nodes = field === '' ? [] : tool.schema ? [tool.schema] : tool.schemas ?? [];
    const found = nodes.map((node) => this.s.members(node)?.get(field)).filter(Boolean).flatMap((node) => this.kindsAt(node));
    return found.sort((a, b) => freedomOf(b) - freedomOf(a))[0] || undefined;
  }

  /* The kinds of a schema, and instead of lists and objects those of what they hold, if all is known. */
  kindsAt(node, depth = 20) {
    if (this.kinds.has(node) || depth === 0) return this.kinds.get(node) ?? [''];
    this.kinds.set(node, ['']); /* not known, also where schemas hold each other */
    const tokens = this.s.tokensAt(node), paths = tokens.map(({ path = '' }) => path).filter((path) => path.startsWith('zod')).sort((a, b) => b.length - a.length);
    const own = paths.filter((path) => !HOLDS.test(path)), objects = own.length < paths.length ? tokens.filter(({ kind }) => kind === OBJECT) : [];
    /* It has members of something that is not known. */
    const isOpen = ({ key }) => this.s.spreads[key]?.some((from) => !this.s.tokensAt(from).some(({ kind }) => kind === OBJECT));
    const inner = objects.flatMap((object) => (isOpen(object) ? [''] : [...this.s.membersOf(object).values()].flatMap((member) => this.kindsAt(member, depth - 1))));
    const isKnown = own.length + inner.length > 0 && !inner.includes(''), isConstant = tokens.length > 0 && tokens.every(({ kind }) => kind === TEXT);
    if (tokens.length < this.s.most && (paths.length > 0 || isConstant)) this.kinds.set(node, [...new Set([...own, ...inner, ...isKnown ? [] : paths])]);
    return this.kinds.get(node);
  }

  sourcesAt(node, kinds = [TAINT, QUOTED], depth = 2) {
    return this.s.deep(node, depth).filter(({ kind, source }) => kinds.includes(kind) && this.isText(source)).map(({ source }) => source);
  }

  /* Sources of code. JSON literals are not code. */
  codeAt(node) {
    return this.sourcesAt(node, [TAINT], 0);
  }

  /* Sources of a whole command, or of its first word: a word that a pattern has checked chooses a program, too. */
  chosenAt(node) {
    const isFixed = this.s.textsAt(node, 0).length > 0;
    const words = this.s.tokensAt(node).filter(({ kind, source }) => (kind === WORD || (kind === TAINT && !isFixed)) && this.isText(source, 1));
    return [...this.codeAt(node), ...words.map(({ source }) => source)];
  }

  /* ---- calls ------------------------------------------------------------------------------ */

  path(call, path) {
    const { args } = call, [first = 0] = args, sandbox = SANDBOXES.find(({ is }) => is.test(path));
    if (EVAL.test(path)) {
      const sources = path === 'global.Function' ? args.flatMap((arg) => this.codeAt(arg)) : /import$|require$/.test(path) ? this.chosenAt(first) : this.codeAt(first);
      if (sources.length > 0 && (path !== 'global.Function' || this.isRun(call))) this.evaluated(call, sources, path);
      else if (/import$|require$/.test(path)) this.fileRun(call, [first], path);
    } else if (/^(global|timers)\.set(Timeout|Interval)$/.test(path)) {
      const sources = this.codeAt(first);
      if (sources.length > 0 && !this.s.tokensAt(first).some(({ f }) => f)) this.evaluated(call, sources, path);
    } else if (START.test(path)) {
      this.start(call, path);
    } else if (WORKER.test(path)) {
      this.worker(call);
    } else if (sandbox) {
      this.sandboxed(call, path, sandbox);
    }
  }

  /* True if the value is used: `new Function(text)` alone compiles, but runs nothing. False for the
   * code of validators. */
  isRun({ result, within }) {
    if (!(this.s.flows[result]?.size > 0 || this.s.watchers[result]?.length > 0)) return false;
    if (within !== undefined && !this.generates.has(within)) {
      const nodes = [within.self, ...this.s.calls.filter((one) => one.within === within).map(({ receiver }) => receiver)];
      /* All of the names are members of one object, or are called in the function. */
      const isCollector = (token) => token.kind === OBJECT && apis.generators.members.some((names) => names.every((name) => this.s.membersOf(token).has(name)));
      const found = new Set(nodes.flatMap((node) => this.s.tokensAt(node)).filter(isCollector));
      /* A server's own handlers do not quote what they are given. */
      const handlers = new Set(this.s.tools.flatMap(({ how, handlers: all = [] }) => (how ? all : [])));
      const isOwn = (f) => f !== undefined && (handlers.has(f) || isOwn(f.within));
      const isUsed = ({ receiver, callee, within: f }) => isOwn(f) && this.s.tokensAt(receiver).concat(this.s.tokensAt(callee)).some((token) => found.has(token) || token.f === within);
      const isCompiler = found.size > 0 || apis.generators.calls.some((names) => names.every((name) => this.namesIn.get(within)?.has(name)));
      this.generates.set(within, isCompiler && !isOwn(within) && !this.s.calls.some(isUsed));
    }
    return !this.generates.get(within);
  }

  ranBy(sources) {
    for (const { tool } of sources) this.ran.add(tool);
  }

  evaluated(call, sources, path) {
    const name = path.replace(/^global\./, '').replace('Function', 'new Function');
    this.report('code-eval', call, `reaches ${name}${inWorker(call) ? ', in a worker or child process, which has all rights of the server' : ''}`, sources);
    this.sandbox(call, sources);
  }

  sandbox(call, sources) {
    this.ranBy(sources);
    this.sandboxes.push({ call, sources });
  }

  /* ---- programs and shells ------------------------------------------------------------------ */

  start(call, path) {
    const { args } = call, method = path.split('.').at(-1).replace(/\(\)$/, ''), isOfResult = path.includes('()');
    const isShell = /^(exec|execSync|execaCommand|execaCommandSync|command|commandSync|execAsync)$/.test(method) || path === 'shelljs.exec';
    const isQuoted = path.startsWith('zx') || path.startsWith('shelljs') || call.flags & 8; /* $`` quotes */
    if (/stdin\.(write|end)$/.test(path)) this.stdin(call);
    else if (path === 'node-pty.spawn().write') this.report('shell-command', call, 'is typed into a terminal', this.codeAt(args[0]));
    else if (isShell && !isOfResult) this.shell(call, args[0], method);
    else if (isOfResult || isQuoted) return;
    else if (method === 'fork') this.fileRun(call, [args[0]], 'fork');
    else for (const [command, list] of this.startsOf(call, args[0] ?? 0, args[1] ?? 0)) this.program(call, method === path ? 'spawn' : method, command, list, args[2]);
  }

  shell(call, node, method) {
    const isFound = this.report('shell-command', call, `reaches the shell of ${method}`, this.sourcesAt(node)) ||
      this.report('shell-command', call, `chooses the program that ${method} starts`, this.chosenAt(node));
    if (!isFound) this.fileRun(call, [node], method);
  }

  /* Pairs of a program and its arguments. If both are parameters of the function around the call,
   * one pair per caller: the program of one must not meet the arguments of another. */
  startsOf(call, command, list, seen = new Set(), ways = { left: 200 }) {
    for (let f = call.within; f !== undefined; f = f.within) {
      const [i, k] = [command, list].map((node) => f.params.findIndex((param) => this.s.flows[param]?.has(node * 8)));
      const callers = i < 0 || k < 0 || seen.has(f) || ways.left-- <= 0 ? [] : this.callersOf(f).filter(({ spread }) => spread.length === 0);
      seen.add(f);
      if (callers.length > 0) return callers.flatMap((one) => this.startsOf(one, one.args[i] ?? 0, one.args[k] ?? 0, new Set(seen), ways));
    }
    return [[command, list]];
  }

  program(call, method, command, list, options = 0) {
    const words = this.s.textsAt(list, 2), shellName = this.s.textsAt(command, 0).find((text) => SHELLS.test(text));
    const chosen = this.chosenAt(command), passed = this.sourcesAt(list), code = this.sourcesAt(list, [TAINT]);
    const whole = [...this.s.members(list)?.values() ?? []].flatMap((member) => this.chosenAt(member));
    const settings = this.s.members(options) ?? this.s.members(list), shell = settings?.get('shell');
    const hasShell = shell !== undefined && this.s.textsAt(shell, 0).some((text) => text !== 'false');
    const interpreter = this.interpreterOf(command, words), evaluates = words.some((word) => EVALUATES.test(word));
    if (words.some((word) => CONFINED.test(word)))
      this.ranBy(passed);
    else if (hasShell && chosen.length + passed.length > 0)
      this.report('shell-command', call, `reaches the shell of ${method} with shell: true`, [...chosen, ...passed]);
    else if (chosen.length > 0)
      this.report('shell-command', call, `chooses the program that ${method} starts`, chosen);
    else if (passed.length + whole.length > 0 && shellName && evaluates)
      this.report('shell-command', call, `is a command of ${shellName}`, [...passed, ...whole]);
    else if (code.length > 0 && interpreter && evaluates)
      this.report('code-process', call, `is run by ${interpreter}`, code);
    else if (interpreter)
      this.fileRun(call, [command, list], method, true);
  }

  /* The interpreter that a command may name. Node.js confines code only with its flags; Deno does
   * so unless flags grant it rights. */
  interpreterOf(command, words) {
    const isNode = this.s.tokensAt(command).some(({ path }) => path === 'global.process.execPath');
    const texts = this.s.textsAt(command, 0), name = isNode ? 'node' : texts.find((text) => INTERPRETERS.test(text));
    const isDeno = texts.some((text) => /deno$/.test(text)) && !words.some((word) => GRANTS.test(word));
    return isDeno || words.some((word) => CONFINED.test(word)) ? undefined : name;
  }

  /* Reports a file that is run after a tool's argument was written into it. */
  fileRun(call, nodes, method, isInterpreter = false) {
    const sources = nodes.flatMap((node) => this.sourcesAt(node, [FILE]));
    const texts = nodes.flatMap((node) => this.s.textsAt(node));
    const isRun = isInterpreter || /^(import|require|fork|global\.\w+)$/.test(method) || texts.some((t) => INTERPRETERS.test(t.split(/\s/)[0]));
    if (isRun && !texts.some((t) => CONFINED.test(t))) this.report('code-process', call, `is written into a file, which ${method.replace('global.', '')} runs`, sources);
  }

  stdin(call) {
    const sources = this.codeAt(call.args[0]);
    const starts = this.s.calls.filter((other) => other.file === call.file && other.container === call.container && other.paths?.some((path) => START.test(path) && !/\(\)/.test(path)));
    for (const { args: [command = 0, list = 0] } of starts) {
      const words = this.s.textsAt(list, 2), interpreter = this.interpreterOf(command, words);
      if (interpreter && !words.some((word) => EVALUATES.test(word)))
        this.report('code-process', call, `is written to ${interpreter}, which runs it`, sources);
    }
  }

  /* ---- sandboxes ------------------------------------------------------------------------------ */

  sandboxed(call, path, { code, options, context }) {
    const sources = this.codeAt(code < 0 ? call.receiver : call.args[code]), method = path.split('.').at(-1);
    if (sources.length === 0) return;
    if (path.startsWith('vm.')) this.vm(call, path, method, sources);
    this.sandbox(call, sources);
    if (path.startsWith('vm2')) this.vm2(sources);
    else if (/evalCode/.test(method)) this.quickjs(call, call.args[options], sources);
    else if (!this.isSet(call.args[options], 'timeout')) this.report('no-timeout', call, `${method}${path.startsWith('vm.') ? '' : ' of isolated-vm'} without timeout`, sources);
    if (call.args[context]) this.context(call, call.args[context], sources);
    for (const made of path.startsWith('isolated-vm') ? this.made(/^isolated-vm\.(Isolate|Reference)$/) : [])
      if (made.paths.includes('isolated-vm.Reference')) this.context(made, made.args[0] ?? 0, sources, false);
      else if (!this.isSet(made.args[0], 'memoryLimit')) this.report('no-memory-limit', made, 'new Isolate() without memoryLimit', sources);
  }

  /* The calls that make such objects. */
  made(pattern) {
    return this.s.calls.filter(({ paths, flags }) => flags & 1 && paths?.some((path) => pattern.test(path)));
  }

  vm(call, path, method, sources) {
    const isConfined = inWorker(call) && method !== 'runInThisContext';
    const detail = `runs in ${path.startsWith('vm.Script()') ? 'vm.Script.' : 'vm.'}${method}`;
    if (isConfined) this.report('vm-boundary', call, `${detail}, and nothing else keeps it from the worker's process`, sources);
    else this.report('code-vm', call, detail, sources);
  }

  /* Options that cannot be followed are taken to be complete. */
  isSet(node, ...names) {
    if (node === undefined || node === 0) return false;
    const members = this.s.members(node);
    if (members === undefined) return this.s.tokensAt(node).every(({ kind }) => kind !== TEXT);
    return names.some((name) => members.has(name)) || members.has('*');
  }

  /* hasMembers: code gets what is in the object. */
  context(call, node, sources, hasMembers = true) {
    const passed = new Set(), network = new Set();
    for (const token of this.s.tokensAt(node)) {
      for (const [found, pattern] of token.kind === MODULE ? [[passed, HOST], [network, NETWORK]] : [])
        if (pattern.test(token.path)) found.add(token.path.replace('global.', ''));
      for (const [name, member] of token.kind === OBJECT && hasMembers ? this.s.membersOf(token) : [])
        for (const { f, path = '' } of this.s.deep(member, 1)) {
          if (f ? this.usesNetwork(f) : NETWORK.test(path)) network.add(name);
          if (f || (path !== '' && !INTRINSIC.test(path) && !path.includes('()'))) passed.add(name === '*' ? 'all of globalThis' : name);
        }
    }
    if (passed.size > 0) this.report('host-in-sandbox', call, `the context has ${[...passed].slice(0, 6).join(', ')}`, sources);
    if (network.size > 0) this.report('network-in-sandbox', call, `the context has ${[...network].join(', ')}`, sources);
  }

  usesNetwork(f) {
    return this.s.calls.some((c) => c.file === f.file && c.container === f.container && c.line >= f.line && c.paths?.some((path) => NETWORK.test(path)));
  }

  vm2(sources) {
    for (const made of this.made(/^vm2\.(VM|NodeVM)$/)) {
      const options = this.s.members(made.args[0] ?? 0), sandbox = options?.get('sandbox'), require = options?.get('require');
      if (!options?.has('timeout') && !options?.has('*')) this.report('no-timeout', made, 'VM of vm2 without timeout', sources);
      if (sandbox) this.context(made, sandbox, sources);
      if (require && this.s.textsAt(require, 2).some((text) => /^(\*|child_process|fs|true)$/.test(text))) this.report('host-in-sandbox', made, 'NodeVM gives modules of Node.js', sources);
    }
  }

  quickjs(call, options, sources) {
    const has = (pattern) => this.s.calls.some(({ name }) => pattern.test(name));
    if (!has(/^(setMemoryLimit)$/)) this.report('no-memory-limit', call, 'QuickJS without setMemoryLimit', sources);
    if (!has(/^(setInterruptHandler|shouldInterruptAfterDeadline)$/) && !this.isSet(options, 'shouldInterrupt'))
      this.report('no-timeout', call, 'QuickJS without an interrupt handler', sources);
  }

  /* A worker that runs code: its own text, or code that it is sent. */
  worker(call) {
    const [script, options] = call.args;
    const text = this.codeAt(script), inWorkers = this.sandboxes.filter((one) => inWorker(one.call)).flatMap((one) => one.sources);
    const sources = text.length > 0 ? text : inWorkers;
    const settings = this.s.members(options);
    if (text.length > 0 && settings?.has('eval')) this.evaluated(call, text, 'a Worker with eval: true, which has all rights of the process');
    else if (text.length > 0) this.evaluated(call, text, 'the URL of a Worker');
    if (sources.length === 0) return;
    this.sandbox(call, sources);
    if (!this.isSet(options, 'resourceLimits')) this.report('no-memory-limit', call, 'new Worker() without resourceLimits', sources);
    if (this.timersOf(call.file).length === 0) this.report('no-timeout', call, 'a Worker that no timer terminates', sources);
  }

  /* The calls of setTimeout() in a file whose callbacks reject or resolve, or end something, also
   * through a function of the file. */
  timersOf(file) {
    return file.timers ??= this.s.calls.filter((call) => call.file === file && call.name === 'setTimeout').map((call) => {
      const names = this.s.tokensAt(call.args[0]).flatMap(({ f }) => [...this.namesIn.get(f) ?? []]), has = (pattern) => names.some((name) => pattern.test(name));
      return { call, kills: has(KILLS), killsByName: names.some((name) => this.ends.has(`${file.path} ${name}`)), rejects: has(REJECTS) };
    }).filter(({ kills, killsByName, rejects }) => kills || killsByName || rejects);
  }

  /* What functions call, and functions of files that end something. */
  readNames() {
    const ends = new Set();
    for (const { file, name, container, within } of this.s.calls) {
      if (/^(terminate|kill|dispose|destroy)$/.test(name)) ends.add(`${file.path} ${container}`);
      for (let f = within; f !== undefined; f = f.within) this.namesIn.set(f, (this.namesIn.get(f) ?? new Set()).add(name));
    }
    for (const { file, name, container } of this.s.functions.values()) if (ends.has(`${file.path} ${container}`)) this.ends.add(`${file.path} ${name}`);
  }

  /* ---- limits -------------------------------------------------------------------------------- */

  timers() {
    for (const { call } of this.sandboxes.slice()) {
      const timers = this.timersOf(call.file), isEnded = timers.some(({ killsByName }) => killsByName);
      for (const { call: timer, kills } of timers) {
        const isNear = timer.container === call.container || this.s.calls.some((one) => one.file === call.file && one.container === timer.container &&
          this.s.tokensAt(one.callee).some(({ f }) => f?.container === call.container));
        if (!kills && !isEnded && isNear) this.report('timer-without-kill', timer, 'the callback rejects, and ends nothing', this.sandboxes[0].sources);
      }
    }
  }

  inputs() {
    const sources = this.sandboxes.flatMap((one) => one.sources);
    for (const [source] of Map.groupBy(sources, ({ tool, field }) => `${tool.name} ${field}`).values()) this.input(source);
    for (const tool of this.ran) this.toolSchema(tool);
  }

  input(source) {
    const kind = this.kindOf(source), place = { file: source.tool.file, line: source.tool.line, column: 1 };
    if (kind !== undefined && /\.(any|unknown|object|record|array|union)\(\)/.test(kind)) {
      this.report('code-not-text', place, `\`${source.field}\` is ${kind.replace(/^zod\.(z\.)?/, 'z.')}`, [source]);
      return;
    }
    if (source.isBounded) return;
    const isLong = kind !== undefined ? !/\.(max|length|regex)\(\)/.test(kind) : this.jsonFields(source.field).some(({ type, isBounded }) => type === 'string' && !isBounded);
    const other = kind === undefined ? this.jsonFields(source.field).find(({ type }) => type === 'object' || type === 'array' || type === undefined) : undefined;
    if (other) this.report('code-not-text', place, `\`${source.field}\` is ${other.type ?? 'of any type'}`, [source]);
    else if (isLong) this.report('code-without-length', place, `\`${source.field}\` is text of any length`, [source]);
  }

  jsonFields(field) {
    return field === '' ? [] : this.s.files.flatMap(({ schemas }) => schemas).map(({ fields }) => (Object.hasOwn(fields, field) ? fields[field] : undefined)).filter(Boolean);
  }

  toolSchema(tool) {
    const place = { file: tool.file, line: tool.line, column: 1 }, name = tool.name === '' ? 'the tool' : `the tool '${tool.name}'`;
    /* Options that a function has made are taken to be complete. */
    const members = tool.config ? this.s.members(tool.config) : undefined;
    const hasSchema = tool.schemas !== undefined || members === undefined || ['inputSchema', 'parameters', 'schema', '*'].some((one) => members.has(one));
    const isMissing = tool.how === 'setRequestHandler' ? tool.parsed.size === 0 && !this.s.files.some(({ flags }) => flags.inputSchema)
      : /^(addTool|registerTool|createTool|defineTool)$/.test(tool.how) && !hasSchema;
    if (isMissing) this.report('no-input-schema', place, `${name} declares none`, [this.s.taint(tool).source]);
  }

  results() {
    for (const { call, sources } of this.sandboxes)
      for (const f of new Set(sources.flatMap(({ tool }) => tool.handlers ?? []))) {
        const back = this.s.deep(f.result, 4).filter(({ kind, call: from }) => kind === RESULT && !from.isBounded).map((token) => token.call);
        if (back.length > 0) return this.report('unbounded-result', back.includes(call) ? call : back[0], 'the value goes into the reply as it is', sources);
      }
    return false;
  }

  brokenPackages() {
    for (const { path, dependencies } of this.packages)
      for (const [name, wanted, line] of dependencies) {
        const range = this.locked(path, name) ?? wanted;
        const broken = apis.broken.all.find(([one]) => one === name), isUsed = this.s.files.some(({ imports }) => imports.some(([, spec]) => packageOf(spec) === name));
        if (broken === undefined || !isUsed || isAtLeast(range, broken[1])) continue;
        this.report('broken-package', { file: path, line, column: 1 }, `${name} ${range}`);
      }
  }

  /* The version in the nearest lock file, of the folder or of one above it. */
  locked(path, name) {
    const folder = (one) => one.slice(0, one.lastIndexOf('/') + 1);
    return this.locks.filter((lock) => path.startsWith(folder(lock.path)) && lock.versions[name] !== undefined)
      .sort((a, b) => b.path.length - a.path.length)[0]?.versions[name];
  }

  all() {
    const isWorker = ({ paths }) => paths.some((path) => WORKER.test(path));
    /* Workers last: by then it is known whether they run code that they are sent. */
    const known = this.s.calls.filter(({ paths }) => paths !== undefined), ordered = [...known.filter((call) => !isWorker(call)), ...known.filter(isWorker)];
    for (const call of ordered) for (const path of call.paths) this.path(call, path);
    this.timers();
    this.inputs();
    this.results();
    this.brokenPackages();
  }
}

function isAtLeast(range, least) {
  const have = /\d+\.\d+(\.\d+)?/.exec(range)?.[0];
  return least !== undefined && have !== undefined && have.localeCompare(least, 'en', { numeric: true }) >= 0;
}

/* dist/index.js beside src/index.ts, index.cjs beside index.mjs: the same code, found twice. */
const BUILT = /(^|\/)(dist|build|out|lib|esm|cjs)\//;
const rank = ({ file }) => (BUILT.test(file) ? 2 : 0) + (/\.[cm]?tsx?$/.test(file) ? 0 : 1);

/* Findings without duplicates, the most severe first. */
function distinct(findings) {
  const kept = [];
  const places = Map.groupBy(findings.sort((a, b) => rank(a) - rank(b)), (one) => `${one.rule} ${one.file}:${one.line}:${one.column}`);
  const unique = [...places.values()].map(([one]) => one);
  for (const [first, ...twins] of Map.groupBy(unique, (one) => `${one.rule} ${one.detail} ${one.from?.tool} ${one.from?.field}`).values()) {
    kept.push(first);
    for (const twin of twins)
      if (isCopy(first.file, twin.file)) (first.also ??= []).push(`${twin.file}:${twin.line}`);
      else kept.push(twin);
  }
  return kept.sort((a, b) => ruleOf(b).points - ruleOf(a).points || a.file.localeCompare(b.file) || a.line - b.line);
}

/* True if one file is built from the other, or both are builds of the same source. */
function isCopy(first, second) {
  const stem = (path) => path.replace(/\.[cm]?[jt]sx?$/, '').replace(/(^|\/)(src|dist|build|out|lib|esm|cjs)(?=\/)/g, '');
  return first !== second && (BUILT.test(second) && !BUILT.test(first) || stem(first) === stem(second));
}

/* isWhole: all files that matter were read and followed; else the grade is not A. */
export function judge(solver, packages, locks, isWhole = true) {
  const j = new Judge(solver, packages, locks);
  j.all();
  const findings = distinct(j.findings), counted = new Set();
  let points = 100;
  for (const finding of findings) {
    const rule = ruleOf(finding);
    finding.points = rule.count === 'once' && counted.has(rule.id) ? 0 : rule.points;
    counted.add(rule.id);
    points = Math.max(0, points - finding.points);
  }
  if (!isWhole) points = Math.min(points, apis.grades[0][1] - 1);
  return { findings, points, grade: apis.grades.find(([, least]) => points >= least)[0], tools: solver.tools.filter(({ handlers }) => handlers).length };
}

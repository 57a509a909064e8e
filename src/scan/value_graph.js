// SPDX-License-Identifier: MIT
/*
 * value_graph - makes the graph of one file: which value may flow where, as numbers and names for
 * solve.js. A node is a place that holds a value: a variable, a parameter, the result of a call.
 * The order within a function is ignored, except for branches that never run and for checks that
 * make a value harmless.
 */
import { parse } from '@babel/parser';
import apis from './apis.json';
import { patterns } from './models.js';

const PLUGINS = ['jsx', 'decorators', 'explicitResourceManagement', 'importAttributes', 'deferredImportEvaluation'];
const GLOBALS = new Set(apis.globals), { INLINE, SCHEMA_KINDS, LEADS } = patterns;
const TOOL_KEYS = ['handler', 'execute', 'run', 'callback', 'call', 'invoke', 'fn'];
const TEXT_MAX = 60;

function programOf(path, text, startLine = 1) {
  const isTs = /\.[cm]?ts$|\.tsx$/.test(path), plugins = isTs && !path.endsWith('x') ? PLUGINS.slice(1) : PLUGINS;
  return parse(text, {
    startLine, sourceType: 'unambiguous', allowReturnOutsideFunction: true, allowAwaitOutsideFunction: true,
    allowSuperOutsideMethod: true, allowUndeclaredExports: true, allowNewTargetOutsideFunction: true,
    errorRecovery: true, attachComment: false, createParenthesizedExpressions: false, plugins: isTs ? [...plugins, 'typescript'] : plugins,
  }).program;
}

/* clean: names and chains of members that a check has made harmless; with "~": that match a strict pattern. */
const scopeIn = (parent, isFunction = false, clean = []) => ({ parent, isFunction, vars: new Map(), clean: new Set(clean) });

const isExit = (n) => /^(Return|Throw|Break|Continue)Statement$/.test(n.type) || (n.type === 'ExpressionStatement' && chainOf(n.expression.callee) === 'process.exit');
const leaves = (n) => n !== null && n !== undefined && (n.type === 'BlockStatement' ? n.body.some(isExit) : isExit(n));

/* A chain of names as text, such as "args.command"; or undefined. */
function chainOf(n) {
  switch (n?.type) {
    case 'Identifier': return n.name;
    case 'ThisExpression': return 'this';
    case 'TSNonNullExpression': case 'TSAsExpression': return chainOf(n.expression);
    case 'MemberExpression': case 'OptionalMemberExpression': {
      const base = n.computed ? undefined : chainOf(n.object);
      return base === undefined ? undefined : `${base}.${n.property.name}`;
    }
  }
  return undefined;
}

const isName = (chain) => /(^|\.)(tool_?)?name$/i.test(chain ?? '');
const keyName = (n) => (n.type === 'PrivateName' ? `#${n.id.name}` : n.type === 'Identifier' ? n.name : String(n.value ?? '*'));
const propertyName = (n) => (!n.computed ? keyName(n.property) : n.property.type === 'StringLiteral' ? n.property.value : n.property.value === 0 ? '0' : '*');

/* Strict patterns match only words, or only numbers with spaces and operators: no call, and no further word
 * of a command. No part can be read in two ways, so that matching takes linear time. */
const MARKS = String.raw`./:@,=+#~%_-`, SINGLE = String.raw`(?!-[^\]])`;
const LITERAL = String.raw`\\[${MARKS}]|[\p{L}\p{N}/:@,=#~%_-]`, GROUP = String.raw`\((?!\?)|\(\?(?:[:=!]|<[a-z]\w*>)|[|)*+?]|\{\d+(?:,\d*)?\}`;
const WORDS = String.raw`\\[wd]|\\p\{[LN]\w?\}|\[(?:[a-z]-[a-z]|[A-Z]-[A-Z]|\d-\d|\\[wd]|\\p\{[LN]\w?\}|(?:\\[${MARKS}]|[\p{L}\p{N}${MARKS}])${SINGLE})+\]`;
const NUMBERS = String.raw`\\[ds()*^]| |\[(?!\^)(?:\d-\d|\\[ds]|(?:\\[()*^${MARKS}]|[\d ()*^${MARKS}])${SINGLE})+\]`;
const STRICT = new RegExp(`^\\^(?:(?:${WORDS}|${LITERAL}|${GROUP})*|(?:${NUMBERS}|${LITERAL}|${GROUP})*)\\$$`, 'u');
const isStrictPattern = ({ pattern, flags }) => pattern.length < 1000 && STRICT.test(pattern) && !flags.includes('m') &&
  !pattern.replace(/\\.|\[[^\]]*\]/g, '').replace(/\((?:[^()]|\([^()]*\))*\)/g, '').includes('|');

class Builder {
  /* What solve.js reads. */
  graph = {
    edges: [], /* [from, to, kind] */
    gets: [], /* [object, name, to] */
    puts: [], /* [from, object, name] */
    calls: [],
    funcs: [],
    objects: [], /* nodes that hold an object made in this file */
    classes: [], /* [function, node of instances, node of the superclass] */
    spreads: [], /* [from, object] */
    modules: [], /* [node, name] */
    texts: [], /* [node, constant] */
    imports: [], /* [node, name of the file or package] */
    forks: [], /* names of programs for fork() that nothing confines; '*': one of the texts */
    helpers: [], /* functions of a compiler that return a module, or an object made of it */
    bounded: [], /* nodes whose length is compared with something */
    sources: [], /* [node of a function, name] of tools that are declared, not registered */
    schemas: [], /* of tools, as JSON Schema */
    flags: { esm: false, worker: false, inputSchema: false },
  };
  count = 1; /* node 0: no value of interest */
  known = new Map(); /* constants, modules and imports */
  container = 0;
  containers = 0;
  choice = null; /* the name in the `case 'run':` around the current place */
  within = 0; /* the function around the current place */
  thisNode = 0;
  params = []; /* of the function that has `arguments` */
  result = 0;
  nothing = 0; /* the node of members that hold nothing of interest */
  inText = 0; /* 16 in the text of a worker */
  texts = new Set(); /* texts of workers that have been read */
  above = 0; /* the superclass of the class that is being read */

  node() {
    return this.count++;
  }

  edge(from, to, kind = 0) {
    if (from && to) this.graph.edges.push([from, to, kind]);
  }

  get(object, name, to = this.node()) {
    if (object === 0) return 0;
    if (name === 'parentPort' || name === 'workerData') this.graph.flags.worker ||= this.inText === 0;
    this.graph.gets.push([object, name, to]);
    return to;
  }

  put(from, object, name) {
    if (from !== 0 && object !== 0) this.graph.puts.push([from, object, name]);
  }

  object() {
    const node = this.node();
    this.graph.objects.push(node);
    return node;
  }

  constant(value) {
    const text = String(value);
    return text.length > TEXT_MAX || /[\s,;(){}<>].*[\s,;(){}<>]/s.test(text) ? 0 : this.shared('texts', text);
  }

  /* The node of that name in a list of the graph: texts, modules or imports. */
  shared(list, name) {
    const key = `${list} ${name}`;
    if (!this.known.has(key)) {
      this.known.set(key, this.node());
      this.graph[list].push([this.known.get(key), name]);
    }
    return this.known.get(key);
  }

  /* ---- names ----------------------------------------------------------------- */

  /* Declares the names of a pattern. value: what all of them are, if it is constant; from: the package. */
  declare(scope, n, value, from) {
    for (const name of namesOf(n)) if (!scope.vars.has(name)) scope.vars.set(name, { node: this.node(), value, from });
  }

  find(scope, name) {
    for (let s = scope; s !== null; s = s.parent) {
      const binding = s.vars.get(name);
      if (binding !== undefined) return binding;
    }
    return undefined;
  }

  /* The node of a name that is declared where it is used. */
  nodeOf(scope, id) {
    return this.find(scope, id?.name)?.node ?? 0;
  }

  isClean(scope, chain, mark = '') {
    const base = chain.split('.', 1)[0];
    for (let s = scope; s !== null; s = s.parent) {
      if (s.clean.has(mark + chain)) return true;
      if (s.vars.has(base)) return false;
    }
    return false;
  }

  /* Declares the names of a list of statements, and of `var` those in nested blocks. */
  hoist(scope, statements, isDeep = false) {
    for (let n of statements) {
      if (n?.type === 'ExportNamedDeclaration' || n?.type === 'ExportDefaultDeclaration') n = n.declaration ?? n;
      if (!n || n.declare) continue;
      switch (n.type) {
        case 'VariableDeclaration':
          if (isDeep && n.kind !== 'var') break;
          for (const { id, init } of n.declarations)
            this.declare(scope, id, n.kind === 'const' && /^(Boolean|Numeric|String|Null|Template|RegExp)Literal$/.test(init?.type) ? init : undefined, requiredBy(init));
          break;
        case 'FunctionDeclaration': case 'ClassDeclaration': case 'TSEnumDeclaration':
        case 'TSImportEqualsDeclaration': case 'TSModuleDeclaration':
          if (!isDeep) this.declare(scope, n.id);
          break;
        case 'ImportDeclaration': for (const { local } of n.specifiers) this.declare(scope, local, undefined, n.source.value); break;
      }
      if (scope.isFunction && /^((If|For|ForIn|ForOf|While|DoWhile|Labeled|Block|Try|Switch)Statement|SwitchCase|CatchClause)$/.test(n.type))
        this.hoist(scope, Object.values(n).flat().filter((part) => part?.type), true);
    }
  }

  /* ---- constant conditions and checks ------------------------------------------ */

  /* true, false, or undefined if it is not constant. */
  truth(scope, n) {
    switch (n?.type) {
      case 'BooleanLiteral': case 'NumericLiteral': case 'StringLiteral': return Boolean(n.value);
      case 'NullLiteral': return false;
      case 'Identifier': return this.truth(scope, this.literal(scope, n));
      case 'UnaryExpression': {
        const inner = this.truth(scope, n.argument);
        return n.operator === '!' && inner !== undefined ? !inner : undefined;
      }
    }
    return undefined;
  }

  /* Chains that are known to be harmless if the condition has that outcome. */
  checked(scope, n, outcome) {
    if (n.type === 'UnaryExpression' && n.operator === '!') return this.checked(scope, n.argument, !outcome);
    if (n.type === 'LogicalExpression' && n.operator === (outcome ? '&&' : '||'))
      return [...this.checked(scope, n.left, outcome), ...this.checked(scope, n.right, outcome)];
    const chain = n.type === 'BinaryExpression' ? this.compared(n, outcome) : outcome && /CallExpression$/.test(n.type) ? this.listed(scope, n) : undefined;
    return chain === undefined ? [] : [chain];
  }

  /* The literal that an expression is, or the constant of that name. */
  literal(scope, n) {
    return n?.type === 'Identifier' ? this.find(scope, n.name)?.value : n;
  }

  isStrict(scope, n) {
    const pattern = this.literal(scope, n);
    return pattern?.type === 'RegExpLiteral' && isStrictPattern(pattern);
  }

  /* LIST.includes(chain), /^...$/.test(chain), Number.isInteger(chain) */
  listed(scope, { callee, arguments: args }) {
    const method = callee.property?.name, receiver = callee.object;
    const isList = /^(includes|has|hasOwn|hasOwnProperty)$/.test(method) && receiver?.type !== 'StringLiteral';
    const isPattern = method === 'test' && this.isStrict(scope, receiver);
    const chain = isList || isPattern || method === 'isInteger' || method === 'isFinite' ? chainOf(args.at(-1)) : undefined;
    return isPattern && chain !== undefined ? `~${chain}` : chain;
  }

  compared({ operator, left, right }, outcome) {
    if (operator === 'in') return outcome ? chainOf(left) : undefined;
    /* x !== y is not so: x === y */
    const isEqual = outcome ? /^===?$/.test(operator) : /^!==?$/.test(operator);
    if (isEqual && right.type === 'StringLiteral' && left.type !== 'UnaryExpression') return chainOf(left);
    if (isEqual && left.operator === 'typeof' && /^(number|boolean)$/.test(right.value)) return chainOf(left.argument);
    /* LIST.indexOf(x) === -1, < 0 */
    const isFound = outcome ? /^(!==?|>=)$/.test(operator) : /^(===?|<)$/.test(operator);
    return isFound && left.type === 'CallExpression' && left.callee.property?.name === 'indexOf' ? chainOf(left.arguments[0]) : undefined;
  }

  /* ---- statements ---------------------------------------------------------------- */

  block(outer, statements, isFunction = false) {
    let scope = isFunction ? outer : scopeIn(outer);
    this.hoist(scope, statements);
    /* Functions are defined before their block runs. */
    for (const n of statements) if (n.type === 'FunctionDeclaration') this.statement(scope, n);
    for (const n of statements) {
      if (n.type !== 'FunctionDeclaration') this.statement(scope, n);
      if (isExit(n)) return;
      if (n.type === 'IfStatement' && leaves(n.consequent)) {
        if (this.truth(scope, n.test) === true) return;
        scope = scopeIn(scope, false, this.checked(scope, n.test, false));
      }
    }
  }

  statement(scope, n) {
    switch (n?.type) {
      case 'ExpressionStatement': this.value(scope, n.expression); break;
      case 'VariableDeclaration':
        if (!n.declare) for (const { id, init } of n.declarations) if (init) this.assign(scope, id, this.value(scope, init, id.name));
        break;
      case 'FunctionDeclaration': this.edge(this.func(scope, n), this.nodeOf(scope, n.id)); break;
      case 'ClassDeclaration': if (!n.declare) this.edge(this.class(scope, n), this.nodeOf(scope, n.id)); break;
      case 'ReturnStatement': if (n.argument) this.edge(this.value(scope, n.argument), this.result); break;
      case 'IfStatement': this.branch(scope, n, (inner, part) => this.statement(inner, part)); break;
      case 'BlockStatement': case 'StaticBlock': this.block(scope, n.body); break;
      case 'TryStatement': for (const part of [n.block, n.handler, n.finalizer]) this.statement(scope, part); break;
      case 'CatchClause': {
        const inner = scopeIn(scope);
        this.declare(inner, n.param);
        this.block(inner, n.body.body);
        break;
      }
      case 'SwitchStatement': {
        const inner = scopeIn(scope), chain = chainOf(n.discriminant);
        this.value(scope, n.discriminant);
        this.hoist(inner, n.cases.flatMap(({ consequent }) => consequent));
        for (const { test, consequent } of n.cases) {
          if (test) this.value(inner, test);
          const isText = test?.type === 'StringLiteral' && chain !== undefined;
          this.chosen(isText && isName(chain) ? test.value : undefined, () => this.block(isText ? scopeIn(inner, false, [chain]) : inner, consequent));
        }
        break;
      }
      case 'WhileStatement': case 'DoWhileStatement': case 'ForStatement': case 'ForInStatement': case 'ForOfStatement': this.loop(scopeIn(scope), n); break;
      case 'LabeledStatement': case 'WithStatement': this.statement(scope, n.body); break;
      case 'ThrowStatement': this.record(n, 0, 0, 'throw', [this.value(scope, n.argument)]); break;
      case 'TSExportAssignment': this.put(this.value(scope, n.expression), this.moduleObject, 'exports'); break;
      default: this.declaration(scope, n);
    }
  }

  /* Reads the branches that may run; what read() returns for them flows to a node. */
  branch(scope, { test, consequent, alternate }, read, to = 0) {
    const truth = this.truth(scope, test);
    this.value(scope, test);
    const chosen = /^===?$/.test(test.operator) && test.right.type === 'StringLiteral' && isName(chainOf(test.left)) ? test.right.value : undefined;
    if (truth !== false) this.chosen(chosen, () => this.edge(read(scopeIn(scope, false, this.checked(scope, test, true)), consequent), to));
    if (truth !== true) this.edge(read(scopeIn(scope, false, this.checked(scope, test, false)), alternate), to);
    return to;
  }

  /* The code that then() reads belongs to the tool of that name. */
  chosen(name, then) {
    const before = this.choice;
    if (name !== undefined) this.choice = name;
    then();
    this.choice = before;
  }

  loop(scope, n) {
    this.hoist(scope, [n.init ?? n.left]);
    for (const part of [n.init, n.test, n.update]) part?.type === 'VariableDeclaration' ? this.statement(scope, part) : this.value(scope, part);
    const from = this.value(scope, n.right);
    if (n.type === 'ForOfStatement') this.assign(scope, n.left.declarations?.[0].id ?? n.left, this.get(from, '*'));
    if (this.truth(scope, n.test) !== false || n.type === 'DoWhileStatement') this.statement(scope, n.body);
  }

  declaration(scope, n) {
    switch (n?.type) {
      case 'ImportDeclaration': {
        if (n.importKind === 'type' || n.importKind === 'typeof') break;
        const from = this.shared('imports', n.source.value);
        for (const s of n.specifiers) {
          if (s.importKind === 'type') continue;
          const to = this.nodeOf(scope, s.local);
          const name = s.type === 'ImportDefaultSpecifier' ? 'default' : s.imported && keyName(s.imported);
          if (name === undefined) this.edge(from, to);
          else this.get(from, name, to);
        }
        break;
      }
      case 'ExportNamedDeclaration': if (n.exportKind !== 'type') this.exportNames(scope, n); break;
      case 'ExportDefaultDeclaration': {
        const d = n.declaration, isNamed = d.id && /^(Function|Class)Declaration$/.test(d.type);
        if (isNamed) this.statement(scope, d);
        this.put(isNamed ? this.nodeOf(scope, d.id) : this.value(scope, d), this.exports, 'default');
        break;
      }
      case 'ExportAllDeclaration':
        if (n.exportKind !== 'type') this.graph.spreads.push([this.shared('imports', n.source.value), this.exports]);
        break;
      case 'TSModuleDeclaration': this.namespace(scope, n); break;
      case 'TSImportEqualsDeclaration':
        if (n.moduleReference.type === 'TSExternalModuleReference')
          this.edge(this.shared('imports', n.moduleReference.expression.value), this.nodeOf(scope, n.id));
        break;
    }
  }

  exportNames(scope, n) {
    const from = n.source ? this.shared('imports', n.source.value) : 0;
    if (n.declaration && !n.declaration.declare) {
      this.statement(scope, n.declaration);
      for (const id of n.declaration.declarations?.map((one) => one.id) ?? [n.declaration.id])
        for (const name of namesOf(id)) this.put(this.find(scope, name)?.node ?? 0, this.exports, name);
    }
    for (const s of n.specifiers) {
      if (s.exportKind === 'type') continue;
      if (s.type === 'ExportNamespaceSpecifier') this.put(from, this.exports, keyName(s.exported));
      else this.put(from !== 0 ? this.get(from, keyName(s.local)) : this.nodeOf(scope, s.local), this.exports, keyName(s.exported));
    }
  }

  namespace(scope, n) {
    if (n.declare || n.id.type !== 'Identifier') return;
    /* namespace A.B { } exports B from A. */
    const statements = n.body.type === 'TSModuleDeclaration' ? [{ type: 'ExportNamedDeclaration', declaration: n.body, specifiers: [] }] : n.body.body;
    const inner = scopeIn(scope, true), before = this.exports, object = this.object();
    this.edge(object, this.nodeOf(scope, n.id));
    this.exports = object;
    this.block(inner, statements, true);
    this.exports = before;
  }

  /* ---- patterns, functions, classes ---------------------------------------------- */

  assign(scope, target, from) {
    switch (target?.type) {
      case 'Identifier': this.edge(from, this.nodeOf(scope, target)); break;
      case 'MemberExpression': case 'OptionalMemberExpression': {
        const object = this.value(scope, target.object);
        if (target.computed) this.value(scope, target.property);
        this.put(from, object, propertyName(target));
        break;
      }
      case 'AssignmentPattern':
        this.assign(scope, target.left, from);
        this.assign(scope, target.left, this.value(scope, target.right));
        break;
      case 'ObjectPattern':
        for (const p of target.properties) this.assign(scope, p.value ?? p, p.value ? this.get(from, p.computed ? '*' : keyName(p.key)) : from);
        break;
      case 'ArrayPattern':
        target.elements.forEach((p, i) => {
          if (p) this.assign(scope, p, p.type === 'RestElement' ? from : this.get(from, i === 0 ? '0' : '*'));
        });
        break;
      case 'RestElement': case 'TSParameterProperty': case 'TSAsExpression': case 'TSNonNullExpression': case 'TSSatisfiesExpression':
        this.assign(scope, target.argument ?? target.parameter ?? target.expression, from);
        break;
    }
  }

  /* isInline: it counts as part of the function around it. */
  func(outer, n, { name = n.id?.name ?? '', isInline = false, instance = 0 } = {}) {
    const saved = [this.thisNode, this.params, this.result, this.container, this.within];
    const isArrow = n.type === 'ArrowFunctionExpression';
    const node = this.node(), result = this.node(), self = isArrow ? 0 : this.node();
    const params = n.params.map(() => this.node());
    if (n.params.at(-1)?.type === 'RestElement') this.graph.objects.push(params.at(-1));
    if (!isInline && instance === 0) this.container = ++this.containers;
    this.graph.funcs.push([node, params, n.params.at(-1)?.type === 'RestElement' ? params.length - 1 : -1, result, self,
      name, n.loc.start.line, this.container, this.within]);
    this.within = node;
    if (!isArrow) [this.thisNode, this.params] = [self, params];
    this.edge(instance, self);
    this.result = result;
    const scope = scopeIn(outer, true);
    if (n.type === 'FunctionExpression' && n.id) {
      this.declare(scope, n.id);
      this.edge(node, this.nodeOf(scope, n.id));
    }
    n.params.forEach((p, i) => {
      this.declare(scope, p);
      this.assign(scope, p, params[i]);
      if (p.type === 'TSParameterProperty') this.put(params[i], self, namesOf(p)[0]);
    });
    if (n.body?.type === 'BlockStatement') this.block(scope, n.body.body, true);
    else if (n.body) this.edge(this.value(scope, n.body), result);
    [this.thisNode, this.params, this.result, this.container, this.within] = saved;
    this.returned = result;
    return node;
  }

  class(outer, n) {
    const saved = [this.thisNode, this.container, this.above];
    const scope = scopeIn(outer), instance = this.object(), above = n.superClass ? this.value(outer, n.superClass) : 0;
    this.above = above;
    const made = n.body.body.find(({ kind }) => kind === 'constructor');
    const isTool = /Tool$/.test(n.superClass?.name ?? n.superClass?.property?.name ?? '');
    this.container = ++this.containers;
    this.declare(scope, n.id);
    const node = this.func(scope, made ?? { type: 'FunctionExpression', params: [], loc: n.loc }, { name: n.id?.name ?? '', instance });
    this.graph.classes.push([node, instance, above]);
    if (n.id) this.edge(node, scope.vars.get(n.id.name).node);
    for (const m of n.body.body) {
      if (m === made || m.declare || m.abstract) continue;
      const name = m.key === undefined || m.computed ? '*' : keyName(m.key), owner = m.static ? node : instance;
      if (m.type === 'ClassMethod' || m.type === 'ClassPrivateMethod') {
        const method = this.func(scope, m, { name, instance: owner });
        this.put(m.kind === 'get' ? this.returned : method, owner, name);
        const isMarked = m.decorators?.some(({ expression: e }) => /Tool$/.test((e.callee ?? e).name ?? ''));
        if ((isTool && TOOL_KEYS.includes(name)) || isMarked) this.graph.sources.push([method, n.id?.name ?? name]);
      } else if (m.type === 'StaticBlock') {
        this.block(scope, m.body);
      } else if (m.value) {
        this.thisNode = instance;
        this.put(this.value(scope, m.value, name), owner, name);
        this.thisNode = saved[0];
      }
    }
    [this.thisNode, this.container, this.above] = saved;
    return node;
  }

  /* ---- expressions --------------------------------------------------------------- */

  /* A text that is made of parts: [text before it, node]. */
  joined(parts) {
    const to = this.node(), text = parts[0][0].trim();
    for (const [before, part] of parts) this.edge(part, to, LEADS.test(before) ? 5 : 1);
    if (/\w/.test(text)) this.edge(this.constant(text.split(/\s/, 1)[0].slice(0, TEXT_MAX)), to);
    return to;
  }

  value(scope, n, name) {
    switch (n?.type) {
      case 'Identifier': return this.identifier(scope, n.name);
      case 'StringLiteral': case 'BooleanLiteral': return this.constant(n.value);
      case 'TemplateLiteral': {
        const parts = n.expressions.map((part, i) => [(i === 0 ? '' : 'x') + n.quasis[i].value.cooked, this.value(scope, part)]);
        return this.joined(parts.length > 0 ? parts : [[n.quasis[0].value.cooked, 0]]);
      }
      case 'TaggedTemplateExpression': return this.call(scope, { ...n, callee: n.tag, arguments: [{ type: 'ArrayExpression', elements: n.quasi.quasis.map(({ value }) => ({ type: 'StringLiteral', value: value.raw.trim() })) }, ...n.quasi.expressions] }, 8);
      case 'CallExpression': case 'OptionalCallExpression': return this.call(scope, n, 0);
      case 'ImportExpression': return this.call(scope, { ...n, callee: { type: 'Import' }, arguments: [n.source] }, 0);
      case 'NewExpression': return this.call(scope, n, 1);
      case 'MemberExpression': case 'OptionalMemberExpression': return this.member(scope, n);
      case 'ThisExpression': case 'Super': return this.thisNode;
      case 'FunctionExpression': case 'ArrowFunctionExpression': case 'FunctionDeclaration': return this.func(scope, n, { name: n.id?.name ?? name ?? '' });
      case 'ClassExpression': case 'ClassDeclaration': return this.class(scope, n);
      case 'ObjectExpression': return this.objectLiteral(scope, n);
      case 'ArrayExpression': {
        const to = this.object();
        n.elements.forEach((e, i) => {
          if (e?.type === 'SpreadElement') this.graph.spreads.push([this.value(scope, e.argument), to]);
          else if (e) this.put(this.value(scope, e), to, i === 0 ? '0' : '[]');
        });
        return to;
      }
      case 'AssignmentExpression': {
        const from = this.value(scope, n.right, n.left.name ?? n.left.property?.name);
        if (n.operator === '+=' && n.left.type === 'Identifier') this.edge(from, this.nodeOf(scope, n.left), 1);
        else if (/^(=|\|\|=|&&=|\?\?=|\+=)$/.test(n.operator)) this.assign(scope, n.left, from);
        return from;
      }
      case 'BinaryExpression': return this.binary(scope, n);
      case 'LogicalExpression': {
        const truth = this.truth(scope, n.left), to = this.node();
        if (n.operator === '&&' && truth === false) return 0;
        this.edge(this.value(scope, n.left), to);
        if (n.operator !== '||' || truth !== true) this.edge(this.value(n.operator === '&&' ? scopeIn(scope, false, this.checked(scope, n.left, true)) : scope, n.right), to);
        return to;
      }
      case 'ConditionalExpression': return this.branch(scope, n, (inner, part) => this.value(inner, part), this.node());
      case 'SequenceExpression': return n.expressions.reduce((last, e) => this.value(scope, e), 0);
      case 'AwaitExpression': case 'SpreadElement': return this.value(scope, n.argument);
      case 'YieldExpression': if (n.argument) this.edge(this.value(scope, n.argument), this.result); return 0;
      case 'TSAsExpression': case 'TSSatisfiesExpression': case 'TSNonNullExpression': case 'TSTypeAssertion':
      case 'TSInstantiationExpression': return this.value(scope, n.expression, name);
      case 'Import': return this.shared('modules', 'global.import');
    }
    /* The others hold nothing of interest, but may have calls in them. */
    for (const part of Object.values(n ?? {}).flat()) if (part?.type) this.value(scope, part);
    return 0;
  }

  /* The value of a name or chain of members, as the checks before have left it. */
  left(scope, chain, node) {
    return this.isClean(scope, chain) ? 0 : this.isClean(scope, chain, '~') ? this.word(node) : node;
  }

  word(from) {
    const to = this.node();
    this.edge(from, to, 4);
    return to;
  }

  identifier(scope, name) {
    const binding = this.find(scope, name);
    if (binding !== undefined) return this.left(scope, name, binding.node);
    if (name === 'arguments') {
      while (this.params.length < 4) this.params.push(this.node());
      if (!this.params.all) for (const [i, param] of this.params.entries()) this.put(param, this.params.all ??= this.object(), i === 0 ? '0' : '[]');
      return this.params.all;
    }
    return GLOBALS.has(name) ? this.shared('modules', `global.${name}`) : 0;
  }

  member(scope, n) {
    const object = this.value(scope, n.object), name = propertyName(n);
    if (n.computed) this.value(scope, n.property);
    if (name === '__esModule') this.graph.helpers.push(this.within);
    const chain = chainOf(n), value = name === 'length' || name === 'size' ? 0 : this.get(object, name);
    return chain === undefined ? value : this.left(scope, chain, value);
  }

  binary(scope, { operator, left, right }) {
    const a = left.type === 'PrivateName' ? 0 : this.value(scope, left), b = this.value(scope, right);
    if (/^[<>]=?$/.test(operator))
      for (const side of [left, right]) {
        const inner = side.property?.name === 'length' ? side.object : side.callee?.property?.name === 'byteLength' ? side.arguments[0] : undefined;
        if (inner) this.graph.bounded.push(this.value(scope, inner));
      }
    if (operator !== '+') return 0;
    return this.joined(left.type === 'StringLiteral' ? [[left.value, b]] : [['', a], [`x${left.right?.value ?? ''}`, b]]);
  }

  objectLiteral(scope, n) {
    const to = this.object(), values = {};
    for (const p of n.properties) {
      if (p.type === 'SpreadElement') {
        this.graph.spreads.push([this.value(scope, p.argument), to]);
        continue;
      }
      const name = p.computed && p.key.type !== 'StringLiteral' ? '*' : keyName(p.key);
      if (p.computed) this.value(scope, p.key);
      const value = p.type === 'ObjectMethod' ? this.func(scope, p, { name }) : this.value(scope, p.value, name);
      this.put(p.kind === 'get' ? this.returned : value || (this.nothing ||= this.node()), to, name);
      values[name] = { node: value, ast: p.value };
    }
    this.toolLiteral(values);
    return to;
  }

  /* { name, inputSchema, handler } is a tool, even if it is not registered. */
  toolLiteral(values) {
    const schema = values.inputSchema ?? values.parameters ?? values.schema;
    if (values.inputSchema) this.graph.flags.inputSchema = true;
    if (values.name === undefined && values.description === undefined) return;
    const name = values.name?.ast?.value ?? '';
    const fields = schema && fieldsOf(schema.ast);
    if (fields) this.graph.schemas.push({ name, fields });
    if (schema === undefined) return;
    for (const key of TOOL_KEYS) if (values[key]) this.graph.sources.push([values[key].node, String(name)]);
  }

  /* The scripts of fork(), except those that Node.js confines. */
  fork([script, ...more]) {
    const options = more.flatMap(({ properties = [] }) => properties).filter(({ key, value }) => key?.name === 'execArgv' && value.type === 'ArrayExpression').flatMap(literalsIn);
    const isConfined = options.some((text) => /^--(experimental-)?permission$/.test(text)) && !options.some((text) => /^--allow-(child|worker|addons|wasi|fs-write)/.test(text));
    const names = literalsIn(script);
    if (!isConfined) this.graph.forks.push(...names.length > 0 ? names : ['*']);
  }

  /* False for schemas that come from another package than zod: their objects may have more fields. */
  isZod(scope, n) {
    const { from } = this.find(scope, chainOf(n).split('.', 1)[0]) ?? {};
    return from === undefined || /^[./]|(^|\W)zod|^@modelcontextprotocol/.test(from);
  }

  /* The constant text of a worker is read as a function of its own. */
  workerText(scope, n) {
    const literal = this.literal(scope, n), before = this.inText;
    const text = literal?.quasis?.map(({ value }) => value.cooked).join('0') ?? literal?.value;
    if (!/[;(]/.test(text) || this.texts.has(literal)) return;
    this.texts.add(literal);
    this.inText = 16;
    try {
      const { body } = programOf('worker.js', text, literal.loc.start.line);
      this.func(scopeIn(null), { type: 'FunctionExpression', params: [], body: { type: 'BlockStatement', body }, loc: literal.loc });
    } catch {
      /* It is not code. */
    }
    this.inText = before;
  }

  /* flags: 1 new, 8 tagged template, 16 in the text of a worker */
  call(scope, n, flags) {
    /* (0, a.b)() is how compilers write b(). */
    const c = n.callee.expressions?.[0].type === 'NumericLiteral' ? n.callee.expressions.at(-1) : n.callee, isMember = /^(Optional)?MemberExpression$/.test(c.type);
    const name = isMember ? propertyName(c) : c.type === 'Identifier' ? c.name : c.type === 'Import' ? 'import' : c.type === 'Super' ? 'super' : '';
    const isImport = !isMember && (name === 'import' || (name === 'require' && this.find(scope, name) === undefined));
    if (isImport && n.arguments[0]?.type === 'StringLiteral' && !n.arguments[0].value.startsWith('/')) return this.shared('imports', n.arguments[0].value);
    const receiver = isMember ? this.value(scope, c.object) : c.type === 'Super' ? this.thisNode : 0;
    /* A schema with a strict pattern. */
    const method = name === 'regex' && c.object?.type === 'CallExpression' && this.isStrict(scope, n.arguments[0]) ? 'word' : name;
    const callee = isMember ? this.get(receiver, method) : c.type === 'Super' ? this.above : this.value(scope, c);
    if (isMember && c.computed) this.value(scope, c.property);
    if (name === 'fork') this.fork(n.arguments);
    if (name === 'Worker') this.workerText(scope, n.arguments[0]);
    const args = [], spread = [];
    n.arguments.forEach((a, i) => {
      if (a.type === 'SpreadElement') spread.push(i);
      args.push(/^(FunctionExpression|ArrowFunctionExpression)$/.test(a.type)
        ? this.func(scope, a, { isInline: INLINE.test(name) }) : this.value(scope, a));
    });
    if (name === 'exec' && this.isStrict(scope, c.object)) return this.word(args[0]);
    if ((name === 'match' && n.arguments.length === 1 && this.isStrict(scope, n.arguments[0])) || (/^replace(All)?$/.test(name) && stripsAll(n.arguments))) return this.word(receiver);
    const result = this.node(), more = { result, spread, flags, column: c.property?.loc.start.column };
    this.record(n, callee, receiver, name, args, more);
    if (/^(__)?require$/.test(n.arguments[0]?.callee?.name)) this.edge(args[0], result);
    if (isMember && SCHEMA_KINDS.test(name) && /^[\w$]+(\.(z|coerce))*$/.test(chainOf(c.object) ?? '')) {
      this.edge(this.shared('modules', `zod.${name}()`), result);
      if (this.isZod(scope, c.object)) this.edge(args[0], result);
    }
    const [target = 0, self = 0, ...passed] = chainOf(c)?.startsWith('Reflect.') ? args : [receiver, ...args];
    if (name === 'call') this.record(n, target, self, '', passed, { ...more, spread: [] });
    else if (name === 'apply') this.record(n, target, self, '', passed, { ...more, spread: [0] });
    else if (name === 'construct') this.record(n, target, 0, '', [self, ...passed], { ...more, spread: [0], flags: 1 });
    else if (name === 'bind') this.edge(receiver, result);
    return result;
  }

  record(n, callee, receiver, name, args, { result = 0, spread = [], flags = 0, column = n.loc.start.column } = {}) {
    this.graph.calls.push([callee, receiver, name, args, result, n.loc.start.line, column + 1, flags | this.inText, this.container, spread, this.choice, this.within]);
  }
}

/* True for x.replace(/[^a-z0-9]/g, ''), which leaves nothing that could be code. */
function stripsAll([pattern, by]) {
  if (pattern?.type !== 'RegExpLiteral' || by?.type !== 'StringLiteral' || !pattern.flags.includes('g')) return false;
  const kept = /^\[\^((?:\\.|[^\]\\])*\])\+?$/.exec(pattern.pattern);
  return kept !== null && isStrictPattern({ pattern: `^[${kept[1]}$`, flags: '' }) && /^[\w\-.]?$/.test(by.value);
}

/* The package of require('zod'), and of helper(require('zod')).z. */
const requiredBy = (n) => (n?.callee?.name === 'require' ? n.arguments[0]?.value : n && requiredBy(n.arguments?.[0] ?? n.object));

const literalsIn = (n) => (n?.type === 'StringLiteral' ? [n.value] : Object.values(n ?? {}).flat().filter((part) => part?.type).flatMap(literalsIn));

function namesOf(n) {
  switch (n?.type) {
    case 'Identifier': return [n.name];
    case 'ObjectPattern': return n.properties.flatMap((p) => namesOf(p.value ?? p.argument));
    case 'ArrayPattern': return n.elements.flatMap(namesOf);
    case 'AssignmentPattern': case 'RestElement': case 'TSParameterProperty': return namesOf(n.left ?? n.argument ?? n.parameter);
  }
  return [];
}

/* The fields of a literal JSON Schema: { code: { type, isBounded } }. */
function fieldsOf(n) {
  const member = (object, name) => object?.properties?.find((p) => p.key !== undefined && keyName(p.key) === name)?.value;
  const properties = member(n?.expression ?? n, 'properties');
  if (properties?.type !== 'ObjectExpression') return undefined;
  return Object.fromEntries(properties.properties.filter((p) => p.key !== undefined).map((p) => [keyName(p.key), {
    type: member(p.value, 'type')?.value, isBounded: ['maxLength', 'enum', 'pattern'].some((k) => member(p.value, k) !== undefined),
  }]));
}

export function graphOf(path, text) {
  const program = programOf(path, text), b = new Builder(), scope = scopeIn(null, true);
  b.moduleObject = b.object();
  b.exports = b.object();
  b.put(b.exports, b.moduleObject, 'exports');
  for (const [name, node] of [['module', b.moduleObject], ['exports', b.exports]]) scope.vars.set(name, { node });
  b.graph.flags.esm = program.sourceType === 'module';
  b.block(scope, program.body, true);
  return { path, ...b.graph, exports: b.get(b.moduleObject, 'exports'), count: b.count };
}

// SPDX-License-Identifier: MIT
/*
 * host_files - reads the files of hosts, turns their entries of servers into ours, and adds
 * those to our own file. It runs in a sealed worker, as one script that esbuild makes of
 * this and of two parsers from npm; each exported function is one question of box.c.
 */
import { findNodeAtLocation, parseTree, printParseErrorCode, visit } from 'jsonc-parser';
import { parse as parseToml, TomlError } from 'smol-toml';

const JSONC = { allowTrailingComma: true };

/* Members that are kept; null: all of it. "*" stands for any name. The rest belongs to the
 * host, and may hold what our own parser refuses. */
const ANSWERS = {
  disabledMcpjsonServers: null, enabledMcpjsonServers: null, enableAllProjectMcpServers: null,
};
const WANTED = {
  ...ANSWERS,
  mcpServers: null,
  servers: null,
  inputs: null,
  mcp: { servers: null, inputs: null },
  projects: { '*': { ...ANSWERS, mcpServers: null, disabledMcpServers: null, hasTrustDialogAccepted: null } },
  permissions: { deny: null, ask: null },
};

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/* ---- reading ------------------------------------------------------------------- */

class Fault extends Error {
  constructor(message, text, offset) {
    super(message);
    const lines = text.slice(0, offset).split('\n');
    Object.assign(this, { line: lines.length, column: Array.from(lines.at(-1)).length + 1 });
  }
}

const isPlain = (text) => !text.includes('\0') && text.isWellFormed();

/* The wanted members as values. Numbers of "env" and "headers" stand for strings: they are
 * kept as they are written, 1.50 and not 1.5. */
function readJson(text) {
  const stack = []; /* of the containers that are open and wanted: { value, name, wanted } */
  let root, skipped = 0, isSkipped = false;
  const top = () => stack.at(-1);
  function put(value) {
    if (stack.length === 0) root = value;
    else if (Array.isArray(top().value)) top().value.push(value);
    else top().value[top().name] = value;
  }
  function open(value) {
    if (skipped > 0 || isSkipped) {
      skipped++;
      isSkipped = false;
      return;
    }
    put(value);
    const wanted = stack.length === 0 ? WANTED : top().wanted && (top().wanted[top().name] ?? top().wanted['*']);
    if (isObject(wanted) && Array.isArray(value)) skipped++;
    else stack.push({ value, wanted });
  }
  const close = () => void (skipped > 0 ? skipped-- : stack.pop());
  visit(text, {
    onObjectBegin: () => open({ __proto__: null }),
    onArrayBegin: () => open([]),
    onObjectEnd: close,
    onArrayEnd: close,
    onObjectProperty(name, offset) {
      if (skipped > 0) return;
      const { value, wanted } = top();
      isSkipped = isObject(wanted) && !Object.hasOwn(wanted, name) && !('*' in wanted && isPlain(name));
      if (isSkipped) return;
      if (!isPlain(name)) throw new Fault('a key here cannot hold NUL, or half a character', text, offset);
      if (Object.hasOwn(value, name)) throw new Fault('duplicate key', text, offset);
      top().name = name;
    },
    onLiteralValue(value, offset, length) {
      const wasSkipped = isSkipped || skipped > 0;
      isSkipped = false;
      if (wasSkipped) return;
      if (typeof value === 'string' && !isPlain(value))
        throw new Fault('a string here cannot hold NUL, or half a character', text, offset);
      if (value === Infinity || value === -Infinity) throw new Fault('the number is too large', text, offset);
      const isText = typeof value === 'number' && ['env', 'headers'].includes(stack.at(-2)?.name);
      put(isText ? text.slice(offset, offset + length) : value);
    },
    onError(code, offset) {
      throw new Fault(printParseErrorCode(code).replace(/(?!^)[A-Z]/g, ' $&').toLowerCase(), text, offset);
    },
  }, JSONC);
  return root;
}

/* Dates and what is not a number in JSON become text. */
const asJson = (key, value) => {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
};

/* { value } or { message, line, column } */
export function read({ text, isToml }) {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  try {
    return { value: isToml
      ? JSON.parse(JSON.stringify(parseToml(plain, { integersAsBigInt: 'asNeeded' }), asJson)) : readJson(plain) };
  } catch (error) {
    if (error instanceof Fault) return { message: error.message, line: error.line, column: error.column };
    if (!(error instanceof TomlError)) return { message: `it cannot be read: ${error.message}`, line: 0, column: 0 };
    /* After the first line come lines of the file, which may hold secrets. */
    const message = error.message.split('\n')[0].replace('Invalid TOML document: ', '');
    return { message, line: error.line, column: error.column };
  }
}

/* ---- an entry's texts ---------------------------------------------------------- */

/*
 * Which references a host fills in, and their equivalents here. A text that its host
 * leaves as it is must not become a variable here.
 */

/* What only an editor can fill in. It is kept, and reading the entry reports it. */
const OF_EDITORS = new RegExp('^(?:(?:cwd|defaultBuildTask|execPath|extensionInstallFolder|file|fileBasename' +
  '|fileDirname|fileBasenameNoExtension|fileExtname|fileWorkspaceFolder|lineNumber|fileDirnameBasename' +
  '|columnNumber|relativeFile|selectedText|relativeFileDirname|workspaceRoot)$|command:|config:|workspaceFolder)');

/* A literal "${" has each of its dollars twice. */
const escaped = (text) => text.replace(/(\$+)\{/g, (all, dollars) => `${dollars}${dollars}{`);

const bytesOf = (character) => encodeURIComponent(character).match(/%..|./g).length;

/* The prefix keeps an input called "user" or "path" from naming an existing variable. */
const variableOf = (id) => `INPUT_${id.replace(/[a-z]/g, (letter) => letter.toUpperCase())
  .replace(/[^A-Z0-9]/gu, (one) => '_'.repeat(bytesOf(one)))}`.slice(0, 127);

/* ${input:api-key} becomes ${INPUT_API_KEY}, with a number if earlier inputs lead to the
 * same name, or ${INPUT_API_KEY:-default}. A brace would end the reference early. */
function inputOf(id, { inputs, note }) {
  const listed = Array.isArray(inputs) ? inputs.filter((input) => typeof input?.id === 'string') : [];
  const at = listed.findIndex((input) => input.id === id);
  const otherwise = listed[at]?.default;
  const base = variableOf(id);
  const before = at < 0 ? listed : listed.slice(0, at);
  const number = 1 + before.filter((input) => variableOf(input.id) === base).length;
  const name = number > 1 ? `${base}_${number}` : base;
  if (typeof otherwise !== 'string' || otherwise.includes('}')) {
    note(`the editor asks for a value: set it as the variable ${name}`);
    return `\${${name}}`;
  }
  note(`the editor asks for a value: without the variable ${name} it is the default`);
  return `\${${name}:-${otherwise}}`;
}

/* The project's folder, or only its name; undefined: the reference means something else,
 * or the folder is unknown. Of a workspace's several folders only this one is known. */
function folderOf(inner, { folder }) {
  const name = folder.slice(folder.lastIndexOf('/') + 1);
  if (folder === '') return undefined;
  if (inner === 'workspaceFolderBasename') return escaped(name);
  return ['workspaceFolder', `workspaceFolder:${name}`].includes(inner) && inner !== 'workspaceFolder:'
    ? escaped(folder) : undefined;
}

/* inner: what is between "${" and "}". In Claude Code any other reference is a variable.
 * Editors leave it as it is, and the server may fill it in from its env. */
function referenceOf(inner, place) {
  const isEditor = place.host !== 'claude-code';
  if (/^input:./s.test(inner)) return inputOf(inner.slice(6), place);
  if (/^env:./s.test(inner)) return `\${${inner.slice(4)}}`;
  if (inner === 'userHome') return '${HOME}';
  if (isEditor && (inner === '/' || inner === 'pathSeparator')) return '/';
  return folderOf(inner, place) ?? `${isEditor && !OF_EDITORS.test(inner) ? '$' : ''}\${${inner}}`;
}

/* Dollars before "${" or an escaped "$${" must be escaped. */
function textOf(text, place) {
  if (place.host === 'claude' || place.host === 'codex') return escaped(text);
  return text.replace(/(\$+)(?:\{([^}]*)\}|\{)/gs, (all, dollars, inner) => {
    if (inner === undefined) return `${dollars}${dollars}{`;
    const ours = referenceOf(inner, place);
    const before = dollars.slice(1);
    return `${before}${/^\$+\{/.test(ours) ? before : ''}${ours}`;
  });
}

function textsOf(value, place) {
  if (typeof value === 'string') return textOf(value, place);
  if (Array.isArray(value)) return value.map((item) => textsOf(item, place));
  if (!isObject(value)) return value;
  const copy = { __proto__: null };
  for (const [name, item] of Object.entries(value)) copy[name] = textsOf(item, place);
  return copy;
}

/* ---- members of one host ------------------------------------------------------- */

function setOurs(entry, name, value) {
  entry.glovebox ??= {};
  if (isObject(entry.glovebox)) entry.glovebox[name] = value;
}

function takeCodex(entry) {
  const { startup_timeout_ms: ms, env_vars: names, env_http_headers: fromEnv, bearer_token_env_var: bearer } = entry;
  const headers = isObject(entry.http_headers) ? entry.http_headers : {};
  for (const [theirs, ours, max] of [['startup_timeout_sec', 'startMs', 600], ['tool_timeout_sec', 'timeoutMs', 3600]])
    if (typeof entry[theirs] === 'number' && entry[theirs] > 0) setOurs(entry, ours, Math.trunc(Math.min(entry[theirs], max) * 1000));
  if (Number.isInteger(ms) && ms >= 1 && ms <= 600000) setOurs(entry, 'startMs', ms);
  if (Array.isArray(names) && names.length > 0) setOurs(entry, 'env', names); /* we reject invalid names, too */
  for (const [name, variable] of Object.entries(isObject(fromEnv) ? fromEnv : {}))
    headers[name] = `\${${typeof variable === 'string' ? variable : ''}}`;
  if (typeof bearer === 'string') headers.Authorization = `Bearer \${${bearer}}`;
  if (Object.keys(headers).length > 0) entry.headers = headers;
  for (const name of ['startup_timeout_sec', 'tool_timeout_sec', 'startup_timeout_ms', 'env_vars', 'http_headers',
    'env_http_headers', 'bearer_token_env_var']) delete entry[name];
}

const isTilde = (text) => /^~(?:\/|$)/.test(text);

/* Only VS Code expands "~" in an argument to the home directory, as we do. */
function tildeOf(arg, { host }) {
  const isOne = typeof arg === 'string' && isTilde(arg.replace(/^\\+/, ''));
  return isOne && (arg.startsWith('\\') || host !== 'vscode') ? `\\${arg}` : arg;
}

/* Judges only the written text; a path that begins with a variable does not count. */
const isRelative = (text) =>
  typeof text === 'string' && !text.startsWith('/') && !isTilde(text) && !text.startsWith('${');

/* Servers of a project run in its folder or below. Other servers run in the home directory
 * with VS Code, and wherever the host was started with other hosts. */
function takeFolder(entry, place) {
  const folder = place.folder === '' && place.host === 'vscode' ? '~' : escaped(place.folder);
  const { command, cwd } = entry;
  if (typeof command !== 'string') return;
  if (folder !== '') {
    if (isRelative(entry.envFile)) entry.envFile = `${folder}/${entry.envFile}`;
    if (typeof cwd !== 'string') entry.cwd = folder;
    else if (isRelative(cwd)) entry.cwd = `${folder}/${cwd}`;
  } else if (isRelative(cwd) || (typeof cwd !== 'string' && isRelative(command) && command.includes('/'))) {
    const what = typeof cwd === 'string' ? '"cwd"' : '"command"';
    place.note(`its ${what} is relative: here that is below the folder of the configuration`);
  }
}

/* What hosts do for a server and we do not. */
const noRule = (key) =>
  `what its "${key}" says of tools is not taken: write rules, or use 'glovebox mcp deny'`;
const signIn = (key) =>
  `it signs in by OAuth ("${key}"), which is not done here: give it a header`;
const NOT_DONE = {
  enabled_tools: noRule,
  disabled_tools: noRule,
  tools: noRule,
  includeTools: noRule,
  excludeTools: noRule,
  disabledTools: noRule,
  default_tools_approval_mode: noRule,
  headersHelper: (key) => `its "${key}" is not run: give it a header with a variable`,
  sandboxEnabled: (key) => `its "${key}" is not done here: the server runs as it is`,
  bearer_token: (key) => `its "${key}" is not taken: give it a header with a variable`,
  oauth: signIn,
  scopes: signIn,
  oauth_resource: signIn,
  auth: signIn,
};

function takeEntry(theirs, place, offBy) {
  const entry = textsOf(theirs, place);
  if (place.host === 'codex') takeCodex(entry);
  /* VS Code adds to its PATH. Every other host replaces it, as we do. */
  if (place.host === 'vscode' && typeof entry.env?.PATH === 'string') entry.env.PATH = `\${PATH}:${entry.env.PATH}`;
  if (place.host !== 'vscode' && place.host !== 'cursor' && 'envFile' in entry) {
    place.note('its "envFile" is left out, since the host does not read it either');
    delete entry.envFile;
  }
  if (Array.isArray(entry.args)) entry.args = entry.args.map((arg) => tildeOf(arg, place));
  takeFolder(entry, place);
  if (offBy !== undefined) {
    entry.disabled = true;
    place.note(`it is taken as disabled, as '${offBy}' has it`);
  }
  for (const [key, text] of Object.entries(NOT_DONE)) {
    const value = entry[key];
    const isAll = Array.isArray(value) && value[0] === '*';
    if (value !== undefined && value !== null && value !== false && !isAll) place.note(text(key));
  }
  return entry;
}

/* Turns a host's entries into ours: a list of { entry, notes }. Nothing of an entry is
 * lost: members that mean nothing to us are copied, too. off: the files that disable
 * servers, by name. */
export function take({ host, folder, inputs, servers, off }) {
  return Object.entries(servers).map(([name, theirs]) => {
    const notes = [];
    const place = { host, folder, inputs, note: (text) => notes.push(text) };
    if (!isObject(theirs)) return { entry: null, notes: ['it is left alone: it is not an object'] };
    return { entry: takeEntry(theirs, place, Object.hasOwn(off, name) ? off[name] : undefined), notes };
  });
}

/* ---- adding to our file -------------------------------------------------------- */

/* All else of a person's file stays unchanged: comments, order, numbers, other keys. */

/* The white space at the beginning of the line of the value at offset; and whether only
 * white space and comments come before it there. The first line may be part of another. */
function lineOf(text, offset) {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const before = text.slice(start, offset);
  return { indent: /^[ \t]*/.exec(before)[0], isOwn: start > 0 && /^(?:[ \t]|\/\*.*?\*\/)*$/.test(before) };
}

const matchAt = (pattern, text, offset) => {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0].length ?? 0;
};

/* After the last member, its comma if it has one, and the comments on the same line. */
function addAfter(text, last, member, newline) {
  const from = last.offset + last.length;
  const comma = matchAt(/(?:\s|\/\/.*|\/\*[^]*?\*\/)*,/y, text, from);
  const to = from + comma + matchAt(/(?:[ \t]*(?:\/\/[^\r\n]*|\/\*.*?\*\/))*/y, text, from + comma);
  const { indent, isOwn } = lineOf(text, last.offset);
  const isLast = matchAt(/\r?\n/y, text, to) > 0;
  const gap = isOwn || isLast ? `${newline}${indent}${isOwn ? '' : '  '}` : ' ';
  return `${text.slice(0, from)}${comma > 0 ? '' : ','}${text.slice(from, to)}${gap}${member}` +
    `${comma > 0 ? ',' : ''}${text.slice(to)}`;
}

/* On a new line, two blanks deeper. A comment in it stays, after the new text. */
function fillEmpty(text, object, member, newline) {
  const from = object.offset + 1, end = object.offset + object.length - 1;
  const to = text.slice(from, end).trim() === '' ? end : from;
  const { indent } = lineOf(text, object.offset);
  return `${text.slice(0, from)}${newline}${indent}  ${member}${newline}${indent}${text.slice(to)}`;
}

function addMember(text, path, name, value) {
  const object = findNodeAtLocation(parseTree(text, [], JSONC), path);
  const member = `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
  const newline = /\r?\n/.exec(text)?.[0] ?? '\n';
  const last = object.children.at(-1);
  return last === undefined ? fillEmpty(text, object, member, newline) : addAfter(text, last, member, newline);
}

/* Our file's text with these servers. */
export function add({ text, servers }) {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  let plain = text.slice(mark.length);
  if (findNodeAtLocation(parseTree(plain, [], JSONC), ['mcpServers'])?.type !== 'object')
    plain = addMember(plain, [], 'mcpServers', {});
  for (const [name, value] of Object.entries(servers)) plain = addMember(plain, ['mcpServers'], name, value);
  return `${mark}${plain}`;
}

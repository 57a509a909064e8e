// SPDX-License-Identifier: MIT
/*
 * host_files - reads the files of hosts, converts their server entries into ours, decides which
 * of them to take, and adds those to our own file. It runs in a sealed worker, bundled by esbuild
 * with two parsers from npm. host_files.c calls each exported function.
 */
import { applyEdits, modify, printParseErrorCode, visit } from 'jsonc-parser';
import { parse as parseToml, TomlError } from 'smol-toml';

/* Members that are kept; null: the whole value. "*" stands for any name. Other members belong
 * to the host, and may hold what our own parser refuses. */
const WANTED = {
  mcpServers: null,
  servers: null,
  inputs: null,
  mcp: { servers: null, inputs: null },
  projects: { '*': { mcpServers: null } },
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

/* Parse the wanted members. Numbers in "env" and "headers" stand for strings, so they are kept
 * as written: 1.50 and not 1.5. */
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
  }, { allowTrailingComma: true });
  return root;
}

/* Dates, and numbers that JSON lacks, become text. */
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
    /* The lines after the first quote the file, which may hold secrets. */
    const message = error.message.split('\n')[0].replace('Invalid TOML document: ', '');
    return { message, line: error.line, column: error.column };
  }
}

/* ---- references in an entry ---------------------------------------------------- */

/*
 * Converts the references that a host fills in to ours. A text that its host does not
 * change must not become a variable here.
 */

/* References that only an editor can fill in. They are kept, and reading the entry reports them. */
const OF_EDITORS = new RegExp('^(?:(?:cwd|defaultBuildTask|execPath|extensionInstallFolder|file|fileBasename' +
  '|fileDirname|fileBasenameNoExtension|fileExtname|fileWorkspaceFolder|lineNumber|fileDirnameBasename' +
  '|columnNumber|relativeFile|selectedText|relativeFileDirname|workspaceRoot)$|command:|config:|workspaceFolder)');

/* In a literal "${" each dollar is doubled. */
const escaped = (text) => text.replace(/(\$+)\{/g, (all, dollars) => `${dollars}${dollars}{`);

/* ${input:api-key} becomes ${INPUT_API_KEY}, or ${INPUT_API_KEY:-default}: the prefix keeps an
 * input called "user" or "path" from naming an existing variable. A brace in the default would
 * end it early. */
function inputOf(id, { inputs, note }) {
  const name = `INPUT_${id.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`.slice(0, 127);
  const otherwise = Array.isArray(inputs) ? inputs.find((input) => input?.id === id)?.default : undefined;
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
 * Editors do not change it, and the server may fill it in from its env. */
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

/* ---- differences of hosts ------------------------------------------------------ */

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

/* True if the path is written as relative; one that begins with a variable does not count. */
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

/* What hosts do for a server and we do not, and what to do instead. */
const NOT_DONE = {
  headersHelper: 'give it a header with a variable',
  bearer_token: 'give it a header with a variable',
  sandboxEnabled: 'the server runs as it is',
  oauth: "sign in by 'glovebox mcp login'",
  auth: "sign in by 'glovebox mcp login'",
};

/* Converts a host's entry into ours: { entry, notes }. Members that we do not know are copied,
 * too. */
function takeEntry(theirs, { host, folder, inputs }) {
  const notes = [];
  const place = { host, folder, inputs, note: (text) => notes.push(text) };
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
  for (const [key, instead] of Object.entries(NOT_DONE))
    if (![undefined, null, false].includes(entry[key])) place.note(`its "${key}" is not taken: ${instead}`);
  return { entry, notes };
}

/* ---- adding to our file -------------------------------------------------------- */

/* Our file's text with these servers; "" if it has no place for them. All else in the file
 * stays: comments, order, numbers, other keys. */
function addServers(text, servers) {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const formattingOptions = {
    insertSpaces: !/^\t/m.test(text), tabSize: 2, eol: /\r?\n/.exec(text)?.[0] ?? '\n',
  };
  let plain = text.slice(mark.length);
  try {
    for (const [name, value] of Object.entries(servers))
      plain = applyEdits(plain, modify(plain, ['mcpServers', name], value, { formattingOptions }));
  } catch {
    return '';
  }
  return `${mark}${plain}`;
}

/* ---- where hosts keep servers ---------------------------------------------------- */

const HOSTS = {
  claude: 'Claude Desktop', 'claude-code': 'Claude Code', cursor: 'Cursor', vscode: 'VS Code', codex: 'Codex',
};

/* In the order in which a host looks. "*" among the keys stands for the project's folder. */
const PLACES = [
  ['claude', 'config', 'Claude/claude_desktop_config.json', ['mcpServers']],
  ['claude-code', 'claude', '.claude.json', ['projects', '*', 'mcpServers']],
  ['claude-code', 'here', '.mcp.json', ['mcpServers']],
  ['claude-code', 'claude', '.claude.json', ['mcpServers']],
  ['cursor', 'here', '.cursor/mcp.json', ['mcpServers']],
  ['cursor', 'home', '.cursor/mcp.json', ['mcpServers']],
  ['vscode', 'here', '.vscode/mcp.json', ['servers']],
  ['vscode', 'here', '.vscode/settings.json', ['mcp', 'servers']],
  ['vscode', 'config', 'Code/User/mcp.json', ['servers']],
  ['vscode', 'config', 'Code/User/settings.json', ['mcp', 'servers']],
  ['codex', 'here', '.codex/config.toml', ['mcp_servers']],
  ['codex', 'codex', 'config.toml', ['mcp_servers']],
];

/* The forms that the servers of an unknown file may have. */
const LOOKS = [
  ['codex', ['mcp_servers']], ['claude-code', ['mcpServers']], ['vscode', ['servers']], ['vscode', ['mcp', 'servers']],
];

/* The path of a folder: the variable, else a path below the home directory. */
const BASES = {
  config: ['XDG_CONFIG_HOME', '/.config'],
  claude: ['CLAUDE_CONFIG_DIR', ''],
  home: ['HOME', ''],
  codex: ['CODEX_HOME', '/.codex'],
};

const get = (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined);
const valueAt = (root, keys) => keys.reduce(get, root);
const serversAt = (root, { keys }) => valueAt(root, keys);

class Unreadable extends Error {
  constructor(path, why) {
    super(why);
    this.path = path;
  }
}

/* The known facts about the machine. A fact that is asked for but not known is added to `need`:
 * then the result is discarded, and the question comes again with the fact. */
class Machine {
  constructor({ env, here, known }) {
    Object.assign(this, { env, here, known: new Map(known.map(([what, key, answer]) => [what + key, answer])) });
    this.need = new Map();
  }

  #ask(what, key) {
    if (!this.known.has(what + key)) this.need.set(what + key, [what, key]);
    return this.known.get(what + key);
  }

  /* A file's value; undefined: it does not exist. Throws if it is bad, or missing and required. */
  file(path, mustExist = false) {
    const file = this.#ask('file:', path);
    if (file?.isBad || (file?.isMissing && mustExist)) throw new Unreadable(path);
    return file?.value;
  }

  real(path) {
    return this.#ask('real:', path) ?? path;
  }

  /* The verdict of our own reader on an entry: { why, isLeft }. */
  check(entry) {
    return this.#ask('check:', JSON.stringify({ mcpServers: { x: entry } })) ?? {};
  }

  isSame(a, b) {
    return this.real(a) === this.real(b);
  }

  isSamePlace(a, b) {
    return a.keys.length === b.keys.length && a.keys.every((key, i) => key === b.keys[i]) && this.isSame(a.path, b.path);
  }

  /* The path of a file in a base folder; undefined: the folder is unknown. */
  path(base, name) {
    if (base === 'here') return this.here === null ? undefined : `${this.here}/${name}`;
    const [variable, below] = BASES[base];
    if (this.env[variable]?.startsWith('/')) return `${this.env[variable]}/${name}`;
    return this.env.HOME?.startsWith('/') ? `${this.env.HOME}${below}/${name}` : undefined;
  }

  /* All places of a host, each only once: in the home directory, the user's files do not
   * also count as a project's. */
  placesOf(host) {
    const places = PLACES.filter((row) => row[0] === host).map(([, base, name, keys]) => {
      const folder = base === 'here' || keys.includes('*') ? this.here : '';
      const path = folder === null ? undefined : this.path(base, name);
      return { host, path, folder, keys: keys.map((key) => (key === '*' ? folder : key)) };
    }).filter((place) => place.path !== undefined);
    return places.filter((place, i) => !places.slice(i + 1).some((later) => this.isSamePlace(place, later)));
  }

  /* The place of a file that the user named: a known place of a host, else a project's file by
   * its path, else by its form. Naming a file does not select its "projects". */
  placeOf(path, root) {
    const known = Object.keys(HOSTS).flatMap((host) => this.placesOf(host))
      .find((place) => place.keys[0] !== 'projects' && isObject(serversAt(root, place)) && this.isSame(place.path, path));
    if (known !== undefined) return known;
    const real = this.real(path);
    for (const [host, base, name, keys] of PLACES)
      if (base === 'here' && real.endsWith(`/${name}`) && real.length > name.length + 1 && isObject(valueAt(root, keys)))
        return { host, path: real, folder: real.slice(0, -name.length - 1), keys };
    const look = LOOKS.find(([host, keys]) => isObject(valueAt(root, keys)) && path.endsWith('.toml') === (host === 'codex'));
    return look && { host: look[0], path: real, folder: '', keys: look[1] };
  }
}

/* ---- taking ---------------------------------------------------------------------- */

const isOff = (entry) => entry.disabled === true || entry.enabled === false;

const isUs = ({ command, args }) => typeof command === 'string' && command.split('/').at(-1) === 'glovebox' && args?.[0] === 'mcp';

/* A valid name of a server. */
function cleanName(name) {
  let clean = '';
  for (const one of name)
    if (/[A-Za-z0-9_.-]/.test(one)) clean += one;
    else if (clean !== '' && !clean.endsWith('-')) clean += '-';
  return clean.slice(0, 64) || 'server';
}

/* The name of a host's server here: with index 0 its own, with 1 the host's name added, above
 * that also a number. */
function nameOf(name, host, index) {
  const clean = cleanName(name);
  if (index === 0) return clean;
  return index === 1 ? `${clean.slice(0, 50)}-${host}` : `${clean.slice(0, 44)}-${host}-${index}`;
}

/* Some hosts write out defaults that others leave out; the order of members means nothing. */
function comparable(entry, withoutDisabled) {
  const isEmpty = (value) => value === null || typeof value !== 'object' || Object.keys(value).length === 0;
  const usual = 'url' in entry ? 'http' : 'stdio';
  const kept = Object.entries(entry).filter(([name, value]) => !(
    (['args', 'env', 'headers'].includes(name) && isEmpty(value)) || (name === 'type' && value === usual) ||
    (name === 'disabled' && (withoutDisabled || value !== true)) || (name === 'enabled' && value !== false)));
  return JSON.stringify(Object.fromEntries(kept), (key, value) => (isObject(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value));
}

/* "disabled" does not count as a difference, unless only ours is disabled: the host's server
 * starts, so ours is not the same. */
function isSameServer(ours, entry) {
  const withoutDisabled = entry.disabled === true || ours.disabled !== true;
  return comparable(ours, withoutDisabled) === comparable(entry, withoutDisabled);
}

/* Collects servers. Its messages become steps: lines, and files that cannot be read. */
class Import {
  steps = [];
  added = {};
  places = [];

  constructor(machine, own) {
    this.machine = machine;
    this.own = own;
    const old = [get(own.value, 'mcpServers'), get(own.value, 'servers')].filter(isObject);
    this.servers = new Map(old.flatMap(Object.entries));
  }

  say(line) {
    this.steps.push({ say: line });
  }

  fail(error) {
    if (!(error instanceof Unreadable)) throw error;
    if (error.message !== '') this.steps.push({ fail: error.path, why: error.message });
  }

  /* The name of the same server in our file, which an import from any host may have chosen. The
   * number is at most the count of servers, unless some were removed. */
  findThere(name, entry) {
    for (const host of Object.keys(HOSTS))
      for (let i = 0; i <= this.servers.size + 1; i++) {
        const ours = this.servers.get(nameOf(name, host, i));
        if (isObject(ours) && isSameServer(ours, entry)) return nameOf(name, host, i);
      }
    return undefined;
  }

  /* Add it under a name that none of our other servers has. */
  add(name, host, entry) {
    let index = 0;
    while (this.servers.has(nameOf(name, host, index))) index++;
    const chosen = nameOf(name, host, index);
    this.servers.set(chosen, entry);
    Object.defineProperty(this.added, chosen, { value: entry, enumerable: true });
    return chosen;
  }

  /* Decide about an entry; ours: its form here, or undefined. A server of a project's file, which
   * comes from the project's author, must not start here unasked; it must also be complete, since
   * the user may switch it on. */
  takeServer(to, name, theirs, { entry: ours, notes }) {
    if (isObject(theirs) && isUs(theirs)) {
      this.say(`  ${name}: that is glovebox`);
      to.hasUs = true;
      return;
    }
    const waits = ours !== undefined && to.isOfProject && !isOff(theirs);
    if (waits) ours.disabled = true;
    const there = ours && this.findThere(name, ours);
    const chosen = there ?? (ours && this.add(name, to.host, ours));
    /* If our file does not load, only the end shows whether it loads with the servers. */
    const taken = this.own.isFine ? 'taken' : 'to be taken';
    const outcome = ours === undefined ? 'not taken' : chosen === name ? taken : `${taken} as ${chosen}`;
    this.say(`  ${name}: ${there === undefined ? outcome : 'is there already'}`);
    for (const note of notes) this.say(`    note: ${note}`);
    if (ours === undefined) return;
    if (!isOff(this.servers.get(chosen))) to.taken.push(name);
    else if (waits)
      this.say('    note: it is taken as disabled, since it comes with the folder: enable it if you trust it');
  }

  takeServers(to, root) {
    const inputs = get(valueAt(root, to.keys.slice(0, -1)), 'inputs');
    for (const [name, theirs] of Object.entries(serversAt(root, to))) {
      const found = isObject(theirs) ? takeEntry(theirs, { ...to, inputs })
        : { notes: ['it is left alone: it is not an object'] };
      const { why, isLeft } = found.entry === undefined ? {} : this.machine.check(found.entry);
      if (why !== undefined) found.notes.push(`${isLeft ? 'it is left alone: ' : ''}${why}`);
      if (isLeft) delete found.entry;
      this.takeServer(to, name, theirs, found);
    }
  }

  /* Two values of --from, or a value and a file, may be the same place. */
  takePlace(place, root) {
    const servers = serversAt(root, place);
    if (!isObject(servers) || Object.keys(servers).length === 0 ||
        this.places.some((other) => this.machine.isSamePlace(other, place))) return;
    /* The user's file of Claude Code also has places for projects. */
    const isOfProject = !place.isNamed && place.folder !== '' && place.keys[0] !== 'projects';
    const to = { ...place, isOfProject, taken: [], hasUs: false };
    this.places.push(to);
    this.say(`${HOSTS[to.host]}, ${to.path}`);
    this.takeServers(to, root);
  }

  /* An unreadable place does not keep the rest from being imported. */
  takeHost(host) {
    for (const place of this.machine.placesOf(host))
      try {
        this.takePlace(place, this.machine.file(place.path));
      } catch (error) {
        this.fail(error);
      }
  }

  takeFile(path) {
    try {
      const root = this.machine.file(path, true);
      const place = this.machine.placeOf(path, root);
      if (place === undefined)
        throw new Unreadable(path, `no servers in '${path}': neither "mcpServers" nor "servers", nor [mcp_servers.NAME]`);
      this.takePlace({ ...place, isNamed: true }, root);
    } catch (error) {
      this.fail(error);
    }
  }

  /* The host continues to use a server, bypassing Glovebox and its rules, until the user removes
   * it there. Then the host sees only the tools of Glovebox. */
  next() {
    const lines = this.places.filter(({ taken }) => taken.length > 0).map(({ taken, path, hasUs }) =>
      `next: take ${taken.join(', ')} out of ${path}${hasUs ? ''
        : `, and put in glovebox, as docs/mcp.md shows: 'glovebox mcp --config ${this.own.path}'`}`);
    if (lines.length > 0)
      lines.push("next: write rules, or use 'glovebox mcp deny': what hosts allow or deny is not taken");
    return lines;
  }
}

/* What the import does, or { need }: what must be known first. own: our file; from: names of
 * hosts, or their files. text: our file's new text; null: no new servers; "": it failed. */
export function plan({ own, from, ...rest }) {
  const machine = new Machine(rest);
  const all = new Import(machine, own);
  for (const one of from.length > 0 ? from : Object.keys(HOSTS))
    if (Object.hasOwn(HOSTS, one)) all.takeHost(one);
    else all.takeFile(one);
  if (machine.need.size > 0) return { need: [...machine.need.values()] };
  return {
    steps: all.steps, next: all.next(), hasPlaces: all.places.length > 0,
    text: Object.keys(all.added).length > 0 ? addServers(own.text, all.added) : null,
  };
}

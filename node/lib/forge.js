// SPDX-License-Identifier: MIT
/*
 * forge - runs tools that an agent has written for itself. Each call has an allowlist of what
 * its tool may use, within what the forge was made with. The policy of the core enforces
 * both, and its parser, not a search for words, finds violations beforehand.
 */
import { needKnown, needNumber, needObject, needText, needTexts, wrong } from './argument.js';
import { EngineCache } from './engine-cache.js';
import { wordsOf } from './forge-words.js';
import { hasForm, validateSandboxCode } from './guard.js';
import { hintOfCode } from './hints.js';
import { takeBaseDir } from './options.js';
import { RequestEngine } from './request.js';

const MIB = 1048576;
const FILE_BYTES = MIB;

/* For its engines: a call's limits are narrower, and its own timeout needs no new engine. */
const MOST_MS = 600000;
const MOST_MB = 4096;
const OPTIONS = [
  'memoryMB', 'timeoutMs', 'maxOutputBytes', 'fetchDomains', 'fetchDomainAllowlist', 'fsReadPaths', 'fsReadRoots',
];
const REQUEST = ['code', 'input', 'allowlist', 'memoryMB', 'timeoutMs', 'signal'];

/* Entries of an allowlist: the name in the code, the guard's rule for it, and the option that
 * it requires, with an example of its items. */
const APIS = {
  fetch: { name: 'fetch', rule: 'network', option: 'fetchDomains', example: 'api.example.com' },
  'fs.readFile': { name: 'fs', rule: 'file', option: 'fsReadPaths', example: '/srv/data' },
  crypto: { name: 'crypto', rule: 'crypto' },
};

/* Runs in the sandbox, before the tools: reading a file gives text, as tools expect, not
 * bytes. It grants nothing: if files are off, fs does not exist. */
const TEXT_FILES = `
if (typeof fs === 'object') {
  const { readFile: read, promises } = fs;
  globalThis.fs = Object.freeze({
    readFile(path, options, callback) {
      if (typeof options === 'function') return read(path, 'utf8', options);
      return read(path, options ?? 'utf8', callback);
    },
    promises,
  });
}
`;

/* Options with two names. */
const NAMES = { fetch: ['fetchDomains', 'fetchDomainAllowlist'], file: ['fsReadPaths', 'fsReadRoots'] };

const keyOf = (options, [name, other]) => (options[other] === undefined ? name : other);

function listOf(options, names) {
  const [name, other] = names;
  if (options[name] !== undefined && options[other] !== undefined)
    throw new TypeError(`options.${other} is another name of options.${name}: leave one out`);
  const key = keyOf(options, names);
  return options[key] === undefined ? [] : [...new Set(needTexts(options[key], `options.${key}`))];
}

/* The library's error, with the option's item in place of the policy's. */
function asOption(error, options, lists) {
  const [all, key, index] = /^(?:policy\.)?(fetch|file)\.allow\[(\d+)\]/.exec(error.message) ?? [];
  if (all === undefined) return error;
  const name = keyOf(options, NAMES[key]);
  const at = options[name].indexOf(lists[NAMES[key][0]][index]);
  return Object.assign(new TypeError(`options.${name}[${at}]${error.message.slice(all.length)}`), { code: error.code });
}

function needAllowlist(allowlist) {
  const known = Object.keys(APIS);
  if (!Array.isArray(allowlist) || allowlist.some((each) => !known.includes(each)))
    throw wrong('allowlist', `an array of ${known.map((each) => `'${each}'`).join(', ')}`,
      Array.isArray(allowlist) ? allowlist.find((each) => !known.includes(each)) : allowlist);
  return allowlist;
}

function textOf({ message, line, column, hint }) {
  return `${line > 0 ? `line ${line}, column ${column}: ` : ''}${message}${hint ? ` (${hint})` : ''}`;
}

export class SandboxedToolForge {
  #memoryMB;
  #timeoutMs;
  #maxOutputBytes;
  #lists;
  #baseDir = takeBaseDir({}); /* for the folders: the current directory may change before the
                                 first tool */
  #engines = new EngineCache((config) => this.#makeEngine(config));

  constructor(options = {}) {
    needObject(options, 'options');
    needKnown(options, OPTIONS, 'options');
    this.#memoryMB = needNumber(options.memoryMB ?? 128, 'options.memoryMB', 8, MOST_MB);
    this.#timeoutMs = needNumber(options.timeoutMs ?? 5000, 'options.timeoutMs', 1, MOST_MS);
    this.#maxOutputBytes = needNumber(options.maxOutputBytes ?? MIB, 'options.maxOutputBytes', 1, 256 * MIB);
    this.#lists = {
      fetchDomains: listOf(options, NAMES.fetch),
      fsReadPaths: listOf(options, NAMES.file),
    };
    /* Throw for an invalid domain or path now, not at the first tool. */
    try {
      hasForm('function execute() {}', this.#checkOf(Object.keys(APIS)));
    } catch (error) {
      throw asOption(error, options, this.#lists);
    }
  }

  #makeEngine(config) {
    const preload = this.#lists.fsReadPaths.length > 0 ? [{ name: 'forge.js', source: TEXT_FILES }] : [];
    return new RequestEngine({ ...config, preload });
  }

  /* An empty list means none, not all: the capability is then off. */
  #policyOf(allowlist) {
    const { fetchDomains, fsReadPaths } = this.#lists;
    const policy = { console: true, timers: true, helpers: false };
    if (allowlist.includes('crypto')) policy.crypto = true;
    if (allowlist.includes('fetch') && fetchDomains.length > 0) policy.fetch = { allow: fetchDomains };
    if (allowlist.includes('fs.readFile') && fsReadPaths.length > 0)
      policy.file = { allow: fsReadPaths, maxBytes: FILE_BYTES };
    return policy;
  }

  #checkOf(allowlist) {
    return { form: 'execute', policy: this.#policyOf(allowlist), baseDir: this.#baseDir };
  }

  /* A violation in the terms of this class: the core's hints name flags. */
  #inOwnTerms(violation, allowlist) {
    const { rule, message } = violation;
    const [api, { name, option, example }] = Object.entries(APIS)
      .find(([, each]) => each.rule === rule && message.startsWith(`'${each.name}' is off`)) ?? [undefined, {}];
    const unlisted = api !== undefined && !allowlist.includes(api) ? api : undefined;
    const hint = hintOfCode(violation.hint);
    const told = { ...violation };
    delete told.hint;
    if (unlisted !== undefined) told.message = `'${name}' is off: '${api}' is not in the allowlist`;
    else if (option !== undefined && this.#lists[option].length === 0) {
      told.message = `'${name}' is off: the forge was made without ${option}`;
      told.hint = `list what it may reach: new SandboxedToolForge({ ${option}: ['${example}'] })`;
    } else if (hint) told.hint = hint;
    return { violation: told, unlisted, own: textOf(told) };
  }

  /* Everything that execute() would refuse in the code's text; a missing function last. */
  #violationsOf(code, allowlist) {
    const { violations = [] } = validateSandboxCode(code, this.#checkOf(allowlist));
    const isForm = ({ rule }) => rule === 'form';
    return [...violations.filter((each) => !isForm(each)), ...violations.filter(isForm)]
      .map((each) => this.#inOwnTerms(each, allowlist));
  }

  /** Checks the code without running it. A fragment that defines no function may be valid. */
  validateCode(code, allowlist = []) {
    needText(code, 'code');
    needAllowlist(allowlist);
    const found = this.#violationsOf(code, allowlist).filter(({ violation }) => violation.rule !== 'form');
    if (found.length === 0) return { valid: true, violations: [] };
    return { valid: false, violations: wordsOf(code, found), details: found.map(({ violation }) => violation) };
  }

  /* Memory of the engine for a call of so many MB: few engines should serve many calls. */
  #memoryFor(memoryMB) {
    if (memoryMB <= this.#memoryMB) return this.#memoryMB;
    return Math.min(2 ** Math.ceil(Math.log2(memoryMB)), MOST_MB);
  }

  #errorOf(code, result, allowlist) {
    if (result.code === 'INVALID_CODE') {
      const found = this.#violationsOf(code, allowlist);
      if (found.length > 0) return `the code may not run: ${found.map(({ own }) => own).join('; ')}`;
    }
    const { location, error } = result;
    const hint = hintOfCode(result.hint);
    const where = location === undefined ? '' : ` (line ${location.line}, column ${location.column})`;
    return `${error}${where}${hint ? `. Hint: ${hint}` : ''}`;
  }

  /**
   * Runs a tool: code that defines `execute(input)` or `run(input)`, async or not. Resolves
   * whatever it does; rejects only for wrong use.
   */
  async execute(request) {
    needObject(request, 'request');
    needKnown(request, REQUEST, 'request');
    const { code, input, allowlist = [], signal } = request;
    needText(code, 'request.code');
    needAllowlist(allowlist);
    const memoryMB = needNumber(request.memoryMB ?? this.#memoryMB, 'request.memoryMB', 8, MOST_MB);
    const timeoutMs = needNumber(request.timeoutMs ?? this.#timeoutMs, 'request.timeoutMs', 1, MOST_MS);
    const config = {
      timeout: MOST_MS,
      memoryLimit: this.#memoryFor(memoryMB),
      maxOutputBytes: this.#maxOutputBytes,
      policy: this.#policyOf(Object.keys(APIS)),
      baseDir: this.#baseDir,
    };
    const result = await this.#engines.use(config, (engine) => engine.run({
      form: 'execute',
      code,
      input: input === undefined ? null : input,
      limits: { timeoutMs, memoryBytes: Math.round(memoryMB * MIB) },
      policy: this.#policyOf(allowlist),
      signal,
    }), signal);
    const cost = { executionTimeMs: result.executionMs, memoryUsedBytes: result.stats?.peakMemoryBytes ?? 0 };
    if (result.ok) return { success: true, output: result.value, ...cost };
    return { success: false, error: this.#errorOf(code, result, allowlist), code: result.code, ...cost };
  }

  /** Ends its engines; running calls end as ABORTED. */
  dispose() {
    this.#engines.dispose();
  }

  [Symbol.dispose ?? Symbol.for('nodejs.dispose')]() {
    this.dispose();
  }
}

// SPDX-License-Identifier: MIT
//
// options - an engine's options, checked before anything is started. Each wrong value is a
// TypeError that names it.
import { resolve } from 'node:path';

import { insteadOf, isObject, needFunction, needObject, needTexts, wrong } from './argument.js';
import { jsonOf } from './input.js';
import { workerPath } from './native.js';

const MIB = 1048576;

const { hasOwn } = Object;

/** Console levels, in the order of the library's numbers. */
export const LEVELS = ['debug', 'log', 'info', 'warn', 'error'];

const FORMS = ['function', 'execute', 'body', 'script'];

/** The number of a form. */
export function takeForm(form) {
  const at = FORMS.indexOf(form ?? 'function');
  if (at < 0) throw wrong('form', `one of ${FORMS.join(', ')}`, form);
  return at;
}

/** [least, most] of every number, with the name that the addon has for it. */
const LIMITS = {
  timeoutMs: [1, 600000],
  cpuMs: [1, 600000],
  memoryBytes: [8 * MIB, 4096 * MIB],
  outputBytes: [1, 256 * MIB],
  codeBytes: [1, MIB],
  logBytes: [1, 64 * MIB],
  hostCalls: [1, 10000000],
  hostCallsAtOnce: [1, 4096],
  hostOutBytes: [1, 1024 * MIB],
  hostInBytes: [1, 1024 * MIB],
};

const NUMBERS = {
  poolSize: [1, 64],
  maxWorkers: [1, 1024],
  queueLength: [1, 1048576],
  recycleCalls: [1, 4294967295],
  recycleMs: [1000, 4294967295],
  hugePages: [1, 16],
  workerUid: [1, 4294967294],
};

/** A server makes many calls: a tenth more of them a second are worth 14 MiB to it. */
const HUGE_PAGES = 10;

/** Values in the order of the library's numbers. */
const WORDS = {
  require: ['default', 'strict'],
  jit: ['default', 'full', 'baseline', 'off', 'long'],
  globals: ['standard', 'minimal'],
  fresh: ['fork', 'exec'],
  speculation: ['default', 'guarded'],
  zygote: ['on', 'off'],
};

/** The same limits under familiar names. */
const FAMILIAR = {
  timeout: ['timeoutMs', 1],
  memoryLimit: ['memoryBytes', MIB],
  maxOutputBytes: ['outputBytes', 1],
};

const OTHERS = [
  'limits', 'policy', 'console', 'fetch', 'fs', 'crypto', 'env', 'secrets', 'capabilities',
  'preload', 'transport', 'securityLog', 'runner', 'baseDir', 'trustFiles',
];

const KNOWN = new Set([
  ...Object.keys(FAMILIAR), ...Object.keys(NUMBERS), ...Object.keys(WORDS), ...OTHERS,
]);

function number(name, value, [least, most], scale = 1) {
  const scaled = typeof value === 'number' ? Math.round(value * scale) : NaN;
  if (scaled >= least && scaled <= most) return scaled;
  throw wrong(name, `a number from ${least / scale} to ${most / scale}`, value);
}

/** Limits by the library's names; `prefix` is their prefix in messages. */
export function takeLimits(given, prefix) {
  const taken = {};
  for (const [name, value] of Object.entries(needObject(given, prefix))) {
    if (value === undefined) continue;
    if (!hasOwn(LIMITS, name)) throw new TypeError(`${prefix}.${name} is not a limit: ${insteadOf(name, Object.keys(LIMITS))}`);
    taken[name] = number(`${prefix}.${name}`, value, LIMITS[name]);
  }
  return taken;
}

function flag(name, value) {
  if (typeof value !== 'boolean') throw wrong(name, 'a boolean', value);
  return value;
}

/** [...] is {allow: [...]}; an empty list allows nothing. */
function allowance(name, value) {
  if (Array.isArray(value)) return needTexts(value, name).length > 0 ? { allow: value } : undefined;
  if (value === false) return undefined;
  if (typeof value !== 'object' || value === null) {
    throw wrong(name, 'an array, an object with allow, or false', value);
  }
  if (Array.isArray(value.allow) && value.allow.length === 0) return undefined;
  return value;
}

const isSink = (value) => typeof value === 'object' && value !== null;

/** A sink may lack methods; those that it has must be functions. */
function sink(name, value) {
  if (!isSink(value)) return flag(name, value);
  for (const level of LEVELS) {
    if (value[level] !== undefined) needFunction(value[level], `${name}.${level}`);
  }
  return true;
}

/** The policy's member that each option sets, and the function that reads it. */
const CAPABILITIES = {
  console: ['console', sink],
  crypto: ['crypto', flag],
  fetch: ['fetch', allowance],
  fs: ['file', allowance],
  env: ['env', (name, value) => {
    if (value === false) return undefined;
    if (typeof value !== 'object' || value === null) throw wrong(name, 'an object or an array', value);
    return Object.keys(value).length > 0 ? value : undefined;
  }],
  secrets: ['secrets', (name, value) => {
    if (typeof value !== 'object' || value === null) throw wrong(name, 'an object', value);
    return Object.keys(value).length > 0 ? value : undefined;
  }],
};

function byList(capabilities) {
  const policy = { functions: ['*'] };
  for (const name of needTexts(capabilities, 'capabilities')) {
    if (!['console', 'timers', 'crypto'].includes(name)) {
      throw new TypeError(`capabilities must be of console, timers and crypto, not '${name}'`);
    }
    policy[name] = true;
  }
  return policy;
}

/** The JSON of a policy; throws if JSON would drop something of it. */
export function policyJson(policy) {
  return jsonOf(needObject(policy, 'policy'), { subject: 'policy', root: 'policy' });
}

/* The key with which a policy's error begins, and the rest: `fetch` of `fetch.allow[0]:
 * ...`. */
function keyOf(error) {
  const [, key, rest] = /^([^\s.:[]*)(?=[.:[])(.*)$/s.exec(error?.code === 'GBX_E_POLICY' ? error.message : '') ?? [];
  return { key, rest };
}

const saying = (message, { code }) => Object.assign(new TypeError(message), { code });

/** The library's error, with the option's name in place of the policy's, if they differ. */
export function asOption(error, options) {
  const { key, rest } = keyOf(error);
  if (key === undefined) return error;
  if (key === '') return options.policy === undefined ? error : saying(`policy${rest}`, error);
  const name = options.policy?.[key] !== undefined ? `policy.${key}` : key === 'file' ? 'fs' : key;
  const inList = Array.isArray(options[name]) ? rest.replace(/^\.allow(?=\[)/, '') : rest;
  return saying(name + inList, error);
}

/** The same for a call: `limits.timeoutMs` for call.limits.timeout_ms, `policy.` before its
  * keys. */
export function asArgument(error) {
  const { key, rest } = keyOf(error);
  if (key !== undefined) return saying(`policy${key === '' ? '' : '.'}${key}${rest}`, error);
  const [, name, said] = /^call\.([\w.]+)(.*)$/s.exec(error?.code === 'GBX_E_USAGE' ? error.message : '') ?? [];
  if (name === undefined) return error;
  return saying(name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()) + said, error);
}

/** The policy of an engine; undefined: console, timers and exposed functions. */
export function takePolicy(options) {
  const own = options.policy;
  if (own !== undefined) needObject(own, 'policy');
  if (own !== undefined && options.capabilities !== undefined) {
    throw new TypeError('capabilities and policy exclude each other');
  }
  const standard = { console: true, timers: true, functions: ['*'] };
  const policy =
    own !== undefined ? { ...own }
    : options.capabilities !== undefined ? byList(options.capabilities)
    : standard;
  let isPlain = policy === standard;
  for (const [name, [key, take]] of Object.entries(CAPABILITIES)) {
    if (options[name] === undefined) continue;
    const value = take(name, options[name]);
    if (value === true && policy[key] === true) continue;
    if (own?.[key] !== undefined && !(name === 'console' && isSink(options[name]))) {
      throw new TypeError(`${name} and policy.${key} exclude each other`);
    }
    isPlain = false;
    if (value === undefined) delete policy[key];
    else policy[key] = value;
  }
  return isPlain ? undefined : policyJson(policy);
}

/* The library's limits for a preload: it could only report them once the engine has been
 * made. */
const PRELOAD = { name: 128, source: 16 * MIB, count: 64 };

function takePreloads(given) {
  if (!Array.isArray(given)) throw wrong('preload', 'an array', given);
  const taken = new Map();
  for (const [i, item] of given.entries()) {
    const { name, source } = item ?? {};
    if (typeof name !== 'string' || typeof source !== 'string') throw wrong('preload', 'an array of {name, source}', item);
    if (name === '' || Buffer.byteLength(name) > PRELOAD.name || /[\x00-\x1f\x7f]/.test(name)) {
      throw wrong(`preload[${i}].name`, `1 to ${PRELOAD.name} bytes without control characters`, name);
    }
    if (taken.has(name)) throw new TypeError(`preload[${i}].name: there is a script '${name}' already`);
    if (Buffer.byteLength(source) > PRELOAD.source) throw new TypeError(`preload[${i}].source is larger than ${PRELOAD.source / MIB} MiB`);
    taken.set(name, source);
  }
  if (taken.size > PRELOAD.count) throw new TypeError(`preload must be at most ${PRELOAD.count} scripts`);
  return [...taken].flat();
}

/** Refuses names that are neither options of an engine nor in others. */
export function needOptions(options, others = []) {
  for (const name of Object.keys(needObject(options, 'options'))) {
    if (KNOWN.has(name) || others.includes(name)) continue;
    const instead = hasOwn(LIMITS, name) ? `it is one of the limits, limits.${name}` : insteadOf(name, [...KNOWN, ...others]);
    throw new TypeError(`unknown option '${name}': ${instead}`);
  }
}

/** Where relative paths of a policy begin: the current directory may change later. */
export function takeBaseDir({ baseDir = '.' }) {
  if (typeof baseDir !== 'string' || baseDir === '') throw wrong('baseDir', 'a path', baseDir);
  try {
    return resolve(baseDir);
  } catch {
    return undefined; // the library reports that the current directory is missing
  }
}

/** Parts of an address of runners, with their names in it; all but pool name files. */
const ADDRESS = { pool: 'pool', creds: 'creds', nkey: 'nkey', tlsCa: 'tls-ca' };

/* The library checks the whole, and each part of it. */
function takeRunner({ runner, baseDir = '.' }) {
  if (runner === 'process' || runner === 'memory') return runner;
  if (!isObject(runner)) throw wrong('runner', "'process', 'memory' or {nats: 'nats://HOST:4222'}", runner);
  const { nats, ...parts } = runner;
  if (typeof nats !== 'string' || !/^(nats|tls):\/\//.test(nats)) throw wrong('runner.nats', "an address as 'nats://HOST:4222'", nats);
  const given = Object.entries(parts).filter(([, value]) => value !== undefined).map(([name, value]) => {
    if (!hasOwn(ADDRESS, name)) throw new TypeError(`runner.${name} is not known: ${insteadOf(name, ['nats', ...Object.keys(ADDRESS)])}`);
    if (typeof value !== 'string' || value === '' || value.includes('&')) throw wrong(`runner.${name}`, "a text without '&'", value);
    return `${ADDRESS[name]}=${name === 'pool' ? value : resolve(baseDir, value)}`;
  });
  return given.length === 0 ? nats : `${nats}${nats.includes('?') ? '&' : '?'}${given.join('&')}`;
}

/** True if a policy's files are accepted without a check of who can change them. */
export function takeTrust({ trustFiles = false }) {
  return flag('trustFiles', trustFiles);
}

/** Everything for addon.open(). */
export function takeOptions(options) {
  needOptions(options);
  const taken = options.limits === undefined ? {} : takeLimits(options.limits, 'limits');
  for (const [name, [limit, scale]] of Object.entries(FAMILIAR)) {
    if (options[name] === undefined) continue;
    if (taken[limit] !== undefined) {
      throw new TypeError(`${name} and limits.${limit} exclude each other`);
    }
    taken[limit] = number(name, options[name], LIMITS[limit], scale);
  }
  taken.hugePages = HUGE_PAGES;
  for (const [name, range] of Object.entries(NUMBERS)) {
    if (options[name] !== undefined) taken[name] = number(name, options[name], range);
  }
  for (const [name, words] of Object.entries(WORDS)) {
    if (options[name] === undefined) continue;
    const at = words.indexOf(options[name]);
    if (at < 0) throw wrong(name, `one of ${words.join(', ')}`, options[name]);
    taken[name] = at;
  }
  for (const name of ['transport', 'securityLog']) if (options[name] !== undefined) needFunction(options[name], name);
  if (options.runner !== undefined) taken.runner = takeRunner(options);
  if (options.preload !== undefined) taken.preloads = takePreloads(options.preload);
  taken.policy = takePolicy(options);
  taken.baseDir = takeBaseDir(options);
  taken.trustFiles = takeTrust(options);
  taken.hasTransport = options.transport !== undefined;
  taken.hasSecurityLog = options.securityLog !== undefined;
  taken.workerPath = workerPath;
  return taken;
}

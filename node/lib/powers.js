// SPDX-License-Identifier: MIT
/*
 * powers - values of Node.js with which code could do everything that this process can. Exposing
 * one undoes the sandbox.
 */
import { isObject } from './argument.js';
import { require } from './native.js';

/* Modules whose functions start programs, run code or open files. */
const MODULES = ['child_process', 'fs', 'fs/promises', 'module', 'vm', 'worker_threads'];

/* A module that is not loaded cannot be passed, and to load it takes milliseconds. */
const isLoaded = (module) => process.moduleLoadList?.includes(`NativeModule ${module}`) ?? true;

/* Their values, and the name of each. */
function namedValues() {
  const names = new Map([[process, 'process'], [globalThis, 'globalThis'], [eval, 'eval'], [Function, 'Function']]);
  const add = (value, name) => {
    if (!names.has(value) && (typeof value === 'function' || isObject(value))) names.set(value, name);
  };
  for (const module of MODULES.filter(isLoaded)) {
    add(require(module), module);
    for (const [member, { value }] of Object.entries(Object.getOwnPropertyDescriptors(require(module)))) add(value, `${module}.${member}`);
  }
  for (const member of ['binding', 'dlopen', 'exit', 'kill', 'abort', 'chdir']) add(process[member], `process.${member}`);
  return names;
}

const isRequire = (value) => typeof value === 'function' && typeof value.resolve === 'function' && isObject(value.cache);

/** A function (name in the caller's terms, value) that throws for such a value. */
export function powerCheck() {
  const names = namedValues();
  return (name, value) => {
    const module = isObject(value) ? value.default : undefined; /* of import * as */
    const power = isRequire(value) ? 'require' : names.get(value) ?? names.get(module);
    if (power === undefined) return;
    throw new TypeError(`${name} is ${power} of Node.js, with which code could do whatever this process can: expose a function that does one thing, or set unsafe: true`);
  };
}

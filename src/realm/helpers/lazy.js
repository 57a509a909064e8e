/* SPDX-License-Identifier: MIT */
/*
 * lazy - what scripts for Node and the web expect to find beside the language. A name is an
 * accessor until it is used; then the script that makes it is evaluated, in the worker, so
 * that a call without it pays nothing.
 *
 * What code has done to the built-ins before, it has done to what it gets here: the scripts
 * have functions of C that only compute.
 *
 * Evaluates to a function of (natives, evaluate); its value has load(name of a script),
 * which returns what that makes, and what the C side calls.
 */
(function (natives, evaluate) {
  'use strict';
  const { defineProperty, deleteProperty, getOwnPropertyDescriptor } = Reflect;
  const global = globalThis;
  let isGlobal = false;

  const SCRIPTS = {
    __proto__: null,
    exception: ['DOMException'],
    event: ['Event'],
    abort: ['EventTarget', 'AbortController', 'AbortSignal'],
    text: ['TextEncoder', 'TextDecoder', 'atob', 'btoa'],
    clone: ['structuredClone'],
    url: ['URL'],
    params: ['URLSearchParams'],
    small: ['queueMicrotask', 'performance', 'crypto'],
    encodings: [],
    none: [],
  };
  const made = { __proto__: null };
  const functions = { __proto__: null }; /* of scripts that were evaluated in the template */
  const getters = { __proto__: null };

  /* What the console shows of an object that keeps all it has private. */
  const views = natives.views = [];
  natives.view = (value) => {
    for (let i = 0; i < views.length; i++) {
      const seen = views[i](value);
      if (seen !== undefined) return seen;
    }
    return undefined;
  };

  function put(name, value) {
    defineProperty(global, name, {
      __proto__: null, value, writable: true, enumerable: false, configurable: true,
    });
  }

  function load(script) {
    return made[script] ??= (functions[script] ?? evaluate(script))(natives, load);
  }

  function define(script, name) {
    const get = getters[name] = () => {
      const value = load(script)[name];
      if (getOwnPropertyDescriptor(global, name)?.get === get) put(name, value);
      return value;
    };
    defineProperty(global, name, {
      __proto__: null, get, set: (value) => put(name, value), enumerable: false, configurable: true,
    });
  }

  /* name, or all of them if it is undefined. */
  function restore(name) {
    if (!isGlobal) return;
    for (const script in SCRIPTS)
      for (let i = 0; i < SCRIPTS[script].length; i++)
        if (name === undefined || SCRIPTS[script][i] === name) define(script, SCRIPTS[script][i]);
  }

  /* From a call that has none; what a preload has put in its place stays. */
  function withdraw() {
    if (!isGlobal) return;
    for (const script in SCRIPTS)
      for (let i = 0; i < SCRIPTS[script].length; i++) {
        const name = SCRIPTS[script][i], own = getOwnPropertyDescriptor(global, name);
        if (own !== undefined && (own.get === undefined ? own.value === made[script]?.[name] : own.get === getters[name]))
          deleteProperty(global, name);
      }
  }

  /* To a function of the host under that name; false: it is none of ours, or was made. */
  function giveWay(name) {
    const own = getOwnPropertyDescriptor(global, name);
    return own?.get !== undefined && own.get === getters[name] && deleteProperty(global, name);
  }

  /* In the template of many workers: what a first use runs is compiled. What it makes there
   * is thrown away, and nothing else knows of it. */
  function warm() {
    const all = { __proto__: null };
    const apart = { ...natives, views: [], refuse() {} };
    function loadApart(script) {
      functions[script] ??= evaluate(script);
      all[script] ??= functions[script](apart, loadApart);
      return all[script];
    }
    const { AbortController } = loadApart('abort'), { URL } = loadApart('url');
    const { TextEncoder, TextDecoder, atob, btoa } = loadApart('text');
    const { performance } = loadApart('small');
    loadApart('clone').structuredClone({ a: [1] });
    new TextDecoder().decode(new TextEncoder().encode(atob(btoa('a'))));
    new URL('https://a.example/b?c=d').searchParams.get('c');
    const controller = new AbortController();
    controller.signal.addEventListener('abort', () => {});
    controller.abort();
    performance.now();
    if (!isGlobal) return;
    define('none', 'none');
    getOwnPropertyDescriptor(global, 'none').get();
    deleteProperty(global, 'none');
  }

  function makeGlobal() {
    isGlobal = true;
    restore(undefined);
  }

  return { load, restore, withdraw, giveWay, warm, makeGlobal, isGlobal: () => isGlobal };
})

// SPDX-License-Identifier: MIT
/* tool-builder - one tool, built step by step: its purpose, its parameters, its handler. */
import { needFunction, needKnown, needName, needObject, needText, wrong } from './argument.js';
import { hasForm } from './guard.js';
import { instructionFor } from './instruction.js';
import { addon } from './native.js';
import { takeBaseDir, takeOptions } from './options.js';
import { Parameters } from './tool-parameters.js';

/* What each verb promises about a tool; hints for clients that ask before a call. */
const VERBS = {
  query: { readOnlyHint: true },
  mutation: { readOnlyHint: false, destructiveHint: true },
  action: {},
};

const ANNOTATIONS = ['title', 'readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

function needAnnotations(annotations) {
  needObject(annotations, 'annotations');
  needKnown(annotations, ANNOTATIONS, 'annotations');
  for (const [name, value] of Object.entries(annotations)) {
    if (value === undefined) continue;
    if (name === 'title') needText(value, 'annotations.title');
    else if (typeof value !== 'boolean') throw wrong(`annotations.${name}`, 'true or false', value);
  }
  return annotations;
}

/*
 * Throws for what an engine would refuse: now, since the first call could only be answered
 * with an error. The core checks sites and directories; what it reads from the environment
 * need not be there before a call.
 */
function needConfig(config) {
  takeOptions(needObject(config, 'config'));
  const { policy, console, fetch, fs, crypto, capabilities, baseDir, trustFiles } = config;
  if (addon !== undefined && policy?.env === undefined && policy?.secrets === undefined)
    hasForm('() => 1', { policy, console, fetch, fs, crypto, capabilities, baseDir, trustFiles });
  return { ...config, baseDir: takeBaseDir(config) };
}

export class ToolBuilder extends Parameters {
  #name;
  #annotations;
  #define;
  #description = '';
  #sandbox;

  /** define(tool): called with the finished tool. */
  constructor(verb, name, define) {
    super();
    this.#name = needName(name, 'name');
    this.#annotations = { ...VERBS[verb] };
    this.#define = define;
  }

  /** What the tool is for, so that a model can choose. */
  describe(text) {
    this.#description = needText(text, 'text');
    return this;
  }

  /** Hints of the protocol, which add to those of the verb or replace them. */
  annotate(annotations) {
    Object.assign(this.#annotations, needAnnotations(annotations));
    return this;
  }

  /** The tool takes code: its description says how to write it. No engine is made yet. */
  sandboxed(config = {}) {
    this.#sandbox = needConfig(config);
    return this;
  }

  /** handler(input, ctx, meta) does the work. Returns the tool. */
  handle(handler) {
    needFunction(handler, 'handler');
    const instruction = this.#sandbox === undefined ? '' : instructionFor(this.#sandbox);
    const tool = Object.freeze({
      name: this.#name,
      description: [this.#description, instruction].filter((part) => part !== '').join('\n\n'),
      inputSchema: this.toJSONSchema(),
      annotations: Object.freeze({ ...this.#annotations }),
    });
    this.#define({ tool, handler, sandbox: this.#sandbox, problems: (input) => this.problems(input) });
    return tool;
  }
}

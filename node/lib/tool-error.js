// SPDX-License-Identifier: MIT
/*
 * tool-error - an error that a tool returns: what went wrong, and what to do now. It has text
 * for the model, and the same as data for programs.
 */
import { needName, needNumber, needObject, needText } from './argument.js';
import { mendHalves } from './half.js';
import { jsonOf } from './input.js';
import { shownJson, shownText } from './shown.js';

const DETAILS = { subject: 'details', root: 'details' };

export class ToolErrorBuilder {
  #error;

  constructor(code, message) {
    this.#error = { code: needName(code, 'code'), message: needText(message, 'message') };
  }

  /** What to do to reach the goal. */
  suggest(suggestion) {
    this.#error.suggestion = needText(suggestion, 'suggestion');
    return this;
  }

  /** More details, as they are now; several calls add up. */
  details(details) {
    this.#error.details = { ...this.#error.details, ...JSON.parse(jsonOf(needObject(details, 'details'), DETAILS)) };
    return this;
  }

  /** Seconds after which it may work. 0: waiting is unnecessary, and it is not mentioned. */
  retryAfter(seconds) {
    this.#error.retryAfter = needNumber(seconds, 'seconds', 0);
    return this;
  }

  /** A tool's result in the protocol's form. */
  toResult() {
    const error = mendHalves(this.#error);
    const { code, message, suggestion, details, retryAfter } = error;
    const lines = [`${code}: ${message}`];
    if (suggestion) lines.push(`What to do: ${suggestion}`);
    for (const [name, value] of Object.entries(details ?? {}))
      lines.push(`${name}: ${typeof value === 'string' ? value : shownJson(JSON.stringify(value))}`);
    if (retryAfter > 0) lines.push(`Try again after ${retryAfter} s.`);
    return {
      content: [{ type: 'text', text: shownText(lines.join('\n')) }],
      structuredContent: { error },
      isError: true,
    };
  }

  get content() {
    return this.toResult().content;
  }

  get isError() {
    return true;
  }
}

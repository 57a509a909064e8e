// SPDX-License-Identifier: MIT
/*
 * codemode-answer - a run's outcome as a model reads it: the value, or what to repair; then
 * the code's logs, and its effects so far. If it is too long, head and tail stay, and the
 * first line says exactly what was cut. The wording is that of src/mcp/code.
 */
import { thrownOf } from './box.js';
import { DOUBT } from './codemode-calls.js';
import { mendHalves } from './half.js';
import { hintOfCode } from './hints.js';
import { shownJson, shownText } from './shown.js';

const MOST_LOG_LINES = 100;
const NAMED_MAX = 8; // calls in a line
const REASONS_MAX = 5; // of an AggregateError
const REASON_MAX = 300; // characters

/* ---- what went wrong ---------------------------------------------------------------- */

const placeOf = ({ server, tool, line }) => `${server}.${tool}${line > 0 ? ` (line ${line})` : ''}`;

function reasonOf(call) {
  const { code, message } = call;
  const left = message.length - REASON_MAX;
  return `${placeOf(call)}: ${code}: ${left > 0 ? `${message.slice(0, REASON_MAX)} [... ${left} characters ...]` : message}`;
}

/* Promise.any() throws an error without a message or a place: the calls that failed have them. */
function explainAggregate(error, fates) {
  const failed = fates.filter(({ message, wasOpen }) => message !== undefined && !wasOpen).slice(0, REASONS_MAX);
  if (failed.length === 0 && error.message.startsWith('errors: ')) return;
  error.message = ['every promise was rejected', failed.map(reasonOf).join('; ')].filter(Boolean).join(': ');
  error.line ||= failed[0]?.line ?? 0;
}

/* A promise also causes errors that say a value is missing, for which the usual hint does not help. */
function awaitHint(error, fates) {
  const open = error.name === 'TypeError' ? fates.find(({ wasOpen }) => wasOpen) : undefined;
  if (open === undefined || error.hint.startsWith('did you forget await?')) return error.hint;
  return `did you forget await? ${placeOf(open)} had not ended when the code failed${error.hint && `; else: ${error.hint}`}`;
}

function lateHint(isSpinning, canBeLonger) {
  const first = isSpinning ? 'look for a loop that does not end' : 'make calls at once with Promise.all, ask for less';
  return `${first}, or ${canBeLonger ? 'give a longer timeout_ms' : 'do the task in several scripts'}`;
}

/* The name of the only host function does not help a reader: name the requests made by it. */
const WAITING = ', waiting for the host to answer codemode';

function lateMessage(message, awaited) {
  if (!message.endsWith(WAITING)) return message;
  return message.slice(0, -WAITING.length) + (awaited && `, waiting for ${awaited}`);
}

/** The error of a run; result: the engine's; awaited: what the code awaited at its end. */
export function errorOf(result, run, awaited, { timeoutMs, most }) {
  const { fates } = run;
  const { line = 0, column = 0, frame = '' } = result.location ?? {};
  const [, name = '', message] = /^(?:([A-Za-z]+): )?([^]*)$/.exec(result.error);
  const error = { code: result.code, name, message, line, column, frame, hint: hintOfCode(result.hint) };

  if (name === 'ToolError') error.code = run.codeOf(thrownOf(result).message) ?? error.code;
  if (name === 'AggregateError' || result.error === 'AggregateError') explainAggregate(Object.assign(error, { name: 'AggregateError' }), fates);
  error.hint = awaitHint(error, fates);
  if (error.code !== 'TIMEOUT') return error;
  error.message = lateMessage(message, awaited);
  error.hint = lateHint(fates.length === 0 || result.stats?.cpuMs > timeoutMs / 2, timeoutMs < most);
  return error;
}

/* ---- calls whose outcome the code does not know -------------------------------------- */

const OUTCOMES = {
  DONE: ['has ended all the same', 'have ended all the same'], FAILED: ['has failed', 'have failed'],
  NOT_SENT: ['was not sent', 'were not sent'], CANCELLED: ['was cancelled', 'were cancelled'],
  DOUBTFUL: ['has no known outcome', 'have no known outcome'],
};

function lineOf(outcome, fates, isOpen, hasValue) {
  const calls = fates.filter((call) => call.wasOpen === isOpen && call.outcome === outcome);
  const [one, many] = OUTCOMES[outcome];
  if (calls.length === 0) return undefined;
  const how = !isOpen ? '' : `${calls.length === 1 ? 'was' : 'were'} ${hasValue ? 'not awaited, and ' : 'open when the code ended, and '}`;
  const names = calls.slice(0, NAMED_MAX).map((call) => (outcome === 'FAILED' ? reasonOf(call) : placeOf(call)));
  return `${calls.length} call${calls.length === 1 ? '' : 's'} ${how}${calls.length === 1 ? one : many}: ${names.join(', ')}${
    calls.length > NAMED_MAX ? ', ...' : ''}${outcome === 'DOUBTFUL' ? `; ${DOUBT}` : ''}`;
}

/** An error next to the value: a reader who sees only the value would repeat the call. */
export function doubtOf({ fates }) {
  const message = lineOf('DOUBTFUL', fates, true, true);
  return message && { code: 'CANCELLED', name: '', message, line: 0, column: 0, frame: '', hint: 'await each call' };
}

/* The text of a promise that was converted to a string. */
const PROMISE = '[object Promise]';

/** Notes about calls. error: the run's, or that of doubtOf(). */
export function notesOf({ fates }, hasValue, error, value) {
  const isTold = hasValue && error !== undefined;
  const open = Object.keys(OUTCOMES).filter((outcome) => outcome !== 'DOUBTFUL' || !isTold)
    .map((outcome) => lineOf(outcome, fates, true, hasValue));
  const notes = [lineOf('DOUBTFUL', fates, false, hasValue), ...open].filter((line) => line !== undefined);
  if (notes.length === 0 && fates.length > 0 && JSON.stringify(value)?.includes(PROMISE))
    notes.push(`did you forget await? ${PROMISE} in the value is a promise, such as a call gives`);
  return notes;
}

/* ---- the text ------------------------------------------------------------------------ */

function seconds(ms) {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function valueText(outcome) {
  if (outcome.result === undefined) {
    const lines = outcome.logs.length;
    return `No value was returned; ${lines === 1 ? '1 log line' : `${lines} log lines`}.`;
  }
  return typeof outcome.result === 'string' ? outcome.result : shownJson(JSON.stringify(mendHalves(outcome.result)));
}

function errorText({ code, name, message, line, column, frame, hint }) {
  const where = line > 0 ? ` (line ${line}, column ${column})` : '';
  return [`${code}: ${name && `${name}: `}${message}${where}`, frame, hint && `What to do: ${hint}`].filter(Boolean).join('\n');
}

function logText(logs) {
  if (logs.length === 0) return undefined;
  const shown = logs.slice(0, MOST_LOG_LINES).map(({ level, text }) => (level === 'log' ? text : `[${level}] ${text}`));
  if (logs.length > MOST_LOG_LINES) shown.push(`... and ${logs.length - MOST_LOG_LINES} more lines`);
  return `Log:\n${shown.join('\n')}`;
}

function callText(calls) {
  const failed = calls.filter(({ ok, outcome }) => !ok && outcome === undefined)
    .map(({ server, tool, code }) => `${server}.${tool} (${code})`);
  const made = calls.filter(({ ok }) => ok);
  const counts = new Map();
  for (const { server, tool } of made) counts.set(`${server}.${tool}`, (counts.get(`${server}.${tool}`) ?? 0) + 1);
  const names = [...counts].slice(0, 20).map(([name, count]) => (count === 1 ? name : `${name} x${count}`));
  return [
    made.length > 0 && `Calls that took effect: ${names.join(', ')}${counts.size > 20 ? ', ...' : ''}.`,
    failed.length > 0 && `Calls that failed: ${failed.slice(0, 20).join(', ')}${failed.length > 20 ? ', ...' : ''}.`,
  ].filter(Boolean).join('\n');
}

/* Never cuts between the halves of a character. */
function cutAt(text, at) {
  return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 ? at - 1 : at;
}

/** Head and tail of a text that is longer than `most` characters. */
export function shortened(text, most) {
  if (text.length <= most) return { text, isCut: false };
  const head = cutAt(text, Math.floor(most * 0.75));
  const tail = cutAt(text, text.length - (most - head));
  const note = `[cut: characters ${head + 1} to ${tail} of ${text.length} are left out; return less]`;
  return { text: `${note}\n${text.slice(0, head)}\n[...]\n${text.slice(tail)}`, isCut: true };
}

/** The tool's result in the protocol's form. */
export function answerOf(outcome, notes, mostCharacters) {
  const { ok, result, error, logs, calls, artifacts, usage } = outcome;
  const hasValue = 'result' in outcome;
  const { text, isCut } = shortened(hasValue ? valueText(outcome) : errorText(error), mostCharacters);
  const log = shortened(logText(logs) ?? '', mostCharacters);
  const parts = [
    hasValue && error !== undefined && errorText(error), text,
    ok && outcome.hint && `What to do: ${outcome.hint}`, log.text, ...notes,
    calls.every((call) => call.ok) && ok ? undefined : callText(calls),
    artifacts.length > 0 && `Artifacts: ${artifacts.map(({ name, bytes }) => `${name} (${bytes} bytes)`).join(', ')}.`,
    `[${usage.calls === 1 ? '1 call' : `${usage.calls} calls`}, ${seconds(usage.wallMs)}, ${(usage.memoryBytes / 1048576).toFixed(1)} MB]`,
  ];
  const truncated = isCut || log.isCut || outcome.truncated;
  const { result: _, ...rest } = outcome;
  const structuredContent = { ...rest, truncated, artifacts: artifacts.map(({ value, ...about }) => about),
    logs: logs.slice(0, MOST_LOG_LINES).map((line) => ({ ...line, text: shownText(line.text) })) };
  if (result !== undefined && !isCut) structuredContent.result = result;
  return mendHalves({ content: [{ type: 'text', text: shownText(parts.filter(Boolean).join('\n')) }], structuredContent, isError: !ok });
}

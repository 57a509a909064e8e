// SPDX-License-Identifier: MIT
/*
 * codemode-answer - a run's outcome as a model reads it: the value, or what to repair; then
 * the code's logs, and its effects so far. If it is too long, head and tail stay, and the
 * first line says exactly what was cut.
 */
import { mendHalves } from './half.js';
import { shownJson, shownText } from './shown.js';

const MOST_LOG_LINES = 100;

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

function errorText({ code, message, line, column, frame, hint }) {
  const where = line > 0 ? ` (line ${line}, column ${column})` : '';
  return [`${code}: ${message}${where}`, frame, hint && `What to do: ${hint}`].filter(Boolean).join('\n');
}

function logText(logs) {
  if (logs.length === 0) return undefined;
  const shown = logs.slice(0, MOST_LOG_LINES).map(({ level, text }) => (level === 'log' ? text : `[${level}] ${text}`));
  if (logs.length > MOST_LOG_LINES) shown.push(`... and ${logs.length - MOST_LOG_LINES} more lines`);
  return `Log:\n${shown.join('\n')}`;
}

function callText(calls) {
  const failed = calls.filter(({ ok }) => !ok).map(({ server, tool, code }) => `${server}.${tool} (${code})`);
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
export function answerOf(outcome, mostCharacters) {
  const { ok, error, logs, calls, artifacts, usage } = outcome;
  const { text, isCut } = shortened(ok ? valueText(outcome) : errorText(error), mostCharacters);
  const log = shortened(logText(logs) ?? '', mostCharacters);
  const parts = [
    text, ok && outcome.hint && `What to do: ${outcome.hint}`, log.text,
    ok && error === undefined && calls.every((call) => call.ok) ? undefined : callText(calls),
    artifacts.length > 0 && `Artifacts: ${artifacts.map(({ name, bytes }) => `${name} (${bytes} bytes)`).join(', ')}.`,
    `[${usage.calls === 1 ? '1 call' : `${usage.calls} calls`}, ${seconds(usage.wallMs)}, ${(usage.memoryBytes / 1048576).toFixed(1)} MB]`,
  ];
  const truncated = isCut || log.isCut || outcome.truncated;
  const { result, logs: lines, ...rest } = outcome;
  const structuredContent = { ...rest, truncated, artifacts: artifacts.map(({ value, ...about }) => about),
    logs: lines.slice(0, MOST_LOG_LINES).map((line) => ({ ...line, text: shownText(line.text) })) };
  if (ok && result !== undefined && !isCut) structuredContent.result = result;
  return mendHalves({ content: [{ type: 'text', text: shownText(parts.filter(Boolean).join('\n')) }], structuredContent, isError: !ok });
}

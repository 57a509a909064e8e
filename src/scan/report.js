// SPDX-License-Identifier: MIT
/* report - formats the result of an audit as text, JSON, SARIF 2.1.0 and HTML. */
import { MEANINGS } from './judge.js';
import { count, htmlOf } from './report_html.js';
import rules from './rules.json';

const WIDTH = 100, AROUND = 2;
const byId = new Map(rules.map((rule) => [rule.id, rule]));
/* The columns of a line around one of them: bundles have lines of a megabyte. */
function window(line, column) {
  const start = line.length > WIDTH ? Math.max(0, Math.min(column - 1 - WIDTH / 3, line.length - WIDTH)) | 0 : 0;
  return { text: line.slice(start, start + WIDTH).replace(/\t/g, ' '), at: column - 1 - start };
}

/* The lines around a place: [{ number, text, caret }]. */
function frameOf(text, line, column) {
  const lines = text.split('\n'), frame = [];
  for (let n = Math.max(1, line - AROUND); n <= Math.min(lines.length, line + 1); n++) {
    const { text: shown, at } = window(lines[n - 1].replace(/\r$/, ''), n === line ? column : 1);
    frame.push({ number: n, text: shown, caret: n === line ? Math.max(0, at) : undefined });
  }
  return frame;
}

const frameText = (frame) => frame.flatMap(({ number, text, caret }) => {
  const head = `${caret === undefined ? ' ' : '>'} ${String(number).padStart(5)} | `;
  return caret === undefined ? [head + text] : [head + text, `${' '.repeat(head.length - 2)}| ${' '.repeat(caret)}^`];
}).join('\n');

/* "argument `code` of the tool 'run' (index.js:12)" */
function fromText({ from }) {
  if (!from) return '';
  const what = from.field ? `argument \`${from.field}\`` : 'arguments';
  return `${what} of ${from.tool ? `the tool '${from.tool}'` : 'a tool'} (${from.file}:${from.line})`;
}

function complete(result, sources) {
  for (const finding of result.findings) {
    const text = sources.get(finding.file);
    Object.assign(finding, { title: byId.get(finding.rule).title, why: byId.get(finding.rule).why, instead: byId.get(finding.rule).instead });
    finding.frame = text === undefined ? [] : frameOf(text, finding.line, finding.column);
  }
  return result;
}

/* ---- for a terminal: [paint, text]; the paints are those of cmd_audit.c ------------- */

function textOf(r) {
  const out = [], told = new Set(), good = r.points >= 90, isFine = isAtLeast(r.grade, r.least);
  const say = (paint, text) => out.push([paint, text]);
  for (const f of r.findings) {
    say('bold', `${f.file}:${f.line}:${f.column}`);
    say('', '  ');
    say(f.points >= 20 ? 'red' : 'yellow', f.points > 0 ? `-${f.points}` : 'counted above');
    say('', `  ${f.title} `);
    say('dim', `[${f.rule}]\n`);
    say('', `${f.from ? `  ${fromText(f)}: ` : '  '}${f.detail}\n`);
    if (f.frame.length > 0) say('', `${frameText(f.frame).replace(/^/gm, '  ')}\n`);
    if (!told.has(f.rule)) {
      say('cyan', '  why: ');
      say('', `${f.why}\n`);
      say('cyan', '  instead: ');
      say('', `${f.instead}\n`);
    }
    told.add(f.rule);
    if (f.also) say('dim', `  also: ${f.also.join(', ')}\n`);
    say('', '\n');
  }
  for (const { path, why } of r.unread) {
    say('yellow', 'not covered: ');
    say('', `${path}: ${why}\n`);
  }
  if (r.leftOut > 0) say('dim', `left out: ${namesLeftOut(r)}\n`);
  if (r.tools === 0) {
    say('yellow', 'no tool was found: ');
    say('', 'give the folder or the package of an MCP server\n');
  }
  say(good ? 'green' : isFine ? 'yellow' : 'red', `${r.grade}`);
  say('', `  ${r.points} of 100 points: ${MEANINGS[r.grade]}\n`);
  say('dim', `   ${count(r.findings.length, 'finding')}, ${count(r.tools, 'handler')} of tools in ${count(r.files, 'file')}\n`);
  return out;
}

const isAtLeast = (grade, least) => grade <= least;

const namesLeftOut = ({ leftOut: n, leftNames: names }) => (n > names.split(', ').length ? `${names} and ${n - names.split(', ').length} more` : names);

/* ---- for programs --------------------------------------------------------------------- */

function jsonOf(r) {
  return JSON.stringify({
    grade: r.grade, points: r.points, ok: isAtLeast(r.grade, r.least), project: r.project?.name ?? null, place: r.place,
    files: r.files, tools: r.tools,
    findings: r.findings.map((f) => ({ rule: f.rule, points: f.points, file: f.file, line: f.line, column: f.column, title: f.title,
      detail: f.detail, from: f.from ?? null, also: f.also ?? [], frame: frameText(f.frame), why: f.why, instead: f.instead })),
    unread: r.unread, leftOut: r.leftOut,
  }, null, 2);
}

const place = (file, line, column) => ({ physicalLocation: {
  artifactLocation: { uri: encodeURI(file), uriBaseId: '%SRCROOT%' }, region: { startLine: Math.max(1, line), startColumn: Math.max(1, column) } } });

function sarifOf(r) {
  return JSON.stringify({
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0',
    runs: [{
      tool: { driver: { name: 'glovebox audit', semanticVersion: r.version, rules: rules.map((rule) => ({
        id: rule.id, shortDescription: { text: rule.title }, fullDescription: { text: rule.why }, help: { text: rule.instead },
        defaultConfiguration: { level: levelOf(rule.points) }, properties: { 'security-severity': String(Math.min(9.8, rule.points / 2.6)) } })) } },
      results: r.findings.map((f) => ({
        ruleId: f.rule, ruleIndex: rules.findIndex(({ id }) => id === f.rule), level: levelOf(byId.get(f.rule).points),
        message: { text: `${f.title}: ${[fromText(f), f.detail].filter(Boolean).join(': ')}. ${f.instead}` },
        locations: [place(f.file, f.line, f.column)],
        ...(f.from ? { relatedLocations: [{ ...place(f.from.file, f.from.line, 1), message: { text: 'the tool' } }] } : {}),
      })),
      invocations: [{ executionSuccessful: true, toolExecutionNotifications: r.unread.map(({ path, why }) => (
        { level: 'warning', message: { text: `not covered: ${path}: ${why}` } })) }],
      properties: { grade: r.grade, points: r.points },
    }],
  }, null, 2);
}

const levelOf = (points) => (points >= 20 ? 'error' : points >= 10 ? 'warning' : 'note');

export function reportAs(result, sources) {
  const r = complete(result, sources);
  return { isFine: isAtLeast(r.grade, r.least), text: textOf(r), json: jsonOf(r), sarif: sarifOf(r), html: htmlOf({ ...r, leftNames: namesLeftOut(r) }) };
}

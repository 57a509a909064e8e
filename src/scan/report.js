// SPDX-License-Identifier: MIT
/* report - formats the result of an audit as text, JSON, SARIF 2.1.0 and HTML. All of them show
 * the findings that complete() makes. */
import { MEANINGS, ruleOf } from './judge.js';
import { count, htmlOf } from './report_html.js';
import rules from './rules.json';

const WIDTH = 100, AROUND = 2;

/* The lines around a place, as "> 12 | code", with a caret below the column. */
function frameOf(text, line, column) {
  const lines = text?.split('\n') ?? [], frame = [];
  for (let n = Math.max(1, line - AROUND); n <= Math.min(lines.length, line + 1); n++) {
    const head = `${n === line ? '>' : ' '} ${String(n).padStart(5)} | `, whole = lines[n - 1].replace(/\r$/, '');
    /* The columns around the place: bundles have lines of a megabyte. */
    const at = n === line ? column - 1 : 0, start = Math.max(0, Math.min(at - WIDTH / 3, whole.length - WIDTH)) | 0;
    frame.push(head + whole.slice(start, start + WIDTH).replace(/\t/g, ' '));
    if (n === line) frame.push(`${' '.repeat(head.length - 2)}| ${' '.repeat(Math.max(0, at - start))}^`);
  }
  return frame.join('\n');
}

/* "argument `code` of the tool 'run' (index.js:12): reaches eval" */
function wayOf({ from, detail }) {
  if (!from) return detail;
  const what = from.field ? `argument \`${from.field}\`` : 'arguments';
  return `${what} of ${from.tool ? `the tool '${from.tool}'` : 'a tool'} (${from.file}:${from.line}): ${detail}`;
}

/* A finding with all that is shown, its members in the order of --json. */
function complete(f, sources) {
  const { rule, points, file, line, column, detail, from = null, also = [] } = f, { title, why, instead } = ruleOf(f);
  return { rule, points, file, line, column, title, detail, from, also, frame: frameOf(sources.get(file), line, column), why, instead };
}

/* ---- for a terminal: [paint, text] ----------------------------------------------------- */

/* In the order of gbx_paint in cli.h. */
const PAINTS = ['', 'bold', 'dim', 'red', 'green', 'yellow', 'cyan'];

function textOf(r) {
  const out = [], told = new Set();
  /* A text in a colour, and the rest of the line without. */
  const say = (paint, text, rest = '') => out.push({ paint: PAINTS.indexOf(paint), text }, { paint: 0, text: rest });
  for (const f of r.findings) {
    say('bold', `${f.file}:${f.line}:${f.column}`, '  ');
    say(f.points >= 20 ? 'red' : 'yellow', f.points > 0 ? `-${f.points}` : 'counted above', `  ${f.title} `);
    say('dim', `[${f.rule}]\n`, `  ${wayOf(f)}\n`);
    if (f.frame !== '') say('', `${f.frame.replace(/^/gm, '  ')}\n`);
    if (!told.has(f.rule)) {
      say('cyan', '  why: ', `${f.why}\n`);
      say('cyan', '  instead: ', `${f.instead}\n`);
    }
    told.add(f.rule);
    if (f.also.length > 0) say('dim', `  also: ${f.also.join(', ')}\n`);
    say('', '\n');
  }
  for (const { path, why } of r.unread) say('yellow', 'not covered: ', `${path}: ${why}\n`);
  if (r.leftOut > 0) say('dim', `left out: ${r.leftNames}\n`);
  if (r.tools === 0) say('yellow', 'no tool was found: ', 'give the folder or the package of an MCP server\n');
  say(r.points >= 90 ? 'green' : r.isFine ? 'yellow' : 'red', r.grade, `  ${r.points} of 100 points: ${MEANINGS[r.grade]}\n`);
  say('dim', `   ${count(r.findings.length, 'finding')}, ${count(r.tools, 'handler')} of tools in ${count(r.files, 'file')}\n`);
  return out;
}

/* ---- for programs --------------------------------------------------------------------- */

function jsonOf({ grade, points, isFine: ok, project, place, files, tools, findings, unread, leftOut }) {
  return JSON.stringify({ grade, points, ok, project: project?.name ?? null, place, files, tools, findings, unread, leftOut }, null, 2);
}

const place = (file, line, column) => ({ physicalLocation: {
  artifactLocation: { uri: encodeURI(file), uriBaseId: '%SRCROOT%' }, region: { startLine: Math.max(1, line), startColumn: Math.max(1, column) } } });

function sarifOf(r) {
  return JSON.stringify({
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0',
    runs: [{
      tool: { driver: { name: 'glovebox audit', semanticVersion: r.version, rules: rules.map((rule) => ({
        id: rule.id, shortDescription: { text: rule.title }, fullDescription: { text: rule.why }, help: { text: rule.instead },
        defaultConfiguration: { level: levelOf(rule) }, properties: { 'security-severity': String(Math.min(9.8, rule.points / 2.6)) } })) } },
      results: r.findings.map((f) => ({
        ruleId: f.rule, ruleIndex: rules.indexOf(ruleOf(f)), level: levelOf(ruleOf(f)),
        message: { text: `${f.title}: ${wayOf(f)}. ${f.instead}` },
        locations: [place(f.file, f.line, f.column)],
        ...(f.from ? { relatedLocations: [{ ...place(f.from.file, f.from.line, 1), message: { text: 'the tool' } }] } : {}),
      })),
      invocations: [{ executionSuccessful: true, toolExecutionNotifications: r.unread.map(({ path, why }) => (
        { level: 'warning', message: { text: `not covered: ${path}: ${why}` } })) }],
      properties: { grade: r.grade, points: r.points },
    }],
  }, null, 2);
}

const levelOf = ({ points }) => (points >= 20 ? 'error' : points >= 10 ? 'warning' : 'note');

export function reportAs(result, sources) {
  const named = result.leftNames.split(', ').length, more = result.leftOut > named ? ` and ${result.leftOut - named} more` : '';
  const r = { ...result, isFine: result.grade <= result.least, leftNames: result.leftNames + more, findings: result.findings.map((f) => complete(f, sources)) };
  return { isFine: r.isFine, text: textOf(r), json: jsonOf(r), sarif: sarifOf(r), html: htmlOf({ ...r, findings: r.findings.map((f) => ({ ...f, way: wayOf(f) })) }) };
}

// SPDX-License-Identifier: MIT
/* report_html - an audit as one page without scripts and external resources. */
import { MEANINGS } from './judge.js';
import rules from './rules.json';

export const count = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
/* Invisible characters could make code look like other code. */
const text = (value) => String(value).replace(/[&<>"']/g, (c) => ESCAPES[c])
  .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, (c) => `<i>\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}</i>`);
const words = (value) => text(value).replace(/`([^`]+)`/g, '<code>$1</code>');

const STYLE = `
:root{--ink:#1c2330;--dim:#667085;--line:#e3e7ee;--paper:#fff;--ground:#f4f6f9;--code:#f7f8fb;--red:#c8322b;--amber:#b26a00;--green:#1a7f4b;--blue:#2457c5}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ef;--dim:#98a2b3;--line:#2c3442;--paper:#171c26;--ground:#0f131a;--code:#10151d;--red:#ff7a70;--amber:#f0b04f;--green:#5fd39a;--blue:#8ab4ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif}
main{max-width:60rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}
h1{font-size:1.5rem;margin:0 0 .25rem}h2{font-size:1.15rem;margin:2.5rem 0 1rem}p{margin:.4rem 0}
.dim{color:var(--dim)}.card{background:var(--paper);border:1px solid var(--line);border-radius:12px;padding:1.25rem 1.5rem;margin:0 0 1rem}
.head{display:flex;gap:1.75rem;align-items:center}
.grade{flex:none;width:6rem;height:6rem;border-radius:50%;display:grid;place-items:center;font-size:3.25rem;font-weight:700;color:#fff;line-height:1}
.A,.B{background:#1a7f4b}.C{background:#b26a00}.D{background:#cc5a1a}.F{background:#c8322b}
.bar{display:flex;height:.6rem;border-radius:.3rem;overflow:hidden;background:var(--line);margin:.75rem 0 .25rem;max-width:26rem}
.bar b{background:currentColor}
.points{float:right;font-weight:700;margin-left:1rem;white-space:nowrap}.high{color:var(--red)}.mid{color:var(--amber)}.low{color:var(--dim)}
h3{font-size:1.05rem;margin:0 0 .35rem}
pre{background:var(--code);border:1px solid var(--line);border-radius:8px;padding:.75rem 0;overflow-x:auto;margin:.8rem 0;font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace}
pre span{display:block;padding:0 1rem;white-space:pre}pre .hit{background:color-mix(in srgb,var(--red) 13%,transparent);box-shadow:inset 3px 0 var(--red)}
pre u{text-decoration:none;color:var(--dim);display:inline-block;width:3.5em;user-select:none}pre mark{background:none;color:var(--red);font-weight:700}
code{font:.88em ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace;background:var(--code);border:1px solid var(--line);border-radius:4px;padding:.05em .3em;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:5.5rem 1fr;gap:.35rem 1rem;margin:.6rem 0 0}dt{color:var(--dim)}dd{margin:0}
table{border-collapse:collapse;width:100%;font-size:.92rem}td,th{text-align:left;padding:.45rem .5rem;border-top:1px solid var(--line);vertical-align:top}th{color:var(--dim);font-weight:500;border-top:0}
td:last-child,th:last-child{text-align:right;white-space:nowrap}a{color:var(--blue);text-decoration:none}a:hover{text-decoration:underline}
.path{font:.9em ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
@media (max-width:40rem){.head{gap:1rem}.grade{width:4.5rem;height:4.5rem;font-size:2.4rem}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}}
@media print{body{background:#fff}.card{break-inside:avoid}}`;

const severity = (points) => (points >= 20 ? 'high' : points >= 10 ? 'mid' : 'low');
const pointsText = (f) => (f.points > 0 ? `&minus;${f.points}` : 'counted above');
const ruleOf = (id) => rules.find((rule) => rule.id === id);

function frame(lines) {
  if (lines.length === 0) return '';
  return `<pre>${lines.map(({ number, text: line, caret }) => (caret === undefined ? `<span><u>${number}</u>${text(line)}</span>`
    : `<span class="hit"><u>${number}</u>${text(line.slice(0, caret))}<mark>${text(wordAt(line, caret))}</mark>${text(line.slice(caret + wordAt(line, caret).length))}</span>`)).join('')}</pre>`;
}

const wordAt = (line, at) => /^([\w$.]+|.?)/.exec(line.slice(at))[0];

function origin(f) {
  if (!f.from) return text(f.detail);
  const what = f.from.field ? `<code>${text(f.from.field)}</code>` : 'an argument';
  const tool = f.from.tool ? `the tool <code>${text(f.from.tool)}</code>` : 'a tool';
  return `${what} of ${tool} (<span class="path">${text(f.from.file)}:${f.from.line}</span>) &rarr; ${words(f.detail)}`;
}

function finding(f, i) {
  return `<article class="card" id="f${i + 1}"><span class="points ${severity(ruleOf(f.rule).points)}">${pointsText(f)}</span>
<h3>${i + 1}. ${words(f.title[0].toUpperCase() + f.title.slice(1))}</h3>
<p class="path">${text(f.file)}:${f.line}:${f.column}</p>${frame(f.frame)}
<dl><dt>The way</dt><dd>${origin(f)}</dd><dt>Why</dt><dd>${words(f.why)}</dd><dt>Instead</dt><dd>${words(f.instead)}</dd>${
  f.also ? `<dt>Also in</dt><dd class="path">${f.also.map(text).join('<br>')}</dd>` : ''}</dl></article>`;
}

function table(r) {
  return `<table><tr><th>Rule</th><th>Found</th><th>Points</th></tr>${rules.map((rule) => {
    const found = r.findings.filter((f) => f.rule === rule.id);
    const places = found.map((f) => `<a href="#f${r.findings.indexOf(f) + 1}">${r.findings.indexOf(f) + 1}</a>`).join(', ');
    return `<tr${found.length === 0 ? ' class="dim"' : ''}><td>${words(rule.title)} <span class="dim">${rule.id}</span></td><td>${places || 'no'}</td><td>&minus;${rule.points}${rule.count === 'each' ? ' each' : ''}</td></tr>`;
  }).join('')}</table>`;
}

function unread(r) {
  const rows = r.unread.map(({ path, why }) => `<tr><td class="path">${text(path)}</td><td>${text(why)}</td></tr>`).join('');
  const left = r.leftOut > 0 ? `<p class="dim">Left out by their names: ${text(r.leftNames)}.</p>` : '';
  return rows || left ? `<h2>What is not covered</h2><div class="card">${rows && `<p>The grade does not cover these, or not all of them.</p><table><tr><th>Path</th><th>Reason</th></tr>${rows}</table>`}${left}</div>` : '';
}

export function htmlOf(r) {
  const name = r.project?.name ? `${r.project.name}${r.project.version ? ` ${r.project.version}` : ''}` : r.place;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><title>${text(r.grade)}: ${text(name)} - glovebox audit</title><style>${STYLE}</style>
<main><section class="card head"><div class="grade ${r.grade}">${r.grade}</div><div><h1>${text(name)}</h1>
<p>${r.points} of 100 points: ${text(MEANINGS[r.grade])}.</p><div class="bar ${r.points >= 90 ? '' : 'mid'}" style="color:${r.points >= 90 ? 'var(--green)' : r.points >= 80 ? 'var(--amber)' : 'var(--red)'}"><b style="width:${r.points}%"></b></div>
<p class="dim">${count(r.findings.length, 'finding')} in ${count(r.files, 'file')} with ${count(r.tools, 'handler')} of tools. Grades: A from 95, B from 90, C from 80, D from 60 points.</p></div></section>
${r.findings.length > 0 ? `<h2>Findings</h2>${r.findings.map(finding).join('\n')}` : `<section class="card"><p>No argument of a tool reaches code, a shell or a weak sandbox, as far as values can be followed in these files.</p></section>`}
${unread(r)}<h2>All rules</h2><div class="card">${table(r)}</div>
<p class="dim">A finding is a flow of values, from the arguments of a tool to the place shown. Comments, types, tests and code that nothing reaches are none. Made by glovebox audit ${text(r.version)}.</p></main></html>
`;
}

// SPDX-License-Identifier: MIT
/* report_html - an audit as one page without scripts and external resources, in the browser's own
 * light or dark colours. */
import { MEANINGS, ruleOf } from './judge.js';
import rules from './rules.json';

export const count = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
/* Invisible characters could make code look like other code. */
const text = (value) => String(value).replace(/[&<>"']/g, (c) => ESCAPES[c])
  .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, (c) => `<i>\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}</i>`);
const words = (value) => text(value).replace(/`([^`]+)`/g, '<code>$1</code>');

const STYLE = `
:root{color-scheme:light dark;--line:color-mix(in srgb,CanvasText 15%,Canvas);--dim:color-mix(in srgb,CanvasText 62%,Canvas);--red:light-dark(#c8322b,#ff7a70);--amber:light-dark(#b26a00,#f0b04f)}
body{font:16px/1.55 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}
h1{font-size:1.5rem;margin:0}h2{font-size:1.15rem;margin:2.5rem 0 1rem}h3{font-size:1.05rem;margin:0}p{margin:.4rem 0}
.dim{color:var(--dim)}.high{color:var(--red)}.mid{color:var(--amber)}
article,header,table{border:1px solid var(--line);border-radius:12px;padding:1.25rem 1.5rem;margin:0 0 1rem;width:100%;box-sizing:border-box;break-inside:avoid}
header{display:flex;gap:1.75rem;align-items:center}
.grade{flex:none;width:6rem;border-radius:50%;text-align:center;font:700 3.25rem/6rem system-ui,sans-serif;color:#fff}
.A,.B{background:#1a7f4b}.C{background:#b26a00}.D{background:#cc5a1a}.F{background:#c8322b}
.points{float:right;font-weight:700;margin-left:1rem}
pre,code,.path{font-family:ui-monospace,monospace;font-size:.88em;overflow-wrap:anywhere}pre{border:1px solid var(--line);padding:.75rem 1rem;overflow-x:auto}
mark{background:none;color:var(--red);font-weight:700}
dl{display:grid;grid-template-columns:5.5rem 1fr;gap:.35rem 1rem;margin:0}dt{color:var(--dim)}dd{margin:0}
td,th{text-align:left;padding:.45rem .5rem;vertical-align:top}`;

const severity = (points) => (points >= 20 ? 'high' : points >= 10 ? 'mid' : 'dim');

function finding(f, i) {
  const { points } = ruleOf(f), row = (name, what) => `<dt>${name}</dt><dd>${what}</dd>`;
  return `<article id="f${i + 1}"><span class="points ${severity(points)}">${f.points > 0 ? `&minus;${f.points}` : 'counted above'}</span>
<h3>${i + 1}. ${words(f.title[0].toUpperCase() + f.title.slice(1))}</h3><p class="path">${text(f.file)}:${f.line}:${f.column}</p>
${f.frame && `<pre>${text(f.frame).replace(/^&gt;.*/m, '<mark>$&</mark>')}</pre>`}
<dl>${row('The way', words(f.way))}${row('Why', words(f.why))}${row('Instead', words(f.instead))}${f.also.length > 0 ? row('Also in', f.also.map(text).join('<br>')) : ''}</dl></article>`;
}

const rowOf = (...cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;

function ruleRow(rule, findings) {
  const places = findings.map((f, i) => (f.rule === rule.id ? `<a href="#f${i + 1}">${i + 1}</a>` : '')).filter(Boolean).join(', ');
  return rowOf(`${words(rule.title)} <span class="dim">${rule.id}</span>`, places || 'no', `&minus;${rule.points}${rule.count === 'each' ? ' each' : ''}`);
}

export function htmlOf(r) {
  const name = text(r.project?.name ? `${r.project.name} ${r.project.version ?? ''}`.trim() : r.place);
  const left = r.leftOut > 0 ? `<p class="dim">Left out by their names: ${text(r.leftNames)}.</p>` : '';
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><title>${r.grade}: ${name} - glovebox audit</title><style>${STYLE}</style>
<main><header><div class="grade ${r.grade}">${r.grade}</div><div><h1>${name}</h1><p>${r.points} of 100 points: ${text(MEANINGS[r.grade])}.</p>
<p class="dim">${count(r.findings.length, 'finding')} in ${count(r.files, 'file')} with ${count(r.tools, 'handler')} of tools. Grades: A from 95, B from 90, C from 80, D from 60 points.</p></div></header>
${r.findings.length > 0 ? `<h2>Findings</h2>${r.findings.map(finding).join('\n')}` : '<p>No argument of a tool reaches code, a shell or a weak sandbox, as far as values can be followed in these files.</p>'}
${r.unread.length > 0 || left ? `<h2>What is not covered</h2>${left}` : ''}
${r.unread.length > 0 ? `<p>The grade does not cover these, or not all of them.</p><table>${r.unread.map(({ path, why }) => rowOf(`<span class="path">${text(path)}</span>`, text(why))).join('')}</table>` : ''}
<h2>All rules</h2><table><tr><th>Rule</th><th>Found</th><th>Points</th></tr>${rules.map((rule) => ruleRow(rule, r.findings)).join('')}</table>
<p class="dim">A finding is a flow of values, from the arguments of a tool to the place shown. Comments, types, tests and code that nothing reaches are none. Made by glovebox audit ${text(r.version)}.</p></main></html>
`;
}

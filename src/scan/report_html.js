// SPDX-License-Identifier: MIT
/* report_html - an audit as one page without scripts and external resources, in the browser's own
 * light or dark colours. */
import { MEANINGS, ruleOf } from './judge.js';
import style from './report.css';
import rules from './rules.json';

export const count = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
/* Invisible characters could make code look like other code. */
const text = (value) => String(value).replace(/[&<>"']/g, (c) => ESCAPES[c])
  .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, (c) => `<i>\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}</i>`);
const words = (value) => text(value).replace(/`([^`]+)`/g, '<code>$1</code>');

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
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><title>${r.grade}: ${name} - glovebox audit</title><style>${style}</style>
<main><header><div class="grade ${r.grade}">${r.grade}</div><div><h1>${name}</h1><p>${r.points} of 100 points: ${text(MEANINGS[r.grade])}.</p>
<p class="dim">${count(r.findings.length, 'finding')} in ${count(r.files, 'file')} with ${count(r.tools, 'handler')} of tools. Grades: A from 95, B from 90, C from 80, D from 60 points.</p></div></header>
${r.findings.length > 0 ? `<h2>Findings</h2>${r.findings.map(finding).join('\n')}` : '<p>No argument of a tool reaches code, a shell or a weak sandbox, as far as values can be followed in these files.</p>'}
${r.unread.length > 0 || left ? `<h2>What is not covered</h2>${left}` : ''}
${r.unread.length > 0 ? `<p>The grade does not cover these, or not all of them.</p><table>${r.unread.map(({ path, why }) => rowOf(`<span class="path">${text(path)}</span>`, text(why))).join('')}</table>` : ''}
<h2>All rules</h2><table><tr><th>Rule</th><th>Found</th><th>Points</th></tr>${rules.map((rule) => ruleRow(rule, r.findings)).join('')}</table>
<p class="dim">A finding is a flow of values, from the arguments of a tool to the place shown. Comments, types, tests and code that nothing reaches are none. Made by glovebox audit ${text(r.version)}.</p></main></html>
`;
}

// SPDX-License-Identifier: MIT
// console_page - the views of the page. Whatever it shows may be hostile: it is put in as text,
// never as markup, and the page's policy lets no other script run and no request leave.
'use strict';

const $ = (id) => document.getElementById(id);

const SEEN_MOST = 200000; // characters of one text

/** Text with escapes for what nobody sees, and what reorders text. What people decide about is
    never as long as to be cut. */
function seen(text) {
  const all = String(text ?? '');
  const rest = all.length - SEEN_MOST;
  return all.slice(0, SEEN_MOST).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (c) => c === '\n' || c === '\t' ? c : `\\u{${c.codePointAt(0).toString(16)}}`)
    + (rest > 0 ? `\n[and ${rest} characters more]` : '');
}

const put = (node, text) => { node.textContent = seen(text); };

/** An element with attributes; children are elements or text. */
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) node.setAttribute(name, value === true ? '' : value);
  node.append(...children.map((child) => child instanceof Node ? child : seen(child)));
  return node;
}

const ms = (n) => n === undefined ? '' : n < 1000 ? `${Math.round(n * 10) / 10} ms` : `${(n / 1000).toFixed(1)} s`;
const bytes = (n) => n === undefined ? '' : n < 1000 ? `${n} B` : n < 1e6 ? `${(n / 1e3).toFixed(1)} kB` : `${(n / 1e6).toFixed(1)} MB`;
const time = (text) => (text ?? '').slice(11, 23);

async function post(file, body, signal) {
  const response = await fetch(file, { method: 'POST', signal, body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' } });
  const text = await response.text();
  const json = text === '' ? {} : JSON.parse(text);
  if (!response.ok) throw new Error(json.error?.message ?? json.error ?? `status ${response.status}`);
  return json;
}

// ---- views -------------------------------------------------------------------------

const views = ['questions', 'calls', 'log', 'servers', 'playground', 'recording'];
const current = () => views.includes(location.hash.slice(1)) ? location.hash.slice(1) : 'questions';
const draw = {}; // by view; called at most four times a second, and only for the view that is shown
const stale = new Set();
let timer;

function flush() {
  timer = undefined;
  if (stale.delete(current())) draw[current()]?.();
}

function touch(view) {
  stale.add(view);
  if (view === current()) timer ??= setTimeout(() => requestAnimationFrame(flush), 250);
}

function show(moveFocus) {
  for (const view of views) {
    $(view).hidden = view !== current();
    const link = document.querySelector(`nav a[href="#${view}"]`);
    if (view === current()) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  if (moveFocus) $(`h-${current()}`).focus();
  flush();
}
addEventListener('hashchange', () => show(true));

// ---- questions ------------------------------------------------------------------------

const cards = new Map(); // by number
let moved = -Infinity; // when cards last moved up

/** The second click of two on a card that has just gone is not for the next one. */
$('cards').addEventListener('click', (event) => {
  if (event.detail === 0 || performance.now() - moved > 500) return; // 0: by keyboard
  event.preventDefault();
  event.stopPropagation();
}, true);

function countQuestions() {
  $('count').hidden = cards.size === 0;
  put($('count'), cards.size);
  $('no-questions').hidden = cards.size > 0;
  document.title = cards.size > 0 ? `(${cards.size}) Glovebox` : 'Glovebox';
}

async function answer(question, card, action, content) {
  const state = card.querySelector('.state');
  put(state, 'sending');
  try {
    await post('answer', { number: question.number, action, content });
    put(state, 'answered');
  } catch (error) {
    put(state, String(error.message));
  }
}

/** The lines of the script, numbered, with the one that makes the call. */
function codeOf({ code, line }) {
  const lines = code.split('\n');
  const width = String(lines.length).length;
  return el('pre', { class: 'code', tabindex: 0, 'aria-label': 'Code' }, ...lines.map((text, at) => {
    const numbered = `${String(at + 1).padStart(width)}  ${text}\n`;
    return at + 1 === line ? el('mark', {}, numbered) : numbered;
  }));
}

/** A button for each answer, where the form is one choice: so it is for calls. */
function choicesOf(question, card, [name, { enum: values, enumNames }]) {
  return values.map((value, at) => {
    const button = el('button', { type: 'button' }, enumNames?.[at] ?? value);
    button.addEventListener('click', () => answer(question, card, 'accept', { [name]: value }));
    return button;
  });
}

const list = (value) => Array.isArray(value) ? value : [];

/** The choices of a field, which has them in one of several ways: values and titles. */
function optionsOf({ items, ...field }) {
  const { enum: values, enumNames, oneOf, anyOf } = items ?? field;
  return [...list(values).map((value, at) => [value, enumNames?.[at] ?? value]),
    ...[...list(oneOf), ...list(anyOf)].map((one) => [one?.const, one?.title ?? one?.const])];
}

/** An input has no name: a form has those of its inputs as properties, in place of its own. */
function inputOf(field) {
  const options = optionsOf(field).map(([value, title]) => el('option', { value }, title));
  const isMany = field.type === 'array';
  if (options.length > 0) return el('select', { multiple: isMany }, ...isMany ? [] : [el('option', { value: '' })], ...options);
  return el('input', { type: { boolean: 'checkbox', number: 'number', integer: 'number' }[field.type] ?? 'text', step: 'any' });
}

function fieldOf([name, field], input) {
  return el('p', {}, el('label', {}, `${field.title ?? name} `, input), el('span', { class: 'dim' }, ` ${field.description ?? ''}`));
}

/** What is filled in, of the types that the form names. */
function contentOf(fields, inputs) {
  const values = fields.map(([name, { type }], at) => {
    const { value, checked, selectedOptions } = inputs[at];
    if (type === 'boolean') return [name, checked];
    if (type === 'array') return [name, [...selectedOptions].map((option) => option.value)];
    return [name, value !== '' && (type === 'number' || type === 'integer') ? Number(value) : value];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== ''));
}

/** A form of another server. */
function formOf(question, card, fields) {
  const inputs = fields.map(([, field]) => inputOf(field));
  const form = el('form', {}, ...fields.map((field, at) => fieldOf(field, inputs[at])));
  const button = (action, text) => {
    const one = el('button', { type: action === 'accept' ? 'submit' : 'button' }, text);
    if (action !== 'accept') one.addEventListener('click', () => answer(question, card, action));
    return one;
  };
  form.append(el('p', { class: 'answers' }, button('decline', 'Decline'), button('accept', 'Send'), button('cancel', 'Dismiss')));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    answer(question, card, 'accept', contentOf(fields, inputs));
  });
  return form;
}

function addQuestion(question) {
  const { number, server, tool, line, message, requestedSchema, code } = question;
  const title = tool === undefined ? 'A server asks' : `${server}.${tool}`;
  const fields = Object.entries(requestedSchema?.properties ?? {});
  const card = el('article', { 'aria-labelledby': `q-${number}` },
    el('h3', { id: `q-${number}` }, title, line === undefined ? '' : `, line ${line}`),
    el('div', { class: 'pair' }, el('pre', { tabindex: 0, 'aria-label': 'Question' }, message),
      code === undefined ? '' : codeOf(question)));
  if (fields.length === 1 && tool !== undefined)
    card.append(el('p', { class: 'answers', role: 'group', 'aria-label': 'Answers' }, ...choicesOf(question, card, fields[0])));
  else
    card.append(formOf(question, card, fields));
  card.append(el('p', { class: 'state dim', role: 'status' }));
  cards.set(number, card);
  $('cards').append(card);
  put($('news'), `New question: ${title}`);
  countQuestions();
  const pre = card.querySelector('.code');
  if (line !== undefined && pre) pre.scrollTop = pre.querySelector('mark').offsetTop - pre.clientHeight / 2;
}

function closeQuestion(number) {
  const card = cards.get(number);
  if (card?.contains(document.activeElement)) $('h-questions').focus();
  card?.remove();
  cards.delete(number);
  moved = performance.now();
  countQuestions();
}

// ---- calls and the log --------------------------------------------------------------------

const MOST = 10000; // as the server keeps
const PAGE = 200;
let events = [];
let runs = new Map(); // by call, oldest first: the calls of one script
let listed = PAGE;
let still; // the lines that are shown while none is followed

function runOf(id) {
  let run = runs.get(id);
  if (run === undefined) runs.set(id, run = { id, calls: [], count: 0 });
  run.isStale = true;
  return run;
}

function addCall(id, call) {
  const run = runOf(id);
  run.count++;
  run.calls.push(call);
  if (run.calls.length > PAGE) run.calls.shift();
}

function addEvent(event, number) {
  if (event.event === 'servers') {
    members.set(event.process, event.servers);
    touch('servers');
    return;
  }
  events.push(event);
  if (events.length > MOST + PAGE) {
    events = events.slice(-MOST);
    while (runs.size > MOST / 10) runs.delete(runs.keys().next().value);
  }
  if (event.event === 'call.started') runOf(event.callId).start = event;
  if (event.event === 'call.ended') runOf(event.callId).end = event;
  if (event.event === 'mcp.call') addCall(event.run ?? `direct ${number}`, event);
  if (event.target !== undefined) addCall(event.callId, event); // fetch, files
  touch('calls');
  touch('log');
}

const outcome = (isGood, text) => el('b', { class: isGood ? 'good' : 'bad' }, text);

function nested(call) {
  const name = call.event === 'mcp.call' ? `${call.server}.${call.tool}` : `${call.function} ${call.target ?? ''}`;
  const isGood = call.ok ?? call.outcome === 'ok';
  const parts = [call.line && `line ${call.line}`, ms(call.durationMs), `${bytes(call.bytesOut)} out`, `${bytes(call.bytesIn)} in`,
    call.decision && `${call.decision}${call.rule ? ` by rule ${call.rule}` : ''}`, call.answer && `person: ${call.answer}`];
  return el('li', {}, outcome(isGood, isGood ? 'ok' : call.code ?? call.outcome), ` ${name} `,
    el('span', { class: 'dim' }, parts.filter(Boolean).join(' · ')));
}

function drawRun(run) {
  const { start, end, calls, count } = run;
  const name = start ? `${start.form} ${run.id}` : run.id.startsWith('direct ') ? 'call' : run.id;
  const parts = [time((start ?? calls[0])?.time), end && ms(end.wallMs), end && `${ms(end.cpuMs)} computing`,
    end && bytes(end.peakMemoryBytes), `${count} ${count === 1 ? 'call' : 'calls'}`];
  const code = end?.code ?? end?.status;
  const state = end ? outcome(code === 'OK', code) : el('b', {}, start ? 'running' : 'direct');
  run.node ??= el('li', {}, el('details', {}, el('summary'), el('ul')));
  run.node.querySelector('summary').replaceChildren(state, ` ${name} `,
    el('span', { class: 'dim' }, parts.filter(Boolean).join(' · ')));
  run.node.querySelector('ul').replaceChildren(...calls.map(nested));
  run.isStale = false;
}

draw.calls = () => {
  const newest = [...runs.values()].slice(-PAGE / 2).reverse();
  for (const run of newest)
    if (run.isStale) drawRun(run);
  const tree = $('tree');
  newest.forEach(({ node }, at) => {
    if (tree.children[at] !== node) tree.insertBefore(node, tree.children[at] ?? null);
  });
  while (tree.children.length > newest.length) tree.lastChild.remove();
  $('no-calls').hidden = newest.length > 0;
};

const HEAD = ['time', 'seq', 'event', 'callId', 'run'];

function lineOf(event) {
  event.words ??= Object.entries(event).filter(([name]) => !HEAD.includes(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`).join(' ');
  return `${event.event} ${event.callId ?? event.run ?? ''} ${event.words}`;
}

draw.log = () => {
  const wanted = $('filter').value.toLowerCase();
  const found = [];
  still = $('follow').checked ? undefined : still ?? events.slice();
  const lines = still ?? events;
  for (let at = lines.length - 1; at >= 0 && found.length <= listed; at--)
    if (wanted === '' || lineOf(lines[at]).toLowerCase().includes(wanted)) found.push(lines[at]);
  $('older').hidden = found.length <= listed;
  put($('shown'), `${Math.min(found.length, listed)} of ${lines.length} lines, newest first`);
  $('lines').replaceChildren(...found.slice(0, listed).map((event) => {
    lineOf(event);
    return el('tr', {}, el('td', {}, time(event.time)), el('td', {}, event.event), el('td', {}, event.callId ?? event.run ?? ''),
      el('td', {}, event.words));
  }));
};
$('filter').addEventListener('input', () => touch('log'));
$('follow').addEventListener('change', () => touch('log'));
$('older').addEventListener('click', () => {
  listed += PAGE;
  touch('log');
});

// ---- servers ------------------------------------------------------------------------------

const members = new Map(); // by process: its servers

draw.servers = () => {
  const tables = [...members].filter(([, servers]) => servers.length > 0).map(([member, servers]) => el('div', { class: 'wide' }, el('table', {},
    el('caption', {}, `Server process ${member}`),
    el('thead', {}, el('tr', {}, ...['Name', 'State', 'Protocol', 'Program', 'Tools', 'Start', 'Fault']
      .map((title) => el('th', { scope: 'col' }, title)))),
    el('tbody', {}, ...servers.map((server) => el('tr', {}, el('th', { scope: 'row' }, server.name),
      el('td', {}, outcome(server.state !== 'broken', server.state)), el('td', {}, server.protocol ?? ''),
      el('td', {}, `${server.serverName ?? ''} ${server.version ?? ''}`), el('td', {}, String(server.tools ?? '')),
      el('td', {}, ms(server.startMs)), el('td', {}, server.fault)))))));
  $('members').replaceChildren(...tables);
  $('no-servers').hidden = tables.length > 0;
};

// ---- the playground -------------------------------------------------------------------------

const META = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
let running;

/** The text of a result, and all of it. */
function putResult(reply) {
  const result = reply.result ?? {};
  const texts = (result.content ?? []).map((block) => block.text ?? `[${block.type}]`);
  put($('outcome'), reply.error ? `error ${reply.error.code}` : result.isError ? 'the tool has failed' : 'done');
  put($('output'), [...texts, '', JSON.stringify(reply.error ?? result, null, 2)].join('\n'));
  $('output').hidden = false;
}

$('try').addEventListener('submit', async (event) => {
  event.preventDefault();
  if (running) return;
  running = new AbortController();
  $('stop').disabled = false;
  $('output').hidden = true;
  put($('outcome'), 'running');
  try {
    const args = { ...JSON.parse($('more').value || '{}'), code: $('code').value };
    putResult(await post('mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call',
      params: { name: $('tool').value, arguments: args, _meta: META } }, running.signal));
  } catch (error) {
    put($('outcome'), error.name === 'AbortError' ? 'stopped' : String(error.message));
  }
  running = undefined;
  $('stop').disabled = true;
});
$('stop').addEventListener('click', () => running?.abort());

// ---- a recording ------------------------------------------------------------------------------

let steps = [];

const nameOf = ({ what, id, name, failed, code, ms: wait }) =>
  [what, id !== undefined && `${id}`, name, failed && 'failed', what === 'end' && code, what === 'wait' && `${wait} ms`].filter(Boolean).join(' ');

function go(to) {
  const at = Math.max(0, Math.min(steps.length - 1, to));
  const step = steps[at];
  const asked = step.what === 'answer' ? steps.find(({ what, id }) => what === 'request' && id === step.id) : undefined;
  $('step').value = at;
  put($('where'), `${at + 1} of ${steps.length}: ${nameOf(step)}`);
  put($('now'), (asked ? `answer to ${asked.name} ${asked.args}\n\n` : '') + JSON.stringify(step, null, 2));
  $('back').disabled = at === 0;
  $('next').disabled = at === steps.length - 1;
  [...$('steps').children].forEach((item, other) => {
    if (other === at) item.setAttribute('aria-current', 'step');
    else item.removeAttribute('aria-current');
  });
  $('steps').children[at].scrollIntoView({ block: 'nearest' });
}

function openRecording(text) {
  const lines = text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  if (lines[0]?.what !== 'recording') throw new Error('this is not a recording');
  const code = lines.find(({ what }) => what === 'call')?.code;
  steps = lines.filter(({ what }) => ['request', 'cancel', 'wait', 'answer', 'wake', 'end'].includes(what));
  if (steps.length === 0) throw new Error('the recording has no step');
  put($('recorded'), typeof code === 'string' ? code : JSON.stringify(code));
  $('step').max = steps.length - 1;
  $('steps').replaceChildren(...steps.map((step, at) => {
    const button = el('button', { type: 'button' }, nameOf(step));
    button.addEventListener('click', () => go(at));
    return el('li', {}, button, el('span', { class: 'dim' }, ` ${ms(step.atMs)}`));
  }));
  $('player').hidden = false;
  go(0);
}

$('file').addEventListener('change', async ({ target }) => {
  put($('bad'), '');
  $('player').hidden = true;
  try {
    if (target.files.length > 0) openRecording(await target.files[0].text());
  } catch (error) {
    put($('bad'), String(error.message));
  }
});
$('step').addEventListener('input', ({ target }) => go(Number(target.value)));
$('back').addEventListener('click', () => go(Number($('step').value) - 1));
$('next').addEventListener('click', () => go(Number($('step').value) + 1));

// ---- what the server sends -----------------------------------------------------------------------

function listen() {
  const source = new EventSource('events');
  const on = (name, take) => source.addEventListener(name, ({ data, lastEventId }) => take(JSON.parse(data), lastEventId));
  on('hello', (isResumed) => {
    put($('link'), 'connected');
    for (const number of [...cards.keys()]) closeQuestion(number);
    if (isResumed) return;
    events = [];
    runs = new Map();
    members.clear();
    views.forEach(touch);
  });
  on('question', addQuestion);
  on('closed', closeQuestion);
  on('missed', (lines) => addEvent({ event: 'missed', lines }));
  on('message', addEvent);
  source.addEventListener('error', () => {
    put($('link'), source.readyState === EventSource.CLOSED ? 'closed: open the page by a new token' : 'the server does not answer');
  });
}

show(false);
listen();

// SPDX-License-Identifier: MIT
// asking-upstream: a server of either era (legacy, modern) whose tools ask a person. What came
// back is their result.
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';

const isModern = process.argv[2] === 'modern';
const lineOf = (message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const write = (...messages) => process.stdout.write(messages.map(lineOf).join(''));
const form = (message, requestedSchema = { type: 'object', properties: { name: { type: 'string', default: 'Ada' } } }) => ({ message, requestedSchema });
let declared, asked = 0, returned = 0;

/** A tool gives the rounds of its questions: each round is asked at once, after the one before. */
const tools = {
  form: ({ message = 'name?', schema }) => [[form(message, schema)]],
  url: ({ url }) => [[{ mode: 'url', message: 'look here', url, elicitationId: 'page-1' }]],
  twice: () => [[form('first?')], [form('second?')]],
  both: () => [[form('left?'), form('right?')]],
  many: ({ count }) => [Array.from({ length: count }, (_, i) => form(`number ${i}?`))],
  endless: () => Array.from({ length: 40 }, (_, i) => [form(`round ${i}?`)]),
  odd: ({ params }) => [[params]],
  gone: () => [[form('still there?')], 'exit'],
  capabilities: () => [],
  slow: () => [],
  withdraws: () => [],
  returns: () => [],
  state: () => [],
  nags: () => Array.from({ length: 4 }, () => [form('again?')]),
};
const other = { sampling: 'sampling/createMessage', roots: 'roots/list' };

const finish = (id, value) => write({ id, result: { content: [{ type: 'text', text: JSON.stringify(value) }], ...(isModern && { resultType: 'complete' }) } });
const waiting = new Map(); // legacy: our requests; modern: states

/** All in one write: they come before any answer. */
function askLegacy(method, ...all) {
  const messages = all.map((params) => ({ id: `ask-${++asked}`, method, params }));
  write(...messages);
  return Promise.all(messages.map(({ id }) => new Promise((resolve) => { waiting.set(id, resolve); })));
}

async function callLegacy(id, name, args) {
  if (other[name]) {
    const [{ result: given, error }] = await askLegacy(other[name], args.params ?? {});
    return finish(id, given ? [given] : [{ code: error.code }]);
  }
  if (name === 'withdraws') {
    askLegacy('elicitation/create', form('withdrawn?'));
    write({ method: 'notifications/cancelled', params: { requestId: `ask-${asked}` } });
  }
  if (args.ms) await new Promise((resolve) => { setTimeout(resolve, args.ms); });
  const answers = [];
  for (const round of tools[name](args)) {
    if (round === 'exit') process.exit(0);
    const all = askLegacy('elicitation/create', ...round);
    if (name === 'gone') setTimeout(() => process.exit(0), 1000);
    if (name === 'nags') await all.then(() => new Promise((resolve) => { setTimeout(resolve, 2000); }));
    for (const { result, error } of await all) answers.push(result ?? { code: error.code });
    if (round[0].mode === 'url') // the second and the others are nobody's
      for (const elicitationId of [round[0].elicitationId, round[0].elicitationId, 'page-2', 7, undefined])
        write({ method: 'notifications/elicitation/complete', params: { elicitationId } });
  }
  finish(id, name === 'capabilities' ? declared : answers);
}

/** Each request must have an id of its own, and the state of before as it was. */
function callModern(id, { name, arguments: args, inputResponses, requestState, _meta }) {
  const kept = requestState === undefined ? { answers: [], round: 0, ids: [] } : waiting.get(requestState);
  if (kept === undefined || kept.ids.includes(id)) return write({ id, error: { code: -32602, message: 'not as it was' } });
  waiting.delete(requestState);
  kept.ids.push(id);
  if (inputResponses) returned++;
  if (name === 'state' && kept.round === 0) { // it wants to be asked again, and asks nothing
    waiting.set('later', { ...kept, round: 1 });
    return write({ id, result: { resultType: 'input_required', requestState: 'later' } });
  }
  if (name === 'returns') return finish(id, [returned]);
  if (inputResponses) kept.answers.push(...Object.keys(inputResponses).sort().map((key) => inputResponses[key]));
  const round = other[name] ? [[{ method: other[name], params: args.params ?? {} }]][kept.round] : tools[name](args ?? {})[kept.round];
  if (round === 'exit') process.exit(0);
  if (round === undefined) return finish(id, name === 'capabilities' ? _meta['io.modelcontextprotocol/clientCapabilities'] : kept.answers);
  if (name === 'gone') setTimeout(() => process.exit(0), 1000);
  const state = randomUUID();
  waiting.set(state, { ...kept, round: kept.round + 1 });
  const inputRequests = Object.fromEntries(round.map((params, i) => [`q${i}`, params.method ? params : { method: 'elicitation/create', params: { mode: 'form', ...params } }]));
  write({ id, result: { resultType: 'input_required', inputRequests, requestState: state } });
}

const list = { tools: [...Object.keys(tools), ...Object.keys(other)].map((name) => ({ name, inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } })) };

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) {
    waiting.get(id)?.({ result, error });
  } else if (method === 'initialize' && isModern) {
    write({ id, error: { code: -32601, message: 'no' } });
  } else if (method === 'initialize') {
    declared = params.capabilities;
    write({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'asking', version: '1' } } });
  } else if (method === 'server/discover') {
    write({ id, result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ttlMs: 0, cacheScope: 'private' } });
  } else if (method === 'tools/list') {
    write({ id, result: { ...list, ...(isModern && { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }) } });
  } else if (method === 'tools/call') {
    if (isModern) callModern(id, params);
    else callLegacy(id, params.name, params.arguments ?? {});
  } else if (id !== undefined) {
    write({ id, result: {} });
  }
});

// SPDX-License-Identifier: MIT
// full-upstream: a server of either era (legacy, modern) with all that the protocol has, under
// the names that the conformance suite uses. Its tool `send` writes any messages. What stands
// behind the era is a module with another list or answer: (method, params) => result.
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';

const [era, script] = process.argv.slice(2);
const isModern = era === 'modern';
const write = (...messages) => process.stdout.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
const other = script && (await import(script)).default;

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';
const text = (value) => ({ type: 'text', text: value });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const embedded = (uri, value, mimeType = 'text/plain') => ({ type: 'resource', resource: { uri, mimeType, text: value } });
const user = (...contents) => ({ messages: contents.map((content) => ({ role: 'user', content })) });
const wait = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
const progress = (token, at) => token !== undefined && write({ method: 'notifications/progress', params: { progressToken: token, progress: at, total: 100 } });

// ---- questions ------------------------------------------------------------------

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const form = (message, properties) => ({ method: 'elicitation/create', params: { message, requestedSchema: { type: 'object', properties, required: Object.keys(properties) } } });
const sampling = (value) => ({ method: 'sampling/createMessage', params: { messages: [{ role: 'user', content: text(value) }], maxTokens: 100 } });
const string = { type: 'string' };
const name = { user_name: form('What is your name?', { name: string }) };
const DEFAULTS = { name: { type: 'string', default: 'John Doe' }, age: { type: 'integer', default: 30 }, score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' }, verified: { type: 'boolean', default: true } };
const titled = [{ const: 'value1', title: 'First' }, { const: 'value2', title: 'Second' }, { const: 'value3', title: 'Third' }];
const options = ['option1', 'option2', 'option3'];
const ENUMS = { untitledSingle: { type: 'string', enum: options }, titledSingle: { type: 'string', oneOf: titled },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: options } }, titledMulti: { type: 'array', items: { anyOf: titled } } };

/** What is asked before the answer, in rounds. */
const ROUNDS = {
  test_elicitation: ({ message }) => [{ q: form(message, { username: string, email: string }) }],
  test_elicitation_sep1034_defaults: () => [{ q: form('Defaults', DEFAULTS) }],
  test_elicitation_sep1330_enums: () => [{ q: form('Choices', ENUMS) }],
  test_sampling: ({ prompt }) => [{ q: sampling(prompt) }],
  test_input_required_result_elicitation: () => [name],
  test_input_required_result_prompt: () => [{ user_context: form('What context?', { context: string }) }],
  test_streaming_elicitation: () => [name],
  test_input_required_result_capabilities: (args, declared) => [Object.fromEntries(Object.entries({ elicitation: name.user_name, sampling: sampling('What can you do?') }).filter(([key]) => declared[key]))],
  test_input_required_result_sampling: () => [{ capital_question: sampling('What is the capital of France?') }],
  test_input_required_result_list_roots: () => [{ client_roots: { method: 'roots/list', params: {} } }],
  test_input_required_result_request_state: () => [{ confirm: form('Please confirm', { ok: { type: 'boolean' } }) }],
  test_input_required_result_tampered_state: () => [{ confirm: form('Please confirm', { ok: { type: 'boolean' } }) }],
  test_input_required_result_multiple_inputs: () => [{ ...name, greeting: sampling('Generate a greeting'), client_roots: { method: 'roots/list', params: {} } }],
  test_input_required_result_multi_round: () => [{ step1: form('Step 1: name?', { name: string }) }, { step2: form('Step 2: color?', { color: string }) }],
};
const states = new Map(); // modern: by requestState
const waiting = new Map(); // legacy: our requests

async function askLegacy(requests) {
  return Promise.all(Object.values(requests).map((request) => new Promise((resolve) => {
    const id = `ask-${randomUUID()}`;
    waiting.set(id, resolve);
    write({ id, ...request });
  })));
}

/** The answers of all rounds; modern: or the next round, which ends this request. */
async function questions(key, args, params) {
  const declared = params._meta?.[CAPABILITIES] ?? {};
  const rounds = ROUNDS[key]?.(args, declared) ?? [];
  if (!isModern) {
    const answers = [];
    for (const round of rounds) answers.push(...await askLegacy(round));
    return { answers };
  }
  const { answers, at } = states.get(params.requestState) ?? { answers: [], at: 0 };
  if (params.inputResponses && at > 0) answers.push(...Object.values(params.inputResponses));
  if (at === rounds.length) return { answers };
  const requestState = randomUUID();
  states.set(requestState, { answers, at: at + 1 });
  return { next: { resultType: 'input_required', inputRequests: rounds[at], requestState } };
}

// ---- what there is ----------------------------------------------------------------

const OWN = randomUUID(); // of this process
function changed(list) {
  write({ method: `notifications/${list}/list_changed`, ...(isModern && { params: { _meta: { 'io.modelcontextprotocol/subscriptionId': listening.id } } }) });
  return [text('changed')];
}
const schema = { type: 'object' };
const TOOLS = {
  test_simple_text: () => [text('This is a simple text response for testing.')],
  test_image_content: () => [image],
  test_audio_content: () => [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  test_embedded_resource: () => [embedded('test://embedded-resource', 'This is an embedded resource content.')],
  test_multiple_content_types: () => [text('Multiple content types test:'), image, embedded('test://mixed-content-resource', '{"test":"data","value":123}', 'application/json')],
  test_links: () => [{ type: 'resource_link', uri: 'test://static-text', name: 'static' }],
  async test_tool_with_logging() {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      write({ method: 'notifications/message', params: { level: 'info', data } });
      await wait(50);
    }
    return [text('logged')];
  },
  async test_tool_with_progress(args, { progressToken }) {
    for (const at of [0, 50, 100]) {
      progress(progressToken, at);
      await wait(50);
    }
    return [text('done')];
  },
  test_error_handling() { throw new Error('This tool intentionally returns an error for testing'); },
  send({ messages, times = 1 }) {
    for (let i = 0; i < times; i++) write(...messages.map((message) => isModern ? { ...message, params: { ...message.params, _meta: { 'io.modelcontextprotocol/subscriptionId': listening.id } } } : message));
    return [text('sent')];
  },
  subscribed: () => [text(JSON.stringify([...subscribed].sort()))],
  requests: () => [text(JSON.stringify(log))],
  test_logging_tool: (args, meta) => TOOLS.test_tool_with_logging(args, meta),
  test_missing_capability: undefined,
  test_trigger_tool_change: () => changed('tools'),
  test_trigger_prompt_change: () => changed('prompts'),
  job: undefined,
  process: () => [text(OWN)],
  exit: () => process.exit(1),
};
const CONTENTS = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PNG },
  'test://watched-resource': { mimeType: 'text/plain', text: 'watched' },
};
const PROMPTS = {
  test_simple_prompt: () => user(text('This is a simple prompt for testing.')),
  test_prompt_with_arguments: ({ arg1, arg2 }) => ({ description: 'with arguments', ...user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)) }),
  test_prompt_with_embedded_resource: ({ resourceUri }) => user(embedded(resourceUri, 'Embedded resource content for testing.'), text('Please process the embedded resource above.')),
  test_prompt_with_image: () => user(image, text('Please analyze the image above.')),
  test_input_required_result_prompt: (args, answers) => user(text(JSON.stringify(answers))),
};
const ARGUMENTS = { test_prompt_with_arguments: ['arg1', 'arg2'], test_prompt_with_embedded_resource: ['resourceUri'] };
const subscribed = new Set();
const listening = {};
const log = [];
const extension = { 'io.modelcontextprotocol/tasks': {} };
const capabilities = { ...(isModern ? { extensions: extension } : { tasks: { cancel: {}, requests: { tools: { call: {} } } } }), tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, prompts: { listChanged: true }, completions: {}, logging: {} };
class Refusal extends Error { constructor(code, message, data) { super(message); Object.assign(this, { code, data }); } }

function read(uri) {
  const [, id] = /^test:\/\/template\/(\w+)\/data$/.exec(uri) ?? [];
  const content = id ? { mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) } : CONTENTS[uri];
  if (!content) throw new Refusal(isModern ? -32602 : -32002, `no resource ${uri}`);
  return { contents: [{ uri, ...content }] };
}

// ---- tasks: the tool `job` -----------------------------------------------------------

const tasks = new Map();
const told = ({ taskId, status, polls }) => ({ taskId, status, statusMessage: `${polls} to go`, createdAt: new Date().toISOString(), lastUpdatedAt: new Date().toISOString(),
  ...(isModern ? { ttlMs: 60000, pollIntervalMs: 100 } : { ttl: 60000, pollInterval: 100 }) });
function begin(args) {
  const task = { taskId: randomUUID(), status: 'working', polls: args.polls ?? 1, answers: [], args };
  tasks.set(task.taskId, task);
  return isModern ? { resultType: 'task', ...told(task), ...args.told } : { task: { ...told(task), ...args.told } };
}
const ended = ({ answers, args }) => args.result ?? { content: [text(`done ${JSON.stringify(answers)}`)] };
function get({ taskId }) {
  const task = tasks.get(taskId);
  if (task.status === 'working' && --task.polls < 0) task.status = task.args.asks && task.answers.length === 0 ? 'input_required' : task.args.ends ?? 'completed';
  return { ...told(task), ...(isModern && { completed: { result: ended(task) }, failed: { error: { code: -32000, message: 'it failed' } }, input_required: { inputRequests: name } }[task.status]) };
}
async function resultOf({ taskId }) {
  const task = tasks.get(taskId);
  if (task.status === 'input_required') task.answers = await askLegacy(name);
  if (task.status === 'failed') throw new Refusal(-32000, 'it failed');
  return ended(task);
}
function update({ taskId, inputResponses }) {
  Object.assign(tasks.get(taskId), { status: 'working', answers: Object.values(inputResponses) });
  return {};
}

const METHODS = {
  'tasks/get': get,
  ...(isModern ? { 'tasks/update': update } : { 'tasks/result': resultOf }),
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities, serverInfo: { name: 'full', version: '1' } }),
  'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities }),
  'tools/list': () => ({ tools: [...new Set([...Object.keys(TOOLS), ...Object.keys(ROUNDS)])].map((each) => ({ name: each, description: each, inputSchema: schema, annotations: { readOnlyHint: true }, ...(each === 'job' && { execution: { taskSupport: 'required' } }) })) }),
  async 'tools/call'({ name: tool, arguments: args = {}, _meta = {}, ...params }) {
    params._meta = _meta;
    if (tool === 'job') {
      const declared = _meta[CAPABILITIES]?.extensions;
      if (isModern ? !declared?.['io.modelcontextprotocol/tasks'] : !params.task) throw new Refusal(-32601, 'as a task only');
      return begin(args);
    }
    if (tool === 'test_missing_capability' && !_meta[CAPABILITIES]?.sampling) throw new Refusal(-32021, 'sampling is needed', { requiredCapabilities: { sampling: {} } });
    const { next, answers } = await questions(tool, args, params);
    if (next) return next;
    try {
      return { content: await TOOLS[tool]?.(args, _meta) ?? [text(JSON.stringify(answers))] };
    } catch ({ message }) {
      return { isError: true, content: [text(message)] };
    }
  },
  'resources/list': () => ({ resources: Object.keys(CONTENTS).map((uri) => ({ uri, name: uri.slice(7), title: 'A resource', description: 'of the tests', mimeType: CONTENTS[uri].mimeType, size: 10, annotations: { priority: 1 } })) }),
  'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' }] }),
  'resources/read': ({ uri }) => read(uri),
  'resources/subscribe': ({ uri }) => { subscribed.add(uri); return {}; },
  'resources/unsubscribe': ({ uri }) => { subscribed.delete(uri); return {}; },
  'prompts/list': () => ({ prompts: Object.keys(PROMPTS).map((each) => ({ name: each, title: 'A prompt', description: each, arguments: (ARGUMENTS[each] ?? []).map((argument) => ({ name: argument, description: 'an argument', required: true })) })) }),
  async 'prompts/get'({ name: prompt, arguments: args = {}, ...params }) {
    if (!PROMPTS[prompt]) throw new Refusal(-32602, `no prompt ${prompt}`);
    const { next, answers } = await questions(prompt, args, params);
    return next ?? PROMPTS[prompt](args, answers);
  },
  'completion/complete': ({ ref, argument }) => ({ completion: { values: [`${ref.uri ?? ref.name}:${argument.name}=${argument.value}!`], total: 1, hasMore: false } }),
};

function listen(id, { notifications }) {
  listening.id = id;
  subscribed.clear();
  for (const uri of notifications.resourceSubscriptions ?? []) subscribed.add(uri);
  write({ method: 'notifications/subscriptions/acknowledged', params: { notifications, _meta: { 'io.modelcontextprotocol/subscriptionId': id } } });
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params = {}, result, error } = JSON.parse(line);
  if (method === undefined) return void waiting.get(id)?.(result ?? error);
  if (id === undefined) return;
  const refuses = isModern ? ['initialize', 'resources/subscribe', 'resources/unsubscribe'] : ['server/discover', 'subscriptions/listen'];
  if (refuses.includes(method)) return write({ id, error: { code: -32601, message: 'not in this era' } });
  if (!/^(tools|initialize|server)/.test(method)) log.push({ method, ...params, _meta: undefined });
  if (method === 'subscriptions/listen') return listen(id, params);
  try {
    const given = await other?.(method, params) || await METHODS[method]?.(params) || {};
    write({ id, result: { ...(isModern && { resultType: 'complete', ttlMs: 60000, cacheScope: 'private' }), ...given } });
  } catch ({ code = -32603, message, data }) {
    write({ id, error: { code, message, data } });
  }
});

// SPDX-License-Identifier: MIT
// gate: rules and people between scripts and upstream servers, with the official clients of
// both generations; what reaches a server is counted by the server.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { callTool, closeAll, connect } from './clients.mjs';

const folder = mkdtempSync(join(tmpdir(), 'glovebox-gate-'));
after(async () => {
  await closeAll();
  rmSync(folder, { recursive: true });
});

const command = process.env.GLOVEBOX;
const SECRET = 'sk-0123456789abcdef';

// Clients that fill in what a form has ready where a person has left it as it is.
const forms = { elicitation: { form: { applyDefaults: true } } };

let count = 0;

/** A glovebox over the counting server; person(params) answers questions. */
async function open(way, ours, person, ...options) {
  const at = join(folder, String(++count));
  const calls = `${at}.calls`;
  const config = `${at}.json`;
  const log = `${at}.log`;
  writeFileSync(calls, '');
  writeFileSync(config, JSON.stringify({
    mcpServers: {
      counting: {
        command: process.execPath,
        args: [join(import.meta.dirname, 'counting-upstream.mjs'), calls],
        env: { API_TOKEN: '${GATE_TEST_TOKEN}' },
      },
    },
    glovebox: { audit: log, ...ours },
  }));
  const box = { person, asked: [], before: { calls: 0, lines: 0 } };
  const transport = { command, args: ['mcp', '--config', config, ...options], stderr: 'pipe',
    env: { ...process.env, GATE_TEST_TOKEN: SECRET, XDG_STATE_HOME: at } };
  const answer = async (params) => {
    box.asked.push(params);
    return box.person(params);
  };
  const client = await connect(way, transport, person ? { person: answer, capabilities: forms } : {});
  const run = (file, args, input = '') => spawnSync(file, args, { input, encoding: 'utf8',
    env: { ...process.env, GATE_TEST_TOKEN: SECRET, XDG_STATE_HOME: at } });
  const read = (path) => readFileSync(path, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
  return Object.assign(box, {
    client, config, transport,
    glovebox: (...args) => run(command, ['mcp', ...args, '--config', config]),
    inTerminal: (input, ...args) => run('script', ['-qec', [command, 'mcp', ...args, '--config', config].join(' '), '/dev/null'], input),
    reached: () => read(calls).slice(box.before.calls),
    lines: () => read(log).slice(box.before.lines),
    log: () => readFileSync(log, 'utf8'),
    call: (tool, args = {}) => client.callTool({ name: 'call', arguments: { server: 'counting', tool, args } }),
    execute: (code) => client.callTool({ name: 'execute', arguments: { code } }),
    /** Another person, and nothing has been asked, called or logged yet. */
    renew(next) {
      Object.assign(box, { person: next, asked: [], before: { calls: read(calls).length, lines: read(log).length } });
      return box;
    },
  });
}

const shared = {};

/** The glovebox without rules of that way, one for all tests that change nothing in it. */
async function share(way, person) {
  shared[way] ??= await open(way, {}, person);
  return shared[way].renew(person);
}

const text = (result) => result.content.map((block) => block.text ?? '').join('\n');
const accept = (answer) => () => ({ action: 'accept', content: { answer } });

const rule = '{"action":"allow","server":"counting","tool":"change"}';

for (const way of ['v1', 'v2 legacy', 'v2 pinned']) {
  test(`${way}: a question is asked for nested and direct calls alike, and the run goes on`, async () => {
    const box = await share(way, accept('allow this call'));
    const nested = await box.execute(`
      const before = await servers.counting.look({ n: 1 });
      const made = await servers.counting.change({ n: 2 });
      return [before.args.n, made.args.n];`);
    assert.ok(!nested.isError, text(nested));
    assert.match(text(nested), /\[\s*1,\s*2\s*\]/);
    assert.equal(box.asked.length, 1);
    assert.match(box.asked[0].message, /tool change of the server counting/);
    assert.match(box.asked[0].message, /Line 3 of the script/);
    assert.match(box.asked[0].message, /"n": 2/);
    // Nothing was executed twice: the run waited.
    assert.deepEqual(box.reached().map((c) => c.args.n), [1, 2]);
    const direct = await box.call('change', { n: 3 });
    assert.ok(!direct.isError, text(direct));
    assert.equal(box.asked.length, 2);
    assert.deepEqual(box.reached().map((c) => c.args.n), [1, 2, 3]);
    const lines = box.lines().filter((line) => line.event === 'mcp.call');
    assert.deepEqual(lines.map((l) => [l.tool, l.decision, l.answer, l.ok, l.line]),
      [['look', 'allow', undefined, true, 2], ['change', 'ask', 'once', true, 3],
        ['change', 'ask', 'once', true, undefined]]);
    assert.ok(lines[0].run && lines[0].run === lines[1].run);
    assert.equal(lines[2].run, undefined);
  });

  test(`${way}: a person who declines, cancels, denies or leaves the form is obeyed, nested and directly`, async () => {
    const answers = [{ action: 'decline' }, { action: 'cancel' },
      { action: 'accept', content: { answer: 'deny' } }, { action: 'accept', content: {} }];
    let answer;
    const box = await share(way, () => structuredClone(answer));
    for (answer of answers) {
      const nested = await box.execute(`
        try { await servers.counting.change({}); return 'made'; }
        catch (e) { return [e.name, e.server, e.tool, e.code]; }`);
      assert.match(text(nested), /DENIED/, JSON.stringify(answer) + text(nested));
      const direct = await box.call('change');
      assert.equal(direct.isError, true, JSON.stringify(answer));
      assert.match(text(direct), /DENIED/);
      assert.deepEqual(box.reached(), []);
    }
    assert.equal(box.asked.length, 2 * answers.length);
  });

  test(`${way}: without anybody to ask the refusal has the rule`, async () => {
    const box = await open(way, {}, null);
    const nested = await box.execute('return servers.counting.change({})');
    const direct = await box.call('change');
    for (const result of [nested, direct]) {
      assert.equal(result.isError, true);
      assert.match(text(result), /NEEDS_APPROVAL/);
      const said = JSON.stringify(result);
      assert.ok(said.includes(JSON.stringify(rule).slice(1, -1)) ||
        said.includes(JSON.stringify(JSON.stringify(rule).slice(1, -1)).slice(1, -1)), said);
    }
    assert.deepEqual(box.reached(), []);
    await box.client.close();
  });
}

test('rules: the rule that a refusal has works', async () => {
  const box = await open('v1', { rules: [JSON.parse(rule)] }, null);
  assert.ok(!(await box.call('change')).isError);
  assert.equal(box.reached().length, 1);
  await box.client.close();
});

test('rules: a denial by argument holds for every way to write it, nested and directly', async () => {
  const rules = [{ action: 'deny', args: { path: '/etc/**' } }, { action: 'allow' }];
  const box = await open('v1', { rules }, accept('allow this call'));
  for (const path of ['/etc/passwd', '/data/../etc/passwd', '//etc/passwd', 'etc/passwd', ['/etc/passwd']]) {
    const nested = await box.execute(`
      try { await servers.counting.look(${JSON.stringify({ path })}); return 'made'; } catch (e) { return e.code; }`);
    const direct = await box.call('look', { path });
    assert.match(text(nested), /DENIED|INVALID_ARGS/, path);
    assert.match(text(direct), /DENIED|INVALID_ARGS/, path);
  }
  assert.deepEqual(box.reached(), []);
  assert.ok(!(await box.call('look', { path: '/data/x' })).isError);
  assert.equal(box.reached().length, 1);
  assert.equal(box.asked.length, 0);
  await box.client.close();
});

test('grants: an answer for the run settles its other calls, in parallel too', async () => {
  const box = await share('v2 pinned', accept('allow for this run'));
  const code = `const made = await Promise.all([1, 2, 3, 4].map((n) => servers.counting.change({ n })));
    return made.length;`;
  assert.match(text(await box.execute(code)), /4/);
  assert.equal(box.asked.length, 1);
  assert.match(text(await box.execute(code)), /4/);
  assert.equal(box.asked.length, 2);
  assert.equal(box.reached().length, 8);
});

test('grants: an answer for the same arguments asks again for others', async () => {
  const box = await share('v2 pinned', accept('allow for this run, with the same arguments'));
  const code = 'for (const n of [1, 1, 2, 1, 2]) await servers.counting.change({ n });';
  assert.ok(!(await box.execute(code)).isError);
  assert.deepEqual(box.asked.map(({ message }) => /"n": (\d)/.exec(message)[1]), ['1', '2']);
  assert.equal(box.reached().length, 5);
  assert.deepEqual(box.lines().filter((l) => l.event === 'mcp.call').map((l) => l.answer),
    ['same', 'before', 'same', 'before', 'before']);
});

test('grants: always is kept for the next server, and the configuration stays as it is', async () => {
  const box = await open('v1', {}, accept('always allow'));
  const before = readFileSync(box.config, 'utf8');
  assert.ok(!(await box.call('change')).isError);
  assert.ok(!(await box.call('change')).isError);
  assert.equal(box.asked.length, 1);
  await box.client.close();
  assert.equal(readFileSync(box.config, 'utf8'), before);
  const next = await connect('v1', box.transport);
  assert.ok(!(await next.callTool({ name: 'call', arguments: { server: 'counting', tool: 'change', args: {} } })).isError);
  await next.close();
  assert.equal(box.reached().length, 3);
});

test('allow and deny: a person says so in a terminal, and it is in effect without a restart', async (t) => {
  const box = await open('v1', {}, null);
  t.after(() => box.client.close());
  const discover = async () => text(await box.client.callTool({ name: 'discover', arguments: { server: 'counting' } }));
  assert.match(text(await box.call('change')), /run `glovebox mcp allow counting change --config [^ ]+`/);
  assert.match(await discover(), /^counting\.look\(.*?\) - .*^counting\.change\(.*?\) \(asks a person\) - /ms);

  const alone = box.glovebox('allow', 'counting', 'change');
  assert.deepEqual([alone.status, /a person decides this: run it in a terminal, or with '--yes'/.test(alone.stderr)], [64, true], alone.stderr);
  const no = box.inTerminal('n\n', 'allow', 'counting', 'change');
  assert.match(no.stdout, /Every call of the tool 'change' of the server 'counting', with any arguments, is made without asking/);
  assert.equal(no.status, 1);
  assert.equal((await box.call('change')).isError, true);
  assert.equal(box.inTerminal('y\n', 'allow', 'counting', 'change').status, 0);
  assert.ok(!(await box.call('change')).isError);
  assert.match(await discover(), /^counting\.change\(.*?\) - /m);

  const denied = box.glovebox('deny', 'counting', 'Lo-OK', '--yes');
  assert.match(denied.stderr, /is refused\nin all sessions with .*\nwritten to .*\/glovebox\/grants\.json\n$/s);
  assert.match(text(await box.call('look')), /^DENIED: a person has denied this tool/);
  assert.match(await discover(), /counting\.look\(.*\) \(denied\) - /);
  const found = await box.client.callTool({ name: 'execute', arguments: { code: "return (await discover('look')).find((t) => t.tool === 'look').approval" } });
  assert.equal(found.structuredContent.result, 'denied');
  assert.equal(box.glovebox('allow', 'counting', 'look', '--yes').status, 0);
  assert.ok(!(await box.call('look')).isError);
  assert.match(box.glovebox('allow', 'cuonting', 'x', '--yes').stderr, /unknown server 'cuonting' in '.*': did you mean 'counting'\?/);
  assert.equal(box.reached().length, 2);
});

test('concurrency: a question that is open holds up no other call', async () => {
  let answerNow;
  const answered = new Promise((resolve) => { answerNow = resolve; });
  let isAsked;
  const asked = new Promise((resolve) => { isAsked = resolve; });
  const box = await share('v1', async () => {
    isAsked();
    await answered;
    return { action: 'accept', content: { answer: 'allow this call' } };
  });
  const waiting = box.execute(`
    const [slow, quick] = await Promise.all([servers.counting.change({ n: 1 }), servers.counting.look({ n: 2 })]);
    return [slow.args.n, quick.args.n];`);
  await asked;
  for (let n = 10; n < 15; n++) assert.ok(!(await box.call('look', { n })).isError);
  answerNow();
  assert.match(text(await waiting), /\[\s*1,\s*2\s*\]/);
  assert.equal(box.reached().at(-1).args.n, 1);
});

test('concurrency: as many questions as calls may be open stop no other script', async () => {
  let answerNow;
  const answered = new Promise((resolve) => { answerNow = resolve; });
  let isAsked;
  const asked = new Promise((resolve) => { isAsked = resolve; });
  const box = await open('v1', { limits: { callsAtOnce: 2 } }, async () => {
    isAsked();
    await answered;
    return { action: 'accept', content: { answer: 'allow for this run' } };
  });
  const waiting = box.execute(`const made = await Promise.all([1, 2, 3, 4, 5].map(
    (n) => servers.counting.change({ n })));
    return made.length;`);
  await asked;
  const other = await box.execute('return (await servers.counting.look({ n: 7 })).args.n');
  assert.match(text(other), /^7$/m);
  assert.deepEqual(box.reached().map((c) => c.args.n), [7]);
  answerNow();
  assert.match(text(await waiting), /^5$/m);
  assert.equal(box.asked.length, 1);
  await box.client.close();
});

for (const [what, rules] of Object.entries({ 'before its tools are known': [{ action: 'allow' }],
  'once they are known': [], 'that another rule is about': [{ action: 'deny', tool: 'look' }, { action: 'allow' }] })) {
  test(`names: a call by another name is one call, judged by the true one: ${what}`, async () => {
    const box = await open('v1', { rules }, accept('deny'));
    const nested = await box.execute('return (await servers.counting.Look({ n: 1 })).args.n');
    const direct = await box.call('LOOK', { n: 2 });
    const isDenied = rules[0]?.action === 'deny';
    for (const result of [nested, direct]) assert.equal(result.isError === true, isDenied, text(result));
    assert.equal(box.reached().length, isDenied ? 0 : 2);
    const gone = await box.call('loook');
    assert.match(text(gone), /NOT_FOUND/);
    await box.client.close();
    assert.deepEqual(box.lines().filter((l) => l.event === 'mcp.call').map((l) => [l.tool, l.ok, l.decision]),
      [[isDenied ? 'Look' : 'look', !isDenied, isDenied ? 'deny' : 'allow'],
        [isDenied ? 'LOOK' : 'look', !isDenied, isDenied ? 'deny' : 'allow'],
        ['loook', false, isDenied ? 'allow' : undefined]]); // nothing has started the server then
  });
}

test('names: what is denied by the name it is called by stays so once the tools are known', async () => {
  const box = await open('v1', { rules: [{ action: 'deny', tool: 'lo_ok' }, { action: 'allow' }] });
  for (const known of [false, true]) {
    assert.match(text(await box.call('lo_ok', { n: 1 })), /DENIED/, `${known}`);
    assert.match(text(await box.execute('return await servers.counting.lo_ok({ n: 1 })')), /DENIED/, `${known}`);
    assert.ok(!(await box.call('look', { n: 2 })).isError);
  }
  assert.deepEqual(box.reached().map((c) => c.args.n), [2, 2]);
  await box.client.close();
});

test('cancellation: a call that is taken back while a person thinks is never made', async () => {
  let isAsked;
  const asked = new Promise((resolve) => { isAsked = resolve; });
  let answerNow;
  const answered = new Promise((resolve) => { answerNow = resolve; });
  const box = await share('v1', async () => {
    isAsked();
    await answered;
    return { action: 'accept', content: { answer: 'allow this call' } };
  });
  const controller = new AbortController();
  const taken = callTool(box.client, { name: 'execute', arguments: { code: 'return servers.counting.change({})' } },
    { signal: controller.signal });
  await asked;
  controller.abort();
  await assert.rejects(taken);
  answerNow();
  assert.ok(!(await box.call('look', { n: 1 })).isError);
  assert.deepEqual(box.reached().map((c) => c.tool), ['look']);
  const line = box.lines().find((l) => l.event === 'mcp.call' && l.tool === 'change');
  assert.deepEqual([line?.code, line?.answer], ['ABORTED', undefined], JSON.stringify(line));
});

for (const options of [[], ['--allow', 'crypto'], ['--secret', 'OTHER=GATE_TEST_TOKEN@a.example']])
test(`secrets: references are filled in for their server, and no value comes back ${options}`, async () => {
  const secrets = { KEY: { from: 'GATE_TEST_TOKEN', servers: ['counting'] } };
  const box = await open('v1', { secrets, rules: [{ action: 'allow' }] }, null, ...options);
  const nested = await box.execute(`
    const got = await servers.counting.plain({ auth: 'Bearer {{secret:KEY}}' });
    console.log(got.args.auth, got.token);
    return [got.args.auth, got.token, got.args.auth.length];`);
  const direct = await box.call('plain', { auth: '{{secret:KEY}}' });
  assert.equal(box.reached()[0].args.auth, `Bearer ${SECRET}`);
  for (const result of [nested, direct]) {
    assert.ok(!JSON.stringify(result).includes(SECRET), JSON.stringify(result));
    assert.match(JSON.stringify(result), /\{\{secret:KEY\}\}/);
  }
  const unknown = await box.call('plain', { auth: '{{secret:NONE}}' });
  assert.match(text(unknown), /INVALID_ARGS/);
  await box.client.close();
  assert.ok(!box.log().includes(SECRET));
});

/** Would a core of the process have that text? What a core leaves out is left out. */
function isInMemory(pid, text) {
  const chunk = Buffer.alloc(1 << 20);
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  let found = false;
  for (const [, from, to, flags] of readFileSync(`/proc/${pid}/smaps`, 'utf8')
    .matchAll(/^([0-9a-f]+)-([0-9a-f]+) rw[^]*?^VmFlags:(.*)$/gm)) {
    const end = parseInt(to, 16);
    if (/ dd /.test(flags)) continue;
    for (let at = parseInt(from, 16); at < end && !found;) {
      const n = readSync(memory, chunk, 0, Math.min(chunk.length, end - at), at);
      found = chunk.subarray(0, n).includes(text);
      at += n < chunk.length ? n : n - text.length;
    }
  }
  closeSync(memory);
  return found;
}

test('secrets: once its calls have ended, none is in the memory that a core would have', async (t) => {
  if (process.env.SANITIZED) return t.skip('a sanitizer keeps what is freed');
  const value = 'c0re-secret-of-the-test';
  const file = join(folder, 'secret');
  writeFileSync(file, value, { mode: 0o600 });
  const secrets = { KEY: { file, servers: ['counting'] } };
  const box = await open('v1', { secrets, rules: [{ action: 'allow' }] }, null);
  for (const n of [1000000, 30000, 1000, 30, 0]) { // what is freed last is kept longest
    await box.call('plain', { auth: `${'x'.repeat(n)}{{secret:KEY}}` });
    await box.execute(`console.log((await servers.counting.plain({ auth: 'x'.repeat(${n}) + '{{secret:KEY}}' })).args.auth)`);
  }
  assert.equal(box.reached().filter(({ args }) => args.auth.endsWith(value)).length, 10);
  const { pid } = box.client.transport;
  try {
    assert.ok(isInMemory(pid, 'counting-upstream')); // the search is sound
  } catch (error) {
    if (error.code !== 'EACCES') throw error;
    return t.skip('the process hides its memory from all but root');
  }
  assert.ok(!isInMemory(pid, value));
});

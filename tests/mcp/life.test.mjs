// SPDX-License-Identifier: MIT
// life: the server ends when it should and takes everything with it, whatever runs; and
// what one call does is no other's business.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { busyOne, descendants, isAlive, nameOf, tick, until, within } from './processes.mjs';
import { folder, open, put } from './box.mjs';
import { META, Wire, killAll } from './wire.mjs';

afterEach(killAll);

const config = put('empty.json', { mcpServers: {} });

const SPIN = 'for (;;);';

async function serve() {
  const wire = await open(config);
  const { result } = await wire.call('execute', { code: 'return 6 * 7' });
  assert.equal(result.structuredContent.result, 42);
  return wire;
}

/** A call that spins, in a process that is known. */
async function spin(wire, id) {
  wire.say({ id, method: 'tools/call', params: { name: 'execute', arguments: { code: SPIN } } });
  return busyOne(wire.child.pid);
}

const gone = (pids) => until(() => !pids.some(isAlive));

for (const [how, end] of [
  ['end of input', (wire) => wire.child.stdin.end()],
  ['SIGTERM', (wire) => wire.child.kill('SIGTERM')],
  ['SIGINT', (wire) => wire.child.kill('SIGINT')],
  ['a client that does not read any more', (wire) => wire.child.stdout.destroy()],
  ['a client that has closed everything', (wire) => { wire.child.stdin.destroy(); wire.child.stdout.destroy(); }],
]) {
  test(`${how} ends the server within a second and all it has started, while a call spins`, async () => {
    await within(1000, async () => {
      const wire = await serve();
      await spin(wire, 100);
      const all = descendants(wire.child.pid);
      const begin = performance.now();
      end(wire);
      const { code, at } = await wire.exited;
      assert.equal(code, 0);
      assert.ok(all.length > 0);
      await gone(all);
      return at - begin;
    });
  });
}

/** The end to write to, once somebody reads from the other. */
function reachable(fifo) {
  try {
    return openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    assert.equal(error.code, 'ENXIO');
    return undefined;
  }
}

test('SIGTERM ends a server that waits for what it is to read, as it would any program', async () => {
  const path = join(folder, 'fifo.json');
  execFileSync('mkfifo', ['-m', '600', path]);
  for (const [option, value] of [['--config', path], ['--policy', path], ['--secret', `KEY=${path}@a.example`]]) {
    const wire = new Wire(process.env.GLOVEBOX, ['mcp', '--config', config, option, value]);
    const writer = await until(() => reachable(path));
    wire.child.kill('SIGTERM');
    await until(() => wire.child.signalCode === 'SIGTERM');
    closeSync(writer);
  }
  const wire = new Wire(process.env.GLOVEBOX, ['mcp', '--data', `d=${path}`]); // is not waited for
  assert.equal((await wire.exited).code, 66);
  assert.match(wire.stderr, /it is not a file/);
});

test('an engine that could not start is started again when it is needed', async () => {
  const worker = join(folder, 'glovebox-worker');
  const data = put('d.json', [1, 2, 3]);
  const wire = await open(config, { args: ['--data', `d=${data}`], env: { GLOVEBOX_WORKER: worker } });
  const execute = async () => (await wire.call('execute', { code: 'return 6 * 7' })).result;
  const compute = async () => (await wire.call('compute', { code: '(data) => data.length' })).result;

  for (const { isError, content } of [await execute(), await compute()]) {
    assert.ok(isError);
    assert.match(content[0].text, /^UNAVAILABLE/);
  }
  symlinkSync(process.env.GLOVEBOX_WORKER, worker);
  const values = await until(async () => {
    const results = [await execute(), await compute()];
    return !results.some((each) => each.isError) && results.map((each) => parseInt(each.content[0].text, 10));
  });

  assert.deepEqual(values, [42, 3]);
  await wire.close();
});

for (const [tool, args] of [['discover', {}], ['provision', { server: 'mute' }]]) {
  test(`${tool} waits for a server that says nothing, and no longer when it is cancelled or the input ends`, async () => {
    const path = put('mute.json', { mcpServers: { mute: { command: 'sleep', args: ['1000'] } } });
    for (const isCancelled of [true, false]) {
      const wire = await open(path);
      wire.say({ id: 'wait', method: 'tools/call', params: { name: tool, arguments: args } });
      await until(() => descendants(wire.child.pid).some((pid) => nameOf(pid) === 'sleep'));
      if (isCancelled) wire.say({ method: 'notifications/cancelled', params: { requestId: 'wait' } });
      await wire.ask('ping');
      const begin = performance.now();
      wire.child.stdin.end();
      const ms = (await wire.exited).at - begin;
      // It would wait for 15 s; less than a second is the rule, the rest the machine's load.
      assert.ok(ms < 7000, `${ms} ms`);
    }
  });
}

test('SIGKILL leaves no process', async () => {
  const wire = await serve();
  await spin(wire, 100);
  const all = descendants(wire.child.pid);
  wire.child.kill('SIGKILL');
  await wire.exited;
  await gone(all);
});

test('a call that spins is cancelled, and its process is gone within 50 ms', async () => {
  const wire = await serve();
  let id = 200;
  await within(50, async () => {
    const pid = await spin(wire, ++id);
    const begin = performance.now();
    wire.say({ method: 'notifications/cancelled', params: { requestId: id } });
    while (isAlive(pid)) await tick();
    return performance.now() - begin;
  });
  await wire.ask('ping');
  assert.ok(!wire.told.some((m) => m.id >= 200), 'a cancelled call is not answered');
  await wire.close();
});

test('31 calls beside one that spins are answered while it spins', async () => {
  const wire = await serve();
  wire.say({ id: 'spin', method: 'tools/call', params: { name: 'execute', arguments: { code: SPIN } } });
  const calls = Array.from({ length: 31 }, (_, i) => wire.call('execute', { code: `return ${i} * 2` }));
  const values = (await Promise.all(calls)).map((m) => m.result.structuredContent.result);
  assert.deepEqual(values, calls.map((_, i) => i * 2));
  assert.ok(!wire.told.some((m) => m.id === 'spin'), 'it still spins');
  wire.say({ method: 'notifications/cancelled', params: { requestId: 'spin' } });
  await wire.close();
});

test('a modern call that spins is cancelled too', async () => {
  const wire = new Wire(process.env.GLOVEBOX, ['mcp', '--config', config]);
  await wire.call('execute', { code: 'return 1' }, META);
  wire.say({ id: 9, method: 'tools/call', params: { name: 'execute', arguments: { code: SPIN }, _meta: META } });
  const pid = await busyOne(wire.child.pid);
  wire.say({ method: 'notifications/cancelled', params: { requestId: 9 } });
  await gone([pid]);
  await wire.close();
});

test('what was asked before the end of input is answered', async () => {
  const wire = new Wire(process.env.FIXTURE);
  await wire.initialize();
  const answers = Array.from({ length: 50 }, (_, i) => wire.call('nap', { ticks: 1, ms: 1 + i % 9 }));
  wire.child.stdin.end();
  for (const answer of await Promise.all(answers)) assert.equal(answer.result.content[0].text, 'slept');
  assert.equal((await wire.exited).code, 0);
});

test('what is not answered after the end of input is told of', async () => {
  const wire = new Wire(process.env.FIXTURE);
  await wire.initialize();
  wire.say({ id: 5, method: 'tools/call', params: { name: 'deaf' } });
  await wire.close();
  assert.match(wire.stderr, /the input ended; 1 request was not answered \(tools\/call deaf\)/);
  const other = new Wire(process.env.FIXTURE);
  await other.initialize();
  await other.close();
  assert.equal(other.stderr, '');
});

test('a server that is started with its signals blocked is ended by them all the same', async () => {
  const wire = new Wire('env', ['--block-signal', process.env.FIXTURE]);
  await wire.initialize();
  wire.child.kill('SIGTERM');
  assert.equal((await wire.exited).code, 0);
});

test('a handler that never ends does not hold up the end', async () => {
  await within(1000, async () => {
    const wire = new Wire(process.env.FIXTURE);
    await wire.initialize();
    wire.say({ id: 5, method: 'tools/call', params: { name: 'deaf' } });
    await wire.ask('ping');
    const begin = performance.now();
    assert.equal((await wire.close()).code, 0);
    return performance.now() - begin;
  });
});

test('subscriptions are closed with their results at the end', async () => {
  const wire = new Wire(process.env.FIXTURE);
  wire.say({ id: 's', method: 'subscriptions/listen', params: { _meta: META, notifications: { toolsListChanged: true } } });
  await wire.hear((m) => m.method === 'notifications/subscriptions/acknowledged');
  wire.child.stdin.end();
  const { result } = await wire.hear((m) => m.id === 's');
  assert.equal(result.resultType, 'complete');
  assert.equal(result._meta['io.modelcontextprotocol/subscriptionId'], 's');
  assert.equal(typeof result._meta['io.modelcontextprotocol/serverInfo'].version, 'string');
});

test('input from a file or from nowhere is input', () => {
  const ping = put('ping.jsonl', '{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":"2.0","id":2,"method":"ping"}');
  for (const [path, lines] of [[ping, 2], ['/dev/null', 0]]) {
    const fd = openSync(path);
    const { stdout, status } = spawnSync(process.env.GLOVEBOX, ['mcp', '--config', config], { stdio: [fd, 'pipe', 'inherit'] });
    closeSync(fd);
    assert.equal(status, 0);
    assert.equal(String(stdout).split('\n').length - 1, lines);
  }
});

test('input that cannot be read, and output that cannot be written, are told of', () => {
  const ping = `printf '{"jsonrpc":"2.0","id":1,"method":"ping"}\\n' | `;
  for (const [before, redirect, code, said] of [
    ['', '</', 66, /cannot read standard input: it is a directory/],
    [ping, '>/dev/full', 74, /cannot write to standard output: No space left/],
    [ping, '| true', 0, /^(?!.*cannot)/s], // who reads no more has what he wants
  ]) {
    const { status, stderr } = spawnSync('bash', ['-o', 'pipefail', '-c',
      `${before}"$GLOVEBOX" mcp --config ${config} ${redirect}`]);
    assert.match(String(stderr), said);
    assert.equal(status, code);
  }
});

test('nothing to serve, and a word that is no command, are wrong use', () => {
  for (const [args, said] of [[[], /give --data or --config/], [['imprt'], /did you mean 'mcp import'/]]) {
    const { status, stdout, stderr } = spawnSync(process.env.GLOVEBOX, ['mcp', ...args], { input: '' });
    assert.equal(status, 64);
    assert.equal(String(stdout), '');
    assert.match(String(stderr), said);
  }
});

test('where no file of --data can be read, one is said by its whole path, as of no input', () => {
  for (const [spec, said] of [[join(folder, 'orders.csv'), /^glovebox: cannot read '(.*)\/orders\.csv': no such file\n$/],
    [`sqlite:${folder}/shop.db?query=SELECT 1`, /^glovebox: cannot read '(.*)\/shop\.db': no such file\n$/],
    [folder, /^glovebox: cannot read '(.*)\/glovebox-mcp-[^/]*': it is not a file\n$/]]) {
    const { status, stderr } = spawnSync(process.env.GLOVEBOX, ['mcp', '--data', `a=${folder}/nowhere`, '--data', `b=${spec}`],
      { input: '', encoding: 'utf8' });
    assert.match(stderr, said);
    assert.equal(status, 66);
  }
});

test('closed descriptors are wrong use, said on stderr', () => {
  for (const redirect of ['<&-', '>&-']) {
    const { status, stderr } = spawnSync('sh', ['-c', `"$GLOVEBOX" mcp ${redirect}`]);
    assert.equal(status, 64);
    assert.match(String(stderr), /standard input or output is closed/);
  }
});

for (const [limit, status, stdout, stderr] of [
  ['-d 1024', 71, /^$/, /^glovebox: cannot start code mode: Resource temporarily unavailable$/m],
  ['-d 500000', 0, /needs more memory than it may have \(RLIMIT_DATA, ulimit -d\)/, /./],
  ['-v 4000000', 0, /needs more address space than it may have \(RLIMIT_AS, ulimit -v\)/, /./],
]) {
  // A sanitizer's own reservations are larger than that.
  test(`what cannot start says which limit is too low: ulimit ${limit}`, { skip: !!process.env.SANITIZED }, () => {
    const said = spawnSync('sh', ['-c', `ulimit ${limit}; exec "$0" mcp --config "$1"`,
      process.env.GLOVEBOX, config], { encoding: 'utf8', input: [
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { _meta: META, name: 'execute', arguments: { code: '1' } } },
    ].map((message) => `${JSON.stringify(message)}\n`).join('') });
    assert.equal(said.status, status, said.stderr);
    assert.match(said.stdout, stdout);
    assert.match(said.stderr, stderr);
  });
}

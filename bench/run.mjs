// SPDX-License-Identifier: MIT
// run - measure this build on this machine beside Node, in one run: rounds of ours and
// theirs in turn, medians, ratios round by round. Prints a table and writes
// bench.json and benchmarks.md to --out.
//
//   node bench/run.mjs --bin build/bin --out build/bench [--rounds 5]
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bombs, killers, records, work } from './work.mjs';

const option = (name, standard) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? standard : process.argv[at + 1];
};
const here = dirname(fileURLToPath(import.meta.url));
const bin = resolve(option('bin', 'build/bin'));
const out = resolve(option('out', 'build/bench'));
const rounds = Number(option('rounds', 5));
const glovebox = join(bin, 'glovebox');
const median = (xs) => [...xs].sort((a, b) => a - b)[xs.length >> 1];
const rows = [];

function row(measure, value, unit, bar, meets) {
  rows.push({ measure, value, unit, bar, meets });
  const shown = typeof value === 'number' ? value.toFixed(value < 10 ? 3 : 1) : value;
  console.log(`${meets ? ' ' : '!'} ${measure.padEnd(58)} ${shown.padStart(12)} ${unit.padEnd(8)} ${bar}`);
}

function run(code, ...more) {
  const start = process.hrtime.bigint();
  const done = spawnSync(glovebox, ['run', code, '--json', ...more], { encoding: 'utf8', maxBuffer: 1 << 28 });
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  return { ms, ...JSON.parse(done.stdout) };
}

// ---- whole commands, in turn -------------------------------------------------------
function cold() {
  const ours = [], theirs = [];
  for (let i = 0; i < 15; i++) {
    for (const [list, file, args] of [[ours, glovebox, ['run', '() => 1']], [theirs, process.execPath, ['-e', '0']]]) {
      const start = process.hrtime.bigint();
      execFileSync(file, args, { stdio: 'ignore' });
      list.push(Number(process.hrtime.bigint() - start) / 1e6);
    }
  }
  const ratios = ours.map((ms, i) => ms / theirs[i]);
  row('glovebox run, cold, exec to exit', median(ours), 'ms', '', true);
  row('node -e 0, exec to exit', median(theirs), 'ms', '', true);
  row('cold: glovebox run over node', median(ratios), 'x', 'at most 0.45', median(ratios) <= 0.45);
}

// ---- ours and Node's, round by round -------------------------------------------------
function beside() {
  const recordsFile = join(out, 'records.json'), workFile = join(out, 'work.json');
  writeFileSync(recordsFile, records());
  writeFileSync(workFile, JSON.stringify(work));
  const files = Object.entries({ records: work.records, ...work.compute }).map(([name, code]) => {
    const file = join(out, `${name}.js`);
    writeFileSync(file, code);
    return `${name}=${file}`;
  });
  const ours = {}, ratios = {};
  const note = (to, name, value) => (to[name] ??= []).push(value);
  for (let i = 0; i < rounds; i++) {
    const node = {};
    for (const kind of ['records', ...Object.keys(work.compute)])
      node[kind] = Number(execFileSync(process.execPath, [join(here, 'node-side.mjs'), workFile, recordsFile, kind], { encoding: 'utf8' }));
    const mine = JSON.parse(execFileSync(join(bin, 'glovebox-bench'), [recordsFile, ...files], { encoding: 'utf8', env: { ...process.env, GLOVEBOX_BENCH_PRELOAD: join(here, '../tools/npm/node_modules/lodash/lodash.min.js') } }));
    for (const [name, ms] of Object.entries(mine)) {
      note(ours, name, ms);
      const against = name === 'dataset' ? node.records : node[name];
      if (against) note(ratios, name, ms / against);
    }
  }
  const data = (name) => median(ratios[name]);
  row('100,000 records as input', median(ours.records), 'ms', '', true);
  row('100,000 records as input, over Node', data('records'), 'x', 'at most 1.2', data('records') <= 1.2);
  row('100,000 records as a dataset', median(ours.dataset), 'ms', '', true);
  row('100,000 records as a dataset, over Node', data('dataset'), 'x', 'at most 0.15', data('dataset') <= 0.15);
  for (const name of Object.keys(work.compute))
    row(`${name}, over Node`, data(name), 'x', 'at most 1.2', data(name) <= 1.2);
  row('warm call, median', median(ours.warm), 'ms', 'at most 0.15', median(ours.warm) <= 0.15);
  row('warm call, p99', median(ours.warm99), 'ms', 'at most 2', median(ours.warm99) <= 2);
  row('warm call back to back, median', median(ours.backToBack), 'ms', '', true);
  row('warm call with lodash preloaded, over one without', median(ours.preloaded) / median(ours.warm), 'x', '', true);
  row('single-use calls a second, 2 callers', median(ours.calls), '/s', 'at least 1,700', median(ours.calls) >= 1700);
  row('empty host function, round trips in one call', median(ours.hostCalls), '/s', 'at least 20,000', median(ours.hostCalls) >= 20000);
  row('the same, 100 at once', median(ours.hostCallsAtOnce), '/s', '', true);
  row('deadline to result, median', median(ours.deadline), 'ms', 'at most 2', median(ours.deadline) <= 2);
  row('abort to result, median', median(ours.abort), 'ms', 'at most 2', median(ours.abort) <= 2);
  row('call after a kill, median', median(ours.afterKill), 'ms', '', true);
  row('private memory of one more idle worker', median(ours.idleMiB), 'MiB', 'at most 3', median(ours.idleMiB) <= 3);
}

// ---- bombs and killers -----------------------------------------------------------------
const MiB = 1 << 20;
function explode() {
  const limit = 128;
  for (const [name, code] of Object.entries(bombs)) {
    const r = run(code, '--memory', String(limit), '--timeout', '5000');
    const peak = (r.stats?.peakMemoryBytes ?? 0) / MiB;
    const good = r.code === 'MEMORY' && r.executionMs <= 1000 && peak <= limit + 48;
    row(`bomb: ${name}`, `${r.code ?? 'ok'} ${peak.toFixed(0)} MiB`, `${r.executionMs?.toFixed(0)} ms`, 'MEMORY, 1 s, 176 MiB', good);
  }
  for (const [name, [code, wanted]] of Object.entries(killers)) {
    const r = run(code, '--memory', String(limit), '--timeout', '500');
    row(`killer: ${name}`, r.code ?? 'ok', `${r.executionMs?.toFixed(0)} ms`, wanted, wanted.includes(r.code ?? '-') && r.executionMs < 550);
  }
}

function markdown(machine) {
  const line = (r) => `| ${r.measure} | ${typeof r.value === 'number' ? r.value.toFixed(r.value < 10 ? 3 : 1) : r.value} | ${r.unit} | ${r.bar} | ${r.meets ? '' : 'missed'} |`;
  return [`# Benchmarks`, ``, `Written by \`make bench\`; ratios are medians of ratios taken round by round in one run.`, ``,
    machine, ``, `| measure | value | unit | bar | |`, `| --- | --- | --- | --- | --- |`, ...rows.map(line), ``].join('\n');
}

mkdirSync(out, { recursive: true });
const machine = `${cpus().length} x ${cpus()[0].model}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, Linux ${release()}, Node ${process.version}, ${run('() => 1').engine ?? execFileSync(glovebox, ['version'], { encoding: 'utf8' }).split('\n')[0]}.`;
console.log(machine + '\n');
cold();
beside();
explode();
writeFileSync(join(out, 'bench.json'), JSON.stringify({ machine, rows }, null, 2));
writeFileSync(join(out, 'benchmarks.md'), markdown(machine));
console.log(`\nwritten: ${join(out, 'bench.json')}, ${join(out, 'benchmarks.md')}`);

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
import { bombs, killers, records } from './work.mjs';

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

// ---- ours and Node's, round by round -------------------------------------------------
const ids = {
  records_as_input: ['100,000 records as input', 1.2], records_as_dataset: ['100,000 records as a dataset', 0.15],
  compute_fib: ['fib(32)', 1.2], compute_loop: ['integer loop', 1.2], compute_sort: ['sort', 1.2],
  compute_strings: ['string work', 1.2], compute_hash_text: ['SHA-256 of a text', 1.2],
  compute_hash_bytes: ['SHA-256 of bytes', 1.2], compute_hashes: ['50,000 MD5s', 1.2],
};

/** Milliseconds of the same code in Node. */
function nodeSide(code, recordsFile) {
  const args = [join(here, 'node-side.mjs'), code, ...(recordsFile === undefined ? [] : [recordsFile])];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

function coldNode() {
  const start = process.hrtime.bigint();
  execFileSync(process.execPath, ['-e', '0'], { stdio: 'ignore' });
  return Number(process.hrtime.bigint() - start) / 1e6;
}

function beside() {
  const recordsFile = join(out, 'records.json');
  writeFileSync(recordsFile, records());
  const ours = {}, theirs = {}, names = {};
  const note = (to, id, value) => (to[id] ??= []).push(value);
  for (let i = 0; i < rounds; i++) {
    const { measures } = JSON.parse(execFileSync(glovebox, ['bench', '--json'], { encoding: 'utf8' }));
    for (const { id, name, unit, value, code } of measures) {
      names[id] = [name, unit];
      note(ours, id, value);
      if (code !== undefined) note(theirs, id, nodeSide(code, id.startsWith('records') ? recordsFile : undefined));
    }
    note(theirs, 'run_cold', median(Array.from({ length: 9 }, coldNode)));
  }
  const bars = {
    warm_call_median: [(x) => x <= 0.15, 'at most 0.15'], warm_call_p99: [(x) => x <= 2, 'at most 2'],
    calls_per_second: [(x) => x >= 1700, 'at least 1,700'], host_calls_per_second: [(x) => x >= 20000, 'at least 20,000'],
    deadline_to_result: [(x) => x <= 2, 'at most 2'], abort_to_result: [(x) => x <= 2, 'at most 2'],
    idle_worker_pss: [(x) => x <= 3, 'at most 3'],
  };
  for (const id in ours) {
    const [meets, bar] = bars[id] ?? [() => true, ''];
    row(names[id][0], median(ours[id]), names[id][1], bar, meets(median(ours[id])));
  }
  row('node -e 0, exec to exit', median(theirs.run_cold), 'ms', '', true);
  for (const [id, [name, bar]] of Object.entries({ run_cold: ['glovebox run, cold', 0.45], ...ids })) {
    const ratio = median(ours[id].map((ms, i) => ms / theirs[id][i]));
    row(`${name}, over Node`, ratio, 'x', `at most ${bar}`, ratio <= bar);
  }
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
beside();
explode();
writeFileSync(join(out, 'bench.json'), JSON.stringify({ machine, rows }, null, 2));
writeFileSync(join(out, 'benchmarks.md'), markdown(machine));
console.log(`\nwritten: ${join(out, 'bench.json')}, ${join(out, 'benchmarks.md')}`);

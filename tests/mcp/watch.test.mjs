// SPDX-License-Identifier: MIT
// Datasets follow their path: whatever is exchanged on the way to a file, what lies there
// now is what code finds.
import assert from 'node:assert/strict';
import {
  appendFileSync, closeSync, mkdirSync, openSync, readSync, renameSync, rmSync,
  statSync, symlinkSync, writeFileSync, writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test as testFor } from 'node:test';
import { env, folder } from './box.mjs';
import { Wire } from './wire.mjs';

const at = (path) => join(folder, path);
const write = (path, count) => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), JSON.stringify(Array(count).fill(0)));
};

/** limit: what `ulimit` takes, or nothing; query: of a database. */
async function open(path, { limit, query } = {}) {
  const source = query === undefined ? at(path) : `sqlite:${at(path)}?query=${query}`;
  const args = ['mcp', '--timeout', '60000', '--data', `d=${source}`];
  const wire = limit === undefined
    ? new Wire(process.env.GLOVEBOX, args, { env })
    : new Wire('sh', ['-c', `ulimit ${limit}; exec "$0" "$@"`, process.env.GLOVEBOX, ...args],
      { env });
  await wire.initialize();
  return wire;
}

const described = async (wire) => (await wire.listTools())[0].description;

const count = async (wire) =>
  (await wire.call('compute', { code: '(d) => d.length' })).result.structuredContent.value;

const rest = () => new Promise((resolve) => { setTimeout(resolve, 20); });

/** What never comes is the failure of its test, not the end of the file. */
const test = (name, body) => testFor(name, { timeout: 120000 }, body);

/** Until code finds so many. */
async function until(wire, wanted) {
  while (await count(wire) !== wanted) await rest();
}

/** Until code has found something else so often. */
async function changes(wire, times) {
  for (let last = await count(wire); times > 0; await rest()) {
    const now = await count(wire);
    if (now !== last) times -= 1;
    last = now;
  }
}

test('a folder that is removed and made again', async () => {
  write('removed/a.json', 1);
  const wire = await open('removed/a.json');
  assert.equal(await count(wire), 1);
  rmSync(at('removed'), { recursive: true });
  while (!/could not be read again/.test(await described(wire))) await rest();
  write('removed/a.json', 2);
  await until(wire, 2);
  write('removed/a.json', 3);
  await until(wire, 3);
  await wire.close();
});

test('a folder that another takes the place of', async () => {
  write('old/a.json', 1);
  write('new/a.json', 2);
  const wire = await open('old/a.json');
  assert.equal(await count(wire), 1);
  renameSync(at('old'), at('away'));
  renameSync(at('new'), at('old'));
  await until(wire, 2);
  write('old/a.json', 3);
  await until(wire, 3);
  await wire.close();
});

test('a link on the way that is made to lead elsewhere', async () => {
  write('1/a.json', 1);
  write('2/a.json', 2);
  symlinkSync('1', at('current'));
  const wire = await open('current/a.json');
  assert.equal(await count(wire), 1);
  symlinkSync('2', at('next'));
  renameSync(at('next'), at('current'));
  await until(wire, 2);
  write('2/a.json', 3);
  await until(wire, 3);
  await wire.close();
});

test('a database behind a link, whose log lies beside the file itself', async (t) => {
  const sqlite = await import('node:sqlite').catch(() => undefined);
  if (sqlite === undefined) return t.skip('this Node has no node:sqlite');
  mkdirSync(at('base'));
  const db = new sqlite.DatabaseSync(at('base/a.db'));
  db.exec('PRAGMA journal_mode=WAL; CREATE TABLE t(n); INSERT INTO t VALUES (1)');
  symlinkSync('base/a.db', at('link.db'));
  const wire = await open('link.db', { query: 'SELECT n FROM t' });
  assert.equal(await count(wire), 1);
  const { mtimeMs } = statSync(at('base/a.db'));
  db.exec('INSERT INTO t VALUES (2)');
  assert.equal(statSync(at('base/a.db')).mtimeMs, mtimeMs); // the log alone is another
  await until(wire, 2);
  db.close();
  await wire.close();
});

// A writer that is held up between the two, on a busy machine for one.
test('a database whose log is written before its index says so', async (t) => {
  const sqlite = await import('node:sqlite').catch(() => undefined);
  if (sqlite === undefined) return t.skip('this Node has no node:sqlite');
  mkdirSync(at('slow'));
  const db = new sqlite.DatabaseSync(at('slow/a.db'));
  db.exec('PRAGMA journal_mode=WAL; CREATE TABLE t(n); INSERT INTO t VALUES (1)');
  const wire = await open('slow/a.db', { query: 'SELECT n FROM t' });
  assert.equal(await count(wire), 1);
  const index = openSync(at('slow/a.db-shm'), 'r+');
  const before = Buffer.alloc(96), after = Buffer.alloc(96);
  readSync(index, before, 0, 96, 0);
  db.exec('INSERT INTO t VALUES (2)');
  readSync(index, after, 0, 96, 0);
  writeSync(index, before, 0, 96, 0);
  // Time to read it as it is; with less the test would see nothing.
  for (const end = Date.now() + 3000; Date.now() < end; await rest())
    assert.ok([1, 2].includes(await count(wire)));
  writeSync(index, after, 0, 96, 0);
  await until(wire, 2);
  db.close();
  closeSync(index);
  await wire.close();
});

test('one that the engine never took is not told as what it was before', async () => {
  write('large/a.json', 100000);
  const wire = await open('large/a.json', { limit: '-f 4' });
  while (!/cannot be used|could not be read/.test(await described(wire))) await rest();
  assert.match(await described(wire), /d: cannot be used: /);
  await wire.close();
});

test('a log that is never at rest is read up to its last whole line', async (t) => {
  mkdirSync(at('log'));
  writeFileSync(at('log/a.ndjson'), '{"v":0}\n{"v"');
  const wire = await open('log/a.ndjson');
  let lines = 1; // and the half of one
  const writing = setInterval(() => appendFileSync(at('log/a.ndjson'), `:${lines++}}\n{"v"`), 10);
  t.after(() => clearInterval(writing));
  await changes(wire, 3);
  assert.match(await described(wire), /\n- d: [\d,]+ records/);
  clearInterval(writing);
  appendFileSync(at('log/a.ndjson'), `:${lines++}}`);
  await until(wire, lines);
  await wire.close();
});

test('a log whose writer stops in the middle of lines has the rows that are whole, and says so', async () => {
  mkdirSync(at('buffered'));
  writeFileSync(at('buffered/a.csv'), 'id,amount\n1,123456789\n');
  writeFileSync(at('buffered/b.ndjson'), '{"v":1}\n{"v"');
  const rows = await open('buffered/a.csv');
  const lines = await open('buffered/b.ndjson');
  assert.equal(await count(lines), 1);
  assert.match(await described(lines), /\n- d: 1 record, without a last line that has no end yet, 12 bytes/);
  const fd = openSync(at('buffered/a.csv'), 'a');
  writeSync(fd, '2,123456789\n3,12');
  await until(rows, 2);
  while (!/\n- d: 2 records, without a last line that has no end yet, /.test(await described(rows))) await rest();
  writeSync(fd, '3456789\n');
  await until(rows, 3);
  while (!/\n- d: 3 records, \d/.test(await described(rows))) await rest();
  closeSync(fd);
  await rows.close();
  await lines.close();
});

test('what is told of data that stayed the same is told anew', async () => {
  mkdirSync(at('told'));
  writeFileSync(at('told/a.csv'), 'a,b\n');
  const wire = await open('told/a.csv');
  assert.match(await described(wire), /a: unknown; b: unknown/);
  writeFileSync(at('told/a.csv'), 'region,total\n');
  while (!/region: unknown; total: unknown/.test(await described(wire))) await rest();
  writeFileSync(at('told/a.csv'), 'region;total\r\n\r\n');
  while (!/\n- d: 0 records, 16 bytes/.test(await described(wire))) await rest();
  await wire.close();
});

test('a database that is never at rest is read', async (t) => {
  const sqlite = await import('node:sqlite').catch(() => undefined);
  if (sqlite === undefined) return t.skip('this Node has no node:sqlite');
  const db = new sqlite.DatabaseSync(at('live.db'));
  db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; CREATE TABLE t(a); INSERT INTO t VALUES (0)');
  const wire = await open('live.db', { query: 'SELECT a FROM t' });
  const writing = setInterval(() => db.exec('INSERT INTO t VALUES (1)'), 5);
  t.after(() => clearInterval(writing)); // or a failure would never end
  await changes(wire, 2);
  clearInterval(writing);
  await until(wire, db.prepare('SELECT count(*) AS n FROM t').get().n);
  await wire.close();
  db.close();
});

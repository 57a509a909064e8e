// SPDX-License-Identifier: MIT
// steps: what a user does with `glovebox mcp`, and finds, by a table: a test for each case.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { table, valueOf } from './tables.mjs';
import { user } from './user.mjs';

/** A path, and the text of one line, or of lines, behind it. */
function textOf(rest) {
  const [, path, end, text] = /^(\S+)(\s?)([^]*)$/.exec(rest);
  return [path, end === '\n' ? `${text}\n` : text];
}

const verbs = {
  // What is there.
  file(at, rest) {
    const [path, text] = textOf(rest);
    at.written[path] = at.write(path, text);
  },
  chmod(at, rest) {
    const [mode, path] = rest.split(' ');
    chmodSync(join(at.root, path), parseInt(mode, 8));
  },
  cd(at, path) {
    at.as.cwd = join(at.root, path);
  },
  env(at, rest) {
    at.as.env = Object.fromEntries(rest.split(' ').map((each) => each.split('=')));
  },
  // What is done.
  run: (at, words) => verbs.exits(at, `0 ${words}`),
  exits(at, rest) {
    const [status, ...words] = rest.split(' ');
    at.result = at.runAs(at.as, ...words);
    assert.equal(at.result.status, Number(status), at.result.stdout + at.result.stderr);
  },
  // What is said.
  says: (at, words) => assert.match(at.result.stdout, valueOf(words)),
  lacks: (at, words) => assert.doesNotMatch(at.result.stdout, valueOf(words)),
  complains: (at, words) => assert.match(at.result.stderr, valueOf(words)),
  lines(at, rest) {
    const [, words, all] = /^\/(.*)\/ (\[.*\])$/.exec(rest);
    assert.deepEqual(at.result.stdout.match(new RegExp(words, 'gm')), JSON.parse(all));
  },
  // What has become of it.
  servers: (at, json) => assert.deepEqual(at.servers(), JSON.parse(json)),
  names: (at, names) => assert.equal(Object.keys(at.servers()).join(' '), names),
  text(at, rest) {
    const [, path, words] = /^(\S+) (.*)$/.exec(rest);
    assert.match(at.read(path), valueOf(words));
  },
  reads(at, rest) {
    const [path, text] = textOf(rest);
    assert.equal(at.read(path), text);
  },
  note(at, path) {
    at.written[path] = at.read(path);
  },
  same(at, rest) {
    const [path, as = path] = rest.split(' ');
    assert.equal(at.read(path), at.written[as]);
  },
  none(at, path) {
    assert.equal(existsSync(join(at.root, path)), false);
  },
  mode(at, rest) {
    const [mode, path] = rest.split(' ');
    assert.equal((statSync(join(at.root, path)).mode & 0o777).toString(8), mode);
  },
};

/** The cases of a table: a step a line, and lines of text behind "| ". */
export function follow(name) {
  for (const [title, lines] of table(name))
    test(title, () => {
      const at = Object.assign(user({}), { as: {}, written: {} });
      for (const step of lines.join('\n').split(/\n(?!\|)/).filter(Boolean)) {
        const [, verb, rest] = /^(\w+) ?([^]*)$/.exec(step.replace(/\n\| ?/g, '\n'));
        verbs[verb](at, at.fill(rest));
      }
    });
}

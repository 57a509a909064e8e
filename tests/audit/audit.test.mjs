// SPDX-License-Identifier: MIT
// audit: `glovebox audit` finds what is planted in small servers, at its line, and nothing in
// sound ones that look bad.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { casesOf } from './cases.mjs';

const Ajv = createRequire(new URL('../../tools/npm/package.json', import.meta.url))('ajv').default;

const folder = mkdtempSync(join(tmpdir(), 'glovebox-audit-'));
after(() => rmSync(folder, { recursive: true }));

let count = 0;

/** A project of these files; its folder. */
function project(files) {
  const root = join(folder, `p${++count}`);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const audit = (...args) => spawnSync(process.env.GLOVEBOX, ['audit', ...args], { encoding: 'utf8', maxBuffer: 1 << 28 });

function found(files) {
  const { stdout, stderr } = audit(project(files), '--json');
  assert.equal(stderr, '');
  const report = JSON.parse(stdout);
  assert.deepEqual(report.unread, []);
  return report;
}

const faulty = casesOf('faulty.txt'), sound = casesOf('sound.txt');

test('there are enough cases', () => {
  assert.ok(faulty.length >= 40, `${faulty.length} with faults`);
  assert.ok(sound.length >= 20, `${sound.length} without`);
});

for (const { name, files, expected } of faulty)
  test(`faulty: ${name}`, () => {
    const report = found(files);
    assert.deepEqual(report.findings.map(({ rule, file, line }) => `${rule} ${file}:${line}`).sort(), expected);
    for (const { frame, why, instead, points } of report.findings) assert.ok(frame.includes('^') && why !== '' && instead !== '' && points > 0);
  });

for (const { name, files } of sound)
  test(`sound: ${name}`, () => assert.deepEqual(found(files).findings.map(({ rule, file, line, detail }) => `${rule} ${file}:${line} ${detail}`), []));

test('every rule has a case', () => {
  const rules = JSON.parse(readFileSync(join(import.meta.dirname, '../../src/scan/rules.json'), 'utf8'));
  const marked = new Set(faulty.flatMap(({ expected }) => expected.map((one) => one.split(' ')[0])));
  assert.deepEqual(rules.map(({ id }) => id).filter((id) => !marked.has(id)), []);
});

/* ---- formats and statuses ------------------------------------------------------- */

/* What SARIF 2.1.0 requires of what is written. */
const TEXT = { type: 'object', required: ['text'], properties: { text: { type: 'string', minLength: 1 } } };
const LOCATION = { type: 'object', required: ['physicalLocation'], properties: { physicalLocation: {
  type: 'object', required: ['artifactLocation', 'region'], properties: {
    artifactLocation: { type: 'object', required: ['uri'], properties: { uri: { type: 'string', pattern: '^[^/ ][^ ]*$' } } },
    region: { type: 'object', required: ['startLine'], properties: { startLine: { type: 'integer', minimum: 1 }, startColumn: { type: 'integer', minimum: 1 } } } } } } };
const LEVEL = { enum: ['none', 'note', 'warning', 'error'] };
const SARIF = { type: 'object', required: ['version', 'runs', '$schema'], properties: { version: { const: '2.1.0' }, runs: {
  type: 'array', minItems: 1, items: { type: 'object', required: ['tool', 'results'], properties: {
    tool: { type: 'object', required: ['driver'], properties: { driver: { type: 'object', required: ['name', 'rules'], properties: { rules: {
      type: 'array', items: { type: 'object', required: ['id'], properties: { shortDescription: TEXT, fullDescription: TEXT, help: TEXT } } } } } } },
    results: { type: 'array', minItems: 1, items: { type: 'object', required: ['message', 'ruleId', 'ruleIndex', 'level', 'locations'], properties: {
      message: TEXT, level: LEVEL, locations: { type: 'array', minItems: 1, items: LOCATION }, relatedLocations: { type: 'array', items: LOCATION } } } },
    invocations: { type: 'array', items: { type: 'object', required: ['executionSuccessful'] } } } } } } };

const SDK = `${sound[0].files['index.js'].split('\n', 1)[0]}\n`;
const EVAL = { 'index.js': faulty[0].files['index.js'] };

test('the exit status is that of --min', () => {
  const root = project(EVAL), clean = project(sound[0].files);
  assert.deepEqual(['A', 'C', 'D', 'F'].map((grade) => audit(root, '--min', grade).status), [1, 1, 0, 0]);
  assert.deepEqual([audit(root).status, audit(clean).status, audit(clean, '--min', 'A').status], [1, 0, 0]);
  assert.equal(audit(join(root, 'missing')).status, 66);
  assert.equal(audit(root, '--min', 'E').status, 64);
  assert.equal(audit(root, '--json', '--sarif').status, 64);
});

test('text: place, frame, reason, what to write, and no control characters', () => {
  const root = project({ 'index.js': `${EVAL['index.js']}\nserver.tool('\u001b[2J', { c: z.any() }, ({ c }) => eval(c));` });
  const { stdout } = audit(root);
  for (const part of [/^index\.js:3:\d+  -25  /m, /^ {2}> +3 \| /m, /^ {2}why: /m, /^ {2}instead: .*SandboxEngine/m, /^[A-F]  \d+ of 100/m]) assert.match(stdout, part);
  assert.doesNotMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u007f]/);
});

test('one file, and a package as npm packs it', () => {
  const root = project({ 'package/index.js': EVAL['index.js'], 'package/test/x.js': EVAL['index.js'], 'package/package.json': '{"name":"packed"}' });
  spawnSync('tar', ['-czf', join(root, 'x-1.0.0.tgz'), '-C', root, 'package']);
  const packed = JSON.parse(audit(join(root, 'x-1.0.0.tgz'), '--json').stdout);
  assert.deepEqual([packed.project, packed.files, packed.findings.map(({ file, line }) => `${file}:${line}`)], ['packed', 1, ['index.js:3']]);
  assert.equal(packed.leftOut, 1);
  const tar = gunzipSync(readFileSync(join(root, 'x-1.0.0.tgz')));
  writeFileSync(join(root, 'cut.tar'), tar.subarray(0, tar.indexOf('package/package.json')));
  assert.match(audit(join(root, 'cut.tar')).stdout, /the archive.*cut short/);
  assert.equal(JSON.parse(audit(join(root, 'package/index.js'), '--json').stdout).findings[0].file, 'index.js');
});

test('--json has these members', () => {
  const report = found(EVAL);
  assert.deepEqual(Object.keys(report), ['grade', 'points', 'ok', 'project', 'place', 'files', 'tools', 'findings', 'unread', 'leftOut']);
  assert.deepEqual(Object.keys(report.findings[0]),
    ['rule', 'points', 'file', 'line', 'column', 'title', 'detail', 'from', 'also', 'frame', 'why', 'instead']);
  assert.deepEqual([report.grade, report.points, report.ok, report.tools], ['D', 75, false, 1]);
});

test('--sarif is SARIF 2.1.0', () => {
  const log = JSON.parse(audit(project(EVAL), '--sarif').stdout);
  const valid = new Ajv({ strict: false }).compile(SARIF);
  assert.ok(valid(log), JSON.stringify(valid.errors));
  const { tool, results } = log.runs[0];
  for (const { ruleId, ruleIndex } of results) assert.equal(tool.driver.rules[ruleIndex].id, ruleId);
});

test('--html is one page without scripts and without anything from elsewhere', () => {
  const root = project({ 'index.js': `${EVAL['index.js']}\nserver.tool('<img src=x onerror=alert(1)>', { c: z.any() }, ({ c }) => eval(c)); // </pre><script>alert(1)</script>` });
  const page = join(root, 'report.html');
  assert.equal(audit(root, '--html', page).status, 1);
  const html = readFileSync(page, 'utf8');
  assert.doesNotMatch(html, /<(script|link|iframe|object|embed|img|base|form|svg|video|audio)\b/i);
  assert.doesNotMatch(html, /\b(src|srcset|action|background)\s*=\s*["']?[^\s"'>]*\/\/|href="(?!#)|url\(|@import/i);
  assert.match(html, /Content-Security-Policy" content="default-src 'none'/);
  assert.ok(html.includes('&lt;script&gt;') && html.includes('</main></html>'));
  assert.equal(audit(root, '--html', '-').stdout, html);
});

test('one handler for all tools: a finding names the tool of its case', () => {
  const head = `import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js'; import { Server } from '@modelcontextprotocol/sdk/server/index.js';
const server = new Server({}), run = (text) => eval(text);
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const { name, arguments: args } = request.params;`;
  const tail = '\n  return {};\n});';
  for (const [body, expected] of [
    ["switch (name) { case 'list': return []; case 'run': return run(args.code); }", 'run'],
    ["if (request.params.name === 'calc') return eval(args.code);", 'calc'],
    ["if (name === 'a') return run(args.code); else if (name === 'b') return run(args.code);", 'a, b'],
    ['return run(args.code);', ''],
  ]) assert.deepEqual(found({ 'index.js': `${head}\n  ${body}${tail}` }).findings.filter(({ rule }) => rule === 'code-eval').map(({ from }) => from.tool), [expected]);
});

test('a locked version counts, not the range', () => {
  const files = { 'index.js': SDK + "import ivm from 'isolated-vm'; new ivm.Isolate({ memoryLimit: 8 });\nserver.tool('x', { c: z.number() }, () => 1);",
    'package.json': '{"dependencies":{"isolated-vm":"^4.0.0"}}' };
  const locks = (version) => [{}, { 'package-lock.json': `{"packages":{"node_modules/isolated-vm":{\n"version": "${version}"}}}` },
    { 'yarn.lock': `isolated-vm@^4.0.0:\n  version "${version}"\n` }, { 'pnpm-lock.yaml': `packages:\n\n  isolated-vm@${version}:\n    resolution: {}\n` }];
  const details = (version) => locks(version).map((lock) => found({ ...files, ...lock }).findings.map(({ detail }) => detail).join());
  assert.deepEqual(details('4.6.0'), ['isolated-vm ^4.0.0', '', '', '']);
  assert.deepEqual(details('4.2.0'), ['isolated-vm ^4.0.0', ...Array(3).fill('isolated-vm 4.2.0')]);
});

test('a file with more values than are followed is named, and costs the A', () => {
  const tools = Array.from({ length: 60 }, (_, i) => `t${i}: (c) => c + ${i}`).join(', ');
  const root = project({ 'index.js': `${SDK}const table = { ${tools} };\nserver.tool('x', { n: z.string(), c: z.string() }, ({ n, c }) => table[n](c));` });
  const { grade, unread } = JSON.parse(audit(root, '--json').stdout);
  assert.deepEqual([grade, ...unread.map(({ path, why }) => `${path}: ${why.slice(0, 27)}`)], ['B', 'index.js: it is followed only in part']);
});

test('many ways of calls to a program cost bounded time', () => {
  const ways = Array.from({ length: 300 }, (_, i) => `function f${i}(a, b) { spawn(a, b); f${(i + 1) % 300}(a, b); f${(i * 7) % 300}(a, b); }`).join('\n');
  const root = project({ 'index.js': `${SDK}import { spawn } from 'node:child_process';\n${ways}\nserver.tool('x', { c: z.string() }, ({ c }) => f0(c, []));` });
  assert.equal(JSON.parse(audit(root, '--json').stdout).grade, 'F');
});

test('a file that is not read costs the A where files with tools use it', () => {
  const server = `${SDK}import { run } from './run.js';\nserver.tool('x', { c: z.string().max(9) }, ({ c }) => run(c));`;
  for (const [path, grade] of [['run.js', 'B'], ['other.js', 'A']]) {
    const report = JSON.parse(audit(project({ 'index.js': server, [path]: 'const = ;' }), '--json').stdout);
    assert.equal(report.grade, grade);
    assert.equal(/the grade is not above B/.test(report.unread[0].why), grade === 'B');
  }
});

/* ---- hostile projects ------------------------------------------------------------ */

test('hostile: a line of 50 MB and a deep file are named, the rest is read', () => {
  const root = project({ ...EVAL, 'deep.js': `x = ${'['.repeat(200000)}`, 'line.js': `x = "${'a'.repeat(5 << 20)}"`, 'bad.js': 'const = ;' });
  writeFileSync(join(root, 'huge.js'), Buffer.alloc(50 << 20, 0x61));
  const report = JSON.parse(audit(root, '--json').stdout);
  assert.equal(report.findings.length, 1);
  assert.deepEqual(report.unread.map(({ path }) => path).sort(), ['bad.js', 'deep.js', 'huge.js', 'line.js']);
});

test('hostile: links, pipes and very deep folders', () => {
  const root = project({ ...EVAL, [`${'d/'.repeat(40)}x.js`]: EVAL['index.js'] });
  symlinkSync('/etc/passwd', join(root, 'link.js'));
  symlinkSync('/', join(root, 'root'));
  spawnSync('mkfifo', [join(root, 'pipe.js')]);
  const report = JSON.parse(audit(root, '--json').stdout);
  assert.equal(report.files, 1);
  const why = Object.fromEntries(report.unread.map((one) => [one.path.replace(/(d\/)+/, 'd/'), one.why]));
  assert.deepEqual(why, { 'link.js': 'it is a link', root: 'it is a link', 'd/d': 'it is nested too deeply' });
});

test('a project without tools is told so', () => {
  const { status, stdout } = audit(project({ 'index.js': 'eval(process.argv[2])' }));
  assert.equal(status, 0);
  assert.match(stdout, /^no tool was found: give the folder or the package of an MCP server$/m);
});

test('what has no code gets no grade', () => {
  const root = project({ 'readme.md': 'x', 'bad.js': 'const = ;' });
  spawnSync('mkfifo', [join(root, 'pipe.js')]);
  for (const [path, why] of [[root, /: bad\.js: it cannot be parsed/], [join(root, 'pipe.js'), /: pipe\.js: it is not a file/]]) {
    const { status, stdout, stderr } = audit(path);
    assert.deepEqual([status, stdout], [65, '']);
    assert.match(stderr, why);
  }
});

test('hostile: very many files', () => {
  const root = project(EVAL);
  for (let i = 0; i < 25; i++) {
    mkdirSync(join(root, `z${i}`));
    for (let k = 0; k < 1000; k++) writeFileSync(join(root, `z${i}`, `f${k}.js`), '');
  }
  const report = JSON.parse(audit(root, '--json').stdout);
  assert.deepEqual([report.files, report.findings.length], [20000, 1]);
  assert.ok(report.unread.some(({ why }) => /too many/.test(why)));
});

test('hostile: a bomb of zeros, and an archive that is none', () => {
  const root = project({});
  mkdirSync(root, { recursive: true });
  const head = Buffer.alloc(512);
  head.write('package/big.js', 0);
  head.write('77777777777\0', 124);
  head.write('0', 156);
  head.write('ustar\0', 257);
  writeFileSync(join(root, 'bomb.tgz'), gzipSync(Buffer.concat([head, Buffer.alloc(300 << 20)])));
  const bomb = audit(join(root, 'bomb.tgz'));
  assert.deepEqual([bomb.status, bomb.stdout], [65, '']);
  assert.match(bomb.stderr, /no JavaScript or TypeScript could be read in .*: the archive: unpacked it is larger than/);
  writeFileSync(join(root, 'none.tgz'), gzipSync(Buffer.alloc(4096, 0x61)));
  const none = audit(join(root, 'none.tgz'));
  assert.deepEqual([none.status, none.stdout], [65, '']);
});

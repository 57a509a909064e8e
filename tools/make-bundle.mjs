#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// make-bundle - makes a folder with the command, the addon for Node.js and all that they need,
// down to the dynamic loader and the C library, and packs it. It runs on any Linux of this
// architecture, and is a package of npm, which the package `glovebox` depends on.
//
//     tools/make-bundle.mjs BUILD OUT [--no-archive]
//
// BUILD is a folder where everything is built, OUT the folder for the result: the folder, its
// archive, and both packages. The libraries are the system's own, of Debian or its relatives,
// as files that can be replaced.
// The same build and packages give the same bytes; their date is $SOURCE_DATE_EPOCH, else
// that of the last commit, else 0.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';

const [build, out, option] = process.argv.slice(2);
if (out === undefined || (option !== undefined && option !== '--no-archive')) {
  console.error('usage: tools/make-bundle.mjs BUILD OUT [--no-archive]');
  process.exit(64);
}
const root = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const run = (program, ...args) => execFileSync(program, args, { encoding: 'utf8', cwd: root, env: { ...process.env, LC_ALL: 'C' } });

function commitDate() {
  try {
    return execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return 0; // sources without a repository
  }
}

const version = /VERSION (\d+\.\d+\.\d+)/.exec(readFileSync(join(root, 'CMakeLists.txt'), 'utf8'))[1];
const date = Number(process.env.SOURCE_DATE_EPOCH ?? commitDate());
const name = `glovebox-${version}-linux-${process.arch}`;
const bundle = resolve(out, name);
const addon = resolve(build, 'node', 'glovebox.node');

const PLATFORM_PACKAGE = {
  name: `glovebox-linux-${process.arch}`,
  version,
  description: 'The programs and libraries of Glovebox for one kind of machine',
  license: 'MIT',
  os: ['linux'],
  cpu: [process.arch],
};

// Loaded by name and not linked: fetch, its TLS and the databases.
const LOADED = ['libcurl.so.4', 'libcrypto.so.3', 'libssl.so.3', 'libsqlite3.so.0'];

/** The libraries that a program or library needs, as pairs of name and path. */
function closure(path) {
  const found = run('ldd', path).matchAll(/^\s+(?:(\S+) => )?(\/\S+) \(/gm);
  return [...found].map(([, soname, file]) => [soname ?? basename(file), file]);
}

function installed() {
  const stage = mkdtempSync(join(tmpdir(), 'glovebox-bundle-'));
  run('cmake', '--install', resolve(build), '--prefix', stage, '--strip');
  return stage;
}

function copyLibraries(programs) {
  const cache = run('/sbin/ldconfig', '-p');
  const loaded = LOADED.map((soname) => {
    const path = new RegExp(`^\\s+${soname.replaceAll('.', '\\.')} \\(libc6,.*=> (.*)$`, 'm').exec(cache)?.[1];
    if (path === undefined) throw new Error(`${soname} is not installed: run tools/install-deps run`);
    return [soname, path];
  });
  const libraries = new Map([...loaded, ...programs.flatMap(closure), ...loaded.flatMap(([, path]) => closure(path))]);
  const sources = [];
  for (const [soname, path] of [...libraries].sort()) {
    const owner = packageOf(realpathSync(path));
    const isLoader = soname.startsWith('ld-linux');
    // The addon uses the C library of its process, and must not find parts of another one.
    const isC = owner.startsWith('libc6');
    const to = join(bundle, 'lib', isLoader ? 'ld.so' : join(isC ? 'glibc' : '', soname));
    copyFileSync(path, to);
    chmodSync(to, isLoader ? 0o755 : 0o644);
    sources.push({ file: relative(bundle, to), owner });
  }
  return sources;
}

/** The package that a file came from. Its database may have it below / or below /usr. */
function packageOf(path) {
  const places = [path, path.replace(/^\/usr\//, '/'), `/usr${path}`];
  for (const place of places) {
    try {
      return execFileSync('dpkg-query', ['-S', place], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split(': ')[0].split(',')[0];
    } catch { /* the next place */ }
  }
  throw new Error(`no package has ${path}`);
}

/** The packages of the libraries, with their licences and the names of their sources. */
function describe(sources) {
  const packages = new Map();
  for (const { file, owner } of sources) {
    if (!packages.has(owner)) packages.set(owner, []);
    packages.get(owner).push(file);
  }
  return [...packages].sort().map(([owner, files]) => {
    const [packaged, source, sourceVersion] = run('dpkg-query', '-W', '-f', '${Version}\t${source:Package}\t${source:Version}', owner).split('\t');
    const short = owner.split(':')[0];
    copyFileSync(`/usr/share/doc/${short}/copyright`, join(bundle, 'licences', short));
    return { name: short, version: packaged, source: `${source} ${sourceVersion}`, files };
  });
}

const digest = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1)).flatMap((entry) =>
    entry.isDirectory() ? filesOf(join(folder, entry.name)) : [join(folder, entry.name)]);
}

/** What is in the bundle, in SPDX 2.3. */
function billOfMaterials(packages) {
  const id = (text) => `SPDXRef-${text.replace(/[^A-Za-z0-9.-]/g, '-')}`;
  const entry = (one) => ({
    SPDXID: id(one.name),
    name: one.name,
    versionInfo: one.version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION',
    licenseDeclared: one.licence ?? 'NOASSERTION',
    copyrightText: 'NOASSERTION',
    ...(one.source && { sourceInfo: `built from the Debian source package ${one.source}; files: ${one.files.join(', ')}` }),
  });
  const all = [{ name: 'glovebox', version, licence: 'MIT' }, ...packages];
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name,
    documentNamespace: `urn:glovebox:${name}:${digest(join(bundle, 'lib', 'glovebox'))}`,
    creationInfo: { created: new Date(date * 1000).toISOString().replace(/\.\d+/, ''), creators: ['Tool: make-bundle'] },
    packages: all.map(entry),
    relationships: all.map((one) => ({
      spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: id(one.name),
    })),
  };
}

function makeFolder() {
  const stage = installed();
  rmSync(bundle, { recursive: true, force: true });
  for (const folder of ['bin', 'lib/glibc', 'licences']) mkdirSync(join(bundle, folder), { recursive: true });
  for (const program of ['glovebox', 'glovebox-worker', 'glovebox-keeper'])
    copyFileSync(join(stage, 'bin', program), join(bundle, 'lib', program));
  run('strip', '-o', join(bundle, 'bin', 'glovebox'), resolve(build, 'bin', 'glovebox-launcher'));
  run('strip', '-o', join(bundle, 'lib', 'glovebox.node'), addon);
  copyFileSync(join(root, 'tools', 'bundle-install.sh'), join(bundle, 'install.sh'));
  cpSync(join(stage, 'share'), join(bundle, 'share'), { recursive: true });
  const packages = describe(copyLibraries([...['glovebox', 'glovebox-worker'].map((one) => join(stage, 'bin', one)), addon]));
  rmSync(stage, { recursive: true });
  writeFileSync(join(bundle, 'package.json'), `${JSON.stringify(PLATFORM_PACKAGE, null, 2)}\n`);
  copyFileSync(join(root, 'LICENSE'), join(bundle, 'LICENSE'));
  writeFileSync(join(bundle, 'sbom.spdx.json'), `${JSON.stringify(billOfMaterials(packages), null, 1)}\n`);
  const sums = filesOf(bundle).map((path) => `${digest(path)}  ${relative(bundle, path)}\n`);
  writeFileSync(join(bundle, 'SHA256SUMS'), sums.join(''));
}

function pack() {
  const archive = `${bundle}.tar.gz`;
  const tar = ['--sort=name', `--mtime=@${date}`, '--owner=0', '--group=0', '--numeric-owner', '--mode=u+rw,go=rX'];
  execFileSync('sh', ['-c', 'archive=$1; shift; tar "$@" | gzip -9n >"$archive"', 'sh', archive,
    '-C', resolve(out), ...tar, '-c', name], { stdio: 'inherit' });
  writeFileSync(`${archive}.sha256`, `${digest(archive)}  ${basename(archive)}\n`);
  return archive;
}

/** Both packages of npm; tools/pack.mjs makes the folder of the one without a machine. */
function packForNpm() {
  const stage = mkdtempSync(join(tmpdir(), 'glovebox-npm-'));
  run(process.execPath, join(root, 'node', 'tools', 'pack.mjs'), stage);
  const packed = [stage, bundle].map((folder) =>
    run('npm', 'pack', folder, '--pack-destination', resolve(out), '--silent').trim());
  rmSync(stage, { recursive: true });
  return packed.map((file) => join(resolve(out), file));
}

mkdirSync(out, { recursive: true });
makeFolder();
const size = (path) => `${(statSync(path).size / 1e6).toFixed(1)} MB`;
const unpacked = filesOf(bundle).reduce((sum, path) => sum + statSync(path).size, 0);
console.log(`${bundle}: ${(unpacked / 1e6).toFixed(1)} MB`);
if (option === undefined)
  for (const archive of [pack(), ...packForNpm()]) console.log(`${archive}: ${size(archive)}`);

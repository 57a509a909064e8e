#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// make-bundle - makes a folder with the command, the addon for Node.js and all that they need,
// down to the dynamic loader and the C library, and packs it. It runs on any Linux of this
// architecture, and is a package of npm, which the package `glovebox` depends on.
//
//     tools/make-bundle.mjs BUILD OUT [folder] [archive] [npm] [image] [mcpb] [deb] [registry]
//
// BUILD is a folder where everything is built, OUT the folder for the result: without a choice
// all of these. The libraries are the system's own, of Debian or its relatives, as files that can
// be replaced, but for three that are linked and not used; only the package for Debian leaves them out. $MCP_NAME is the releaser's name in
// the registry of MCP, such as io.github.somebody/glovebox; without it nothing is made for that.
// The same build and packages give the same bytes; their date is $SOURCE_DATE_EPOCH, else
// that of the last commit, else 0.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';

const KINDS = {
  folder: () => [],
  archive: () => [pack()],
  npm: packForNpm,
  image: () => [packImage()],
  mcpb: () => [packForClients()],
  deb: () => [packForDebian()],
  registry: () => (process.env.MCP_NAME ? [describeForRegistry()] : []),
};
const [build, out, ...chosen] = process.argv.slice(2);
if (out === undefined || chosen.some((kind) => KINDS[kind] === undefined)) {
  console.error(`usage: tools/make-bundle.mjs BUILD OUT [${Object.keys(KINDS).join('] [')}]`);
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

const MAINTAINER = 'The Glovebox developers <maintainers@glovebox.invalid>';

const PLATFORM_PACKAGE = {
  name: `glovebox-linux-${process.arch}`,
  version,
  description: 'The programs and libraries of Glovebox for one kind of machine',
  license: 'MIT',
  os: ['linux'],
  cpu: [process.arch],
};

const ENGINE = 'libjavascriptcoregtk-4.1.so.0';

// Loaded by name and not linked: fetch, its TLS, the databases, tokens of clients.
const LOADED = ['libcurl.so.4', 'libcrypto.so.3', 'libssl.so.3', 'libsqlite3.so.0', 'libcjose.so.0', 'libevent_openssl-2.1.so.7'];

const PLUGIN = 'libglovebox-runner-nats.so.0';

function pathOf(soname) {
  const path = new RegExp(`^\\s+${soname.replaceAll('.', '\\.')} \\(libc6,.*=> (.*)$`, 'm').exec(run('/sbin/ldconfig', '-p'))?.[1];
  if (path === undefined) throw new Error(`${soname} is not installed: run tools/install-deps run`);
  return path;
}

// The engine links them for its other interfaces. What is used of it calls none of their functions,
// and they bring ten libraries more, which take a tenth of a start to load.
const UNUSED = ['libgio-2.0.so.0', 'libgobject-2.0.so.0', 'libsystemd.so.0'];

const neededBy = (path) => [...run('objdump', '-p', path).matchAll(/^ +NEEDED +(\S+)/gm)].map(([, soname]) => soname);

/** The libraries that files need, as a map from name to path; UNUSED ones need none. */
function closure(files) {
  const paths = new Map(files.flatMap((path) => [...run('ldd', path).matchAll(/^\s+(?:(\S+) => )?(\/\S+) \(/gm)])
    .map(([, soname, path]) => [soname ?? basename(path), path]));
  const found = new Map();
  const add = (file) => {
    for (const soname of neededBy(file)) {
      if (found.has(soname)) continue;
      found.set(soname, paths.get(soname) ?? pathOf(soname));
      if (!UNUSED.includes(soname)) add(found.get(soname));
    }
  };
  files.forEach(add);
  return found;
}

/** A library of that name whose functions, those that the engine binds, end the process. */
function makeStub(soname, path, to) {
  const folder = temporary();
  const defined = new Set([...run('nm', '-D', '--defined-only', path).matchAll(/ T ([^\s@]+)/g)].map(([, symbol]) => symbol));
  const bound = [...run('nm', '-D', '--undefined-only', '--with-symbol-versions', pathOf(ENGINE)).matchAll(/ U ([^\s@]+)(?:@(\S+))?/g)]
    .filter(([, symbol]) => defined.has(symbol));
  const nodes = [...new Set(bound.map(([, , node]) => node))].filter(Boolean);
  writeFileSync(join(folder, 'stub.c'), bound.map(([, symbol]) => `void ${symbol}(void) { __builtin_trap(); }\n`).join(''));
  writeFileSync(join(folder, 'map'), nodes.map((node) => `${node} { global: ${
    bound.filter(([, , one]) => one === node).map(([, symbol]) => `${symbol};`).join(' ')} };\n`).join(''));
  run('cc', '-shared', '-fPIC', '-O2', '-s', '-nostdlib', '-fno-builtin', `-Wl,-soname,${soname},--build-id=none`,
    ...(nodes.length > 0 ? [`-Wl,--version-script,${join(folder, 'map')}`] : []), '-o', to, join(folder, 'stub.c'));
  rmSync(folder, { recursive: true });
}

const temporary = () => mkdtempSync(join(tmpdir(), 'glovebox-bundle-'));

function installed(prefix = temporary()) {
  run('cmake', '--install', resolve(build), '--prefix', prefix, '--strip');
  return prefix;
}

/** The runner on NATS, which is built where libnats is: a list of its file, or nothing. */
const pluginIn = (stage) => filesOf(stage).filter((path) => basename(path) === PLUGIN);

function copyLibraries(programs) {
  const loaded = LOADED.map((soname) => [soname, pathOf(soname)]);
  const libraries = new Map([...loaded, ...closure([...programs, ...loaded.map(([, path]) => path)])]);
  const sources = [];
  for (const [soname, path] of [...libraries].sort()) {
    if (UNUSED.includes(soname)) {
      makeStub(soname, path, join(bundle, 'lib', soname));
      sources.push({ file: `lib/${soname}` });
      continue;
    }
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

/** Debian's, without those that this machine has added. */
function certificates() {
  const files = run('dpkg-query', '-L', 'ca-certificates').split('\n').filter((path) => path.endsWith('.crt'));
  return files.sort().map((path) => readFileSync(path, 'utf8')).join('');
}

/** The packages of the libraries, with their licences and the names of their sources. */
function describe(sources) {
  const packages = new Map();
  for (const { file, owner } of sources.filter((one) => one.owner !== undefined)) {
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
function billOfMaterials(packages, stubs) {
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
    sourceInfo: `built from ${one.source ? `the Debian source package ${one.source}` : 'its own sources'}; files: ${one.files.join(', ')}`,
  });
  const all = [{ name: 'glovebox', version, licence: 'MIT', files: ['bin/glovebox', 'lib/glovebox*', ...pluginIn(bundle).map((path) => relative(bundle, path)), ...stubs] }, ...packages];
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
  for (const plugin of pluginIn(stage)) copyFileSync(plugin, join(bundle, 'lib', PLUGIN));
  copyFileSync(join(root, 'tools', 'bundle-install.sh'), join(bundle, 'install.sh'));
  cpSync(join(stage, 'share'), join(bundle, 'share'), { recursive: true });
  const sources = copyLibraries([...['glovebox', 'glovebox-worker'].map((one) => join(stage, 'bin', one)), addon, ...pluginIn(stage)]);
  const packages = describe([...sources, { file: 'lib/ca-certificates.crt', owner: 'ca-certificates' }]);
  const stubs = sources.filter(({ owner }) => owner === undefined).map(({ file }) => file);
  rmSync(stage, { recursive: true });
  writeFileSync(join(bundle, 'lib', 'ca-certificates.crt'), certificates());
  // Packers change times of files: `glovebox doctor` shows the engine's day.
  writeFileSync(join(bundle, 'lib', 'engine-date'), statSync(realpathSync(pathOf(ENGINE))).mtime.toISOString().slice(0, 10));
  writeFileSync(join(bundle, 'package.json'), `${JSON.stringify(PLATFORM_PACKAGE, null, 2)}\n`);
  copyFileSync(join(root, 'LICENSE'), join(bundle, 'LICENSE'));
  writeFileSync(join(bundle, 'sbom.spdx.json'), `${JSON.stringify(billOfMaterials(packages, stubs), null, 1)}\n`);
  const sums = filesOf(bundle).map((path) => `${digest(path)}  ${relative(bundle, path)}\n`);
  writeFileSync(join(bundle, 'SHA256SUMS'), sums.join(''));
}

/** A tar archive of names in a folder; `pipe` is a shell's "| gzip" or nothing. */
function tar(archive, pipe, folder, ...names) {
  const same = ['--sort=name', `--mtime=@${date}`, '--owner=0', '--group=0', '--numeric-owner', '--mode=u+rw,go=rX'];
  execFileSync('sh', ['-c', `archive=$1; shift; tar "$@" ${pipe} >"$archive"`, 'sh', archive, '-C', folder, ...same, '-c', ...names], { stdio: 'inherit' });
}

function pack() {
  const archive = `${bundle}.tar.gz`;
  if (existsSync(archive)) return archive; // made for the image
  tar(archive, '| gzip -9n', resolve(out), name);
  return archive;
}

/** Both packages of npm; tools/pack.mjs makes the folder of the one without a machine. */
function packForNpm() {
  const stage = temporary();
  run(process.execPath, join(root, 'node', 'tools', 'pack.mjs'), stage);
  const packed = [stage, bundle].map((folder) =>
    run('npm', 'pack', folder, '--pack-destination', resolve(out), '--silent').trim());
  rmSync(stage, { recursive: true });
  return packed.map((file) => join(resolve(out), file));
}

/**
 * An image for containers with nothing but the bundle, whose archive is its one layer. It is as
 * `docker load`, `podman load` and the tools of the Open Container Initiative read it.
 */
function packImage() {
  const layout = temporary();
  const blobs = join(layout, 'blobs', 'sha256');
  mkdirSync(blobs, { recursive: true });
  const put = (from, mediaType) => {
    const sum = digest(from);
    copyFileSync(from, join(blobs, sum));
    return { mediaType, digest: `sha256:${sum}`, size: statSync(from).size };
  };
  const putJson = (value, mediaType) => {
    writeFileSync(join(layout, 'blob'), JSON.stringify(value));
    return put(join(layout, 'blob'), mediaType);
  };
  const archive = pack();
  const type = 'application/vnd.oci.image';
  const layer = put(archive, `${type}.layer.v1.tar+gzip`);
  const config = putJson({
    created: new Date(date * 1000).toISOString(),
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { User: '65532:65532', Env: [`PATH=/${name}/bin`], Entrypoint: [`/${name}/bin/glovebox`], Cmd: ['help'], WorkingDir: '/' },
    rootfs: { type: 'layers', diff_ids: [`sha256:${run('sh', '-c', 'gzip -dc "$1" | sha256sum', 'sh', archive).split(' ')[0]}`] },
  }, `${type}.config.v1+json`);
  const manifest = putJson({ schemaVersion: 2, mediaType: `${type}.manifest.v1+json`, config, layers: [layer] }, `${type}.manifest.v1+json`);
  manifest.annotations = { 'org.opencontainers.image.ref.name': `glovebox:${version}` };
  const path = (blob) => `blobs/sha256/${blob.digest.slice('sha256:'.length)}`;
  const files = {
    'oci-layout': { imageLayoutVersion: '1.0.0' },
    'index.json': { schemaVersion: 2, manifests: [manifest] },
    'manifest.json': [{ Config: path(config), RepoTags: [`glovebox:${version}`], Layers: [path(layer)] }],
  };
  for (const [file, value] of Object.entries(files)) writeFileSync(join(layout, file), JSON.stringify(value));
  tar(`${bundle}.image.tar`, '', layout, 'blobs', ...Object.keys(files));
  rmSync(layout, { recursive: true });
  return `${bundle}.image.tar`;
}

/** For clients of MCP that install servers: a bundle of their kind, which asks for a file of data. */
function packForClients() {
  const archive = `${bundle}.mcpb`, stage = temporary(), command = 'server/bin/glovebox';
  cpSync(bundle, join(stage, 'server'), { recursive: true });
  writeFileSync(join(stage, 'manifest.json'), `${JSON.stringify({
    manifest_version: '0.3',
    name: 'glovebox',
    version,
    description: 'Lets a model compute over a file of records without seeing them',
    author: { name: 'The Glovebox developers' },
    license: 'MIT',
    server: {
      type: 'binary',
      entry_point: command,
      mcp_config: { command: `\${__dirname}/${command}`, args: ['mcp', '--data', 'data=${user_config.file}'] },
    },
    user_config: {
      file: { type: 'file', title: 'Data', description: 'Records as JSON, NDJSON or CSV', required: true },
    },
    compatibility: { platforms: ['linux'] },
  }, null, 2)}\n`);
  rmSync(archive, { force: true });
  run('sh', '-c', 'cd "$1" && find . -exec touch -h -d "@$2" {} + && find . -type f | LC_ALL=C sort | zip -9Xqo "$3" -@', 'sh', stage, String(date), archive);
  rmSync(stage, { recursive: true });
  return archive;
}

/** What the registry of MCP is told: the package of npm, and which file of data it asks for. */
function describeForRegistry() {
  const file = join(resolve(out), 'server.json');
  writeFileSync(file, `${JSON.stringify({
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: process.env.MCP_NAME,
    title: 'Glovebox',
    description: 'Lets a model compute over a file of records without seeing them',
    version,
    packages: [{
      registryType: 'npm',
      identifier: 'glovebox',
      version,
      runtimeHint: 'npx',
      transport: { type: 'stdio' },
      packageArguments: [
        { type: 'positional', value: 'mcp' },
        { type: 'named', name: '--data', value: 'data={file}',
          variables: { file: { description: 'Records as JSON, NDJSON or CSV', format: 'filepath', isRequired: true } } },
      ],
    }],
  }, null, 2)}\n`);
  return file;
}

/** The command as a package of Debian, which depends on the system's libraries. */
function packForDebian() {
  const stage = temporary(), control = join(stage, 'DEBIAN');
  const architecture = run('dpkg', '--print-architecture').trim();
  const file = join(resolve(out), `glovebox_${version}_${architecture}.deb`);
  installed(join(stage, 'usr'));
  for (const plugin of pluginIn(stage)) copyFileSync(plugin, join(stage, PLUGIN));
  for (const folder of ['include', 'lib']) rmSync(join(stage, 'usr', folder), { recursive: true });
  const plugins = pluginIn(stage).map((plugin) => {
    const to = join(stage, 'usr', 'lib', PLUGIN); // where the command's RUNPATH is
    mkdirSync(dirname(to));
    renameSync(plugin, to);
    return to;
  });
  const doc = join(stage, 'usr', 'share', 'doc', 'glovebox');
  cpSync(join(root, 'LICENSE'), join(doc, 'copyright'));
  rmSync(join(doc, 'LICENSE'));
  cpSync(join(root, 'CHANGELOG.md'), join(doc, 'CHANGELOG.md'));
  writeFileSync(join(doc, 'changelog'), [`glovebox (${version}) unstable; urgency=medium`, '', '  * CHANGELOG.md has what is new.', '',
    ` -- ${MAINTAINER}  ${run('date', '--utc', '-R', '-d', `@${date}`).trim()}`, ''].join('\n'));
  run('gzip', '-9nr', join(doc, 'changelog'), join(stage, 'usr', 'share', 'man'));
  const programs = [...['glovebox', 'glovebox-worker'].map((program) => join(stage, 'usr', 'bin', program)), ...plugins];
  const linked = programs.flatMap((program) => [...run('objdump', '-p', program).matchAll(/NEEDED +(\S+)/g)].map(([, soname]) => soname));
  const needed = new Set([...LOADED, ...linked].map((soname) => packageOf(pathOf(soname)).split(':')[0]));
  mkdirSync(control);
  writeFileSync(join(control, 'control'), [
    'Package: glovebox', `Version: ${version}`, `Architecture: ${architecture}`, 'Section: utils', 'Priority: optional',
    `Maintainer: ${MAINTAINER}`, `Installed-Size: ${run('du', '-sk', stage).split('\t')[0]}`,
    `Depends: ${[...needed].sort().join(', ')}`,
    'Description: runs untrusted JavaScript in sealed single-use processes',
    ' Code goes in, only the computed result comes out. Every call runs in a process',
    ' that the kernel has sealed, over data that must not leak. The command is also',
    ' a server for the Model Context Protocol.', ''].join('\n'));
  run('sh', '-c', 'chmod -R u+rw,go=rX "$1" && find "$1" -exec touch -h -d "@$2" {} +', 'sh', stage, String(date));
  execFileSync('dpkg-deb', ['--build', '--root-owner-group', stage, file], { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, SOURCE_DATE_EPOCH: String(date) } });
  rmSync(stage, { recursive: true });
  return file;
}

mkdirSync(out, { recursive: true });
for (const old of readdirSync(out).filter((file) => file.startsWith(name))) rmSync(join(out, old), { recursive: true });
makeFolder();
const size = (path) => `${(statSync(path).size / 1e6).toFixed(1)} MB`;
const unpacked = filesOf(bundle).reduce((sum, path) => sum + statSync(path).size, 0);
console.log(`${bundle}: ${(unpacked / 1e6).toFixed(1)} MB`);
const made = (chosen.length > 0 ? chosen : Object.keys(KINDS)).flatMap((kind) => KINDS[kind]());
for (const file of made) console.log(`${file}: ${size(file)}`);
writeFileSync(join(out, 'SHA256SUMS'), made.map((file) => `${digest(file)}  ${basename(file)}\n`).join(''));

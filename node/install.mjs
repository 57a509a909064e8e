#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// install - what `npm install` runs: the addon is there, or is built by CMake from the
// sources in the package. Nothing is downloaded.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const core = join(here, 'core');
const place = `${process.platform}-${process.arch}`;

/** A program or library that is needed, and the Debian package that has it. */
const NEEDED = [
  ['cmake', 'cmake'], ['cc', 'gcc libc6-dev'], ['make', 'make'], ['pkg-config', 'pkg-config'],
];
const LIBRARIES = [
  ['javascriptcoregtk-4.1', 'libjavascriptcoregtk-4.1-dev'], ['libseccomp', 'libseccomp-dev'],
  ['libevent_core', 'libevent-dev'], ['libcrypto', 'libssl-dev'], ['libidn2', 'libidn2-dev'],
  ['libcurl', 'libcurl4-openssl-dev'],
];

const say = (text) => process.stdout.write(`glovebox: ${text}\n`);

function fails(program, ...args) {
  const { error, status } = spawnSync(program, args, { stdio: 'ignore' });
  return error !== undefined || status !== 0;
}

function missing() {
  const packages = NEEDED.filter(([program]) => fails(program, '--version')).map(([, name]) => name);
  if (fails('pkg-config', '--version')) return packages;
  return packages.concat(LIBRARIES.filter(([name]) => fails('pkg-config', '--exists', name)).map(([, name]) => name));
}

function isThere() {
  for (const folder of ['native', 'prebuilt']) {
    const file = join(here, folder, place, 'glovebox.node');
    if (!existsSync(file)) continue;
    try {
      createRequire(import.meta.url)(file);
      return true;
    } catch (error) {
      say(`'${file}' does not load here (${error.message}): building it anew`);
    }
  }
  return false;
}

function build() {
  const folder = join(here, 'build');
  const jobs = String(availableParallelism?.() ?? cpus().length);
  const cmake = (...args) => execFileSync('cmake', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    cmake('-S', core, '-B', folder, '-DCMAKE_BUILD_TYPE=Release', '-DGLOVEBOX_ADDON=ON',
      '-DGLOVEBOX_COMMAND=OFF', '-DGLOVEBOX_TESTS=OFF', '-DGLOVEBOX_BENCH=OFF', '--log-level=WARNING',
      `-DGLOVEBOX_GRAMMARS=${join(core, 'npm')}`, `-DGLOVEBOX_WEB_SCRIPTS=${join(core, 'npm', 'web')}`,
      `-DGLOVEBOX_NODE_HEADERS=${join(core, 'node', 'headers')}`,
      `-DGLOVEBOX_NODE_NATIVE=${join(here, 'native')}`);
    cmake('--build', folder, '--target', 'node', '--parallel', jobs);
  } catch (error) {
    if (error.stdout) process.stdout.write(error.stdout);
    throw error;
  }
  rmSync(folder, { recursive: true, force: true });
}

if (!existsSync(core)) {
  say('these are the sources of the package: `make node` builds the addon');
} else if (process.platform !== 'linux') {
  say('code runs in processes that Linux seals: this is not Linux, so every call will say UNAVAILABLE');
} else if (!isThere()) {
  const packages = missing();
  if (packages.length > 0) {
    say(`to build the addon these packages are missing (Debian's names):\n\n    apt-get install ${packages.join(' ')}\n`);
    process.exit(1);
  }
  say('building the addon and the worker program from the sources in the package');
  build();
}

#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// glovebox - starts the command that is in the package for this kind of machine, passes on the
// signals that end it, and ends as it does.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const UNAVAILABLE = 69;
const name = `glovebox-${process.platform}-${process.arch}`;

function fail(text) {
  process.stderr.write(`glovebox: ${text}\n`);
  process.exit(UNAVAILABLE);
}

function find() {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin', 'glovebox');
  } catch {
    return fail(name === 'glovebox-linux-x64'
      ? `the package '${name}' is not installed: run \`npm install --include=optional\``
      : `it runs on Linux and x64 processors, and this is ${process.platform}-${process.arch}`);
  }
}

// Before the command starts: it may serve, and be told to end, while this process waits for its turn.
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
// A terminal sends these to both processes, and twice means at once.
for (const signal of ['SIGINT', 'SIGQUIT']) process.on(signal, () => {});
const child = spawn(find(), process.argv.slice(2), { stdio: 'inherit' });
child.on('error', (error) => fail(`cannot start the command: ${error.message}`));
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});

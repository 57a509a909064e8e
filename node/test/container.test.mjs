// SPDX-License-Identifier: MIT
/* A server under the seccomp profile that the documentation gives for containers. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const program = process.env.GLOVEBOX_UNDER_PROFILE;
const profile = fileURLToPath(new URL('../../share/container-seccomp.json', import.meta.url));
const command = `${process.env.GLOVEBOX_BUILD}/bin/glovebox`;
const env = { ...process.env, GLOVEBOX_WORKER: process.env.GLOVEBOX_WORKER };

function under(args, filter = profile) {
  const { status, stdout, stderr } = spawnSync(program, [filter, ...args], { encoding: 'utf8', env, timeout: 60000 });
  assert.equal(status, 0, stderr);
  return stdout;
}

describe("a container's profile", { skip: program === undefined && 'no program applies it' }, () => {
  it('refuses what nothing of a server needs', () => {
    const names = [
      'ptrace', 'process_vm_readv', 'process_vm_writev', 'bpf', 'perf_event_open', 'userfaultfd', 'io_uring_setup', 'keyctl',
      'add_key', 'request_key', 'init_module', 'finit_module', 'delete_module', 'kexec_load', 'reboot', 'swapon', 'swapoff',
      'open_by_handle_at', 'name_to_handle_at', 'pidfd_getfd', 'kcmp', 'mknodat', 'chroot', 'fsopen', 'move_mount', 'open_tree',
      'settimeofday', 'clock_settime', 'acct', 'quotactl', 'syslog', 'lookup_dcookie', 'vhangup', 'iopl', 'ioperm', 'modify_ldt',
    ];
    assert.deepEqual(under(['--refused', ...names]).trim().split('\n'), names);
  });

  it('leaves every layer of the seal that stands without it', () => {
    const layersOf = (text) => JSON.stringify(JSON.parse(text).layers);
    const plain = spawnSync(command, ['doctor', '--json'], { encoding: 'utf8', env });
    assert.equal(layersOf(under([command, 'doctor', '--json'])), layersOf(plain.stdout));
  });

  /* The profile with some calls of the seal alone, and changes. */
  function changed(t, isLeft, changes = {}) {
    const given = { ...JSON.parse(readFileSync(profile, 'utf8')), ...changes };
    given.syscalls.at(-1).names = given.syscalls.at(-1).names.filter(isLeft);
    const folder = mkdtempSync(join(tmpdir(), 'glovebox-profile-'));
    t.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'profile.json'), JSON.stringify(given));
    return join(folder, 'profile.json');
  }

  it('is named where it ends a process for a call that the seal needs', (t) => {
    const { stderr } = spawnSync(program, [changed(t, (name) => name !== 'seccomp', { defaultAction: 'SCMP_ACT_KILL_PROCESS' }), command, 'run', '() => 1'], { encoding: 'utf8', env });
    assert.match(stderr, /filter of system calls .* SystemCallErrorNumber=EPERM/);
  });

  it('may lose the calls of the seal but seccomp: what is required stands', (t) => {
    const { layers } = JSON.parse(under([command, 'doctor', '--json'], changed(t, (name) => name === 'seccomp')));
    assert.deepEqual(layers.filter(({ required, stands }) => required && !stands), []);
    assert.equal(layers.find(({ name }) => name === 'user namespace').stands, false);
  });

  it('lets a server of Node.js run code, read files, hash and fetch', () => {
    const source = `
      import { createServer } from 'node:http';
      import { SandboxEngine } from ${JSON.stringify(new URL('../lib/index.js', import.meta.url).href)};
      const server = createServer((_, response) => response.end('{"n":1}')).listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      const site = 'http://127.0.0.1:' + server.address().port;
      const engine = new SandboxEngine({ fetch: { allow: [site] }, fs: [${JSON.stringify(fileURLToPath(new URL('.', import.meta.url)))}], crypto: true });
      await engine.expose({ twice: async (n) => n * 2 });
      const { value, error } = await engine.execute(\`async () => [
        (await (await fetch('\${site}')).json()).n, await twice(2), (await fs.readFile('list.cmake', 'utf8')).length > 9,
        crypto.createHash('sha256').update('a').digest('hex').length]\`);
      const { code } = await engine.run({ code: '() => { for (;;); }', limits: { timeoutMs: 1000 } });
      console.log(JSON.stringify([value ?? error, code]));
      await engine.close();
      server.close();`;
    assert.deepEqual(JSON.parse(under([process.execPath, '--input-type=module', '-e', source])), [[1, 4, true, 64], 'TIMEOUT']);
  });

  it('lets the MCP server compute over data', async () => {
    const data = fileURLToPath(new URL('../../examples/data/orders.csv', import.meta.url));
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StdioClientTransport({ command: program, args: [profile, command, 'mcp', '--data', `orders=${data}`], env }));
    const { content } = await client.callTool({ name: 'compute', arguments: { code: '(orders) => orders.length > 0' } });
    assert.match(content[0].text, /true/);
    await client.close();
  });
});

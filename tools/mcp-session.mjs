#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// mcp-session - makes examples/mcp-session.md: a session of `glovebox mcp` with real servers,
// as a newcomer can follow it. Everything in it that a program says was said by one.
//
//     mcp-session.mjs GLOVEBOX [--check]
//
// With --check nothing is written: exit status 1 if the page says otherwise. The servers
// and the client are those of tests/mcp; where the page says npx they are run from there.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [glovebox, check] = [resolve(process.argv[2]), process.argv[3] === '--check'];
const root = resolve(import.meta.dirname, '..');
const packages = join(root, 'tests/mcp/node_modules');
const require = createRequire(join(root, 'tests/mcp/package.json'));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
const { ElicitRequestSchema } = await load('@modelcontextprotocol/sdk/types.js');

const folder = mkdtempSync(join(tmpdir(), 'glovebox-session-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const orders = {
  'north.csv': 'customer,amount\nAda,120\nBob,35\n',
  'south.csv': 'customer,amount\nAda,15\nCy,230\n',
  'west.csv': 'customer,amount\nBob,8\nDee,410\n',
};
mkdirSync(join(folder, 'orders'));
for (const [name, text] of Object.entries(orders)) writeFileSync(join(folder, 'orders', name), text);

/** The configuration as the page shows it, and as it is run here. */
function configuration(ours) {
  const server = (name, ...args) => ({ command: 'npx', args: ['-y', `@modelcontextprotocol/server-${name}`, ...args] });
  return {
    mcpServers: {
      files: server('filesystem', '/home/you/orders'),
      memory: server('memory'),
      everything: server('everything'),
    },
    ...(ours ? { glovebox: ours } : {}),
  };
}

function write(config) {
  const local = structuredClone(config);
  for (const server of Object.values(local.mcpServers)) {
    const [, name, ...args] = server.args;
    server.command = process.execPath;
    server.args = [join(packages, name, 'dist/index.js'), ...args.map((arg) => arg.replace('/home/you', folder))];
  }
  local.mcpServers.memory.env = { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') };
  writeFileSync(join(folder, 'mcp.json'), JSON.stringify(local));
}

/** What differs from run to run and from machine to machine. */
function settle(text) {
  return text.replaceAll(folder, '/home/you').replaceAll(glovebox, '/usr/local/bin/glovebox')
    .replaceAll(/\b\d+(\.\d+)? ms\b/g, 'N ms').replaceAll(/\b\d+(\.\d+)? (MB|kB|s)\b/g, 'N $2')
    .replaceAll(/ +N ms/g, '  N ms')
    .replaceAll(/ {2}\(.*namespace.*\)$/gm, '') // what doctor says where none can be had
    .replaceAll(/"(time|engine|run|callId)":"[^"]*"/g, '"$1":"..."')
    .replaceAll(/"(seq|durationMs|bytesOut|bytesIn)":[\d.]+/g, '"$1":0');
}

const page = [];
const say = (...lines) => page.push(...lines, '');
const block = (language, text) => say('```' + language, settle(text).trimEnd(), '```');

function command(...args) {
  const result = spawnSync(glovebox, ['mcp', ...args.map((arg) => arg.replace('/home/you', folder))],
    { encoding: 'utf8', env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: '' }, cwd: folder });
  block('console', `$ glovebox mcp ${args.join(' ')}\n${result.stdout}`);
}

let asked = [];

async function connect(answer) {
  const client = new Client({ name: 'host', version: '1' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    asked.push({ ...params, answer });
    return { action: 'accept', content: { answer } };
  });
  await client.connect(new StdioClientTransport({
    command: glovebox, args: ['mcp', '--config', join(folder, 'mcp.json')], stderr: 'ignore',
    env: { ...process.env, XDG_STATE_HOME: join(folder, '.local/state') },
  }));
  return client;
}

async function call(client, name, args) {
  asked = [];
  const result = await client.callTool({ name, arguments: args });
  const { code, ...rest } = args;
  say(`The model calls \`${name}\`${Object.keys(rest).length ? ` with \`${JSON.stringify(rest)}\`` : ''}:`);
  if (code) block('js', code);
  for (const question of asked) {
    say('The host shows a form, and the person chooses *' + question.answer + '*:');
    block('text', question.message);
  }
  say(result.isError ? 'The answer is an error that the model can act on:' : 'The answer:');
  block('text', result.content.map((c) => c.text ?? `[${c.type} ${c.uri ?? ''}]`).join('\n'));
  return result;
}

say('# A session', '',
  'How a model uses three ordinary MCP servers through Glovebox: one configuration, four tools,',
  'scripts instead of round trips, and a person who is asked before anything is changed.', '',
  'This page is made by `tools/mcp-session.mjs`, with the servers `server-filesystem`,',
  '`server-memory` and `server-everything` from npm; a test makes it again and compares.',
  'Times and the like are left out.');

say('## The servers', '', 'Three regions have sent their orders:');
block('console', Object.entries(orders).map(([name, text]) => `$ cat orders/${name}\n${text}`).join(''));
const first = configuration();
write(first);
say('`mcp.json` lists servers as every host does:');
block('json', JSON.stringify(first, null, 2));
say('(`glovebox mcp import` writes such a file from the hosts that you have already.)');
say('Do they start? What do they speak, and what do they have?');
command('doctor', '--config', 'mcp.json');
say('Claude Code has them through Glovebox from then on ([other hosts](../docs/mcp.md)):');
block('console', '$ claude mcp add glovebox -- glovebox mcp --config /home/you/mcp.json');

say('## What the model sees');
let client = await connect('allow for this run');
const { tools } = await client.listTools();
say(`Four tools in place of 36: ${tools.map((tool) => `\`${tool.name}\``).join(', ')}. ` +
  'It looks for what it needs:');
await call(client, 'discover', { query: 'read text', detail: 'summary' });
await call(client, 'discover', { server: 'files', tool: 'read_text_file', detail: 'types' });

say('## One script instead of many calls', '',
  'Three files are read at once, and only what was asked for comes back. Tools that say of',
  'themselves that they only read are allowed without a question.');
const path = (name) => `${folder}/orders/${name}`;
await call(client, 'execute', {
  code: `const names = ['north', 'south', 'west'];
const texts = await Promise.all(names.map((name) =>
  servers.files.read_text_file({ path: \`${folder}/orders/\${name}.csv\` })));
const sums = {};
for (const { content } of texts)
  for (const line of content.trim().split('\\n').slice(1)) {
    const [customer, amount] = line.split(',');
    sums[customer] = (sums[customer] ?? 0) + Number(amount);
  }
return sums;`,
});

say('## A person is asked before anything changes', '',
  'The knowledge graph is another server. The run waits for the answer; nothing of it is',
  'executed twice.');
await call(client, 'execute', {
  code: `const best = 'Dee';
await servers.memory.create_entities({
  entities: [{ name: best, entityType: 'customer', observations: ['ordered for 410'] }],
});
const graph = await servers.memory.read_graph({});
return graph.entities.map((e) => e.name);`,
});
await client.close();

say('## Rules', '', 'What is always right, and what never is, is a rule. The first that fits decides:');
const ruled = configuration({
  audit: 'calls.log',
  rules: [
    { action: 'deny', server: 'files', tool: 'move_file', reason: 'orders stay where they are' },
    { action: 'allow', server: 'files', tool: 'write_file', args: { path: '/home/you/orders/*.txt' } },
  ],
});
block('json', JSON.stringify({ mcpServers: '...', glovebox: ruled.glovebox }, null, 2).replace('"..."', '{ ... }'));
const local = structuredClone(ruled);
local.glovebox.rules[1].args.path = `${folder}/orders/*.txt`;
write(local);
client = await connect('deny');
await call(client, 'execute', {
  code: `const path = '${folder}/orders/';
await servers.files.write_file({ path: path + 'done.txt', content: 'all read' });
const attempts = [
  () => servers.files.move_file({ source: path + 'west.csv', destination: path + 'east.csv' }),
  () => servers.files.write_file({ path: path + '../orders/x.txt', content: '' }),
  () => servers.files.write_file({ path: path + 'north.csv', content: '' }),
];
const answers = [];
for (const attempt of attempts)
  answers.push(await attempt().catch((e) => e.code + ': ' + e.message));
return answers;`,
});
await client.close();
say('Every call is a line of the security log, with the line of the script that made it:');
block('json', readFileSync(join(folder, 'calls.log'), 'utf8').split('\n')
  .filter((line) => line.includes('"mcp.call"')).join('\n'));

say('## More', '',
  '- [The configuration, rules and secrets](../docs/mcp-reference.md)',
  '- [The security log](../docs/internals/security-log.md)');

const text = page.join('\n').replaceAll(/\n{3,}/g, '\n\n').trimEnd() + '\n';
const file = join(root, 'examples/mcp-session.md');
if (!check) writeFileSync(file, text);
const kept = readFileSync(file, 'utf8');
if (kept !== text) {
  const [was, is] = [kept.split('\n'), text.split('\n')];
  const at = is.findIndex((line, i) => line !== was[i]);
  console.error(`examples/mcp-session.md, line ${at + 1}:\n- ${was[at]}\n+ ${is[at]}\nrun tools/mcp-session.mjs again`);
  process.exit(1);
}

// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { compile } from './support/compile.mjs';

const read = (folder, kind) => readdirSync(folder).filter((name) => name.endsWith(kind))
  .map((name) => [name, readFileSync(join(folder, name), 'utf8')]);
const examples = read(fileURLToPath(new URL('../../examples/node/', import.meta.url)), '.mjs');

/* Every option may be there and undefined; everything that holds processes may be disposed. */
const OPTIONAL = `
import {
  createCodeMode, createSandboxClient, createSandboxTools, glovebox, SandboxedToolForge, SandboxEngine, validateSandboxCode,
} from 'glovebox';

const signal: AbortSignal | undefined = undefined as AbortSignal | undefined;
const none = undefined;
const engine = new SandboxEngine({ timeout: none, fetch: none, policy: none, limits: { timeoutMs: none }, console: { log: none } });
void engine.run({ code: '', signal, limits: none, seed: none, onLog: none });
void engine.execute('', 1, { signal });
const forge = new SandboxedToolForge({ memoryMB: none, fetchDomains: none });
void forge.execute({ code: '', signal, allowlist: none });
const client = createSandboxClient({ adapter: glovebox({ maxWorkers: none }) });
void client.execute({ code: '', signal, envVars: none, consoleSink: none });
const tools = createSandboxTools({ context: none });
tools.query('a').sandboxed({ timeout: none }).annotate({ title: none }).withString('b', none, { max: none });
void tools.callTool('a', none, { signal });
const mode = createCodeMode({ servers: {}, allow: none, timeoutMs: none });
void mode.run('', { signal, input: none });
validateSandboxCode('', { form: none, crypto: none });

const ends: (() => void)[] = [engine, forge, tools, mode].map((each) => () => each[Symbol.dispose]());
const promises: Promise<void>[] = [engine, client].map((each) => each[Symbol.asyncDispose]());
void [ends, promises];

const { ok, value, code, error, hint } = await engine.run<number>({ code: '' });
const told: string = ok ? value.toFixed() : code + error + (hint ?? '');
const { result, error: thrown } = await client.attempt({ code: '' });
const { violations } = validateSandboxCode('');
void [told, result, thrown?.message, violations?.length];
`;

/* Results that a program's own tests make, with the members that are published. */
const MOCKS = `
import {
  createSandboxTools, type GuardResult, type SandboxErrorCode, type SandboxExecutionResult, type SandboxResult,
} from 'glovebox';

const values: SandboxResult<number>[] = [
  { ok: true, value: 3, executionMs: 0.4 }, { ok: false, error: 'ran too long', code: 'TIMEOUT' },
];
const checked: GuardResult[] = [{ ok: true }, { ok: false, violation: 'no function' }];
const made: SandboxExecutionResult[] = [
  { success: true, output: 5, executionTimeMs: 1, memoryUsedBytes: 0 },
  { success: false, error: 'failed', executionTimeMs: 1, memoryUsedBytes: 0 },
];
const success: boolean = made.length > 1;
made.push({ success, ...(success ? { output: 5 } : { error: 'failed' }), executionTimeMs: 1, memoryUsedBytes: 0 });

class Engine {
  async execute<T>(code: string, data: unknown, options?: { signal?: AbortSignal }): Promise<SandboxResult<T>> {
    return options?.signal?.aborted ? { ok: false, error: code, code: 'ABORTED' } : { ok: true, value: data as T, executionMs: 1 };
  }
}
const f = createSandboxTools();
const result = await new Engine().execute<number[]>('(d) => d', [1]);
const shown: string = result.ok ? result.value.join() : result.error + (result.code satisfies SandboxErrorCode);
const code: SandboxErrorCode | undefined = result.code;
const lines: number | undefined = result.logs?.length;
const toldBack: number[] | ReturnType<typeof f.error> = f.result(result);
const bad = checked[1];
void [values, shown, code, lines, toldBack, bad?.ok === false && bad.violation.length];
`;

for (const [title, options] of [
  ['strictly', {}],
  ['with a library that knows nothing of disposal, and without the types of Node', { lib: ['es2022', 'dom'], types: [] }],
  ['with the types of Node and that library', { lib: ['es2022'], types: ['node'] }],
]) {
  it(`the types in themselves, options that are undefined, and disposal compile ${title}`, () => {
    const files = { 'all.ts': "export * from 'glovebox';\n", 'optional.ts': OPTIONAL, 'mocks.ts': MOCKS };
    assert.equal(compile(files, { skipLibCheck: false, ...options }), '');
  });
}

const documents = ['node.md', 'migrating.md'].flatMap((name) => {
  const text = readFileSync(fileURLToPath(new URL(`../../docs/${name}`, import.meta.url)), 'utf8');
  return [...text.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, program]) => program)
    .filter((program) => program.includes("from 'glovebox'"))
    .map((program, at) => [`${name}-${at}.mts`, program]);
});

for (const moduleResolution of ['node16', 'bundler']) {
  it(`the programs in the documents compile as TypeScript, ${moduleResolution}`, () => {
    const module = moduleResolution === 'node16' ? 'node16' : 'esnext';
    assert.equal(compile(Object.fromEntries(documents), { module, moduleResolution }), '');
  });
}

it('the examples compile as they are, checked strictly', () => {
  assert.equal(compile(Object.fromEntries(examples), { allowJs: true, checkJs: true }), '');
});

// SPDX-License-Identifier: MIT
/*
 * A program written for SandboxedToolForge of another package. The line of the import is
 * all that differs; it prints what became of each tool.
 */
import { SandboxedToolForge } from 'the-package';

const TOOLS = [
  ['a sum', 'function execute(input) { return input.a + input.b; }', { a: 2, b: 3 }, []],
  ['an object', 'function execute(input) { return { sum: input.a + input.b }; }', { a: 10, b: 20 }, []],
  ['run, async', 'async function run(input) { return (await Promise.resolve(input)).length; }', 'four', []],
  ['an arrow', 'const execute = (input) => input.map((n) => n * 2);', [1, 2, 3], []],
  ['helpers', 'const square = (n) => n * n;\nfunction execute({ n }) { return square(n) + Math.max(1, 2); }', { n: 4 }, []],
  ['nothing', 'function execute() {}', null, []],
  ['null', 'function execute() { return null; }', null, []],
  ['dates and numbers', 'function execute() { return { d: new Date(0), n: NaN, u: undefined, f: 0.1 + 0.2 }; }', null, []],
  ['text', 'function execute(s) { return s.split(" ").map((w) => w[0].toUpperCase() + w.slice(1)).join(" "); }', 'größe über alles', []],
  ['sorting', 'function execute(l) { return [...l].sort((a, b) => b.n - a.n).slice(0, 2); }', [{ n: 1 }, { n: 3 }, { n: 2 }], []],
  ['regular expressions', 'function execute(s) { return [...s.matchAll(/(\\d+)-(\\w+)/g)].map((m) => [m[1], m[2]]); }', '1-a 22-bb', []],
  ['a hash', "function execute(s) { return crypto.createHash('sha256').update(s).digest('hex'); }", 'text', ['crypto']],
  ['an HMAC', "function execute(s) { return crypto.createHmac('sha512', 'key').update(s).update('more').digest('base64'); }", 'text', ['crypto']],
  ['a UUID', 'function execute() { return /^[0-9a-f-]{36}$/.test(crypto.randomUUID()); }', null, ['crypto']],
  ['a file', 'async function execute(path) { return (await fs.readFile(path)).length; }', 'file.txt', ['fs.readFile']],
  ['a file that is not there', 'async function execute() { return fs.readFile("nothing.txt"); }', null, ['fs.readFile']],
  ['a file outside', 'async function execute() { return fs.readFile("/etc/hostname"); }', null, ['fs.readFile']],
  ['a file that is too large', 'async function execute() { return (await fs.readFile("large.bin")).length; }', null, ['fs.readFile']],
  ['an error', 'function execute() { throw new Error("no good"); }', null, []],
  ['a missing property', 'function execute(input) { return input.a.b.c; }', {}, []],
  ['a rejection', 'async function execute() { throw new TypeError("late"); }', null, []],
  ['a loop', 'function execute() { for (;;); }', null, []],
  ['no function', 'const x = 1;', null, []],
  ['types', 'function execute(input: any): number { return 1; }', null, []],
  ['a missing bracket', 'function execute(input) { return [1, 2; }', null, []],
  ['eval', 'function execute() { return eval("1"); }', null, []],
  ['Function', 'function execute() { return new Function("return 1")(); }', null, []],
  ['require', 'function execute() { return require("fs").readdirSync("/"); }', null, []],
  ['process', 'function execute() { return process.env.HOME; }', null, []],
  ['import', 'async function execute() { return import("node:fs"); }', null, []],
  ['fetch without leave', 'async function execute() { return fetch("https://example.com"); }', null, []],
  ['fs without leave', 'async function execute() { return fs.readFile("file.txt"); }', null, []],
  ['crypto without leave', 'function execute() { return crypto.createHash("md5"); }', null, []],
  ['words in a string', 'function execute() { return "import eval( process.exit"; /* require( */ }', null, []],
  ['a way out', "function execute() { return typeof Object['constr' + 'uctor']('return pro' + 'cess.env.PATH')(); }", null, []],
  ['writing', 'function execute() { return fs.writeFile("x", "y"); }', null, []],
];

const forge = new SandboxedToolForge({ timeoutMs: 3000, memoryMB: 64, fsReadRoots: [process.cwd()] });

for (const [title, code, input, allowlist] of TOOLS) {
  const { valid, violations } = forge.validateCode(code, allowlist);
  const { success, output, error, executionTimeMs, memoryUsedBytes } =
    await forge.execute({ code, input, allowlist, memoryMB: 64, timeoutMs: 3000 });
  console.log(JSON.stringify({
    title, valid, violations: violations.length > 0, success, output, error: typeof error,
    time: typeof executionTimeMs, memory: typeof memoryUsedBytes,
  }));
}
process.exit(0);

// SPDX-License-Identifier: MIT
// wire: a server as a process, and the lines that go in and out of it, without an SDK.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

const running = new Set();

/** Half a character, in a name or a text: readers that are strict refuse the whole line. */
function isWhole(value) {
  if (typeof value === 'string') return value.isWellFormed();
  return value === null || typeof value !== 'object' || Object.entries(value).flat().every(isWhole);
}

/** What nobody sees: in a line it stands as an escape, whoever reads the line. */
export const HIDDEN = /[\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/u;

/** After a test that failed in the middle: what it has left would keep the runner alive. */
export function killAll() {
  for (const child of running) child.kill('SIGKILL');
}

/** The tools that list() gives, once every dataset is read: a busy machine takes its time. */
export async function listWhenRead(list) {
  for (;;) {
    const { tools } = await list();
    if (!tools.some(({ description }) => description.includes(': being read'))) return tools;
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
}

export class Wire {
  constructor(command, args = [], options = {}) {
    this.child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], ...options });
    running.add(this.child);
    this.child.on('exit', () => running.delete(this.child));
    this.told = [];
    this.waiting = [];
    this.stderr = '';
    this.nextId = 1;
    this.child.stdin.on('error', () => {});
    this.child.stderr?.setEncoding('utf8').on('data', (text) => { this.stderr += text; });
    this.exited = new Promise((resolve) => {
      this.child.on('close', (code, signal) => {
        this.isOver = true;
        resolve({ code, signal, at: performance.now() });
      });
    });
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const message = JSON.parse(line); // stdout is pure, or this throws
      assert.doesNotMatch(line, HIDDEN);
      if (/\\ud/i.test(line)) assert.ok(isWhole(message), line.slice(0, 2000));
      this.told.push(message);
      this.waiting.splice(0).forEach((wake) => wake());
    });
    this.exited.then(() => this.waiting.splice(0).forEach((wake) => wake()));
  }

  say(message) {
    this.sayLine(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  sayLine(line) {
    this.child.stdin.write(`${line}\n`);
  }

  /** The first message that fits and was not taken yet, now or when it comes. */
  async hear(fits, ms = 240000) {
    const end = performance.now() + ms;
    for (;;) {
      const at = this.told.findIndex(fits);
      if (at >= 0) return this.told.splice(at, 1)[0];
      const left = end - performance.now();
      if (left <= 0 || this.isOver) throw new Error(`nothing fits; told ${JSON.stringify(this.told).slice(0, 2000)}; ${this.stderr}`);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, left);
        this.waiting.push(() => { clearTimeout(timer); resolve(); });
      });
    }
  }

  ask(method, params = {}, id = this.nextId++) {
    this.say({ id, method, params });
    return this.hear((m) => m.id === id && !m.method);
  }

  listTools() {
    return listWhenRead(async () => (await this.ask('tools/list')).result);
  }

  call(name, args = {}, meta = undefined) {
    return this.ask('tools/call', { name, arguments: args, ...(meta && { _meta: meta }) });
  }

  async initialize(version = '2025-11-25', capabilities = {}) {
    const answer = await this.ask('initialize', {
      protocolVersion: version, capabilities, clientInfo: { name: 'wire', version: '1' },
    });
    this.say({ method: 'notifications/initialized' });
    return answer.result;
  }

  async close() {
    this.child.stdin.end();
    return this.exited;
  }
}

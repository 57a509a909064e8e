// SPDX-License-Identifier: MIT
// page: the page of `glovebox mcp --console`, as a program reads it and as a browser does.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { until } from './processes.mjs';

const TOKEN = /open the page once by (http:\S+\/)\?token=(\w+)/g;

/** The addresses with tokens that a process has printed so far, the newest last. */
export const printed = ({ stderr }) => [...stderr.matchAll(TOKEN)].map(([, address, token]) => ({ address, token }));

/** One request as it is, with no field that is not given. */
export function send(address, { method = 'GET', headers = {}, body, path } = {}) {
  const url = new URL(address);
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: url.port, path: path ?? url.pathname + url.search, method, setHost: false,
      headers: { host: url.host, ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => { text += part; }).on('error', reject)
        .on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
    });
    sent.on('error', reject).end(body);
  });
}

/** The page that a process has printed, opened by a program. */
export async function openPage(process) {
  const { address, token } = await until(() => printed(process).at(-1));
  const { headers } = await send(`${address}?token=${token}`);
  const cookie = headers['set-cookie'][0].split(';')[0];
  const page = {
    address, token, cookie,
    get: (file, headers = {}) => send(address + file, { headers: { cookie, ...headers } }),
    post: (file, body, headers = {}) => send(address + file, { method: 'POST', body: JSON.stringify(body),
      headers: { cookie, 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers } }),
    answer: (number, answer) => page.post('answer', { number, action: 'accept', content: { answer } }),
    stream: (headers = {}) => stream(page, headers),
  };
  return page;
}

/** What the page's stream says: {type, id, data}. */
async function stream({ address, cookie }, headers) {
  const url = new URL(address);
  const all = [];
  const response = await new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: url.port, path: `${url.pathname}events`, headers: { cookie, ...headers } }, resolve)
      .on('error', reject).end();
  });
  let rest = '';
  response.setEncoding('utf8').on('error', () => {}).on('data', (part) => {
    const blocks = (rest + part).split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split('\n').map((line) => /^(\w+): (.*)$/.exec(line).slice(1)));
      all.push({ type: fields.event ?? 'message', id: Number(fields.id), data: JSON.parse(fields.data) });
    }
  });
  return {
    all, response,
    hear: (fits) => until(() => all.find(fits)),
    question: () => until(() => all.find(({ type, taken, data }) => type === 'question' && !taken &&
      !all.some((other) => other.type === 'closed' && other.data === data.number)))
      .then((found) => { found.taken = true; return found.data; }),
    end: () => response.destroy(),
  };
}

// ---- a browser ----------------------------------------------------------------------------

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
export const noBrowser = CHROMIUM === undefined && 'chromium is not installed';

const browsers = [];
after(async () => {
  for (const { child, send, home } of browsers) {
    send('Browser.close');
    await new Promise((resolve) => { child.on('exit', resolve); });
    rmSync(home, { recursive: true, maxRetries: 20 });
  }
});

/** A tab of a browser of its own, over the DevTools protocol. */
export async function browse({ dark = false, width = 1100, height = 800 } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'glovebox-chromium-'));
  const child = spawn(CHROMIUM, ['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--remote-debugging-port=0',
    '--disable-background-networking', '--disable-component-update', '--disable-dev-shm-usage', `--user-data-dir=${home}`,
    `--window-size=${width},${height}`, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: home } });
  const browser = { child, home, stderr: '', requests: [], errors: [] };
  browsers.push(browser);
  child.stderr.setEncoding('utf8').on('data', (text) => { browser.stderr += text; });
  const [, port] = await until(() => /listening on ws:\/\/127\.0\.0\.1:(\d+)\//.exec(browser.stderr));
  const tabs = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
  const socket = new WebSocket(tabs.find(({ type }) => type === 'page').webSocketDebuggerUrl);
  const waiting = new Map();
  let last = 0;
  await new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = reject; });
  socket.onmessage = ({ data }) => {
    const { id, result, error, method, params } = JSON.parse(data);
    if (method === 'Network.requestWillBeSent') browser.requests.push(params.request.url);
    if (method === 'Runtime.exceptionThrown') browser.errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === 'Log.entryAdded' && params.entry.level === 'error') browser.errors.push(`${params.entry.text} ${params.entry.url ?? ''}`);
    waiting.get(id)?.(error ? Promise.reject(new Error(error.message)) : result);
    waiting.delete(id);
  };
  browser.send = (method, params = {}) => new Promise((resolve) => {
    waiting.set(++last, resolve);
    socket.send(JSON.stringify({ id: last, method, params }));
  });
  for (const domain of ['Network', 'Runtime', 'Page', 'Log']) await browser.send(`${domain}.enable`);
  await browser.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] });
  browser.go = (url) => browser.send('Page.navigate', { url });
  /** The value of an expression in the page. */
  browser.value = async (expression) => {
    const { result, exceptionDetails } = await browser.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    assert.equal(exceptionDetails, undefined, exceptionDetails?.exception?.description);
    return result.value;
  };
  browser.until = (expression) => until(() => browser.value(expression).catch(() => false));
  browser.key = async (key, text) => {
    for (const type of ['keyDown', 'keyUp'])
      await browser.send('Input.dispatchKeyEvent', { type, key, code: key, text: type === 'keyDown' ? text : undefined,
        windowsVirtualKeyCode: { Tab: 9, Enter: 13 }[key] });
  };
  browser.click = async ([x, y]) => {
    for (const type of ['mousePressed', 'mouseReleased'])
      await browser.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
  };
  browser.picture = async (path) =>
    writeFileSync(path, Buffer.from((await browser.send('Page.captureScreenshot', { format: 'png' })).data, 'base64'));
  return browser;
}

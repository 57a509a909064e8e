// SPDX-License-Identifier: MIT
// collector: a collector of traces of the tests, which takes OTLP over HTTP as JSON.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after } from 'node:test';

const HEX = { traceId: /^[0-9a-f]{32}$/, spanId: /^[0-9a-f]{16}$/, parentSpanId: /^[0-9a-f]{16}$/ };
const valueOf = ({ stringValue, intValue }) => stringValue ?? Number(intValue);
const object = (attributes) => Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));

/** A span as tests look at it, once its form is right. */
function read(span) {
  for (const [name, form] of Object.entries(HEX)) if (span[name] !== undefined) assert.match(span[name], form);
  assert.equal(new Set(span.attributes.map(({ key }) => key)).size, span.attributes.length);
  assert.ok(BigInt(span.startTimeUnixNano) <= BigInt(span.endTimeUnixNano));
  return { ...span, attributes: object(span.attributes),
    start: BigInt(span.startTimeUnixNano), end: BigInt(span.endTimeUnixNano) };
}

/**
 * A collector. answer(response, request) decides what it says, and returns true if the spans are to
 * be counted as taken; without it, it takes all.
 */
export async function collect(answer) {
  const requests = []; // {path, headers, body, resource}
  const spans = [];
  let waiting = [];
  const collector = { requests, spans, answer };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const { resourceSpans } = JSON.parse(body);
    assert.equal(request.method, 'POST');
    assert.equal(request.headers['content-type'], 'application/json');
    assert.equal(resourceSpans.length, 1);
    requests.push({ path: request.url, headers: request.headers, body,
      resource: object(resourceSpans[0].resource.attributes) });
    const how = collector.answer;
    const isTaken = how ? how(response, request) : true;
    if (!how) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    if (isTaken) spans.push(...resourceSpans[0].scopeSpans.flatMap((scope) => scope.spans.map(read)));
    waiting.splice(0).forEach((wake) => wake());
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  after(() => { server.closeAllConnections(); server.close(); });
  collector.url = `http://127.0.0.1:${server.address().port}`;
  /** What fits() gives, once that is true; it is asked again with every request. */
  collector.until = async (fits, ms = 60000) => {
    for (const end = performance.now() + ms; ;) {
      const found = fits(collector);
      if (found) return found;
      const left = end - performance.now();
      if (left <= 0) throw new Error(`nothing fits: ${JSON.stringify(requests.map(({ body }) => body)).slice(0, 3000)}`);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, left);
        waiting.push(() => { clearTimeout(timer); resolve(); });
      });
    }
  };
  /** The spans of a trace, once the one of that name is there: it ends last. */
  collector.trace = (name, traceId = undefined) => collector.until(() => {
    const root = spans.find((span) => span.name === name && (traceId ?? span.traceId) === span.traceId);
    return root && { root, below: spans.filter((span) => span.traceId === root.traceId && span !== root) };
  });
  return collector;
}

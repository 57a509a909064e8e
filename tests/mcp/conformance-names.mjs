// SPDX-License-Identifier: MIT
// conformance-names: before `glovebox mcp` at an address, for a suite that knows names without
// their server: what is `test://x`, the prompt `p` and the tool `t` there is mcp://up/test://x,
// up/p, and the tool `call` with {server: 'up', tool: 't'} behind. All else passes as it is.
import { createServer, request } from 'node:http';

const inside = {
  'tools/call': ({ name, arguments: args, ...params }) => ({ ...params, name: 'call', arguments: { server: 'up', tool: name, ...(args && { args }) } }),
  'prompts/get': (params) => ({ ...params, name: `up/${params.name}` }),
  'completion/complete': ({ ref, ...params }) => ({ ...params, ref: { ...ref, ...(ref.name && { name: `up/${ref.name}` }), ...(ref.uri && { uri: `mcp://up/${ref.uri}` }) } }),
  'resources/read': (params) => ({ ...params, uri: `mcp://up/${params.uri}` }),
};
inside['resources/subscribe'] = inside['resources/unsubscribe'] = inside['resources/read'];

const outside = (line) => line.replaceAll('mcp://up/', '').replaceAll('"name":"up/', '"name":"');

function rename(headers, text) {
  const message = JSON.parse(text);
  const params = inside[message.method]?.(message.params ?? {});
  if (params === undefined) return text;
  if (headers['mcp-name'] !== undefined) headers['mcp-name'] = params.name ?? params.uri;
  return JSON.stringify({ ...message, params });
}

/** The address of a server that renames, and how to end it. */
export async function renaming(url) {
  const server = createServer(async (from, to) => {
    const headers = { ...from.headers, host: new URL(url).host };
    delete headers['content-length'];
    delete headers['transfer-encoding'];
    const parts = await from.toArray();
    let body = Buffer.concat(parts).toString();
    try { body = rename(headers, body); } catch { /* it is for the server to refuse */ }
    const behind = request(url, { method: from.method, headers: { ...headers, ...(body && { 'content-length': Buffer.byteLength(body) }) } }, (answer) => {
      const { 'content-length': none, ...answered } = answer.headers;
      to.writeHead(answer.statusCode, answered);
      let rest = '';
      answer.setEncoding('utf8').on('data', (chunk) => {
        const lines = `${rest}${chunk}`.split('\n');
        rest = lines.pop();
        if (lines.length > 0) to.write(outside(`${lines.join('\n')}\n`));
      }).on('end', () => to.end(outside(rest))).on('error', () => to.destroy());
    }).on('error', () => to.destroy());
    to.on('close', () => behind.destroy());
    behind.end(body);
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return { url: `http://127.0.0.1:${server.address().port}${new URL(url).pathname}`, close: () => server.close() };
}

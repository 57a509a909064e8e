// SPDX-License-Identifier: MIT
//
// Code mode in an agent of your own: one tool in place of many. The model writes code that
// calls them; only what the code returns comes back to the model. Servers are clients of
// the MCP SDK, or plain functions as here.
//
//     npm install glovebox
//     node code-mode.mjs
import { createCodeMode } from 'glovebox';

const codeMode = createCodeMode({
  servers: {
    shop: {
      orders: {
        description: 'Lists the orders of a page.',
        inputSchema: { type: 'object', properties: { page: { type: 'integer' } }, required: ['page'] },
        handler: ({ page }) => Array.from({ length: 50 }, (_, i) => ({ id: page * 50 + i, total: (i * 7) % 90 })),
      },
    },
    mail: {
      send: ({ to, text }) => ({ sent: to, characters: text.length }),
    },
  },
  // Asked before each call, whatever the code says.
  allow: ({ server, args }) => server !== 'mail' || String(args.to).endsWith('@example.com') || 'only within example.com',
});
await codeMode.prepare();

// What a model is given ...
console.log(codeMode.definition.name, codeMode.definition.description.length, 'characters of description');

// ... and what it may send.
const answer = await codeMode.handler({
  code: `
    const pages = await Promise.all([0, 1, 2, 3].map((page) => servers.shop.orders({ page })));
    const large = pages.flat().filter((order) => order.total > 80);
    await servers.mail.send({ to: 'ann@example.com', text: large.length + ' large orders' });
    return { large: large.length, first: large[0] };`,
});
console.log(answer.content[0]?.text);

codeMode.dispose();

// SPDX-License-Identifier: MIT
//
// An MCP server whose tools run a model's code over data of its own. The data stays here;
// what goes back is what the code computed.
//
//     npm install glovebox @modelcontextprotocol/sdk
//     node mcp-server.mjs          (an MCP client starts it, over stdio)
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createSandboxTools } from 'glovebox';

const orders = [
  { id: 1, customer: 'Ada', total: 120, isPaid: true },
  { id: 2, customer: 'Bob', total: 80, isPaid: false },
  { id: 3, customer: 'Ada', total: 200, isPaid: false },
];

const f = createSandboxTools({ context: { orders } });

// .sandboxed() adds to the description how the code is written, and gives ctx.sandbox.
f.query('orders_compute')
  .describe('Computes over all orders. Each is {id, customer, total, isPaid}.')
  .sandboxed({ timeout: 30000, memoryLimit: 64 })
  .withString('expression', 'JavaScript function: (orders) => result')
  .handle(async (input, ctx) => {
    const result = await ctx.sandbox.execute(input.expression, ctx.orders);

    if (!result.ok) {
      return f.error('VALIDATION_ERROR', result.error)
        .suggest(result.hint ?? 'Repair the function and call again.')
        .details({ code: result.code });
    }
    return result.value;
  });

f.mutation('orders_pay')
  .describe('Marks an order as paid.')
  .withNumber('id', 'of the order', { integer: true })
  .handle((input, ctx) => {
    const order = ctx.orders.find(({ id }) => id === input.id);

    if (order === undefined) {
      return f.error('NOT_FOUND', `there is no order ${input.id}`).suggest('Look for its id with orders_compute.');
    }
    order.isPaid = true;
    return order;
  });

const server = new McpServer({ name: 'orders', version: '1.0.0' });
f.register(server);
await server.connect(new StdioServerTransport());

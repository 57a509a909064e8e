// SPDX-License-Identifier: MIT
/* What the compiler must accept, and what it must refuse, of tools. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { createSandboxTools, type SandboxEngine, type SandboxTool } from 'glovebox';

interface Order {
  id: number;
  total: number;
}

const f = createSandboxTools({ context: async ({ signal }) => ({ orders: [] as Order[], late: signal?.aborted }) });

const tool: SandboxTool = f
  .query('compute')
  .describe('Computes.')
  .sandboxed({ timeout: 3000, memoryLimit: 64 })
  .withString('code', 'a function', { max: 100 })
  .withOptionalNumber('count', 'how many', { integer: true })
  .withEnum('order', ['up', 'down'])
  .withArray('tags', 'string')
  .withArray('points', (p) => p.withNumber('x').withOptionalNumber('y'))
  .withOptionalObject('box', (p) => p.withBoolean('open'))
  .handle(async (input, ctx) => {
    const code: string = input.code;
    const count: number | undefined = input.count;
    const order: 'up' | 'down' = input.order;
    const tags: string[] = input.tags;
    const x: number | undefined = input.points[0]?.x;
    const y: number | undefined = input.points[0]?.y;
    const open: boolean | undefined = input.box?.open;
    const orders: Order[] = ctx.orders;
    const signal: AbortSignal | undefined = ctx.signal;

    // @ts-expect-error no such parameter
    input.codes;
    // @ts-expect-error a number that may be missing is no number
    const sure: number = input.count;
    // @ts-expect-error none of the values
    input.order === 'left';

    const result = await ctx.sandbox.execute<number>(code, orders, { signal });
    if (!result.ok) {
      // @ts-expect-error there is no value where there is an error
      const none: number = result.value;
      return f.error(result.code, result.error).suggest(result.hint ?? '').details({ count, order, tags, x, y, open, sure }).retryAfter(1);
    }
    const value: number = result.value;
    // @ts-expect-error an error there is not
    const error: string = result.error;
    return value;
  });

f.mutation('drop').handle((_, ctx) => {
  // @ts-expect-error only a tool that is sandboxed has an engine
  ctx.sandbox;
  return tool.name;
});

const engine: SandboxEngine = f.sandbox({ timeout: 1000 });
const either = f.result(await engine.execute<string>('() => "a"'));
if (typeof either === 'string') either.length;
else either.suggest('x').toResult().content;

f.register(new McpServer({ name: 'a', version: '1' }))['compute'].disable();
f.register(new Server({ name: 'a', version: '1' }));
// @ts-expect-error no server
f.register({});
// @ts-expect-error no such option
f.sandbox({ timeoutMs: 1 });
// @ts-expect-error not a name of items
f.query('a').withArray('x', 'date');
// @ts-expect-error values are strings
f.query('a').withEnum('x', [1]);

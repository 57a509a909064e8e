// SPDX-License-Identifier: MIT
/* Tools in the published form: the engine made in the handler, errors for the model, meta.signal. */
import { f } from './fusion.js';

export const compute = f.query('data.compute')
  .describe('Computes over the records')
  .sandboxed({ timeout: 3000, memoryLimit: 64 })
  .withString('expression', 'JavaScript arrow function: (data) => result')
  .handle(async (input, ctx) => {
    const records = await ctx.db.records.findMany();
    const engine = f.sandbox({ timeout: 3000, memoryLimit: 64 });
    try {
      const result = await engine.execute(input.expression, records);
      if (!result.ok) {
        return f.error('VALIDATION_ERROR', result.error)
          .suggest(result.code === 'TIMEOUT' ? 'Use fewer records.' : 'Repair the expression.')
          .details({ code: result.code })
          .retryAfter(result.code === 'TIMEOUT' ? 5 : 0);
      }
      return result.value;
    } finally {
      engine.dispose();
    }
  });

export default f.query('data.watched')
  .sandboxed()
  .withString('expression')
  .handle(async (input, ctx, meta) => {
    const engine = f.sandbox();
    const result = await engine.execute(input.expression, await ctx.db.records.findMany({ take: 1 }), { signal: meta.signal });
    engine.dispose();
    if (result.ok) return result.value;
    switch (result.code) {
      case 'ABORTED':
        console.log('aborted');
        return null;
      case 'TIMEOUT':
      case 'MEMORY':
        return f.error('EXHAUSTED', result.error);
      default:
        return f.error('VALIDATION_ERROR', result.error);
    }
  });

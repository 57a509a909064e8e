// SPDX-License-Identifier: MIT
/* A script of a model in the published form; the program around it has its servers as clients. */
import { createCodeMode } from 'glovebox';

const SCRIPT = `
  const results = await servers.sqlite.call('query', { sql: 'SELECT 1' });
  await sleep(2);
  console.log('Step 1 complete');
  console.log('Found', results.length, 'items');
  return results;`;

const codeMode = createCodeMode({ servers: { sqlite: { query: async ({ sql }) => [{ sql }] } }, globals: 'minimal' });
const { ok, result, logs } = await codeMode.run(SCRIPT);
console.log(ok, JSON.stringify(result), logs.map(({ text }) => text).join('; '));
codeMode.dispose();

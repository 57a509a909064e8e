// SPDX-License-Identifier: MIT
//
// Code of users behind a port: glovebox() runs it in production, memory() in quick tests.
// Its requests are made by a function of ours, which judges each.
//
//     npm install glovebox
//     node runner.mjs
import { createSandboxClient, glovebox } from 'glovebox';

const sandbox = createSandboxClient({ adapter: glovebox({ workerMemoryMb: 64 }) });

const { result } = await sandbox.execute({
  code: `
    console.log('asking for', params.city);
    const response = await fetch('https://weather.example/' + params.city);
    const { celsius } = await response.json();
    return { city: params.city, fahrenheit: celsius * 9 / 5 + 32, unit };`,
  executionParams: { city: 'Oslo' },
  contextVariables: { unit: 'F' },
  timeout: 3000,
  secureFetchImpl: async (url) => {
    if (!url.startsWith('https://weather.example/')) throw new Error(`${url} is not allowed`);
    return { ok: true, status: 200, body: { celsius: 5 } };
  },
  consoleSink: { log: (line) => console.log(`user code: ${line}`) },
});
console.log(result);

await sandbox.dispose();

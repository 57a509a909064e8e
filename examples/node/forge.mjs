// SPDX-License-Identifier: MIT
//
// An agent writes itself a tool; it is looked at, then run, with nothing but what it was
// allowed.
//
//     npm install glovebox
//     node forge.mjs
import { SandboxedToolForge } from 'glovebox';

const forge = new SandboxedToolForge({ timeoutMs: 3000, memoryMB: 64 });

const code = `
  function execute({ texts }) {
    return texts.map((text) => crypto.createHash('sha256').update(text).digest('hex').slice(0, 8));
  }`;

console.log(forge.validateCode(code, []).violations);

const result = await forge.execute({ code, input: { texts: ['a', 'b'] }, allowlist: ['crypto'] });
console.log(result.success ? result.output : result.error);

forge.dispose();

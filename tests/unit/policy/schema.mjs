// SPDX-License-Identifier: MIT
//
// schema - a schema of share/ says of every document what the parser says, but for what
// only the parser can know. AT_LEAST so many documents there are.
//
//     schema.mjs SCHEMA DOCUMENTS AJV AT_LEAST
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const [schemaPath, documentsPath, ajvPath, atLeast] = process.argv.slice(2);
const Ajv = createRequire(import.meta.url)(`${ajvPath}/dist/2020.js`).default;
const check = new Ajv({ strict: true, strictRequired: false }).compile(
  JSON.parse(readFileSync(schemaPath, 'utf8')),
);

function accepts(text) {
  try {
    return check(JSON.parse(text));
  } catch {
    return false; // no JSON
  }
}

let count = 0;
let wrong = 0;
const documents = readFileSync(documentsPath, 'utf8').replace(/^#.*\n/gm, '').split(/^=== /m);
for (const document of documents.slice(1)) {
  const end = document.indexOf('\n');
  const head = document.slice(0, end);
  const wanted = !head.startsWith('shape');
  count++;
  if (accepts(document.slice(end + 1)) !== wanted) {
    wrong++;
    console.error(`the schema ${wanted ? 'refuses' : 'takes'}: ${document}`);
  }
}
console.log(`${count} documents, ${wrong} not as the parser has them`);
process.exit(wrong === 0 && count >= Number(atLeast) ? 0 : 1);

// SPDX-License-Identifier: MIT
/*
 * tool-schema - one schema object that both generations of the MCP TypeScript SDK accept,
 * without a schema library: version 1 looks for what Zod 4 adds to its own (`_zod`, with its
 * override for JSON Schema), version 2 for Standard Schema.
 *
 * It accepts everything: the tool checks its arguments itself, with its own messages.
 */

/** toJSONSchema(): a JSON Schema of an object. */
export function schemaForSDK(toJSONSchema) {
  const validate = (value) => ({ value });
  const jsonSchema = { input: toJSONSchema, output: toJSONSchema };
  const standard = { version: 1, vendor: 'glovebox', validate, jsonSchema };
  const pass = (payload) => payload;
  return {
    '~standard': standard,
    _zod: {
      def: { type: 'object', shape: {} },
      version: { major: 4, minor: 0, patch: 0 },
      traits: new Set(),
      bag: {},
      run: pass,
      parse: pass,
      toJSONSchema,
    },
  };
}

/** The schema that version 1 of the SDK expects in place of a method's name. */
export function requestSchemaFor(method) {
  const pass = (payload) => payload;
  const literal = { _zod: { def: { type: 'literal', values: [method] }, run: pass } };
  return { _zod: { def: { type: 'object', shape: { method: literal } }, run: pass } };
}

// SPDX-License-Identifier: MIT
//
// thrown - converts what an embedder's function threw to text. Anything can be thrown, and
// reading it may throw again; the functions here do not throw.

function textOf(read) {
  try {
    const text = read();
    return text === undefined ? undefined : String(text);
  } catch {
    return undefined; // a getter that throws, or an object without text
  }
}

/** {name, message, code}; the code is undefined if it is not a string. */
export function partsOf(error) {
  const isObject = (typeof error === 'object' && error !== null) || typeof error === 'function';
  if (!isObject) return { name: 'Error', message: textOf(() => String(error)) ?? '', code: undefined };
  const text = (key) => textOf(() => (typeof error[key] === 'string' ? error[key] : undefined));
  return {
    name: text('name') || 'Error',
    message: textOf(() => error.message ?? '') ?? 'what was thrown cannot be read',
    code: text('code'),
  };
}

/** Its message. */
export function messageOf(error) {
  return partsOf(error).message;
}

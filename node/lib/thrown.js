// SPDX-License-Identifier: MIT
//
// thrown - what a function of the embedder's has thrown, as texts. Anything can be thrown,
// and to read it may throw again: nothing here does.

function textOf(read) {
  try {
    const text = read();
    return text === undefined ? undefined : String(text);
  } catch {
    return undefined; // a getter that throws, or an object that has no text
  }
}

/** {name, message, code}; the code is undefined if it is no string. */
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

/** One line of it. */
export function messageOf(error) {
  return partsOf(error).message;
}

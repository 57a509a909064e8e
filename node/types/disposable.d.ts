// SPDX-License-Identifier: MIT
/* The symbols that `using` and `await using` need, from lib esnext.disposable, for compilers set
 * to an older library. Next to that lib or @types/node it is a harmless repetition. */
declare global {
  interface SymbolConstructor {
    readonly dispose: unique symbol;
    readonly asyncDispose: unique symbol;
  }
}

export {};

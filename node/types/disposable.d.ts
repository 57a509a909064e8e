// SPDX-License-Identifier: MIT
/* What `using` and `await using` look for: of lib esnext.disposable, for compilers that are
 * set to an older library. Beside it, or that of @types/node, it says the same again. */
declare global {
  interface SymbolConstructor {
    readonly dispose: unique symbol;
    readonly asyncDispose: unique symbol;
  }
}

export {};

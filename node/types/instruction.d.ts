// SPDX-License-Identifier: MIT

/** What a language model is told about code that it sends; for descriptions of tools. */
export const SANDBOX_SYSTEM_INSTRUCTION: string;

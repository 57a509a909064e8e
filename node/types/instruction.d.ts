// SPDX-License-Identifier: MIT

/** Instructions for a language model about the code that it sends; for descriptions of
 * tools. */
export const SANDBOX_SYSTEM_INSTRUCTION: string;

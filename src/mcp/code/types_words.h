/* SPDX-License-Identifier: MIT */
/* types_words - words that the grammar of TypeScript takes for something else. */
#ifndef GBX_MCP_CODE_TYPES_WORDS_H
#define GBX_MCP_CODE_TYPES_WORDS_H

#include "guard/tree.h"

/*
 * t: of `text`, and with an error. Writes into text what the grammar does know there, of
 * the same length, and blanks in `to` what is no JavaScript and would be left. False if
 * there is no such word.
 */
bool gbx_types_mend_words(const gbx_tree *t, char *text, char *to);

#endif

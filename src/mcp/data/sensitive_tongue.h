/* SPDX-License-Identifier: MIT */
/*
 * sensitive_tongue - names of fields as people write them in Dutch, French, German, Italian,
 * Portuguese and Spanish: more of them than stand beside the English ones in
 * sensitive_name. One table a kind; accents are gone before a word is looked up.
 */
#ifndef GBX_MCP_DATA_SENSITIVE_TONGUE_H
#define GBX_MCP_DATA_SENSITIVE_TONGUE_H

#include "mcp/data/sensitive_word.h"

typedef enum gbx_tongue_kind {
    GBX_TONGUE_SECRET,   /* opens something */
    GBX_TONGUE_PERSONAL, /* only persons have it: a telephone, a date of birth */
    GBX_TONGUE_ADDRESS,  /* where somebody lives */
    GBX_TONGUE_NUMBER, /* accounts, cards, postcodes, number plates; whole names of persons */
} gbx_tongue_kind;

bool gbx_tongue_is(const gbx_words *w, gbx_tongue_kind kind, bool is_number);

/* klant, utente, Verkäufer: one of these, or several. */
bool gbx_tongue_is_person_word(const char *word);

#endif

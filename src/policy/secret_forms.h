/* SPDX-License-Identifier: MIT */
/*
 * secret_forms - all that is looked for when the secrets of a policy are stripped from
 * text, as one automaton (Aho and Corasick's) that reads each byte once.
 *
 * Of each value: itself, its hexadecimal digits in both cases, and what stays the same
 * of its base64, in both alphabets, wherever in the encoded bytes it begins; and itself
 * as it is once every escape is undone, since the automaton sees text so, too: secret_find.
 *
 * Read-only once it is made: any thread. It holds values, so it lives in a vault.
 */
#ifndef GBX_POLICY_SECRET_FORMS_H
#define GBX_POLICY_SECRET_FORMS_H

#include "policy/policy.h"

/* The character of base64 beside what was found holds bits of the value too. */
#define GBX_FORM_EDGE_BEFORE 1u
#define GBX_FORM_EDGE_AFTER  2u

typedef struct gbx_secret_form {
    uint32_t secret; /* index in the policy */
    uint32_t len;
    uint32_t edges;
} gbx_secret_form;

/* State 0 is the root. Children of a state are a list by sibling; few have more than
 * one. */
typedef struct gbx_secret_node {
    uint32_t child;
    uint32_t sibling;
    uint32_t fail;
    uint32_t form; /* 1 + the longest form that ends here; 0: none does */
    uint16_t depth;
    uint8_t byte;
} gbx_secret_node;

typedef struct gbx_secret_forms {
    size_t size; /* of the vault that holds all of it */
    gbx_secret_node *nodes;
    gbx_secret_form *forms;
    uint32_t node_count;
    uint32_t form_count;
    uint32_t longest;
    uint32_t first[256]; /* from the root, by byte */
    /* A bit for two bytes that begin a form, or of which one begins an escape. */
    uint8_t pairs[65536 / 8];
} gbx_secret_forms;

/* NULL if memory is out. */
gbx_secret_forms *gbx_secret_forms_new(const gbx_secret *secrets, size_t count);
void gbx_secret_forms_free(gbx_secret_forms *forms);

/* May a form or an escape begin with the first, or an escape with the second? */
static inline bool gbx_forms_begin_so(const gbx_secret_forms *f, uint8_t a, uint8_t b)
{
    unsigned pair = (unsigned)a << 8 | b;

    return (f->pairs[pair >> 3] >> (pair & 7) & 1) != 0;
}

/* The state after one byte more. */
static inline uint32_t gbx_forms_step(const gbx_secret_forms *f, uint32_t state,
                                      uint8_t byte)
{
    while (state != 0) {
        uint32_t child = f->nodes[state].child;

        while (child != 0 && f->nodes[child].byte != byte)
            child = f->nodes[child].sibling;
        if (child != 0)
            return child;
        state = f->nodes[state].fail;
    }
    return f->first[byte];
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * secret_forms - all forms of a policy's secrets to strip from text, as one automaton
 * (Aho-Corasick) that reads each byte once.
 *
 * The forms of a value are: itself; its hexadecimal digits in both cases; the part of
 * its base64, in both alphabets, that does not change with its place in the encoded
 * bytes; and itself with every escape undone, since the automaton also reads text in
 * that form (secret_find).
 *
 * Read-only once it is made: any thread may use it. It holds values, so it is in a
 * vault.
 */
#ifndef GBX_POLICY_SECRET_FORMS_H
#define GBX_POLICY_SECRET_FORMS_H

#include "policy/policy.h"

/* The base64 character before the match also holds bits of the value. */
#define GBX_FORM_EDGE_BEFORE 1u
#define GBX_FORM_EDGE_AFTER  2u

typedef struct gbx_secret_form {
    uint32_t secret; /* index in the policy */
    uint32_t len;
    uint32_t edges;
} gbx_secret_form;

/* State 0 is the root. A state's children are a list by sibling; few have more than
 * one. */
typedef struct gbx_secret_node {
    uint32_t child;
    uint32_t sibling;
    uint32_t fail;
    uint32_t form; /* 1 + the longest form that ends here; 0: none */
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
    /* One bit for each pair of bytes that begins a form, or in which a byte begins an
     * escape. */
    uint8_t pairs[65536 / 8];
} gbx_secret_forms;

/* NULL if memory is out. */
gbx_secret_forms *gbx_secret_forms_new(const gbx_secret *secrets, size_t count);
void gbx_secret_forms_free(gbx_secret_forms *forms);

/* Can a form or an escape begin with the first byte, or an escape with the second? */
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

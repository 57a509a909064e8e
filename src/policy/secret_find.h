/* SPDX-License-Identifier: MIT */
/*
 * secret_find - where in some bytes the forms of secrets are: as they are, and as they
 * are once every escape is undone (unescape.h). Both are searched in one pass.
 */
#ifndef GBX_POLICY_SECRET_FIND_H
#define GBX_POLICY_SECRET_FIND_H

#include "policy/secret_forms.h"
#include "wire/reader.h"

#include <stdatomic.h>

typedef struct gbx_hit {
    size_t start;
    size_t end;
    uint32_t secret; /* index in the policy */
} gbx_hit;

typedef struct gbx_hits {
    gbx_hit *items; /* by start, not overlapping, after gbx_secret_find() */
    size_t count;
    size_t capacity;
} gbx_hits;

/* False if memory is out, or once *stop (which may be NULL) is true: then nothing is
 * known. Free ret->items in any case. */
bool gbx_secret_find(const gbx_secret_forms *forms, gbx_span data,
                     const atomic_bool *stop, gbx_hits *ret);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * source_region - which bytes of the caller's text are the code.
 *
 * Models answer with their code in a Markdown fence: a fence around all of the text is
 * left out. Everything else stays in place, so that an offset in the region plus its
 * start is an offset in the caller's text.
 */
#ifndef GBX_GUARD_SOURCE_REGION_H
#define GBX_GUARD_SOURCE_REGION_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gbx_region {
    size_t start; /* first byte of the code, white space before it left out */
    size_t end;   /* past its last, white space after it left out */
} gbx_region;

/* Leave out a byte order mark, white space and one closed fence around the code. */
gbx_region gbx_text_region(const char *text, size_t len);

/* True if a line in [from, end) begins a Markdown fence; its offset is stored. */
bool gbx_text_find_fence(const char *text, size_t from, size_t end, size_t *ret_at);

/* True if c can be part of a JavaScript name; every byte past ASCII counts as such. */
bool gbx_text_is_name(unsigned char c);

#endif

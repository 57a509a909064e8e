/* SPDX-License-Identifier: MIT */
/*
 * unescape - undo one escape at the begin of some bytes. The ways of writing a byte that
 * programs use, not what any standard says is one: what is taken too much only makes
 * something be found that nobody would have read so.
 */
#ifndef GBX_POLICY_UNESCAPE_H
#define GBX_POLICY_UNESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum gbx_escaping {
    GBX_ESCAPING_NONE,
    GBX_ESCAPING_JSON,    /* \n \/ \u0041 \x41 \u{41} */
    GBX_ESCAPING_PERCENT, /* %41 */
    GBX_ESCAPING_FORM,    /* %41 and + for a space */
    GBX_ESCAPING_HTML,    /* &amp; &#65; &#x41; */
    GBX_ESCAPING_LINES,   /* line ends within count for nothing */
} gbx_escaping;

/* No escape is longer. */
#define GBX_ESCAPE_MAX 12u

typedef struct gbx_unescaped {
    uint8_t bytes[4];
    uint8_t count;
    uint8_t taken; /* 0: more bytes are needed to tell */
} gbx_unescaped;

/* All bytes with which an escape of any kind can begin: texts are short, tables are not. */
#define GBX_ESCAPE_BEGINS "\\%+&\n\r"

/* Can an escape begin with this byte? */
bool gbx_unescape_begins(gbx_escaping how, uint8_t byte);

/* data has at least one byte, which can begin an escape. One that turns out to be none
 * is taken as itself. */
gbx_unescaped gbx_unescape(gbx_escaping how, const uint8_t *data, size_t len);

#endif

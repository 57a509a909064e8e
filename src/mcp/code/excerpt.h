/* SPDX-License-Identifier: MIT */
/* excerpt - head and tail of a text that is too long, and where the whole is. */
#ifndef GBX_MCP_CODE_EXCERPT_H
#define GBX_MCP_CODE_EXCERPT_H

#include "base/utf8.h"
#include "mcp/code/artifacts.h"

typedef struct gbx_excerpt {
    const char *head;
    size_t head_len;
    const char *tail; /* NULL: nothing was cut, head is all */
    size_t tail_len;
    size_t total;
    bool is_rest;                    /* more than that was there once, and is lost */
    char uri[GBX_ARTIFACT_URI_SIZE]; /* of the whole; "" if it could not be kept */
} gbx_excerpt;

/* text is borrowed. Of more than max bytes the whole is kept in store as `name`. */
gbx_excerpt gbx_excerpt_text(const char *text, size_t len, size_t max,
                             gbx_artifacts *store, const char *name,
                             const char *mime_type, int64_t now_ns);

/* Append what was cut, exactly, in one line that ends in a newline: "what: ...". Nothing
 * if nothing was. page: bytes that a page may have. */
void gbx_excerpt_say(const gbx_excerpt *cut, const char *what, size_t page,
                     gbx_buf *to);

/* Append head, a mark with the number of bytes left out, and tail, as they are shown. */
void gbx_excerpt_append(const gbx_excerpt *cut, gbx_escape how, gbx_buf *to);

/* A byte of text is at most so many when it is shown, and that as JSON. */
#define GBX_CUT_SHOWN_MAX 6
#define GBX_CUT_JSON_MAX  7

/* Is a part of the text left out, with such a mark in its place? */
bool gbx_excerpt_is_marked(const char *text);

#endif

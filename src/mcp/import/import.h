/* SPDX-License-Identifier: MIT */
/* Types and functions that only the files of src/mcp/import share. */
#ifndef GBX_MCP_IMPORT_IMPORT_H
#define GBX_MCP_IMPORT_IMPORT_H

#include "base/buf.h"
#include "base/fail.h"
#include "mcp/import/host_entry.h"

#include <jansson.h>

/* ---- host_entry_reader --------------------------------------------------- */

/* Shared by the files that import a host's entry. */

/* An entry being imported. */
typedef struct gbx_host_entry_reader {
    const gbx_host_place *place;
    const json_t *inputs; /* the editor's inputs, or NULL */
    gbx_host_note_fn note;
    void *user;
} gbx_host_entry_reader;

/* A note; format has one "%s". */
void gbx_host_entry_say(const gbx_host_entry_reader *t, const char *format,
                        const char *what);

/* Rewrite every string below value so that it means to us what it means to its host. */
void gbx_host_entry_texts(const gbx_host_entry_reader *t, json_t *value);

/* ---- toml.c -------------------------------------------------------------- */

/*
 * TOML text as values, for the one host that uses it.
 *
 * We have our own reader, since Debian has none in C. It reads all of TOML 1.0, but
 * keeps dates as text.
 */

/* json_decref() *ret. GBX_E_DATA with line and column. */
gbx_status gbx_toml_read(const char *text, size_t len, json_t **ret, gbx_error *reterr);

/* ---- toml_value.c -------------------------------------------------------- */

/* Shared by the two files that read TOML. */

#define GBX_TOML_DEPTH_MAX 64

/* A text being read. Errors are sticky: after the first, nothing more is read. */
typedef struct gbx_toml_reader {
    const char *text;
    size_t at;
    size_t len;
    unsigned depth;
    const char *fault; /* constant, or NULL */
} gbx_toml_reader;

static inline char gbx_toml_here(const gbx_toml_reader *r)
{
    return (char)(r->at < r->len ? r->text[r->at] : '\0');
}

void gbx_toml_fail(gbx_toml_reader *r, const char *fault);
void gbx_toml_skip_blanks(gbx_toml_reader *r);
/* Skip blanks, line ends and comments. */
void gbx_toml_skip_lines(gbx_toml_reader *r);

/* A new reference, or NULL. */
json_t *gbx_toml_value(gbx_toml_reader *r);

/* One part of a key, bare or quoted: free() it. */
char *gbx_toml_key_part(gbx_toml_reader *r);
/* Read `a.b = value` into table. */
void gbx_toml_pair(gbx_toml_reader *r, json_t *table);

#endif

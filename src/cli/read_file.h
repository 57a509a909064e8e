/* SPDX-License-Identifier: MIT */
/*
 * read_file - files that the user names, read whole and never past a bound.
 *
 * A path of "-" is standard input. A UTF-8 byte order mark at the beginning is left out.
 */
#ifndef GBX_CLI_READ_FILE_H
#define GBX_CLI_READ_FILE_H

#include "base/fail.h"

#include <stdbool.h>

typedef struct gbx_file_text {
    char *data;       /* never NULL once read; not ended by NUL */
    size_t len;       /* bytes */
    const char *name; /* for messages: the path, or "standard input"; borrowed */
    char *block;      /* what to free, or NULL */
} gbx_file_text;

/*
 * GBX_E_OS: it cannot be read. GBX_E_DATA: it is larger than max bytes; that much was
 * read at most. Free with gbx_file_text_cleanup().
 */
gbx_status gbx_file_text_read(const char *path, size_t max, gbx_file_text *ret,
                              gbx_error *reterr);

/* Borrow an argument as if it had been read. */
gbx_file_text gbx_file_text_borrow(char *data, const char *name);

/* One JSON value a line becomes one array, in place of what was read. GBX_E_DATA with
 * line and column if it is not that. */
gbx_status gbx_file_text_from_lines(gbx_file_text *text, gbx_error *reterr);

/* GBX_E_DATA with line and column if it is not exactly one JSON value in UTF-8. */
gbx_status gbx_file_text_check_json(const gbx_file_text *text, gbx_error *reterr);

/* GBX_E_DATA with line and column if it is not UTF-8. */
gbx_status gbx_file_text_check_utf8(const gbx_file_text *text, gbx_error *reterr);

/* True if the name ends so: .ndjson and .jsonl hold one value a line. */
bool gbx_file_text_has_lines(const char *path);

void gbx_file_text_cleanup(gbx_file_text *text);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * csv - text of cells, one at a time, with the place of each.
 *
 * RFC 4180, and what is written beside it: any single delimiter, lines that end in LF,
 * CRLF or CR, blanks around a cell (they do not count), empty lines (they are skipped),
 * no line break at the end. Nothing is copied: a cell points into the text. What cannot
 * be one reading alone is refused, at its byte: a quote inside a cell that did not begin
 * with one, text after a closing quote, a quote that is never closed.
 */
#ifndef GBX_MCP_DATA_CSV_H
#define GBX_MCP_DATA_CSV_H

#include "base/buf.h"

typedef struct gbx_csv {
    const char *text;
    size_t len;
    size_t at;
    char delimiter;
    const char *message; /* why it was refused, at the byte `at`; NULL: it was not */
    bool is_open;        /* and more text could mend that: a quote is not closed */
} gbx_csv;

typedef struct gbx_csv_cell {
    const char *at; /* without the quotes around it */
    size_t len;
    bool is_quoted;
    bool has_quotes; /* doubled ones inside */
    bool is_last;    /* of its record */
} gbx_csv_cell;

void gbx_csv_init(gbx_csv *csv, const char *text, size_t len, char delimiter);

/* Past empty lines. False if no record is left. */
bool gbx_csv_more(gbx_csv *csv);

/* The next cell of the record. False if it was refused. */
bool gbx_csv_cell_next(gbx_csv *csv, gbx_csv_cell *ret);

/* The delimiter that splits the first records most evenly; of two that do so alike none is
 * ',', which is what it is if none does. A first line "sep=;", as spreadsheets write it,
 * decides, and *ret_start is then behind it. */
char gbx_csv_guess(const char *text, size_t len, size_t *ret_start);

/* How long is it without a last record that may go on? It has no line end behind it, and no
 * more cells than the first. delimiter: 0 to find it out. */
size_t gbx_csv_finished(const char *text, size_t len, char delimiter);

/* Append the cell's characters. */
bool gbx_csv_append(const gbx_csv_cell *cell, gbx_buf *to);

#endif

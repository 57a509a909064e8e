/* SPDX-License-Identifier: MIT */
/* csv - the text is not terminated: check every look ahead against the end. */
#include "mcp/data/datasets.h"

#include <string.h>

/* The part that is examined to guess the delimiter. */
#define GUESS_RECORDS 20
#define GUESS_BYTES   ((size_t)64 * 1024)

static bool refuse(gbx_csv *csv, size_t at, const char *message)
{
    csv->at = at;
    csv->message = message;
    return false;
}

static bool is_blank(const gbx_csv *csv, char c)
{
    return (c == ' ' || c == '\t') && c != csv->delimiter;
}

static void skip_blanks(gbx_csv *csv)
{
    while (csv->at < csv->len && is_blank(csv, csv->text[csv->at]))
        csv->at++;
}

/* Skip a line end; false if there is none here. */
static bool skip_line_end(gbx_csv *csv)
{
    if (csv->at < csv->len && csv->text[csv->at] == '\n') {
        csv->at++;
        return true;
    }
    if (csv->at < csv->len && csv->text[csv->at] == '\r') {
        csv->at++;
        if (csv->at < csv->len && csv->text[csv->at] == '\n')
            csv->at++;
        return true;
    }
    return false;
}

/* Skip what ends a cell: a delimiter, a line end, or the end of the text. */
static bool end_cell(gbx_csv *csv, gbx_csv_cell *ret)
{
    ret->is_last = csv->at == csv->len;
    if (ret->is_last)
        return true;
    if (csv->text[csv->at] == csv->delimiter) {
        csv->at++;
        return true;
    }
    ret->is_last = true;
    return skip_line_end(csv);
}

static bool quoted(gbx_csv *csv, gbx_csv_cell *ret)
{
    size_t open = csv->at++;

    ret->at = csv->text + csv->at;
    ret->is_quoted = true;
    for (;;) {
        const char *quote = memchr(csv->text + csv->at, '"', csv->len - csv->at);

        csv->is_open = quote == NULL;
        if (csv->is_open)
            return refuse(csv, open, "this quote is never closed");
        csv->at = (size_t)(quote - csv->text) + 1;
        if (csv->at == csv->len || csv->text[csv->at] != '"')
            break;
        ret->has_quotes = true;
        csv->at++;
    }
    ret->len = (size_t)(csv->text + csv->at - 1 - ret->at);
    skip_blanks(csv);
    if (!end_cell(csv, ret))
        return refuse(csv, csv->at,
                      "text after a closing quote: a quote inside a quoted cell is "
                      "written twice");
    return true;
}

static bool plain(gbx_csv *csv, gbx_csv_cell *ret)
{
    const char *text = csv->text;
    size_t start = csv->at;
    size_t end;

    while (csv->at < csv->len && text[csv->at] != csv->delimiter &&
           text[csv->at] != '\n' && text[csv->at] != '\r' && text[csv->at] != '"')
        csv->at++;
    if (csv->at < csv->len && text[csv->at] == '"')
        return refuse(csv, csv->at,
                      "a quote inside a cell that does not begin with one: quote the "
                      "cell, and write the quote twice");
    end = csv->at;
    while (end > start && is_blank(csv, text[end - 1]))
        end--;
    ret->at = text + start;
    ret->len = end - start;
    return end_cell(csv, ret);
}

/* How evenly does it split? The number of records as wide as the first, times that
 * width. */
static size_t evenness(const char *text, size_t len, bool is_cut, char delimiter)
{
    gbx_csv csv;
    size_t width = 0;
    size_t even = 0;
    size_t records = 0;

    gbx_csv_init(&csv, text, len, delimiter);
    while (records < GUESS_RECORDS && gbx_csv_more(&csv)) {
        gbx_csv_cell cell = {.is_last = false};
        size_t cells = 0;

        while (!cell.is_last && gbx_csv_cell_next(&csv, &cell))
            cells++;
        if (csv.message != NULL)
            break; /* the reader will report the error */
        if (is_cut && csv.at == len)
            break; /* the record continues after the examined part */
        if (records++ == 0)
            width = cells;
        even += cells == width;
    }
    if (width < 2 || records == 0)
        return 0;
    return even * 64 / records * 64 + (width < 64 ? width : 63);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_csv_init(gbx_csv *csv, const char *text, size_t len, char delimiter)
{
    *csv = (gbx_csv){.text = text, .len = len, .delimiter = delimiter};
}

bool gbx_csv_more(gbx_csv *csv)
{
    for (;;) {
        size_t start = csv->at;

        skip_blanks(csv);
        if (csv->at == csv->len)
            return false;
        if (skip_line_end(csv))
            continue;
        csv->at = start;
        return true;
    }
}

bool gbx_csv_cell_next(gbx_csv *csv, gbx_csv_cell *ret)
{
    *ret = (gbx_csv_cell){0};
    skip_blanks(csv);
    if (csv->at < csv->len && csv->text[csv->at] == '"')
        return quoted(csv, ret);
    return plain(csv, ret);
}

char gbx_csv_guess(const char *text, size_t len, size_t *ret_start)
{
    static const char candidates[] = "\t;|,"; /* numbers and names have commas, too */
    bool is_cut = len > GUESS_BYTES;
    size_t most = 0;
    char best = ',';

    *ret_start = 0;
    if (len > 5 && memcmp(text, "sep=", 4) == 0 &&
        (text[5] == '\n' || (len > 6 && text[5] == '\r' && text[6] == '\n'))) {
        *ret_start = text[5] == '\n' ? 6 : 7;
        return text[4];
    }
    for (size_t i = 0; candidates[i] != 0; i++) {
        size_t score =
            evenness(text, is_cut ? GUESS_BYTES : len, is_cut, candidates[i]);

        if (score > most) {
            most = score;
            best = candidates[i];
        }
    }
    return best;
}

size_t gbx_csv_finished(const char *text, size_t len, char delimiter)
{
    gbx_csv csv;
    size_t body = 0, width = 0;
    char guess = gbx_csv_guess(text, len, &body);

    gbx_csv_init(&csv, text, len, delimiter != 0 ? delimiter : guess);
    csv.at = body;
    while (gbx_csv_more(&csv)) {
        gbx_csv_cell cell = {.is_last = false};
        size_t start = csv.at, cells = 0;

        while (!cell.is_last && gbx_csv_cell_next(&csv, &cell))
            cells++;
        if (csv.message != NULL)
            return csv.is_open ? start : len;
        if (width == 0)
            width = cells;
        if (csv.at == len)
            return cells > width || text[len - 1] == '\n' || text[len - 1] == '\r'
                       ? len
                       : start;
    }
    return len;
}

bool gbx_csv_append(const gbx_csv_cell *cell, gbx_buf *to)
{
    const char *at = cell->at;
    const char *end = at + cell->len;

    while (cell->has_quotes) {
        const char *quote = memchr(at, '"', (size_t)(end - at));

        if (quote == NULL)
            break;
        (void)gbx_buf_append(to, at, (size_t)(quote + 1 - at));
        at = quote + 2;
    }
    return gbx_buf_append(to, at, (size_t)(end - at));
}

/* SPDX-License-Identifier: MIT */
/*
 * csv - turns CSV into a JSON array with one object per record. The first pass finds the
 * type of each column, the second writes.
 *
 * RFC 4180 and common variants: any single delimiter, lines that end in LF, CRLF or CR,
 * blanks around a cell (ignored), empty lines (skipped), no line break at the end.
 * Ambiguous input is refused, with its place: a quote inside a cell that did not begin
 * with one, text after a closing quote, a quote that is never closed.
 */
#include "mcp/data/datasets.h"

#include "base/json.h"
#include "base/utf8.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The part that is examined to guess the delimiter. */
#define GUESS_RECORDS 20
#define GUESS_BYTES   ((size_t)64 * 1024)

/* Records between two checks whether the result is still wanted. */
#define RECORDS_AT_ONCE 4096

/* Every integer with this many digits has its own double. */
#define DIGITS_MAX 15

/* Digits in a group of thousands. */
#define GROUP 3

/* ---- cells --------------------------------------------------------------------- */

/* Nothing is copied: a cell points into the text. The text is not terminated: every look
 * ahead is checked against the end. */

typedef struct csv_reader {
    const char *text;
    size_t len;
    size_t at;
    char delimiter;
    const char *message; /* why the text was refused, at the byte `at`; or NULL */
    bool is_open;        /* more text could make it valid: a quote is not closed */
} csv_reader;

typedef struct csv_cell {
    const char *at; /* without the quotes around it */
    size_t len;
    bool has_quotes; /* doubled ones inside */
    bool is_last;    /* of its record */
} csv_cell;

static bool refuse_at(csv_reader *csv, size_t at, const char *message)
{
    csv->at = at;
    csv->message = message;
    return false;
}

static bool is_blank(const csv_reader *csv, char c)
{
    return (c == ' ' || c == '\t') && c != csv->delimiter;
}

static void skip_blanks(csv_reader *csv)
{
    while (csv->at < csv->len && is_blank(csv, csv->text[csv->at]))
        csv->at++;
}

/* Skip a line end; false if there is none here. */
static bool skip_line_end(csv_reader *csv)
{
    size_t start = csv->at;

    if (csv->at < csv->len && csv->text[csv->at] == '\r')
        csv->at++;
    if (csv->at < csv->len && csv->text[csv->at] == '\n')
        csv->at++;
    return csv->at > start;
}

/* Skip what ends a cell: a delimiter, a line end, or the end of the text. */
static bool end_cell(csv_reader *csv, csv_cell *ret)
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

static bool take_quoted(csv_reader *csv, csv_cell *ret)
{
    size_t open = csv->at++;

    ret->at = csv->text + csv->at;
    for (;;) {
        const char *quote = memchr(csv->text + csv->at, '"', csv->len - csv->at);

        csv->is_open = quote == NULL;
        if (csv->is_open)
            return refuse_at(csv, open, "this quote is never closed");
        csv->at = (size_t)(quote - csv->text) + 1;
        if (csv->at == csv->len || csv->text[csv->at] != '"')
            break;
        ret->has_quotes = true;
        csv->at++;
    }
    ret->len = (size_t)(csv->text + csv->at - 1 - ret->at);
    skip_blanks(csv);
    if (!end_cell(csv, ret))
        return refuse_at(csv, csv->at,
                         "text after a closing quote: a quote inside a quoted cell is "
                         "written twice");
    return true;
}

static bool take_plain(csv_reader *csv, csv_cell *ret)
{
    const char *text = csv->text;
    size_t start = csv->at;
    size_t end;

    while (csv->at < csv->len && text[csv->at] != csv->delimiter &&
           text[csv->at] != '\n' && text[csv->at] != '\r' && text[csv->at] != '"')
        csv->at++;
    if (csv->at < csv->len && text[csv->at] == '"')
        return refuse_at(
            csv, csv->at,
            "a quote inside a cell that does not begin with one: quote the "
            "cell, and write the quote twice");
    end = csv->at;
    while (end > start && is_blank(csv, text[end - 1]))
        end--;
    ret->at = text + start;
    ret->len = end - start;
    return end_cell(csv, ret);
}

/* Skip empty lines. False if no record is left. */
static bool csv_more(csv_reader *csv)
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

/* Read the next cell of the record. False if the text was refused. */
static bool csv_next_cell(csv_reader *csv, csv_cell *ret)
{
    *ret = (csv_cell){0};
    skip_blanks(csv);
    if (csv->at < csv->len && csv->text[csv->at] == '"')
        return take_quoted(csv, ret);
    return take_plain(csv, ret);
}

/* Count the cells of the next record, or up to a fault. */
static size_t count_cells(csv_reader *csv)
{
    csv_cell cell = {.is_last = false};
    size_t cells = 0;

    while (!cell.is_last && csv_next_cell(csv, &cell))
        cells++;
    return cells;
}

/* Append the cell's characters. */
static bool append_cell(const csv_cell *cell, gbx_buf *to)
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

/* ---- the delimiter, and where the text is whole ---------------------------------- */

/* How evenly does it split? The number of records as wide as the first, times that
 * width. */
static size_t evenness(const char *text, size_t len, bool is_cut, char delimiter)
{
    csv_reader csv = {.text = text, .len = len, .delimiter = delimiter};
    size_t width = 0;
    size_t even = 0;
    size_t records = 0;

    while (records < GUESS_RECORDS && csv_more(&csv)) {
        size_t cells = count_cells(&csv);

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

/* The delimiter that splits the first records most evenly. Others win ties with ',';
 * ',' is also the default. A first line "sep=;", as spreadsheets write it, decides;
 * *ret_start is then the offset after it. */
static char guess_delimiter(const char *text, size_t len, size_t *ret_start)
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

/* delimiter: 0 to guess it. */
static csv_reader csv_open(const char *text, size_t len, char delimiter)
{
    csv_reader csv = {.text = text, .len = len};

    csv.delimiter = guess_delimiter(text, len, &csv.at);
    if (delimiter != 0)
        csv.delimiter = delimiter;
    return csv;
}

size_t gbx_csv_finished(const char *text, size_t len, char delimiter)
{
    csv_reader csv = csv_open(text, len, delimiter);
    size_t width = 0;

    while (csv_more(&csv)) {
        size_t start = csv.at;
        size_t cells = count_cells(&csv);

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

/* ---- kinds of cells -------------------------------------------------------------- */

/*
 * A value is a number only if the text is exactly how that number would be written, so
 * that nothing is lost. Leading zeros, a plus sign, digits that a double cannot hold,
 * and dates make it text.
 */

typedef enum cell_kind {
    CELL_EMPTY = 1,
    CELL_INTEGER = 2, /* at most 15 digits */
    CELL_DECIMAL =
        4, /* survives reading and writing, but for a zero before its point */
    CELL_BOOLEAN = 8, /* true or false, in any case */
    CELL_TEXT = 16,
    CELL_POWER = 32,     /* 12e4: a decimal, or a name */
    CELL_THOUSANDS = 64, /* 1.234: a decimal, or a whole number in groups */
} cell_kind;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t skip_digits(const char *text, size_t len, size_t at)
{
    while (at < len && is_digit(text[at]))
        at++;
    return at;
}

/* What follows the e of an exponent; *ret_has_sign. */
static bool is_exponent(const char *text, size_t len, size_t at, bool *ret_has_sign)
{
    *ret_has_sign = at < len && (text[at] == '+' || text[at] == '-');
    at += *ret_has_sign;
    return at < len && skip_digits(text, len, at) == len;
}

/* ".25" and "-.25", as many programs write them. */
static bool lacks_zero(const char *text, size_t len)
{
    size_t at = len > 0 && text[0] == '-' ? 1 : 0;

    return at + 1 < len && text[at] == '.' && is_digit(text[at + 1]);
}

/* Append a number of one of these kinds as JSON. */
static bool append_number(const char *text, size_t len, gbx_buf *to)
{
    size_t sign = text[0] == '-' ? 1 : 0;

    if (!lacks_zero(text, len))
        return gbx_buf_append(to, text, len);
    (void)gbx_buf_append(to, text, sign);
    (void)gbx_buf_append(to, "0", 1);
    return gbx_buf_append(to, text + sign, len - sign);
}

static bool is_kept(const char *text, size_t len)
{
    gbx_buf whole;
    bool kept;

    if (!lacks_zero(text, len))
        return gbx_number_is_kept(text, len);
    gbx_buf_init(&whole, len + 1);
    kept = append_number(text, len, &whole) &&
           gbx_number_is_kept((char *)whole.data, whole.len);
    gbx_buf_cleanup(&whole);
    return kept;
}

static cell_kind kind_of_number(const char *text, size_t len)
{
    size_t start = text[0] == '-' ? 1 : 0;
    size_t at = skip_digits(text, len, start);
    size_t whole = at - start;
    bool is_plain = start == 0; /* no sign or point: 12e4 may be a name */
    bool has_sign = false;

    if ((whole == 0 && !lacks_zero(text, len)) || (whole > 1 && text[start] == '0'))
        return CELL_TEXT;
    if (at == len)
        return whole > DIGITS_MAX ? CELL_TEXT : CELL_INTEGER;
    if (text[at] == '.') {
        size_t point = at;

        at = skip_digits(text, len, at + 1);
        if (at == point + 1)
            return CELL_TEXT;
        is_plain = false;
        if (at == len && at == point + 1 + GROUP && whole >= 1 && whole <= GROUP &&
            text[start] != '0')
            return CELL_THOUSANDS;
    }
    if (at == len && len <= DIGITS_MAX) /* the usual case: no digits are lost */
        return CELL_DECIMAL;
    if (at < len && ((text[at] != 'e' && text[at] != 'E') ||
                     !is_exponent(text, len, at + 1, &has_sign)))
        return CELL_TEXT;
    if (!is_kept(text, len))
        return CELL_TEXT;
    return is_plain && !has_sign ? CELL_POWER : CELL_DECIMAL;
}

static cell_kind cell_kind_of(const char *text, size_t len)
{
    if (len == 0)
        return CELL_EMPTY;
    if (is_digit(text[0]) || text[0] == '-' || text[0] == '.')
        return kind_of_number(text, len);
    if ((len == 4 && strncasecmp(text, "true", 4) == 0) ||
        (len == 5 && strncasecmp(text, "false", 5) == 0))
        return CELL_BOOLEAN;
    return CELL_TEXT;
}

/* Are the cells of a column with these kinds numbers? Possible names are, if other
 * cells are certainly decimals; possible groups of thousands are not. */
static bool are_numbers(unsigned kinds)
{
    const unsigned numbers = CELL_INTEGER | CELL_DECIMAL | CELL_POWER;

    kinds &= ~(unsigned)CELL_EMPTY;
    return (kinds & ~numbers) == 0 &&
           ((kinds & CELL_POWER) == 0 || (kinds & CELL_DECIMAL) != 0);
}

/* ---- a table -------------------------------------------------------------------- */

typedef struct column {
    char *key; /* "name": as JSON */
    size_t key_len;
    char *name;     /* ends in NUL */
    unsigned kinds; /* cell_kind bits of its cells */
} column;

typedef struct table {
    csv_reader csv;
    const atomic_bool *stop;
    gbx_error *err;
    column *columns;
    void *names; /* as a tree: a hostile file may have thousands of colliding names */
    size_t count;
    size_t room;
    size_t body; /* offset after the first record */
    gbx_buf scratch;
} table;

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void table_cleanup(table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        (void)tdelete(t->columns[i].name, &t->names, compare_names);
        free(t->columns[i].key);
        free(t->columns[i].name);
    }
    free(t->columns);
    gbx_buf_cleanup(&t->scratch);
}

static gbx_status nomem(const table *t)
{
    return gbx_fail(t->err, GBX_E_NOMEM, "no memory for the table");
}

static gbx_status refuse(const table *t, size_t offset, const char *message)
{
    uint32_t line, column_at;

    gbx_utf8_position(t->csv.text, t->csv.len, offset, &line, &column_at);
    return gbx_fail_at(t->err, GBX_E_DATA, line, column_at, "line %u, column %u: %s",
                       line, column_at, message);
}

/* ---- the first record --------------------------------------------------------- */

static bool is_taken(const table *t, const char *name)
{
    return tfind(name, &t->names, compare_names) != NULL;
}

/* A unique name: "column_3" for an empty one, "name_3" for a duplicate. */
static char *make_name(const table *t, const char *given, size_t len)
{
    char *name = strndup(len > 0 ? given : "column", len > 0 ? len : 6);
    char *own = NULL;

    if (name == NULL || (len > 0 && !is_taken(t, name)))
        return name;
    for (size_t n = t->count + 1; own == NULL; n++) {
        if (asprintf(&own, "%s_%zu", name, n) < 0)
            break;
        if (is_taken(t, own)) {
            free(own);
            own = NULL;
        }
    }
    free(name);
    return own;
}

static gbx_status add_column(table *t, const csv_cell *cell)
{
    column *c;
    gbx_buf key;

    if (t->count == t->room) {
        size_t room = t->room == 0 ? 16 : t->room * 2;
        column *grown = realloc(t->columns, room * sizeof *grown);

        if (grown == NULL)
            return nomem(t);
        t->columns = grown;
        t->room = room;
    }
    gbx_buf_consume(&t->scratch, t->scratch.len);
    if (!append_cell(cell, &t->scratch))
        return nomem(t);
    c = &t->columns[t->count];
    *c = (column){0};
    c->name = make_name(t, (const char *)t->scratch.data, t->scratch.len);
    if (c->name == NULL)
        return nomem(t);
    gbx_buf_init(&key, (size_t)GBX_TABLE_NAME_MAX * 8);
    (void)gbx_json_append_string(&key, c->name, strlen(c->name));
    (void)gbx_buf_puts(&key, ":");
    c->key = gbx_buf_take_string(&key, &c->key_len);
    if (c->key == NULL || tsearch(c->name, &t->names, compare_names) == NULL) {
        free(c->key);
        free(c->name);
        return nomem(t);
    }
    t->count++;
    return GBX_OK;
}

static gbx_status read_header(table *t)
{
    csv_cell cell = {.is_last = !csv_more(&t->csv)};

    while (!cell.is_last) {
        gbx_status status;
        size_t start = t->csv.at;

        if (!csv_next_cell(&t->csv, &cell))
            return refuse(t, t->csv.at, t->csv.message);
        if (t->count == GBX_TABLE_COLUMNS_MAX)
            return refuse(t, start, "there are more than 4096 columns");
        if (cell.len > GBX_TABLE_NAME_MAX)
            return refuse(t, start, "the name of a column is longer than 1024 bytes");
        status = add_column(t, &cell);
        if (status != GBX_OK)
            return status;
    }
    t->body = t->csv.at;
    return GBX_OK;
}

/* ---- the records ---------------------------------------------------------------- */

typedef void (*cell_fn)(table *t, size_t index, const csv_cell *cell, gbx_buf *to);

static gbx_status wrong_width(const table *t, size_t offset, size_t cells)
{
    char message[128];

    if (cells > t->count)
        (void)snprintf(message, sizeof message,
                       "more cells than the %zu that the first line names", t->count);
    else
        (void)snprintf(message, sizeof message,
                       "%zu cells where the first line names %zu", cells, t->count);
    return refuse(t, offset, message);
}

static gbx_status read_record(table *t, cell_fn fn, gbx_buf *to)
{
    csv_cell cell = {.is_last = false};
    size_t start = t->csv.at;
    size_t cells = 0;

    for (; !cell.is_last; cells++) {
        size_t cell_start = t->csv.at;

        if (!csv_next_cell(&t->csv, &cell))
            return refuse(t, t->csv.at, t->csv.message);
        if (cells == t->count)
            return wrong_width(t, cell_start, cells + 1);
        fn(t, cells, &cell, to);
    }
    return cells == t->count ? GBX_OK : wrong_width(t, start, cells);
}

static void look_at_cell(table *t, size_t index, const csv_cell *cell, gbx_buf *to)
{
    column *c = &t->columns[index];

    (void)to;
    if ((c->kinds & CELL_TEXT) == 0 || cell->len == 0)
        c->kinds |= (unsigned)cell_kind_of(cell->at, cell->len);
}

static void write_text(table *t, const csv_cell *cell, gbx_buf *to)
{
    if (!cell->has_quotes) {
        (void)gbx_json_append_string(to, cell->at, cell->len);
        return;
    }
    gbx_buf_consume(&t->scratch, t->scratch.len);
    if (append_cell(cell, &t->scratch))
        (void)gbx_json_append_string(to, t->scratch.data, t->scratch.len);
    else
        to->failed = true;
}

static void put_cell(table *t, size_t index, const csv_cell *cell, gbx_buf *to)
{
    const column *c = &t->columns[index];
    unsigned kinds = c->kinds & ~(unsigned)CELL_EMPTY;

    (void)gbx_buf_append(to, index == 0 ? "{" : ",", 1);
    (void)gbx_buf_append(to, c->key, c->key_len);
    if (cell->len == 0)
        (void)gbx_buf_append(to, "null", 4);
    else if (kinds == CELL_BOOLEAN)
        (void)gbx_buf_puts(to, cell->len == 4 ? "true" : "false");
    else if (are_numbers(kinds))
        (void)append_number(cell->at, cell->len, to);
    else
        write_text(t, cell, to);
}

/*
 * If ; is the delimiter, a comma is probably the decimal point, and 1.234 means
 * thousands. It is a decimal only if another cell shows that a point is a decimal point
 * here.
 */
static void settle_thousands(table *t)
{
    bool has_points = t->csv.delimiter != ';';

    for (size_t i = 0; i < t->count; i++)
        has_points |= (t->columns[i].kinds & CELL_DECIMAL) != 0 &&
                      (t->columns[i].kinds & CELL_TEXT) == 0;
    for (size_t i = 0; has_points && i < t->count; i++)
        if ((t->columns[i].kinds & CELL_THOUSANDS) != 0) {
            t->columns[i].kinds &= ~(unsigned)CELL_THOUSANDS;
            t->columns[i].kinds |= CELL_DECIMAL;
        }
}

static bool is_stopped(const table *t)
{
    return t->stop != NULL && atomic_load(t->stop);
}

static gbx_status look_at_all(table *t)
{
    for (size_t n = 0; csv_more(&t->csv); n++) {
        gbx_status status = read_record(t, look_at_cell, NULL);

        if (status != GBX_OK)
            return status;
        if (n % RECORDS_AT_ONCE == 0 && is_stopped(t))
            return gbx_fail(t->err, GBX_E_CLOSED, "nobody waits for the table");
    }
    settle_thousands(t);
    return GBX_OK;
}

static gbx_status write_all(table *t, gbx_buf *to)
{
    (void)gbx_buf_puts(to, "[");
    t->csv.at = t->body;
    for (size_t n = 0; csv_more(&t->csv); n++) {
        gbx_status status;

        (void)gbx_buf_append(to, ",\n", n == 0 ? 0 : 2);
        status = read_record(t, put_cell, to);
        if (status != GBX_OK)
            return status;
        (void)gbx_buf_puts(to, "}");
        if (to->failed)
            return gbx_fail(t->err, GBX_E_DATA, "the table is larger than %zu MiB",
                            to->ceiling >> 20);
        if (n % RECORDS_AT_ONCE == 0 && is_stopped(t))
            return gbx_fail(t->err, GBX_E_CLOSED, "nobody waits for the table");
    }
    return gbx_buf_puts(to, "]") ? GBX_OK : nomem(t);
}

static gbx_status put_names(table *t, gbx_buf *to)
{
    t->csv.at = t->body;
    if (to == NULL || csv_more(&t->csv))
        return GBX_OK;
    for (size_t i = 0; i < t->count; i++) {
        (void)gbx_buf_puts(to, i == 0 ? "[" : ",");
        (void)gbx_buf_append(to, t->columns[i].key, t->columns[i].key_len - 1);
    }
    return gbx_buf_puts(to, "]") ? GBX_OK : nomem(t);
}

gbx_status gbx_table_read(const char *text, size_t len, char delimiter,
                          const atomic_bool *stop, gbx_buf *to, gbx_buf *columns,
                          gbx_error *reterr)
{
    table t = {.csv = csv_open(text, len, delimiter), .stop = stop, .err = reterr};
    const char *nul = len > 0 ? memchr(text, 0, len) : NULL;
    gbx_status status = GBX_OK;
    size_t bad = 0;

    gbx_buf_init(&t.scratch, len + 1);
    if (!gbx_utf8_valid((const uint8_t *)text, len, &bad))
        status =
            refuse(&t, bad, "not UTF-8: convert the file, for instance with iconv");
    else if (nul != NULL)
        status = refuse(&t, (size_t)(nul - text), "a NUL character: this is not text");
    if (status == GBX_OK)
        status = read_header(&t);
    if (status == GBX_OK && t.count == 0)
        status = refuse(&t, 0, "the first line, which names the columns, is missing");
    if (status == GBX_OK)
        status = look_at_all(&t);
    if (status == GBX_OK)
        status = write_all(&t, to);
    if (status == GBX_OK)
        status = put_names(&t, columns);
    table_cleanup(&t);
    return status;
}

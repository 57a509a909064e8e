/* SPDX-License-Identifier: MIT */
/* table - see datasets.h. */
#include "mcp/data/datasets.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Records between two checks whether the result is still wanted. */
#define RECORDS_AT_ONCE 4096

typedef struct column {
    char *key; /* "name": as JSON */
    size_t key_len;
    char *name;     /* ends in NUL */
    unsigned kinds; /* gbx_cell_kind bits of its cells */
} column;

typedef struct table {
    const char *text;
    size_t len;
    const atomic_bool *stop;
    gbx_error *err;
    column *columns;
    void *names; /* as a tree: a hostile file may have thousands of colliding names */
    size_t count;
    size_t room;
    size_t body; /* offset after the first record */
    gbx_csv csv;
    gbx_buf scratch;
} table;

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void cleanup(table *t)
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

    gbx_utf8_position(t->text, t->len, offset, &line, &column_at);
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

static gbx_status add_column(table *t, const gbx_csv_cell *cell)
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
    if (!gbx_csv_append(cell, &t->scratch))
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
    gbx_csv_cell cell = {.is_last = !gbx_csv_more(&t->csv)};

    while (!cell.is_last) {
        gbx_status status;
        size_t start = t->csv.at;

        if (!gbx_csv_cell_next(&t->csv, &cell))
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

typedef void (*cell_fn)(table *t, size_t index, const gbx_csv_cell *cell, gbx_buf *to);

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
    gbx_csv_cell cell = {.is_last = false};
    size_t start = t->csv.at;
    size_t cells = 0;

    for (; !cell.is_last; cells++) {
        size_t cell_start = t->csv.at;

        if (!gbx_csv_cell_next(&t->csv, &cell))
            return refuse(t, t->csv.at, t->csv.message);
        if (cells == t->count)
            return wrong_width(t, cell_start, cells + 1);
        fn(t, cells, &cell, to);
    }
    return cells == t->count ? GBX_OK : wrong_width(t, start, cells);
}

static void look(table *t, size_t index, const gbx_csv_cell *cell, gbx_buf *to)
{
    column *c = &t->columns[index];

    (void)to;
    if ((c->kinds & GBX_CELL_TEXT) == 0 || cell->len == 0)
        c->kinds |= (unsigned)gbx_cell_kind_of(cell->at, cell->len);
}

static void write_text(table *t, const gbx_csv_cell *cell, gbx_buf *to)
{
    if (!cell->has_quotes) {
        (void)gbx_json_append_string(to, cell->at, cell->len);
        return;
    }
    gbx_buf_consume(&t->scratch, t->scratch.len);
    if (gbx_csv_append(cell, &t->scratch))
        (void)gbx_json_append_string(to, t->scratch.data, t->scratch.len);
    else
        to->failed = true;
}

static void put(table *t, size_t index, const gbx_csv_cell *cell, gbx_buf *to)
{
    const column *c = &t->columns[index];
    unsigned kinds = c->kinds & ~(unsigned)GBX_CELL_EMPTY;

    (void)gbx_buf_append(to, index == 0 ? "{" : ",", 1);
    (void)gbx_buf_append(to, c->key, c->key_len);
    if (cell->len == 0)
        (void)gbx_buf_append(to, "null", 4);
    else if (kinds == GBX_CELL_BOOLEAN)
        (void)gbx_buf_puts(to, cell->len == 4 ? "true" : "false");
    else if (gbx_cell_are_numbers(kinds))
        (void)gbx_cell_append_number(cell->at, cell->len, to);
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
        has_points |= (t->columns[i].kinds & GBX_CELL_DECIMAL) != 0 &&
                      (t->columns[i].kinds & GBX_CELL_TEXT) == 0;
    for (size_t i = 0; has_points && i < t->count; i++)
        if ((t->columns[i].kinds & GBX_CELL_THOUSANDS) != 0) {
            t->columns[i].kinds &= ~(unsigned)GBX_CELL_THOUSANDS;
            t->columns[i].kinds |= GBX_CELL_DECIMAL;
        }
}

static bool is_stopped(const table *t)
{
    return t->stop != NULL && atomic_load(t->stop);
}

static gbx_status look_at_all(table *t)
{
    for (size_t n = 0; gbx_csv_more(&t->csv); n++) {
        gbx_status status = read_record(t, look, NULL);

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
    for (size_t n = 0; gbx_csv_more(&t->csv); n++) {
        gbx_status status;

        (void)gbx_buf_append(to, ",\n", n == 0 ? 0 : 2);
        status = read_record(t, put, to);
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
    if (to == NULL || gbx_csv_more(&t->csv))
        return GBX_OK;
    for (size_t i = 0; i < t->count; i++) {
        (void)gbx_buf_puts(to, i == 0 ? "[" : ",");
        (void)gbx_json_append_string(to, t->columns[i].name,
                                     strlen(t->columns[i].name));
    }
    return gbx_buf_puts(to, "]") ? GBX_OK : nomem(t);
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_table_read(const char *text, size_t len, char delimiter,
                          const atomic_bool *stop, gbx_buf *to, gbx_buf *columns,
                          gbx_error *reterr)
{
    table t = {.text = text, .len = len, .stop = stop, .err = reterr};
    const char *nul = len > 0 ? memchr(text, 0, len) : NULL;
    gbx_status status = GBX_OK;
    size_t bad = 0;
    size_t start = 0;
    char guess = gbx_csv_guess(text, len, &start);

    gbx_buf_init(&t.scratch, len + 1);
    if (delimiter != 0)
        guess = delimiter;
    gbx_csv_init(&t.csv, text, len, guess);
    t.csv.at = start;
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
    cleanup(&t);
    return status;
}

/* SPDX-License-Identifier: MIT */
/* toml - documents of TOML: tables, and where their lines are. */
#include "mcp/hosts/toml.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "mcp/hosts/toml_value.h"
#include "policy/lists.h"

#include <stdlib.h>
#include <string.h>

#define TABLES_MAX 10000

/* The table of that name in table; the last one of an array of them. */
static json_t *enter(gbx_toml_reader *r, json_t *table, const char *name)
{
    json_t *inner = json_object_get(table, name);

    if (inner == NULL) {
        inner = json_object();
        (void)json_object_set_new(table, name, inner);
    }
    if (json_is_array(inner) && json_array_size(inner) > 0)
        inner = json_array_get(inner, json_array_size(inner) - 1);
    if (json_is_object(inner))
        return inner;
    gbx_toml_fail(r, "this is a value already, and no table");
    return NULL;
}

/* One table more of the array of that name. */
static json_t *append(gbx_toml_reader *r, json_t *table, const char *name)
{
    json_t *array = json_object_get(table, name);
    json_t *item;

    if (array == NULL) {
        array = json_array();
        (void)json_object_set_new(table, name, array);
    }
    item = json_is_array(array) ? json_object() : NULL;
    if (json_array_append_new(array, item) != 0) {
        gbx_toml_fail(r, "this is no array of tables");
        return NULL;
    }
    return item;
}

/* Where the comments begin that stand right above the header at `at`; all from `after`
 * on is blank or comments. */
static size_t comments_above(const gbx_toml_reader *r, size_t after, size_t at)
{
    while (at > after && r->text[at - 1] != '\n')
        at--;
    for (size_t above = at; above > after + 1;) {
        above--;
        while (above > after && r->text[above - 1] != '\n')
            above--;
        if (above == after || r->text[above + strspn(r->text + above, " \t")] != '#')
            break;
        at = above;
    }
    return at;
}

static void note_table(gbx_toml *toml, gbx_toml_reader *r, size_t from,
                       const char *first)
{
    gbx_toml_table *last = NULL;

    from = comments_above(r, r->said, from);
    if (toml->table_count == TABLES_MAX) {
        gbx_toml_fail(r, "there are too many tables");
        return;
    }
    if (toml->table_count > 0)
        toml->tables[toml->table_count - 1].to = from;
    else
        toml->head_len = from;
    last = gbx_list_room(&toml->tables, toml->table_count, sizeof *last);
    if (last == NULL) {
        gbx_toml_fail(r, "memory is out");
        return;
    }
    last->first = strdup(first);
    last->second = NULL;
    last->from = from;
    last->to = r->len;
    toml->table_count++;
}

/* "[a.b]" or "[[a.b]]"; the table that is meant, or NULL. */
static json_t *header(gbx_toml_reader *r, gbx_toml *toml)
{
    size_t from = r->at;
    bool is_array = r->at + 1 < r->len && r->text[r->at + 1] == '[';
    json_t *table = toml->root;
    bool more = true;

    r->at += is_array ? 2 : 1;
    for (int i = 0; more && r->fault == NULL; i++) {
        GBX_CLEANUP(gbx_free) char *name = gbx_toml_key_part(r);

        if (name == NULL)
            break;
        if (i == 0)
            note_table(toml, r, from, name);
        if (i == 1)
            toml->tables[toml->table_count - 1].second = strdup(name);
        if (i == GBX_TOML_DEPTH_MAX)
            gbx_toml_fail(r, "tables are nested too deep");
        more = gbx_toml_here(r) == '.';
        r->at += more;
        table = is_array && !more ? append(r, table, name) : enter(r, table, name);
    }
    for (int i = 0; i < (is_array ? 2 : 1) && r->fault == NULL; i++) {
        if (gbx_toml_here(r) != ']')
            gbx_toml_fail(r, "a ']' belongs here");
        r->at++;
    }
    return table;
}

static void end_line(gbx_toml_reader *r)
{
    gbx_toml_skip_blanks(r);
    if (r->at < r->len && strchr("#\r\n", gbx_toml_here(r)) == NULL)
        gbx_toml_fail(r, "the line should end here");
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_toml_read(const char *text, size_t len, gbx_toml *ret, gbx_error *reterr)
{
    gbx_toml_reader r = {.text = text, .len = len};
    gbx_toml toml = {.root = json_object(), .head_len = len};
    json_t *table = toml.root;
    uint32_t line;
    uint32_t column;

    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        r.at = 3;
    r.said = r.at;
    gbx_toml_skip_lines(&r);
    while (r.at < len && r.fault == NULL && table != NULL) {
        if (gbx_toml_here(&r) == '[')
            table = header(&r, &toml);
        else
            gbx_toml_pair(&r, table);
        if (r.fault == NULL)
            end_line(&r);
        r.said = r.at;
        if (r.fault == NULL)
            gbx_toml_skip_lines(&r);
    }
    if (r.fault == NULL && table != NULL) {
        *ret = toml;
        return GBX_OK;
    }
    gbx_toml_cleanup(&toml);
    gbx_utf8_position(text, len, r.at < len ? r.at : len, &line, &column);
    return gbx_fail_at(reterr, GBX_E_DATA, line, column, "%s",
                       r.fault != NULL ? r.fault : "memory is out");
}

void gbx_toml_cleanup(gbx_toml *toml)
{
    for (size_t i = 0; i < toml->table_count; i++) {
        free(toml->tables[i].first);
        free(toml->tables[i].second);
    }
    free(toml->tables);
    json_decref(toml->root);
    *toml = (gbx_toml){.root = NULL};
}

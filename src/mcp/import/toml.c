/* SPDX-License-Identifier: MIT */
/* toml - documents of TOML: tables. */
#include "mcp/import/import.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <string.h>

/* The table of that name in table; of an array of tables, the last one. */
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

/* Append a table to the array of that name. */
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
        gbx_toml_fail(r, "this is not an array of tables");
        return NULL;
    }
    return item;
}

/* "[a.b]" or "[[a.b]]": returns the table that it names, or NULL. */
static json_t *header(gbx_toml_reader *r, json_t *root)
{
    bool is_array = r->at + 1 < r->len && r->text[r->at + 1] == '[';
    json_t *table = root;
    bool more = true;

    r->at += is_array ? 2 : 1;
    for (int i = 0; more && r->fault == NULL; i++) {
        GBX_CLEANUP(gbx_free) char *name = gbx_toml_key_part(r);

        if (name == NULL)
            break;
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

gbx_status gbx_toml_read(const char *text, size_t len, json_t **ret, gbx_error *reterr)
{
    gbx_toml_reader r = {.text = text, .len = len};
    json_t *root = json_object();
    json_t *table = root;
    uint32_t line;
    uint32_t column;

    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        r.at = 3;
    gbx_toml_skip_lines(&r);
    while (r.at < len && r.fault == NULL && table != NULL) {
        if (gbx_toml_here(&r) == '[')
            table = header(&r, root);
        else
            gbx_toml_pair(&r, table);
        if (r.fault == NULL)
            end_line(&r);
        if (r.fault == NULL)
            gbx_toml_skip_lines(&r);
    }
    if (r.fault == NULL && table != NULL) {
        *ret = root;
        return GBX_OK;
    }
    json_decref(root);
    gbx_utf8_position(text, len, r.at < len ? r.at : len, &line, &column);
    return gbx_fail_at(reterr, GBX_E_DATA, line, column, "%s",
                       r.fault != NULL ? r.fault : "memory is out");
}

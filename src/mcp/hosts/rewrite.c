/* SPDX-License-Identifier: MIT */
/*
 * rewrite - hosts' files, changed. All but the servers that go stays, to the byte; what
 * came out is read again before anybody gets it.
 */
#include "mcp/hosts/take.h"

#include "base/cleanup.h"
#include "mcp/hosts/toml.h"

#include <stdio.h>
#include <string.h>

/* What the host has after it: the servers that are us, and the new one. */
typedef struct outcome {
    json_t *servers;
    const char *name; /* of the new one; empty: there is none */
    const gbx_host_start *us;
} outcome;

/* What our entry is when it is read; only Codex has to be told of variables. */
static json_t *entry_of(const gbx_host_start *us, bool is_toml)
{
    json_t *entry = json_pack("{s:s,s:[s,s,s]}", "command", us->command, "args", "mcp",
                              "--config", us->config);

    if (is_toml && json_array_size(us->needs) > 0)
        (void)json_object_set(entry, "env_vars", (json_t *)(uintptr_t)us->needs);
    return entry;
}

static bool decide(const json_t *servers, const gbx_host_start *us, bool is_toml,
                   char name[GBX_HOST_NAME_SIZE], outcome *ret)
{
    bool has_us = false;
    const char *key;
    json_t *entry;

    *ret = (outcome){json_object(), name, us};
    json_object_foreach((json_t *)(uintptr_t)servers, key, entry)
    {
        if (gbx_host_is_us(entry))
            (void)json_object_set(ret->servers, key, entry);
        has_us = has_us || gbx_host_is_us_with(entry, us->config);
    }
    (void)snprintf(name, GBX_HOST_NAME_SIZE, "%s", has_us ? "" : "glovebox");
    for (unsigned i = 2; json_object_get(ret->servers, name) != NULL; i++)
        (void)snprintf(name, GBX_HOST_NAME_SIZE, "glovebox-%u", i);
    return has_us ||
           json_object_set_new(ret->servers, name, entry_of(us, is_toml)) == 0;
}

static gbx_view find(const gbx_edit *edit, const gbx_host_place *place)
{
    gbx_view at = edit->root;

    for (size_t i = 0; place->keys[i] != NULL; i++)
        at = gbx_view_member(at, place->keys[i]);
    return at;
}

/* A view into an edit is one into the text without its comments; this is with them. */
static bool open_part(const gbx_edit *edit, gbx_view part, gbx_edit *ret)
{
    return part.at != NULL &&
           gbx_edit_open(ret, (const char *)edit->text.data + (part.at - edit->blanked),
                         part.len);
}

/* Ours is added first: there is always one before or after what is taken away. */
static bool change_map(gbx_edit *map, const json_t *servers, const outcome *to_be)
{
    const char *const args[] = {"mcp", "--config", to_be->us->config, NULL};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf ours;
    size_t index = 0;
    const char *key;
    json_t *entry;
    json_t *now;
    bool done;

    gbx_buf_init(&ours, GBX_KIB(32));
    if (to_be->name[0] != '\0' &&
        (!gbx_host_put_server(to_be->us->command, args, &ours) ||
         !gbx_buf_append(&ours, "", 1) ||
         !gbx_edit_add_member(map, map->root, to_be->name, (const char *)ours.data)))
        return false;
    json_object_foreach((json_t *)(uintptr_t)servers, key, entry)
    {
        if (gbx_host_is_us(entry))
            index++;
        else if (!gbx_edit_remove_member(map, map->root, index))
            return false;
    }
    now = json_loads(map->blanked, JSON_REJECT_DUPLICATES, NULL);
    done = now != NULL && json_equal(now, to_be->servers);
    json_decref(now);
    return done;
}

static bool rewrite_json(const gbx_host_file_text *file, const gbx_host_place *place,
                         const outcome *to_be, gbx_buf *to)
{
    gbx_edit edit;
    gbx_edit map;
    bool done = false;

    if (!gbx_edit_open(&edit, file->text, file->len))
        return false;
    if (open_part(&edit, find(&edit, place), &map)) {
        done =
            change_map(&map, gbx_host_servers(file, place), to_be) &&
            gbx_buf_append(&map.text, "", 1) &&
            gbx_edit_replace(&edit, find(&edit, place), (const char *)map.text.data) &&
            gbx_buf_append(to, edit.text.data, edit.text.len);
        gbx_edit_close(&map);
    }
    gbx_edit_close(&edit);
    return done;
}

/* Every table of a server that goes is left out, ours is the last. */
static bool rewrite_toml(const gbx_host_file_text *file, const gbx_host_place *place,
                         const outcome *to_be, gbx_buf *to)
{
    const char *const args[] = {"mcp", "--config", to_be->us->config, NULL};
    gbx_toml toml = {.root = NULL};
    gbx_toml now = {.root = NULL};
    size_t at = 0;
    bool done;

    if (gbx_toml_read(file->text, file->len, &toml, NULL) != GBX_OK)
        return false;
    for (size_t i = 0; i < toml.table_count; i++) {
        const gbx_toml_table *table = &toml.tables[i];

        if (strcmp(table->first, place->keys[0]) != 0 ||
            (table->second != NULL &&
             json_object_get(to_be->servers, table->second) != NULL &&
             strcmp(table->second, to_be->name) != 0))
            continue;
        (void)gbx_buf_append(to, file->text + at, table->from - at);
        at = table->to;
    }
    (void)gbx_buf_append(to, file->text + at, file->len - at);
    gbx_toml_cleanup(&toml);
    if (to_be->name[0] != '\0') {
        if (to->len > 0 && to->data[to->len - 1] != '\n')
            (void)gbx_buf_puts(to, "\n");
        if (to->len > 0)
            (void)gbx_buf_puts(to, "\n");
        (void)gbx_host_print(GBX_HOST_CODEX, to_be->name, to_be->us->command, args,
                             to_be->us->needs, to);
    }
    /* Servers may stand before the first table, too: as `mcp_servers.x.command = ...`. */
    done = !to->failed &&
           gbx_toml_read((const char *)to->data, to->len, &now, NULL) == GBX_OK &&
           json_equal(json_object_get(now.root, place->keys[0]), to_be->servers);
    gbx_toml_cleanup(&now);
    return done;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_host_rewrite(const gbx_host_file_text *file, const gbx_host_place *place,
                      const gbx_host_start *us, char name[GBX_HOST_NAME_SIZE],
                      gbx_buf *to)
{
    outcome to_be;
    bool done = decide(gbx_host_servers(file, place), us, file->is_toml, name, &to_be);

    if (done)
        done = file->is_toml ? rewrite_toml(file, place, &to_be, to)
                             : rewrite_json(file, place, &to_be, to);
    json_decref(to_be.servers);
    return done;
}

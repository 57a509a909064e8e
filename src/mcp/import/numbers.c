/* SPDX-License-Identifier: MIT */
/* numbers - env and headers may have numbers for strings: those are taken over as they are
 * written, 1.50 and not 1.5. */
#include "mcp/import/host_entry.h"

#include "base/cleanup.h"

static void keep(json_t *pairs, gbx_view written)
{
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    for (void *at = json_object_iter(pairs);
         at != NULL && gbx_view_next(written, &cursor, &name, &value);
         at = json_object_iter_next(pairs, at))
        if (json_is_number(json_object_iter_value(at)))
            (void)json_object_iter_set_new(pairs, at,
                                           json_stringn(value.at, value.len));
}

/* ---- public to other modules -------------------------------------------- */

void gbx_host_keep_numbers(gbx_host_file_text *file, const gbx_host_place *place)
{
    json_t *servers = (json_t *)(uintptr_t)gbx_host_servers(file, place);
    size_t cursor = 0;
    gbx_view name;
    gbx_view written;
    gbx_view at;
    gbx_edit edit;

    if (servers == NULL || file->is_toml ||
        !gbx_edit_open(&edit, file->text, file->len))
        return;
    at = edit.root;
    for (size_t i = 0; place->keys[i] != NULL; i++)
        at = gbx_view_member(at, place->keys[i]);
    /* Values keep the order of their text. */
    for (void *server = json_object_iter(servers);
         server != NULL && gbx_view_next(at, &cursor, &name, &written);
         server = json_object_iter_next(servers, server)) {
        const json_t *entry = json_object_iter_value(server);

        keep(json_object_get(entry, "env"), gbx_view_member(written, "env"));
        keep(json_object_get(entry, "headers"), gbx_view_member(written, "headers"));
    }
    gbx_edit_close(&edit);
}

/* SPDX-License-Identifier: MIT */
/* registry - lists are short, so a linear search is fast enough; the order that clients
 * see is then the only order. */
#include "mcp/server/server_state.h"

#include "base/cleanup.h"
#include "base/edit_distance.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAREST_MAX 256

static const char *const list_names[GBX_MCP_LISTS] = {
    [GBX_MCP_TOOLS] = "tools",
    [GBX_MCP_RESOURCES] = "resources",
    [GBX_MCP_TEMPLATES] = "templates",
    [GBX_MCP_PROMPTS] = "prompts",
};

static void free_entry(gbx_mcp_entry *entry)
{
    free(entry->key);
    free(entry->shown);
    free(entry->pattern);
    *entry = (gbx_mcp_entry){0};
}

static bool append(gbx_mcp_registry *r, gbx_mcp_entry *entry)
{
    gbx_mcp_entry **more;
    gbx_mcp_entry *kept;

    if (r->count >= GBX_MCP_ENTRIES_MAX)
        return false;
    more = reallocarray(r->entries, r->count + 1, sizeof *more);
    if (more == NULL)
        return false;
    r->entries = more;
    kept = malloc(sizeof *kept);
    if (kept == NULL)
        return false;
    *kept = *entry;
    kept->place = ++r->last_place;
    r->entries[r->count++] = kept;
    *entry = (gbx_mcp_entry){0};
    return true;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_mcp_registry_put(gbx_mcp_registry *registry, gbx_mcp_entry *entry,
                          bool *ret_changed)
{
    gbx_mcp_entry *old = gbx_mcp_registry_find(registry, entry->key);
    bool is_put = old != NULL || append(registry, entry);

    *ret_changed = is_put && (old == NULL || strcmp(old->shown, entry->shown) != 0);
    if (old != NULL) {
        gbx_mcp_entry replaced = *old;

        *old = *entry;
        old->place = replaced.place;
        *entry = replaced;
    }
    free_entry(entry);
    return is_put;
}

gbx_mcp_entry *gbx_mcp_registry_find(const gbx_mcp_registry *registry, const char *key)
{
    for (size_t i = 0; i < registry->count; i++)
        if (strcmp(registry->entries[i]->key, key) == 0)
            return registry->entries[i];
    return NULL;
}

gbx_mcp_entry *gbx_mcp_registry_match(const gbx_mcp_registry *registry,
                                      const char *text)
{
    gbx_mcp_entry *best = NULL;
    size_t best_len = 0;

    for (size_t i = 0; i < registry->count; i++) {
        size_t len = strlen(registry->entries[i]->key);

        if (strncmp(registry->entries[i]->key, text, len) == 0 && len >= best_len) {
            best = registry->entries[i];
            best_len = len;
        }
    }
    return best;
}

const char *gbx_mcp_registry_nearest(const gbx_mcp_registry *registry, const char *key)
{
    const char *keys[NEAREST_MAX];
    size_t count = registry->count < NEAREST_MAX ? registry->count : NEAREST_MAX;

    for (size_t i = 0; i < count; i++)
        keys[i] = registry->entries[i]->key;
    return gbx_nearest(key, keys, count);
}

void gbx_mcp_registry_cleanup(gbx_mcp_registry *registry)
{
    for (size_t i = 0; i < registry->count; i++) {
        free_entry(registry->entries[i]);
        free(registry->entries[i]);
    }
    free(registry->entries);
    *registry = (gbx_mcp_registry){0};
}

void gbx_mcp_cursor_print(gbx_mcp_list list, uint64_t place,
                          char ret[GBX_MCP_CURSOR_MAX])
{
    (void)snprintf(ret, GBX_MCP_CURSOR_MAX, "%s:%" PRIx64, list_names[list], place);
}

bool gbx_mcp_cursor_read(gbx_mcp_list list, const char *text, uint64_t *ret_place)
{
    size_t len = strlen(list_names[list]);
    char again[GBX_MCP_CURSOR_MAX];
    uint64_t place;

    if (strncmp(text, list_names[list], len) != 0 || text[len] != ':')
        return false;
    place = strtoull(text + len + 1, NULL, 16);
    /* Accept only the exact form that we print. */
    gbx_mcp_cursor_print(list, place, again);
    if (strcmp(again, text) != 0)
        return false;
    *ret_place = place;
    return true;
}

/* SPDX-License-Identifier: MIT */
/*
 * needs - what of its host's environment a configuration of ours needs.
 *
 * Codex gives its servers a few variables and those that an entry names: without the names
 * all that we fill in would be missing there.
 */
#include "mcp/hosts/take.h"

#include "base/cleanup.h"
#include "mcp/config/variable.h"

#include <string.h>

static bool has_text(const json_t *list, const char *text)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *item = json_string_value(json_array_get(list, i));

        if (item != NULL && strcmp(item, text) == 0)
            return true;
    }
    return false;
}

static void add(void *user, const char *name)
{
    static const char *const given[] = {"HOME", "LOGNAME", "PATH", "SHELL",  "USER",
                                        "LANG", "LC_ALL",  "TERM", "TMPDIR", "TZ"};
    json_t *needs = user;

    for (size_t i = 0; i < GBX_COUNTOF(given); i++)
        if (strcmp(given[i], name) == 0)
            return;
    if (!has_text(needs, name))
        (void)json_array_append_new(needs, json_string(name));
}

/* All texts below value, as deep as its file may be. */
static void add_texts(const json_t *value, json_t *needs)
{
    const char *key;
    json_t *item;

    if (json_is_string(value))
        gbx_variables_each(json_string_value(value), add, needs);
    for (size_t i = 0; i < json_array_size(value); i++)
        add_texts(json_array_get(value, i), needs);
    json_object_foreach((json_t *)(uintptr_t)value, key, item)
    {
        add_texts(item, needs);
    }
}

static void add_servers(const json_t *servers, json_t *needs)
{
    /* Of the rest, which is the hosts', nothing is filled in. */
    static const char *const filled[] = {"command", "args", "env",
                                         "cwd",     "url",  "headers"};
    const char *name;
    json_t *entry;

    json_object_foreach((json_t *)(uintptr_t)servers, name, entry)
    {
        const json_t *names =
            json_object_get(json_object_get(entry, "glovebox"), "env");

        for (size_t i = 0; i < GBX_COUNTOF(filled); i++)
            add_texts(json_object_get(entry, filled[i]), needs);
        for (size_t i = 0; i < json_array_size(names); i++)
            if (json_is_string(json_array_get(names, i)))
                add(needs, json_string_value(json_array_get(names, i)));
    }
}

static void add_secrets(const json_t *secrets, json_t *needs)
{
    const char *name;
    json_t *secret;

    json_object_foreach((json_t *)(uintptr_t)secrets, name, secret)
    {
        const json_t *from = json_object_get(secret, "from");

        if (json_is_string(from))
            add(needs, json_string_value(from));
    }
}

/* ---- public to other modules -------------------------------------------- */

json_t *gbx_host_needs(const char *config)
{
    GBX_CLEANUP(gbx_host_file_cleanup) gbx_host_file_text file = {.root = NULL};
    json_t *needs = json_array();

    /* Nothing is done by it: they are names to be printed. */
    if (gbx_host_file_read(config, GBX_TRUST_ALL, &file, NULL) != GBX_OK)
        return needs;
    add_servers(json_object_get(file.root, "mcpServers"), needs);
    add_servers(json_object_get(file.root, "servers"), needs);
    add_secrets(json_object_get(json_object_get(file.root, "glovebox"), "secrets"),
                needs);
    return needs;
}

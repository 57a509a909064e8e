/* SPDX-License-Identifier: MIT */
/* host_entry - a host's entries of servers as ours, and whether we can read them. */
#include "mcp/import/import.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

/* Leaves out the position, which refers to no real file, and the advice to import,
 * which is happening now. */
static void say_why(json_t *notes, const char *fault, bool is_left)
{
    static const char name[] = ": mcpServers.x";
    const char *why = strstr(fault, name);
    const char *advice;

    why = why != NULL ? why + sizeof name - 1 : fault;
    why += strspn(why, ".: ");
    advice = strstr(why, GBX_VARIABLES_IMPORT);
    (void)json_array_append_new(
        notes,
        json_sprintf("%s%.*s", is_left ? "it is left alone: " : "",
                     (int)(advice != NULL ? advice - why : (ptrdiff_t)strlen(why)),
                     why));
}

/* Is it a valid entry for us? Unset variables do not matter here. */
static bool is_whole(json_t *entry, json_t *notes)
{
    json_t *root = gbx_need(json_pack("{s:{s:O}}", "mcpServers", "x", entry));
    GBX_CLEANUP(gbx_free) char *text = gbx_need(json_dumps(root, JSON_COMPACT));
    gbx_mcp_config *config = NULL;
    gbx_error err = {0};
    const char *why = NULL;
    bool done;

    json_decref(root);
    done = gbx_mcp_config_parse(text, strlen(text), NULL, GBX_TRUST_OWN, &config,
                                &err) == GBX_OK;
    explicit_bzero(text, strlen(text));
    if (!done)
        why = err.message;
    else if (config->servers[0].fault != NULL)
        why = config->servers[0].fault;
    if (why != NULL)
        say_why(notes, why, !done || config->servers[0].is_malformed);
    done = done && !config->servers[0].is_malformed;
    gbx_mcp_config_free(config);
    return done;
}

gbx_status gbx_host_take(gbx_host_box *box, const gbx_host_place *place,
                         const json_t *root, json_t *off, json_t **ret,
                         gbx_error *reterr)
{
    json_t *question =
        json_pack("{s:s,s:s,s:O*,s:O,s:O}", "host", gbx_host_names[place->host],
                  "folder", place->folder, "inputs", gbx_host_inputs(root, place),
                  "servers", gbx_host_servers(root, place), "off", off);
    gbx_status status =
        question != NULL
            ? gbx_host_box_ask(box, "take", question, ret, reterr)
            : gbx_fail(reterr, GBX_E_DATA, "the folder's name is not UTF-8");

    for (size_t i = 0; status == GBX_OK && i < json_array_size(*ret); i++) {
        json_t *one = json_array_get(*ret, i);
        json_t *entry = json_object_get(one, "entry");

        if (!json_is_object(entry) || !is_whole(entry, json_object_get(one, "notes")))
            (void)json_object_del(one, "entry");
    }
    return status;
}

bool gbx_host_is_us(const json_t *entry)
{
    const char *command = json_string_value(json_object_get(entry, "command"));
    const json_t *args = json_object_get(entry, "args");
    const char *first = json_string_value(json_array_get(args, 0));
    const char *slash = command != NULL ? strrchr(command, '/') : NULL;

    return command != NULL && first != NULL && strcmp(first, "mcp") == 0 &&
           strcmp(slash != NULL ? slash + 1 : command, "glovebox") == 0;
}

bool gbx_host_is_us_with(const json_t *entry, const char *config)
{
    const json_t *args = json_object_get(entry, "args");

    for (size_t i = 1; gbx_host_is_us(entry) && i < json_array_size(args); i++) {
        const char *arg = json_string_value(json_array_get(args, i));
        const char *path = NULL;

        if (arg != NULL && strncmp(arg, "--config=", 9) == 0)
            path = arg + 9;
        else if (arg != NULL && strcmp(arg, "--config") == 0)
            path = json_string_value(json_array_get(args, i + 1));
        if (path != NULL && path[0] == '/' && gbx_host_same_file(path, config))
            return true;
    }
    return false;
}

/* SPDX-License-Identifier: MIT */
/*
 * arguments - refuse unknown arguments: the model meant one of the known ones, and
 * ignoring it would make a different call from the one that the model believes in.
 */
#include "base/cleanup.h"
#include "base/edit_distance.h"
#include "base/utf8.h"
#include "mcp/code/code_mode.h"

#include <string.h>

#define NAMES_MAX  8
#define NAME_BYTES 60 /* bytes of a name that are shown */

/* Names that other tools, and the protocol itself, use for our arguments. */
static const struct habit {
    const char *written;
    const char *meant;
} habits[] = {
    {"arguments", "args"}, {"params", "args"},   {"parameters", "args"},
    {"input", "args"},     {"script", "code"},   {"source", "code"},
    {"args", "input"},     {"data", "input"},    {"name", "tool"},
    {"tool_name", "tool"}, {"toolName", "tool"}, {"server_name", "server"},
    {"q", "query"},        {"search", "query"},  {"keywords", "query"},
};

static bool is_one_of(const char *word, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, names[i]) == 0)
            return true;
    return false;
}

static const char *meant_by(const char *word, const char *const *names, size_t count)
{
    for (size_t i = 0; i < GBX_COUNTOF(habits); i++)
        if (strcmp(word, habits[i].written) == 0 &&
            is_one_of(habits[i].meant, names, count))
            return habits[i].meant;
    return gbx_nearest(word, names, count);
}

static void say_unknown(const gbx_buf *name, const char *const *names, size_t count,
                        gbx_buf *message)
{
    const char *word = (const char *)name->data;
    const char *meant = meant_by(word, names, count);

    (void)gbx_buf_puts(message, "unknown argument '");
    (void)gbx_utf8_append_escaped(message, word,
                                  gbx_artifacts_border(word, strlen(word), NAME_BYTES),
                                  GBX_ESCAPE_LINE);
    if (meant != NULL) {
        (void)gbx_buf_printf(message, "': did you mean '%s'?", meant);
        return;
    }
    (void)gbx_buf_puts(message, count == 1 ? "': there is " : "': there are ");
    for (size_t i = 0; i < count; i++)
        (void)gbx_buf_printf(message, "%s%s",
                             i == 0          ? ""
                             : i + 1 < count ? ", "
                                             : " and ",
                             names[i]);
}

/* ---- public to other files of this folder --------------------------------- */

bool gbx_code_check_names(gbx_view arguments, const char *const *names,
                          gbx_buf *message)
{
    size_t count = 0;
    size_t cursor = 0;
    gbx_view key;
    gbx_view value;

    while (count < NAMES_MAX && names[count] != NULL)
        count++;
    while (gbx_view_kind(arguments) == '{' &&
           gbx_view_next(arguments, &cursor, &key, &value)) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf name;

        gbx_buf_init(&name, key.len + 1);
        if (!gbx_view_append_text(key, &name) || !gbx_buf_append(&name, "", 1)) {
            (void)gbx_buf_puts(message, "no memory is left for the arguments");
            return false;
        }
        if (strlen((const char *)name.data) + 1 == name.len &&
            is_one_of((const char *)name.data, names, count))
            continue;
        say_unknown(&name, names, count, message);
        return false;
    }
    return true;
}

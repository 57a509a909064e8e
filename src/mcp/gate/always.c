/* SPDX-License-Identifier: MIT */
/*
 * always - a person's "always" becomes a rule in the configuration.
 *
 * The file may have changed since it was read: the rule goes before the very rule that
 * has asked, if that is still the one at its place, and nowhere else. What it says next
 * must still be a configuration.
 */
#include "mcp/gate/parts.h"

#include "base/cleanup.h"
#include "mcp/config/edit.h"
#include "mcp/config/replace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX GBX_MIB(4)

static gbx_status cannot(gbx_error *reterr, const char *why)
{
    return gbx_fail(reterr, GBX_E_USAGE, "the rule cannot be written: %s", why);
}

static bool read_all(const char *path, gbx_buf *to)
{
    GBX_CLEANUP(gbx_fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    ssize_t n;

    do {
        uint8_t *at = fd >= 0 ? gbx_buf_reserve(to, GBX_KIB(16)) : NULL;

        n = at != NULL ? read(fd, at, GBX_KIB(16)) : -1;
        to->len += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    return n == 0;
}

/* Is the rule that has asked still where it was? */
static bool is_same(const gbx_mcp_config *was, const gbx_mcp_config *is, size_t rule)
{
    if (rule == GBX_GATE_NO_RULE)
        return was->rules->count == is->rules->count;
    return rule < is->rules->count &&
           strcmp(was->rules->items[rule].text, is->rules->items[rule].text) == 0;
}

static bool insert(gbx_edit *edit, size_t index, const char *rule)
{
    gbx_view own = gbx_view_member(edit->root, "glovebox");
    gbx_view rules = gbx_view_member(own, "rules");
    char *array = NULL;
    bool done;

    if (rules.at != NULL)
        return gbx_edit_add_item(edit, rules, index, rule);
    if (asprintf(&array, own.at != NULL ? "[%s]" : "{\"rules\": [%s]}", rule) < 0)
        return false;
    done = own.at != NULL ? gbx_edit_add_member(edit, own, "rules", array)
                          : gbx_edit_add_member(edit, edit->root, "glovebox", array);
    free(array);
    return done;
}

static void release(gbx_mcp_config **config)
{
    gbx_mcp_config_free(*config);
}

static gbx_status write_edited(const gbx_mcp_config *config, gbx_edit *edit,
                               gbx_error *reterr)
{
    GBX_CLEANUP(release) gbx_mcp_config *next = NULL;
    gbx_status status =
        gbx_mcp_config_parse((const char *)edit->text.data, edit->text.len,
                             config->path, &next, reterr);

    if (status != GBX_OK)
        return status;
    return gbx_file_replace(config->path, (const char *)edit->text.data, edit->text.len,
                            NULL, reterr);
}

/* ---- for the other parts ---------------------------------------------------- */

bool gbx_gate_can_write(const gbx_mcp_config *config)
{
    return config->path != NULL && access(config->path, W_OK) == 0;
}

gbx_status gbx_gate_write_rule(const gbx_mcp_config *config, const gbx_gate_call *call,
                               gbx_error *reterr)
{
    GBX_CLEANUP(release) gbx_mcp_config *now = NULL;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf rule;
    gbx_edit edit = {.blanked = NULL};
    gbx_status status;

    gbx_buf_init(&text, FILE_MAX + GBX_KIB(16));
    gbx_buf_init(&rule, GBX_KIB(4));
    if (config->path == NULL || !read_all(config->path, &text))
        return cannot(reterr, "the file cannot be read");
    if (!gbx_gate_rule_for(call->server, call->tool, &rule) ||
        !gbx_buf_append(&rule, "", 1))
        return cannot(reterr, "the names are too long");
    status = gbx_mcp_config_parse((const char *)text.data, text.len, config->path, &now,
                                  reterr);
    if (status != GBX_OK)
        return status;
    if (!is_same(config, now, call->verdict.rule))
        return cannot(reterr, "the rules in the file are others by now");
    if (!gbx_edit_open(&edit, (const char *)text.data, text.len) ||
        !insert(&edit, call->verdict.rule, (const char *)rule.data))
        status = cannot(reterr, "the file cannot be edited");
    else
        status = write_edited(config, &edit, reterr);
    gbx_edit_close(&edit);
    return status;
}

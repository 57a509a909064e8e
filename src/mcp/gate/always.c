/* SPDX-License-Identifier: MIT */
/*
 * always - a person's "always" becomes a rule in the configuration.
 *
 * The file may have changed since it was read, by answers before this one too: the call is
 * judged by what it says now, and only if the very rule that has asked still asks, wherever
 * it stands, the new one goes before it. Then it allows nothing but what that rule would
 * ask about. It is the rule that the person was shown, to the byte. What the file says
 * next must still be a configuration.
 */
#include "mcp/gate/parts.h"

#include "base/cleanup.h"
#include "mcp/config/add_rule.h"
#include "mcp/config/replace.h"
#include "mcp/config/stamp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX \
    (GBX_MIB(4) + GBX_KIB(16)) /* read_all() asks for room beyond the end */

/* For another that writes a rule just now: everything else of ours waits with us. */
#define LOCK_MS 100

static gbx_status cannot(gbx_error *reterr, const char *why)
{
    return gbx_fail(reterr, GBX_E_USAGE, "the rule cannot be written: %s", why);
}

static bool read_all(int fd, gbx_buf *to)
{
    ssize_t n;

    do {
        uint8_t *at = gbx_buf_reserve(to, GBX_KIB(16));

        n = at != NULL ? read(fd, at, GBX_KIB(16)) : -1;
        to->len += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    return n == 0;
}

/* Does the file still ask about the call, and by the rule that has asked? */
static bool still_asks(const gbx_gate_call *call, const gbx_gate_rules *now,
                       gbx_gate_verdict *ret)
{
    const gbx_gate_rules *was = call->gate->config->rules;
    gbx_gate_verdict verdict =
        gbx_gate_decide(now, call->server, call->tool, call->called, call->args,
                        call->verdict.hint);

    *ret = verdict;
    if (verdict.fault != NULL || verdict.needs_hint || verdict.action != GBX_GATE_ASK)
        return false;
    if (verdict.rule == GBX_GATE_NO_RULE || call->verdict.rule == GBX_GATE_NO_RULE)
        return verdict.rule == call->verdict.rule;
    return strcmp(was->items[call->verdict.rule].text, now->items[verdict.rule].text) ==
           0;
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
                             config->path, config->trust, &next, reterr);

    if (status != GBX_OK)
        return status;
    return gbx_file_replace(config->path, (const char *)edit->text.data, edit->text.len,
                            0, NULL, reterr);
}

/* ---- for the other parts ---------------------------------------------------- */

char *gbx_gate_rule_to_write(const gbx_gate_call *call)
{
    const gbx_mcp_config *config = call->gate->config;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf rule;

    gbx_buf_init(&rule, GBX_GATE_RULE_MAX);
    if (config->path == NULL || access(config->path, W_OK) != 0 ||
        !gbx_gate_rule_for(config->rules, &call->verdict, call->server, call->tool,
                           call->args, &rule))
        return NULL;
    return gbx_buf_take_string(&rule, NULL);
}

gbx_status gbx_gate_write_rule(const gbx_gate_call *call, gbx_error *reterr)
{
    const gbx_mcp_config *config = call->gate->config;
    const char *file = config->path;
    gbx_error err = {0};
    GBX_CLEANUP(release) gbx_mcp_config *now = NULL;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf rule;
    GBX_CLEANUP(gbx_fd_close) int fd = -1; /* others wait, and read what we have made */
    gbx_edit edit = {.blanked = NULL};
    gbx_gate_verdict verdict;
    gbx_status status;

    gbx_buf_init(&text, FILE_MAX);
    gbx_buf_init(&rule, GBX_GATE_RULE_MAX);
    if (file == NULL ||
        gbx_file_lock_within(file, config->trust, LOCK_MS, &fd, &err) != GBX_OK ||
        !read_all(fd, &text))
        return cannot(reterr, err.os_errno == EPERM
                                  ? err.message
                                  : "the file cannot be read, or another holds it");
    status = gbx_mcp_config_parse((const char *)text.data, text.len, file,
                                  config->trust, &now, reterr);
    if (status != GBX_OK)
        return status;
    if (!still_asks(call, now->rules, &verdict) ||
        !gbx_gate_rule_for(now->rules, &verdict, call->server, call->tool, call->args,
                           &rule) ||
        rule.len != strlen(call->rule) || memcmp(rule.data, call->rule, rule.len) != 0)
        return cannot(reterr, "the rules in the file are others by now");
    if (!gbx_edit_open(&edit, (const char *)text.data, text.len) ||
        !gbx_config_add_rule(&edit, verdict.rule, call->rule))
        status = cannot(reterr, "the file cannot be edited");
    else
        status = write_edited(config, &edit, reterr);
    if (status == GBX_OK)
        gbx_config_stamp_edited(config, text.data, text.len, edit.text.data,
                                edit.text.len);
    gbx_edit_close(&edit);
    return status;
}

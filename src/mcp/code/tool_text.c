/* SPDX-License-Identifier: MIT */
/*
 * tool_text - reads the arguments of our tools, and replies with text alone. Unknown
 * arguments are refused: the model meant a known one, and without it the call would
 * differ from the one that the model intends.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/edit_distance.h"
#include "base/json.h"
#include "base/utf8.h"
#include "mcp/code/code_mode.h"
#include "mcp/config/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAMES_MAX  8
#define NAME_BYTES 60 /* bytes of a name that are shown */

/* ---- arguments ------------------------------------------------------------------- */

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

static const char *meant_by(const char *word, const char *const *names, size_t count)
{
    for (size_t i = 0; i < GBX_COUNTOF(habits); i++)
        for (size_t k = 0; k < count && strcmp(word, habits[i].written) == 0; k++)
            if (strcmp(habits[i].meant, names[k]) == 0)
                return habits[i].meant;
    return gbx_nearest(word, names, count);
}

static void say_unknown(gbx_view key, const char *const *names, size_t count,
                        gbx_buf *message)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf name = {.ceiling = key.len + 1};
    const char *word;
    const char *meant;

    (void)gbx_view_append_text(key, &name);
    word = gbx_rpc_string(&name);
    meant = meant_by(word, names, count);

    (void)gbx_buf_puts(message, "unknown argument '");
    (void)gbx_utf8_append_escaped(message, word,
                                  gbx_utf8_cut(word, strlen(word), NAME_BYTES),
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
        size_t i = 0;

        while (i < count && !gbx_view_is_text(key, names[i]))
            i++;
        if (i < count)
            continue;
        say_unknown(key, names, count, message);
        return false;
    }
    return true;
}

bool gbx_code_take_name(gbx_view view, char *ret, size_t size)
{
    return gbx_rpc_copy_text(view, ret, size) && ret[0] != 0;
}

bool gbx_code_take_count(gbx_view view, uint32_t max, uint32_t *ret)
{
    uint64_t value = 0;

    if (gbx_view_kind(view) != '0' || view.at[0] == '-')
        return false;
    for (size_t i = 0; i < view.len; i++) {
        if (view.at[i] == '.' && i > 0)
            break; /* the fraction of a millisecond is dropped */
        if (view.at[i] < '0' || view.at[i] > '9')
            return false;
        if (value <= max)
            value = value * 10 + (uint64_t)(view.at[i] - '0');
    }
    *ret = value < max ? (uint32_t)value : max;
    return true;
}

/* ---- replies --------------------------------------------------------------------- */

/* Reply with text alone, cut if necessary; then with a link to the whole text. */
static void say(gbx_mcp_code *code, gbx_mcp_request *request, const gbx_buf *text,
                bool is_error)
{
    size_t cap = (size_t)code->settings->reply_bytes;
    gbx_excerpt cut =
        gbx_excerpt_text((char *)text->data, text->len, cap, code->artifacts, "reply",
                         "text/plain", gbx_clock_now_ns());
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf shown;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf blocks;

    gbx_buf_init(&shown, GBX_CUT_SHOWN_MAX * cap + 1024);
    gbx_buf_init(&blocks, GBX_CUT_JSON_MAX * cap + 16384);
    gbx_excerpt_say(&cut, "reply", cap, &shown);
    gbx_excerpt_append(&cut, GBX_ESCAPE_TEXT, &shown);
    (void)gbx_buf_puts(&blocks, "[");
    gbx_block_text(&blocks, shown.data, shown.len);
    if (gbx_mcp_takes_links(request))
        gbx_excerpt_link(&cut, "reply", "text/plain", &blocks);
    (void)gbx_buf_puts(&blocks, "]");
    if (shown.failed || blocks.failed)
        gbx_mcp_fail(request, GBX_RPC_INTERNAL_ERROR, "memory is out");
    else
        gbx_mcp_finish(request, &(gbx_mcp_result){.content = (char *)blocks.data,
                                                  .content_len = blocks.len,
                                                  .is_error = is_error});
}

void gbx_code_say_wrong(gbx_mcp_code *code, gbx_mcp_request *request,
                        const char *format, ...)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {.ceiling = GBX_KIB(64)};
    va_list args;

    va_start(args, format);
    (void)gbx_buf_vprintf(&buf, format, args);
    va_end(args);
    say(code, request, &buf, true);
}

bool gbx_code_refuse_names(gbx_mcp_code *code, gbx_mcp_request *request,
                           gbx_view arguments, const char *const *names)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message = {.ceiling = GBX_KIB(8)};

    if (gbx_code_check_names(arguments, names, &message))
        return false;
    gbx_code_say_wrong(code, request, "INVALID_ARGS: %.*s", (int)message.len,
                       (char *)message.data);
    return true;
}

void gbx_code_put_fault(const gbx_mcp_code *code, const char *fault, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean = {.ceiling = GBX_KIB(64)};

    if (gbx_gate_redact(code->gate, fault, strlen(fault), &clean))
        (void)gbx_utf8_append_escaped(to, clean.data, clean.len, GBX_ESCAPE_LINE);
    else
        (void)gbx_buf_puts(to, "why cannot be shown");
}

/* ---- changes of the configuration ------------------------------------------------ */

/* Edits take effect only at the next start. The user and the model are each informed
 * once. */
static void put_change(const gbx_mcp_code *code, gbx_buf *to)
{
    (void)gbx_buf_puts(to, "the configuration '");
    (void)gbx_utf8_append_escaped(to, code->config->path, strlen(code->config->path),
                                  GBX_ESCAPE_LINE);
    (void)gbx_buf_puts(to, "' has changed since this server started: restart it to use "
                           "it");
}

void gbx_code_look_at_file(gbx_mcp_code *code)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf line = {.ceiling = GBX_KIB(64)};

    if (code->file_changed || !gbx_config_has_changed(code->config))
        return;
    code->file_changed = true;
    put_change(code, &line);
    gbx_mcp_warn("%s", gbx_rpc_string(&line));
}

void gbx_code_say_changed(gbx_mcp_code *code, gbx_mcp_request *request,
                          const gbx_buf *text, bool is_error)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf both = {.ceiling = text->len + GBX_KIB(64)};

    gbx_code_look_at_file(code);
    if (code->file_changed && !code->change_told) {
        (void)gbx_buf_puts(&both, "[");
        put_change(code, &both);
        (void)gbx_buf_puts(&both, "]\n");
        code->change_told = gbx_buf_append(&both, text->data, text->len);
    }
    say(code, request, both.len > 0 && !both.failed ? &both : text, is_error);
}

/* SPDX-License-Identifier: MIT */
/* tool_list - a server's list of tools: those that can be called, without secrets. */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "mcp/rpc/rpc.h"
#include "policy/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

gbx_tool *gbx_tools_find(const gbx_tools *tools, const char *name)
{
    for (size_t i = 0; tools != NULL && i < tools->count; i++)
        if (strcmp(tools->list[i].name, name) == 0)
            return &tools->list[i];
    return NULL;
}

/* True if the definition fits, with a comma before it and the closing bracket. */
static bool has_room(const gbx_tools *tools, gbx_view view)
{
    return tools->json.len + view.len + 2 <= GBX_TOOLS_BYTES_MAX;
}

/* Check whether the tool can be called, and copy its name. NULL, or why not. */
static const char *read_tool(const gbx_tools *tools, gbx_view view, bool has_headers,
                             char *name, size_t size)
{
    gbx_view schema = gbx_view_member(view, "inputSchema");
    gbx_view written = gbx_view_member(view, "name");
    bool can_be_written;

    _Static_assert(GBX_TOOL_NAME_MAX == 256 && GBX_TOOLS_MAX == 4096,
                   "the words say so");
    /* Each name is compared with all earlier ones: their number must be limited. */
    if (tools->count + tools->dropped >= GBX_TOOLS_MAX)
        return "beyond the first 4096";
    if (!gbx_rpc_copy_text(written, name, size))
        return gbx_view_kind(written) == '"' && written.len > size
                   ? "with a name of more than 256 bytes"
                   : "with no name";
    can_be_written = *name != 0;
    for (const char *c = name; *c != 0; c++)
        can_be_written = can_be_written && (unsigned char)*c >= ' ' && *c != 0x7f;
    if (!can_be_written)
        return "with a name that cannot be written";
    if (gbx_tools_find(tools, name) != NULL)
        return "that is there twice";
    /* A server that omits the schema accepts any object. */
    if (schema.at != NULL && gbx_view_kind(schema) != 'n' &&
        gbx_view_kind(schema) != '{')
        return "whose inputSchema is not an object";
    if (has_headers && schema.at != NULL && !gbx_params_are_sound(schema))
        return "with an x-mcp-header against the rules";
    return has_room(tools, view) ? NULL : "with which the list is longer than 16 MiB";
}

/* Redact the definition, if need be in clean. False: this fails or changes its name. */
static bool redact_tool(const gbx_policy *secrets, const char *name, gbx_view *view,
                        gbx_buf *clean)
{
    gbx_span span = {(const uint8_t *)view->at, view->len};
    bool changed;

    gbx_buf_init(clean, gbx_secrets_ceiling(view->len));
    if (!gbx_secrets_strip(secrets, GBX_SECRET_DATA, span, NULL, clean, &changed))
        return false;
    return !changed || (gbx_view_open((const char *)clean->data, clean->len, view) &&
                        gbx_view_is_text(gbx_view_member(*view, "name"), name));
}

/* NULL, or why it is left out. */
static const char *add_tool(gbx_tools *tools, gbx_view view, bool has_headers,
                            const gbx_policy *secrets)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean = {0};
    char name[GBX_TOOL_NAME_MAX + 1] = "";
    const char *flaw = read_tool(tools, view, has_headers, name, sizeof name);
    gbx_view hints = gbx_view_member(view, "annotations");
    bool is_reading = gbx_view_is_true(gbx_view_member(hints, "readOnlyHint"));
    bool is_repeatable =
        is_reading || gbx_view_is_true(gbx_view_member(hints, "idempotentHint"));
    gbx_tool *other = flaw != NULL ? gbx_tools_find(tools, name) : NULL;
    gbx_tool tool;

    /* If two entries have one name, a hint counts only if both have it: only the server
     * knows which of them is called. */
    if (other != NULL) {
        other->is_reading = other->is_reading && is_reading;
        other->is_repeatable = other->is_repeatable && is_repeatable;
    }
    if (flaw != NULL)
        return flaw;
    if (!redact_tool(secrets, name, &view, &clean))
        return "with a secret in the name";
    if (!has_room(tools, view)) /* it may have become longer */
        return "with which the list is longer than 16 MiB";
    gbx_json_put_key(&tools->json, NULL);
    tool = (gbx_tool){.name = gbx_need(strdup(name)),
                      .is_reading = is_reading,
                      .is_repeatable = is_repeatable,
                      .at = tools->json.len,
                      .len = view.len}; /* joining its lines keeps the length */
    (void)gbx_json_append_line(&tools->json, view.at, view.len);
    tools->list =
        gbx_need(reallocarray(tools->list, tools->count + 1, sizeof *tools->list));
    tools->list[tools->count++] = tool;
    return NULL;
}

bool gbx_tools_add(gbx_tools *tools, gbx_view page, bool has_headers,
                   const gbx_policy *secrets)
{
    size_t cursor = 0;
    gbx_view none;
    gbx_view view;

    if (gbx_view_kind(page) != '[')
        return false;
    while (gbx_view_next(page, &cursor, &none, &view)) {
        const char *flaw = add_tool(tools, view, has_headers, secrets);

        if (flaw != NULL && tools->dropped++ == 0)
            tools->flaw = flaw;
    }
    return !tools->json.failed;
}

gbx_tools *gbx_tools_new(void)
{
    gbx_tools *tools = gbx_need(calloc(1, sizeof *tools));

    tools->users = 1;
    gbx_buf_init(&tools->json, GBX_TOOLS_BYTES_MAX);
    (void)gbx_buf_puts(&tools->json, "[");
    return tools;
}

void gbx_tools_drop(gbx_tools *tools)
{
    if (tools == NULL || --tools->users > 0)
        return;
    for (size_t i = 0; i < tools->count; i++)
        free(tools->list[i].name);
    free(tools->list);
    gbx_buf_cleanup(&tools->json);
    free(tools);
}

gbx_view gbx_tools_member(const gbx_tools *tools, const gbx_tool *tool,
                          const char *name)
{
    gbx_view view = {.at = (const char *)tools->json.data + tool->at, .len = tool->len};

    return gbx_view_member(view, name);
}

void gbx_tools_close(gbx_tools *tools)
{
    int len = 0;

    (void)gbx_buf_puts(&tools->json, "]");
    if (tools->dropped > 0)
        len = snprintf(tools->dropped_why, sizeof tools->dropped_why,
                       tools->dropped > 1 ? "%zu left out, the first one %s"
                                          : "%zu left out, one %s",
                       tools->dropped, tools->flaw);
    if (tools->is_cut)
        (void)snprintf(tools->dropped_why + len,
                       sizeof tools->dropped_why - (size_t)len,
                       "%sfurther pages were not read", len > 0 ? "; " : "");
}

gbx_view gbx_tools_view(const gbx_tools *tools)
{
    if (tools == NULL || tools->json.len < 2 ||
        tools->json.data[tools->json.len - 1] != ']')
        return (gbx_view){0};
    return (gbx_view){.at = (const char *)tools->json.data, .len = tools->json.len};
}

bool gbx_tools_same(const gbx_tools *a, const gbx_tools *b)
{
    if (a == NULL || b == NULL || a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count;
         i++) /* a duplicate that was left out may have changed these */
        if (a->list[i].is_reading != b->list[i].is_reading ||
            a->list[i].is_repeatable != b->list[i].is_repeatable)
            return false;
    return a->json.len == b->json.len &&
           (a->json.len == 0 || memcmp(a->json.data, b->json.data, a->json.len) == 0);
}

/* ---- texts without secrets --------------------------------------------------- */

void gbx_redact_copy(const gbx_policy *secrets, const char *text, char *ret,
                     size_t size)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean;
    gbx_span span = gbx_span_of(text);
    size_t len = 0;

    gbx_buf_init(&clean, gbx_secrets_ceiling(span.len));
    if (gbx_secrets_append_clean(secrets, GBX_SECRET_LINE, span, &clean))
        len = gbx_utf8_cut((const char *)clean.data, clean.len, size - 1);
    if (len > 0)
        memcpy(ret, clean.data, len);
    ret[len] = '\0';
}

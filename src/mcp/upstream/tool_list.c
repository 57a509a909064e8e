/* SPDX-License-Identifier: MIT */
/* tool_list - a server's list of tools: what of it can be called, and without secrets. */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"
#include "base/edit_distance.h"
#include "base/utf8.h"
#include "mcp/rpc/rpc.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

static bool is_name(const char *name)
{
    for (const char *c = name; *c != 0; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return false;
    return *name != 0;
}

/* A server that omits the schema accepts any object. */
static bool is_schema(gbx_view schema)
{
    char kind = gbx_view_kind(schema);

    return schema.at == NULL || kind == 'n' || kind == '{';
}

gbx_tool *gbx_tools_find(const gbx_tools *tools, const char *name)
{
    for (size_t i = 0; i < tools->count; i++)
        if (strcmp(tools->list[i].name, name) == 0)
            return &tools->list[i];
    return NULL;
}

/* Check whether the tool can be called, and copy its name. */
static gbx_tool_flaw read_tool(const gbx_tools *tools, gbx_view view,
                               gbx_tools_check *is_sound, char *name, size_t size)
{
    gbx_view schema = gbx_view_member(view, "inputSchema");
    gbx_view written = gbx_view_member(view, "name");

    /* Each name is compared with all earlier ones: their number must be limited. */
    if (gbx_tools_is_full(tools))
        return GBX_TOOL_TOO_MANY;

    if (!gbx_rpc_copy_text(written, name, size))
        return gbx_view_kind(written) == '"' && written.len > size ? GBX_TOOL_LONG_NAME
                                                                   : GBX_TOOL_NO_NAME;
    if (!is_name(name))
        return GBX_TOOL_NO_NAME;
    if (gbx_tools_find(tools, name) != NULL)
        return GBX_TOOL_TWICE;
    if (!is_schema(schema))
        return GBX_TOOL_NO_SCHEMA;
    if (is_sound != NULL && schema.at != NULL && !is_sound(schema))
        return GBX_TOOL_UNSOUND;
    /* With a comma before it, and the closing bracket. */
    if (tools->json.len + view.len + 2 > GBX_TOOLS_BYTES_MAX)
        return GBX_TOOL_TOO_LONG;
    return GBX_TOOL_FINE;
}

/* Only is_reading and is_repeatable are set. */
static gbx_tool hints_of(gbx_view view)
{
    gbx_view hints = gbx_view_member(view, "annotations");
    bool is_reading = gbx_view_is_true(gbx_view_member(hints, "readOnlyHint"));

    return (gbx_tool){
        .is_reading = is_reading,
        .is_repeatable =
            is_reading || gbx_view_is_true(gbx_view_member(hints, "idempotentHint")),
    };
}

/* If two entries have one name, a hint counts only if both have it: only the server
 * knows which of them is called. */
static void take_less(gbx_tools *tools, const char *name, const gbx_tool *other)
{
    gbx_tool *tool = gbx_tools_find(tools, name);

    if (tool == NULL)
        return;
    tool->is_reading = tool->is_reading && other->is_reading;
    tool->is_repeatable = tool->is_repeatable && other->is_repeatable;
}

static void add_tool(gbx_tools *tools, gbx_view view, const char *name)
{
    gbx_tool tool = hints_of(view);

    gbx_rpc_put_key(&tools->json, NULL);
    tool.name = gbx_need(strdup(name));
    tool.at = tools->json.len;
    tool.len = view.len; /* joining its lines keeps the length */
    (void)gbx_rpc_append_json(&tools->json, view.at, view.len);
    tools->list =
        gbx_need(reallocarray(tools->list, tools->count + 1, sizeof *tools->list));
    tools->list[tools->count++] = tool;
}

bool gbx_tools_add(gbx_tools *tools, gbx_view page, gbx_tools_check *is_sound,
                   const gbx_tools *known)
{
    char name[GBX_TOOL_NAME_MAX + 1];
    size_t cursor = 0;
    gbx_view none;
    gbx_view view;

    if (gbx_view_kind(page) != '[')
        return false;
    while (gbx_view_next(page, &cursor, &none, &view)) {
        gbx_tool_flaw flaw = read_tool(tools, view, is_sound, name, sizeof name);

        if (known != NULL && flaw != GBX_TOOL_TOO_LONG &&
            (flaw != GBX_TOOL_FINE || gbx_tools_find(known, name) == NULL))
            flaw = GBX_TOOL_SECRET;
        if (flaw == GBX_TOOL_TWICE) {
            gbx_tool twin = hints_of(view);

            take_less(tools, name, &twin);
        }
        if (flaw != GBX_TOOL_FINE) {
            tools->dropped++;
            tools->flaws[flaw]++;
        } else {
            add_tool(tools, view, name);
        }
    }
    return !tools->json.failed;
}

void gbx_tools_open(gbx_tools *tools)
{
    *tools = (gbx_tools){0};
    gbx_buf_init(&tools->json, GBX_TOOLS_BYTES_MAX);
    (void)gbx_buf_puts(&tools->json, "[");
}

bool gbx_tools_is_full(const gbx_tools *tools)
{
    return tools->count + tools->dropped >= GBX_TOOLS_MAX;
}

void gbx_tools_close(gbx_tools *tools)
{
    (void)gbx_buf_puts(&tools->json, "]");
}

void gbx_tools_cleanup(gbx_tools *tools)
{
    for (size_t i = 0; i < tools->count; i++)
        free(tools->list[i].name);
    free(tools->list);
    gbx_buf_cleanup(&tools->json);
    *tools = (gbx_tools){0};
}

gbx_view gbx_tools_schema(const gbx_tools *tools, const gbx_tool *tool)
{
    gbx_view view = {.at = (const char *)tools->json.data + tool->at, .len = tool->len};

    return gbx_view_member(view, "inputSchema");
}

const char *gbx_tools_nearest(const gbx_tools *tools, const char *name)
{
    const char *candidates[GBX_TOOLS_MAX];

    for (size_t i = 0; i < tools->count; i++)
        candidates[i] = tools->list[i].name;
    return gbx_nearest_name(name, candidates, tools->count);
}

void gbx_tools_say_dropped(const gbx_tools *tools, char *ret, size_t size)
{
    static const char *const words[GBX_TOOL_FLAWS] = {
        [GBX_TOOL_NO_NAME] = "with no name, or none that can be written",
        [GBX_TOOL_LONG_NAME] = "with a name of more than 256 bytes",
        [GBX_TOOL_TWICE] = "there twice",
        [GBX_TOOL_NO_SCHEMA] = "whose inputSchema is not an object",
        [GBX_TOOL_UNSOUND] = "with an x-mcp-header against the rules",
        [GBX_TOOL_TOO_MANY] = "beyond the first 4096",
        [GBX_TOOL_TOO_LONG] = "with which the list is longer than 16 MiB",
        [GBX_TOOL_SECRET] = "with a secret in the name",
    };
    gbx_buf text;

    _Static_assert(GBX_TOOL_NAME_MAX == 256 && GBX_TOOLS_MAX == 4096,
                   "the words say so");
    gbx_buf_init(&text, size - 1);
    if (tools->dropped > 0)
        (void)gbx_buf_printf(&text, "%zu left out", tools->dropped);
    for (size_t i = 0, said = 0; i < GBX_TOOL_FLAWS; i++)
        if (tools->flaws[i] > 0)
            (void)gbx_buf_printf(&text, "%s%zu %s", said++ > 0 ? ", " : ": ",
                                 tools->flaws[i], words[i]);
    if (tools->is_cut)
        (void)gbx_buf_printf(&text, "%sfurther pages were not read",
                             text.len > 0 ? "; " : "");
    if (text.len > 0)
        memcpy(ret, text.data, text.len);
    ret[text.len] = '\0';
    gbx_buf_cleanup(&text);
}

gbx_view gbx_tools_view(const gbx_tools *tools)
{
    if (tools->json.len < 2 || tools->json.data[tools->json.len - 1] != ']')
        return (gbx_view){0};
    return (gbx_view){.at = (const char *)tools->json.data, .len = tools->json.len};
}

bool gbx_tools_same(const gbx_tools *a, const gbx_tools *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count;
         i++) /* a duplicate that was left out may have changed these */
        if (a->list[i].is_reading != b->list[i].is_reading ||
            a->list[i].is_repeatable != b->list[i].is_repeatable)
            return false;
    return a->json.len == b->json.len &&
           (a->json.len == 0 || memcmp(a->json.data, b->json.data, a->json.len) == 0);
}

/* ---- without secrets --------------------------------------------------------
 *
 * Redact before cutting: half a secret is still a leak.
 */

/* Upper bound of the redacted text for so many bytes. */
static size_t ceiling_of(size_t len)
{
    return len * 8 + GBX_KIB(4);
}

char *gbx_redact_text(const gbx_policy *secrets, const char *text)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf out = {0};
    gbx_span span = {(const uint8_t *)text, strlen(text)};
    bool changed;

    gbx_buf_init(&out, ceiling_of(span.len));
    if (!gbx_secrets_strip(secrets, GBX_SECRET_LINE, span, &out, &changed))
        return NULL;
    return changed ? gbx_buf_take_string(&out, NULL) : strdup(text);
}

void gbx_redact_copy(const gbx_policy *secrets, const char *text, char *ret,
                     size_t size)
{
    GBX_CLEANUP(gbx_free) char *clean = gbx_redact_text(secrets, text);
    size_t len = clean != NULL ? gbx_utf8_cut(clean, strlen(clean), size - 1) : 0;

    if (len > 0)
        memcpy(ret, clean, len);
    ret[len] = '\0';
}

/* Count what the other list left out as left out here, too, and cap the hints of each
 * tool at those of the other list. */
static void add_flaws(gbx_tools *tools, const gbx_tools *other)
{
    for (size_t i = 0; i < other->count; i++)
        take_less(tools, other->list[i].name, &other->list[i]);
    tools->dropped += other->dropped;
    tools->is_cut = tools->is_cut || other->is_cut;
    for (size_t i = 0; i < GBX_TOOL_FLAWS; i++)
        tools->flaws[i] += other->flaws[i];
}

bool gbx_redact_tools(const gbx_policy *secrets, const gbx_tools *tools, gbx_tools *ret)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf out = {0};
    gbx_view view = gbx_tools_view(tools);
    gbx_span span = {(const uint8_t *)view.at, view.len};
    bool changed;

    gbx_tools_open(ret);
    gbx_buf_init(&out, ceiling_of(view.len));
    if (!gbx_secrets_strip(secrets, GBX_SECRET_DATA, span, &out, &changed) ||
        (changed && !gbx_view_open((const char *)out.data, out.len, &view)) ||
        !gbx_tools_add(ret, view, NULL, changed ? tools : NULL))
        return false;
    add_flaws(ret, tools);
    gbx_tools_close(ret);
    return !ret->json.failed;
}

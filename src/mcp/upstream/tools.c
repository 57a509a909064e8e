/* SPDX-License-Identifier: MIT */
/* tools - see tools.h. */
#include "mcp/upstream/tools.h"

#include "base/cleanup.h"
#include "base/nearest.h"
#include "mcp/rpc/message.h"

#include <stdlib.h>
#include <string.h>

static bool is_name(const char *name)
{
    for (const char *c = name; *c != 0; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return false;
    return *name != 0;
}

/* A tool as it may be called, or false. */
static bool read_tool(const gbx_tools *tools, gbx_view view, gbx_tools_check *is_sound,
                      char *name, size_t size)
{
    gbx_view schema = gbx_view_member(view, "inputSchema");

    return gbx_rpc_copy_text(gbx_view_member(view, "name"), name, size) &&
           is_name(name) && gbx_tools_find(tools, name) == NULL &&
           gbx_view_kind(schema) == '{' && tools->count < GBX_TOOLS_MAX &&
           (is_sound == NULL || is_sound(schema));
}

/* False: memory is out, or they are too long. */
static bool add_tool(gbx_tools *tools, gbx_view view, const char *name)
{
    gbx_view hints = gbx_view_member(view, "annotations");
    gbx_tool *list = realloc(tools->list, (tools->count + 1) * sizeof *list);
    char *copy = strdup(name);

    if (list != NULL)
        tools->list = list;
    if (list == NULL || copy == NULL) {
        free(copy);
        return false;
    }
    list[tools->count++] = (gbx_tool){
        .name = copy,
        .is_repeatable = gbx_view_is_true(gbx_view_member(hints, "readOnlyHint")) ||
                         gbx_view_is_true(gbx_view_member(hints, "idempotentHint")),
    };
    if (tools->count > 1)
        (void)gbx_buf_puts(&tools->json, ",");
    list[tools->count - 1].at = tools->json.len;
    list[tools->count - 1].len = view.len; /* of one line as of many */
    return gbx_rpc_append_json(&tools->json, view.at, view.len);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_tools_open(gbx_tools *tools)
{
    *tools = (gbx_tools){0};
    gbx_buf_init(&tools->json, GBX_TOOLS_BYTES_MAX);
    (void)gbx_buf_puts(&tools->json, "[");
}

bool gbx_tools_add(gbx_tools *tools, gbx_view page, gbx_tools_check *is_sound)
{
    char name[GBX_TOOL_NAME_MAX + 1];
    size_t cursor = 0;
    gbx_view none;
    gbx_view view;

    if (gbx_view_kind(page) != '[')
        return false;
    while (gbx_view_next(page, &cursor, &none, &view)) {
        if (!read_tool(tools, view, is_sound, name, sizeof name))
            tools->dropped++;
        else if (!add_tool(tools, view, name))
            return false;
    }
    return true;
}

bool gbx_tools_close(gbx_tools *tools)
{
    return gbx_buf_puts(&tools->json, "]");
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

const gbx_tool *gbx_tools_find(const gbx_tools *tools, const char *name)
{
    for (size_t i = 0; i < tools->count; i++)
        if (strcmp(tools->list[i].name, name) == 0)
            return &tools->list[i];
    return NULL;
}

const char *gbx_tools_nearest(const gbx_tools *tools, const char *name)
{
    const char *candidates[GBX_TOOLS_MAX];

    for (size_t i = 0; i < tools->count; i++)
        candidates[i] = tools->list[i].name;
    return gbx_nearest(name, candidates, tools->count);
}

gbx_view gbx_tools_view(const gbx_tools *tools)
{
    if (tools->json.len < 2 || tools->json.data[tools->json.len - 1] != ']')
        return (gbx_view){0};
    return (gbx_view){.at = (const char *)tools->json.data, .len = tools->json.len};
}

bool gbx_tools_same(const gbx_tools *a, const gbx_tools *b)
{
    return a->json.len == b->json.len &&
           (a->json.len == 0 || memcmp(a->json.data, b->json.data, a->json.len) == 0);
}

/* SPDX-License-Identifier: MIT */
/* declare - write a declaration in full or, if it is too long, in the longest of
 * several shorter forms that fits. */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "mcp/upstream/upstream.h"

#include <string.h>

#define ONE_MAX      GBX_KIB(12)
#define SUMMARY_MAX  160
#define DESCRIBE_MAX 100 /* bytes of a parameter's description */
#define DESCRIBE_ONE 300 /* the same for a tool that is requested alone */
#define NESTED_MAX   10
#define VALUES_MAX   24
#define TAKEN_MAX    32 /* bytes of the longest reserved name */

/* The length of the white space at `at`, plain or escaped. */
static size_t blank_length(gbx_view text, size_t at)
{
    if (text.at[at] == '\\')
        return memchr("nrt", text.at[at + 1], 3) != NULL ? 2 : 0;
    return text.at[at] == ' ' ? 1 : 0;
}

/* Up to the end of the first sentence or paragraph that has content. */
static gbx_view first_sentence(gbx_view text)
{
    size_t i = 1;

    if (gbx_view_kind(text) != '"')
        return (gbx_view){NULL, 0};
    while (blank_length(text, i) > 0)
        i += blank_length(text, i);
    for (; i + 1 < text.len; i++) {
        if (text.at[i] == '\\' && text.at[i + 1] == 'n')
            break;
        if (text.at[i] == '\\')
            i++;
        else if (text.at[i] == '.' && i > 20 &&
                 (text.at[i + 1] == ' ' || text.at[i + 1] == '\\' || i + 2 == text.len))
            break;
    }
    return (gbx_view){text.at, i + 1};
}

/* The name, and the start of the argument list. */
static void write_head(gbx_buf *to, gbx_view tool)
{
    gbx_view name = gbx_view_member(tool, "name");

    if (gbx_declare_by_call(name)) {
        (void)gbx_buf_puts(to, "call(tool: ");
        (void)gbx_types_string(to, name);
        (void)gbx_buf_puts(to, ", ");
        return;
    }
    /* `new(...)` would be a constructor. */
    if (name.len == 5 && memcmp(name.at, "\"new\"", 5) == 0)
        (void)gbx_buf_append(to, name.at, name.len);
    else
        (void)gbx_types_put_name(to, name);
    (void)gbx_buf_puts(to, "(");
}

/* The arguments and the result; without a form, only whether arguments are required. */
static void write_whole(gbx_buf *to, gbx_view tool, const gbx_types_form *form)
{
    static const char any_object[] = "{\"type\":\"object\"}";
    gbx_view input = gbx_view_member(tool, "inputSchema");
    gbx_view output = gbx_view_member(tool, "outputSchema");

    /* Arguments are an object even if the server does not say so. */
    if (input.at == NULL || gbx_view_kind(input) == 'n')
        input = (gbx_view){any_object, sizeof any_object - 1};
    if (form == NULL) {
        (void)gbx_buf_puts(to, gbx_types_all_optional(input) ? "args?" : "args");
        (void)gbx_buf_puts(to, ": any /* see tools() */): Promise<any>;");
        return;
    }
    (void)gbx_buf_puts(to, gbx_types_all_optional(input) ? "args?: " : "args: ");
    gbx_types_of(to, input, form);
    (void)gbx_buf_puts(to, "): Promise<");
    if (gbx_view_kind(output) == '{')
        gbx_types_of(to, output, form);
    else
        (void)gbx_buf_puts(to, "any");
    (void)gbx_buf_puts(to, ">;");
}

static bool is_seen(const uint64_t *seen, size_t count, uint64_t hash)
{
    for (size_t i = 0; i < count; i++)
        if (seen[i] == hash)
            return true;
    return false;
}

/* Write the first form that fits. */
static void write_fitting(gbx_buf *to, gbx_view tool, size_t describe_max)
{
    const gbx_types_form forms[] = {{2, NESTED_MAX, VALUES_MAX, describe_max},
                                    {2, NESTED_MAX, VALUES_MAX, DESCRIBE_MAX},
                                    {2, 3, VALUES_MAX, DESCRIBE_MAX},
                                    {2, 2, VALUES_MAX / 2, DESCRIBE_MAX / 2},
                                    {2, 1, 2, 0}};

    for (size_t i = 0; i <= GBX_COUNTOF(forms); i++) {
        bool fits;
        gbx_buf one;

        gbx_buf_init(&one, ONE_MAX);
        write_whole(&one, tool, i < GBX_COUNTOF(forms) ? &forms[i] : NULL);
        fits = !one.failed;
        if (fits)
            (void)gbx_buf_append(to, one.data, one.len);
        gbx_buf_cleanup(&one);
        if (fits)
            return;
    }
}

static void declare_tool(gbx_buf *to, gbx_view tool, size_t describe_max)
{
    size_t before;

    (void)gbx_buf_puts(to, "    /** ");
    before = to->len;
    gbx_declare_summary(to, tool, SUMMARY_MAX);
    if (to->len == before && to->len >= 8) /* nothing to say */
        to->len -= 8;
    else
        (void)gbx_buf_puts(to, " */\n");
    (void)gbx_buf_puts(to, "    ");
    write_head(to, tool);
    write_fitting(to, tool, describe_max);
    (void)gbx_buf_puts(to, "\n");
}

static void write_server(gbx_buf *to, const gbx_search_doc *docs, size_t count,
                         size_t first)
{
    uint64_t seen[GBX_TOOLS_MAX]; /* the limit of tools per server */
    size_t seen_count = 0;

    (void)gbx_buf_puts(to, "  ");
    (void)gbx_json_append_string(to, docs[first].server, strlen(docs[first].server));
    (void)gbx_buf_puts(to, ": {\n");
    for (size_t i = first; i < count && seen_count < GBX_TOOLS_MAX; i++) {
        gbx_view name = gbx_view_member(docs[i].tool, "name");
        uint64_t hash;

        if (gbx_view_kind(name) != '"' ||
            strcmp(docs[i].server, docs[first].server) != 0)
            continue;
        hash = gbx_types_hash(name);
        if (is_seen(seen, seen_count, hash))
            continue;
        seen[seen_count++] = hash;
        declare_tool(to, docs[i].tool, count == 1 ? DESCRIBE_ONE : DESCRIBE_MAX);
    }
    (void)gbx_buf_puts(to, "  };\n");
}

bool gbx_declare_by_call(gbx_view name)
{
    static const char *const taken[] = {"call",     "tools",       "then",
                                        "toJSON",   "constructor", "toString",
                                        "valueOf",  "inspect",     "hasOwnProperty",
                                        "nodeType", "$$typeof",    "prototype",
                                        "__proto__"};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf plain;
    bool is_taken = false;

    gbx_buf_init(&plain, TAKEN_MAX);
    if (gbx_view_kind(name) == '"' && gbx_view_append_text(name, &plain))
        for (size_t i = 0; i < GBX_COUNTOF(taken); i++)
            is_taken = is_taken || (strlen(taken[i]) == plain.len &&
                                    memcmp(taken[i], plain.data, plain.len) == 0);
    return is_taken;
}

void gbx_declare_summary(gbx_buf *to, gbx_view tool, size_t max)
{
    gbx_view text = first_sentence(gbx_view_member(tool, "description"));
    gbx_view execution = gbx_view_member(tool, "execution");

    if (gbx_view_is_text(gbx_view_member(execution, "taskSupport"), "required"))
        (void)gbx_buf_puts(to, "[cannot be called here: only as a task] ");
    if (text.len > 2)
        gbx_types_comment(to, text, max);
}

void gbx_declare_tool(gbx_buf *to, gbx_view tool)
{
    declare_tool(to, tool, DESCRIBE_MAX);
}

void gbx_declare(gbx_buf *to, const gbx_search_doc *docs, size_t count)
{
    (void)gbx_buf_puts(to, "declare const servers: {\n");
    for (size_t i = 0; i < count; i++) {
        /* Tools of a server are usually adjacent, and there may be many. */
        bool is_first = i == 0 || docs[i - 1].server != docs[i].server;

        for (size_t k = 0; k < i && is_first; k++)
            is_first = strcmp(docs[k].server, docs[i].server) != 0;
        if (is_first)
            write_server(to, docs, count, i);
    }
    (void)gbx_buf_puts(to, "};\n");
}

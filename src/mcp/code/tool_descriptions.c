/* SPDX-License-Identifier: MIT */
/*
 * tool_descriptions - the four tools as models see them. Each word costs tokens in
 * every conversation. The same configuration gives the same bytes, since hosts cache
 * them.
 */
#include "base/cleanup.h"
#include "mcp/code/code.h"
#include "mcp/code/code_mode.h"
#include "mcp/code/script_reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERVERS_MAX 40   /* servers that are named */
#define LINE_BYTES  120  /* bytes of one server's description */
#define INLINE_MAX  1400 /* bytes of declarations in the description */
#define NAME_SIZE   80

static const char what[] =
    "Run JavaScript (types are allowed) that calls tools of other servers. Only what it "
    "returns is shown to you: filter, join and count in the code. Do the whole task in "
    "one call, independent calls at once by Promise.all.\n";

static const char how[] =
    "In the code:\n"
    "- await servers.NAME.call(\"tool\", args) or servers.NAME.tool(args): its structured "
    "content, else its text, parsed if JSON. Throws ToolError {server, tool, code, "
    "message, retryable}\n"
    "- await servers.NAME.tools(query), await discover(query): what there is\n"
    "- input; ";

static const char more[] =
    "progress(text); await artifact(name, value) to keep what is large\n";

static const char examples[] =
    "return the value, or end with an expression.\n"
    "Examples:\n"
    "const pages = await Promise.all(input.ids.map(id => servers.wiki.get({id})));\n"
    "return pages.filter(p => p.words > 900).map(p => p.title);\n"
    "\n"
    "const {issues} = await servers.tracker.list({state: \"open\"});\n"
    "const late = issues.filter(i => i.due < input.today);\n"
    "return {late: late.length, first: late.slice(0, 5).map(i => i.title)};\n";

/* ---- execute --------------------------------------------------------------------- */

static void write_server(const gbx_mcp_upstream_config *c, gbx_buf *to)
{
    (void)gbx_buf_printf(to, "- %s", c->name);
    if (c->description != NULL && c->description[0] != 0) {
        size_t len = strlen(c->description);
        size_t shown = gbx_artifacts_border(c->description, len, LINE_BYTES);

        (void)gbx_buf_puts(to, ": ");
        for (size_t i = 0; i < shown; i++)
            (void)gbx_buf_append(to,
                                 c->description[i] < ' ' && c->description[i] >= 0
                                     ? " "
                                     : &c->description[i],
                                 1);
    }
    (void)gbx_buf_puts(to, "\n");
}

static void write_servers(const gbx_mcp_code *code, gbx_buf *to)
{
    size_t named = 0;

    (void)gbx_buf_puts(to, "Servers:\n");
    for (size_t i = 0; i < code->config->server_count; i++) {
        const gbx_mcp_upstream_config *c = &code->config->servers[i];

        if (!c->disabled && named++ < SERVERS_MAX)
            write_server(c, to);
    }
    if (named > SERVERS_MAX)
        (void)gbx_buf_printf(to, "and %zu more\n", named - SERVERS_MAX);
    if (named == 0)
        (void)gbx_buf_puts(to, "none is configured\n");
}

/* Declare the tools of eager servers, if they are few. Those of other servers are
 * unknown until first use, and the description would then change under the host. */
static bool write_declarations(const gbx_mcp_code *code, gbx_buf *to)
{
    gbx_search_doc docs[32];
    size_t count = 0;
    gbx_buf text;
    bool fits;

    for (size_t i = 0; i < code->config->server_count; i++) {
        const gbx_mcp_upstream_config *c = &code->config->servers[i];
        size_t cursor = 0;
        gbx_upstream_info info;
        gbx_view key;
        gbx_view tool;

        if (c->disabled)
            continue;
        if (!c->eager || !gbx_code_info(code, c->name, &info))
            return false;
        while (gbx_view_next(info.tools, &cursor, &key, &tool)) {
            if (count == GBX_COUNTOF(docs))
                return false;
            docs[count++] = (gbx_search_doc){.server = c->name, .tool = tool};
        }
    }
    gbx_buf_init(&text, INLINE_MAX);
    gbx_declare(&text, docs, count);
    fits = count > 0 && !text.failed;
    if (fits)
        (void)gbx_buf_append(to, text.data, text.len);
    gbx_buf_cleanup(&text);
    return fits;
}

/* What code has besides the servers, and what it lacks, by the policy. */
static void write_how(const gbx_policy *policy, gbx_buf *to)
{
    bool has_net = gbx_granted(policy, GBX_CAP_FETCH);
    bool has_files = gbx_granted(policy, GBX_CAP_FILE);

    (void)gbx_buf_puts(to, how);
    (void)gbx_buf_puts(to, gbx_granted(policy, GBX_CAP_TIMERS) ? "sleep(ms); " : "");
    (void)gbx_buf_puts(to, gbx_granted(policy, GBX_CAP_CONSOLE) ? "console.log; " : "");
    (void)gbx_buf_puts(to, more);
    gbx_granted_say(policy, "- ", to);
    (void)gbx_buf_puts(to, "Nothing else: no ");
    (void)gbx_buf_puts(to, has_net ? "" : has_files ? "network or " : "network, ");
    (void)gbx_buf_puts(to, has_files ? "" : "files or ");
    (void)gbx_buf_puts(to, "modules. ");
    (void)gbx_buf_puts(to, examples);
}

static char *describe_execute(const gbx_mcp_code *code)
{
    const gbx_mcp_settings *s = code->settings;
    char *made;
    gbx_buf to;

    gbx_buf_init(&to, GBX_KIB(32));
    (void)gbx_buf_puts(&to, what);
    write_servers(code, &to);
    if (!write_declarations(code, &to))
        (void)gbx_buf_printf(&to,
                             "Look tools up with %sdiscover before their first use.\n",
                             s->tool_prefix);
    write_how(code->policy, &to);
    (void)gbx_buf_printf(
        &to,
        "Limits: %llu bytes of code, %.0f s, %g s a sleep, %u calls; of more than "
        "%llu bytes of reply the middle is kept as a resource.",
        (unsigned long long)s->code_bytes, s->timeout_ms / 1e3, s->sleep_ms / 1e3,
        s->calls, (unsigned long long)s->reply_bytes);
    made = gbx_buf_take_string(&to, NULL);
    gbx_buf_cleanup(&to);
    return made;
}

/* ---- all four -------------------------------------------------------------------- */

/* Unknown arguments are refused. */
#define CLOSED "\"additionalProperties\":false}"

static const struct row {
    const char *name;
    const char *title;
    const char *description; /* NULL: that of execute */
    const char *input;
    const char *output;
    const char *annotations;
    gbx_mcp_tool_fn call;
} rows[] = {
    {"execute", "Run code over servers", NULL,
     "{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\"},\"input\":{"
     "\"description\":\"any JSON; the code's variable input\"},\"timeout_ms\":{\"type\":"
     "\"integer\",\"minimum\":1}},\"required\":[\"code\"]," CLOSED,
     GBX_REPLY_SCHEMA,
     "{\"readOnlyHint\":false,\"destructiveHint\":true,\"openWorldHint\":true}",
     gbx_code_execute},
    {"discover", "Find tools",
     "Find tools of the servers by keywords, or list all, those of a server, or one. "
     "detail: names, summary, or types (TypeScript declarations).",
     "{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\"},\"server\":{"
     "\"type\":\"string\"},\"tool\":{\"type\":\"string\"},\"detail\":{\"enum\":[\"names\","
     "\"summary\",\"types\"]}}," CLOSED,
     NULL, "{\"readOnlyHint\":true,\"openWorldHint\":false}", gbx_code_discover},
    {"call", "Call one tool",
     "Call one tool of a server. For more than one call, or to read part of a large "
     "result, run a script.",
     "{\"type\":\"object\",\"properties\":{\"server\":{\"type\":\"string\"},\"tool\":{"
     "\"type\":\"string\"},\"args\":{\"type\":\"object\"}},\"required\":[\"server\","
     "\"tool\"]," CLOSED,
     NULL, "{\"readOnlyHint\":false,\"destructiveHint\":true,\"openWorldHint\":true}",
     gbx_code_call},
    {"provision", "Start a server",
     "Start a configured server and list its tools. Never installs anything.",
     "{\"type\":\"object\",\"properties\":{\"server\":{\"type\":\"string\"}},\"required\":"
     "[\"server\"]," CLOSED,
     NULL,
     "{\"readOnlyHint\":false,\"destructiveHint\":false,\"idempotentHint\":true,"
     "\"openWorldHint\":false}",
     gbx_code_provision},
};

static bool set_tool(gbx_mcp_code *code, const struct row *row, const char *description)
{
    char name[NAME_SIZE];
    gbx_mcp_tool tool = {.name = name,
                         .title = row->title,
                         .description = description,
                         .input_schema = row->input,
                         .output_schema = row->output,
                         .annotations = row->annotations,
                         .call = row->call,
                         .user = code};

    (void)snprintf(name, sizeof name, "%.60s%s", code->settings->tool_prefix,
                   row->name);
    return gbx_mcp_server_set_tool(code->server, &tool);
}

/* ---- public to other files of this folder --------------------------------- */

bool gbx_code_register(gbx_mcp_code *code)
{
    char *described = describe_execute(code);
    bool ok = described != NULL;

    for (size_t i = 0; ok && i < GBX_COUNTOF(rows); i++)
        ok = set_tool(code, &rows[i],
                      rows[i].description != NULL ? rows[i].description : described);
    free(described);
    return ok;
}

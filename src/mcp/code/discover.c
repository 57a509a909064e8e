/* SPDX-License-Identifier: MIT */
/* discover - list the callable tools in as few words as requested. */
#include "base/cleanup.h"
#include "base/utf8.h"
#include "mcp/code/code_mode.h"

#include <stdlib.h>
#include <string.h>

#define REPLY_MAX   GBX_MIB(8)
#define SEARCH_MAX  20 /* tools that a search lists */
#define TYPES_MAX   8  /* tools whose declarations it shows */
#define SUMMARY_MAX 120
#define MEMBERS_MAX 12
#define SERVERS_MAX 20 /* servers suggested for an unknown name */

struct discovery {
    gbx_mcp_code *code;
    gbx_mcp_request *request;
    gbx_code_query query;
};

static void write_name(gbx_view name, gbx_buf *to)
{
    gbx_buf text;

    gbx_buf_init(&text, GBX_TOOL_NAME_MAX);
    if (gbx_view_append_text(name, &text))
        (void)gbx_utf8_append_escaped(to, text.data, text.len, GBX_ESCAPE_LINE);
    gbx_buf_cleanup(&text);
}

/* What the rules will do, unless they simply allow the call. */
static void write_mark(const gbx_mcp_code *code, const gbx_search_doc *doc, gbx_buf *to)
{
    const char *mark = gbx_gate_mark(code->gate, doc->server, doc->tool);

    if (mark[0] != '\0')
        (void)gbx_buf_printf(to, " (%s)", mark);
}

/* ---- names ----------------------------------------------------------------------- */

/* One line per server; after a search one line per tool, best first. */
static void write_names(const gbx_mcp_code *code, const gbx_search_doc *docs,
                        size_t count, bool in_order, gbx_buf *to)
{
    const char *server = "";

    for (size_t i = 0; i < count; i++) {
        bool same = strcmp(server, docs[i].server) == 0;

        if (in_order)
            (void)gbx_buf_printf(to, "%s.", docs[i].server);
        else if (!same)
            (void)gbx_buf_printf(to, "%s%s: ", i > 0 ? "\n" : "", docs[i].server);
        else
            (void)gbx_buf_puts(to, ", ");
        write_name(gbx_view_member(docs[i].tool, "name"), to);
        write_mark(code, &docs[i], to);
        if (in_order)
            (void)gbx_buf_puts(to, "\n");
        server = docs[i].server;
    }
    if (!in_order && count > 0)
        (void)gbx_buf_puts(to, "\n");
}

/* ---- summary --------------------------------------------------------------------- */

static bool is_required(gbx_view schema, gbx_view wanted)
{
    gbx_view list = gbx_view_member(schema, "required");
    size_t cursor = 0;
    gbx_view key;
    gbx_view value;

    while (gbx_view_kind(list) == '[' && gbx_view_next(list, &cursor, &key, &value))
        if (value.len == wanted.len && memcmp(value.at, wanted.at, value.len) == 0)
            return true;
    return false;
}

/* Is it composed of other schemas? Then it has members that are not listed. */
static bool is_composed(gbx_view schema)
{
    static const char *const keywords[] = {"$ref", "allOf", "oneOf", "anyOf"};

    for (size_t i = 0; i < GBX_COUNTOF(keywords); i++)
        if (gbx_view_member(schema, keywords[i]).at != NULL)
            return true;
    return false;
}

/* files.read_text_file({path, head?, tail?}) - Read a file. */
static void write_summary(const gbx_mcp_code *code, const gbx_search_doc *doc,
                          gbx_buf *to)
{
    gbx_view schema = gbx_view_member(doc->tool, "inputSchema");
    gbx_view members = gbx_view_member(schema, "properties");
    size_t cursor = 0;
    unsigned count = 0;
    bool is_called;
    gbx_view name;
    gbx_view value;

    (void)gbx_buf_printf(to, "%s.", doc->server);
    is_called = gbx_declare_by_call(gbx_view_member(doc->tool, "name"));
    (void)gbx_buf_puts(to, is_called ? "call(\"" : "");
    write_name(gbx_view_member(doc->tool, "name"), to);
    (void)gbx_buf_puts(to, is_called ? "\", {" : "({");
    while (gbx_view_kind(members) == '{' &&
           gbx_view_next(members, &cursor, &name, &value)) {
        if (count++ == MEMBERS_MAX) {
            (void)gbx_buf_puts(to, ", ...");
            break;
        }
        (void)gbx_buf_puts(to, count > 1 ? ", " : "");
        write_name(name, to);
        (void)gbx_buf_puts(to, is_required(schema, name) ? "" : "?");
    }
    if (is_composed(schema) && count <= MEMBERS_MAX)
        (void)gbx_buf_puts(to, count > 0 ? ", ..." : "...");
    (void)gbx_buf_puts(to, "})");
    write_mark(code, doc, to);
    (void)gbx_buf_puts(to, " - ");
    gbx_declare_summary(to, doc->tool, SUMMARY_MAX);
    (void)gbx_buf_puts(to, "\n");
}

/* ---- types ----------------------------------------------------------------------- */

static void write_types(const gbx_mcp_code *code, const gbx_search_doc *docs,
                        size_t count, gbx_buf *to)
{
    gbx_declare(to, docs, count);
    for (size_t i = 0; i < count; i++) {
        if (gbx_gate_mark(code->gate, docs[i].server, docs[i].tool)[0] == '\0')
            continue;
        (void)gbx_buf_printf(to, "[%s.", docs[i].server);
        write_name(gbx_view_member(docs[i].tool, "name"), to);
        write_mark(code, &docs[i], to);
        (void)gbx_buf_puts(to, "]\n");
    }
}

/* ---- the reply ------------------------------------------------------------------- */

static const char *detail_of(const gbx_code_query *q)
{
    if (q->detail[0] != 0)
        return q->detail;
    if (q->tool[0] != 0)
        return "types";
    return q->words[0] != 0 || q->server[0] != 0 ? "summary" : "names";
}

static void write_fault(const gbx_mcp_code *code, const char *fault, gbx_buf *to)
{
    (void)gbx_buf_puts(to, ": ");
    gbx_code_put_fault(code, fault, to);
}

/* When it is tried again, and how the last attempt failed. */
static void write_failure(const gbx_mcp_code *code, const gbx_upstream_info *info,
                          gbx_buf *to)
{
    if (info->state == GBX_UPSTREAM_STARTING)
        (void)gbx_buf_puts(to, ", and is being started again");
    else if (info->retry_ms > 0)
        (void)gbx_buf_printf(to, ", and is not started again for %u s",
                             (info->retry_ms + 999) / 1000);
    else
        (void)gbx_buf_puts(to, ", and is started again when it is asked for");
    write_fault(code, info->fault, to);
}

/* Could the server not be asked? */
static bool is_absent(const gbx_code_query *q, const gbx_upstream_info *info,
                      const gbx_mcp_upstream_config *c)
{
    return gbx_view_kind(info->tools) != '[' && (c == NULL || gbx_code_is_listed(c)) &&
           (q->server[0] == 0 || strcmp(q->server, info->name) == 0);
}

static void write_absent(const gbx_mcp_code *code, const gbx_code_query *q, gbx_buf *to)
{
    for (size_t i = 0; i < gbx_upstreams_count(code->upstreams); i++) {
        gbx_upstream_info info = gbx_upstreams_info(code->upstreams, i);
        const gbx_mcp_upstream_config *c =
            gbx_mcp_config_server(code->config, info.name);

        if (!is_absent(q, &info, c))
            continue;
        (void)gbx_buf_printf(to, "[%s is not there", info.name);
        if (c != NULL && c->fault != NULL)
            write_fault(code, c->fault, to);
        else if (info.fault[0] == 0)
            (void)gbx_buf_puts(to, ": it has not started yet, ask again");
        else
            write_failure(code, &info, to);
        (void)gbx_buf_puts(to, "]\n");
    }
}

/* Nothing matches: say what exists, by server. */
static void write_nothing(const gbx_mcp_code *code, const gbx_code_query *q,
                          gbx_buf *to)
{
    size_t named = 0;
    size_t more = 0;

    for (size_t i = 0; q->words[0] != 0 && i < gbx_upstreams_count(code->upstreams);
         i++) {
        gbx_upstream_info info = gbx_upstreams_info(code->upstreams, i);
        size_t count = q->server[0] == 0 || strcmp(q->server, info.name) == 0
                           ? gbx_view_count(info.tools)
                           : 0;

        if (count > 0 && named == SERVERS_MAX)
            more++;
        else if (count > 0)
            (void)gbx_buf_printf(to, "%s%zu of %s",
                                 named++ == 0 ? "No tool fits; there are " : ", ",
                                 count, info.name);
    }
    if (more > 0)
        (void)gbx_buf_printf(to, ", and those of %zu more servers", more);
    (void)gbx_buf_puts(to, named == 0 ? "No tool is known.\n"
                                      : ". Without a query all are listed.\n");
}

/* False: the query names a tool that does not exist. to must be empty. */
static bool write_found(const struct discovery *d, gbx_buf *to)
{
    const gbx_code_query *q = &d->query;
    const char *detail = detail_of(q);
    bool is_search = q->words[0] != 0;
    bool types = strcmp(detail, "types") == 0;
    gbx_search_doc *docs = NULL;
    size_t count = 0;
    size_t total = 0;

    if (!gbx_code_find(d->code, q,
                       !is_search ? SIZE_MAX
                       : types    ? TYPES_MAX
                                  : SEARCH_MAX,
                       &docs, &count, &total)) {
        to->failed = true; /* an empty list would claim that none exists */
        return false;
    }
    if (total == 0 && q->tool[0] != 0)
        gbx_code_no_tool(d->code, q->server, q->tool, to);
    if (to->len > 0) {
        (void)gbx_buf_puts(to, "\n");
        free(docs);
        return false;
    }
    if (total == 0)
        write_nothing(d->code, q, to);
    else if (types)
        write_types(d->code, docs, count, to);
    else if (strcmp(detail, "names") == 0)
        write_names(d->code, docs, count, is_search, to);
    else
        for (size_t i = 0; i < count; i++)
            write_summary(d->code, &docs[i], to);
    if (count < total)
        (void)gbx_buf_printf(to, "[the best %zu of %zu that fit; narrow the query]\n",
                             count, total);
    free(docs);
    return true;
}

static void on_learnt(void *user, const gbx_upstream_reply *failure)
{
    struct discovery *d = user;
    gbx_buf text;
    bool is_known;

    (void)failure; /* the server's known state says the same */
    gbx_buf_init(&text, REPLY_MAX);
    is_known = write_found(d, &text);
    write_absent(d->code, &d->query, &text);
    if (text.failed)
        gbx_code_say_wrong(
            d->code, d->request,
            "the list is longer than %u MiB: ask for one server, or with a "
            "query",
            (unsigned)(REPLY_MAX >> 20));
    else
        gbx_code_say_changed(d->code, d->request, &text, !is_known);
    gbx_buf_cleanup(&text);
    free(d);
}

/* ---- public to other files of this folder --------------------------------- */

void gbx_code_put_absent(const gbx_mcp_code *code, const gbx_code_query *query,
                         gbx_buf *to)
{
    const char *separator = "";

    for (size_t i = 0; i < gbx_upstreams_count(code->upstreams); i++) {
        gbx_upstream_info info = gbx_upstreams_info(code->upstreams, i);

        if (!is_absent(query, &info, gbx_mcp_config_server(code->config, info.name)))
            continue;
        (void)gbx_buf_printf(to, "%s%s", separator, info.name);
        separator = ", ";
    }
}

void gbx_code_discover(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    static const char *const names[] = {"query", "server", "tool", "detail", NULL};
    gbx_mcp_code *code = user;
    struct discovery *d = calloc(1, sizeof *d);
    const char *why;
    gbx_buf message;

    if (d == NULL) {
        gbx_mcp_fail(request, GBX_MCP_INTERNAL_ERROR, "memory is out");
        return;
    }
    gbx_buf_init(&message, GBX_KIB(8));
    d->code = code;
    d->request = request;
    if (gbx_code_check_names(arguments, names, &message) &&
        gbx_code_read_query(gbx_view_member(arguments, "query"), arguments, &d->query,
                            &message) &&
        (d->query.server[0] == 0 ||
         gbx_code_find_server(code, d->query.server, &message, &why) != NULL) &&
        gbx_code_list_tools(code, d->query.server[0] != 0 ? d->query.server : NULL,
                            false, request, on_learnt, free, d)) {
        gbx_buf_cleanup(&message);
        return;
    }
    gbx_code_say_changed(code, request, &message, true);
    gbx_buf_cleanup(&message);
    free(d);
}

/* SPDX-License-Identifier: MIT */
/*
 * discover - list the callable tools in as few words as requested, to a model (the tool
 * `discover`) or to code; and start a server and list its tools (the tool `provision`).
 */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define REPLY_MAX   GBX_MIB(8)
#define FOUND_MAX   20 /* tools that code gets for a search */
#define SEARCH_MAX  20 /* tools that a search lists */
#define TYPES_MAX   8  /* tools whose declarations it shows */
#define SUMMARY_MAX 120
#define MEMBERS_MAX 12
#define SERVERS_MAX 20 /* servers suggested for an unknown name */

/* ---- the query ------------------------------------------------------------------- */

/* Equivalent to a missing argument. */
static bool is_nothing(gbx_view value)
{
    return value.at == NULL || gbx_view_kind(value) == 'n' ||
           (gbx_view_kind(value) == '"' && value.len == 2);
}

static bool take_text(gbx_view value, const char *name, char *ret, size_t size,
                      gbx_buf *message)
{
    ret[0] = 0;
    if (is_nothing(value) || gbx_code_take_name(value, ret, size))
        return true;
    (void)gbx_buf_printf(message, "'%s' is a string of at most %zu bytes", name,
                         size - 1);
    return false;
}

bool gbx_code_read_query(const gbx_mcp_code *code, gbx_view words, gbx_view server,
                         gbx_view settings, gbx_code_query *ret, gbx_buf *message,
                         const char **ret_code)
{
    static const char *const details[] = {"", "names", "summary", "types"};
    gbx_view tool = gbx_view_member(settings, "tool");
    gbx_view detail = gbx_view_member(settings, "detail");
    char name[GBX_CODE_SERVER_SIZE];
    bool known = false;

    *ret_code = "INVALID_ARGS";
    if (!take_text(words, "query", ret->words, sizeof ret->words, message) ||
        !take_text(server, "server", name, sizeof name, message) ||
        !take_text(tool, "tool", ret->tool, sizeof ret->tool, message) ||
        !take_text(detail, "detail", ret->detail, sizeof ret->detail, message))
        return false;
    for (size_t i = 0; i < GBX_COUNTOF(details); i++)
        known = known || strcmp(ret->detail, details[i]) == 0;
    if (!known) {
        (void)gbx_buf_puts(message, "'detail' is \"names\", \"summary\" or \"types\"");
        return false;
    }
    if (name[0] != 0)
        ret->server = gbx_code_find_server(code, name, message, ret_code);
    return name[0] == 0 || ret->server != NULL;
}

static bool is_of(const gbx_mcp_code *code, const gbx_code_query *q, size_t server)
{
    return q->server == NULL || q->server == &code->config->servers[server];
}

/* The known tools that match, best first, at most limit; free() *ret. */
static bool find(const gbx_mcp_code *code, const gbx_code_query *q, size_t limit,
                 gbx_search_doc **ret, size_t *ret_count, size_t *ret_total)
{
    size_t servers = gbx_upstreams_count(code->upstreams);
    gbx_search_doc *docs;
    size_t room = 1;
    size_t count = 0;

    for (size_t i = 0; i < servers; i++)
        if (is_of(code, q, i))
            room += gbx_view_count(gbx_upstreams_info(code->upstreams, i).tools);
    docs = calloc(room, sizeof *docs);
    if (docs == NULL)
        return false;
    for (size_t i = 0; i < servers; i++) {
        gbx_upstream_info info = gbx_upstreams_info(code->upstreams, i);
        size_t cursor = 0;
        gbx_view key;
        gbx_view tool;

        while (is_of(code, q, i) && gbx_view_next(info.tools, &cursor, &key, &tool))
            if (q->tool[0] == 0 ||
                gbx_view_is_text(gbx_view_member(tool, "name"), q->tool))
                docs[count++] = (gbx_search_doc){.server = info.name, .tool = tool};
    }
    if (!gbx_search_rank(docs, count, q->words, strlen(q->words))) {
        free(docs);
        return false;
    }
    if (q->words[0] != 0)
        while (count > 0 && docs[count - 1].score <= 0)
            count--;
    *ret_total = count;
    *ret_count = count < limit ? count : limit;
    *ret = docs;
    return true;
}

/* Could the server not be asked? */
static bool is_absent(const gbx_mcp_code *code, const gbx_code_query *q, size_t server)
{
    return is_of(code, q, server) &&
           gbx_code_is_listed(&code->config->servers[server]) &&
           gbx_view_kind(gbx_upstreams_info(code->upstreams, server).tools) != '[';
}

/* ---- for code -------------------------------------------------------------------- */

static void put_found(const gbx_mcp_code *code, const gbx_code_query *query,
                      const gbx_search_doc *doc, gbx_buf *to)
{
    gbx_view name = gbx_view_member(doc->tool, "name");
    const char *mark = gbx_gate_mark(code->gate, doc->server, doc->tool);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;

    gbx_buf_init(&text, GBX_KIB(64));
    (void)gbx_buf_puts(to, "{\"server\":");
    (void)gbx_json_append_string(to, doc->server, strlen(doc->server));
    (void)gbx_buf_puts(to, ",\"tool\":");
    (void)gbx_buf_append(to, name.at, name.len);
    gbx_declare_summary(&text, doc->tool, 160);
    (void)gbx_buf_puts(to, ",\"summary\":");
    (void)gbx_json_append_string(to, text.data, text.len);
    if (mark[0] != '\0')
        (void)gbx_buf_printf(to, ",\"approval\":\"%s\"", mark);
    if (strcmp(query->detail, "types") == 0) {
        text.len = 0;
        gbx_declare_tool(&text, doc->tool);
        (void)gbx_buf_puts(to, ",\"types\":");
        (void)gbx_json_append_string(to, text.data, text.len);
    }
    (void)gbx_buf_puts(to, "}");
}

/* Without the names of servers that could not be asked, a partial list would look
 * complete. */
static void put_absent(const gbx_mcp_code *code, const gbx_code_query *query,
                       gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf names;

    gbx_buf_init(&names, GBX_KIB(64));
    for (size_t i = 0; i < code->config->server_count; i++)
        if (is_absent(code, query, i))
            (void)gbx_buf_printf(&names, "%s%s", names.len > 0 ? ", " : "",
                                 code->config->servers[i].name);
    if (names.len > 0) {
        (void)gbx_buf_puts(to, ",\"absent\":");
        (void)gbx_json_append_string(to, (char *)names.data, names.len);
    }
}

void gbx_code_answer_query(const gbx_mcp_code *code, const gbx_code_query *query,
                           bool whole, gbx_buf *to)
{
    size_t limit = query->words[0] != 0 && !whole ? FOUND_MAX : SIZE_MAX;
    gbx_search_doc *docs = NULL;
    size_t count = 0;
    size_t total;

    if (!find(code, query, limit, &docs, &count, &total))
        to->failed = true; /* an empty list would claim that none exists */
    (void)gbx_buf_puts(to, "{\"value\":[");
    for (size_t i = 0; i < count; i++) {
        (void)gbx_buf_puts(to, i > 0 ? "," : "");
        if (whole)
            (void)gbx_buf_append(to, docs[i].tool.at, docs[i].tool.len);
        else
            put_found(code, query, &docs[i], to);
    }
    (void)gbx_buf_puts(to, "]");
    put_absent(code, query, to);
    (void)gbx_buf_puts(to, "}");
    free(docs);
}

/* ---- for a model ------------------------------------------------------------------ */

static void write_name(gbx_view name, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;

    gbx_buf_init(&text, GBX_TOOL_NAME_MAX);
    if (gbx_view_append_text(name, &text))
        (void)gbx_utf8_append_escaped(to, text.data, text.len, GBX_ESCAPE_LINE);
}

/* What the rules will do, unless they simply allow the call. */
static void write_mark(const gbx_mcp_code *code, const gbx_search_doc *doc, gbx_buf *to)
{
    const char *mark = gbx_gate_mark(code->gate, doc->server, doc->tool);

    if (mark[0] != '\0')
        (void)gbx_buf_printf(to, " (%s)", mark);
}

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

static const char *detail_of(const gbx_code_query *q)
{
    if (q->detail[0] != 0)
        return q->detail;
    if (q->tool[0] != 0)
        return "types";
    return q->words[0] != 0 || q->server != NULL ? "summary" : "names";
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

static void write_absent(const gbx_mcp_code *code, const gbx_code_query *q, gbx_buf *to)
{
    for (size_t i = 0; i < code->config->server_count; i++) {
        gbx_upstream_info info = gbx_upstreams_info(code->upstreams, i);
        const char *fault = code->config->servers[i].fault;

        if (!is_absent(code, q, i))
            continue;
        (void)gbx_buf_printf(to, "[%s is not there", info.name);
        if (fault != NULL)
            write_fault(code, fault, to);
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
        size_t count = is_of(code, q, i) ? gbx_view_count(info.tools) : 0;

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

/* A request that waits for the tools of a server, or of all. */
struct discovery {
    gbx_mcp_code *code;
    gbx_mcp_request *request;
    gbx_code_query query;
};

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

    if (!find(d->code, q,
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

static void on_listed(void *user, const gbx_upstream_reply *failure)
{
    struct discovery *d = user;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;
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
    free(d);
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
        gbx_code_read_query(code, gbx_view_member(arguments, "query"),
                            gbx_view_member(arguments, "server"), arguments, &d->query,
                            &message, &why) &&
        gbx_code_list_tools(code, d->query.server, false, request, on_listed, free,
                            d)) {
        gbx_buf_cleanup(&message);
        return;
    }
    gbx_code_say_changed(code, request, &message, true);
    gbx_buf_cleanup(&message);
    free(d);
}

/* ---- provision ------------------------------------------------------------------- */

static void write_tools(gbx_view tools, gbx_buf *to)
{
    size_t cursor = 0;
    size_t count = 0;
    gbx_view key;
    gbx_view tool;

    while (gbx_view_next(tools, &cursor, &key, &tool)) {
        char name[GBX_TOOL_NAME_MAX + 1];

        if (!gbx_code_take_name(gbx_view_member(tool, "name"), name, sizeof name))
            continue;
        (void)gbx_buf_puts(to, count++ > 0 ? ", " : ": ");
        (void)gbx_utf8_append_escaped(to, name, strlen(name), GBX_ESCAPE_LINE);
    }
}

static void write_facts(const gbx_upstream_info *info, gbx_buf *to)
{
    (void)gbx_buf_printf(to, "%s is ready: ", info->name);
    (void)gbx_utf8_append_escaped(to, info->server_name, strlen(info->server_name),
                                  GBX_ESCAPE_LINE);
    (void)gbx_buf_puts(to, " ");
    (void)gbx_utf8_append_escaped(to, info->version, strlen(info->version),
                                  GBX_ESCAPE_LINE);
    (void)gbx_buf_printf(to, ", protocol %s, started in %.0f ms, %zu tools", info->era,
                         info->start_ms, gbx_view_count(info->tools));
}

static void on_provided(void *user, const gbx_upstream_reply *failure)
{
    struct discovery *p = user;
    gbx_upstream_info info = gbx_code_info(p->code, p->query.server);
    bool is_ready = info.state == GBX_UPSTREAM_READY;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;

    (void)failure; /* the server's known state says the same */
    gbx_buf_init(&text, GBX_MIB(1));
    if (is_ready) {
        write_facts(&info, &text);
        write_tools(info.tools, &text);
        if (info.left_out_why[0] != 0)
            (void)gbx_buf_printf(&text, " (%s)", info.left_out_why);
    } else {
        (void)gbx_buf_printf(&text, "%s did not start: ", info.name);
        gbx_code_put_fault(p->code,
                           info.fault[0] != 0 ? info.fault : "it has not answered yet",
                           &text);
    }
    gbx_code_say_changed(p->code, p->request, &text, !is_ready);
    free(p);
}

/* An unknown server may have been configured since the start. */
static void refuse_provision(gbx_mcp_code *code, gbx_mcp_request *request,
                             const char *why, const gbx_buf *message)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;

    gbx_buf_init(&text, GBX_KIB(16));
    (void)gbx_buf_printf(&text, "%s: ", why);
    (void)gbx_buf_append(&text, message->data, message->len);
    gbx_code_say_changed(code, request, &text, true);
}

void gbx_code_provision(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    static const char *const names[] = {"server", NULL};
    gbx_mcp_code *code = user;
    struct discovery *p;
    const char *why = "INVALID_ARGS";
    char name[GBX_CODE_SERVER_SIZE];
    gbx_buf message;

    if (gbx_code_refuse_names(code, request, arguments, names))
        return;
    p = calloc(1, sizeof *p);
    if (p == NULL) {
        gbx_mcp_fail(request, GBX_MCP_INTERNAL_ERROR, "memory is out");
        return;
    }
    gbx_buf_init(&message, GBX_KIB(8));
    p->code = code;
    p->request = request;
    if (!gbx_code_take_name(gbx_view_member(arguments, "server"), name, sizeof name)) {
        (void)gbx_buf_puts(&message, "give server, the name of one that is configured");
    } else {
        p->query.server = gbx_code_find_server(code, name, &message, &why);
        if (p->query.server == NULL)
            (void)gbx_buf_puts(&message, "; nothing is installed by this tool");
    }
    if (p->query.server == NULL) {
        refuse_provision(code, request, why, &message);
        free(p);
    } else if (!gbx_code_list_tools(code, p->query.server, true, request, on_provided,
                                    free, p)) {
        gbx_mcp_fail(request, GBX_MCP_INTERNAL_ERROR, "memory is out");
        free(p);
    }
    gbx_buf_cleanup(&message);
}

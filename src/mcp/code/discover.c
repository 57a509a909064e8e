/* SPDX-License-Identifier: MIT */
/*
 * discover - lists tools with as much detail as requested, for a model (the tool
 * `discover`) or for code, and starts a server for the tool `provision`.
 */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define REPLY_MAX GBX_MIB(8)
#define TOO_LONG  "the list is longer than 8 MiB: ask for one server, or with a query"

/* The CPU time bounds the work of a script of ours; a busy machine may take longer. */
#define SCRIPT_CPU_MS 20000
#define SCRIPT_MS     200000

/* ---- the query ------------------------------------------------------------------- */

static bool take_text(gbx_view value, const char *name, char *ret, size_t size,
                      gbx_buf *message)
{
    /* These are equivalent to a missing argument. */
    bool is_nothing = value.at == NULL || gbx_view_kind(value) == 'n' ||
                      (gbx_view_kind(value) == '"' && value.len == 2);

    ret[0] = 0;
    if (is_nothing || gbx_code_take_name(value, ret, size))
        return true;
    (void)gbx_buf_printf(message, "'%s' is a string of at most %zu bytes", name,
                         size - 1);
    return false;
}

bool gbx_code_read_query(const gbx_mcp_code *code, gbx_view words, gbx_view server,
                         gbx_view settings, gbx_code_query *ret, gbx_buf *message,
                         const char **ret_code)
{
    gbx_view tool = gbx_view_member(settings, "tool");
    gbx_view detail = gbx_view_member(settings, "detail");
    char name[GBX_CODE_SERVER_SIZE];

    *ret_code = "INVALID_ARGS";
    if (!take_text(words, "query", ret->words, sizeof ret->words, message) ||
        !take_text(server, "server", name, sizeof name, message) ||
        !take_text(tool, "tool", ret->tool, sizeof ret->tool, message) ||
        !take_text(detail, "detail", ret->detail, sizeof ret->detail, message))
        return false;
    if (ret->detail[0] != 0 &&
        !gbx_text_is_listed("names summary types", ret->detail, strlen(ret->detail))) {
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

/* True if the server's tools are part of the query but unknown. */
static bool is_absent(const gbx_mcp_code *code, const gbx_code_query *q, size_t server)
{
    return is_of(code, q, server) &&
           gbx_code_is_listed(&code->config->servers[server]) &&
           gbx_view_kind(
               gbx_upstreams_info(code->upstreams, &code->config->servers[server])
                   .tools) != '[';
}

/* ---- for code -------------------------------------------------------------------- */

/* Append the tools that may match, as discover.js expects them. */
static void put_docs(const gbx_mcp_code *code, const gbx_code_query *q, const char *key,
                     gbx_buf *to)
{
    gbx_json_put_open(to, key, '[');
    for (size_t i = 0; i < code->config->server_count; i++) {
        gbx_upstream_info info =
            gbx_upstreams_info(code->upstreams, &code->config->servers[i]);
        size_t cursor = 0;
        gbx_view name;
        gbx_view tool;

        while (is_of(code, q, i) && gbx_view_next(info.tools, &cursor, &name, &tool))
            gbx_code_put_doc(code, info.name, tool, to);
    }
    (void)gbx_buf_puts(to, "]");
}

/* Without the names of servers that could not be asked, a partial list would look
 * complete. */
static void put_absent(const gbx_mcp_code *code, const gbx_code_query *query,
                       gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf names = {.ceiling = GBX_KIB(64)};

    for (size_t i = 0; i < code->config->server_count; i++)
        if (is_absent(code, query, i))
            (void)gbx_buf_printf(&names, "%s%s", names.len > 0 ? ", " : "",
                                 code->config->servers[i].name);
    if (names.len > 0) {
        gbx_json_put_key(to, "absent");
        (void)gbx_json_append_string(to, (char *)names.data, names.len);
    }
}

void gbx_code_put_doc(const gbx_mcp_code *code, const char *server, gbx_view tool,
                      gbx_buf *to)
{
    gbx_json_put_open(to, NULL, '{');
    gbx_json_put_text(to, "server", server);
    gbx_json_put_text(to, "mark", gbx_gate_mark(code->gate, server, tool));
    gbx_json_put_key(to, "tool");
    (void)gbx_buf_append(to, tool.at, tool.len);
    (void)gbx_buf_puts(to, "}");
}

void gbx_code_answer_query(const gbx_mcp_code *code, const gbx_code_query *query,
                           gbx_buf *to)
{
    (void)gbx_buf_puts(to, "{");
    put_docs(code, query, "value", to);
    put_absent(code, query, to);
    (void)gbx_buf_puts(to, "}");
}

/* ---- scripts of ours ------------------------------------------------------------ */

/* A run of a script of ours alone, without code of a client. */
struct gbx_discovery_run {
    gbx_buf input;
    gbx_discovered_fn done;
    void *user;
    LIST_ENTRY(gbx_discovery_run) in_code;
};

static void discovery_run_free(struct gbx_discovery_run *run)
{
    LIST_REMOVE(run, in_code);
    gbx_buf_cleanup(&run->input);
    free(run);
}

static void on_done(void *user, gbx_result *result, const gbx_error *error)
{
    struct gbx_discovery_run *run = user;
    gbx_code code = result != NULL ? gbx_result_code(result) : GBX_CODE_CRASHED;
    bool is_text = code == GBX_CODE_VALUE;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = REPLY_MAX};
    gbx_view value = {NULL, 0};

    if (is_text) {
        value.at = gbx_result_value(result, &value.len);
        (void)gbx_view_append_text(value, &text);
    } else {
        (void)gbx_buf_puts(&text,
                           result != NULL ? gbx_result_error(result) : error->message);
        text.failed |= code == GBX_CODE_OUTPUT_TOO_LARGE;
    }
    run->done(run->user, &text, is_text && !text.failed);
    gbx_result_free(result);
    discovery_run_free(run);
}

void gbx_code_ask_discover(gbx_mcp_code *code, const char *script, gbx_buf *input,
                           gbx_discovered_fn done, void *user)
{
    static const gbx_box_hooks hooks = {.done = on_done};
    struct gbx_discovery_run *run = gbx_need(calloc(1, sizeof *run));
    gbx_limits limits = code->limits;
    gbx_call call = GBX_CALL_INIT;

    *run = (struct gbx_discovery_run){.input = *input, .done = done, .user = user};
    *input = (gbx_buf){0};
    limits.cpu_ms = SCRIPT_CPU_MS;
    limits.timeout_ms = SCRIPT_MS;
    call.form = GBX_FORM_SCRIPT;
    call.code = script;
    call.code_len = strlen(script);
    call.input = (const char *)run->input.data;
    call.input_len = run->input.len;
    call.limits = &limits;
    LIST_INSERT_HEAD(&code->discoveries, run, in_code);
    (void)gbx_box_start(code->box, &call, &hooks, run);
}

void gbx_code_discover_end(gbx_mcp_code *code)
{
    struct gbx_discovery_run *run;

    while ((run = LIST_FIRST(&code->discoveries)) != NULL) {
        run->done(run->user, NULL, false);
        discovery_run_free(run);
    }
}

/* ---- for a model ----------------------------------------------------------------- */

static void write_absent(const gbx_mcp_code *code, const gbx_code_query *q, gbx_buf *to)
{
    for (size_t i = 0; i < code->config->server_count; i++) {
        gbx_upstream_info info =
            gbx_upstreams_info(code->upstreams, &code->config->servers[i]);
        const char *fault = code->config->servers[i].fault;

        if (!is_absent(code, q, i))
            continue;
        (void)gbx_buf_printf(to, "[%s is not there", info.name);
        if (fault == NULL && info.fault[0] == 0) {
            (void)gbx_buf_puts(to, ": it has not started yet, ask again]\n");
            continue;
        }
        /* When the server is started again, and how the last start failed. */
        if (fault == NULL) {
            fault = info.fault;
            if (info.state == GBX_UPSTREAM_STARTING)
                (void)gbx_buf_puts(to, ", and is being started again");
            else if (info.retry_ms > 0)
                (void)gbx_buf_printf(to, ", and is not started again for %u s",
                                     (info.retry_ms + 999) / 1000);
            else
                (void)gbx_buf_puts(to, ", and is started again when it is asked for");
        }
        (void)gbx_buf_puts(to, ": ");
        gbx_code_put_fault(code, fault, to);
        (void)gbx_buf_puts(to, "]\n");
    }
}

/* A request that waits for the tools of one server or all servers. */
struct discovery {
    gbx_mcp_code *code;
    gbx_mcp_request *request;
    gbx_code_query query;
    gbx_buf absent; /* for `discover`: lines about servers without known tools */
};

static struct discovery *new_discovery(gbx_mcp_code *code, gbx_mcp_request *request)
{
    struct discovery *d = gbx_need(calloc(1, sizeof *d));

    d->code = code;
    d->request = request;
    return d;
}

static void discovery_free(void *user)
{
    struct discovery *d = user;

    gbx_buf_cleanup(&d->absent);
    free(d);
}

/* text NULL: code mode ends. */
static void on_text(void *user, gbx_buf *text, bool is_text)
{
    struct discovery *d = user;

    if (text != NULL && is_text) {
        (void)gbx_buf_append(text, d->absent.data, d->absent.len);
        gbx_code_say_changed(d->code, d->request, text, false);
    } else if (text != NULL && text->failed) {
        gbx_code_say_wrong(d->code, d->request, TOO_LONG);
    } else if (text != NULL) {
        gbx_code_say_wrong(d->code, d->request, "the tools cannot be listed: %.*s",
                           (int)text->len, (const char *)text->data);
    }
    discovery_free(d);
}

static void on_listed(void *user, const gbx_upstream_reply *failure)
{
    struct discovery *d = user;
    const gbx_code_query *q = &d->query;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_MIB(256)};

    (void)failure; /* the server's known state says the same */
    gbx_buf_init(&d->absent, REPLY_MAX);
    write_absent(d->code, q, &d->absent);
    if (q->tool[0] != 0)
        gbx_code_no_tool(d->code, q->server, q->tool, &text);
    if (text.len > 0) {
        (void)gbx_buf_puts(&text, "\n");
        (void)gbx_buf_append(&text, d->absent.data, d->absent.len);
        gbx_code_say_changed(d->code, d->request, &text, true);
        discovery_free(d);
        return;
    }
    (void)gbx_buf_puts(&text, "{");
    gbx_json_put_open(&text, "query", '{');
    gbx_json_put_text(&text, "words", q->words);
    gbx_json_put_text(&text, "server", q->server != NULL ? q->server->name : "");
    gbx_json_put_text(&text, "tool", q->tool);
    gbx_json_put_text(&text, "detail", q->detail);
    (void)gbx_buf_puts(&text, "}");
    put_docs(d->code, q, "docs", &text);
    (void)gbx_buf_puts(&text, "}");
    if (text.failed) {
        gbx_code_say_wrong(d->code, d->request, TOO_LONG);
        discovery_free(d);
    } else {
        gbx_code_ask_discover(d->code, GBX_DISCOVER_JS ".text(input.query, input.docs)",
                              &text, on_text, d);
    }
}

void gbx_code_discover(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    static const char *const names[] = {"query", "server", "tool", "detail", NULL};
    gbx_mcp_code *code = user;
    struct discovery *d = new_discovery(code, request);
    const char *why;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message = {.ceiling = GBX_KIB(8)};

    if (gbx_code_check_names(arguments, names, &message) &&
        gbx_code_read_query(code, gbx_view_member(arguments, "query"),
                            gbx_view_member(arguments, "server"), arguments, &d->query,
                            &message, &why)) {
        gbx_code_list_tools(code, d->query.server, false, request, on_listed,
                            discovery_free, d);
        return;
    }
    gbx_code_say_changed(code, request, &message, true);
    discovery_free(d);
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

static void on_provided(void *user, const gbx_upstream_reply *failure)
{
    struct discovery *p = user;
    gbx_upstream_info info = gbx_upstreams_info(p->code->upstreams, p->query.server);
    bool is_ready = info.state == GBX_UPSTREAM_READY;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_MIB(1)};

    (void)failure; /* the server's known state says the same */
    if (is_ready) {
        (void)gbx_buf_printf(&text, "%s is ready: ", info.name);
        (void)gbx_utf8_append_escaped(&text, info.server_name, strlen(info.server_name),
                                      GBX_ESCAPE_LINE);
        (void)gbx_buf_puts(&text, " ");
        (void)gbx_utf8_append_escaped(&text, info.version, strlen(info.version),
                                      GBX_ESCAPE_LINE);
        (void)gbx_buf_printf(&text, ", protocol %s, started in %.0f ms, %zu tools",
                             info.era, info.start_ms, gbx_view_count(info.tools));
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

void gbx_code_provision(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    static const char *const names[] = {"server", NULL};
    gbx_mcp_code *code = user;
    const gbx_mcp_upstream_config *server = NULL;
    struct discovery *p;
    const char *why = "INVALID_ARGS";
    char name[GBX_CODE_SERVER_SIZE];
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message = {.ceiling = GBX_KIB(8)};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_KIB(16)};

    if (gbx_code_refuse_names(code, request, arguments, names))
        return;
    if (!gbx_code_take_name(gbx_view_member(arguments, "server"), name, sizeof name)) {
        (void)gbx_buf_puts(&message, "give server, the name of one that is configured");
    } else {
        server = gbx_code_find_server(code, name, &message, &why);
        if (server == NULL)
            (void)gbx_buf_puts(&message, "; nothing is installed by this tool");
    }
    if (server == NULL) {
        (void)gbx_buf_printf(&text, "%s: %.*s", why, (int)message.len,
                             (char *)message.data);
        gbx_code_say_changed(code, request, &text, true);
        return;
    }
    p = new_discovery(code, request);
    p->query.server = server;
    gbx_code_list_tools(code, server, true, request, on_provided, free, p);
}

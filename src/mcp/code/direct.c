/* SPDX-License-Identifier: MIT */
/* direct - `call` makes one call of one tool through the same gate as the calls of
 * code; `provision` starts a server. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "mcp/code/code_mode.h"

#include <stdlib.h>
#include <string.h>

#define CONTENT_MAX GBX_MIB(512)
#define META_MAX    GBX_KIB(64)

/* ---- call ------------------------------------------------------------------------ */

struct gbx_direct {
    gbx_mcp_code *code;      /* NULL: code mode has ended */
    struct gbx_direct *next; /* in the list of code */
    struct gbx_direct **link;
    gbx_mcp_request *request;
    gbx_gate_call *passage;
    char server[72];
    char *tool;
    char *args;
    size_t args_len;
    int64_t start_ns;
};

static void detach(struct gbx_direct *d)
{
    if (d->link == NULL)
        return;
    *d->link = d->next;
    if (d->next != NULL)
        d->next->link = d->link;
    d->link = NULL;
}

static void free_direct(struct gbx_direct *d)
{
    detach(d);
    free(d->tool);
    free(d->args);
    free(d);
}

/* Write the reason that code would get. Many hosts show only blocks, and a failure
 * without one looks empty. */
static void put_reason(gbx_view result, gbx_buf *to)
{
    gbx_buf message;

    gbx_buf_init(&message, GBX_KIB(16));
    (void)gbx_value_of_result(result, NULL, NULL, &message);
    gbx_blocks_text(to, message.data, message.len);
    gbx_buf_cleanup(&message);
}

/* A server's links work only there: a client that follows one would ask us. */
static bool has_links(gbx_view content)
{
    size_t cursor = 0;
    gbx_view none;
    gbx_view block;

    while (gbx_view_next(content, &cursor, &none, &block))
        if (gbx_view_is_text(gbx_view_member(block, "type"), "resource_link"))
            return true;
    return false;
}

/* A remark on what came back. */
static const char *remark(gbx_view content, const gbx_buf *blocks)
{
    if (blocks->len == 0)
        return "; the tool gave nothing back";
    return has_links(content) ? "; links of that server cannot be read here" : "";
}

/* Write its _meta without the protocol's own entries, which are ours to set; nothing if
 * it is too long. */
static void put_meta(gbx_view meta, gbx_buf *to)
{
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    (void)gbx_buf_puts(to, "{");
    while (gbx_view_kind(meta) == '{' && gbx_view_next(meta, &cursor, &name, &value)) {
        if (memmem(name.at, name.len, "modelcontextprotocol", 20) != NULL ||
            memchr(name.at, '\\', name.len) != NULL)
            continue;
        (void)gbx_buf_puts(to, to->len > 1 ? "," : "");
        (void)gbx_buf_append(to, name.at, name.len);
        (void)gbx_buf_puts(to, ":");
        (void)gbx_view_append_json(value, to);
    }
    (void)gbx_buf_puts(to, "}");
    if (!gbx_buf_append(to, "", 1) || to->len <= sizeof "{}")
        gbx_buf_cleanup(to);
}

/* Costs follow the content; what was cut precedes it. Many hosts show only blocks, and
 * old ones know nothing else, so a value without a block is repeated as text. */
static void answer(struct gbx_direct *d, gbx_view result)
{
    double ms = (double)(gbx_clock_now_ns() - d->start_ns) / (double)GBX_NS_PER_MS;
    gbx_value_parts parts = gbx_value_parts_of(result);
    gbx_mcp_result out = {.is_error = parts.is_error};
    gbx_blocks_room room = {.max = (size_t)d->code->settings->reply_bytes,
                            .store = d->code->artifacts,
                            .name = d->tool,
                            .version = gbx_mcp_request_version(d->request),
                            .now_ns = gbx_clock_now_ns()};
    gbx_buf blocks;
    gbx_buf first;
    gbx_buf all;
    gbx_buf meta;

    gbx_buf_init(&meta, META_MAX);
    put_meta(gbx_view_member(result, "_meta"), &meta);
    out.meta = (char *)meta.data;
    gbx_buf_init(&blocks, CONTENT_MAX);
    gbx_buf_init(&first, GBX_KIB(16));
    gbx_buf_init(&all, CONTENT_MAX);
    gbx_blocks_write(parts.content, &room, &blocks, &first);
    if (gbx_view_kind(parts.structured) == '{' && parts.structured.len <= room.max) {
        out.structured = parts.structured.at;
        out.structured_len = parts.structured.len;
    }
    if (out.is_error && blocks.len == 0)
        put_reason(result, &blocks);
    else if (parts.structured.at != NULL && blocks.len == 0)
        gbx_blocks_json(parts.structured, &room, &blocks, &first);
    if (first.len > 0)
        gbx_blocks_text(&all, first.data, first.len);
    (void)gbx_buf_append(&all, blocks.data, blocks.len);
    (void)gbx_buf_printf(&all,
                         ",{\"type\":\"text\",\"text\":\"(1 call; %.0f ms; %zu "
                         "bytes%s)\"}]",
                         ms, result.len, remark(parts.content, &blocks));
    if (!all.failed)
        all.data[0] = '['; /* replaces the first comma */
    out.content = (char *)all.data;
    out.content_len = all.len;
    if (all.failed || blocks.failed)
        gbx_mcp_fail(d->request, GBX_MCP_INTERNAL_ERROR, "memory is out");
    else
        gbx_mcp_finish(d->request, &out);
    gbx_buf_cleanup(&meta);
    gbx_buf_cleanup(&blocks);
    gbx_buf_cleanup(&first);
    gbx_buf_cleanup(&all);
}

/* readFile for read_file. */
static const char *other_name(void *user)
{
    struct gbx_direct *d = user;
    char *other =
        d->code != NULL ? gbx_code_other_name(d->code, d->server, d->tool) : NULL;

    if (other == NULL)
        return NULL;
    free(d->tool);
    d->tool = other;
    return other;
}

static void on_passed(void *user, const gbx_gate_reply *reply)
{
    struct gbx_direct *d = user;
    gbx_buf message;

    d->passage = NULL;
    if (d->code == NULL) {
        free_direct(d);
        return;
    }
    if (reply->code == NULL) {
        answer(d, reply->result);
    } else {
        gbx_buf_init(&message, GBX_KIB(8));
        if (strcmp(reply->code, "NOT_FOUND") == 0)
            gbx_code_no_tool(d->code, d->server, d->tool, &message);
        if (message.len == 0)
            (void)gbx_buf_puts(&message, reply->message);
        gbx_code_say_wrong(d->code, d->request, "%s: %.*s%s", reply->code,
                           (int)message.len, (char *)message.data,
                           reply->retryable ? " (worth another try)" : "");
        gbx_buf_cleanup(&message);
    }
    free_direct(d);
}

static void on_progress(void *user, const char *message, size_t len)
{
    const struct gbx_direct *d = user;

    if (d->code != NULL)
        gbx_code_say_progress(d->request, d->server, d->tool, message, len);
}

static void on_cancel(void *user)
{
    struct gbx_direct *d = user;

    if (d->passage != NULL)
        gbx_gate_cancel(d->passage);
}

static bool pass(struct gbx_direct *d)
{
    gbx_gate_ask ask = {.server = d->server,
                        .tool = d->tool,
                        .args = d->args,
                        .args_len = d->args_len,
                        .request = d->request,
                        .run = "",
                        .other_name = other_name};

    if (gbx_mcp_wants_progress(d->request))
        ask.progress = on_progress;
    d->passage = gbx_gate_start(d->code->gate, &ask, on_passed, d);
    return d->passage != NULL;
}

static struct gbx_direct *read_direct(gbx_mcp_code *code, gbx_view arguments)
{
    struct gbx_direct *d = calloc(1, sizeof *d);
    gbx_view args = gbx_view_member(arguments, "args");
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;
    char tool[GBX_TOOL_NAME_MAX + 1];

    gbx_buf_init_secret(&text, args.len);
    if (d == NULL)
        return NULL;
    d->code = code;
    /* Some models write the object as a string. */
    if (gbx_view_kind(args) == '"' &&
        (!gbx_view_take_text(args, &text) ||
         !gbx_view_open((const char *)text.data, text.len, &args)))
        args = (gbx_view){"\"\"", 2};
    if (args.at == NULL || gbx_view_kind(args) == 'n')
        args = (gbx_view){"{}", 2};
    if (gbx_code_take_name(gbx_view_member(arguments, "server"), d->server,
                           sizeof d->server) &&
        gbx_code_take_name(gbx_view_member(arguments, "tool"), tool, sizeof tool) &&
        gbx_view_kind(args) == '{') {
        d->tool = strdup(tool);
        d->args = strndup(args.at, args.len);
        d->args_len = args.len;
    }
    if (d->tool != NULL && d->args != NULL)
        return d;
    free_direct(d);
    return NULL;
}

/* ---- provision ------------------------------------------------------------------- */

struct provision {
    gbx_mcp_code *code;
    gbx_mcp_request *request;
    char server[72];
};

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

static void write_facts(const char *server, const gbx_upstream_info *info, gbx_buf *to)
{
    (void)gbx_buf_printf(to, "%s is ready: ", server);
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
    struct provision *p = user;
    gbx_upstream_info info;
    bool is_ready =
        gbx_code_info(p->code, p->server, &info) && info.state == GBX_UPSTREAM_READY;
    gbx_buf text;

    (void)failure; /* the server's known state says the same */
    gbx_buf_init(&text, GBX_MIB(1));
    if (is_ready) {
        write_facts(p->server, &info, &text);
        write_tools(info.tools, &text);
        if (info.left_out_why[0] != 0)
            (void)gbx_buf_printf(&text, " (%s)", info.left_out_why);
    } else {
        (void)gbx_buf_printf(&text, "%s did not start: ", p->server);
        gbx_code_put_fault(p->code,
                           info.fault[0] != 0 ? info.fault : "it has not answered yet",
                           &text);
    }
    gbx_code_say_changed(p->code, p->request, &text, !is_ready);
    gbx_buf_cleanup(&text);
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

/* ---- arguments ------------------------------------------------------------------- */

/* True: unknown arguments were found, and the request has ended. */
static bool refuse_others(gbx_mcp_code *code, gbx_mcp_request *request,
                          gbx_view arguments, const char *const *names)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message;

    gbx_buf_init(&message, GBX_KIB(8));
    if (gbx_code_check_names(arguments, names, &message))
        return false;
    gbx_code_say_wrong(code, request, "INVALID_ARGS: %.*s", (int)message.len,
                       (char *)message.data);
    return true;
}

/* ---- public to other files of this folder --------------------------------- */

void gbx_code_call(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    static const char *const names[] = {"server", "tool", "args", NULL};
    gbx_mcp_code *code = user;
    struct gbx_direct *d;
    const char *why;
    gbx_buf message;

    gbx_code_look_at_file(code);
    if (refuse_others(code, request, arguments, names))
        return;
    d = read_direct(code, arguments);
    if (d == NULL) {
        gbx_code_say_wrong(code, request, "INVALID_ARGS: %s",
                           gbx_code_is_long_name(gbx_view_member(arguments, "tool"))
                               ? GBX_CODE_LONG_NAME
                               : "give server, tool and args, an object");
        return;
    }
    gbx_buf_init(&message, GBX_KIB(8));
    d->request = request;
    d->start_ns = gbx_clock_now_ns();
    if (gbx_code_find_server(code, d->server, &message, &why) == NULL) {
        gbx_code_say_wrong(code, request, "%s: %.*s", why, (int)message.len,
                           (char *)message.data);
        free_direct(d);
    } else if (!pass(d)) {
        gbx_mcp_fail(request, GBX_MCP_INTERNAL_ERROR, "memory is out");
        free_direct(d);
    } else {
        d->next = code->directs;
        d->link = &code->directs;
        if (d->next != NULL)
            d->next->link = &d->next;
        code->directs = d;
        gbx_mcp_on_cancel(request, on_cancel, d);
    }
    gbx_buf_cleanup(&message);
}

void gbx_code_provision(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    static const char *const names[] = {"server", NULL};
    gbx_mcp_code *code = user;
    struct provision *p;
    const char *why = "INVALID_ARGS";
    gbx_buf message;

    if (refuse_others(code, request, arguments, names))
        return;
    p = calloc(1, sizeof *p);
    gbx_buf_init(&message, GBX_KIB(8));
    if (p != NULL) {
        p->code = code;
        p->request = request;
        if (!gbx_code_take_name(gbx_view_member(arguments, "server"), p->server,
                                sizeof p->server))
            (void)gbx_buf_puts(&message,
                               "give server, the name of one that is configured");
        else if (gbx_code_find_server(code, p->server, &message, &why) != NULL &&
                 gbx_code_list_tools(code, p->server, true, request, on_provided, free,
                                     p))
            p = NULL;
        else if (message.len > 0)
            (void)gbx_buf_puts(&message, "; nothing is installed by this tool");
    }
    if (message.len > 0)
        refuse_provision(code, request, why, &message);
    else if (p != NULL)
        gbx_mcp_fail(request, GBX_MCP_INTERNAL_ERROR, "memory is out");
    gbx_buf_cleanup(&message);
    free(p);
}

void gbx_code_abandon_calls(gbx_mcp_code *code)
{
    while (code->directs != NULL) {
        struct gbx_direct *d = code->directs;

        detach(d);
        d->code = NULL;
    }
}

/* SPDX-License-Identifier: MIT */
/* mcp_stage - see mcp_stage.h. */
#include "mcp_stage.h"
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

/* ---- servers that are played ----------------------------------------------------- */

gbx_upstreams played;

static void on_event(evutil_socket_t fd, short what, void *arg)
{
    gbx_upstream_call *call = arg;
    gbx_upstream_reply reply = {.message = ""};
    (void)fd;
    (void)what;

    if (call->cancelled) {
        reply.fault = GBX_UPSTREAM_CANCELLED;
        reply.message = "the call was cancelled";
    } else if (call->held) {
        return;
    } else if (call->is_learning) {
        played.known = !played.learns_nothing;
    } else if (played.changes && call->hint == GBX_GATE_HINT_READS) {
        static const char tools[] = "[{\"name\":\"read_file\"}]";

        assert_true(gbx_view_open(tools, strlen(tools), &played.tools));
        reply.fault = GBX_UPSTREAM_CHANGED;
    } else if (played.fault != GBX_UPSTREAM_OK) {
        reply.fault = played.fault;
        reply.message = played.result;
    } else {
        assert_true(gbx_view_open(played.result, strlen(played.result), &reply.result));
    }
    call->request.done(call->request.user, &reply);
    event_free(call->event);
    call->event = NULL;
    if (call->is_learning)
        free(call);
}

static gbx_upstream_call *new_call(const gbx_upstream_request *request)
{
    gbx_upstream_call *call = calloc(1, sizeof *call);

    assert_non_null(call);
    call->request = *request;
    call->event = event_new(played.base, -1, 0, on_event, call);
    event_active(call->event, EV_TIMEOUT, 0);
    return call;
}

gbx_upstream_call *gbx_upstream_start(gbx_upstreams *upstreams,
                                      const gbx_upstream_request *request)
{
    gbx_upstream_call *call = new_call(request);

    assert_true(upstreams->started < CALLS_MAX);
    call->held = upstreams->hold;
    call->hint = request->hint;
    call->args = strndup(request->args.at, request->args.len);
    call->meta = request->meta != NULL ? strdup(request->meta) : NULL;
    upstreams->calls[upstreams->started++] = call;
    if (request->progress != NULL)
        request->progress(request->user, "at t0ken-of-the-test", 20);
    return call;
}

void gbx_upstream_cancel(gbx_upstream_call *call)
{
    call->cancelled = true;
    event_active(call->event, EV_TIMEOUT, 0);
}

bool gbx_upstream_learn(gbx_upstreams *upstreams, gbx_upstream_id *server,
                        gbx_upstream_done_fn done, void *user)
{
    gbx_upstream_call *call =
        new_call(&(gbx_upstream_request){.done = done, .user = user});

    assert_string_equal(server->name, "files");
    call->is_learning = true;
    upstreams->learned++;
    return true;
}

gbx_gate_hint gbx_upstreams_tool(const gbx_upstreams *upstreams,
                                 gbx_upstream_id *server, const char *tool)
{
    size_t cursor = 0;
    gbx_view none;
    gbx_view view;

    if (!upstreams->known || strcmp(server->name, "files") != 0)
        return GBX_GATE_HINT_UNKNOWN;
    while (gbx_view_next(upstreams->tools, &cursor, &none, &view)) {
        gbx_view hints = gbx_view_member(view, "annotations");

        if (gbx_view_is_text(gbx_view_member(view, "name"), tool))
            return gbx_view_is_true(gbx_view_member(hints, "readOnlyHint"))
                       ? GBX_GATE_HINT_READS
                       : GBX_GATE_HINT_OTHER;
    }
    return GBX_GATE_HINT_MISSING;
}

bool gbx_upstreams_is_dated(const gbx_upstreams *upstreams, gbx_upstream_id *server)
{
    (void)upstreams;
    (void)server;
    return false;
}

const char *gbx_upstream_fault_name(gbx_upstream_fault fault)
{
    return fault == GBX_UPSTREAM_TIMEOUT ? "UPSTREAM_TIMEOUT" : "UPSTREAM_OTHER";
}

bool gbx_upstream_is_retryable(const gbx_upstream_reply *reply)
{
    return reply->fault == GBX_UPSTREAM_TIMEOUT;
}

bool gbx_upstream_may_have_acted(const gbx_upstream_reply *reply)
{
    return reply->fault == GBX_UPSTREAM_TIMEOUT;
}

bool gbx_upstream_was_sent(const gbx_upstream_call *call)
{
    return !call->is_learning;
}

/* ---- a person who is played --------------------------------------------------------- */

typedef struct question {
    struct event *event;
    gbx_mcp_request *request;
    void (*done)(void *user, gbx_mcp_answer answer, gbx_view content);
    void *user;
} question;

static void on_question(evutil_socket_t fd, short what, void *arg)
{
    question *q = arg;
    gbx_view content = {0};
    (void)fd;
    (void)what;

    q->request->open--;
    if (q->request->content != NULL)
        assert_true(
            gbx_view_open(q->request->content, strlen(q->request->content), &content));
    q->done(q->user, q->request->how, content);
    event_free(q->event);
    free(q);
}

bool gbx_mcp_can_ask(const gbx_mcp_request *request)
{
    return request->can_ask;
}

void gbx_mcp_ask(gbx_mcp_request *request, const char *message, const char *schema,
                 void (*done)(void *user, gbx_mcp_answer answer, gbx_view content),
                 void *user)
{
    question *q = calloc(1, sizeof *q);

    assert_non_null(q);
    *q = (question){event_new(played.base, -1, 0, on_question, q), request, done, user};
    request->asked++;
    if (++request->open > request->most_open)
        request->most_open = request->open;
    (void)snprintf(request->message, sizeof request->message, "%s", message);
    (void)snprintf(request->schema, sizeof request->schema, "%s", schema);
    event_active(q->event, EV_TIMEOUT, 0);
}

void gbx_mcp_progress(gbx_mcp_request *request, double total, const char *message,
                      size_t message_len)
{
    (void)total;
    (void)snprintf(request->told, sizeof request->told, "%.*s", (int)message_len,
                   message);
}

bool gbx_mcp_hears_progress(gbx_mcp_request *request)
{
    return !request->is_deaf;
}

void gbx_mcp_log_line(gbx_mcp_request *request, gbx_log_level level, const char *text,
                      size_t len)
{
    assert_int_equal(level, GBX_LOG_WARN);
    (void)snprintf(request->logged, sizeof request->logged, "%.*s", (int)len, text);
}

gbx_view gbx_mcp_request_meta(const gbx_mcp_request *request, const char *name)
{
    static const char trace[] = "\"00-abc-def-01\"";
    (void)request;

    return strcmp(name, "traceparent") == 0 ? (gbx_view){trace, sizeof trace - 1}
                                            : (gbx_view){0};
}

/* ---- the stage ------------------------------------------------------------------------ */

static gbx_mcp_loop *loop;
static gbx_mcp_config *config;
gbx_gate *gate;
char lines[16384];
static char folder[] = "/tmp/gbx-gate-XXXXXX";
char path[64];

static void on_line(void *user, const char *line, size_t len)
{
    (void)user;
    (void)strncat(lines, line, len);
}

static void keep_end(gbx_view result, outcome *to)
{
    const char *comma = result.len > 0 ? memrchr(result.at, ',', result.len) : NULL;

    if (comma != NULL)
        (void)snprintf(to->end, sizeof to->end, "%.*s",
                       (int)(result.len - (size_t)(comma + 1 - result.at)), comma + 1);
}

/* A call, and where its end is noted. */
typedef struct played_call {
    gbx_tool_call call;
    outcome *to;
} played_call;

static outcome *outcome_of(gbx_tool_call *call)
{
    return ((played_call *)(void *)call)->to;
}

static void on_done(gbx_tool_call *call, const gbx_gate_reply *reply)
{
    outcome *to = outcome_of(call);

    to->count++;
    to->retryable = reply->retryable;
    (void)snprintf(to->code, sizeof to->code, "%s",
                   reply->code != NULL ? reply->code : "");
    (void)snprintf(to->message, sizeof to->message, "%s", reply->message);
    (void)snprintf(to->result, sizeof to->result, "%.*s", (int)reply->result.len,
                   reply->result.at != NULL ? reply->result.at : "");
    keep_end(reply->result, to);
    gbx_tool_call_release(call);
}

static void on_progress(gbx_tool_call *call, const char *message, size_t len)
{
    outcome *to = outcome_of(call);

    (void)snprintf(to->progress, sizeof to->progress, "%.*s", (int)len, message);
}

static void on_drop(gbx_tool_call *call)
{
    free(call);
}

void write_config(const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* A gate over a configuration whose own key holds what is given. */
void open_gate(const char *ours)
{
    static const char tools[] =
        "[{\"name\":\"read_file\",\"annotations\":{\"readOnlyHint\":true}},"
        "{\"name\":\"write_file\",\"annotations\":{\"readOnlyHint\":false}},"
        "{\"name\":\"lies\",\"annotations\":{\"readOnlyHint\":\"true\"}},"
        "{\"name\":\"plain\"}]";
    char text[2048];
    gbx_error err = {0};

    (void)snprintf(text, sizeof text,
                   "{ // mine\n  \"mcpServers\": {\"files\": {\"command\": \"x\"}},\n"
                   "  \"glovebox\": {%s}\n}\n",
                   ours);
    write_config(text);
    if (gbx_mcp_config_load(path, GBX_TRUST_OWN, &config, &err) != GBX_OK)
        fail_msg("%s", err.message);
    loop = gbx_mcp_loop_new();
    assert_non_null(loop);
    played =
        (gbx_upstreams){.base = gbx_mcp_loop_base(loop), .result = "{\"content\":[]}"};
    assert_true(gbx_view_open(tools, strlen(tools), &played.tools));
    gate = gbx_gate_new(loop, config, &played);
    gbx_gate_on_audit(gate, on_line, NULL);
    lines[0] = '\0';
}

void close_gate(void)
{
    gbx_gate_free(gate);
    gate = NULL;
    /* A server may say something between our end and its own. */
    for (size_t i = 0; i < played.started; i++)
        if (played.calls[i]->event != NULL)
            played.calls[i]->request.progress(played.calls[i]->request.user, "late", 4);
    (void)event_base_loop(played.base, EVLOOP_NONBLOCK);
    for (size_t i = 0; i < played.started; i++) {
        if (played.calls[i]->event != NULL)
            event_free(played.calls[i]->event);
        free(played.calls[i]->args);
        free(played.calls[i]->meta);
        free(played.calls[i]);
    }
    gbx_mcp_loop_free(loop);
    gbx_mcp_config_free(config);
}

gbx_tool_call *start(outcome *to, gbx_mcp_request *request, const char *tool,
                     const char *args, const char *run)
{
    played_call *call = calloc(1, sizeof *call);

    assert_non_null(call);
    call->to = to;
    call->call = (gbx_tool_call){.server = gbx_mcp_config_server(config, "files"),
                                 .tool = strdup(tool),
                                 .args_text = strdup(args),
                                 .args_len = strlen(args),
                                 .request = request,
                                 .line = 7,
                                 .holders = 1,
                                 .done = on_done,
                                 .drop = on_drop,
                                 .progress = on_progress};
    (void)snprintf(call->call.run, sizeof call->call.run, "%s", run);
    gbx_gate_start(gate, &call->call);
    assert_int_equal(to->count, 0);
    return &call->call;
}

void settle(void)
{
    for (int i = 0; i < 50; i++)
        (void)event_base_loop(played.base, EVLOOP_NONBLOCK);
}

/* One call to its end. */
outcome call(gbx_mcp_request *request, const char *tool, const char *args,
             const char *run)
{
    outcome to = {.count = 0};

    (void)start(&to, request, tool, args, run);
    settle();
    assert_int_equal(to.count, 1);
    return to;
}

gbx_mcp_request person(const char *answer)
{
    return (gbx_mcp_request){.can_ask = true,
                             .how = GBX_MCP_ANSWER_ACCEPT,
                             .content = answer};
}

int stage_setup(void **state)
{
    (void)umask(077);
    if (mkdtemp(folder) == NULL)
        return -1;
    (void)snprintf(path, sizeof path, "%s/mcp.json", folder);
    return setenv("XDG_STATE_HOME", folder, 1); /* nobody's grants but the test's */
}

void forget_grants(void)
{
    char grants[80];

    (void)snprintf(grants, sizeof grants, "%s/glovebox/grants.json", folder);
    (void)unlink(grants);
    (void)snprintf(grants, sizeof grants, "%s/glovebox", folder);
    (void)rmdir(grants);
}

int stage_teardown(void **state)
{
    (void)unlink(path);
    forget_grants();
    return rmdir(folder);
}

/* SPDX-License-Identifier: MIT */
/* mcp_stage - see mcp_stage.h. */
#include "mcp_stage.h"
#include "test.h"

#include "base/cleanup.h"

#include <poll.h>
#include <unistd.h>

/* ---- the server ------------------------------------------------------------------- */

gbx_upstreams played;

static void on_event(evutil_socket_t fd, short what, void *arg)
{
    played_sending *sent = arg;
    gbx_upstream_reply reply = {.message = ""};

    if (sent->cancelled) {
        reply.fault = GBX_UPSTREAM_CANCELLED;
        reply.message = "the call was cancelled";
    } else if (sent->held) {
        return;
    } else if (sent->call == NULL) {
        played.known = !played.learns_nothing;
    } else if (played.changes && sent->hint == GBX_GATE_HINT_READS) {
        static const char tools[] = "[{\"name\":\"read_file\"}]";

        assert_true(gbx_view_open(tools, strlen(tools), &played.tools));
        reply.fault = GBX_UPSTREAM_CHANGED;
    } else if (played.wants_sign_in &&
               (played.signed_in == 0 || played.wants_another)) {
        reply.fault = GBX_UPSTREAM_REFUSED;
        reply.remedy = GBX_REMEDY_SIGN_IN;
        reply.message = "it wants a token";
    } else if (played.fault != GBX_UPSTREAM_OK) {
        reply.fault = played.fault;
        reply.message = played.result;
    } else {
        assert_true(gbx_view_open(played.result, strlen(played.result), &reply.result));
    }
    event_free(sent->event);
    sent->event = NULL;
    if (sent->call != NULL) {
        sent->call->is_open = false;
        reply.is_reading = gbx_upstreams_tool(&played, sent->call->server,
                                              sent->call->tool) == GBX_GATE_HINT_READS;
    }
    sent->done(sent->user, &reply);
    if (sent->call == NULL)
        free(sent);
}

static played_sending *new_sending(gbx_upstream_done_fn done, void *user)
{
    played_sending *sent = calloc(1, sizeof *sent);

    assert_non_null(sent);
    sent->done = done;
    sent->user = user;
    sent->event = event_new(played.base, -1, 0, on_event, sent);
    event_active(sent->event, EV_TIMEOUT, 0);
    return sent;
}

void gbx_upstream_start(gbx_upstreams *upstreams, gbx_upstream_call *call)
{
    played_sending *sent = new_sending(call->done, call->user);

    assert_true(upstreams->started < CALLS_MAX);
    assert_false(call->is_open);
    sent->call = call;
    sent->held = upstreams->hold;
    sent->hint = call->hint;
    sent->args = strndup(call->args.at, call->args.len);
    sent->meta = call->meta != NULL ? strdup(call->meta) : NULL;
    upstreams->calls[upstreams->started++] = sent;
    call->is_open = call->was_sent = true;
    if (call->progress != NULL)
        call->progress(call->user, "at t0ken-of-the-test", 20);
}

void gbx_upstream_cancel(gbx_upstream_call *call)
{
    for (size_t i = 0; i < played.started; i++) {
        played_sending *sent = played.calls[i];

        if (sent->call != call || sent->event == NULL)
            continue;
        sent->cancelled = true;
        event_active(sent->event, EV_TIMEOUT, 0);
    }
}

/* No server asks a person here. */
void gbx_upstream_answer(gbx_upstreams *upstreams, unsigned number, const char *action,
                         gbx_view content)
{
    (void)upstreams, (void)number, (void)action, (void)content;
    fail();
}

void gbx_upstream_learn(gbx_upstreams *upstreams, gbx_upstream_id *server,
                        gbx_upstream_done_fn done, void *user)
{
    assert_string_equal(server->name, "files");
    (void)new_sending(done, user);
    upstreams->learned++;
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
    return false;
}

void gbx_upstream_signed_in(gbx_upstreams *upstreams, gbx_upstream_id *server)
{
    assert_string_equal(server->name, "files");
    upstreams->signed_in++;
}

/* On a thread of the gate. */
gbx_status gbx_oauth_sign_in(const gbx_oauth_sign_in_options *o, gbx_error *reterr)
{
    struct pollfd fds[] = {{.fd = o->stop, .events = POLLIN},
                           {.fd = played.signing[0], .events = POLLIN}};
    char how = 'n';

    o->open(o->user, "https://auth.example.com/authorize?a=b");
    if (poll(fds, 2, -1) > 0 && fds[1].revents != 0 &&
        read(played.signing[0], &how, 1) == 1 && how == 'y')
        return GBX_OK;
    return gbx_fail(reterr, GBX_E_OS, "the authorization server refuses");
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

/* ---- the person ------------------------------------------------------------------- */

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

    q->request->open--;
    if (q->request->content != NULL)
        assert_true(
            gbx_view_open(q->request->content, strlen(q->request->content), &content));
    q->done(q->user, q->request->how, content);
    event_free(q->event);
    free(q);
}

unsigned gbx_mcp_can_ask(const gbx_mcp_request *request)
{
    return request->can_ask;
}

void gbx_mcp_ask_url(gbx_mcp_request *request, const char *message, const char *url,
                     const char *id,
                     void (*done)(void *user, gbx_mcp_answer answer, gbx_view content),
                     void *user)
{
    assert_non_null(id);
    gbx_mcp_ask(request, message, url, NULL, done, user);
}

const char *gbx_mcp_request_version(const gbx_mcp_request *request)
{
    return GBX_MCP_LEGACY_NEWEST;
}

void gbx_mcp_ask_client(
    gbx_mcp_request *request, gbx_mcp_asking what, const char *params,
    void (*done)(void *user, gbx_mcp_answer answer, gbx_view content), void *user)
{
    gbx_mcp_ask(request, params, "", NULL, done, user);
}

void gbx_mcp_url_is_done(gbx_mcp_request *request, const char *id)
{
    (void)snprintf(request->told, sizeof request->told, "done %s", id);
}

void gbx_mcp_name_question(gbx_mcp_request *request, gbx_view name)
{
}

void gbx_mcp_ask(gbx_mcp_request *request, const char *message, const char *schema,
                 const char *about,
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

    return strcmp(name, "traceparent") == 0 ? (gbx_view){trace, sizeof trace - 1}
                                            : (gbx_view){0};
}

/* No call is observed here. */
gbx_call_span *gbx_mcp_request_span(gbx_mcp_request *request)
{
    return NULL;
}

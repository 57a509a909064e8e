/* SPDX-License-Identifier: MIT */
/*
 * session_request - requests to a server: calls, from start to end; also the end of a
 * session, when all requests fail. A
 * call is in one list at a time. Its end is reported once, never from inside the
 * functions that begin or cancel it.
 */
#include "mcp/upstream/servers.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for the arguments, plus the message around them. */
#define MESSAGE_MAX (GBX_LINK_MESSAGE_MAX + GBX_KIB(64))

#define WORDS_MAX GBX_KIB(64) /* of an error */
#define DATA_MAX  GBX_KIB(1)  /* of the data of an error */

#define URL_NEEDED (-32042)

/* ---- is it alive? ------------------------------------------------------------ */

void gbx_session_check(gbx_session *s)
{
    if (s->phase != GBX_PHASE_READY || gbx_mcp_timer_is_set(&s->check_timer))
        return;
    if (gbx_session_ask(s, GBX_ASK_CHECK, s->is_modern ? "server/discover" : "ping",
                        ""))
        gbx_mcp_timer_set(&s->check_timer, gbx_timeout_ms(GBX_TIMEOUT_CHECK));
    else
        gbx_session_lose(s, "it does not read its input");
}

/* ---- logs -------------------------------------------------------------------- */

void gbx_server_log(const gbx_server *server, const char *line)
{
    if (server->all->hooks.log != NULL)
        server->all->hooks.log(server->all->hooks.user, server->config->name, line);
}

void gbx_session_log(gbx_session *s, const char *format, ...)
{
    char line[256];
    va_list args;

    if (!gbx_bucket_take(&s->logged, gbx_clock_now_ns()))
        return;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    gbx_server_log(s->server, line);
}

void gbx_blank_nuls(gbx_buf *text)
{
    for (size_t i = 0; i < text->len; i++)
        if (text->data[i] == '\0')
            text->data[i] = ' ';
}

/* ---- waiting and ending ------------------------------------------------------ */

/* Remove it from its list, if it is in one. */
static void unlink_call(gbx_upstream_call *call)
{
    gbx_server *server = call->target;
    gbx_session *session = call->session;

    if (call->list == NULL)
        return;
    TAILQ_REMOVE(call->list, call, entry);
    if (session != NULL) {
        call->session = NULL;
        server->in_flight--;
        call->all->in_flight--;
        session->call_count--;
        if (session->phase == GBX_PHASE_ENDING && session->call_count == 0)
            gbx_mcp_timer_fire(&session->start_timer);
    } else if (call->list != &call->all->ended) {
        server->waiting_count--;
    }
    call->list = NULL;
}

/* The authors take turns: many calls of one do not hold up the first of another. */
void gbx_call_enqueue(gbx_upstream_call *call)
{
    gbx_server *server = call->target;
    gbx_upstream_call *other;

    call->since_ns = gbx_clock_now_ns();
    call->rank = 0;
    TAILQ_FOREACH(other, &server->waiting, entry)
    {
        call->rank += other->author == call->author;
    }
    TAILQ_FOREACH(other, &server->waiting, entry)
    {
        if (other->rank > call->rank)
            break;
    }
    if (other != NULL)
        TAILQ_INSERT_BEFORE(other, call, entry);
    else
        TAILQ_INSERT_TAIL(&server->waiting, call, entry);
    call->list = &server->waiting;
    server->waiting_count++;
}

void gbx_question_forget(struct gbx_question *question)
{
    free(question->id);
    free(question->answer);
    *question = (struct gbx_question){0};
}

void gbx_questions_forget(gbx_questions *questions)
{
    for (size_t i = 0; i < GBX_COUNTOF(questions->list); i++)
        gbx_question_forget(&questions->list[i]);
    questions->open = 0;
}

/* As the last session has listed it, or NULL. */
static const gbx_tool *tool_of(const gbx_upstream_call *call)
{
    return call->tool != NULL && call->method == NULL
               ? gbx_tools_find(call->target->tools, call->tool)
               : NULL;
}

/* tool: as a session lists it, or NULL. Other methods than tools/call only read. */
static bool is_repeatable(const gbx_upstream_call *call, const gbx_tool *tool)
{
    return call->method != NULL || (tool != NULL && tool->is_repeatable);
}

static void forget_task(gbx_upstream_call *call)
{
    gbx_mcp_timer_cleanup(&call->poll);
    call->poll = (gbx_mcp_timer){0};
    free(call->task);
    call->task = NULL;
}

void gbx_call_withdraw(gbx_upstream_call *call, const char *reason)
{
    gbx_session *s = call->session;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf params = {.ceiling = GBX_KIB(16)};

    if (s != NULL && call->task != NULL) {
        gbx_json_put_text(&params, "taskId", call->task);
        (void)gbx_session_send_method(s, ++s->last_id, "tasks/cancel", call->task,
                                      gbx_rpc_string(&params));
    }
    if (s != NULL && call->id != GBX_NO_ID)
        gbx_session_cancel(s, call->id, reason);
}

/* What is said of the tool is according to the last session's list. */
void gbx_call_end(gbx_upstream_call *call, gbx_upstream_reply reply)
{
    const gbx_tool *tool = tool_of(call);
    GBX_CLEANUP(gbx_free) char *message = call->message; /* of the reply, perhaps */
    GBX_CLEANUP(gbx_free) gbx_upstream_call *ours = call->is_ours ? call : NULL;

    unlink_call(call);
    gbx_mcp_timer_cleanup(&call->timer);
    forget_task(call);
    if (call->rounds > 0)
        gbx_questions_forget(&call->questions);
    free(call->server_state);
    call->server_state = NULL;
    call->message = NULL;
    call->is_open = false;
    reply.is_reading = call->method != NULL || (tool != NULL && tool->is_reading);
    reply.is_repeatable = is_repeatable(call, tool);
    if (call->done != NULL)
        call->done(call->user, &reply); /* which may free the call */
}

void gbx_call_end_later(gbx_upstream_call *call, gbx_upstream_fault fault,
                        const char *message)
{
    unlink_call(call);
    gbx_mcp_timer_cleanup(&call->timer);
    forget_task(call);
    free(call->message);
    call->fault = fault;
    call->message = gbx_need(strdup(message));
    call->list = &call->all->ended;
    TAILQ_INSERT_TAIL(call->list, call, entry);
    gbx_upstreams_wake(call->all);
}

/* ---- answers ----------------------------------------------------------------- */

void gbx_call_answer(gbx_upstream_call *call, gbx_upstream_reply reply)
{
    gbx_session *session = call->session;
    gbx_upstream_fault fault = reply.fault;
    const gbx_tool *tool = fault == GBX_UPSTREAM_EXIT ? tool_of(call) : NULL;
    /* After a restart, the new list is consulted when the call is sent. */
    bool may_repeat =
        fault == GBX_UPSTREAM_EXIT && !call->was_retried && !call->all->is_closing &&
        (is_repeatable(call, tool) || (tool != NULL && reply.was_not_begun));

    unlink_call(call);
    if (call->task != NULL)
        gbx_mcp_timer_clear(&call->poll);
    gbx_upstreams_wake(call->all);
    if (may_repeat) {
        call->was_retried = true;
        call->was_sent = !reply.was_not_begun;
        forget_task(call);
        gbx_call_enqueue(call);
        return;
    }
    if (fault == GBX_UPSTREAM_OK || fault == GBX_UPSTREAM_REFUSED ||
        fault == GBX_UPSTREAM_INPUT) {
        call->target->failures = 0;
        call->target->fault[0] = 0;
    }
    /* Check whether it is slow or hangs. A session with other work is not checked. */
    if (fault == GBX_UPSTREAM_TIMEOUT && session != NULL && session->call_count == 0)
        gbx_session_check(session);
    gbx_call_end(call, reply);
}

/* Append the error's data without values of secrets: redacted first, then cut. Nothing
 * if that fails. */
static void put_data(const gbx_policy *secrets, gbx_view data, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf text = {.ceiling = data.len + 1, .is_secret = true};
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf clean = {.ceiling = gbx_secrets_ceiling(data.len)};

    if (gbx_view_kind(data) == '"')
        (void)gbx_view_append_text(data, &text);
    else if (gbx_view_kind(data) != 0 && gbx_view_kind(data) != 'n')
        (void)gbx_json_append_line(&text, data.at, data.len);
    if (!text.failed &&
        gbx_secrets_append_clean(secrets, GBX_SECRET_LINE,
                                 (gbx_span){text.data, text.len}, &clean))
        (void)gbx_utf8_append_ends(to, clean.data, clean.len, DATA_MAX);
}

/* Append message, code and data of the error: often the latter two say more. */
static void put_refusal(const gbx_policy *secrets, gbx_view error, int code,
                        gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf words = {.ceiling = WORDS_MAX, .is_secret = true};
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf data = {.ceiling = DATA_MAX + GBX_KIB(1), .is_secret = true};
    bool has_words;

    (void)gbx_view_append_text(gbx_rpc_error_message(error), &words);
    gbx_blank_nuls(&words);
    put_data(secrets, gbx_view_member(error, "data"), &data);
    has_words = !words.failed && words.len > 0;
    if (has_words)
        (void)gbx_buf_append(to, words.data, words.len);
    else if (data.len > 0)
        (void)gbx_buf_append(to, data.data, data.len);
    else
        (void)gbx_buf_puts(to, "no reason was given");
    (void)gbx_buf_printf(to, " (error %d)", code);
    if (has_words && data.len > 0)
        (void)gbx_buf_printf(to, ": %.*s", (int)data.len, (const char *)data.data);
    (void)gbx_buf_append(to, "", 1);
}

/* An error need not fit, and some write null for nothing. */
static bool fits_schema(const gbx_upstream_call *call, gbx_view is_error,
                        gbx_view structured, char *why, size_t size)
{
    const gbx_tools *tools = call->session->tools;
    const gbx_tool *tool =
        call->method == NULL ? gbx_tools_find(tools, call->tool) : NULL;

    char place[256];

    if (tool == NULL || structured.at == NULL || gbx_view_kind(structured) == 'n' ||
        gbx_view_is_true(is_error) ||
        gbx_schema_check(gbx_tools_member(tools, tool, "outputSchema"), structured,
                         false, place, sizeof place))
        return true;
    (void)snprintf(why, size,
                   "the structuredContent of the server '%.64s' does not fit the "
                   "outputSchema of its tool '%.128s': %s",
                   call->target->config->name, call->tool, place);
    return false;
}

/* 2025-11-25: such a tool can be called in no other way. */
static bool needs_task(const gbx_session *s, const gbx_tool *tool)
{
    gbx_view execution;

    if (tool == NULL || s->is_modern || (s->facts.has & GBX_HAS_TASKS) == 0)
        return false;
    execution = gbx_tools_member(s->tools, tool, "execution");
    return gbx_view_is_text(gbx_view_member(execution, "taskSupport"), "required");
}

/* Is the answer that of a task, and not the call's own? */
static bool is_of_task(const gbx_upstream_call *call, gbx_view type, gbx_view task)
{
    const gbx_session *s = call->session;

    if (call->task != NULL || call->method != NULL)
        return call->task != NULL && !call->is_task_over;
    return s->is_modern
               ? (s->facts.has & GBX_HAS_TASKS) != 0 && gbx_view_is_text(type, "task")
               : gbx_view_kind(task) == '{' &&
                     needs_task(s, gbx_tools_find(s->tools, call->tool));
}

static bool answer_result(gbx_upstream_call *call, gbx_view result)
{
    enum { TYPE, CONTENT, STRUCTURED, TASK, IS_ERROR, MEMBERS };
    static const char *const names[] = {"resultType", "content", "structuredContent",
                                        "task", "isError"};
    gbx_upstream_reply reply = {.fault = GBX_UPSTREAM_PROTOCOL};
    gbx_view m[MEMBERS];
    char why[640];
    char content;

    gbx_view_members(result, names, MEMBERS, m);
    if (is_of_task(call, m[TYPE], m[TASK]) ||
        (call->session->is_modern && gbx_view_is_text(m[TYPE], "input_required")))
        return false;
    content = gbx_view_kind(m[CONTENT]);
    if (gbx_view_kind(result) != '{')
        reply.message = "the result is not an object";
    else if (gbx_view_is_text(m[TYPE], "task") ||
             (gbx_view_kind(m[TASK]) == '{' && gbx_view_count(m[CONTENT]) == 0 &&
              m[STRUCTURED].at == NULL))
        reply.message = "it answers with a task, though none was asked for: whether "
                        "and how that ends is not known";
    else if (m[TYPE].at != NULL && !gbx_view_is_text(m[TYPE], "complete"))
        reply.message = "the result is of an unknown type";
    else if (content != 0 && content != 'n' && content != '[')
        reply.message = "the content of the result is not a list";
    else if (!fits_schema(call, m[IS_ERROR], m[STRUCTURED], why, sizeof why))
        reply.message = why;
    else
        reply = (gbx_upstream_reply){.message = "", .result = result};
    gbx_call_answer(call, reply);
    return true;
}

bool gbx_call_on_answer(gbx_upstream_call *call, const gbx_rpc_message *message)
{
    gbx_view error = message->payload;
    gbx_upstream_reply reply = {.fault = GBX_UPSTREAM_REFUSED,
                                .code = gbx_rpc_error_code(error)};
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf text = {.ceiling = WORDS_MAX + DATA_MAX + GBX_KIB(2), .is_secret = true};
    unsigned needed;

    if (message->kind == GBX_RPC_RESULT)
        return answer_result(call, message->payload);
    if (reply.code == GBX_RPC_MISSING_CAPABILITY || reply.code == URL_NEEDED)
        reply.fault = GBX_UPSTREAM_INPUT;
    put_refusal(call->all->yard.secrets, error, reply.code, &text);
    reply.message = text.failed ? "no reason was given" : (const char *)text.data;
    if (reply.code == GBX_RPC_MISSING_CAPABILITY) {
        needed = gbx_mcp_asking_read(
            gbx_view_member(gbx_view_member(error, "data"), "requiredCapabilities"));
        if ((needed & ~gbx_upstream_may_ask(call->server)) != 0)
            reply.message =
                "it needs what the configuration does not allow it: "
                "\"sampling\" or \"roots\" under \"glovebox\" of this server";
        else
            reply.missing = needed & ~call->can_ask; /* the client lacks it */
    }
    gbx_call_answer(call, reply);
    return true;
}

/* ---- time and progress --------------------------------------------------------- */

static uint32_t timeout_of(const gbx_upstream_call *call)
{
    return call->timeout_ms != 0 ? call->timeout_ms : call->target->config->timeout_ms;
}

static void on_timeout(void *user)
{
    gbx_upstream_call *call = user;
    int64_t ms = (gbx_clock_now_ns() - call->armed_ns) / GBX_NS_PER_MS;
    char message[200];
    gbx_upstream_reply reply = {.fault = GBX_UPSTREAM_TIMEOUT,
                                .message = message,
                                .was_not_begun = !call->was_sent};

    (void)snprintf(message, sizeof message, "%s %" PRIi64 " ms%s",
                   call->was_sent ? "no answer after" : "it could not be sent within",
                   call->was_extended ? ms : (int64_t)timeout_of(call),
                   call->timeout_ms != 0 ? " (opts.timeoutMs)"
                                         : " (timeoutMs of the server's configuration; "
                                           "code gives a call more by opts.timeoutMs)");
    gbx_call_withdraw(call, "the call has taken too long");
    gbx_call_answer(call, reply);
}

/* Time in our own queue does not count: that is not the server's fault. */
void gbx_call_arm(gbx_upstream_call *call)
{
    if (call->armed_ns != 0 || call->tool == NULL)
        return;
    call->armed_ns = gbx_clock_now_ns();
    gbx_mcp_timer_init(&call->timer, call->all->loop, on_timeout, call);
    gbx_mcp_timer_set(&call->timer, timeout_of(call));
}

/* Until the call has had all the time that progress can give it, or the code has; while it
 * is held nothing of it passes. */
static int64_t left_ms(const gbx_upstream_call *call)
{
    int64_t times = call->timeout_ms != 0 ? 1 : GBX_UPSTREAM_PROGRESS_TIMES;
    int64_t end_ns = call->armed_ns + times * timeout_of(call) * GBX_NS_PER_MS;

    return (end_ns - gbx_clock_now_ns()) / GBX_NS_PER_MS;
}

static void set_timer(gbx_upstream_call *call, int64_t left)
{
    int64_t ms = timeout_of(call);

    gbx_mcp_timer_set(&call->timer, (uint32_t)(left <= 0 ? 1 : left < ms ? left : ms));
}

void gbx_call_hold(gbx_upstream_call *call)
{
    call->was_retried = true;
    if (call->held_ns == 0)
        call->held_ns = gbx_clock_now_ns();
    gbx_mcp_timer_clear(&call->timer);
}

void gbx_call_release(gbx_upstream_call *call)
{
    if (call->held_ns == 0 || call->questions.open > 0)
        return;
    call->armed_ns += gbx_clock_now_ns() - call->held_ns;
    call->held_ns = 0;
    set_timer(call, left_ms(call));
}

/* A progress report restarts the time of a call, within a limit. A timeout that the
 * code has set itself is never extended. */
static void extend(gbx_upstream_call *call)
{
    int64_t left = left_ms(call);

    if (call->timeout_ms != 0 || left <= 0 || call->held_ns != 0)
        return;
    call->was_extended = true;
    set_timer(call, left);
}

void gbx_call_on_task_progress(gbx_upstream_call *call, gbx_view message)
{
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf text = {.ceiling = GBX_KIB(64), .is_secret = true};

    extend(call);
    if (call->progress != NULL && gbx_view_kind(message) == '"' && message.len > 2 &&
        gbx_view_append_text(message, &text))
        call->progress(call->user, (const char *)text.data, text.len);
}

void gbx_call_on_progress(gbx_upstream_call *call, gbx_view params)
{
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf text = {.ceiling = GBX_KIB(64), .is_secret = true};
    gbx_view message = gbx_view_member(params, "message");
    gbx_view progress = gbx_view_member(params, "progress");
    gbx_view total = gbx_view_member(params, "total");
    bool has_message = gbx_view_kind(message) == '"' && message.len > 2;

    if (!has_message && gbx_view_kind(progress) != '0')
        return;
    if (has_message) {
        (void)gbx_view_append_text(message, &text);
    } else {
        (void)gbx_buf_append(&text, progress.at, progress.len);
        if (gbx_view_kind(total) == '0') { /* "3/10" */
            (void)gbx_buf_puts(&text, "/");
            (void)gbx_buf_append(&text, total.at, total.len);
        }
    }
    if (text.failed)
        return;
    extend(call);
    if (call->progress != NULL)
        call->progress(call->user, (const char *)text.data, text.len);
}

/* ---- in flight --------------------------------------------------------------- */

/* The answers to a server's questions, and its state, as members of the parameters. Names
 * and state are the server's: byte for byte. */
static void put_answers(const gbx_upstream_call *call, gbx_buf *to)
{
    bool has_some = false;

    for (size_t i = 0; i < GBX_COUNTOF(call->questions.list); i++) {
        const struct gbx_question *q = &call->questions.list[i];

        if (q->number == 0)
            continue;
        if (!has_some)
            gbx_json_put_open(to, "inputResponses", '{');
        has_some = true;
        gbx_json_put_key(to, NULL);
        (void)gbx_buf_puts(to, q->id);
        (void)gbx_buf_puts(to, ":");
        (void)gbx_buf_puts(to, q->answer);
    }
    if (has_some)
        (void)gbx_buf_puts(to, "}");
    if (call->server_state != NULL) {
        gbx_json_put_key(to, "requestState");
        (void)gbx_buf_puts(to, call->server_state);
    }
}

static void put_params(const gbx_upstream_call *call, const gbx_session *session,
                       const gbx_tool *tool, gbx_buf *to)
{
    if (call->task != NULL) {
        gbx_json_put_text(to, "taskId", call->task);
    } else if (call->method != NULL) {
        if (call->args.len > 2)
            gbx_json_put_json(to, NULL, call->args.at + 1, call->args.len - 2);
    } else {
        gbx_json_put_text(to, "name", call->tool);
        gbx_json_put_json(to, "arguments", call->args.at, call->args.len);
        if (needs_task(session, tool))
            gbx_json_put_json(to, "task", "{}", 2);
    }
}

/* With a new id. tool: NULL if the session does not list it any more. */
static bool send_request(gbx_upstream_call *call, gbx_session *session,
                         const gbx_tool *tool)
{
    gbx_link_message about = {.id = ++session->last_id,
                              .method = call->task != NULL     ? call->task_method
                                        : call->method != NULL ? call->method
                                                               : "tools/call",
                              .name = call->task != NULL ? call->task
                                      : *call->tool != 0 ? call->tool
                                                         : NULL,
                              .args = call->args,
                              .is_again = call->was_retried,
                              .is_repeatable = is_repeatable(call, tool)};
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf text = {.ceiling = MESSAGE_MAX, .is_secret = true};

    call->id = about.id;
    memcpy(about.traceparent, call->traceparent, sizeof about.traceparent);
    if (tool != NULL && call->task == NULL && !session->is_process)
        about.schema = gbx_tools_member(session->tools, tool, "inputSchema");
    gbx_rpc_begin_request(&text, call->id, about.method);
    put_params(call, session, tool, &text);
    if (call->rounds > 0)
        put_answers(call, &text);
    gbx_session_put_meta(session, call, &text);
    gbx_rpc_end(&text);
    if (!gbx_session_send(session, &text, about))
        return false;
    call->end = session->sent_bytes;
    return true;
}

void gbx_call_send(gbx_upstream_call *call, gbx_session *session, const gbx_tool *tool)
{
    unlink_call(call);
    gbx_call_arm(call);
    if (!send_request(call, session, tool)) {
        gbx_call_end_later(call, GBX_UPSTREAM_BUSY,
                           "the server does not read its input");
        return;
    }
    call->session = session;
    call->was_sent = true;
    call->target->in_flight++;
    call->all->in_flight++;
    session->call_count++;
    call->list = &session->calls;
    TAILQ_INSERT_TAIL(call->list, call, entry);
    if (session->questions.open > 0)
        gbx_call_hold(call);
}

void gbx_call_send_again(gbx_upstream_call *call)
{
    gbx_session *session = call->session;

    if (!send_request(call, session, gbx_tools_find(session->tools, call->tool))) {
        gbx_call_end_later(call, GBX_UPSTREAM_EXIT,
                           "the server does not read the answers to its questions");
        return;
    }
    gbx_questions_forget(&call->questions);
    gbx_call_release(call);
}

/* ---- how a call fails -------------------------------------------------------- */

const char *gbx_upstream_fault_name(gbx_upstream_fault fault)
{
    static const char *const names[] = {
        [GBX_UPSTREAM_OK] = "OK",
        [GBX_UPSTREAM_UNKNOWN_TOOL] = "NOT_FOUND",
        [GBX_UPSTREAM_START] = "UPSTREAM_START",
        [GBX_UPSTREAM_EXIT] = "UPSTREAM_EXIT",
        [GBX_UPSTREAM_TIMEOUT] = "UPSTREAM_TIMEOUT",
        [GBX_UPSTREAM_CANCELLED] = "ABORTED",
        [GBX_UPSTREAM_OPEN] = "UPSTREAM_OPEN",
        [GBX_UPSTREAM_PROTOCOL] = "UPSTREAM_PROTOCOL",
        [GBX_UPSTREAM_REFUSED] = "UPSTREAM_REFUSED",
        [GBX_UPSTREAM_BUSY] = "UPSTREAM_BUSY",
        [GBX_UPSTREAM_INPUT] = "UPSTREAM_INPUT",
        [GBX_UPSTREAM_CHANGED] = "UPSTREAM_CHANGED",
    };

    return names[fault];
}

bool gbx_upstream_is_retryable(const gbx_upstream_reply *reply)
{
    gbx_upstream_fault fault = reply->fault;

    if (fault == GBX_UPSTREAM_EXIT || fault == GBX_UPSTREAM_TIMEOUT ||
        (fault == GBX_UPSTREAM_REFUSED && reply->is_passing))
        return reply->was_not_begun || reply->is_repeatable;
    /* Nothing was sent. */
    if (reply->remedy != GBX_REMEDY_NONE)
        return false;
    return fault == GBX_UPSTREAM_START || fault == GBX_UPSTREAM_OPEN ||
           fault == GBX_UPSTREAM_BUSY || fault == GBX_UPSTREAM_CHANGED;
}

bool gbx_upstream_may_have_acted(const gbx_upstream_reply *reply)
{
    gbx_upstream_fault fault = reply->fault;

    return !reply->was_not_begun &&
           (fault == GBX_UPSTREAM_EXIT || fault == GBX_UPSTREAM_TIMEOUT ||
            fault == GBX_UPSTREAM_CANCELLED || fault == GBX_UPSTREAM_PROTOCOL ||
            (fault == GBX_UPSTREAM_REFUSED && reply->is_passing));
}

/* ---- the end ----------------------------------------------------------------- */

static void stop_timers(gbx_session *s)
{
    gbx_mcp_timer_clear(&s->start_timer);
    gbx_mcp_timer_clear(&s->list_timer);
    gbx_mcp_timer_clear(&s->page_timer);
    gbx_mcp_timer_clear(&s->listen_timer);
    gbx_mcp_timer_clear(&s->check_timer);
}

void gbx_call_fail(gbx_upstream_call *call, gbx_upstream_fault fault, const char *why,
                   bool was_not_begun)
{
    gbx_call_answer(call, (gbx_upstream_reply){.fault = fault,
                                               .message = why,
                                               .was_not_begun = was_not_begun});
}

void gbx_session_end(gbx_session *s, const char *why)
{
    if (s->phase == GBX_PHASE_ENDING || s->phase == GBX_PHASE_LOST)
        return;
    if (s->phase != GBX_PHASE_READY || s->call_count == 0) {
        gbx_session_lose(s, why);
        return;
    }
    s->phase = GBX_PHASE_ENDING;
    stop_timers(s);
    s->hooks->ending(s->server, s, why);
}

void gbx_session_lose(gbx_session *s, const char *why)
{
    bool was_ending = s->phase == GBX_PHASE_ENDING;
    gbx_upstream_call *call;

    if (s->phase == GBX_PHASE_LOST)
        return;
    s->phase = GBX_PHASE_LOST;
    stop_timers(s);
    if (s->link != NULL)
        s->link->ops->leave(s->link, !s->is_deaf);
    s->link = NULL;
    memset(s->asked, 0, sizeof s->asked);
    while ((call = TAILQ_FIRST(&s->calls)) != NULL)
        gbx_call_fail(call, GBX_UPSTREAM_EXIT, why, false);
    if (!was_ending)
        s->hooks->ending(s->server, s, why);
    s->hooks->lost(s->server, s, why);
}

/* SPDX-License-Identifier: MIT */
/*
 * elicitation - questions to a person or to the client, from the handler's call to the
 * answer.
 *
 * Answers are delivered in a later turn of the loop. Every question gets exactly one:
 * the person's, NOBODY if the client cannot ask, LATE after the time limit, or ENDED if
 * its request ends first.
 */
#include "mcp/server/server_state.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARAMS_MAX ((size_t)1024 * 1024)
#define CODE_MAX   ((size_t)64 * 1024) /* longer code is not shown on the page */

/* ---- asking ------------------------------------------------------------------ */

/* params: its members, without braces; moved in if the client can be asked. */
static gbx_mcp_ask_entry *ask_by(
    gbx_mcp_request *request, gbx_mcp_asking what, gbx_buf *params,
    void (*done)(void *user, gbx_mcp_answer answer, gbx_view content), void *user)
{
    gbx_mcp_ask_entry *ask = gbx_need(calloc(1, sizeof *ask));
    bool can =
        (gbx_mcp_can_ask(request) & what) != 0 && request->ask_count < GBX_MCP_ASKS_MAX;

    *ask = (gbx_mcp_ask_entry){.request = request,
                               .what = what,
                               .number = ++request->asked,
                               .params = can ? gbx_buf_take_string(params, NULL) : NULL,
                               .done = done,
                               .user = user};
    (void)snprintf(ask->key, sizeof ask->key, "ask-%u", ask->number);
    TAILQ_INSERT_TAIL(&request->server->asks, ask, entry);
    request->ask_count++;
    if (request->is_cancelled)
        gbx_mcp_ask_end(ask, GBX_MCP_ANSWER_ENDED);
    else if (ask->params == NULL)
        gbx_mcp_ask_end(ask, GBX_MCP_ANSWER_NOBODY);
    gbx_mcp_settle_soon(request->server);
    return ask;
}

/* Show it on the page, with the code that the person is asked about. */
static void show(gbx_mcp_ask_entry *ask, const char *about)
{
    gbx_mcp_server *server = ask->request->server;
    gbx_view arguments = gbx_view_member(ask->request->params, "arguments");
    gbx_view code = gbx_view_member(arguments, "code");
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = 2 * PARAMS_MAX};

    if (server->page.show == NULL || ask->is_answered)
        return;
    (void)gbx_buf_printf(&to, "{%s", ask->params);
    if (gbx_view_kind(code) == '"' && code.len <= CODE_MAX)
        gbx_json_put_json(&to, "code", code.at, code.len);
    (void)gbx_buf_printf(&to, "%s%s}", about != NULL ? "," : "",
                         about != NULL ? about : "");
    if (!gbx_buf_append(&to, "", 1))
        return;
    ask->shown = ++server->last_shown;
    server->page.show(server->page.user, ask->shown, (const char *)to.data);
}

void gbx_mcp_ask(gbx_mcp_request *request, const char *message, const char *schema,
                 const char *about,
                 void (*done)(void *user, gbx_mcp_answer answer, gbx_view content),
                 void *user)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = PARAMS_MAX};

    if (request->era.is_modern)
        gbx_json_put_text(&to, "mode", "form");
    gbx_json_put_text(&to, "message", message);
    gbx_json_put_json(&to, "requestedSchema", schema, strlen(schema));
    show(ask_by(request, GBX_MCP_ASK_FORM, &to, done, user), about);
}

static gbx_mcp_answer read_result(gbx_mcp_ask_entry *ask, gbx_view result);
static void take_answer(gbx_mcp_ask_entry *ask, gbx_mcp_answer how);

/* The client knows what is asked for, and has sent the answer with its request. */
static void take_given(gbx_mcp_ask_entry *ask)
{
    const gbx_mcp_request *request = ask->request;
    gbx_view given =
        gbx_view_member(gbx_view_member(request->params, "inputResponses"), ask->key);
    gbx_mcp_answer how;

    if (!request->era.is_modern || request->round > 0 || given.at == NULL ||
        ask->is_answered || ask->what == GBX_MCP_ASK_URL)
        return; /* a page must have been shown */
    how = read_result(ask, given);
    if (how != GBX_MCP_ANSWER_NOBODY)
        take_answer(ask, how);
}

void gbx_mcp_name_question(gbx_mcp_request *request, gbx_view name)
{
    gbx_mcp_ask_entry *last = TAILQ_LAST(&request->server->asks, gbx_mcp_ask_list);
    const gbx_mcp_ask_entry *ask;
    char key[GBX_MCP_KEY_SIZE];

    if (last == NULL || last->request != request ||
        !gbx_rpc_copy_text(name, key, sizeof key) || strncmp(key, "ask-", 4) == 0 ||
        key[strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789_.-")] != '\0' ||
        key[0] == '\0')
        return;
    TAILQ_FOREACH(ask, &request->server->asks, entry)
    if (ask->request == request && strcmp(ask->key, key) == 0)
        return; /* of another server */
    memcpy(last->key, key, sizeof key);
    take_given(last);
}

void gbx_mcp_ask_url(gbx_mcp_request *request, const char *message, const char *url,
                     const char *id,
                     void (*done)(void *user, gbx_mcp_answer answer, gbx_view content),
                     void *user)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = PARAMS_MAX};

    gbx_json_put_text(&to, "mode", "url");
    gbx_json_put_text(&to, "message", message);
    gbx_json_put_text(&to, "url", url);
    gbx_json_put_text(&to, "elicitationId", id);
    (void)ask_by(request, GBX_MCP_ASK_URL, &to, done, user);
}

void gbx_mcp_ask_client(
    gbx_mcp_request *request, gbx_mcp_asking what, const char *params,
    void (*done)(void *user, gbx_mcp_answer answer, gbx_view content), void *user)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = PARAMS_MAX};

    (void)gbx_buf_puts(&to, params);
    (void)ask_by(request, what, &to, done, user);
}

/* 2026-07-28 has no such message. */
void gbx_mcp_url_is_done(gbx_mcp_request *request, const char *id)
{
    gbx_buf to = {.ceiling = GBX_KIB(1)};

    if (request->era.is_modern || request->is_cancelled)
        return;
    gbx_rpc_begin_notification(&to, "notifications/elicitation/complete");
    gbx_json_put_text(&to, "elicitationId", id);
    gbx_rpc_end(&to);
    gbx_mcp_send(request->server, &to);
}

bool gbx_mcp_is_asking(const gbx_mcp_request *request)
{
    return request->ask_count > 0;
}

/* True if it was sent and is not answered yet. */
static bool is_out(const gbx_mcp_ask_entry *ask)
{
    return ask->request != NULL && ask->is_sent && !ask->is_answered;
}

/* ---- answers ----------------------------------------------------------------- */

static void take_answer(gbx_mcp_ask_entry *ask, gbx_mcp_answer how)
{
    ask->is_answered = true;
    ask->answer = how;
    gbx_mcp_settle_soon(ask->request->server);
}

/* Keep the content of {action, content}, or the whole result of another kind; anything else
 * counts as NOBODY. */
static gbx_mcp_answer read_result(gbx_mcp_ask_entry *ask, gbx_view result)
{
    static const char *const actions[] = {[GBX_MCP_ANSWER_ACCEPT] = "accept",
                                          [GBX_MCP_ANSWER_DECLINE] = "decline",
                                          [GBX_MCP_ANSWER_CANCEL] = "cancel"};
    gbx_view action = gbx_view_member(result, "action");
    gbx_view content = gbx_view_member(result, "content");
    gbx_mcp_answer how = GBX_MCP_ANSWER_NOBODY;

    if ((ask->what & GBX_MCP_ASK_PERSON) == 0) {
        content = result;
        how = gbx_view_kind(result) == '{' ? GBX_MCP_ANSWER_ACCEPT : how;
    }
    for (size_t i = 0;
         i < GBX_COUNTOF(actions) && (ask->what & GBX_MCP_ASK_PERSON) != 0; i++)
        if (gbx_view_is_text(action, actions[i]))
            how = (gbx_mcp_answer)i;
    if (how == GBX_MCP_ANSWER_ACCEPT && gbx_view_kind(content) == '{')
        ask->content = gbx_need(strndup(content.at, content.len));
    return how;
}

/* ---- the page ------------------------------------------------------------------ */

void gbx_mcp_server_set_page(gbx_mcp_server *server, const gbx_mcp_page *page)
{
    server->page = page != NULL ? *page : (gbx_mcp_page){0};
}

void gbx_mcp_page_answer(gbx_mcp_server *server, uint64_t number, gbx_view result)
{
    gbx_mcp_ask_entry *ask;

    TAILQ_FOREACH(ask, &server->asks, entry)
    {
        if (ask->shown == 0 || ask->shown != number)
            continue;
        if (ask->request == NULL || ask->is_answered)
            continue;
        gbx_mcp_ask_end(ask, read_result(ask, result)); /* also at the client */
        return;
    }
}

void gbx_mcp_page_left(gbx_mcp_server *server)
{
    gbx_mcp_ask_entry *ask;

    TAILQ_FOREACH(ask, &server->asks, entry)
    if (ask->is_local && ask->request != NULL && !ask->is_answered)
        gbx_mcp_ask_end(ask, GBX_MCP_ANSWER_NOBODY);
}

/* ---- legacy clients ---------------------------------------------------------- */

static void send_legacy(gbx_mcp_ask_entry *ask)
{
    gbx_mcp_server *server = ask->request->server;
    gbx_buf to = {.ceiling = GBX_MCP_MESSAGE_MAX};

    ask->is_sent = true;
    ask->rpc_id = ++server->last_rpc_id;
    ask->until_ns = gbx_clock_now_ns() + (int64_t)server->ask_ms * GBX_NS_PER_MS;
    gbx_rpc_begin_request(&to, ask->rpc_id, gbx_mcp_asking_method(ask->what));
    (void)gbx_buf_puts(&to, ask->params);
    gbx_rpc_end(&to);
    gbx_mcp_send(server, &to);
}

void gbx_mcp_ask_response(gbx_mcp_server *server, const gbx_rpc_message *message)
{
    gbx_mcp_ask_entry *ask;
    int64_t id;

    if (!gbx_rpc_integer(message->id, &id) || id <= 0)
        return;
    TAILQ_FOREACH(ask, &server->asks, entry)
    {
        if (!is_out(ask) || ask->rpc_id != id)
            continue;
        if (message->kind == GBX_RPC_RESULT)
            take_answer(ask, read_result(ask, message->payload));
        else
            take_answer(ask, GBX_MCP_ANSWER_NOBODY);
        return;
    }
}

/* ---- modern clients ---------------------------------------------------------
 *
 * The client's request ends as input_required with a random handle as its state, and
 * the client returns with the answers and that handle. The work stays suspended here;
 * nothing is run again. A handle is valid for one return of one request, on the
 * connection it was given to, for a limited time.
 */

/* Suspended requests: half of the scripts that can run at once
 * (cmd_mcp.c), since each request holds one. */
#define SUSPENDED_MAX 128

/* Cancel the oldest suspended requests beyond the limits of number and bytes: their
 * clients are the least likely to return. */
static void make_room(const gbx_mcp_request *request)
{
    gbx_mcp_request *oldest;
    gbx_mcp_request *r;
    size_t count, bytes;

    do {
        oldest = NULL;
        count = 0;
        bytes = request->text_len;
        LIST_FOREACH(r, &request->server->requests, entry)
        {
            if (!r->is_parked || r->is_cancelled)
                continue;
            count++;
            bytes += r->text_len;
            if (oldest == NULL || r->retry_until_ns < oldest->retry_until_ns)
                oldest = r;
        }
        if (oldest == NULL || (count < SUSPENDED_MAX && bytes <= GBX_MCP_MESSAGE_MAX))
            return;
        gbx_mcp_request_cancel(oldest);
    } while (true);
}

static void append_questions(gbx_buf *to, gbx_mcp_request *request)
{
    gbx_mcp_ask_entry *ask;

    gbx_json_put_open(to, "inputRequests", '{');
    TAILQ_FOREACH(ask, &request->server->asks, entry)
    {
        if (ask->request != request || ask->is_answered ||
            (request->era.can_ask & ask->what) == 0)
            continue; /* the page asks it, or nobody */
        ask->is_sent = true;
        gbx_json_put_open(to, ask->key, '{');
        gbx_json_put_text(to, "method", gbx_mcp_asking_method(ask->what));
        gbx_json_put_open(to, "params", '{');
        (void)gbx_buf_puts(to, ask->params);
        (void)gbx_buf_puts(to, "}}");
    }
    (void)gbx_buf_puts(to, "}");
}

/* Answer the client's request with the open questions. */
static void ask_by_retry(gbx_mcp_request *request)
{
    gbx_buf to;

    gbx_hex_random(request->handle, sizeof request->handle);
    make_room(request);
    request->round++;
    request->retry_until_ns =
        gbx_clock_now_ns() + (int64_t)request->server->ask_ms * GBX_NS_PER_MS;
    gbx_mcp_reply_begin(&to, request, "input_required", NULL);
    append_questions(&to, request);
    gbx_json_put_text(&to, "requestState", request->handle);
    request->is_parked = true;
    request->server->request_bytes -= request->text_len;
    gbx_mcp_reply_interim(request, &to);
}

static bool has_member(gbx_view object, gbx_view wanted, gbx_view value)
{
    size_t cursor = 0;
    gbx_view name, found;

    while (gbx_view_next(object, &cursor, &name, &found))
        if (name.len == wanted.len && memcmp(name.at, wanted.at, name.len) == 0)
            return found.len == value.len && memcmp(found.at, value.at, value.len) == 0;
    return false;
}

/* True if params has the parameters of `others`. Values are compared as text: a client
 * writes the same value in the same way twice. */
static bool has_all_of(gbx_view params, gbx_view others)
{
    size_t cursor = 0;
    gbx_view name, value;

    while (gbx_view_next(others, &cursor, &name, &value)) {
        bool is_of_the_retry = gbx_view_is_text(name, "_meta") ||
                               gbx_view_is_text(name, "inputResponses") ||
                               gbx_view_is_text(name, "requestState");

        if (!is_of_the_retry && !has_member(params, name, value))
            return false;
    }
    return true;
}

/* The suspended request with that handle, if params and time allow to resume it. */
static gbx_mcp_request *find_suspended(gbx_mcp_server *server, gbx_view handle,
                                       const gbx_mcp_method *method, gbx_view params)
{
    gbx_mcp_request *r;

    LIST_FOREACH(r, &server->requests, entry)
    if (r->round > 0 && r->id_len == 0 && !r->is_cancelled &&
        gbx_view_is_text(handle, r->handle))
        return r->method == method && gbx_clock_now_ns() < r->retry_until_ns &&
                       has_all_of(r->params, params) && has_all_of(params, r->params)
                   ? r
                   : NULL;
    return NULL;
}

/* Unanswered questions are asked again. */
static void take_answers(gbx_mcp_request *request, gbx_view responses)
{
    gbx_mcp_ask_entry *ask;

    TAILQ_FOREACH(ask, &request->server->asks, entry)
    {
        gbx_view response;

        if (ask->request != request || ask->is_local || !is_out(ask))
            continue;
        response = gbx_view_member(responses, ask->key);
        if (response.at != NULL)
            take_answer(ask, read_result(ask, response));
        else
            ask->is_sent = false;
    }
}

bool gbx_mcp_retry_take(gbx_mcp_server *server, const gbx_mcp_method *method,
                        const gbx_rpc_message *message, const gbx_mcp_era *era)
{
    gbx_view params = message->payload;
    gbx_view text = gbx_view_member(params, "requestState");
    gbx_view responses = gbx_view_member(params, "inputResponses");
    gbx_mcp_request *request;

    if (text.at == NULL)
        return false; /* an ordinary request */
    if (responses.at != NULL && gbx_view_kind(responses) != '{') {
        gbx_mcp_refuse(server, message->id, GBX_RPC_INVALID_PARAMS,
                       "inputResponses must be an object", NULL);
        return true;
    }
    request = find_suspended(server, text, method, params);
    if (request == NULL) {
        gbx_mcp_refuse(server, message->id, GBX_RPC_INVALID_PARAMS,
                       "requestState is not valid: it has expired, was used, "
                       "or is not of this request",
                       NULL);
        return true;
    }
    request->is_parked = false;
    server->request_bytes += request->text_len;
    gbx_mcp_request_bind(request, message->id, gbx_view_member(params, "_meta"));
    request->era = *era;
    if (request->is_finished) {
        gbx_mcp_reply_outcome(request);
        return true;
    }
    take_answers(request, responses);
    gbx_mcp_settle_soon(server);
    return true;
}

/* ---- the turn of the loop ---------------------------------------------------- */

static void send_open(gbx_mcp_server *server)
{
    gbx_mcp_ask_entry *ask;

    TAILQ_FOREACH(ask, &server->asks, entry)
    {
        const gbx_mcp_request *request = ask->request;

        if (request == NULL || ask->is_sent || ask->is_answered)
            continue;
        ask->is_local =
            ask->shown > 0 && (request->era.can_ask & GBX_MCP_ASK_FORM) == 0;
        if (ask->is_local ? (gbx_mcp_can_ask(request) & GBX_MCP_ASK_FORM) == 0
                          : (request->era.can_ask & ask->what) == 0) {
            /* The page was left, or the client has come back with other capabilities. */
            gbx_mcp_ask_end(ask, GBX_MCP_ANSWER_NOBODY);
        } else if (ask->is_local) { /* wait for the page */
            ask->is_sent = true;
            ask->until_ns =
                gbx_clock_now_ns() + (int64_t)server->ask_ms * GBX_NS_PER_MS;
        } else if (!request->era.is_modern) {
            send_legacy(ask);
        } else if (request->id_len > 0) {
            ask_by_retry(ask->request); /* with all of its questions */
        }
    }
}

void gbx_mcp_asks_settle(gbx_mcp_server *server)
{
    gbx_mcp_ask_entry *ask = TAILQ_FIRST(&server->asks);

    while (ask != NULL) {
        gbx_view content = {0};

        if (!ask->is_answered) {
            ask = TAILQ_NEXT(ask, entry);
            continue;
        }
        TAILQ_REMOVE(&server->asks, ask, entry);
        if (ask->shown > 0 && server->page.hide != NULL)
            server->page.hide(server->page.user, ask->shown);
        if (ask->request != NULL)
            ask->request->ask_count--;
        if (ask->content != NULL)
            (void)gbx_view_open(ask->content, strlen(ask->content), &content);
        ask->done(ask->user, ask->answer, content);
        free(ask->content);
        free(ask->params);
        free(ask);
        ask = TAILQ_FIRST(&server->asks); /* it may have ended any request */
    }
    if (!server->is_ended)
        send_open(server);
}

void gbx_mcp_asks_expire(gbx_mcp_server *server)
{
    int64_t now = gbx_clock_now_ns();
    gbx_mcp_request *r = LIST_FIRST(&server->requests);
    gbx_mcp_ask_entry *ask;

    TAILQ_FOREACH(ask, &server->asks, entry)
    if (is_out(ask) && (ask->is_local || !ask->request->era.is_modern) &&
        now >= ask->until_ns)
        gbx_mcp_ask_end(ask, GBX_MCP_ANSWER_LATE);
    while (r != NULL) {
        gbx_mcp_request *next = LIST_NEXT(r, entry);

        if (r->round > 0 && r->id_len == 0 && now >= r->retry_until_ns)
            gbx_mcp_request_cancel(r);
        r = next;
    }
}

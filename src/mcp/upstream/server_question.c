/* SPDX-License-Identifier: MIT */
/*
 * server_question - a server asks a person for input while it works on a call
 * (elicitation). The author of the call shows the question and brings the answer.
 *
 * A server of the legacy era sends a request and gets a response. A modern one ends the
 * call with its questions: once all are answered, the call is sent again with the
 * answers. While a person is asked, the call's timeout stands still.
 */
#include "mcp/upstream/servers.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX   GBX_KIB(16) /* of a message, as JSON */
#define SCHEMA_MAX GBX_KIB(64)
#define FIELDS_MAX 100
#define URL_MAX    2048
#define ID_MAX     256 /* of a question, and of an address */
#define STATE_MAX  GBX_MIB(1)
#define ROUNDS_MAX 16 /* how often a modern server may ask in one call */

#define NOBODY \
    "the tool asks for input from a person, and the client cannot ask anybody"

/* ---- what a server may ask ------------------------------------------------------- */

/* A field of a form is a text, a number, a yes or no, or a choice of texts. */
static bool is_field(gbx_view field)
{
    static const char *const types[] = {"string", "number", "integer", "boolean"};
    gbx_view type = gbx_view_member(field, "type");

    for (size_t i = 0; i < GBX_COUNTOF(types); i++)
        if (gbx_view_is_text(type, types[i]))
            return true;
    return gbx_view_is_text(type, "array") &&
           gbx_view_kind(gbx_view_member(field, "items")) == '{' &&
           gbx_view_member(gbx_view_member(field, "items"), "properties").at == NULL;
}

static bool is_form(gbx_view schema)
{
    gbx_view fields = gbx_view_member(schema, "properties");
    size_t cursor = 0;
    size_t count = 0;
    gbx_view name;
    gbx_view field;

    if (gbx_view_kind(schema) != '{' || schema.len > SCHEMA_MAX ||
        !gbx_view_is_text(gbx_view_member(schema, "type"), "object") ||
        gbx_view_kind(fields) != '{')
        return false;
    while (gbx_view_next(fields, &cursor, &name, &field))
        if (++count > FIELDS_MAX || !is_field(field))
            return false;
    return true;
}

/* A person is sent to it: it must not look like another address. */
static bool is_address(gbx_view view)
{
    static const char *const starts[] = {"https://",
                                         "http://127.0.0.1:", "http://localhost:"};
    char url[URL_MAX];

    if (!gbx_rpc_copy_text(view, url, sizeof url))
        return false;
    for (const char *c = url; *c != '\0'; c++)
        if (*c <= ' ' || *c > '~' || strchr("\\\"<>^`{|}", *c) != NULL)
            return false;
    for (size_t i = 0; i < GBX_COUNTOF(starts); i++) {
        const char *rest = url + strlen(starts[i]);

        if (strncmp(url, starts[i], strlen(starts[i])) == 0)
            return isalnum((unsigned char)*rest) &&
                   strcspn(rest, "@") >= strcspn(rest, "/?#");
    }
    return false;
}

/* NULL, or what is wrong with the parameters of elicitation/create. */
static const char *read_question(const gbx_upstream_call *call, gbx_view params,
                                 gbx_upstream_question *ret)
{
    enum { MODE, MESSAGE, SCHEMA, URL, ID, MEMBERS };
    static const char *const names[] = {"mode", "message", "requestedSchema", "url",
                                        "elicitationId"};
    gbx_view m[MEMBERS];

    gbx_view_members(params, names, MEMBERS, m);
    if (gbx_view_kind(m[MESSAGE]) != '"' || m[MESSAGE].len > TEXT_MAX)
        return "a question needs a message of at most 16 KiB";
    *ret = (gbx_upstream_question){.message = m[MESSAGE]};
    if (gbx_view_is_text(m[MODE], "url")) {
        if ((call->request.can_ask & GBX_UPSTREAM_ASK_URL) == 0)
            return "the client cannot open addresses";
        if (!is_address(m[URL]) || gbx_view_kind(m[ID]) != '"' || m[ID].len > ID_MAX)
            return "the address to open must be of https, with an elicitationId";
        ret->url = m[URL];
        ret->id = m[ID];
        return NULL;
    }
    if (m[MODE].at != NULL && !gbx_view_is_text(m[MODE], "form"))
        return "a question is a form or a url";
    if ((call->request.can_ask & GBX_UPSTREAM_ASK_FORM) == 0)
        return "the client cannot show forms";
    if (!is_form(m[SCHEMA]))
        return "a form is an object of texts, numbers, booleans and choices";
    ret->schema = m[SCHEMA];
    return NULL;
}

/* ---- open questions ------------------------------------------------------------- */

/* number 0: a free place. NULL: none. */
static struct gbx_question *find(gbx_questions *questions, unsigned number)
{
    for (size_t i = 0; i < GBX_COUNTOF(questions->list); i++)
        if (questions->list[i].number == number)
            return &questions->list[i];
    return NULL;
}

/* id: JSON. False: too many are open. */
static bool add(gbx_upstreams *all, gbx_questions *questions, gbx_view id,
                gbx_upstream_question *question)
{
    struct gbx_question *place = find(questions, 0);

    if (place == NULL)
        return false;
    all->asked = all->asked + 1 != 0 ? all->asked + 1 : 1;
    question->number = place->number = all->asked;
    place->id = gbx_need(strndup(id.at, id.len));
    questions->open++;
    return true;
}

/* A person would be asked again if the call were repeated. */
static void hold(gbx_upstream_call *call)
{
    call->was_retried = true;
    gbx_mcp_timer_clear(&call->timer);
}

static void put_answer(gbx_buf *to, const char *action, gbx_view content)
{
    gbx_json_put_text(to, "action", action);
    if (gbx_view_kind(content) == '{')
        gbx_json_put_json(to, "content", content.at, content.len);
}

/* ---- the legacy era ------------------------------------------------------------- */

/* Whose author is asked. Over HTTP the transport shows which call the server asks for;
 * else it is probably the latest. Whichever it is, the answer goes to the session. */
static gbx_upstream_call *asker(const gbx_session *s, int64_t about)
{
    gbx_upstream_call *call;

    if (gbx_session_find(s, about, &call) == GBX_ASK_CALL)
        return call->request.ask != NULL ? call : NULL;
    TAILQ_FOREACH_REVERSE(call, &s->calls, gbx_call_list, entry)
    if (call->request.ask != NULL)
        return call;
    return NULL;
}

void gbx_session_on_question(gbx_session *s, const gbx_rpc_message *message,
                             int64_t about)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_KIB(4)};
    gbx_upstream_call *call = asker(s, about);
    gbx_upstream_question question;
    gbx_upstream_call *each;
    const char *why = call == NULL ? NOBODY
                      : message->id.len > ID_MAX
                          ? "the id is too long"
                          : read_question(call, message->payload, &question);

    if (why == NULL && !add(s->server->all, &s->questions, message->id, &question))
        why = "too many questions are open";
    if (why != NULL) {
        gbx_rpc_append_error(&text, message->id, GBX_RPC_INVALID_PARAMS, why, NULL);
        (void)gbx_session_send(s, &text, (gbx_link_message){0});
        return;
    }
    TAILQ_FOREACH(each, &s->calls, entry)
    hold(each);
    if (question.id.at != NULL) {
        free(s->page);
        s->page = gbx_need(strndup(question.id.at, question.id.len));
    }
    call->request.ask(call->request.user, &question);
}

/* Once, and only of the page that it asked for last: a client is told. */
void gbx_session_on_page_done(gbx_session *s, gbx_view params)
{
    gbx_view id = gbx_view_member(params, "elicitationId");
    const gbx_upstream_call *call = asker(s, 0);

    if (s->page == NULL || id.len != strlen(s->page) ||
        memcmp(id.at, s->page, id.len) != 0)
        return;
    free(s->page);
    s->page = NULL;
    if (call != NULL && call->request.url_is_done != NULL)
        call->request.url_is_done(call->request.user, id);
}

static void respond(gbx_session *s, struct gbx_question *question, const char *action,
                    gbx_view content)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = content.len + GBX_KIB(4)};
    gbx_upstream_call *call;

    gbx_rpc_begin_result(&text, (gbx_view){question->id, strlen(question->id)});
    put_answer(&text, action, content);
    gbx_rpc_end(&text);
    (void)gbx_session_send(s, &text, (gbx_link_message){0});
    gbx_question_forget(question);
    if (--s->questions.open > 0)
        return;
    TAILQ_FOREACH(call, &s->calls, entry)
    gbx_call_restart(call);
}

/* ---- the modern era ------------------------------------------------------------- */

/* Read every question; with `asks`, ask it. NULL, or what is wrong. */
static const char *each_question(gbx_upstream_call *call, gbx_view requests, bool asks)
{
    gbx_upstream_question question;
    const char *why = NULL;
    size_t cursor = 0;
    size_t count = 0;
    gbx_view name;
    gbx_view one;

    while (why == NULL && gbx_view_next(requests, &cursor, &name, &one)) {
        if (++count > GBX_COUNTOF(call->questions.list))
            return "the tool asks too many questions at once";
        if (name.len > ID_MAX)
            return "the name of a question is too long";
        if (!gbx_view_is_text(gbx_view_member(one, "method"), "elicitation/create"))
            return "the tool asks for what only a model or the client could give";
        why = read_question(call, gbx_view_member(one, "params"), &question);
        if (asks && why == NULL && add(call->all, &call->questions, name, &question))
            call->request.ask(call->request.user, &question);
    }
    return why;
}

static void let_go(gbx_upstream_call *call)
{
    if (--call->questions.open == 0)
        gbx_call_send_again(call);
}

/* NULL: they are asked; else why not. */
static const char *ask_all(gbx_upstream_call *call, gbx_view result)
{
    gbx_view requests = gbx_view_member(result, "inputRequests");
    gbx_view state = gbx_view_member(result, "requestState");
    const char *why;

    if (call->request.ask == NULL)
        return NOBODY;
    if (gbx_view_kind(requests) != '{' || gbx_view_count(requests) == 0 ||
        (state.at != NULL && gbx_view_kind(state) != '"') || state.len > STATE_MAX)
        return "the tool asks for input, and does not say which";
    if (++call->rounds > ROUNDS_MAX)
        return "the tool asks a person again and again";
    why = each_question(call, requests, false);
    if (why != NULL)
        return why;
    call->id = GBX_NO_ID; /* its request is answered, and the call goes on */
    free(call->server_state);
    call->server_state =
        state.at != NULL ? gbx_need(strndup(state.at, state.len)) : NULL;
    hold(call);
    call->questions.open++; /* the first answer may come before the last question */
    (void)each_question(call, requests, true);
    let_go(call);
    return NULL;
}

bool gbx_call_is_asked(gbx_view result)
{
    return gbx_view_is_text(gbx_view_member(result, "resultType"), "input_required");
}

void gbx_call_on_questions(gbx_upstream_call *call, gbx_view result)
{
    const char *why = ask_all(call, result);

    if (why != NULL)
        gbx_call_fail(call, GBX_UPSTREAM_INPUT, why, false);
}

static void keep(gbx_upstream_call *call, struct gbx_question *question,
                 const char *action, gbx_view content)
{
    gbx_buf text = {.ceiling = content.len + GBX_KIB(1)};

    (void)gbx_buf_puts(&text, "{");
    put_answer(&text, action, content);
    (void)gbx_buf_puts(&text, "}");
    question->answer = gbx_need(gbx_buf_take_string(&text, NULL));
    let_go(call);
}

/* ---- answers -------------------------------------------------------------------- */

/* True if it was a question of that session. */
static bool take_answer(gbx_session *s, unsigned number, const char *action,
                        gbx_view content)
{
    struct gbx_question *question = find(&s->questions, number);
    gbx_upstream_call *call;

    if (question != NULL) {
        respond(s, question, action, content);
        return true;
    }
    TAILQ_FOREACH(call, &s->calls, entry)
    {
        question = find(&call->questions, number);
        if (question == NULL)
            continue;
        if (question->answer == NULL)
            keep(call, question, action, content);
        return true;
    }
    return false;
}

void gbx_upstream_answer(gbx_upstreams *upstreams, unsigned number, const char *action,
                         gbx_view content)
{
    for (size_t i = 0; number != 0 && i < upstreams->count; i++)
        for (size_t k = 0; k < upstreams->servers[i].session_count; k++)
            if (take_answer(upstreams->servers[i].sessions[k], number, action, content))
                return;
}

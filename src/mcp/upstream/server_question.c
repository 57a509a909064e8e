/* SPDX-License-Identifier: MIT */
/*
 * server_question - a server asks a person for input while it works on a call
 * (elicitation), or the client for text of its model (sampling) or its folders (roots). The
 * author of the call shows the question and brings the answer.
 *
 * A server of the legacy era sends a request and gets a response. A modern one ends the
 * call with its questions: once all are answered, the call is sent again with the
 * answers. While a person is asked, the call's timeout stands still.
 */
#include "mcp/upstream/servers.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX   GBX_KIB(16) /* of a message, as JSON */
#define SCHEMA_MAX GBX_KIB(16)
#define FIELDS_MAX 100
#define URL_MAX    2048
#define ID_MAX     256 /* of a question, and of an address */
#define STATE_MAX  GBX_MIB(1)
#define ROUNDS_MAX 16 /* how often a modern server may ask in one call */

#define SAMPLING_MAX GBX_KIB(512) /* of the parameters, as JSON */
#define MESSAGES_MAX 1000
#define RESULT_MAX   GBX_MIB(4) /* of the client */

#define USER_REJECTED (-1) /* as in the protocol's examples */
#define UNGIVEN       "the client has not given what the tool asked it for"

#define NOBODY \
    "the tool asks for input from a person, and the client cannot ask anybody"

/* ---- what there is to ask for ------------------------------------------------------ */

/* Schemas. */
#define TEXT "{\"type\":\"string\"}"
#define ROLE "\"role\":{\"enum\":[\"user\",\"assistant\"]}"
#define BLOCK                                                                      \
    "{\"oneOf\":[{\"required\":[\"type\",\"text\"],\"properties\":{\"type\":"      \
    "{\"const\":\"text\"},\"text\":" TEXT "}},"                                    \
    "{\"required\":[\"type\",\"data\",\"mimeType\"],\"properties\":{\"type\":"     \
    "{\"enum\":[\"image\",\"audio\"]},\"data\":" TEXT ",\"mimeType\":" TEXT "}}]," \
    "\"type\":\"object\"}"
#define BLOCKS "{\"anyOf\":[" BLOCK ",{\"type\":\"array\",\"items\":" BLOCK "}]}"

static const char sampling_params[] =
    "{\"type\":\"object\",\"required\":[\"messages\",\"maxTokens\"],\"properties\":{"
    "\"messages\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
    "\"required\":[\"role\",\"content\"],"
    "\"properties\":{" ROLE ",\"content\":" BLOCKS "}}},"
    "\"maxTokens\":{\"type\":\"integer\"},\"systemPrompt\":" TEXT ","
    "\"temperature\":{\"type\":\"number\"},"
    "\"stopSequences\":{\"type\":\"array\",\"items\":" TEXT "},"
    "\"modelPreferences\":{\"type\":\"object\"},\"tools\":false,\"toolChoice\":false}}";

static const char sampling_result[] =
    "{\"type\":\"object\",\"required\":[\"role\",\"content\",\"model\"],"
    "\"properties\":{" ROLE ",\"content\":" BLOCKS ",\"model\":" TEXT
    ",\"stopReason\":" TEXT "}}";

static const char roots_result[] =
    "{\"type\":\"object\",\"required\":[\"roots\"],\"properties\":{\"roots\":"
    "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"uri\"],"
    "\"properties\":{\"uri\":" TEXT ",\"name\":" TEXT "}}}}}";

static const struct kind {
    unsigned bits;      /* of gbx_mcp_asking */
    const char *denied; /* by the configuration */
    const char *absent; /* at the client */
    const char *result; /* the schema of its result; NULL: {action, content} */
} kinds[] = {
    {GBX_MCP_ASK_PERSON, NULL, NOBODY, NULL},
    {GBX_MCP_ASK_SAMPLING,
     "the tool asks for text of the client's model (sampling), which the configuration "
     "does not allow: \"sampling\": true under \"glovebox\" of this server does",
     "the tool asks for text of the client's model, and the client does not offer that "
     "(sampling)",
     sampling_result},
    {GBX_MCP_ASK_ROOTS,
     "the tool asks for the client's folders (roots), which the configuration does not "
     "allow: \"roots\": true under \"glovebox\" of this server does",
     "the tool asks for the client's folders, and the client does not offer them (roots)",
     roots_result},
};

/* NULL: it asks for nothing. */
static const struct kind *kind_of(const char *method)
{
    for (size_t i = 0; i < GBX_COUNTOF(kinds); i++)
        if (strcmp(gbx_mcp_asking_method(kinds[i].bits), method) == 0)
            return &kinds[i];
    return NULL;
}

/* NULL: the server may ask the client for that. */
static const char *refusal_of(const struct kind *kind, gbx_upstream_id *server,
                              unsigned can_ask)
{
    if ((gbx_upstream_may_ask(server) & kind->bits) == 0)
        return kind->denied;
    return (can_ask & kind->bits) == 0 ? kind->absent : NULL;
}

static bool fits(const char *schema, gbx_view value, char *why, size_t size)
{
    gbx_view view;

    return gbx_view_open(schema, strlen(schema), &view) &&
           gbx_schema_check(view, value, true, why, size);
}

/* ---- what a server may ask ------------------------------------------------------- */

typedef bool member_check(gbx_view name, gbx_view value);

/* Every member is sound and there once: a host's parser may take the last of two. */
static bool all_sound(gbx_view object, member_check *is_sound)
{
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    if (gbx_view_kind(object) != '{' || gbx_view_count(object) > FIELDS_MAX)
        return false;
    while (gbx_view_next(object, &cursor, &name, &value)) {
        size_t behind = cursor;
        gbx_view other;
        gbx_view none;

        if (!is_sound(name, value))
            return false;
        while (gbx_view_next(object, &behind, &other, &none))
            if (other.len == name.len && memcmp(other.at, name.at, name.len) == 0)
                return false;
    }
    return true;
}

/* A person must see all of it: a text has nothing invisible, and a name no escapes. */
static bool is_plain(gbx_view name, gbx_view value)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = SCHEMA_MAX};

    if (memchr(name.at, '\\', name.len) != NULL || gbx_view_is_text(name, "$ref") ||
        gbx_view_kind(value) == '{' || gbx_view_kind(value) == '[')
        return false;
    return gbx_view_kind(value) != '"' ||
           (gbx_view_append_text(value, &text) &&
            gbx_utf8_unescaped(text.data, text.len, GBX_ESCAPE_TEXT | GBX_ESCAPE_ALL) ==
                text.len);
}

/* Of a field, and of the items of one that is a list of choices. */
static bool is_of_field(gbx_view name, gbx_view value)
{
    bool has_choices =
        gbx_view_is_text(name, "oneOf") || gbx_view_is_text(name, "anyOf");
    gbx_view unnamed = {"\"\"", 2};
    size_t cursor = 0;
    gbx_view none;
    gbx_view item;

    if (gbx_view_kind(value) != '[')
        return is_plain(name, value);
    while (gbx_view_next(value, &cursor, &none, &item))
        if (!is_plain(unnamed, item) && !(has_choices && all_sound(item, is_plain)))
            return false;
    return true;
}

static bool is_of_list(gbx_view name, gbx_view value)
{
    return gbx_view_is_text(name, "items") ? all_sound(value, is_of_field)
                                           : is_of_field(name, value);
}

/* A field of a form is a text, a number, a yes or no, or a list of choices. */
static bool is_field(gbx_view name, gbx_view field)
{
    static const char *const types[] = {"string", "number", "integer", "boolean"};
    gbx_view type = gbx_view_member(field, "type");

    if (!is_plain((gbx_view){"\"\"", 2}, name))
        return false;
    for (size_t i = 0; i < GBX_COUNTOF(types); i++)
        if (gbx_view_is_text(type, types[i]))
            return all_sound(field, is_of_field);
    return gbx_view_is_text(type, "array") &&
           gbx_view_kind(gbx_view_member(field, "items")) == '{' &&
           all_sound(field, is_of_list);
}

static bool is_of_form(gbx_view name, gbx_view value)
{
    return gbx_view_is_text(name, "properties") ? all_sound(value, is_field)
                                                : is_of_field(name, value);
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

/* NULL, or what is wrong with the parameters of elicitation/create. ret_id: its own of an
 * address, or no value. */
static const char *read_elicitation(const gbx_upstream_call *call, gbx_view params,
                                    gbx_upstream_question *ret, gbx_view *ret_id)
{
    enum { MODE, MESSAGE, SCHEMA, URL, ID, MEMBERS };
    static const char *const names[] = {"mode", "message", "requestedSchema", "url",
                                        "elicitationId"};
    gbx_view m[MEMBERS];
    bool is_form;

    gbx_view_members(params, names, MEMBERS, m);
    if (gbx_view_kind(m[MESSAGE]) != '"' || m[MESSAGE].len > TEXT_MAX)
        return "a question needs a message of at most 16 KiB";
    *ret = (gbx_upstream_question){.what = GBX_MCP_ASK_FORM, .message = m[MESSAGE]};
    if (gbx_view_is_text(m[MODE], "url")) {
        if ((call->can_ask & GBX_MCP_ASK_URL) == 0)
            return "the client cannot open addresses";
        if (!is_address(m[URL]) || m[ID].len > ID_MAX)
            return "the address to open must be of https, with a short elicitationId";
        ret->what = GBX_MCP_ASK_URL;
        ret->url = m[URL];
        *ret_id = m[ID];
        return NULL;
    }
    if (m[MODE].at != NULL && !gbx_view_is_text(m[MODE], "form"))
        return "a question is a form or a url";
    if ((call->can_ask & GBX_MCP_ASK_FORM) == 0)
        return "the client cannot show forms";
    is_form = m[SCHEMA].len <= SCHEMA_MAX &&
              gbx_view_is_text(gbx_view_member(m[SCHEMA], "type"), "object") &&
              gbx_view_member(m[SCHEMA], "properties").at != NULL &&
              all_sound(m[SCHEMA], is_of_form);
    if (!is_form)
        return "a form is an object of texts, numbers, booleans and choices";
    ret->schema = m[SCHEMA];
    return NULL;
}

/* The same of any of the kinds; NULL: of none. */
static const char *read_question(const gbx_upstream_call *call, const struct kind *kind,
                                 gbx_view params, gbx_upstream_question *ret,
                                 gbx_view *ret_id)
{
    const char *why = kind == NULL ? "the tool asks for what no client could give"
                                   : refusal_of(kind, call->server, call->can_ask);
    char place[256];

    *ret_id = (gbx_view){0};
    if (why != NULL)
        return why;
    if (kind->bits == GBX_MCP_ASK_PERSON)
        return read_elicitation(call, params, ret, ret_id);
    *ret =
        (gbx_upstream_question){.what = (gbx_mcp_asking)kind->bits, .params = params};
    if (kind->bits == GBX_MCP_ASK_SAMPLING &&
        (params.len > SAMPLING_MAX || gbx_view_kind(params) != '{' ||
         gbx_view_count(gbx_view_member(params, "messages")) > MESSAGES_MAX ||
         !fits(sampling_params, params, place, sizeof place)))
        return "a request of sampling needs maxTokens and messages of texts, images "
               "or sounds, of 512 KiB in all, and has no tools";
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
    place->what = question->what;
    place->id = gbx_need(strndup(id.at, id.len));
    questions->open++;
    return true;
}

/* NULL: the result is {action, content}. */
static const char *result_schema(const struct gbx_question *question)
{
    return kind_of(gbx_mcp_asking_method(question->what))->result;
}

static void put_answer(gbx_buf *to, const struct gbx_question *question,
                       const char *action, gbx_view content)
{
    if (result_schema(question) != NULL) {
        gbx_json_put_json(to, NULL, content.at + 1, content.len - 2);
        return;
    }
    gbx_json_put_text(to, "action", action);
    if (gbx_view_kind(content) == '{')
        gbx_json_put_json(to, "content", content.at, content.len);
}

/* ---- the legacy era ------------------------------------------------------------- */

/* A list or a completion: nobody is asked for it. */
static bool is_aside(const gbx_upstream_call *call)
{
    return call->method != NULL && call->author == NULL;
}

gbx_upstream_call *gbx_session_latest_call(const gbx_session *s)
{
    gbx_upstream_call *last = NULL;
    gbx_upstream_call *call;

    TAILQ_FOREACH(call, &s->calls, entry)
    {
        if (is_aside(call))
            continue;
        if (last != NULL && call->author != last->author)
            return NULL;
        last = call;
    }
    return last;
}

/* With calls of several authors, a person might answer for somebody else's. NULL: nobody
 * is asked. */
static gbx_upstream_call *asker(const gbx_session *s)
{
    const gbx_upstream_call *call;

    TAILQ_FOREACH(call, &s->calls, entry)
    if (call->ask == NULL && !is_aside(call))
        return NULL;
    return gbx_session_latest_call(s);
}

bool gbx_session_on_question(gbx_session *s, const gbx_rpc_message *message)
{
    const struct kind *kind = kind_of(message->method);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_KIB(4)};
    gbx_upstream_call *call = asker(s);
    gbx_upstream_question question;
    gbx_upstream_call *each;
    gbx_view id;
    const char *why;
    int code = GBX_RPC_METHOD_NOT_FOUND; /* not declared */

    if (kind == NULL)
        return false;
    why = refusal_of(kind, s->server->config, s->may_ask);
    if (why == NULL) {
        code = GBX_RPC_INVALID_PARAMS;
        why = call == NULL ? NOBODY
              : message->id.len > ID_MAX
                  ? "the id is too long"
                  : read_question(call, kind, message->payload, &question, &id);
    }
    if (why == NULL && !add(s->server->all, &s->questions, message->id, &question))
        why = "too many questions are open";
    if (why != NULL) {
        gbx_rpc_append_error(&text, message->id, code, why, NULL);
        (void)gbx_session_send(s, &text, (gbx_link_message){0});
        return true;
    }
    TAILQ_FOREACH(each, &s->calls, entry)
    gbx_call_hold(each);
    if (id.at != NULL) {
        free(s->page);
        s->page = gbx_need(strndup(id.at, id.len));
        s->page_number = question.number;
    }
    call->ask(call->user, &question);
    return true;
}

/* Once, and only of the page that it asked for last: a client is told. */
void gbx_session_on_page_done(gbx_session *s, gbx_view params)
{
    gbx_view id = gbx_view_member(params, "elicitationId");
    const gbx_upstream_call *call = asker(s);

    if (call == NULL || call->url_is_done == NULL || s->page == NULL ||
        id.len != strlen(s->page) || memcmp(id.at, s->page, id.len) != 0)
        return;
    free(s->page);
    s->page = NULL;
    call->url_is_done(call->user, s->page_number);
}

static void close_question(gbx_session *s, struct gbx_question *question)
{
    gbx_upstream_call *call;

    gbx_question_forget(question);
    if (--s->questions.open > 0)
        return;
    TAILQ_FOREACH(call, &s->calls, entry)
    gbx_call_release(call);
}

/* The server does not wait for the answer any more. */
void gbx_session_on_cancelled(gbx_session *s, gbx_view params)
{
    gbx_view id = gbx_view_member(params, "requestId");

    for (size_t i = 0; id.at != NULL && i < GBX_COUNTOF(s->questions.list); i++) {
        struct gbx_question *q = &s->questions.list[i];

        if (q->number != 0 && strlen(q->id) == id.len &&
            memcmp(q->id, id.at, id.len) == 0) {
            close_question(s, q);
            return;
        }
    }
}

/* action NULL: an error. */
static void respond(gbx_session *s, struct gbx_question *question, const char *action,
                    gbx_view content)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = content.len + GBX_KIB(4)};
    gbx_view id = {question->id, strlen(question->id)};

    if (action == NULL) {
        gbx_rpc_append_error(&text, id, USER_REJECTED, UNGIVEN, NULL);
    } else {
        gbx_rpc_begin_result(&text, id);
        put_answer(&text, question, action, content);
        gbx_rpc_end(&text);
    }
    (void)gbx_session_send(s, &text, (gbx_link_message){0});
    close_question(s, question);
}

/* ---- the modern era ------------------------------------------------------------- */

/* Read every question; with `asks`, ask it. NULL, or what is wrong. */
static const char *each_question(gbx_upstream_call *call, gbx_view requests, bool asks)
{
    gbx_upstream_question question;
    const char *why = NULL;
    char method[GBX_RPC_METHOD_MAX];
    size_t cursor = 0;
    size_t count = 0;
    gbx_view name;
    gbx_view one;
    gbx_view id;

    while (why == NULL && gbx_view_next(requests, &cursor, &name, &one)) {
        if (++count > GBX_COUNTOF(call->questions.list))
            return "the tool asks too many questions at once";
        if (name.len > ID_MAX)
            return "the name of a question is too long";
        if (!gbx_rpc_copy_text(gbx_view_member(one, "method"), method, sizeof method))
            method[0] = '\0';
        why = read_question(call, kind_of(method), gbx_view_member(one, "params"),
                            &question, &id);
        question.name = name;
        if (asks && why == NULL && add(call->all, &call->questions, name, &question))
            call->ask(call->user, &question);
    }
    return why;
}

static void let_go(gbx_upstream_call *call)
{
    if (--call->questions.open > 0)
        return;
    if (!call->is_refused) {
        gbx_call_send_again(call);
        return;
    }
    gbx_call_withdraw(call, UNGIVEN);
    gbx_call_end_later(call,
                       call->rounds > 1 ? GBX_UPSTREAM_PROTOCOL : GBX_UPSTREAM_INPUT,
                       UNGIVEN);
}

/* NULL: they are asked; else why not. */
static const char *ask_all(gbx_upstream_call *call, gbx_view result)
{
    gbx_view requests = gbx_view_member(result, "inputRequests");
    gbx_view state = gbx_view_member(result, "requestState");
    const char *why;

    bool asks = gbx_view_count(requests) > 0;

    if (asks && call->ask == NULL)
        return NOBODY;
    if ((asks ? gbx_view_kind(requests) != '{' : gbx_view_kind(state) != '"') ||
        (state.at != NULL && gbx_view_kind(state) != '"') || state.len > STATE_MAX)
        return "the tool asks for input, and does not say which";
    if (++call->rounds > ROUNDS_MAX)
        return "the tool asks a person again and again";
    why = asks ? each_question(call, requests, false) : NULL;
    if (why != NULL)
        return why;
    call->id = GBX_NO_ID; /* its request is answered, and the call goes on */
    free(call->server_state);
    call->server_state =
        state.at != NULL ? gbx_need(strndup(state.at, state.len)) : NULL;
    gbx_call_hold(call);
    call->questions.open++; /* the first answer may come before the last question */
    if (asks)
        (void)each_question(call, requests, true);
    let_go(call);
    return NULL;
}

void gbx_call_on_questions(gbx_upstream_call *call, gbx_view result)
{
    const char *why = ask_all(call, result);

    if (why == NULL)
        return;
    call->id = GBX_NO_ID; /* its request is answered; its task waits */
    gbx_call_withdraw(call, why);
    /* After an answer the server may have done something. */
    gbx_call_fail(call, call->rounds > 1 ? GBX_UPSTREAM_PROTOCOL : GBX_UPSTREAM_INPUT,
                  why, false);
}

/* action NULL: it has none, and the call fails once the others are answered. */
static void keep(gbx_upstream_call *call, struct gbx_question *question,
                 const char *action, gbx_view content)
{
    gbx_buf text = {.ceiling = content.len + GBX_KIB(1)};

    (void)gbx_buf_puts(&text, "{");
    if (action != NULL)
        put_answer(&text, question, action, content);
    else
        call->is_refused = true;
    (void)gbx_buf_puts(&text, "}");
    question->answer = gbx_need(gbx_buf_take_string(&text, NULL));
    let_go(call);
}

/* ---- answers -------------------------------------------------------------------- */

/* What only the client has is there, or is not: NULL then. */
static const char *checked(const struct gbx_question *question, const char *action,
                           gbx_view content)
{
    const char *schema = result_schema(question);
    char why[256];

    if (schema == NULL)
        return action;
    return strcmp(action, "accept") == 0 && content.len <= RESULT_MAX &&
                   fits(schema, content, why, sizeof why)
               ? action
               : NULL;
}

/* True if it was a question of that session. */
static bool take_answer(gbx_session *s, unsigned number, const char *action,
                        gbx_view content)
{
    struct gbx_question *question = find(&s->questions, number);
    gbx_upstream_call *call;

    if (question != NULL) {
        respond(s, question,
                checked(question, action != NULL ? action : "cancel", content),
                content);
        return true;
    }
    TAILQ_FOREACH(call, &s->calls, entry)
    {
        question = find(&call->questions, number);
        if (question == NULL)
            continue;
        if (question->answer == NULL && action != NULL)
            keep(call, question, checked(question, action, content), content);
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

/* SPDX-License-Identifier: MIT */
/*
 * send_call - sends a call to its server, shows the server's questions to the person, and
 * takes the answer.
 *
 * Arguments are sent byte for byte as they were decided, except for secrets: these are
 * filled in last, and redacted from the answer first.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "mcp/approval/gate_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUESTION_MAX   GBX_KIB(4) /* of a server's words to the person */
#define BLOCKS_MAX     1000u
#define STOPS_MAX      16u
#define NUMBER_LEN_MAX 20u
#define PROMPT_MAX     GBX_MIB(1) /* of those to a model */
#define AUDIO_SINCE    "2025-03-26"
#define META_MAX       GBX_KIB(16) /* fits three entries of 4 KiB */
#define CHANGES_MAX    3 /* after this many, the server's processes disagree */

/* ---- the server's questions ----------------------------------------------------- */

/* The person must see who asks: the message begins with the server's name, and its own
 * words follow, escaped. Values of secrets are removed, as from answers. The
 * person's answer goes to that server alone, unchanged. */
typedef struct relayed {
    gbx_tool_call *call;
    unsigned number; /* of the question */
} relayed;

static void on_answer(void *user, gbx_mcp_answer answer, gbx_view content)
{
    GBX_CLEANUP(gbx_free) relayed *r = user;
    const char *action = answer == GBX_MCP_ANSWER_ACCEPT    ? "accept"
                         : answer == GBX_MCP_ANSWER_DECLINE ? "decline"
                         : answer == GBX_MCP_ANSWER_ENDED   ? NULL
                                                            : "cancel";

    gbx_upstream_answer(r->call->up.all, r->number, action, content);
    gbx_tool_call_release(r->call);
}

/* Its words without values of secrets, escaped and cut. */
static bool put_words(gbx_buf *to, const gbx_tool_call *call, gbx_view message,
                      size_t max)
{
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf text = {.ceiling = message.len, .is_secret = true};
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf clean = {.ceiling = gbx_secrets_ceiling(message.len)};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf ends = {.ceiling = max * 2};

    return gbx_view_append_text(message, &text) &&
           gbx_gate_redact(call->gate, (const char *)text.data, text.len, &clean) &&
           gbx_utf8_append_ends(&ends, clean.data, clean.len, max) &&
           gbx_utf8_append_escaped(to, ends.data, ends.len,
                                   GBX_ESCAPE_TEXT | GBX_ESCAPE_ALL);
}

static bool put_message(gbx_buf *to, const gbx_tool_call *call,
                        const gbx_upstream_question *question)
{
    (void)gbx_buf_puts(to, "The server ");
    gbx_gate_put_name(to, call->up.server->name);
    (void)gbx_buf_printf(to, " asks, for a call of its %s ",
                         gbx_gate_subject_name(call->subject));
    gbx_gate_put_name(to, call->up.tool);
    if (question->what == GBX_MCP_ASK_SAMPLING) {
        gbx_view system = gbx_view_member(question->params, "systemPrompt");

        (void)gbx_buf_puts(to, ". The answer goes to that server. The messages are its "
                               "words, and so is the rest of this:\n\n");
        return (system.at == NULL || put_words(to, call, system, PROMPT_MAX)) &&
               gbx_buf_append(to, "", 1);
    }
    (void)gbx_buf_puts(to, question->what == GBX_MCP_ASK_URL
                               ? ", that you open a page. Its words:\n\n"
                               : ". The answer goes to that server. Its words:\n\n");
    return put_words(to, call, question->message, QUESTION_MAX) &&
           gbx_buf_append(to, "", 1);
}

/* JSON without values of secrets. */
static bool put_clean(gbx_buf *to, const gbx_tool_call *call, gbx_view json)
{
    gbx_view again;

    gbx_buf_init(to, gbx_secrets_ceiling(json.len));
    return gbx_secrets_append_clean(call->gate->config->rules->secrets, GBX_SECRET_DATA,
                                    (gbx_span){(const uint8_t *)json.at, json.len},
                                    to) &&
           gbx_view_open((const char *)to->data, to->len, &again) &&
           gbx_buf_append(to, "", 1);
}

#define ID_SIZE 96

static void print_id(char ret[ID_SIZE], const gbx_tool_call *call, unsigned number)
{
    (void)snprintf(ret, ID_SIZE, "%.64s/%u", call->up.server->name, number);
}

/* It keeps the server's name, unless a secret is in it. */
static void name_question(const gbx_tool_call *call, gbx_view name)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean = {0};

    if (name.at != NULL && put_clean(&clean, call, name) && clean.len - 1 == name.len &&
        memcmp(clean.data, name.at, name.len) == 0)
        gbx_mcp_name_question(call->request, name);
}

/* A message of one block, which every version knows. False: this client does not. */
static bool put_block(gbx_buf *to, gbx_view role, gbx_view block, const char *version)
{
    static const char *const texts[] = {"type", "text", "data", "mimeType"};

    gbx_json_put_open(to, NULL, '{');
    gbx_json_put_json(to, "role", role.at, role.len);
    gbx_json_put_open(to, "content", '{');
    for (size_t i = 0; i < GBX_COUNTOF(texts); i++) {
        gbx_view value = gbx_view_member(block, texts[i]);
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = PROMPT_MAX};

        if (value.at != NULL && gbx_view_append_text(value, &text))
            gbx_json_put_shown(to, texts[i], (const char *)text.data, text.len);
    }
    (void)gbx_buf_puts(to, "}}");
    return strcmp(version, AUDIO_SINCE) >= 0 ||
           !gbx_view_is_text(gbx_view_member(block, "type"), "audio");
}

static bool put_messages(gbx_buf *to, gbx_view messages, const char *version)
{
    size_t cursor = 0;
    unsigned count = 0;
    bool is_put = true;
    gbx_view none;
    gbx_view one;
    gbx_view block;

    gbx_json_put_open(to, "messages", '[');
    while (is_put && gbx_view_next(messages, &cursor, &none, &one)) {
        gbx_view role = gbx_view_member(one, "role");
        gbx_view content = gbx_view_member(one, "content");
        size_t at = 0;

        if (gbx_view_kind(content) == '{')
            is_put = ++count <= BLOCKS_MAX && put_block(to, role, content, version);
        else
            while (is_put && gbx_view_next(content, &at, &none, &block))
                is_put = ++count <= BLOCKS_MAX && put_block(to, role, block, version);
    }
    return gbx_buf_puts(to, "]") && is_put;
}

static bool put_stops(gbx_buf *to, gbx_view list)
{
    size_t cursor = 0;
    unsigned count = 0;
    gbx_view none;
    gbx_view one;

    gbx_json_put_open(to, "stopSequences", '[');
    while (gbx_view_next(list, &cursor, &none, &one)) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = one.len};

        if (++count > STOPS_MAX || !gbx_view_append_text(one, &text))
            return false;
        gbx_json_put_shown(to, NULL, (const char *)text.data, text.len);
    }
    return gbx_buf_puts(to, "]");
}

/* Roots have no parameters. What a host would add of its own (includeContext) is not asked
 * for: it would be that of all servers. */
static bool ask_client(const gbx_tool_call *call, const gbx_upstream_question *question,
                       const char *message, gbx_view params, relayed *r)
{
    static const char *const numbers[] = {"maxTokens", "temperature"};
    gbx_view stops = gbx_view_member(params, "stopSequences");
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = PROMPT_MAX};

    if (question->what == GBX_MCP_ASK_SAMPLING) {
        gbx_json_put_text(&to, "systemPrompt", message);
        if (!put_messages(&to, gbx_view_member(params, "messages"),
                          gbx_mcp_request_version(call->request)))
            return false;
        for (size_t i = 0; i < GBX_COUNTOF(numbers); i++) {
            gbx_view value = gbx_view_member(params, numbers[i]);

            if (value.len > NUMBER_LEN_MAX)
                return false;
            gbx_json_put_json(&to, numbers[i], value.at, value.len);
        }
        if ((stops.at != NULL && !put_stops(&to, stops)) || to.failed)
            return false;
    }
    gbx_mcp_ask_client(call->request, question->what, gbx_rpc_string(&to), on_answer,
                       r);
    name_question(call, question->name);
    return true;
}

static bool ask(gbx_tool_call *call, const gbx_upstream_question *question, relayed *r)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message = {.ceiling = PROMPT_MAX};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean = {0};
    bool is_url = question->what == GBX_MCP_ASK_URL;
    gbx_view said = is_url                                   ? question->url
                    : question->what == GBX_MCP_ASK_FORM     ? question->schema
                    : question->what == GBX_MCP_ASK_SAMPLING ? question->params
                                                             : (gbx_view){"{}", 2};
    gbx_bucket *bucket = (question->what & GBX_MCP_ASK_PERSON) != 0
                             ? &call->gate->questions
                             : &call->gate->samplings;
    gbx_view params;
    GBX_CLEANUP(gbx_free) char *url = NULL;
    char id[ID_SIZE];

    if (!gbx_bucket_take(bucket, gbx_clock_now_ns()) ||
        !put_message(&message, call, question) || !put_clean(&clean, call, said))
        return false;
    if ((question->what & GBX_MCP_ASK_PERSON) == 0)
        return gbx_view_open((const char *)clean.data, clean.len - 1, &params) &&
               ask_client(call, question, (const char *)message.data, params, r);
    if (!is_url) {
        gbx_mcp_ask(call->request, (const char *)message.data, (const char *)clean.data,
                    NULL, on_answer, r);
        name_question(call, question->name);
        return true;
    }
    url = gbx_view_string(question->url, GBX_KIB(4));
    print_id(id, call, question->number);
    /* Without the secret that it had, the address would be another one. */
    if (url == NULL || clean.len - 1 != question->url.len ||
        memcmp(clean.data, question->url.at, question->url.len) != 0)
        return false;
    gbx_mcp_ask_url(call->request, (const char *)message.data, url, id, on_answer, r);
    name_question(call, question->name);
    return true;
}

static void relay(void *user, const gbx_upstream_question *question)
{
    gbx_tool_call *call = user;
    relayed *r = gbx_need(calloc(1, sizeof *r));

    r->call = call;
    r->number = question->number;
    if (!call->cancelled && ask(call, question, r)) {
        call->questions++;
        call->holders++;
        return;
    }
    free(r);
    gbx_upstream_answer(call->up.all, question->number, "cancel", (gbx_view){0});
}

static void on_url_done(void *user, unsigned number)
{
    const gbx_tool_call *call = user;
    char id[ID_SIZE];

    print_id(id, call, number);
    if (!call->cancelled)
        gbx_mcp_url_is_done(call->request, id);
}

/* ---- the call ------------------------------------------------------------------- */

/* End the call with the redacted result. */
static void on_sifted(void *user, const gbx_gate_sifted *sifted)
{
    gbx_tool_call *call = user;
    gbx_gate_reply reply = {.message = "", .result = sifted->text};

    call->sift = NULL;
    if (!gbx_gate_called_back(call))
        return;
    if (!sifted->done)
        gbx_gate_refuse(call, "UPSTREAM_PROTOCOL",
                        "the answer is too large to be looked through for secrets");
    else if (sifted->changed &&
             !gbx_view_open(sifted->text.at, sifted->text.len, &reply.result))
        gbx_gate_refuse(call, "UPSTREAM_PROTOCOL",
                        "the answer is not JSON without its secrets");
    else {
        call->fate = GBX_GATE_ANSWERED;
        gbx_gate_finish(call, &reply);
    }
}

static gbx_gate_fate fate_of(const gbx_upstream_reply *reply)
{
    if (reply->fault == GBX_UPSTREAM_REFUSED && !reply->is_passing)
        return GBX_GATE_ANSWERED;
    if (reply->fault != GBX_UPSTREAM_OK && !gbx_upstream_may_have_acted(reply))
        return GBX_GATE_NOT_SENT;
    return reply->is_reading ? GBX_GATE_HARMLESS : GBX_GATE_DOUBTFUL;
}

static void decide_again(gbx_tool_call *call)
{
    call->state = GBX_TOOL_CALL_UNDECIDED;
    gbx_mcp_timer_fire(&call->later);
}

static void on_reply(void *user, const gbx_upstream_reply *reply)
{
    gbx_tool_call *call = user;

    gbx_buf_cleanup(&call->filled);
    call->fate = fate_of(reply);
    if (!gbx_gate_called_back(call))
        return;
    if (reply->fault == GBX_UPSTREAM_OK) {
        call->result_bytes = reply->result.len;
        call->holders++;
        gbx_gate_redact_start(call->gate, GBX_SECRET_DATA, &reply->result, 1, on_sifted,
                              call, &call->sift);
        return;
    }
    if (reply->fault == GBX_UPSTREAM_CHANGED && ++call->changes < CHANGES_MAX) {
        call->answer = NULL; /* the person answered for the tool as it was before */
        decide_again(call);
        return;
    }
    if (reply->fault == GBX_UPSTREAM_UNKNOWN_TOOL && gbx_gate_rename(call)) {
        decide_again(call);
        return;
    }
    gbx_gate_fail(call, reply);
}

static void on_progress(void *user, const char *message, size_t len)
{
    gbx_tool_call *call = user;
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf clean = {.ceiling = gbx_secrets_ceiling(len)};

    if (call->state == GBX_TOOL_CALL_SENT && call->progress != NULL &&
        gbx_mcp_hears_progress(call->request) &&
        gbx_gate_redact(call->gate, message, len, &clean))
        call->progress(call, (const char *)clean.data, clean.len);
}

static void on_says(void *user, gbx_log_level level, const char *line)
{
    const gbx_tool_call *call = user;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_KIB(32)};

    if (call->state == GBX_TOOL_CALL_SENT && !call->cancelled &&
        call->request != NULL &&
        gbx_buf_printf(&text, "%s: %s", call->up.server->name, line))
        gbx_mcp_log_line(call->request, level, (const char *)text.data, text.len);
}

/* The trace of the call, as members of _meta; NULL: it has none. An observed call is in a
 * span of its own; tracestate is about the trace of the request, if that goes on. */
static char *print_meta(gbx_tool_call *call)
{
    static const char *const names[] = {"traceparent", "tracestate", "baggage"};
    gbx_buf to = {.ceiling = META_MAX};
    bool is_observed = gbx_call_span_print(&call->span, call->up.traceparent);
    size_t i = !is_observed ? 0 : call->span.is_continued ? 1 : 2;

    if (is_observed)
        gbx_json_put_text(&to, names[0], call->up.traceparent);
    for (; call->request != NULL && i < GBX_COUNTOF(names); i++) {
        gbx_view value = gbx_mcp_request_meta(call->request, names[i]);

        if (gbx_view_kind(value) != '"' || value.len > GBX_KIB(4))
            continue;
        (void)gbx_buf_printf(&to, "%s\"%s\":", to.len > 0 ? "," : "", names[i]);
        (void)gbx_buf_append(&to, value.at, value.len);
    }
    return to.len > 0 ? gbx_need(gbx_buf_take_string(&to, NULL)) : NULL;
}

void gbx_gate_pass(gbx_tool_call *call)
{
    gbx_span args = {(const uint8_t *)call->args.at, call->args.len};
    gbx_upstream_call *up = &call->up;
    gbx_error err = {0};

    up->author = call->request;
    up->args = call->args;
    up->hint = call->verdict.used_hint ? call->verdict.hint : GBX_GATE_HINT_UNKNOWN;
    up->progress = call->progress != NULL ? on_progress : NULL;
    up->can_ask = call->request != NULL ? gbx_mcp_can_ask(call->request) &
                                              gbx_upstream_may_ask(up->server)
                                        : 0;
    up->ask = call->request != NULL ? relay : NULL;
    up->says = on_says;
    up->url_is_done = on_url_done;
    up->done = on_reply;
    up->user = call;
    /* The parameters of a list are a server's own. */
    if (call->subject != GBX_GATE_LIST && gbx_secrets_are_in(args)) {
        call->filled.ceiling = GBX_SECRETS_FILLED_MAX;
        if (gbx_secrets_fill(call->gate->config->rules->secrets,
                             &(gbx_secret_target){.function = up->server->name}, args,
                             &call->filled, &err) != GBX_OK) {
            gbx_gate_refuse(call, "INVALID_ARGS", "%s", err.message);
            return;
        }
        up->args = (gbx_view){(const char *)call->filled.data, call->filled.len};
    }
    free(up->meta);
    up->meta = print_meta(call);
    call->state = GBX_TOOL_CALL_SENT;
    call->holders++;
    gbx_upstream_start(call->gate->upstreams, up);
}

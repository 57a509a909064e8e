/* SPDX-License-Identifier: MIT */
/*
 * guest_requests - requests of sandboxed code to the host: an array that begins with
 * the operation.
 *
 * All of it is hostile: code can call the function itself, with any arguments. The line
 * comes from the code and is only bounded, not verified.
 */
#include "mcp/code/guest_requests.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#define LINE_NUMBER_MAX 10000000

static bool is_text(gbx_view view, const char *text)
{
    size_t len = strlen(text);

    return gbx_view_kind(view) == '"' && view.len == len + 2 &&
           memcmp(view.at + 1, text, len) == 0;
}

static uint32_t line_of(gbx_view settings)
{
    uint32_t line = 0;

    (void)gbx_code_take_count(gbx_view_member(settings, "line"), LINE_NUMBER_MAX,
                              &line);
    return line;
}

/* Without memory for the reason, refuse for that. */
static void refuse_by(const gbx_guest_request *a, const char *code, gbx_buf *message)
{
    bool has_words = message->len > 0 && gbx_buf_append(message, "", 1);

    gbx_guest_request_refuse(a, has_words ? code : "UNAVAILABLE",
                             has_words ? (char *)message->data : GBX_RUN_NO_MEMORY);
}

/* ---- call ------------------------------------------------------------------------ */

/* The arguments, as a JSON object, with the digits that Numbers have lost. If they
 * contain a BigInt, they arrive as JSON text. NULL: why has the reason, or memory is
 * out. */
static char *take_args(const gbx_guest_request *a, size_t *ret_len, gbx_buf *why)
{
    gbx_view args = a->args[2];
    gbx_view exact = gbx_view_member(a->args[3], "exact");
    gbx_buf text;
    gbx_buf to;
    char *taken = NULL;

    gbx_buf_init_secret(&text, args.len);
    gbx_buf_init_secret(&to, 4 * args.len + GBX_KIB(4));
    if (gbx_view_kind(exact) == '[' && gbx_view_kind(args) == '"' &&
        (!gbx_view_append_text(args, &text) ||
         !gbx_view_open((char *)text.data, text.len, &args)))
        args = (gbx_view){NULL, 0};
    if (gbx_view_kind(args) != '{')
        (void)gbx_buf_puts(why, "a call has a server, a tool and an object");
    else if (!gbx_digits_are_in(args.at, args.len) &&
             memmem(args.at, args.len, "e+", 2) == NULL)
        (void)gbx_buf_append(&to, args.at, args.len);
    else if (!gbx_digits_as_integers(&a->run->digits, args, exact, &to, why))
        to.failed = true;
    taken = why->len == 0 ? gbx_buf_take_string(&to, ret_len) : NULL;
    gbx_buf_cleanup(&text);
    gbx_buf_cleanup(&to);
    return taken;
}

static gbx_nested_call *read_call(const gbx_guest_request *a, gbx_buf *why)
{
    gbx_nested_call *n = calloc(1, sizeof *n);

    if (n == NULL)
        return NULL;
    n->code = a->run->code;
    n->run = a->run;
    n->request = a->request;
    n->server = gbx_guest_request_text(a->args[0], 64);
    n->tool = gbx_guest_request_text(a->args[1], GBX_TOOL_NAME_MAX);
    n->args = take_args(a, &n->args_len, why);
    n->line = line_of(a->args[3]);
    n->raw = gbx_view_is_true(gbx_view_member(a->args[3], "raw"));
    (void)gbx_code_take_count(gbx_view_member(a->args[3], "timeoutMs"), UINT32_MAX,
                              &n->timeout_ms);
    if (n->server != NULL && n->tool != NULL && n->args != NULL)
        return n;
    if (why->len == 0)
        (void)gbx_buf_puts(why, gbx_code_is_long_name(a->args[1])
                                    ? GBX_CODE_LONG_NAME
                                    : "a call has a server, a tool and an object");
    gbx_nested_free(n);
    return NULL;
}

/* Use the run's name in the engine's log for the gate, too, until the run ends. */
static void take_name(gbx_code_run *run)
{
    char name[GBX_BOX_NAME_SIZE] = "";

    if (run->box_run != NULL)
        gbx_box_name(run->box_run, name);
    if (name[0] != '\0')
        (void)snprintf(run->id, sizeof run->id, "%s", name);
}

static void on_call(const gbx_guest_request *a)
{
    gbx_code_run *run = a->run;
    const char *why;
    gbx_buf message;
    gbx_nested_call *n;

    if (run->call_count == 0)
        take_name(run);
    if (run->call_count >= run->code->settings->calls) {
        run->refused++;
        gbx_guest_request_refuse(
            a, "CALL_LIMIT",
            "the limit on calls of one execute is reached: ask for more at once");
        return;
    }
    gbx_buf_init(&message, GBX_KIB(8));
    n = read_call(a, &message);
    if (n == NULL) {
        refuse_by(a, "INVALID_ARGS", &message);
        gbx_buf_cleanup(&message);
        return;
    }
    if (gbx_code_find_server(run->code, n->server, &message, &why) == NULL) {
        refuse_by(a, why, &message);
        gbx_nested_free(n);
    } else {
        run->call_count++;
        run->open++;
        *run->calls_end = n;
        run->calls_end = &n->next;
        gbx_nested_start(n);
    }
    gbx_buf_cleanup(&message);
}

/* ---- tools and discover ---------------------------------------------------------- */

struct gbx_question {
    gbx_code_run *run;
    gbx_request request;
    gbx_code_query query;
    bool whole; /* tools as listed, not in the form of discover */
    gbx_question *next;
};

/* Without these names a partial list would look complete. */
static void put_absent(const gbx_question *q, gbx_buf *answer)
{
    gbx_buf names;

    gbx_buf_init(&names, GBX_KIB(64));
    gbx_code_put_absent(q->run->code, &q->query, &names);
    if (names.len > 0) {
        (void)gbx_buf_puts(answer, ",\"absent\":");
        (void)gbx_json_append_string(answer, (char *)names.data, names.len);
    }
    gbx_buf_cleanup(&names);
}

static void answer_tools(const gbx_question *q)
{
    static const char too_long[] =
        "the list is longer than 64 MiB: ask for one server, or "
        "with a query";
    gbx_mcp_code *code = q->run->code;
    gbx_buf answer;

    gbx_buf_init(&answer, GBX_MIB(64));
    (void)gbx_buf_puts(&answer, "{\"value\":");
    if (q->whole)
        gbx_code_tools_json(code, &q->query, &answer);
    else
        gbx_code_find_json(code, &q->query, &answer);
    put_absent(q, &answer);
    (void)gbx_buf_puts(&answer, "}");
    if (!answer.failed)
        gbx_box_answer(code->box, q->request, (char *)answer.data, answer.len);
    else
        gbx_nested_refuse(code, q->request, "OUTPUT_TOO_LARGE", too_long,
                          strlen(too_long), false);
    gbx_buf_cleanup(&answer);
}

/* An empty list would claim that the server had no tools. */
static void refuse_unlearnt(const gbx_question *q, const gbx_upstream_reply *failure)
{
    const char *error_code = gbx_upstream_fault_name(failure->fault);
    const char *message = "the server cannot be started";
    gbx_buf clean;

    gbx_buf_init(&clean, GBX_MIB(1));
    if (gbx_gate_redact(q->run->code->gate, failure->message, strlen(failure->message),
                        &clean) &&
        gbx_buf_append(&clean, "", 1))
        message = (char *)clean.data;
    gbx_code_run_fault(q->run, error_code, message);
    gbx_nested_refuse(q->run->code, q->request, error_code, message, strlen(message),
                      gbx_upstream_is_retryable(failure));
    gbx_buf_cleanup(&clean);
}

static void answer_question(const gbx_question *q)
{
    gbx_guest_request a = {.run = q->run, .request = q->request};
    gbx_buf message;

    gbx_buf_init(&message, GBX_KIB(8));
    if (q->query.tool[0] != 0)
        gbx_code_no_tool(q->run->code, q->query.server, q->query.tool, &message);
    if (message.len > 0 && gbx_buf_append(&message, "", 1))
        gbx_guest_request_refuse(&a, "NOT_FOUND", (char *)message.data);
    else
        answer_tools(q);
    gbx_buf_cleanup(&message);
}

static void wait_for_turn(gbx_code_run *run)
{
    static const struct timeval now = {0, 0};

    (void)event_add(run->turn, &now);
}

static void on_turn(evutil_socket_t fd, short what, void *user)
{
    gbx_code_run *run = user;
    gbx_question *q = run->questions;

    (void)fd;
    (void)what;
    run->questions = q->next;
    if (q->next != NULL)
        wait_for_turn(run);
    answer_question(q);
    free(q);
    gbx_code_run_release(run);
}

/* An answer takes time in proportion to the tools, and code may ask thousands at once:
 * give each its own turn of the loop. */
static void line_up(gbx_question *q)
{
    gbx_code_run *run = q->run;

    if (run->questions != NULL) {
        *run->questions_end = q;
    } else {
        run->questions = q;
        wait_for_turn(run);
    }
    run->questions_end = &q->next;
}

static void on_learnt(void *user, const gbx_upstream_reply *failure)
{
    gbx_question *q = user;

    if (!q->run->is_ending && failure == NULL) {
        line_up(q);
        return;
    }
    if (!q->run->is_ending)
        refuse_unlearnt(q, failure);
    gbx_code_run_release(q->run);
    free(q);
}

static bool has_turns(gbx_code_run *run)
{
    if (run->turn == NULL)
        run->turn = event_new(gbx_mcp_loop_base(run->code->loop), -1, 0, on_turn, run);
    return run->turn != NULL;
}

static void ask(const gbx_guest_request *a, gbx_view words, gbx_view settings,
                bool whole)
{
    gbx_question *q = calloc(1, sizeof *q);
    gbx_mcp_code *code = a->run->code;
    const char *why = "INVALID_ARGS";
    bool has_room = q != NULL && has_turns(a->run);
    gbx_buf message;

    gbx_buf_init(&message, GBX_KIB(8));
    if (has_room && whole &&
        !gbx_code_take_name(a->args[0], q->query.server, sizeof q->query.server)) {
        (void)gbx_buf_puts(&message, "tools are of a server");
    } else if (has_room && gbx_code_read_query(words, settings, &q->query, &message) &&
               (q->query.server[0] == 0 ||
                gbx_code_find_server(code, q->query.server, &message, &why) != NULL)) {
        q->run = a->run;
        q->request = a->request;
        q->whole = whole;
        a->run->holders++;
        if (gbx_code_list_tools(code, q->query.server[0] != 0 ? q->query.server : NULL,
                                false, NULL, on_learnt, free, q)) {
            gbx_buf_cleanup(&message);
            return;
        }
        a->run->holders--;
    }
    refuse_by(a, why, &message);
    gbx_buf_cleanup(&message);
    free(q);
}

static void on_tools(const gbx_guest_request *a)
{
    ask(a, a->args[1], (gbx_view){NULL, 0}, true);
}

static void on_discover(const gbx_guest_request *a)
{
    ask(a, a->args[0], a->args[1], false);
}

/* ---- progress and faults --------------------------------------------------------- */

static double number_of(gbx_view view)
{
    char text[40] = "";

    if (gbx_view_kind(view) != '0' || view.len >= sizeof text)
        return -1;
    memcpy(text, view.at, view.len);
    return strtod(text, NULL);
}

static void tell_progress(const gbx_guest_request *a)
{
    double at = number_of(a->args[0]);
    double total = number_of(a->args[1]);
    gbx_buf text;
    gbx_buf clean;

    gbx_buf_init(&text, GBX_KIB(16));
    gbx_buf_init(&clean, GBX_KIB(64));
    if (gbx_view_kind(a->args[2]) == '"')
        (void)gbx_view_append_text(a->args[2], &text);
    (void)gbx_gate_redact(a->run->code->gate,
                          text.data != NULL ? (char *)text.data : "", text.len, &clean);
    if (!text.failed && !clean.failed && at >= 0 && isfinite(at))
        gbx_mcp_progress_at(a->run->request, at, total, (char *)clean.data, clean.len);
    else if (!text.failed && !clean.failed)
        gbx_mcp_progress(a->run->request, total, (char *)clean.data, clean.len);
    gbx_buf_cleanup(&text);
    gbx_buf_cleanup(&clean);
}

static void on_progress(const gbx_guest_request *a)
{
    if (gbx_mcp_hears_progress(a->run->request))
        tell_progress(a);
    gbx_box_answer(a->run->code->box, a->request, "{}", 2);
}

/* Accept only codes that the script uses; the rest of a reply does not depend on it. */
static void on_fault(const gbx_guest_request *a)
{
    static const char *const codes[] = {"NOT_FOUND", "INVALID_ARGS", "CALL_LIMIT",
                                        "INPUT_TOO_LARGE"};
    GBX_CLEANUP(gbx_free)
    char *message = gbx_guest_request_text(a->args[1], GBX_KIB(4));

    for (size_t i = 0; message != NULL && i < GBX_COUNTOF(codes); i++)
        if (is_text(a->args[0], codes[i]))
            gbx_code_run_fault(a->run, codes[i], message);
    gbx_box_answer(a->run->code->box, a->request, "{}", 2);
}

/* ---- public to other files of this folder --------------------------------- */

char *gbx_guest_request_text(gbx_view view, size_t max)
{
    gbx_buf text;
    char *taken;

    gbx_buf_init(&text, max);
    if (gbx_view_kind(view) != '"' || !gbx_view_append_text(view, &text) ||
        memchr(text.data != NULL ? text.data : (const uint8_t *)"", 0, text.len) !=
            NULL)
        text.failed = true;
    taken = gbx_buf_take_string(&text, NULL);
    gbx_buf_cleanup(&text);
    return taken;
}

void gbx_guest_request_refuse(const gbx_guest_request *a, const char *code,
                              const char *message)
{
    gbx_code_run_fault(a->run, code, message);
    gbx_nested_refuse(a->run->code, a->request, code, message, strlen(message), false);
}

void gbx_code_run_drop_questions(gbx_code_run *run)
{
    gbx_question *q;

    while ((q = run->questions) != NULL) {
        run->questions = q->next;
        run->holders--;
        free(q);
    }
    if (run->turn != NULL)
        event_free(run->turn);
    run->turn = NULL;
}

void gbx_code_run_request(void *user, gbx_request request, gbx_view args)
{
    static const struct {
        const char *name;
        void (*serve)(const gbx_guest_request *a);
    } operations[] = {{"call", on_call},           {"tools", on_tools},
                      {"discover", on_discover},   {"progress", on_progress},
                      {"artifact", gbx_code_keep}, {"fault", on_fault}};
    gbx_guest_request a = {.run = user, .request = request};
    gbx_view operation = {NULL, 0};
    gbx_view name;
    size_t cursor = 0;

    (void)gbx_view_next(args, &cursor, &name, &operation);
    for (size_t i = 0;
         i < GBX_ASKED_ARGS && gbx_view_next(args, &cursor, &name, &a.args[i]); i++)
        continue;
    for (size_t i = 0; i < GBX_COUNTOF(operations); i++) {
        if (!is_text(operation, operations[i].name))
            continue;
        operations[i].serve(&a);
        return;
    }
    gbx_guest_request_refuse(&a, "INVALID_ARGS", "no such operation");
}

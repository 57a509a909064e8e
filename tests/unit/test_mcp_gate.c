/* SPDX-License-Identifier: MIT */
/*
 * mcp_gate - calls on their way, with servers and a person that the test plays: what
 * reaches a server, how often, with which bytes, and what comes back of it.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "mcp/gate/gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <jansson.h>

/* ---- servers that are played ----------------------------------------------------- */

#define CALLS_MAX 64

struct gbx_upstream_call {
    struct event *event;
    gbx_upstream_done_fn done;
    void *user;
    bool is_learning;
    bool cancelled;
    bool held; /* answers when the test says so */
    char *args;
    char *meta;
};

struct gbx_upstreams {
    struct event_base *base;
    bool known; /* the tools of files */
    bool learns_nothing;
    gbx_view tools;
    const char *result;
    gbx_upstream_fault fault;
    bool hold;
    size_t started;
    size_t learned;
    gbx_upstream_call *calls[CALLS_MAX];
};

static gbx_upstreams played;

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
    } else if (played.fault != GBX_UPSTREAM_OK) {
        reply.fault = played.fault;
        reply.message = played.result;
    } else {
        assert_true(gbx_view_open(played.result, strlen(played.result), &reply.result));
    }
    call->done(call->user, &reply);
    event_free(call->event);
    call->event = NULL;
    if (call->is_learning)
        free(call);
}

static gbx_upstream_call *new_call(gbx_upstream_done_fn done, void *user)
{
    gbx_upstream_call *call = calloc(1, sizeof *call);

    assert_non_null(call);
    call->done = done;
    call->user = user;
    call->event = event_new(played.base, -1, 0, on_event, call);
    event_active(call->event, EV_TIMEOUT, 0);
    return call;
}

gbx_upstream_call *gbx_upstream_start(gbx_upstreams *upstreams,
                                      const gbx_upstream_request *request,
                                      gbx_upstream_done_fn done, void *user)
{
    gbx_upstream_call *call = new_call(done, user);

    assert_true(upstreams->started < CALLS_MAX);
    call->held = upstreams->hold;
    call->args = strndup(request->args, request->args_len);
    call->meta = request->meta != NULL ? strdup(request->meta) : NULL;
    upstreams->calls[upstreams->started++] = call;
    if (request->progress != NULL)
        request->progress(user, "at t0ken-of-the-test", 20);
    return call;
}

void gbx_upstream_cancel(gbx_upstream_call *call)
{
    call->cancelled = true;
    event_active(call->event, EV_TIMEOUT, 0);
}

void gbx_upstream_learn(gbx_upstreams *upstreams, const char *server,
                        gbx_upstream_done_fn done, void *user)
{
    gbx_upstream_call *call = new_call(done, user);

    assert_string_equal(server, "files");
    call->is_learning = true;
    upstreams->learned++;
}

size_t gbx_upstreams_count(const gbx_upstreams *upstreams)
{
    (void)upstreams;
    return 1;
}

gbx_upstream_info gbx_upstreams_info(const gbx_upstreams *upstreams, size_t index)
{
    (void)index;
    return (gbx_upstream_info){.name = "files",
                               .tools =
                                   upstreams->known ? upstreams->tools : (gbx_view){0}};
}

const char *gbx_upstream_fault_name(gbx_upstream_fault fault)
{
    return fault == GBX_UPSTREAM_TIMEOUT ? "UPSTREAM_TIMEOUT" : "UPSTREAM_OTHER";
}

bool gbx_upstream_fault_retryable(gbx_upstream_fault fault)
{
    return fault == GBX_UPSTREAM_TIMEOUT;
}

/* ---- a person who is played --------------------------------------------------------- */

struct gbx_mcp_request {
    bool can_ask;
    gbx_mcp_answer how;
    const char *content;
    size_t asked;
    size_t open;
    size_t most_open;
    char message[8192];
    char schema[1024];
};

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

gbx_view gbx_mcp_request_meta(const gbx_mcp_request *request, const char *name)
{
    static const char trace[] = "\"00-abc-def-01\"";
    (void)request;

    return strcmp(name, "traceparent") == 0 ? (gbx_view){trace, sizeof trace - 1}
                                            : (gbx_view){0};
}

/* ---- the stage ------------------------------------------------------------------------ */

typedef struct outcome {
    size_t count;
    char code[32];
    char message[2048];
    char result[1024];
    char progress[64];
    bool retryable;
} outcome;

static gbx_mcp_loop *loop;
static gbx_mcp_config *config;
static gbx_gate *gate;
static char lines[16384];
static char folder[] = "/tmp/gbx-gate-XXXXXX";
static char path[64];

static void on_line(void *user, const char *line, size_t len)
{
    (void)user;
    (void)strncat(lines, line, len);
}

static void on_done(void *user, const gbx_gate_reply *reply)
{
    outcome *to = user;

    to->count++;
    to->retryable = reply->retryable;
    (void)snprintf(to->code, sizeof to->code, "%s",
                   reply->code != NULL ? reply->code : "");
    (void)snprintf(to->message, sizeof to->message, "%s", reply->message);
    (void)snprintf(to->result, sizeof to->result, "%.*s", (int)reply->result.len,
                   reply->result.at != NULL ? reply->result.at : "");
}

static void on_progress(void *user, const char *message, size_t len)
{
    outcome *to = user;

    (void)snprintf(to->progress, sizeof to->progress, "%.*s", (int)len, message);
}

static void write_config(const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* A gate over a configuration whose own key holds what is given. */
static void open_gate(const char *ours)
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
    if (gbx_mcp_config_load(path, &config, &err) != GBX_OK)
        fail_msg("%s", err.message);
    loop = gbx_mcp_loop_new();
    assert_non_null(loop);
    played =
        (gbx_upstreams){.base = gbx_mcp_loop_base(loop), .result = "{\"content\":[]}"};
    assert_true(gbx_view_open(tools, strlen(tools), &played.tools));
    assert_int_equal(gbx_gate_new(loop, config, &played, &gate, NULL), GBX_OK);
    gbx_gate_on_audit(gate, on_line, NULL);
    lines[0] = '\0';
}

static void close_gate(void)
{
    gbx_gate_free(gate);
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

static gbx_gate_call *start(outcome *to, gbx_mcp_request *request, const char *tool,
                            const char *args, const char *run)
{
    gbx_gate_call *call = gbx_gate_start(gate,
                                         &(gbx_gate_ask){.server = "files",
                                                         .tool = tool,
                                                         .args = args,
                                                         .args_len = strlen(args),
                                                         .request = request,
                                                         .run = run,
                                                         .line = 7,
                                                         .progress = on_progress},
                                         on_done, to);

    assert_non_null(call);
    assert_int_equal(to->count, 0);
    return call;
}

static void settle(void)
{
    for (int i = 0; i < 50; i++)
        (void)event_base_loop(played.base, EVLOOP_NONBLOCK);
}

/* One call to its end. */
static outcome call(gbx_mcp_request *request, const char *tool, const char *args,
                    const char *run)
{
    outcome to = {.count = 0};

    (void)start(&to, request, tool, args, run);
    settle();
    assert_int_equal(to.count, 1);
    return to;
}

static gbx_mcp_request person(const char *answer)
{
    return (gbx_mcp_request){.can_ask = true,
                             .how = GBX_MCP_ANSWER_ACCEPT,
                             .content = answer};
}

#define ONCE    "{\"answer\":\"allow this call\"}"
#define RUN     "{\"answer\":\"allow for this run\"}"
#define SESSION "{\"answer\":\"allow for this session\"}"
#define ALWAYS  "{\"answer\":\"always allow\"}"

/* ---- decisions ---------------------------------------------------------------------- */

static void test_default__reads_pass_and_others_need_a_person(void **state)
{
    gbx_mcp_request nobody = {.can_ask = false};
    outcome o;
    (void)state;

    open_gate("");
    o = call(&nobody, "read_file", "{}", "");
    assert_string_equal(o.code, "");
    assert_string_equal(o.result, "{\"content\":[]}");
    assert_int_equal(played.started, 1);
    assert_int_equal(played.learned, 1);
    for (size_t i = 0; i < 3; i++) {
        static const char *const tools[] = {"write_file", "plain", "lies"};

        o = call(&nobody, tools[i], "{}", "");
        assert_string_equal(o.code, "NEEDS_APPROVAL");
        assert_non_null(strstr(o.message, "{\"action\":\"allow\",\"server\":\"files\","
                                          "\"tool\":\""));
        assert_non_null(strstr(o.message, tools[i]));
    }
    assert_int_equal(played.started, 1);
    close_gate();
}

static void test_deny__is_said_before_a_server_is_started(void **state)
{
    gbx_mcp_request p = person(ONCE);
    outcome o;
    (void)state;

    open_gate("\"rules\": [{\"action\": \"deny\", \"tool\": \"write_*\", \"reason\": "
              "\"it is Friday\"}]");
    o = call(&p, "write_file", "{}", "r-1");
    assert_string_equal(o.code, "DENIED");
    assert_string_equal(o.message, "the rules do not allow this call: it is Friday");
    assert_int_equal(played.learned + played.started + p.asked, 0);
    close_gate();
}

static void test_arguments__that_parsers_read_differently_go_nowhere(void **state)
{
    static const char *const args[] = {"{\"a\":1,\"a\":2}", "[]", "{", "",
                                       "{\"__proto__\":{}}"};
    gbx_mcp_request p = person(ONCE);
    (void)state;

    open_gate("\"rules\": [{\"action\": \"allow\"}]");
    for (size_t i = 0; i < GBX_COUNTOF(args); i++)
        assert_string_equal(call(&p, "plain", args[i], "").code, "INVALID_ARGS");
    assert_int_equal(played.started, 0);
    close_gate();
}

static void test_arguments__reach_the_server_as_they_were_judged(void **state)
{
    static const char args[] = " {\"b\" : 1.50e1, \"a\":\"\\u00e9\" } ";
    gbx_mcp_request p = person(ONCE);
    (void)state;

    open_gate("\"rules\": [{\"action\": \"allow\"}]");
    assert_string_equal(call(&p, "plain", args, "").code, "");
    assert_string_equal(played.calls[0]->args, args);
    assert_string_equal(played.calls[0]->meta, "\"traceparent\":\"00-abc-def-01\"");
    close_gate();
}

static void test_names__that_are_none_suggest_the_nearest(void **state)
{
    gbx_mcp_request p = person(ONCE);
    outcome o = {.count = 0};
    (void)state;

    open_gate("\"rules\": [{\"action\": \"ask\"}]");
    o = call(&p, "raed_file", "{}", "");
    assert_string_equal(o.code, "NOT_FOUND");
    assert_non_null(strstr(o.message, "did you mean 'read_file'?"));
    o = (outcome){.count = 0};
    (void)gbx_gate_start(gate,
                         &(gbx_gate_ask){.server = "fiels",
                                         .tool = "x",
                                         .args = "{}",
                                         .args_len = 2,
                                         .request = &p,
                                         .run = ""},
                         on_done, &o);
    settle();
    assert_string_equal(o.code, "NOT_FOUND");
    assert_non_null(strstr(o.message, "did you mean 'files'?"));
    assert_int_equal(p.asked, 0);
    close_gate();
}

static void test_fault__of_a_server_has_its_name(void **state)
{
    gbx_mcp_request p = person(ONCE);
    outcome o;
    (void)state;

    open_gate("");
    played.fault = GBX_UPSTREAM_TIMEOUT;
    played.result = "no answer in time";
    o = call(&p, "read_file", "{}", "");
    assert_string_equal(o.code, "UPSTREAM_TIMEOUT");
    assert_string_equal(o.message, "no answer in time");
    assert_true(o.retryable);
    close_gate();
}

static void test_tools__that_stay_unknown_are_not_asked_for_ever(void **state)
{
    gbx_mcp_request p = person(ONCE);
    (void)state;

    open_gate("");
    played.learns_nothing = true;
    assert_string_equal(call(&p, "read_file", "{}", "").code, "UPSTREAM_PROTOCOL");
    assert_int_equal(played.learned, 1);
    close_gate();
}

/* ---- questions ------------------------------------------------------------------------ */

static void test_question__shows_tool_server_line_and_arguments(void **state)
{
    gbx_mcp_request p = person(ONCE);
    (void)state;

    open_gate("\"rules\": [{\"action\": \"ask\", \"reason\": \"it costs\"}]");
    assert_string_equal(
        call(&p, "write_file", "{\"path\":\"/x\\u202ey\\u001b[2J\"}", "r-1").code, "");

    assert_non_null(strstr(p.message, "tool write_file of the server files"));
    assert_non_null(strstr(p.message, "Line 7 of the script"));
    assert_non_null(strstr(p.message, "Rule 1 asks: it costs"));
    assert_non_null(strstr(p.message, "\"path\": \"/x"));
    assert_null(strstr(p.message, "\xE2\x80\xAE"));
    assert_null(strchr(p.message, '\x1b'));
    assert_non_null(strstr(p.schema, "\"always allow\""));
    close_gate();
}

static void test_question__says_what_it_does_not_show(void **state)
{
    gbx_mcp_request p = person(ONCE);
    char args[6000];
    (void)state;

    open_gate("");
    (void)snprintf(args, sizeof args, "{\"a\":\"%05000d\"}", 0);
    (void)call(&p, "plain", args, "");
    assert_non_null(strstr(p.message, "bytes more that are not shown here"));
    close_gate();
}

static void test_answer__of_no_kind_that_was_offered_is_no(void **state)
{
    static const char *const contents[] = {NULL, "{}", "{\"answer\":true}",
                                           "{\"answer\":\"deny\"}",
                                           "{\"answer\":\"allow\"}"};
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(contents); i++) {
        gbx_mcp_request p = person(contents[i]);

        open_gate("");
        assert_string_equal(call(&p, "plain", "{}", "").code, "DENIED");
        assert_int_equal(played.started, 0);
        close_gate();
    }
}

static void test_answer__that_is_no_or_none_denies(void **state)
{
    static const struct {
        gbx_mcp_answer how;
        const char *code;
    } rows[] = {{GBX_MCP_ANSWER_DECLINE, "DENIED"},
                {GBX_MCP_ANSWER_CANCEL, "DENIED"},
                {GBX_MCP_ANSWER_NOBODY, "NEEDS_APPROVAL"}};
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        gbx_mcp_request p = person(ONCE);

        p.how = rows[i].how;
        open_gate("");
        assert_string_equal(call(&p, "plain", "{}", "").code, rows[i].code);
        assert_int_equal(played.started, 0);
        close_gate();
    }
}

static void test_grant__holds_as_long_as_it_was_given_for(void **state)
{
    static const struct {
        const char *answer;
        size_t same_run;
        size_t other_run;
    } rows[] = {{ONCE, 2, 3}, {RUN, 1, 2}, {SESSION, 1, 1}};
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        gbx_mcp_request p = person(rows[i].answer);

        open_gate("");
        (void)call(&p, "plain", "{}", "r-1");
        (void)call(&p, "plain", "{\"a\":1}", "r-1");
        assert_int_equal(p.asked, rows[i].same_run);
        (void)call(&p, "plain", "{}", "r-2");
        assert_int_equal(p.asked, rows[i].other_run);
        (void)call(&p, "write_file", "{}", "r-1");
        assert_int_equal(p.asked, rows[i].other_run + 1);
        assert_int_equal(played.started, 4);
        close_gate();
    }
}

static void test_grant__is_for_the_rule_that_asked(void **state)
{
    gbx_mcp_request p = person(SESSION);
    (void)state;

    open_gate("\"rules\": [{\"action\": \"deny\", \"args\": {\"n\": 3}},"
              "{\"action\": \"ask\", \"args\": {\"n\": 1}}, {\"action\": \"ask\"}]");
    (void)call(&p, "plain", "{}", "");
    (void)call(&p, "plain", "{\"n\":2}", "");
    assert_int_equal(p.asked, 1);
    (void)call(&p, "plain", "{\"n\":1}", "");
    assert_int_equal(p.asked, 2);
    assert_string_equal(call(&p, "plain", "{\"n\":3}", "").code, "DENIED");
    close_gate();
}

static void test_decline__is_not_asked_again_in_the_run(void **state)
{
    gbx_mcp_request p = person(ONCE);
    (void)state;

    p.how = GBX_MCP_ANSWER_DECLINE;
    open_gate("");
    (void)call(&p, "plain", "{}", "r-1");
    assert_string_equal(call(&p, "plain", "{}", "r-1").code, "DENIED");
    assert_int_equal(p.asked, 1);
    (void)call(&p, "plain", "{}", "r-2");
    assert_int_equal(p.asked, 2);
    close_gate();
}

/* One question at a time; what was answered for the run settles those that wait. */
static void test_questions__of_a_request_wait_for_each_other(void **state)
{
    gbx_mcp_request p = person(ONCE);
    gbx_mcp_request q = person(RUN);
    outcome ones[5] = {{.count = 0}};
    outcome runs[5] = {{.count = 0}};
    (void)state;

    open_gate("");
    for (size_t i = 0; i < 5; i++) {
        (void)start(&ones[i], &p, "plain", "{}", "r-1");
        (void)start(&runs[i], &q, "plain", "{}", "r-2");
    }
    settle();
    assert_int_equal(p.asked, 5);
    assert_int_equal(p.most_open, 1);
    assert_int_equal(q.asked, 1);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(ones[i].count, 1);
        assert_string_equal(ones[i].code, "");
        assert_string_equal(runs[i].code, "");
    }
    assert_int_equal(played.started, 10);
    close_gate();
}

static void test_questions__end_where_nobody_could_read_them(void **state)
{
    gbx_mcp_request p = person(ONCE);
    outcome o;
    (void)state;

    open_gate("");
    for (int i = 0; i < 30; i++)
        assert_string_equal(call(&p, "plain", "{}", "").code, "");
    o = call(&p, "plain", "{}", "");
    assert_string_equal(o.code, "NEEDS_APPROVAL");
    assert_non_null(strstr(o.message, "too many questions"));
    assert_int_equal(p.asked, 30);
    close_gate();
}

/* ---- always ---------------------------------------------------------------------------- */

static void read_config(char *to, size_t size)
{
    FILE *file = fopen(path, "r");
    size_t n;

    assert_non_null(file);
    n = fread(to, 1, size - 1, file);
    to[n] = '\0';
    (void)fclose(file);
}

static void test_always__is_a_rule_before_the_one_that_asked(void **state)
{
    gbx_mcp_request p = person(ALWAYS);
    char text[4096];
    struct stat st;
    (void)state;

    open_gate(
        "\"rules\": [\n    {\"action\": \"deny\", \"args\": {\"n\": 3}}, // not three\n"
        "    {\"action\": \"ask\"}, // all else\n  ]");
    assert_int_equal(chmod(path, 0640), 0);
    assert_string_equal(call(&p, "plain", "{}", "").code, "");
    assert_string_equal(call(&p, "plain", "{}", "").code, "");
    assert_int_equal(p.asked, 1);
    read_config(text, sizeof text);
    assert_string_equal(
        text, "{ // mine\n  \"mcpServers\": {\"files\": {\"command\": \"x\"}},\n"
              "  \"glovebox\": {\"rules\": [\n"
              "    {\"action\": \"deny\", \"args\": {\"n\": 3}}, // not three\n"
              "    {\"action\":\"allow\",\"server\":\"files\",\"tool\":\"plain\"},\n"
              "    {\"action\": \"ask\"}, // all else\n  ]}\n}\n");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_non_null(strstr(lines, "\"answer\":\"always\""));
    close_gate();
}

static void test_always__makes_rules_where_there_are_none(void **state)
{
    gbx_mcp_request p = person(ALWAYS);
    gbx_mcp_config *now = NULL;
    (void)state;

    open_gate("");
    (void)call(&p, "plain", "{}", "");
    assert_int_equal(gbx_mcp_config_load(path, &now, NULL), GBX_OK);
    gbx_mcp_config_free(now);
    close_gate();
}

static void test_always__does_not_touch_a_file_that_has_changed(void **state)
{
    static const char *const others[] = {
        "{\"mcpServers\": {\"files\": {\"command\": \"x\"}}, \"glovebox\": {\"rules\": "
        "[{\"action\": \"deny\"}, {\"action\": \"ask\", \"tool\": \"x\"}]}}",
        "{\"mcpServers\": {}}", "no JSON", ""};
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(others); i++) {
        gbx_mcp_request p = person(ALWAYS);
        char text[4096];

        open_gate("\"rules\": [{\"action\": \"ask\"}]");
        write_config(others[i]);
        assert_string_equal(call(&p, "plain", "{}", "").code, "");
        read_config(text, sizeof text);
        assert_string_equal(text, others[i]);
        assert_non_null(strstr(lines, "the rule was not written"));
        close_gate();
    }
}

/* ---- secrets ---------------------------------------------------------------------------- */

#define SECRET                                                                   \
    "\"rules\": [{\"action\": \"allow\"}], \"secrets\": {\"KEY\": {\"value\": "  \
    "\"t0ken-of-the-test\", \"servers\": [\"files\"]}, \"QUOTED\": {\"value\": " \
    "\"a\\\"b\\\\c,d:efgh\", \"servers\": [\"files\"]}}"

static void test_secrets__are_filled_in_outside_and_never_come_back(void **state)
{
    gbx_mcp_request p = person(ONCE);
    outcome o;
    (void)state;

    open_gate(SECRET);
    played.result =
        "{\"content\":[{\"type\":\"text\",\"text\":\"you said t0ken-of-the-test, "
        "dDBrZW4tb2YtdGhlLXRlc3Q=, 74306b656e2d6f662d7468652d74657374, "
        "t0ken%2Dof%2Dthe%2Dtest\"}],\"structuredContent\":{\"k\":\"t0ken-of-the-test\"}}";
    o = call(&p, "plain", "{\"k\":\"Bearer {{secret:KEY}}\"}", "r-1");
    assert_string_equal(o.code, "");
    assert_string_equal(played.calls[0]->args, "{\"k\":\"Bearer t0ken-of-the-test\"}");
    assert_null(strstr(o.result, "t0ken"));
    assert_null(strstr(o.result, "dDBr"));
    assert_null(strstr(o.result, "7430"));
    assert_non_null(strstr(o.result, "you said {{secret:KEY}}"));
    assert_string_equal(o.progress, "at {{secret:KEY}}");
    assert_null(strstr(lines, "t0ken"));
    close_gate();
}

static void test_secrets__cannot_end_the_string_they_are_put_into(void **state)
{
    gbx_mcp_request p = person(ONCE);
    json_t *args;
    (void)state;

    open_gate(SECRET);
    (void)call(&p, "plain", "{\"k\":\"<{{secret:QUOTED}}>\"}", "");
    args = json_loads(played.calls[0]->args, 0, NULL);
    assert_non_null(args);
    assert_int_equal(json_object_size(args), 1);
    assert_string_equal(json_string_value(json_object_get(args, "k")),
                        "<a\"b\\c,d:efgh>");
    json_decref(args);
    close_gate();
}

static void test_secrets__are_in_no_question_and_no_error(void **state)
{
    gbx_mcp_request p = person(ONCE);
    outcome o;
    (void)state;

    open_gate("\"secrets\": {\"KEY\": {\"value\": \"t0ken-of-the-test\", \"servers\": "
              "[\"files\"]}}");
    played.fault = GBX_UPSTREAM_REFUSED;
    played.result = "bad key: t0ken-of-the-test";
    o = call(&p, "plain", "{\"k\":\"{{secret:KEY}}\"}", "r-1");
    assert_string_equal(o.code, "UPSTREAM_OTHER");
    assert_string_equal(o.message, "bad key: {{secret:KEY}}");
    assert_non_null(strstr(p.message, "{{secret:KEY}}"));
    assert_null(strstr(p.message, "t0ken"));
    assert_null(strstr(lines, "t0ken"));
    close_gate();
}

static void test_secrets__that_are_not_for_the_server_are_refused(void **state)
{
    static const char *const args[] = {"{\"k\":\"{{secret:OTHER}}\"}",
                                       "{\"k\":\"{{secret:NONE}}\"}",
                                       "{\"k\":\"{{secret:\"}"};
    gbx_mcp_request p = person(ONCE);
    (void)state;

    open_gate("\"rules\": [{\"action\": \"allow\"}]");
    for (size_t i = 0; i < GBX_COUNTOF(args); i++)
        assert_string_equal(call(&p, "plain", args[i], "").code, "INVALID_ARGS");
    assert_int_equal(played.started, 0);
    close_gate();
}

/* ---- the log, and the end ------------------------------------------------------------------ */

static void test_log__has_a_line_for_every_call(void **state)
{
    gbx_mcp_request p = person(ONCE);
    json_t *line;
    (void)state;

    open_gate("\"rules\": [{\"action\": \"ask\", \"tool\": \"plain\"}]");
    (void)call(&p, "plain", "{\"secret\":\"argument\"}", "9f3a61c2-1");
    line = json_loads(lines, 0, NULL);
    assert_non_null(line);
    assert_string_equal(json_string_value(json_object_get(line, "event")), "mcp.call");
    assert_string_equal(json_string_value(json_object_get(line, "callId")),
                        "9f3a61c2-1");
    assert_string_equal(json_string_value(json_object_get(line, "server")), "files");
    assert_string_equal(json_string_value(json_object_get(line, "tool")), "plain");
    assert_string_equal(json_string_value(json_object_get(line, "decision")), "ask");
    assert_string_equal(json_string_value(json_object_get(line, "answer")), "once");
    assert_int_equal(json_integer_value(json_object_get(line, "rule")), 1);
    assert_int_equal(json_integer_value(json_object_get(line, "line")), 7);
    assert_true(json_is_true(json_object_get(line, "ok")));
    assert_null(strstr(lines, "argument\""));
    json_decref(line);
    lines[0] = '\0';
    (void)call(&p, "x\n{\"event\":\"fake\"}", "[]", "");
    assert_ptr_equal(strchr(lines, '\n'), lines + strlen(lines) - 1);
    assert_non_null(strstr(lines, "\"code\":\"INVALID_ARGS\""));
    assert_null(strstr(lines, "\"decision\""));
    close_gate();
}

static void test_cancel__ends_a_call_wherever_it_is(void **state)
{
    gbx_mcp_request p = person(ONCE);
    outcome o[3] = {{.count = 0}};
    gbx_gate_call *calls[3];
    (void)state;

    open_gate("\"rules\": [{\"action\": \"allow\", \"tool\": \"read_file\"}]");
    played.hold = true;
    calls[0] = start(&o[0], &p, "read_file", "{}", "r-1");
    settle();
    assert_int_equal(played.started, 1);
    calls[1] = start(&o[1], &p, "read_file", "{}", "r-1"); /* has not begun */
    calls[2] = start(&o[2], &p, "plain", "{}", "r-1");
    for (size_t i = 0; i < 3; i++) {
        gbx_gate_cancel(calls[i]);
        gbx_gate_cancel(calls[i]);
        assert_int_equal(o[i].count, 0);
    }
    settle();
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(o[i].count, 1);
        assert_string_equal(o[i].code, "ABORTED");
    }
    assert_int_equal(played.started, 1);
    close_gate();
}

static void test_free__ends_what_is_in_flight(void **state)
{
    gbx_mcp_request p = person(ONCE);
    outcome o[3] = {{.count = 0}};
    (void)state;

    open_gate("\"rules\": [{\"action\": \"allow\", \"tool\": \"read_file\"}]");
    played.hold = true;
    (void)start(&o[0], &p, "read_file", "{}", "r-1");
    settle();
    (void)start(&o[1], &p, "plain", "{}", "r-1");
    (void)event_base_loop(played.base, EVLOOP_NONBLOCK);
    (void)start(&o[2], &p, "plain", "{}", "r-1");
    close_gate();
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(o[i].count, 1);
        assert_string_equal(o[i].code, "ABORTED");
    }
}

static int setup(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    (void)snprintf(path, sizeof path, "%s/mcp.json", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default__reads_pass_and_others_need_a_person),
        cmocka_unit_test(test_deny__is_said_before_a_server_is_started),
        cmocka_unit_test(test_arguments__that_parsers_read_differently_go_nowhere),
        cmocka_unit_test(test_arguments__reach_the_server_as_they_were_judged),
        cmocka_unit_test(test_names__that_are_none_suggest_the_nearest),
        cmocka_unit_test(test_fault__of_a_server_has_its_name),
        cmocka_unit_test(test_tools__that_stay_unknown_are_not_asked_for_ever),
        cmocka_unit_test(test_question__shows_tool_server_line_and_arguments),
        cmocka_unit_test(test_question__says_what_it_does_not_show),
        cmocka_unit_test(test_answer__of_no_kind_that_was_offered_is_no),
        cmocka_unit_test(test_answer__that_is_no_or_none_denies),
        cmocka_unit_test(test_grant__holds_as_long_as_it_was_given_for),
        cmocka_unit_test(test_grant__is_for_the_rule_that_asked),
        cmocka_unit_test(test_decline__is_not_asked_again_in_the_run),
        cmocka_unit_test(test_questions__of_a_request_wait_for_each_other),
        cmocka_unit_test(test_questions__end_where_nobody_could_read_them),
        cmocka_unit_test(test_always__is_a_rule_before_the_one_that_asked),
        cmocka_unit_test(test_always__makes_rules_where_there_are_none),
        cmocka_unit_test(test_always__does_not_touch_a_file_that_has_changed),
        cmocka_unit_test(test_secrets__are_filled_in_outside_and_never_come_back),
        cmocka_unit_test(test_secrets__cannot_end_the_string_they_are_put_into),
        cmocka_unit_test(test_secrets__are_in_no_question_and_no_error),
        cmocka_unit_test(test_secrets__that_are_not_for_the_server_are_refused),
        cmocka_unit_test(test_log__has_a_line_for_every_call),
        cmocka_unit_test(test_cancel__ends_a_call_wherever_it_is),
        cmocka_unit_test(test_free__ends_what_is_in_flight),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}

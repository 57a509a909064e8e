/* SPDX-License-Identifier: MIT */
/*
 * upstreams - what upstream servers do wrong, and what comes of it: the files mcp/upstream.txt,
 * upstream_care.txt and upstream_odd.txt. Most of the servers are tests/mcp/bad-upstream.mjs.
 *
 *     mcp_upstreams FILE
 *
 * The verbs are those of verbs[], of steps.h, and:
 *
 *     bad NAME WORDS          a server that misbehaves as told; then "let NAME OPTION VALUE"
 *     command NAME PROGRAM WORDS   any other program
 *     start                   after the last of them
 *     run WORDS               one server that misbehaves as told, "bad", and the start
 *     call SERVER TOOL ARGUMENTS => TEXT          it answers with this text
 *     fail SERVER TOOL ARGUMENTS => FAULT PART    it fails so; the message has the part
 *     ask CALL SERVER TOOL ARGUMENTS    a call that is not waited for; later "answer CALL FAULT
 *                             [TEXT]", "done CALL", "cancel CALL"
 *     is WHAT VALUE           WHAT is one of print_value(), of the last answer or of the first
 *                             server; "has WHAT PART"; "until WHAT VALUE" waits for that
 *     between LOW HIGH WHAT
 *     never PART              no message has it from now on
 */
#include "scratch.h"
#include "servers.h"
#include "steps.h"
#include "test.h"

#include "base/cleanup.h"
#include "marked.h"
#include "mcp/rules/rules.h"
#include "mcp/upstream/servers.h"

#define CALLS_MAX 5200
#define TEXTS_MAX (4 * CALLS_MAX)

static struct {
    servers *servers;
    answer answers[CALLS_MAX]; /* the first: of the last that was waited for */
    char *texts[TEXTS_MAX];    /* what servers and calls point to */
    size_t text_count;
    const char *never[4];
    size_t never_count;
    char learnt[16]; /* the numbers of the questions for tools that were answered */
    unsigned busy;   /* answers */
    gbx_gate_rules rules;
} s;

static char *kept(const char *text)
{
    assert_true(s.text_count < TEXTS_MAX);
    s.texts[s.text_count] = strdup(text);
    assert_non_null(s.texts[s.text_count]);
    return s.texts[s.text_count++];
}

/* ---- servers ------------------------------------------------------------------- */

static void on_bad(char *rest)
{
    const char *name = table_word(&rest, " ");

    (void)servers_add_bad(s.servers, kept(name), rest);
}

static void on_command(char *rest)
{
    const char *name = kept(table_word(&rest, " "));
    const char *program = kept(table_word(&rest, " "));

    (void)servers_add_command(s.servers, name, program, rest);
}

static gbx_mcp_upstream_config *named_server(const char *name)
{
    for (size_t i = 0; i < s.servers->config.server_count; i++)
        if (strcmp(s.servers->list[i].name, name) == 0)
            return &s.servers->list[i];
    fail_msg("no server '%s'", name);
    return NULL;
}

static void on_let(char *rest)
{
    gbx_mcp_upstream_config *c = named_server(table_word(&rest, " "));
    const char *option = table_word(&rest, " ");
    const struct {
        const char *name;
        uint32_t *value;
    } numbers[] = {{"start_ms", &c->start_ms},
                   {"timeout_ms", &c->timeout_ms},
                   {"idle_ms", &c->idle_ms},
                   {"calls_at_once", &c->calls_at_once},
                   {"processes", &c->processes}};
    static char *inherit[1];

    if (strcmp(option, "cwd") == 0)
        c->cwd = kept(rest);
    if (strcmp(option, "inherit") == 0) {
        inherit[0] = kept(rest);
        c->inherit = inherit;
        c->inherit_count = 1;
    }
    for (size_t i = 0; i < GBX_COUNTOF(numbers); i++)
        if (strcmp(option, numbers[i].name) == 0)
            *numbers[i].value = (uint32_t)steps_number(&rest);
}

static void on_start(char *rest)
{
    servers_start(s.servers);
}

static void on_run(char *rest)
{
    bad_start(s.servers, rest);
}

/* Of all servers together. */
static void on_calls_at_once(char *rest)
{
    s.servers->config.settings.calls_at_once = (uint32_t)steps_number(&rest);
}

static void on_starts_at_once(char *rest)
{
    s.servers->all->starts_at_once = (uint32_t)steps_number(&rest);
}

static void on_setenv(char *rest)
{
    const char *name = table_word(&rest, " ");

    assert_int_equal(setenv(name, rest, 1), 0);
}

/* The value of a secret of every server. */
static void on_secret(char *rest)
{
    s.rules.secrets = gbx_policy_new();
    assert_int_equal(gbx_policy_secret(s.rules.secrets, "KEY", rest, NULL, "bad", NULL),
                     GBX_OK);
    s.servers->config.rules = &s.rules;
}

static void on_retry(char *rest)
{
    gbx_upstream_retry(s.servers->all, &s.servers->list[0]);
}

static void on_free(char *rest)
{
    gbx_upstreams_free(s.servers->all);
    s.servers->all = NULL;
}

static void on_turn(char *rest)
{
    servers_turn(s.servers, (unsigned)steps_number(&rest));
}

/* ---- calls --------------------------------------------------------------------- */

static void on_hint(char *rest)
{
    s.servers->hint = strcmp(rest, "reads") == 0   ? GBX_GATE_HINT_READS
                      : strcmp(rest, "other") == 0 ? GBX_GATE_HINT_OTHER
                                                   : GBX_GATE_HINT_UNKNOWN;
}

static void on_never(char *rest)
{
    assert_true(s.never_count < GBX_COUNTOF(s.never));
    s.never[s.never_count++] = kept(rest);
}

/* Becomes the last answer. */
static void take_answer(answer *a)
{
    answer *last = &s.answers[0];

    for (size_t i = 0; i < s.never_count; i++)
        if (strstr(a->message, s.never[i]) != NULL)
            fail_msg("'%s' is in: %s", s.never[i], a->message);
    s.busy += a->fault == GBX_UPSTREAM_BUSY;
    answer_cleanup(last);
    *last = *a;
    a->result = NULL;
}

/* "SERVER TOOL ARGUMENTS", which stay as long as the answer is waited for. */
static void begin(char *rest, answer *to)
{
    const char *server = table_word(&rest, " ");
    const char *tool = table_word(&rest, " ");

    servers_begin(s.servers, server, kept(tool), kept(rest), to);
}

/* "FAULT TEXT" of the last answer; of a fault the message has the text. */
static void check_answer(char *rest)
{
    const answer *a = &s.answers[0];
    const char *fault = table_word(&rest, " ");
    static char text[65536];

    answer_text(a, text, sizeof text);
    if (strcmp(gbx_upstream_fault_name(a->fault), fault) != 0)
        fail_msg("%s: %s", gbx_upstream_fault_name(a->fault), a->message);
    if (a->fault != GBX_UPSTREAM_OK && strstr(a->message, rest) == NULL)
        assert_string_equal(a->message, rest);
    if (a->fault == GBX_UPSTREAM_OK)
        assert_string_equal(text, rest);
}

static char *call_and_wait(char *rest)
{
    char *wanted = rest;
    answer a;

    (void)table_word(&wanted, " => ");
    begin(rest, &a);
    servers_wait(s.servers, &a);
    take_answer(&a);
    return wanted;
}

static void on_call(char *rest)
{
    char wanted[65536];

    (void)snprintf(wanted, sizeof wanted, "OK %s", call_and_wait(rest));
    check_answer(wanted);
}

static void on_fail(char *rest)
{
    check_answer(call_and_wait(rest));
}

static void on_ask(char *rest)
{
    long number = steps_number(&rest);

    assert_in_range(number, 1, CALLS_MAX - 1);
    begin(rest, &s.answers[number]);
}

/* "CALL FAULT [TEXT]"; without a text, any */
static void on_answer(char *rest)
{
    answer *a = &s.answers[steps_number(&rest)];

    servers_wait(s.servers, a);
    take_answer(a);
    if (strchr(rest, ' ') != NULL)
        check_answer(rest);
    else if (*rest != '\0')
        assert_string_equal(gbx_upstream_fault_name(s.answers[0].fault), rest);
}

static bool is_done(char *rest)
{
    return s.answers[steps_number(&rest)].is_there;
}

static void on_cancel(char *rest)
{
    gbx_upstream_cancel(&s.answers[steps_number(&rest)].call);
}

/* ---- tools --------------------------------------------------------------------- */

static void on_learnt(void *user, const gbx_upstream_reply *reply)
{
    if (reply->fault == GBX_UPSTREAM_OK)
        (void)strncat(s.learnt, user, 1);
}

/* "SERVER NAME": a question for its tools, and what it is called. */
static void on_learn(char *rest)
{
    gbx_mcp_upstream_config *c = named_server(table_word(&rest, " "));

    gbx_upstream_learn(s.servers->all, c, on_learnt, kept(rest));
}

/* "TOOL HINT" of the first server */
static bool is_known(char *rest)
{
    static const char *const names[] = {[GBX_GATE_HINT_UNKNOWN] = "unknown",
                                        [GBX_GATE_HINT_READS] = "reads",
                                        [GBX_GATE_HINT_OTHER] = "other",
                                        [GBX_GATE_HINT_MISSING] = "missing"};
    const char *tool = table_word(&rest, " ");

    return strcmp(names[gbx_upstreams_tool(s.servers->all, &s.servers->list[0], tool)],
                  rest) == 0;
}

/* "TOOL NEAREST" */
static bool is_nearest(char *rest)
{
    const char *tool = table_word(&rest, " ");

    return strcmp(gbx_upstreams_nearest_tool(s.servers->all, &s.servers->list[0], tool),
                  rest) == 0;
}

/* ---- values -------------------------------------------------------------------- */

static unsigned count_starts(void)
{
    FILE *file = fopen(scratch_path("count"), "r");
    unsigned count = 0;
    int c;

    while (file != NULL && (c = fgetc(file)) != EOF)
        count += c == '\n';
    if (file != NULL)
        (void)fclose(file);
    return count;
}

/* A letter for the state of each server. */
static void print_states(FILE *to)
{
    static const char letters[] = {[GBX_UPSTREAM_STOPPED] = '-',
                                   [GBX_UPSTREAM_STARTING] = 'x',
                                   [GBX_UPSTREAM_READY] = 'r',
                                   [GBX_UPSTREAM_BROKEN] = '-'};

    for (size_t i = 0; i < s.servers->config.server_count; i++)
        (void)fputc(
            letters[gbx_upstreams_info(s.servers->all, &s.servers->list[i]).state], to);
}

static void print_value(FILE *to, const char *name)
{
    static const char *const states[] = {"stopped", "starting", "ready", "broken"};
    const answer *a = &s.answers[0];
    gbx_upstream_info info;
    char text[256];
    const struct {
        const char *name;
        const char *text;
        unsigned number;
    } values[] = {
        {"message", a->message, 0},
        {"result", a->result != NULL ? a->result : "", 0},
        {"progress", a->progress, 0},
        {"log", s.servers->last_log, 0},
        {"learnt", s.learnt, 0},
        {"text", text, 0},
        {"retryable", NULL, a->is_retryable},
        {"length", NULL, (unsigned)(a->result_len + strlen(a->message))},
        {"log_lines", NULL, s.servers->log_lines},
        {"changes", NULL, s.servers->changes},
        {"busy", NULL, s.busy},
        {"marked", NULL, (unsigned)marked_count(s.servers->mark)},
        {"processes", NULL, count_starts()},
    };

    answer_text(a, text, sizeof text);
    for (size_t i = 0; i < GBX_COUNTOF(values); i++)
        if (strcmp(values[i].name, name) == 0) {
            (void)(values[i].text != NULL ? fputs(values[i].text, to)
                                          : fprintf(to, "%u", values[i].number));
            return;
        }
    info = gbx_upstreams_info(s.servers->all, &s.servers->list[0]);
    if (strcmp(name, "starting") == 0)
        print_states(to);
    else if (strcmp(name, "state") == 0)
        (void)fputs(states[info.state], to);
    else if (strcmp(name, "era") == 0)
        (void)fprintf(to, "%s %s %s", info.era, info.server_name, info.version);
    else if (strcmp(name, "fault") == 0)
        (void)fputs(info.fault, to);
    else if (strcmp(name, "left_out") == 0)
        (void)fputs(info.left_out_why, to);
    else if (strcmp(name, "tools") == 0)
        (void)fprintf(to, "%.*s", (int)info.tools.len, info.tools.at);
    else if (strcmp(name, "retry_ms") == 0)
        (void)fprintf(to, "%u", info.retry_ms);
    else
        fail_msg("nothing is called '%s'", name);
}

/* free() it. */
static char *value_of(const char *name)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    assert_non_null(to);
    print_value(to, name);
    assert_int_equal(fclose(to), 0);
    return text;
}

static bool compare(char *rest, bool is_whole)
{
    char *value = value_of(table_word(&rest, " "));
    bool is_so = is_whole ? strcmp(value, rest) == 0 : strstr(value, rest) != NULL;

    free(value);
    return is_so;
}

static bool is_that(char *rest)
{
    return compare(rest, true);
}

static bool has_part(char *rest)
{
    return compare(rest, false);
}

static bool is_between(char *rest)
{
    long low = steps_number(&rest);
    long high = steps_number(&rest);
    char *value = value_of(rest);
    long number = strtol(value, NULL, 10);

    free(value);
    return low <= number && number <= high;
}

static void wait_for(char *rest, bool is_whole)
{
    for (int i = 0; i < 3000; i++) {
        char *copy = strdup(rest);
        bool is_so = compare(copy, is_whole);

        free(copy);
        if (is_so)
            return;
        servers_turn(s.servers, 20);
    }
    fail_msg("it did not become so: %s", rest);
}

static void on_until(char *rest)
{
    wait_for(rest, true);
}

static void on_until_has(char *rest)
{
    wait_for(rest, false);
}

/* ---- the program --------------------------------------------------------------- */

static const steps_verb verbs[] = {
    {"bad", on_bad, NULL},
    {"command", on_command, NULL},
    {"let", on_let, NULL},
    {"start", on_start, NULL},
    {"run", on_run, NULL},
    {"calls at once", on_calls_at_once, NULL},
    {"starts at once", on_starts_at_once, NULL},
    {"setenv", on_setenv, NULL},
    {"secret", on_secret, NULL},
    {"retry", on_retry, NULL},
    {"free", on_free, NULL},
    {"turn", on_turn, NULL},
    {"hint", on_hint, NULL},
    {"never", on_never, NULL},
    {"call", on_call, NULL},
    {"fail", on_fail, NULL},
    {"ask", on_ask, NULL},
    {"answer", on_answer, NULL},
    {"done", NULL, is_done},
    {"cancel", on_cancel, NULL},
    {"learn", on_learn, NULL},
    {"tool", NULL, is_known},
    {"nearest", NULL, is_nearest},
    {"is", NULL, is_that},
    {"has", NULL, has_part},
    {"between", NULL, is_between},
    {"until has", on_until_has, NULL},
    {"until", on_until, NULL},
    {NULL, NULL, NULL},
};

static void set_up(void)
{
    void *state;

    memset(&s, 0, sizeof s);
    assert_int_equal(servers_set_up(&state), 0);
    s.servers = state;
}

static void tear_down(void)
{
    void *state = s.servers;

    assert_int_equal(servers_tear_down(&state), 0);
    for (size_t i = 0; i < CALLS_MAX; i++)
        answer_cleanup(&s.answers[i]);
    while (s.text_count > 0)
        free(s.texts[--s.text_count]);
    gbx_policy_free(s.rules.secrets);
}

int main(int argc, char **argv)
{
    static const char *const words[][2] = {{"$CR", "\r"}, {NULL}};
    static const steps_program program = {.verbs = verbs,
                                          .words = words,
                                          .set_up = set_up,
                                          .tear_down = tear_down};

    return steps_main(argc, argv, &program);
}

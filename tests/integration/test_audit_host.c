/* SPDX-License-Identifier: MIT */
/* What the security log says of functions, files and fetches: one line for each request,
 * what it was aimed at, why it was refused, and no secret. */
#include "audit_log.h"
#include "calls.h"
#include "dns_server.h"
#include "host_functions.h"
#include "http_server.h"
#include "proc.h"
#include "scratch.h"
#include "table.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECRET "s3cr3t-canary-value"

static const server_reply replies[] = {
    {"/leak",
     "HTTP/1.1 302 Found\r\nLocation: /back/" SECRET "/" SECRET "?q=" SECRET
     "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
     0, THEN_CLOSE, NULL, 0},
};
static const dns_name names[] = {{"listed.test", "169.254.169.254"}};

static struct {
    audit_log heard;
    gbx_engine *engine;
    host_functions host;
    server *web;
    dns_server *dns;
    char input[256];
} w;

static gbx_policy *make_policy(void)
{
    char json[1024];

    (void)
        snprintf(json, sizeof json,
                 "{\"console\": true, \"timers\": true, \"crypto\": true,"
                 "\"fetch\": {\"allow\": [\"http://localhost:%u\","
                 " \"http://127.0.0.1:%u\", \"https://listed.test\"],"
                 " \"maxBytes\": 1000, \"nameservers\": [\"%s\"]},"
                 "\"file\": {\"allow\": [\"%s\"]},"
                 "\"functions\": [\"echo\", \"nothing\", \"fail\", \"deny\", \"stop\","
                 " \"db.*\"],"
                 "\"secrets\": {\"TOKEN\": {\"value\": \"" SECRET "\","
                 " \"sites\": [\"http://localhost:%u\"]}}}",
                 server_port(w.web), server_port(w.web), dns_server_address(w.dns),
                 scratch, server_port(w.web));
    return policy_of(json);
}

static void on_deny(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    (void)!gbx_answer_error(engine, call->request, NULL, "no", "ERR_NOT_ALLOWED", NULL);
}

/* Who has asked is gone before there is an answer. */
static void on_stop(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    gbx_abort(engine, call->call);
}

static int start(void **state)
{
    server_options web = {.replies = replies,
                          .reply_count = sizeof replies / sizeof replies[0]};
    gbx_options options = GBX_OPTIONS_INIT;

    assert_int_equal(scratch_begin(state), 0);
    scratch_write("a.txt", "hello");
    w.web = server_start(&web);
    w.dns = dns_server_start(names, sizeof names / sizeof names[0]);
    (void)snprintf(w.input, sizeof w.input,
                   "{\"web\":\"http://localhost:%u\",\"ip\":\"http://127.0.0.1:%u\","
                   "\"dir\":\"%s\",\"evil\":\"https://evil.example\"}",
                   server_port(w.web), server_port(w.web), scratch);
    audit_log_init(&w.heard);
    audit_log_hear(&w.heard, &options);
    options.policy = make_policy();
    options.limits.timeout_ms = 60000;
    w.engine = engine_start(&options);
    gbx_policy_free(options.policy);
    host_functions_expose(&w.host, w.engine);
    assert_int_equal(gbx_engine_expose(w.engine, "deny", on_deny, NULL, NULL), GBX_OK);
    assert_int_equal(gbx_engine_expose(w.engine, "stop", on_stop, NULL, NULL), GBX_OK);
    return 0;
}

static int finish(void **state)
{
    host_functions_settle(&w.host);
    gbx_engine_free(w.engine);
    server_stop(w.web);
    dns_server_stop(w.dns);
    audit_log_cleanup(&w.heard);
    (void)scratch_end(state);
    return proc_descendants() == 0 ? 0 : -1;
}

/* The lines of one call with this event. */
static json_t *lines_of(const char *call_id, const char *event)
{
    json_t *all = audit_log_lines(&w.heard);
    json_t *some = json_array();
    json_t *line;
    size_t i;

    json_array_foreach(all, i,
                       line) if (strcmp(audit_log_text(line, "callId"), call_id) == 0 &&
                                 strcmp(audit_log_text(line, "event"), event) ==
                                     0)(void) json_array_append(some, line);
    return some;
}

/* ---- one line for each request ------------------------------------------------------ */

static void check_field(const char *name, json_t *line, const char *field,
                        const char *value)
{
    json_t *found = json_object_get(line, field);
    char *text = found != NULL ? json_dumps(found, JSON_ENCODE_ANY) : strdup("null");
    size_t len = strlen(value);
    bool same;

    assert_non_null(text);
    if (value[len - 1] == '*')
        same = found != NULL && strncmp(text, value, len - 1) == 0;
    else
        same = strcmp(text, value) == 0;
    if (!same) {
        char *whole = json_dumps(line, 0);

        fail_msg("%s: %s is %s: %s", name, field, text, whole);
    }
    free(text);
}

/* The lines of host.call or of host.refused of the call; as many as there must be. */
static json_t *expect_lines(const table_block *row, gbx_result *result,
                            const char *event, size_t count)
{
    json_t *lines = lines_of(gbx_result_call_id(result), event);

    if (json_array_size(lines) != count)
        fail_msg("%s: %zu lines of %s: %s", row->name, json_array_size(lines), event,
                 gbx_result_json(result, NULL));
    return lines;
}

static void check_row(const table_block *row)
{
    gbx_limits limits = timeout_of(60000);
    gbx_call call = call_of(row->text);
    char event[32], field[32], value[256];
    size_t count, refused;
    const char *at = row->value;
    gbx_result *result;
    json_t *calls, *refusals, *last;

    limits.host_in_bytes = table_number(row, "host_in_bytes", 0);
    limits.host_out_bytes = table_number(row, "host_out_bytes", 0);
    limits.host_calls = (uint32_t)table_number(row, "host_calls", 0);
    call.limits = &limits;
    call.input = w.input;
    call.input_len = strlen(w.input);
    assert_int_equal(sscanf(at, "%31s %zu %zu", event, &count, &refused), 3);
    result = call_run(w.engine, &call);
    calls = expect_lines(row, result, "host.call", count);
    refusals = expect_lines(row, result, "host.refused", refused);
    last = strcmp(event, "host.call") == 0 ? json_array_get(calls, count - 1)
                                           : json_array_get(refusals, refused - 1);
    while ((at = strchr(at, '\n')) != NULL) {
        assert_int_equal(sscanf(++at, "%31s %255[^\n]", field, value), 2);
        check_field(row->name, last, field, value);
    }
    /* The log knows more than the code. */
    assert_null(strstr(gbx_result_json(result, NULL), "169.254"));
    json_decref(calls);
    json_decref(refusals);
    gbx_result_free(result);
}

TEST(request__has_one_line)
{
    const table_block *rows;
    size_t count = table_blocks("integration/scripts/audit_host.txt", &rows);

    for (size_t i = 0; i < count; i++)
        check_row(&rows[i]);
    for (size_t i = 0; i < w.heard.count; i++)
        assert_null(strstr(w.heard.lines[i], "canary"));
}

/* A server that knows the secret, since it was sent to it, sends it back where the log
 * would have it: in where it redirects to. */
TEST(log__has_no_secret)
{
    gbx_call call = call_of("async (d) => { await fetch(d.web + '/leak', { headers:"
                            " { authorization: 'Bearer {{secret:TOKEN}}' } }) }");
    char request[2048];
    gbx_result *result;
    json_t *lines;

    call.input = w.input;
    call.input_len = strlen(w.input);
    result = call_run(w.engine, &call);
    assert_int_equal(gbx_result_code(result), GBX_CODE_VALUE);
    server_last_request(w.web, request, sizeof request);
    assert_non_null(strstr(request, "Bearer " SECRET));
    lines = lines_of(gbx_result_call_id(result), "host.call");
    assert_int_equal(json_array_size(lines), 1);
    assert_non_null(strstr(audit_log_text(json_array_get(lines, 0), "target"),
                           "/back/{{secret:TOKEN}}/{{secret:TOKEN}}"));
    json_decref(lines);
    for (size_t i = 0; i < w.heard.count; i++)
        assert_null(strstr(w.heard.lines[i], SECRET));
    gbx_result_free(result);
}

/* Bytes and calls, both ways, in the call's last line. */
TEST(call_ended__has_what_it_cost)
{
    gbx_call call =
        call_of("async () => { for (let i = 0; i < 3; i++) await echo(12345);"
                " return 'abc' }");
    gbx_result *result = call_run(w.engine, &call);
    json_t *lines = lines_of(gbx_result_call_id(result), "call.ended");
    json_t *line = json_array_get(lines, 0);
    gbx_stats stats = gbx_result_stats(result);

    assert_int_equal(json_array_size(lines), 1);
    assert_int_equal(audit_log_number(line, "hostCalls"), 3);
    assert_int_equal(audit_log_number(line, "hostBytesOut"), 21);
    assert_int_equal(audit_log_number(line, "hostBytesIn"), 21);
    assert_int_equal(audit_log_number(line, "outputBytes"), 5);
    assert_int_equal(audit_log_number(line, "peakMemoryBytes"),
                     stats.peak_memory_bytes);
    assert_true(audit_log_number(line, "wallMs") > 0);
    assert_true(audit_log_number(line, "cpuMs") > 0);
    json_decref(lines);
    gbx_result_free(result);
}

TEST_MAIN(start, finish)

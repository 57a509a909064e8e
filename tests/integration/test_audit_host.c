/* SPDX-License-Identifier: MIT */
/* What the security log says of functions, files and fetches: one line for each request,
 * what it was aimed at, why it was refused, and no secret. */
#include "audit_log.h"
#include "calls.h"
#include "dns_server.h"
#include "host_functions.h"
#include "http_server.h"
#include "proc.h"

#include <glovebox/policy.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

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
    char top[32];
    char input[256];
} w;

static gbx_policy *make_policy(void)
{
    gbx_policy *policy = NULL;
    gbx_error error = {0};
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
                 w.top, server_port(w.web));
    if (gbx_policy_parse(json, strlen(json), NULL, &policy, &error) != GBX_OK)
        fail_msg("no policy: %s in %s", error.message, json);
    return policy;
}

static void write_file(void)
{
    char path[64];
    FILE *f;

    (void)snprintf(w.top, sizeof w.top, "/tmp/glovebox-audit-XXXXXX");
    assert_non_null(mkdtemp(w.top));
    (void)snprintf(path, sizeof path, "%s/a.txt", w.top);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs("hello", f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void on_deny(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    (void)user;
    (void)!gbx_answer_error(engine, call->request, NULL, "no", "ERR_NOT_ALLOWED", NULL);
}

/* Who has asked is gone before there is an answer. */
static void on_stop(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    (void)user;
    gbx_abort(engine, call->call);
}

static int start(void **state)
{
    server_options web = {.replies = replies,
                          .reply_count = sizeof replies / sizeof replies[0]};
    gbx_options options = GBX_OPTIONS_INIT;

    (void)state;
    write_file();
    w.web = server_start(&web);
    w.dns = dns_server_start(names, sizeof names / sizeof names[0]);
    (void)snprintf(w.input, sizeof w.input,
                   "{\"web\":\"http://localhost:%u\",\"ip\":\"http://127.0.0.1:%u\","
                   "\"dir\":\"%s\",\"evil\":\"https://evil.example\"}",
                   server_port(w.web), server_port(w.web), w.top);
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
    char path[64];

    (void)state;
    host_functions_settle(&w.host);
    gbx_engine_free(w.engine);
    server_stop(w.web);
    dns_server_stop(w.dns);
    audit_log_cleanup(&w.heard);
    (void)snprintf(path, sizeof path, "%s/a.txt", w.top);
    (void)unlink(path);
    (void)rmdir(w.top);
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

#define CATCHING(what) \
    "async (d) => { try { await " what " } catch (e) { return e.code } }"

static const struct row {
    const char *what;
    const char *code;
    gbx_limits limits;
    const char *event;
    size_t calls;    /* lines of host.call */
    size_t refusals; /* lines of host.refused */
    struct {
        const char *field;
        const char *value; /* as JSON; with '*' at its end: begins so */
    } fields[6];           /* of the last line with that event */
} rows[] = {
    {"an answer",
     "async () => { await echo([1, 2]) }",
     {.timeout_ms = 60000},
     "host.call",
     1,
     0,
     {{"function", "\"echo\""},
      {"outcome", "\"ok\""},
      {"bytesOut", "7"},
      {"bytesIn", "7"},
      {"code", "null"},
      {"durationMs", "*"}}},
    {"undefined",
     "async () => { await nothing() }",
     {.timeout_ms = 60000},
     "host.call",
     1,
     0,
     {{"function", "\"nothing\""}, {"outcome", "\"ok\""}, {"bytesIn", "0"}}},
    {"an error of the embedder's",
     CATCHING("fail()"),
     {.timeout_ms = 60000},
     "host.call",
     1,
     0,
     {{"function", "\"fail\""}, {"outcome", "\"error\""}, {"code", "\"ENOTABLE\""}}},
    {"a refusal of the embedder's",
     CATCHING("deny()"),
     {.timeout_ms = 60000},
     "host.call",
     1,
     0,
     {{"function", "\"deny\""},
      {"outcome", "\"error\""},
      {"code", "\"ERR_NOT_ALLOWED\""}}},
    {"an answer from another thread",
     "async () => { await db.late(5) }",
     {.timeout_ms = 60000},
     "host.call",
     1,
     0,
     {{"function", "\"db.late\""}, {"outcome", "\"ok\""}}},
    {"answered twice",
     "async () => { await db.twice() }",
     {.timeout_ms = 60000},
     "host.call",
     1,
     0,
     {{"function", "\"db.twice\""}, {"outcome", "\"ok\""}}},
    {"no JSON from the host",
     CATCHING("db.bad()"),
     {.timeout_ms = 60000},
     "host.call",
     1,
     0,
     {{"outcome", "\"error\""}, {"code", "\"ERR_HOST_ANSWER\""}}},
    {"never answered",
     "async () => { await stop() }",
     {.timeout_ms = 60000},
     "host.call",
     1,
     0,
     {{"function", "\"stop\""}, {"outcome", "\"unanswered\""}}},
    {"nobody waits for it",
     "() => { db.never(); return 1 }",
     {.timeout_ms = 60000},
     "host.call",
     1,
     0,
     {{"function", "\"db.never\""}, {"outcome", "\"unanswered\""}}},
    {"many at once",
     "async () => { await Promise.all([echo(), echo(), db.late(1)]) }",
     {.timeout_ms = 60000},
     "host.call",
     3,
     0,
     {{"outcome", "\"ok\""}}},
    {"an answer over the limit",
     CATCHING("db.huge(5000)"),
     {.timeout_ms = 60000, .host_in_bytes = 1000},
     "host.refused",
     0,
     1,
     {{"function", "\"db.huge\""}, {"code", "\"ERR_HOST_BYTES\""}}},
    {"arguments over the limit",
     "async () => { for (let i = 0; i < 9; i++) await echo('x'.repeat(99)).catch(() => 0) }",
     {.timeout_ms = 60000, .host_out_bytes = 300},
     "host.refused",
     2,
     1,
     {{"code", "\"ERR_HOST_BYTES\""}, {"limit", "300"}, {"function", "null"}}},
    {"calls over the limit",
     "async () => { for (let i = 0; i < 9; i++) await echo().catch(() => 0) }",
     {.timeout_ms = 60000, .host_calls = 3},
     "host.refused",
     3,
     1,
     {{"code", "\"ERR_HOST_CALLS\""}, {"limit", "3"}, {"function", "null"}}},

    {"a secret for another",
     CATCHING("echo('{{secret:TOKEN}}')"),
     {.timeout_ms = 60000},
     "host.refused",
     0,
     1,
     {{"function", "\"echo\""}, {"code", "\"ERR_SECRET\""}, {"message", "*"}}},

    {"a file",
     "async (d) => { await fs.promises.readFile(d.dir + '/a.txt') }",
     {.timeout_ms = 60000},
     "host.call",
     1,
     0,
     {{"function", "\"fs.readFile\""},
      {"outcome", "\"ok\""},
      {"bytesIn", "5"},
      {"target", "\"/tmp/glovebox-audit-*"}}},
    {"no such file",
     CATCHING("fs.promises.readFile(d.dir + '/b')"),
     {.timeout_ms = 60000},
     "host.call",
     1,
     0,
     {{"outcome", "\"error\""},
      {"code", "\"ENOENT\""},
      {"target", "\"/tmp/glovebox-audit-*"}}},
    {"a file outside",
     CATCHING("fs.promises.readFile('/etc/passwd')"),
     {.timeout_ms = 60000},
     "host.refused",
     0,
     1,
     {{"function", "\"fs.readFile\""},
      {"code", "\"ERR_FILE_NOT_ALLOWED\""},
      {"target", "\"/etc/passwd\""}}},

    {"a fetch",
     "async (d) => { await fetch(d.web + '/ok?q=canary#canary') }",
     {.timeout_ms = 60000},
     "host.call",
     1,
     0,
     {{"function", "\"fetch\""},
      {"outcome", "\"ok\""},
      {"method", "\"GET\""},
      {"status", "200"},
      {"address", "\"*"},
      {"target", "\"http://localhost:*"}}},
    {"a fetch that is redirected",
     "async (d) => { await fetch(d.web + '/chain/2') }",
     {.timeout_ms = 60000},
     "host.call",
     1,
     0,
     {{"status", "200"}, {"hops", "3"}, {"target", "\"http://localhost:*"}}},
    {"a destination that is not listed",
     CATCHING("fetch(d.evil + '/path/x?q=canary')"),
     {.timeout_ms = 60000},
     "host.refused",
     0,
     1,
     {{"function", "\"fetch\""},
      {"code", "\"ERR_FETCH_NOT_ALLOWED\""},
      {"target", "\"https://evil.example/path/x\""}}},
    {"a name that leads elsewhere",
     CATCHING("fetch('https://listed.test/meta')"),
     {.timeout_ms = 60000},
     "host.refused",
     0,
     1,
     {{"code", "\"ERR_FETCH_ADDRESS\""},
      {"address", "\"169.254.169.254\""},
      {"detail", "\"address 1 of 1, 169.254.169.254, is refused*"},
      {"target", "\"https://listed.test/meta\""}}},
    {"a body over the limit",
     CATCHING("(await fetch(d.web + '/bytes/5000')).text()"),
     {.timeout_ms = 60000},
     "host.refused",
     0,
     1,
     {{"code", "\"ERR_FETCH_TOO_LARGE\""}, {"target", "\"http://localhost:*"}}},
    {"a secret for another site",
     CATCHING(
         "fetch(d.ip + '/ok', { headers: { authorization: '{{secret:TOKEN}}' } })"),
     {.timeout_ms = 60000},
     "host.refused",
     0,
     1,
     {{"code", "\"ERR_FETCH_SECRET\""}, {"target", "\"http://127.0.0.1:*"}}},
    {"a fetch that is given up",
     "async (d) => { const c = new AbortController(); const f = fetch(d.web + '/hold',"
     " { signal: c.signal }); await sleep(50); c.abort(); await f.catch(() => 0) }",
     {.timeout_ms = 60000},
     "host.call",
     1,
     0,
     {{"outcome", "\"error\""}, {"target", "\"http://localhost:*"}}},
    {"a fetch that outlives the call",
     "async (d) => { fetch(d.web + '/hold'); await 0 }",
     {.timeout_ms = 60000},
     "host.call",
     1,
     0,
     {{"outcome", "\"unanswered\""}, {"target", "\"http://localhost:*"}}},
};

static void check_field(const struct row *row, json_t *line, const char *field,
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

        fail_msg("%s: %s is %s: %s", row->what, field, text, whole);
    }
    free(text);
}

static void test_request__has_one_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        gbx_limits limits = row->limits;
        gbx_call call = call_of(row->code);
        gbx_result *result;
        json_t *calls;
        json_t *refusals;
        json_t *last;

        limits.struct_size = sizeof limits;
        call.limits = &limits;
        call.input = w.input;
        call.input_len = strlen(w.input);
        result = call_run(w.engine, &call);
        calls = lines_of(gbx_result_call_id(result), "host.call");
        refusals = lines_of(gbx_result_call_id(result), "host.refused");
        if (json_array_size(calls) != row->calls ||
            json_array_size(refusals) != row->refusals)
            fail_msg("%s: %zu calls, %zu refusals: %s", row->what,
                     json_array_size(calls), json_array_size(refusals),
                     gbx_result_json(result, NULL));
        last = strcmp(row->event, "host.call") == 0
                   ? json_array_get(calls, row->calls - 1)
                   : json_array_get(refusals, row->refusals - 1);
        for (size_t k = 0; k < 6 && row->fields[k].field != NULL; k++)
            check_field(row, last, row->fields[k].field, row->fields[k].value);
        /* The log knows more than the code. */
        assert_null(strstr(gbx_result_json(result, NULL), "169.254"));
        json_decref(calls);
        json_decref(refusals);
        gbx_result_free(result);
    }
    for (size_t i = 0; i < w.heard.count; i++)
        assert_null(strstr(w.heard.lines[i], "canary"));
}

/* A server that knows the secret, since it was sent to it, sends it back where the log
 * would have it: in where it redirects to. */
static void test_log__has_no_secret(void **state)
{
    gbx_call call = call_of("async (d) => { await fetch(d.web + '/leak', { headers:"
                            " { authorization: 'Bearer {{secret:TOKEN}}' } }) }");
    char request[2048];
    gbx_result *result;
    json_t *lines;

    (void)state;
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
static void test_call_ended__has_what_it_cost(void **state)
{
    gbx_call call =
        call_of("async () => { for (let i = 0; i < 3; i++) await echo(12345);"
                " return 'abc' }");
    gbx_result *result = call_run(w.engine, &call);
    json_t *lines = lines_of(gbx_result_call_id(result), "call.ended");
    json_t *line = json_array_get(lines, 0);
    gbx_stats stats = gbx_result_stats(result);

    (void)state;
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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request__has_one_line),
        cmocka_unit_test(test_log__has_no_secret),
        cmocka_unit_test(test_call_ended__has_what_it_cost),
    };

    return cmocka_run_group_tests(tests, start, finish);
}

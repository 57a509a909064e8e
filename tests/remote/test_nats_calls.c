/* SPDX-License-Identifier: MIT */
/*
 * nats_calls - calls on `glovebox runner`, another process, over a real nats-server: they end
 * as local ones do, and say the truth when a machine is lost.
 */
#include "base/sha256.h"
#include "calls.h"
#include "host_functions.h"
#include "nats_identity.h"
#include "nats_runner.h"
#include "nats_server.h"
#include "scratch.h"
#include "test.h"
#include "until.h"

#include <glovebox/record.h>
#include <glovebox/runner.h>
#include <jansson.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static nats_server server;
static nats_runner runner;
static char host[65];

static int each_begin(void **state)
{
    if (scratch_begin(state) != 0)
        return -1;
    nats_server_start(&server, "");
    return 0;
}

static int each_end(void **state)
{
    nats_runner_stop(&runner);
    nats_server_stop(&server, SIGKILL);
    return scratch_end(state);
}

static gbx_engine *engine_at(const char *address)
{
    gbx_options options = GBX_OPTIONS_INIT;

    options.runner_name = address;
    options.pool_size = 2;
    return engine_start(&options);
}

/* ---- as a local call ------------------------------------------------------------ */

/* What no two calls have alike, and what says where it ran. */
static json_t *plain(gbx_engine *engine, const gbx_call *call)
{
    static const char *const varies[] = {"executionMs", "stats", "runner",
                                         "machine",     "call",  "callId"};
    gbx_result *result = call_run(engine, call);
    size_t len;
    const char *text = gbx_result_json(result, &len);
    json_t *json = json_loadb(text, len, 0, NULL);
    json_t *line;
    size_t i;

    assert_non_null(json);
    for (i = 0; i < sizeof varies / sizeof varies[0]; i++)
        (void)json_object_del(json, varies[i]);
    json_array_foreach(json_object_get(json, "logs"), i, line)(void)
        json_object_del(line, "timeMs");
    gbx_result_free(result);
    return json;
}

static void check_same(gbx_engine *here, gbx_engine *there, const gbx_call *call)
{
    json_t *a = plain(here, call);
    json_t *b = plain(there, call);

    if (!json_equal(a, b))
        fail_msg("%s:\nhere  %s\nthere %s", call->code, json_dumps(a, JSON_SORT_KEYS),
                 json_dumps(b, JSON_SORT_KEYS));
    json_decref(a);
    json_decref(b);
}

TEST(call__has_the_result_of_a_local_one)
{
    static const char *const codes[] = {
        "() => 1",
        "() => undefined",
        "() => ({a: [1, 'x', null], b: {}})",
        "() => { console.log('one'); console.error('two', {a: 1}); return 3 }",
        "() => { throw new TypeError('wrong') }",
        "() => missing.member",
        "() => { const x: number = 4; return x }",
        "() => { return (",
        "() => 'x'.repeat(2000000)",
        "() => { const a = []; for (;;) a.push(new Array(100000).fill(1)) }",
        "() => { console.log('before'); for (;;); }",
        "async () => { await sleep(20); return 'late' }",
        "async () => [await echo(1, 'a'), await echo()]",
        "async () => { try { await fail() } catch (e) { return [e.name, e.code] } }",
        "() => people.map((p) => p.name)",
        "() => import('fs')",
    };
    const char *people = "[{\"name\":\"Ada\"},{\"name\":\"Bob\"}]";
    host_functions functions[2];
    gbx_limits limits = timeout_of(4000);
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *both[2];

    nats_runner_start(&runner, server.url, "");
    options.pool_size = 2;
    both[0] = engine_start(&options);
    both[1] = engine_at(server.url);
    for (int i = 0; i < 2; i++) {
        host_functions_expose(&functions[i], both[i]);
        assert_int_equal(gbx_engine_load(both[i], "people", people, strlen(people),
                                         GBX_DATA_JSON, NULL),
                         GBX_OK);
    }
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        gbx_call call = call_of(codes[i]);

        call.limits = &limits;
        check_same(both[0], both[1], &call);
    }
    gbx_engine_free(both[0]);
    gbx_engine_free(both[1]);
}

TEST(call__names_its_machine_and_has_its_cost)
{
    gbx_call call = call_of("() => { let n = 0; for (let i = 0; i < 3e6; i++) n += i; "
                            "return n }");
    gbx_engine *engine;
    gbx_result *result;
    gbx_stats stats;

    nats_runner_start(&runner, server.url, "--globals minimal"); /* its own engine's */
    engine = engine_at(server.url);
    result = call_run(engine, &call);
    stats = gbx_result_stats(result);
    assert_int_equal(gbx_result_code(result), GBX_CODE_VALUE);
    assert_string_equal(gbx_result_machine(result), host);
    assert_true(stats.cpu_ms > 0 && stats.wall_ms >= stats.cpu_ms / 2);
    gbx_result_free(result);
    gbx_engine_free(engine);
}

TEST(call__takes_large_input_and_gives_a_large_value)
{
    static char input[3 * 1024 * 1024];
    gbx_limits limits = timeout_of(20000);
    gbx_call call = call_of("(s) => s + s.length");
    gbx_engine *engine;
    gbx_result *result;
    gbx_options options = GBX_OPTIONS_INIT;
    size_t len;

    nats_runner_start(&runner, server.url, "");
    memset(input, 'x', sizeof input);
    input[0] = input[sizeof input - 1] = '"';
    limits.output_bytes = 10 << 20;
    options.limits = limits;
    options.runner_name = server.url;
    engine = engine_start(&options);
    call.input = input;
    call.input_len = sizeof input;
    result = call_run(engine, &call);
    if (gbx_result_code(result) != GBX_CODE_VALUE)
        fail_msg("%s", gbx_result_error(result));
    (void)gbx_result_value(result, &len);
    assert_int_equal(len, sizeof input + 7);
    gbx_result_free(result);
    gbx_engine_free(engine);
}

TEST(recording__made_on_another_machine_replays_here)
{
    char output[4096];
    char words[1024];

    nats_runner_start(&runner, server.url, "");
    scratch_write("code.js", "() => [Math.random(), Date.now()]");
    (void)snprintf(words, sizeof words, "run --runner %s --record %s --file %s",
                   server.url, scratch_path("call.jsonl"), scratch_path("code.js"));
    assert_int_equal(glovebox_run(words, output, sizeof output), 0);
    (void)snprintf(words, sizeof words, "replay %s", scratch_path("call.jsonl"));
    assert_int_equal(glovebox_run(words, output, sizeof output), 0);
    assert_non_null(strstr(output, "replay: the same"));
}

/* ---- when something fails --------------------------------------------------------- */

/* A call in the background, on the thread of the engine. */
typedef struct ending {
    atomic_bool is_over;
    gbx_code code;
    char error[256];
    char machine[64];
    double ms;
} ending;

static void on_done(void *user, gbx_ticket ticket, gbx_result *result)
{
    ending *e = user;

    e->code = gbx_result_code(result);
    e->ms = gbx_result_stats(result).wall_ms;
    (void)snprintf(e->error, sizeof e->error, "%s", gbx_result_error(result));
    (void)snprintf(e->machine, sizeof e->machine, "%s", gbx_result_machine(result));
    gbx_result_free(result);
    e->is_over = true;
}

static bool is_over(void *user)
{
    return ((ending *)user)->is_over;
}

static void submit(gbx_engine *engine, gbx_call *call, ending *e)
{
    gbx_ticket ticket;
    gbx_error err;

    if (gbx_submit(engine, call, on_done, e, &ticket, &err) != GBX_OK)
        fail_msg("%s", err.message);
}

/* A call that has asked the host for something: it has begun. */
static void begin(gbx_engine *engine, host_functions *functions, gbx_call *call,
                  ending *e)
{
    size_t before = functions->called;

    submit(engine, call, e);
    for (int i = 0; i < 2000 && functions->called == before; i++)
        usleep(5000);
    assert_true(functions->called > before);
}

TEST(call__without_a_runner_was_not_begun)
{
    gbx_limits limits = timeout_of(700);
    gbx_call call = call_of("() => 1");
    gbx_engine *engine = engine_at(server.url);

    call.limits = &limits;
    check_code(engine, &call, GBX_CODE_UNAVAILABLE);
    gbx_engine_free(engine);
}

TEST(call__whose_machine_dies_is_lost_and_the_next_one_is_not_begun)
{
    gbx_limits limits = timeout_of(20000);
    gbx_call call = call_of("async () => { await db.never() }");
    host_functions functions;
    gbx_engine *engine;
    ending e = {0};

    nats_runner_start(&runner, server.url, "");
    engine = engine_at(server.url);
    host_functions_expose(&functions, engine);
    call.limits = &limits;
    begin(engine, &functions, &call, &e);
    nats_runner_signal(&runner, SIGKILL);
    assert_true(until(is_over, &e, 8000));
    assert_int_equal(e.code, GBX_CODE_LOST);
    assert_string_equal(e.machine, host);
    assert_non_null(strstr(e.error, host));
    nats_runner_await_end(&runner);
    limits = timeout_of(500);
    call = call_of("() => 1");
    call.limits = &limits;
    check_code(engine, &call, GBX_CODE_UNAVAILABLE);
    gbx_engine_free(engine);
}

TEST(call__that_is_aborted_ends_at_once_there_too)
{
    gbx_limits limits = timeout_of(20000);
    gbx_call call = call_of("async () => { await echo(1); for (;;); }");
    gbx_signal *stop = gbx_signal_new();
    host_functions functions;
    gbx_engine *engine;
    ending e = {0};
    double from;

    nats_runner_start(&runner, server.url, "--max-workers 1");
    engine = engine_at(server.url);
    host_functions_expose(&functions, engine);
    call.limits = &limits;
    call.signal = stop;
    begin(engine, &functions, &call, &e);
    from = now_ms();
    gbx_signal_abort(stop);
    assert_true(until(is_over, &e, 5000));
    assert_true(now_ms() - from < 2000);
    assert_int_equal(e.code, GBX_CODE_ABORTED);
    check_value(engine, "() => 2", NULL, "2"); /* the only seat is free */
    gbx_engine_free(engine);
    gbx_signal_free(stop);
}

TEST(runner__that_gets_sigterm_ends_its_calls_and_takes_no_more)
{
    gbx_limits limits = timeout_of(20000);
    gbx_call call =
        call_of("async () => { await echo(1); await sleep(1500); return 'whole' }");
    gbx_call next = call_of("() => 1");
    host_functions functions;
    gbx_engine *engine;
    ending e = {0};

    nats_runner_start(&runner, server.url, "");
    engine = engine_at(server.url);
    host_functions_expose(&functions, engine);
    call.limits = &limits;
    begin(engine, &functions, &call, &e);
    nats_runner_signal(&runner, SIGTERM);
    usleep(200000);
    limits.timeout_ms = 500;
    next.limits = &limits;
    check_code(engine, &next, GBX_CODE_UNAVAILABLE);
    assert_true(until(is_over, &e, 8000));
    assert_int_equal(e.code, GBX_CODE_VALUE);
    nats_runner_await_end(&runner);
    assert_true(WIFEXITED(runner.status));
    assert_int_equal(WEXITSTATUS(runner.status), 0);
    gbx_engine_free(engine);
}

TEST(call__goes_on_after_a_restart_of_the_server)
{
    gbx_engine *engine;
    double until_ms;
    gbx_code code = GBX_CODE_UNAVAILABLE;
    gbx_call call = call_of("() => 1");

    nats_runner_start(&runner, server.url, "");
    engine = engine_at(server.url);
    check_value(engine, "() => 1", NULL, "1");
    nats_server_stop(&server, SIGKILL);
    nats_server_restart(&server);
    for (until_ms = now_ms() + 10000; code != GBX_CODE_VALUE && now_ms() < until_ms;)
        code = call_code(engine, &call);
    assert_int_equal(code, GBX_CODE_VALUE);
    gbx_engine_free(engine);
}

TEST(runner__caps_what_a_call_may_ask_for)
{
    gbx_limits limits = timeout_of(9000);
    gbx_call call = call_of("() => 1");
    gbx_engine *engine;
    gbx_result *result;

    nats_runner_start(&runner, server.url, "--timeout 8000");
    engine = engine_at(server.url);
    call.limits = &limits;
    result = call_run(engine, &call);
    assert_int_equal(gbx_result_code(result), GBX_CODE_UNAVAILABLE);
    gbx_result_free(result);
    limits.timeout_ms = 7900;
    limits.cpu_ms = 7900;
    check_code(engine, &call, GBX_CODE_VALUE);
    gbx_engine_free(engine);
}

TEST(dataset__larger_than_the_runner_keeps_is_refused_with_both_sizes)
{
    static char data[2 * 1024 * 1024];
    gbx_call call = GBX_CALL_INIT;
    gbx_engine *engine;
    gbx_error err = {0};

    nats_runner_start(&runner, server.url, "--dataset-bytes 1");
    engine = engine_at(server.url);
    memset(data, ' ', sizeof data);
    memcpy(data, "[1]", 3);
    assert_int_not_equal(gbx_engine_load(engine, "d", data, sizeof data, GBX_DATA_JSON,
                                         &err),
                         GBX_OK);
    assert_non_null(strstr(err.message, "2097152"));
    assert_non_null(strstr(err.message, "1048576"));
    call.code = "() => 1";
    call.code_len = strlen(call.code);
    check_code(engine, &call, GBX_CODE_VALUE); /* which needs none */
    gbx_engine_free(engine);
}

TEST(dataset__that_is_not_json_is_refused_with_its_place)
{
    const char *data = "[1,\n 2,, 3]";
    gbx_engine *engine;
    gbx_error err = {0};

    nats_runner_start(&runner, server.url, "");
    engine = engine_at(server.url);
    assert_int_equal(gbx_engine_load(engine, "d", data, strlen(data), GBX_DATA_JSON,
                                     &err),
                     GBX_E_DATA);
    assert_int_equal(err.line, 2);
    gbx_engine_free(engine);
}

TEST(dataset__stays_in_the_folder_of_the_runner_for_its_next_start)
{
    const char *data = "[1, 2, 3]";
    char options[256];
    char file[128];
    gbx_engine *engine;
    struct stat st;
    uint8_t digest[GBX_SHA256_SIZE];
    char hex[GBX_SHA256_HEX_SIZE];

    (void)snprintf(options, sizeof options, "--datasets %s", scratch_path("kept"));
    nats_runner_start(&runner, server.url, options);
    engine = engine_at(server.url);
    assert_int_equal(gbx_engine_load(engine, "d", data, strlen(data), GBX_DATA_JSON,
                                     NULL),
                     GBX_OK);
    check_value(engine, "() => datasets.d.length", NULL, "3");
    gbx_sha256_of(data, strlen(data), digest);
    gbx_sha256_print(digest, hex);
    (void)snprintf(file, sizeof file, "kept/%s", hex);
    assert_int_equal(stat(scratch_path(file), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    nats_runner_stop(&runner);
    nats_runner_start(&runner, server.url, options);
    check_value(engine, "() => datasets.d.length", NULL, "3");
    gbx_engine_free(engine);
}

/* ---- the commands ------------------------------------------------------------------ */

TEST(command__doctor_tests_the_connection_and_a_call)
{
    char output[8192];
    char words[256];

    nats_runner_start(&runner, server.url, "");
    (void)snprintf(words, sizeof words, "doctor --nats %s", server.url);
    assert_int_equal(glovebox_run(words, output, sizeof output), 0);
    assert_non_null(strstr(output, "NATS adds"));
    nats_runner_stop(&runner);
    assert_int_equal(glovebox_run(words, output, sizeof output), 69);
    assert_non_null(strstr(output, "no runner answers"));
}

TEST(command__says_that_no_server_is_there)
{
    char output[4096];
    char words[256];

    nats_server_stop(&server, SIGKILL);
    for (int i = 0; i < 3; i++) {
        static const char *const forms[] = {"runner --nats", "runners --nats",
                                            "run 1 --runner"};

        (void)snprintf(words, sizeof words, "%s %s", forms[i], server.url);
        assert_int_equal(glovebox_run(words, output, sizeof output), 69);
        assert_non_null(strstr(output, "no connection to the NATS server"));
    }
}

/* ---- two tenants --------------------------------------------------------------------- */

/* The example configuration, with keys of the test and without TLS. */
static void serve_two_tenants(void)
{
    static const char *const users[] = {"RED_RUNNER", "RED_CALLER", "BLUE_RUNNER",
                                        "BLUE_CALLER"};
    static char text[8192];
    char key[NATS_KEY_SIZE];
    char *at;
    char *end;
    FILE *file = fopen(TWO_TENANTS_CONF, "re");
    size_t len = fread(text, 1, sizeof text - 1, file);

    (void)fclose(file);
    text[len] = '\0';
    for (size_t i = 0; i < sizeof users / sizeof users[0]; i++) {
        size_t name_len = strlen(users[i]);

        nats_identity_nkey(users[i], key);
        at = strstr(text, users[i]);
        assert_true(at != NULL && strlen(text) + NATS_KEY_SIZE < sizeof text);
        memmove(at + NATS_KEY_SIZE - 1, at + name_len, strlen(at + name_len) + 1);
        memcpy(at, key, NATS_KEY_SIZE - 1);
    }
    at = strstr(text, "listen:");
    memset(at, ' ', strcspn(at, "\n"));
    at = strstr(text, "\ntls {");
    end = strstr(at, "}\n");
    memset(at, ' ', (size_t)(end - at) + 1);
    nats_server_stop(&server, SIGKILL);
    nats_server_start(&server, text);
}

static const char *address_of(const char *user)
{
    static char addresses[4][512];
    static unsigned turn;
    char *to = addresses[turn++ % 4];

    (void)snprintf(to, sizeof addresses[0], "%s?nkey=%s", server.url,
                   scratch_path(user));
    return to;
}

TEST(tenants__of_the_example_use_their_own_runners_and_see_no_others)
{
    gbx_limits limits = timeout_of(500);
    gbx_call call = call_of("() => 1");
    char output[4096];
    char words[600];
    gbx_engine *red;
    gbx_engine *blue;

    serve_two_tenants();
    red = engine_at(address_of("RED_CALLER"));
    blue = engine_at(address_of("BLUE_CALLER"));
    nats_runner_start_as(&runner, address_of("RED_RUNNER"), "",
                         address_of("RED_CALLER"));
    check_value(red, "() => 1 + 1", NULL, "2");
    call.limits = &limits;
    check_code(blue, &call, GBX_CODE_UNAVAILABLE);
    (void)snprintf(words, sizeof words, "runners --nats %s", address_of("BLUE_CALLER"));
    assert_int_equal(glovebox_run(words, output, sizeof output), 0);
    assert_non_null(strstr(output, "no runner answers"));
    gbx_engine_free(red);
    gbx_engine_free(blue);
}

int main(void)
{
    nats_server_need();
    (void)gethostname(host, sizeof host - 1);
    tests_each(each_begin, each_end);
    return tests_run(NULL, NULL);
}

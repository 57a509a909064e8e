/* SPDX-License-Identifier: MIT */
/*
 * Calls over leases: they end as local ones do, field by field; and what an engine makes
 * of a runner that says anything at all.
 */
#include "calls.h"
#include "host_functions.h"
#include "loop_runner.h"
#include "table.h"
#include "test.h"
#include "until.h"

#include <glovebox/drive.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- field by field ---------------------------------------------------------------- */

static gbx_engine *local, *leased;

static gbx_engine *engine_with(const gbx_runner *runner)
{
    gbx_options options = GBX_OPTIONS_INIT;

    options.pool_size = 2;
    options.runner = runner;
    return engine_start(&options);
}

static int start(void **state)
{
    static host_functions functions[2];
    gbx_runner runner = loop_runner_new(NULL);
    const char *people =
        "[{\"name\":\"Ada\",\"age\":36},{\"name\":\"Bob\",\"age\":20}]";

    local = engine_with(NULL);
    leased = engine_with(&runner);
    host_functions_expose(&functions[0], local);
    host_functions_expose(&functions[1], leased);
    assert_int_equal(gbx_engine_load(local, "people", people, strlen(people),
                                     GBX_DATA_JSON, NULL),
                     GBX_OK);
    assert_int_equal(gbx_engine_load(leased, "people", people, strlen(people),
                                     GBX_DATA_JSON, NULL),
                     GBX_OK);
    return 0;
}

static int finish(void **state)
{
    gbx_engine_free(local);
    gbx_engine_free(leased);
    return 0;
}

/* The members of the result that differ by nature are made equal. */
static char *comparable(gbx_result *result)
{
    static const char *const numbers[] = {"\"executionMs\":", "\"cpuMs\":",
                                          "\"timeMs\":", "\"peakMemoryBytes\":",
                                          "\"call\":"};
    static const char *const texts[] = {"\"callId\":\"", "\"runner\":\"",
                                        ",\"machine\":\""};
    const char *at = gbx_result_json(result, NULL);
    char *copy = malloc(strlen(at) + 1);
    char *to = copy;

    assert_non_null(copy);
    while (*at != 0) {
        bool is_left_out = false;

        for (size_t i = 0; i < 5 && !is_left_out; i++)
            if (strncmp(at, numbers[i], strlen(numbers[i])) == 0) {
                at += strlen(numbers[i]);
                at += strspn(at, "0123456789.e+-");
                is_left_out = true;
            }
        for (size_t i = 0; i < 3 && !is_left_out; i++)
            if (strncmp(at, texts[i], strlen(texts[i])) == 0) {
                at = strchr(at + strlen(texts[i]), '"') + 1;
                is_left_out = true;
            }
        if (!is_left_out)
            *to++ = *at++;
    }
    *to = 0;
    return copy;
}

static void compare(gbx_call *call)
{
    gbx_result *results[2];
    char *texts[2];

    results[0] = call_run(local, call);
    results[1] = call_run(leased, call);
    texts[0] = comparable(results[0]);
    texts[1] = comparable(results[1]);
    if (strcmp(texts[0], texts[1]) != 0)
        fail_msg("'%.100s' locally\n%s\nleased\n%s", call->code, texts[0], texts[1]);
    for (int i = 0; i < 2; i++) {
        free(texts[i]);
        gbx_result_free(results[i]);
    }
}

static void compare_all(const char *const *codes, size_t count, uint32_t timeout_ms)
{
    for (size_t i = 0; i < count; i++) {
        gbx_call call = call_of(codes[i]);
        gbx_limits limits = timeout_of(timeout_ms);

        limits.memory_bytes = UINT64_C(32) << 20;
        call.limits = &limits;
        call.input = "{\"a\":1}";
        call.input_len = strlen(call.input);
        compare(&call);
    }
}

TEST(result__is_a_local_one_s_in_every_field)
{
    static const char *const endless[] = {
        "() => { console.log('before'); for (;;); }",
        "async () => { await db.never() }",
        "() => db.never(1)",
    };
    static const char *const codes[] = {
        "(d) => d",
        "() => undefined",
        "() => ({ a: [1, 2.5, 'x\\u2028'], b: null })",
        "() => { console.log('one'); console.error('two\\nlines'); return 3 }",
        "() => { throw new TypeError('no') }",
        "() => {\n  return unknownName + 1;\n}",
        "() => { return 1 +; }",
        "() => 10n",
        "() => new Promise(() => {})",
        "() => 'x'.repeat(2000000)",
        "() => { const a = []; for (;;) a.push(new Array(1e6).fill(1.5)) }",
        "async () => { await sleep(5); return 'slept' }",
        "async () => [await echo(1, [2]), await nothing()]",
        "async () => { try { await fail() } catch (e) { return [e.name, e.code, e.message] } }",
        "async () => Promise.all([1, 2, 3].map((ms) => db.late(ms)))",
        "() => { datasets.people.map((p) => p.nme) }",
        "() => datasets.people.map((p) => p.nme)",
        "(d) => { eval('1') }",
        "function (",
    };

    compare_all(codes, sizeof codes / sizeof codes[0], 60000);
    compare_all(endless, sizeof endless / sizeof endless[0], 2000);
}

TEST(result__names_its_machine)
{
    gbx_call call = call_of("() => 1");
    gbx_result *result = call_run(leased, &call);

    assert_string_equal(gbx_result_machine(result), LOOP_MACHINE);
    assert_non_null(
        strstr(gbx_result_json(result, NULL), "\"machine\":\"" LOOP_MACHINE "\""));
    gbx_result_free(result);
    result = call_run(local, &call);
    assert_string_equal(gbx_result_machine(result), "");
    assert_null(strstr(gbx_result_json(result, NULL), "machine"));
    gbx_result_free(result);
}

TEST(cost__is_measured_there_and_reported_here)
{
    gbx_call call = call_of("() => { const a = new Array(2e6).fill(1.5); "
                            "for (let i = 0; i < 3e7; i++) a[i % 1000] += i; "
                            "return a.length }");
    gbx_result *result = call_run(leased, &call);
    gbx_stats stats = gbx_result_stats(result);

    assert_int_equal(gbx_result_code(result), GBX_CODE_VALUE);
    assert_true(stats.cpu_ms > 5);
    assert_true(stats.wall_ms > 5);
    assert_true(stats.peak_memory_bytes > 8000000);
    gbx_result_free(result);
}

TEST(large__inputs_and_results_pass_the_window_many_times)
{
    size_t len = (size_t)3 << 20;
    char *input = malloc(len + 3);
    gbx_call call = call_of("(text) => text");
    gbx_limits limits = timeout_of(60000);
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_runner runner = loop_runner_new(NULL);
    gbx_engine *engine;
    gbx_result *result;
    size_t value_len;

    assert_non_null(input);
    memset(input, 'x', len + 2);
    input[0] = input[len + 1] = '"';
    options.limits.output_bytes = (size_t)8 << 20;
    options.runner = &runner;
    engine = engine_start(&options);
    call.input = input;
    call.input_len = len + 2;
    call.limits = &limits;
    result = call_run(engine, &call);
    assert_int_equal(gbx_result_code(result), GBX_CODE_VALUE);
    assert_memory_equal(gbx_result_value(result, &value_len), input, len + 2);
    assert_int_equal(value_len, len + 2);
    gbx_result_free(result);
    gbx_engine_free(engine);
    free(input);
}

TEST(dataset__that_is_malformed_is_refused_when_it_is_loaded)
{
    gbx_error errors[2] = {{0}};

    assert_int_equal(gbx_engine_load(local, "bad", "[1,\n2,,]", 8, GBX_DATA_JSON,
                                     &errors[0]),
                     GBX_E_DATA);
    assert_int_equal(gbx_engine_load(leased, "bad", "[1,\n2,,]", 8, GBX_DATA_JSON,
                                     &errors[1]),
                     GBX_E_DATA);
    assert_string_equal(errors[0].message, errors[1].message);
    assert_int_equal(errors[0].line, errors[1].line);
    assert_int_equal(errors[0].column, errors[1].column);
    check_alive(leased);
}

/* ---- a runner that says anything ------------------------------------------------------ */

/* One lease at a time, which the test plays with. */
typedef struct puppet {
    gbx_lease *lease;
    bool refuses;   /* lease() fails */
    bool is_there;  /* there is a worker: send() takes bytes */
    bool has_ended; /* receive() says so after the bytes */
    atomic_uint asked, cancelled, released;
    atomic_size_t sent;
    uint8_t call_id[8]; /* of the CALL */
    uint8_t in[512];    /* for receive() */
    size_t in_len;
    bool is_endless;                 /* receive() always has zeros then */
    void (*early)(struct puppet *p); /* within lease() */
    void (*late)(struct puppet *p);  /* within send(), once the call is there */
} puppet;

static gbx_status puppet_ask(void *user, gbx_lease *lease, gbx_error *reterr)
{
    puppet *p = user;

    p->asked++;
    p->lease = lease;
    if (p->refuses) {
        (void)snprintf(reterr->message, sizeof reterr->message, "no way there");
        return reterr->status = GBX_E_CLOSED;
    }
    if (p->early != NULL)
        p->early(p);
    return GBX_OK;
}

static size_t puppet_send(void *user, gbx_lease *lease, const void *data, size_t len)
{
    puppet *p = user;

    if (!p->is_there)
        return 0;
    if (p->sent == 0 && len >= 16)
        memcpy(p->call_id, (const uint8_t *)data + 8, 8);
    p->sent += len;
    if (p->sent == len && p->late != NULL)
        p->late(p);
    return len;
}

static ptrdiff_t puppet_receive(void *user, gbx_lease *lease, void *to, size_t size)
{
    puppet *p = user;
    size_t n = p->in_len < size ? p->in_len : size;

    if (n > 0) {
        memcpy(to, p->in, n);
        memmove(p->in, p->in + n, p->in_len - n);
        p->in_len -= n;
        return (ptrdiff_t)n;
    }
    if (p->is_endless) {
        memset(to, 0, size);
        return (ptrdiff_t)size;
    }
    return p->has_ended ? 0 : -1;
}

static void puppet_cancel(void *user, gbx_lease *lease)
{
    ((puppet *)user)->cancelled++;
}

static void puppet_release(void *user, gbx_lease *lease)
{
    ((puppet *)user)->released++;
}

static gbx_engine *puppet_engine(puppet *p)
{
    gbx_runner runner = {.struct_size = sizeof runner,
                         .name = "puppet",
                         .user = p,
                         .lease = puppet_ask,
                         .send = puppet_send,
                         .receive = puppet_receive,
                         .cancel = puppet_cancel,
                         .release = puppet_release};

    return engine_with(&runner);
}

static void grant(puppet *p)
{
    p->is_there = true;
    (void)strcpy(p->lease->machine, "m\x1b[1m\n1");
    memset(p->lease->engine, 'J', sizeof p->lease->engine); /* without an end */
    p->lease->wake(p->lease);
}

static void put(puppet *p, uint8_t type, const void *body, uint32_t len)
{
    uint8_t *frame = p->in + p->in_len;

    memset(frame, 0, 16);
    memcpy(frame, &len, 4);
    frame[4] = type;
    memcpy(frame + 8, p->call_id, 8);
    memcpy(frame + 16, body, len);
    p->in_len += 16 + len;
}

static void say(puppet *p, uint8_t type, const void *body, uint32_t len)
{
    put(p, type, body, len);
    p->lease->wake(p->lease);
}

static void end(puppet *p, gbx_ending_how how, const char *reason)
{
    p->has_ended = true;
    p->lease->ending = (gbx_ending){.how = (uint32_t)how, .cpu_us = 1500};
    (void)snprintf(p->lease->ending.reason, sizeof p->lease->ending.reason, "%s",
                   reason);
    p->lease->wake(p->lease);
}

/* A RESULT: 1 */
static void say_one(puppet *p)
{
    static const uint8_t one[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                  0, 0, 0, 0, 0, 0, 1, 0, 0, 0, '1'};

    say(p, 5, one, sizeof one);
}

static void play_well(puppet *p)
{
    say_one(p);
    end(p, GBX_ENDING_SAID, "");
}

static void play_without_end(puppet *p)
{
    say_one(p);
}

static void play_bytes_first(puppet *p)
{
    say_one(p);
    grant(p);
}

static void play_none(puppet *p)
{
    end(p, GBX_ENDING_NO_WORKER, "all are \x1b[31m busy");
}

static void play_lost(puppet *p)
{
    end(p, GBX_ENDING_GONE, "it went silent");
}

static void play_none_after_bytes(puppet *p)
{
    say(p, 3, "\1\0\0\0", 4); /* WAIT */
    end(p, GBX_ENDING_NO_WORKER, "it lies");
}

/* All that is there now is heard in one step, as after one wake() for several changes. */
static void play_log_and_end(puppet *p)
{
    put(p, 2, "\0\0\1\0\0\0x", 7); /* LOG */
    p->has_ended = true;
    p->lease->ending = (gbx_ending){.how = GBX_ENDING_GONE};
}

static void play_no_last(puppet *p)
{
    end(p, GBX_ENDING_SAID, "");
}

static void play_broken(puppet *p)
{
    end(p, GBX_ENDING_BROKEN, "its\nreason");
}

/* A frame that may be long, and more than it. */
static void play_endless(puppet *p)
{
    static const uint8_t head[16] = {0xff, 0xff, 0xff, 0x7f, 5};

    memcpy(p->in, head, sizeof head);
    memcpy(p->in + 8, p->call_id, 8);
    p->in_len = sizeof head;
    p->is_endless = true;
    p->lease->wake(p->lease);
}

static void play_zeros(puppet *p)
{
    p->is_endless = true;
    p->lease->wake(p->lease);
}

static void play_unknown_end(puppet *p)
{
    end(p, (gbx_ending_how)77, "");
    memset(p->lease->ending.reason, 'r', sizeof p->lease->ending.reason);
}

static void play_given_up(puppet *p)
{
    end(p, GBX_ENDING_ABORT, "");
}

static void play_value_and_garbage(puppet *p)
{
    say_one(p);
    memcpy(p->in + p->in_len, "garbage", 7);
    p->in_len += 7;
    end(p, GBX_ENDING_SAID, "");
}

static void play_died(puppet *p)
{
    end(p, GBX_ENDING_DIED, "");
    p->lease->ending = (gbx_ending){.how = GBX_ENDING_DIED,
                                    .wait_status = 0x7f7f7f7f,
                                    .shortage = 99,
                                    .cpu_us = UINT64_MAX,
                                    .growth_bytes = UINT64_MAX};
}

static const struct {
    const char *name;
    void (*early)(puppet *p);
    void (*late)(puppet *p);
    gbx_code code;
    const char *text;
} plays[] = {
    {"well", grant, play_well, GBX_CODE_VALUE, ""},
    {"without an end", grant, play_without_end, GBX_CODE_VALUE, ""},
    {"bytes first", play_bytes_first, NULL, GBX_CODE_VIOLATION, "of another call"},
    {"none", play_none, NULL, GBX_CODE_UNAVAILABLE, "all are "},
    {"lost before the grant", play_lost, NULL, GBX_CODE_UNAVAILABLE, "it went silent"},
    {"said before the grant", play_no_last, NULL, GBX_CODE_UNAVAILABLE, "no worker"},
    {"lost", grant, play_lost, GBX_CODE_LOST,
     "' is gone: the call may have run: it went"},
    {"none after all", grant, play_none, GBX_CODE_UNAVAILABLE, "all are "},
    {"a line and the end", grant, play_log_and_end, GBX_CODE_LOST, "may have run"},
    {"none, after bytes", grant, play_none_after_bytes, GBX_CODE_LOST, "may have"},
    {"no last message", grant, play_no_last, GBX_CODE_VIOLATION, "before its last"},
    {"broken", grant, play_broken, GBX_CODE_VIOLATION, "broke the protocol"},
    {"endless", grant, play_endless, GBX_CODE_VIOLATION, "longer than its limit"},
    {"zeros", grant, play_zeros, GBX_CODE_VIOLATION, "broke the protocol"},
    {"unknown end", grant, play_unknown_end, GBX_CODE_LOST, "may have run"},
    {"given up", grant, play_given_up, GBX_CODE_LOST, "may have run"},
    {"value and garbage", grant, play_value_and_garbage, GBX_CODE_VALUE, ""},
    {"died of anything", grant, play_died, GBX_CODE_CRASHED, ""},
};

static void on_done(void *user, gbx_ticket ticket, gbx_result *result)
{
    *(_Atomic(gbx_result *) *)user = result;
}

static bool is_done(void *user)
{
    return *(_Atomic(gbx_result *) *)user != NULL;
}

/* The same call with each driver. */
static gbx_result *run_by(gbx_engine *engine, const gbx_call *call, int driver)
{
    _Atomic(gbx_result *) done = NULL;
    gbx_result *result = NULL;
    gbx_drive *drive = NULL;

    if (driver == 0)
        return call_run(engine, call);
    if (driver == 1) {
        assert_int_equal(gbx_submit(engine, call, on_done, &done, NULL, NULL), GBX_OK);
        assert_true(until(is_done, &done, 20000));
        return done;
    }
    assert_int_equal(gbx_drive_new(engine, call, &drive, NULL, NULL), GBX_OK);
    while (result == NULL) {
        struct pollfd fd = {.fd = gbx_drive_fd(drive), .events = POLLIN};

        assert_int_equal(poll(&fd, 1, 20000), 1);
        result = gbx_drive_step(drive);
    }
    gbx_drive_free(drive);
    return result;
}

TEST(hostile__reports_in_any_order_end_the_call_with_the_truth)
{
    for (size_t i = 0; i < 3 * sizeof plays / sizeof plays[0]; i++) {
        puppet p = {.early = plays[i / 3].early, .late = plays[i / 3].late};
        gbx_engine *engine = puppet_engine(&p);
        gbx_call call = call_of("() => 1");
        gbx_limits limits = timeout_of(30000);
        double start = now_ms();
        gbx_result *result;

        call.limits = &limits;
        result = run_by(engine, &call, (int)(i % 3));
        if (gbx_result_code(result) != plays[i / 3].code ||
            strstr(gbx_result_error(result), plays[i / 3].text) == NULL)
            fail_msg("%s, driver %zu: %s", plays[i / 3].name, i % 3,
                     gbx_result_json(result, NULL));
        assert_true(now_ms() - start < 15000); /* not by the time limit */
        check_one_line(gbx_result_error(result));
        check_one_line(gbx_result_machine(result));
        gbx_result_free(result);
        assert_int_equal(p.asked, 1);
        assert_int_equal(p.released, 1);
        gbx_engine_free(engine);
        assert_int_equal(p.released, 1);
    }
}

TEST(lease__that_cannot_be_asked_for_is_released_too)
{
    puppet p = {.refuses = true};
    gbx_engine *engine = puppet_engine(&p);
    gbx_call call = call_of("() => 1");
    gbx_result *result = call_run(engine, &call);

    assert_int_equal(gbx_result_code(result), GBX_CODE_UNAVAILABLE);
    assert_non_null(strstr(gbx_result_error(result), "no way there"));
    gbx_result_free(result);
    assert_int_equal(p.released, 1);
    gbx_engine_free(engine);
}

/* ---- time and aborts ----------------------------------------------------------------- */

TEST(silent__runner_costs_the_time_limit_and_has_run_nothing)
{
    for (int driver = 0; driver < 3; driver++) {
        puppet p = {0};
        gbx_engine *engine = puppet_engine(&p);
        gbx_call call = call_of("() => 1");
        gbx_limits limits = timeout_of(100);
        gbx_result *result;

        call.limits = &limits;
        result = run_by(engine, &call, driver);
        assert_int_equal(gbx_result_code(result), GBX_CODE_UNAVAILABLE);
        assert_non_null(strstr(gbx_result_error(result), "within 100 ms"));
        gbx_result_free(result);
        assert_int_equal(p.released, 1);
        assert_int_equal(p.sent, 0);
        gbx_engine_free(engine);
    }
}

TEST(granted__and_then_silent_is_a_timeout_that_was_cancelled)
{
    puppet p = {.early = grant};
    gbx_engine *engine = puppet_engine(&p);
    gbx_call call = call_of("() => 1");
    gbx_limits limits = timeout_of(1000);
    gbx_result *result;

    call.limits = &limits;
    result = call_run(engine, &call);
    assert_int_equal(gbx_result_code(result), GBX_CODE_TIMEOUT);
    gbx_result_free(result);
    assert_int_equal(p.cancelled, 1);
    gbx_engine_free(engine);
}

static void count_line(void *user, const gbx_log *log)
{
    gbx_signal_abort(user);
}

TEST(abort__brings_the_lines_and_the_cost_so_far)
{
    for (int driver = 0; driver < 3; driver++) {
        gbx_call call = call_of("() => { console.log('first'); for (;;); }");
        gbx_stats stats = {0};

        /* On a machine under load the cost may come too late, now and then. */
        for (int i = 0; i < 20 && stats.cpu_ms == 0; i++) {
            double start = now_ms();
            gbx_result *result;

            call.signal = gbx_signal_new();
            call.on_log = count_line;
            call.log_user = call.signal;
            result = run_by(leased, &call, driver);
            assert_int_equal(gbx_result_code(result), GBX_CODE_ABORTED);
            assert_int_equal(gbx_result_log_count(result), 1);
            stats = gbx_result_stats(result);
            assert_true(now_ms() - start < 5000);
            gbx_result_free(result);
            gbx_signal_free(call.signal);
        }
        assert_true(stats.cpu_ms > 0);
    }
}

TEST(abort__of_a_silent_runner_takes_a_tenth_of_a_second)
{
    for (int driver = 0; driver < 3; driver++) {
        puppet p = {.early = grant};
        gbx_engine *engine = puppet_engine(&p);
        gbx_call call = call_of("() => 1");
        gbx_result *result;
        double start = now_ms();

        call.signal = gbx_signal_new();
        assert_non_null(call.signal);
        if (driver == 1) {
            _Atomic(gbx_result *) done = NULL;
            gbx_ticket ticket;

            assert_int_equal(gbx_submit(engine, &call, on_done, &done, &ticket, NULL),
                             GBX_OK);
            gbx_abort(engine, ticket);
            assert_true(until(is_done, &done, 20000));
            result = done;
        } else {
            gbx_drive *drive = NULL;

            assert_int_equal(gbx_drive_new(engine, &call, &drive, NULL, NULL), GBX_OK);
            gbx_signal_abort(call.signal);
            for (result = NULL; result == NULL;) {
                struct pollfd fd = {.fd = gbx_drive_fd(drive), .events = POLLIN};

                assert_int_equal(poll(&fd, 1, 20000), 1);
                result = gbx_drive_step(drive);
            }
            gbx_drive_free(drive);
        }
        assert_int_equal(gbx_result_code(result), GBX_CODE_ABORTED);
        assert_true(now_ms() - start < 3000);
        gbx_result_free(result);
        gbx_signal_free(call.signal);
        gbx_engine_free(engine);
        assert_int_equal(p.released, p.asked); /* 0, if it came too late to ask */
    }
}

TEST(free__ends_open_leases)
{
    puppet p = {.early = grant};
    gbx_engine *engine = puppet_engine(&p);
    gbx_call call = call_of("() => 1");
    gbx_drive *drive = NULL;
    _Atomic(gbx_result *) done = NULL;

    assert_int_equal(gbx_drive_new(engine, &call, &drive, NULL, NULL), GBX_OK);
    gbx_drive_free(drive);
    assert_int_equal(p.released, 1);
    assert_int_equal(gbx_submit(engine, &call, on_done, &done, NULL, NULL), GBX_OK);
    gbx_engine_free(engine);
    assert_non_null(done);
    assert_int_equal(gbx_result_code(done), GBX_CODE_ABORTED);
    gbx_result_free(done);
    assert_int_equal(p.released, p.asked);
}

TEST(fork__leaves_leases_to_the_parent)
{
    puppet p = {.early = grant};
    gbx_engine *engine = puppet_engine(&p);
    gbx_call call = call_of("() => 1");
    gbx_drive *drive = NULL;
    int status = 0;
    pid_t pid;

    assert_int_equal(gbx_drive_new(engine, &call, &drive, NULL, NULL), GBX_OK);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        gbx_result *result = NULL;
        bool is_refused = gbx_execute(engine, &call, &result, NULL) == GBX_E_USAGE &&
                          gbx_drive_step(drive) == NULL;

        gbx_drive_free(drive);
        gbx_engine_free(engine);
        _exit(is_refused && p.asked == 1 && p.cancelled + p.released == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    gbx_drive_free(drive);
    assert_int_equal(p.released, 1);
    gbx_engine_free(engine);
}

/* ---- runners of other builds ----------------------------------------------------------- */

static gbx_status execute(void *user, const gbx_call *call, gbx_outcome *outcome,
                          gbx_error *reterr)
{
    return gbx_outcome_value(outcome, "7", 1);
}

TEST(runner__of_an_older_build_executes_as_before)
{
    gbx_runner runner = {.struct_size = offsetof(gbx_runner, prepare),
                         .name = "old",
                         .execute = execute};
    gbx_engine *engine;

    /* What lies behind an older struct is not looked at. */
    memset((char *)&runner + runner.struct_size, 0xff,
           sizeof runner - runner.struct_size);
    engine = engine_with(&runner);
    check_value(engine, "() => 1", NULL, "7");
    gbx_engine_free(engine);
}

TEST(runner__must_have_one_way_to_run_calls)
{
    gbx_runner wrong[] = {
        {.struct_size = sizeof *wrong, .name = "none"},
        {.struct_size = sizeof *wrong,
         .name = "both",
         .execute = execute,
         .lease = puppet_ask,
         .send = puppet_send,
         .receive = puppet_receive,
         .cancel = puppet_cancel,
         .release = puppet_release},
        {.struct_size = sizeof *wrong, .name = "half", .lease = puppet_ask},
        {.struct_size = sizeof *wrong, .execute = execute},
        {.struct_size = 3, .name = "short", .execute = execute},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        gbx_options options = GBX_OPTIONS_INIT;
        gbx_engine *engine = NULL;

        options.runner = &wrong[i];
        assert_int_equal(gbx_engine_new(&options, &engine, NULL), GBX_E_USAGE);
    }
}

TEST_MAIN(start, finish)

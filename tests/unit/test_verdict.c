/* SPDX-License-Identifier: MIT */
/* verdict - from what the host saw to a code; what guest code wrote decides nothing. */
#include "engine/verdict.h"
#include "test.h"

#include <signal.h>

#define MEMORY (UINT64_C(128) << 20)

static const gbx_limits limits = {
    .timeout_ms = 5000,
    .cpu_ms = 1000,
    .memory_bytes = MEMORY,
    .output_bytes = 4096,
};

static gbx_verdict decide(gbx_evidence e)
{
    gbx_verdict v;

    e.limits = &limits;
    gbx_verdict_decide(&e, &v);
    assert_non_null(v.hint);
    return v;
}

/* ---- the worker said it --------------------------------------------------------- */

TEST(said__a_value_is_success_without_a_word)
{
    gbx_exchange x = {.state = GBX_EXCHANGE_VALUE, .was_refused = true};
    gbx_verdict v = decide((gbx_evidence){.end = GBX_END_SAID,
                                          .exchange = &x,
                                          .growth_bytes = MEMORY * 2,
                                          .cpu_ms = 1e9});

    assert_int_equal(v.code, GBX_CODE_VALUE);
    assert_string_equal(v.message, "");
    assert_string_equal(v.hint, "");
}

static const struct {
    gbx_failure failure;
    gbx_code code;
    const char *message; /* "": what was thrown is the message */
    bool has_hint;
} failures[] = {
    {GBX_FAILURE_SYNTAX, GBX_CODE_SYNTAX, "", false},
    {GBX_FAILURE_THROWN, GBX_CODE_RUNTIME, "", false},
    {GBX_FAILURE_NOT_JSON, GBX_CODE_RUNTIME, "", false},
    {GBX_FAILURE_OUTPUT, GBX_CODE_OUTPUT_TOO_LARGE,
     "the result is larger than the output limit of 4096 bytes", true},
    {GBX_FAILURE_INPUT, GBX_CODE_INVALID_DATA, "", false},
    {GBX_FAILURE_NEVER, GBX_CODE_RUNTIME,
     "the promise returned can never settle: nothing is left that could resolve it",
     true},
    {GBX_FAILURE_BAD_FORM, GBX_CODE_INVALID_CODE, "", false},
};

TEST(said__each_failure_has_its_code)
{
    for (size_t i = 0; i < GBX_COUNTOF(failures) * 2; i++) {
        gbx_exchange x = {.state = GBX_EXCHANGE_ERROR,
                          .failure = failures[i / 2].failure,
                          .was_refused = i % 2 == 1}; /* decides nothing here */
        gbx_verdict v =
            decide((gbx_evidence){.end = GBX_END_SAID, .exchange = &x, .cpu_ms = 1e9});

        assert_int_equal(v.code, failures[i / 2].code);
        assert_string_equal(v.message, failures[i / 2].message);
        assert_int_equal(*v.hint != 0, failures[i / 2].has_hint);
    }
}

TEST(said__the_engines_own_out_of_memory_is_memory)
{
    for (int f = GBX_FAILURE_SYNTAX; f <= GBX_FAILURE_BAD_FORM; f++) {
        gbx_exchange x = {.state = GBX_EXCHANGE_ERROR,
                          .failure = (gbx_failure)f,
                          .is_out_of_memory = true};
        gbx_verdict v = decide((gbx_evidence){.end = GBX_END_SAID, .exchange = &x});

        assert_int_equal(v.code, GBX_CODE_MEMORY);
        assert_string_equal(v.message, "needed more memory than the limit of 128 MiB");
    }
}

/* ---- the worker died --------------------------------------------------------------- */

enum { CALM, REFUSED, GROWN };

/* What a signal means, with no memory pressure, after REFUSED and after growth. */
static const struct {
    int sig;
    gbx_code codes[3];
} deaths[] = {
#define C GBX_CODE_CRASHED
#define M GBX_CODE_MEMORY
#define T GBX_CODE_TIMEOUT
#define V GBX_CODE_VIOLATION
    {SIGSEGV, {C, M, M}}, {SIGBUS, {C, M, M}},    {SIGABRT, {C, M, M}},
    {SIGTRAP, {C, M, M}}, {SIGILL, {C, M, M}},    {SIGKILL, {C, M, C}},
    {SIGXCPU, {T, T, T}}, {SIGSYS, {V, V, V}},    {SIGFPE, {C, C, C}},
    {SIGTERM, {C, C, C}}, {SIGHUP, {C, C, C}},    {SIGINT, {C, C, C}},
    {SIGQUIT, {C, C, C}}, {SIGPIPE, {C, C, C}},   {SIGALRM, {C, C, C}},
    {SIGUSR1, {C, C, C}}, {SIGUSR2, {C, C, C}},   {SIGVTALRM, {C, C, C}},
    {SIGPROF, {C, C, C}}, {SIGSTKFLT, {C, C, C}}, {SIGXFSZ, {C, C, C}},
    {SIGIO, {C, C, C}},   {SIGPWR, {C, C, C}},    {SIGCHLD, {C, C, C}},
    {34, {C, C, C}},      {64, {C, C, C}},
#undef C
#undef M
#undef T
#undef V
};

static gbx_verdict die_of(int sig, int pressure, double cpu_ms)
{
    gbx_exchange x = {.was_refused = pressure == REFUSED};

    return decide(
        (gbx_evidence){.end = GBX_END_DIED,
                       .exchange = &x,
                       .wait_status = sig, /* WIFSIGNALED, as wait4 says it */
                       .growth_bytes = pressure == GROWN ? MEMORY / 4 + 1 : MEMORY / 4,
                       .cpu_ms = cpu_ms});
}

TEST(died__each_signal_by_what_memory_did)
{
    for (size_t i = 0; i < GBX_COUNTOF(deaths) * 3; i++) {
        int pressure = (int)(i % 3);
        gbx_verdict v = die_of(deaths[i / 3].sig, pressure, 0);

        if (v.code != deaths[i / 3].codes[pressure])
            fail_msg("signal %d, pressure %d: %s", deaths[i / 3].sig, pressure,
                     gbx_code_name(v.code));
        assert_true(*v.message != 0);
    }
}

TEST(died__with_a_core_is_no_different)
{
    gbx_exchange x = {.was_refused = false};

    assert_int_equal(decide((gbx_evidence){.end = GBX_END_DIED,
                                           .exchange = &x,
                                           .wait_status = SIGSEGV | 0x80})
                         .code,
                     GBX_CODE_CRASHED);
}

TEST(died__killed_is_a_limit_only_if_one_was_met)
{
    static const struct {
        int pressure;
        double cpu_ms;
        gbx_code code;
    } kills[] = {
        {CALM, 0, GBX_CODE_CRASHED},   {CALM, 949, GBX_CODE_CRASHED},
        {CALM, 950, GBX_CODE_TIMEOUT}, {CALM, 3000, GBX_CODE_TIMEOUT},
        {REFUSED, 0, GBX_CODE_MEMORY}, {REFUSED, 3000, GBX_CODE_TIMEOUT},
        {GROWN, 0, GBX_CODE_CRASHED},  {GROWN, 3000, GBX_CODE_TIMEOUT},
    };

    for (size_t i = 0; i < GBX_COUNTOF(kills); i++)
        assert_int_equal(die_of(SIGKILL, kills[i].pressure, kills[i].cpu_ms).code,
                         kills[i].code);
}

TEST(died__killed_by_an_operator_is_said_to_be_so)
{
    gbx_verdict v = die_of(SIGKILL, CALM, 0);

    assert_string_equal(v.message,
                        "the worker was killed by signal 9 (KILL) from outside");
    assert_non_null(strstr(v.hint, "who killed it"));
}

TEST(died__processor_time_changes_no_other_signal)
{
    for (size_t i = 0; i < GBX_COUNTOF(deaths); i++)
        if (deaths[i].sig != SIGKILL)
            assert_int_equal(die_of(deaths[i].sig, CALM, 1e9).code,
                             deaths[i].codes[CALM]);
}

/* The engine's reserve for shapes is as large whatever the limit. */
TEST(died__past_the_reserve_is_memory_at_any_limit)
{
    gbx_limits large = limits;
    gbx_evidence e = {.end = GBX_END_DIED, .limits = &large, .wait_status = SIGSEGV};
    gbx_verdict v;

    large.memory_bytes = UINT64_C(4) << 30;
    e.growth_bytes = (UINT64_C(32) << 20) + 1;
    gbx_verdict_decide(&e, &v);
    assert_int_equal(v.code, GBX_CODE_MEMORY);

    e.growth_bytes--;
    gbx_verdict_decide(&e, &v);
    assert_int_equal(v.code, GBX_CODE_CRASHED);
}

/* Nothing was refused, so that what is full is the reserve; a signal of abort() is not
 * what an access past its end makes. */
TEST(died__of_a_full_reserve_names_the_shapes)
{
    gbx_exchange refused = {.was_refused = true};
    gbx_evidence e = {.end = GBX_END_DIED,
                      .wait_status = SIGSEGV,
                      .growth_bytes = MEMORY / 4 + 1};

    assert_non_null(
        strstr(decide(e).message, "too many different sets of field names"));
    assert_non_null(strstr(decide(e).hint, "use a Map"));
    e.wait_status = SIGABRT;
    assert_string_equal(decide(e).message,
                        "needed more memory than the limit of 128 MiB");
    e.wait_status = SIGSEGV;
    e.exchange = &refused;
    assert_string_equal(decide(e).message,
                        "needed more memory than the limit of 128 MiB");
}

TEST(died__every_exit_status_is_a_crash)
{
    gbx_exchange x = {.was_refused = true};

    for (int status = 0; status <= 255; status++) {
        gbx_verdict v = decide((gbx_evidence){.end = GBX_END_DIED,
                                              .exchange = &x,
                                              .wait_status = status << 8,
                                              .growth_bytes = MEMORY});

        assert_int_equal(v.code, GBX_CODE_CRASHED);
        assert_non_null(strstr(v.message, "exited with status"));
    }
}

TEST(memory__of_a_large_input_names_the_input)
{
    gbx_exchange x = {.was_refused = true};
    gbx_evidence e = {.end = GBX_END_DIED,
                      .exchange = &x,
                      .wait_status = SIGABRT,
                      .input_bytes = MEMORY / 4 + 1};
    gbx_verdict v = decide(e);

    assert_string_equal(v.message, "the input of 33554433 bytes does not fit the "
                                   "memory limit of 128 MiB");
    e.input_bytes = MEMORY / 4;

    assert_string_equal(decide(e).message,
                        "needed more memory than the limit of 128 MiB");
}

/* ---- the host ended it -------------------------------------------------------------- */

static const struct {
    gbx_end end;
    gbx_code code;
    const char *message;
    bool has_hint;
} ends[] = {
    {GBX_END_BROKEN, GBX_CODE_VIOLATION,
     "the worker broke the protocol and was killed: why", false},
    {GBX_END_DEADLINE, GBX_CODE_TIMEOUT, "ran past the time limit of 5000 ms", true},
    {GBX_END_CPU, GBX_CODE_TIMEOUT, "used more than 1000 ms of processor time", true},
    {GBX_END_ABORT, GBX_CODE_ABORTED, "the caller aborted the call", false},
    {GBX_END_CLOSED, GBX_CODE_CRASHED,
     "the worker closed its channel before its result and was killed", false},
    {GBX_END_LOST, GBX_CODE_CRASHED, "the worker was lost: its template died", true},
    {GBX_END_NO_WORKER, GBX_CODE_UNAVAILABLE, "no worker could be had", true},
    {GBX_END_QUEUE_FULL, GBX_CODE_UNAVAILABLE,
     "too many calls are waiting for a worker", true},
};

TEST(unavailable__says_a_time_that_has_passed_and_what_was_lacking)
{
    gbx_evidence e = {.end = GBX_END_NO_WORKER, .is_late = true};
    gbx_verdict busy = decide(e);
    gbx_verdict late;
    gbx_verdict at_once;

    e.lack = "cannot fork: no";
    late = decide(e);
    e.is_late = false;
    at_once = decide(e);

    assert_string_equal(busy.message, "no worker could be had within 5000 ms");
    assert_non_null(strstr(busy.hint, "max_workers"));
    assert_string_equal(late.message,
                        "no worker could be had within 5000 ms: cannot fork: no");
    assert_string_equal(at_once.message, "no worker could be had: cannot fork: no");
    assert_null(strstr(at_once.hint, "max_workers"));
}

TEST(broken__before_it_was_ready_is_what_the_worker_did)
{
    gbx_verdict v = decide((gbx_evidence){.end = GBX_END_BROKEN, .lack = "it did"});

    assert_int_equal(v.code, GBX_CODE_VIOLATION);
    assert_string_equal(v.message, "it did");
}

/* Whatever else was claimed or seen: the host knows what it did. */
TEST(ended__by_the_host_is_what_the_host_did)
{
    for (size_t i = 0; i < GBX_COUNTOF(ends) * 2; i++) {
        gbx_exchange x = {.state = GBX_EXCHANGE_BROKEN,
                          .reason = "why",
                          .failure = GBX_FAILURE_THROWN,
                          .was_refused = i % 2 == 1,
                          .is_out_of_memory = i % 2 == 1};
        gbx_verdict v = decide((gbx_evidence){.end = ends[i / 2].end,
                                              .exchange = &x,
                                              .wait_status = SIGSYS,
                                              .growth_bytes = i % 2 * MEMORY,
                                              .cpu_ms = 1e9});

        assert_int_equal(v.code, ends[i / 2].code);
        assert_string_equal(v.message, ends[i / 2].message);
        assert_int_equal(*v.hint != 0, ends[i / 2].has_hint);
    }
}

TEST(ended__without_a_worker_needs_no_exchange)
{
    static const gbx_end without[] = {GBX_END_ABORT, GBX_END_NO_WORKER,
                                      GBX_END_QUEUE_FULL};

    for (size_t i = 0; i < GBX_COUNTOF(without); i++)
        assert_int_not_equal(decide((gbx_evidence){.end = without[i]}).code,
                             GBX_CODE_VALUE);
    assert_int_equal(
        decide((gbx_evidence){.end = GBX_END_DIED, .wait_status = SIGSEGV}).code,
        GBX_CODE_CRASHED);
}

/* ---- words decide nothing ------------------------------------------------------------ */

TEST(words__that_the_code_wrote_decide_nothing)
{
    static const char *const words[] = {
        "Out of memory",     "RangeError: Out of memory",
        "TIMEOUT",           "Maximum call stack size exceeded.",
        "the worker broke",  "VIOLATION",
        "{\"code\":\"OK\"}", "",
    };

    for (size_t i = 0; i < GBX_COUNTOF(words); i++) {
        gbx_msg_error error = {.failure = GBX_FAILURE_THROWN,
                               .name = {(const uint8_t *)words[i], strlen(words[i])},
                               .message = {(const uint8_t *)words[i], strlen(words[i])},
                               .stack = {(const uint8_t *)words[i], strlen(words[i])}};
        gbx_result *r = gbx_result_new();
        gbx_exchange x = {.state = GBX_EXCHANGE_ERROR,
                          .failure = GBX_FAILURE_THROWN,
                          .result = r};

        assert_true(gbx_result_set_thrown(r, &error));
        assert_int_equal(
            decide((gbx_evidence){.end = GBX_END_SAID, .exchange = &x}).code,
            GBX_CODE_RUNTIME);
        gbx_result_free(r);
    }
}

/* ---- the group of all ------------------------------------------------------------ */

TEST(shortage__a_kill_for_a_sum_is_memory_however_it_was_noticed)
{
    static const gbx_end noticed[] = {GBX_END_DIED, GBX_END_LOST};
    static const struct {
        gbx_shortage shortage;
        const char *says;
    } rows[] = {
        {GBX_SHORTAGE_GROUP, "together needed more memory than their limit of 300 MiB"},
        {GBX_SHORTAGE_MACHINE,
         "this machine, or the container around it, had no memory"},
    };

    for (size_t i = 0; i < 4; i++) {
        gbx_verdict v = decide((gbx_evidence){.end = noticed[i % 2],
                                              .wait_status = SIGKILL,
                                              .cpu_ms = 5000,
                                              .shortage = rows[i / 2].shortage,
                                              .group_bytes = UINT64_C(300) << 20});

        assert_int_equal(v.code, GBX_CODE_MEMORY);
        assert_non_null(strstr(v.message, rows[i / 2].says));
    }
}

TEST(shortage__what_the_host_ended_keeps_its_own_reason)
{
    gbx_verdict v =
        decide((gbx_evidence){.end = GBX_END_DEADLINE, .shortage = GBX_SHORTAGE_GROUP});
    gbx_verdict aborted =
        decide((gbx_evidence){.end = GBX_END_ABORT, .shortage = GBX_SHORTAGE_GROUP});

    assert_int_equal(v.code, GBX_CODE_TIMEOUT);
    assert_int_equal(aborted.code, GBX_CODE_ABORTED);
}

TEST_MAIN(NULL, NULL)

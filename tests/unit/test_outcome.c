/* SPDX-License-Identifier: MIT */
/* outcome - an engine whose calls execute on a runner of the embedder's: the library
 * starts no process for it, holds its limits, and says that nothing isolates. */
#include "base/json.h"
#include "engine/engine.h"
#include "test.h"

#include <errno.h>
#include <sys/wait.h>

/* What a test has its runner do, and what was seen of it. */
typedef struct fake {
    gbx_status (*act)(struct fake *f, gbx_outcome *outcome);
    gbx_limits limits; /* of the engine */
    uint32_t timeout_ms;
    char code[64];
    int executed;
    int disposed;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_inside;
    bool may_leave;
} fake;

/* Of the test that runs; the engine and the result are NULL until they are there. */
static fake its;
static gbx_engine *engine;
static gbx_result *result;

static gbx_status on_execute(void *user, const gbx_call *call, gbx_outcome *outcome,
                             gbx_error *reterr)
{
    fake *f = user;

    f->executed++;
    f->timeout_ms = call->limits->timeout_ms;
    assert_true(call->code_len < sizeof f->code);
    memcpy(f->code, call->code, call->code_len);
    f->code[call->code_len] = 0;
    return f->act(f, outcome);
}

static void on_dispose(void *user)
{
    fake *f = user;

    f->disposed++;
}

static void start(gbx_status (*act)(fake *f, gbx_outcome *outcome))
{
    char name[] = "fake";
    gbx_runner runner = GBX_RUNNER_INIT;
    gbx_options options = GBX_OPTIONS_INIT;

    its.act = act;
    runner.name = name;
    runner.user = &its;
    runner.execute = on_execute;
    runner.dispose = on_dispose;
    options.runner = &runner;
    options.limits = its.limits;
    assert_int_equal(gbx_engine_new(&options, &engine, NULL), GBX_OK);
    memset(name, 'x', sizeof name - 1); /* it was copied */
}

static gbx_call call_of(const char *code)
{
    gbx_call call = GBX_CALL_INIT;

    call.code = code;
    call.code_len = strlen(code);
    return call;
}

/* Start, and run the code: the result's code. */
static gbx_code outcome_of(gbx_status (*act)(fake *f, gbx_outcome *outcome),
                           const char *code)
{
    gbx_call call = call_of(code);

    start(act);
    assert_int_equal(gbx_execute(engine, &call, &result, NULL), GBX_OK);
    return gbx_result_code(result);
}

static int before(void **state)
{
    its = (fake){.limits = GBX_LIMITS_INIT,
                 .lock = PTHREAD_MUTEX_INITIALIZER,
                 .changed = PTHREAD_COND_INITIALIZER};
    engine = NULL;
    result = NULL;
    return 0;
}

static int after(void **state)
{
    gbx_result_free(result);
    if (engine != NULL) {
        gbx_engine_free(engine);
        assert_int_equal(its.disposed, 1);
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no process, ever */
    assert_int_equal(errno, ECHILD);
    return 0;
}

/* ---- values and errors ----------------------------------------------------------- */

static gbx_status give_value(fake *f, gbx_outcome *outcome)
{
    return gbx_outcome_value(outcome, "{\"a\":1}", 7);
}

TEST(value__comes_back_and_says_it_is_not_isolated)
{
    assert_int_equal(outcome_of(give_value, "  (d) => d;\n"), GBX_CODE_VALUE);

    assert_string_equal(gbx_result_value(result, NULL), "{\"a\":1}");
    assert_int_equal(gbx_result_stats(result).output_bytes, 7);
    assert_non_null(strstr(gbx_result_json(result, NULL),
                           "\"runner\":\"fake\",\"isolated\":false"));
    assert_string_equal(its.code, "(d) => d"); /* the code proper */
    assert_int_equal(its.timeout_ms, 5000);
}

static gbx_status give_lines(fake *f, gbx_outcome *outcome)
{
    return gbx_outcome_value(outcome, " [1,\r\n\" \"]\n", 11);
}

TEST(value__is_on_one_line_and_counted_so)
{
    its.limits.output_bytes = 7;

    assert_int_equal(outcome_of(give_lines, "(d) => d"), GBX_CODE_VALUE);

    assert_string_equal(gbx_result_value(result, NULL), "[1,\" \"]");
    assert_int_equal(gbx_result_stats(result).output_bytes, 7);
}

TEST(guard__stops_a_call_before_the_runner)
{
    assert_int_equal(outcome_of(give_value, "(d) => require('fs')"),
                     GBX_CODE_INVALID_CODE);

    assert_int_equal(its.executed, 0);
}

TEST(size__holds_without_the_guard)
{
    gbx_limits limits = GBX_LIMITS_INIT;
    gbx_call call = call_of("12345");
    limits.code_bytes = 4;
    call.limits = &limits;
    call.flags = GBX_CALL_NO_GUARD;
    start(give_value);

    assert_int_equal(gbx_execute(engine, &call, &result, NULL), GBX_OK);

    assert_int_equal(gbx_result_code(result), GBX_CODE_INVALID_CODE);
    assert_string_equal(gbx_result_error(result),
                        "the code is 5 bytes, and 4 are the limit");
    assert_int_equal(its.executed, 0);
}

static gbx_status give_five_bytes(fake *f, gbx_outcome *outcome)
{
    return gbx_outcome_value(outcome, "\"abc\"", 5);
}

TEST(output__holds_at_the_limit)
{
    its.limits.output_bytes = 5;
    assert_int_equal(outcome_of(give_five_bytes, "() => 1"), GBX_CODE_VALUE);
}

TEST(output__holds_not_past_the_limit)
{
    its.limits.output_bytes = 4;
    assert_int_equal(outcome_of(give_five_bytes, "() => 1"), GBX_CODE_OUTPUT_TOO_LARGE);
}

static gbx_status give_wrongly(fake *f, gbx_outcome *outcome)
{
    assert_int_equal(gbx_outcome_value(outcome, "{", 1), GBX_E_USAGE);
    assert_int_equal(gbx_outcome_value(outcome, "", 0), GBX_E_USAGE);
    assert_int_equal(gbx_outcome_error(outcome, GBX_CODE_VALUE, "x", 0, 0),
                     GBX_E_USAGE);
    assert_int_equal(gbx_outcome_error(outcome, (gbx_code)12, "x", 0, 0), GBX_E_USAGE);
    assert_int_equal(gbx_outcome_error(outcome, GBX_CODE_RUNTIME, NULL, 0, 0),
                     GBX_E_USAGE);
    assert_int_equal(gbx_outcome_log(outcome, (gbx_log_level)5, "x", 1), GBX_E_USAGE);
    assert_int_equal(gbx_outcome_value(outcome, NULL, 0), GBX_OK);
    assert_int_equal(gbx_outcome_value(outcome, "1", 1), GBX_E_USAGE);
    return gbx_outcome_error(outcome, GBX_CODE_RUNTIME, "late", 0, 0) == GBX_E_USAGE
               ? GBX_OK
               : GBX_E_PROTOCOL;
}

TEST(outcome__is_given_once_and_rightly)
{
    assert_int_equal(outcome_of(give_wrongly, "() => undefined"), GBX_CODE_VALUE);
    assert_string_equal(gbx_result_value(result, NULL), "");
}

static gbx_status give_error(fake *f, gbx_outcome *outcome)
{
    return gbx_outcome_error(outcome, GBX_CODE_RUNTIME, "Error: x\nand\x1B more", 1, 7);
}

TEST(error__has_its_place_in_the_code)
{
    assert_int_equal(outcome_of(give_error, "() => boom()"), GBX_CODE_RUNTIME);

    assert_string_equal(gbx_result_error(result), "Error: x\\nand\\u{1b} more");
    assert_int_equal(gbx_result_location(result).line, 1);
    assert_int_equal(gbx_result_location(result).column, 7);
    assert_non_null(strstr(gbx_result_location(result).frame, "boom()"));
}

static gbx_status give_nothing(fake *f, gbx_outcome *outcome)
{
    return GBX_OK;
}

TEST(nothing__is_a_crash_of_the_runner)
{
    assert_int_equal(outcome_of(give_nothing, "() => 1"), GBX_CODE_CRASHED);
}

static gbx_status refuse(fake *f, gbx_outcome *outcome)
{
    return GBX_E_OS;
}

TEST(status__of_the_runner_is_the_callers)
{
    gbx_call call = call_of("() => 1");
    start(refuse);

    assert_int_equal(gbx_execute(engine, &call, &result, NULL), GBX_E_OS);

    assert_null(result);
}

/* ---- logs -------------------------------------------------------------------------- */

static gbx_status talk(fake *f, gbx_outcome *outcome)
{
    for (int i = 0; i < 100; i++)
        assert_int_equal(gbx_outcome_log(outcome, GBX_LOG_WARN, "\xFF\0z", 3), GBX_OK);
    return gbx_outcome_value(outcome, "null", 4);
}

static void count(void *user, const gbx_log *line)
{
    size_t *lines = user;

    assert_string_equal(line->text, "\xEF\xBF\xBD\xEF\xBF\xBDz");
    (*lines)++;
}

TEST(logs__are_heard_live_and_bounded)
{
    gbx_call call = call_of("() => 1");
    size_t lines = 0;
    call.on_log = count;
    call.log_user = &lines;
    its.limits.log_bytes = 100;
    start(talk);

    assert_int_equal(gbx_execute(engine, &call, &result, NULL), GBX_OK);

    assert_int_equal(lines, gbx_result_log_count(result));
    assert_in_range(lines, 2, 5);
    assert_int_equal(gbx_result_logs_truncated(result), 1);
}

/* ---- the engine -------------------------------------------------------------------- */

static void on_done(void *user, gbx_ticket ticket, gbx_result *done)
{
    fake *f = user;

    assert_true(ticket > 0);
    assert_int_equal(gbx_result_code(done), GBX_CODE_VALUE);
    gbx_result_free(done);
    (void)pthread_mutex_lock(&f->lock);
    f->may_leave = true;
    (void)pthread_cond_signal(&f->changed);
    (void)pthread_mutex_unlock(&f->lock);
}

TEST(submit__ends_by_the_callback_too)
{
    gbx_call call = call_of("() => 1");
    start(give_value);

    assert_int_equal(gbx_submit(engine, &call, on_done, &its, NULL, NULL), GBX_OK);
    (void)pthread_mutex_lock(&its.lock);
    while (!its.may_leave)
        (void)pthread_cond_wait(&its.changed, &its.lock);
    (void)pthread_mutex_unlock(&its.lock);
}

TEST(report__names_the_runner)
{
    char *json = NULL;
    start(give_value);

    assert_int_equal(gbx_engine_report(engine, &json, NULL), GBX_OK);

    assert_true(gbx_json_check(json, strlen(json), 10, NULL));
    assert_non_null(strstr(json, "\"runner\":\"fake\",\"isolated\":false"));
    gbx_string_free(json);
}

TEST(load__is_not_for_other_runners)
{
    start(give_value);

    assert_int_equal(gbx_engine_load(engine, "d", "[]", 2, GBX_DATA_JSON, NULL),
                     GBX_E_UNSUPPORTED);
}

static gbx_status stay(fake *f, gbx_outcome *outcome)
{
    (void)pthread_mutex_lock(&f->lock);
    f->is_inside = true;
    (void)pthread_cond_broadcast(&f->changed);
    while (!f->may_leave)
        (void)pthread_cond_wait(&f->changed, &f->lock);
    (void)pthread_mutex_unlock(&f->lock);
    assert_int_equal(f->disposed, 0);
    return gbx_outcome_value(outcome, "1", 1);
}

static void *free_engine(void *arg)
{
    gbx_engine_free(engine);
    return NULL;
}

static void *run_one(void *arg)
{
    gbx_call call = call_of("() => 1");

    assert_int_equal(gbx_execute(engine, &call, &result, NULL), GBX_OK);
    return NULL;
}

TEST(free__waits_for_whoever_is_inside)
{
    pthread_t caller;
    pthread_t ender;
    start(stay);

    assert_int_equal(pthread_create(&caller, NULL, run_one, NULL), 0);
    (void)pthread_mutex_lock(&its.lock);
    while (!its.is_inside)
        (void)pthread_cond_wait(&its.changed, &its.lock);
    (void)pthread_mutex_unlock(&its.lock);
    assert_int_equal(pthread_create(&ender, NULL, free_engine, NULL), 0);
    (void)nanosleep(&(struct timespec){0, 50000000}, NULL);
    assert_int_equal(its.disposed, 0);
    (void)pthread_mutex_lock(&its.lock);
    its.may_leave = true;
    (void)pthread_cond_broadcast(&its.changed);
    (void)pthread_mutex_unlock(&its.lock);

    assert_int_equal(pthread_join(caller, NULL), 0);
    assert_int_equal(pthread_join(ender, NULL), 0);
    assert_int_equal(its.disposed, 1);
    engine = NULL;
}

TEST(new__refuses_a_runner_that_is_none)
{
    gbx_runner runner = GBX_RUNNER_INIT;
    gbx_options options = GBX_OPTIONS_INIT;
    char name[100];
    options.runner = &runner;
    runner.user = &its;
    runner.dispose = on_dispose;

    assert_int_equal(gbx_engine_new(&options, &engine, NULL), GBX_E_USAGE);
    runner.execute = on_execute;
    assert_int_equal(gbx_engine_new(&options, &engine, NULL), GBX_E_USAGE);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    runner.name = name;
    assert_int_equal(gbx_engine_new(&options, &engine, NULL), GBX_E_USAGE);
    runner.name = "short";
    runner.struct_size = 8;
    assert_int_equal(gbx_engine_new(&options, &engine, NULL), GBX_E_USAGE);

    assert_int_equal(its.disposed, 0); /* still the caller's */
    assert_null(engine);
}

TEST_MAIN_EACH(before, after)

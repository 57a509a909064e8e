/* SPDX-License-Identifier: MIT */
/* calls - see calls.h. */
#include "calls.h"

#include "loop_runner.h"
#include "proc.h"
#include "test.h"
#include "until.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The time limit of calls that name none: on a loaded machine the product's own may end a
 * call that has hardly begun. */
#define PATIENT_MS 60000

gbx_call call_of(const char *code)
{
    gbx_call call = GBX_CALL_INIT;

    call.code = code;
    call.code_len = strlen(code);
    return call;
}

gbx_call script_of(const char *script)
{
    gbx_call call = call_of(script);

    call.flags = GBX_CALL_NO_GUARD;
    return call;
}

gbx_limits timeout_of(uint32_t timeout_ms)
{
    gbx_limits limits = GBX_LIMITS_INIT;

    limits.timeout_ms = timeout_ms;
    return limits;
}

gbx_policy *policy_of(const char *json)
{
    gbx_policy *policy = NULL;
    gbx_error error = {0};

    if (gbx_policy_parse(json, strlen(json), NULL, &policy, &error) != GBX_OK)
        fail_msg("%s: %s", json, error.message);
    return policy;
}

gbx_engine *engine_start(const gbx_options *options)
{
    gbx_options patient = GBX_OPTIONS_INIT;
    gbx_engine *engine = NULL;
    gbx_error error = {0};

    if (options != NULL)
        patient = *options;
    if (patient.limits.timeout_ms == 0)
        patient.limits.timeout_ms = PATIENT_MS;
    if (gbx_engine_new(&patient, &engine, &error) != GBX_OK)
        fail_msg("no engine: %s: %s", gbx_status_name(error.status), error.message);
    return engine;
}

static bool makes_forks(void *user)
{
    gbx_engine *engine = engine_start(NULL);
    bool is_fork = proc_is_fork(proc_template());

    gbx_engine_free(engine);
    return is_fork;
}

void wait_for_zygote(void)
{
    assert_true(until(makes_forks, NULL, 60000));
}

int engine_before_test(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;

    options.pool_size = 2;
    *state = engine_start(&options);
    return 0;
}

int engine_after_test(void **state)
{
    gbx_engine_free(*state);
    return proc_descendants() == 0 ? 0 : -1;
}

gbx_result *call_run(gbx_engine *engine, const gbx_call *call)
{
    gbx_result *result = NULL;
    gbx_error error = {0};

    if (gbx_execute(engine, call, &result, &error) != GBX_OK)
        fail_msg("no result: %s: %s", gbx_status_name(error.status), error.message);
    assert_non_null(result);
    return result;
}

gbx_code call_code(gbx_engine *engine, const gbx_call *call)
{
    gbx_result *result = NULL;
    gbx_code code = (gbx_code)-1;

    if (gbx_execute(engine, call, &result, NULL) == GBX_OK)
        code = gbx_result_code(result);
    gbx_result_free(result);
    return code;
}

void check_code(gbx_engine *engine, const gbx_call *call, gbx_code code)
{
    gbx_result *result = call_run(engine, call);

    if (gbx_result_code(result) != code)
        fail_msg("'%.200s' ended as %s, not %s: %.400s", call->code,
                 gbx_code_name(gbx_result_code(result)), gbx_code_name(code),
                 gbx_result_json(result, NULL));
    gbx_result_free(result);
}

void check_value(gbx_engine *engine, const char *code, const char *input,
                 const char *value)
{
    gbx_call call = call_of(code);
    gbx_result *result;

    call.input = input;
    call.input_len = input != NULL ? strlen(input) : 0;
    result = call_run(engine, &call);
    if (gbx_result_code(result) != GBX_CODE_VALUE)
        fail_msg("'%.200s' failed: %.400s", code, gbx_result_json(result, NULL));
    assert_string_equal(gbx_result_value(result, NULL), value);
    gbx_result_free(result);
}

void check_alive(gbx_engine *engine)
{
    check_value(engine, "(data) => data[0] + 1", "[1]", "2");
}

void check_hostile_alive(gbx_engine *engine)
{
    gbx_call call = script_of("result \"alive\"");
    gbx_result *result = call_run(engine, &call);

    if (gbx_result_code(result) != GBX_CODE_VALUE)
        fail_msg("the engine is not alive: %.400s", gbx_result_json(result, NULL));
    assert_string_equal(gbx_result_value(result, NULL), "\"alive\"");
    gbx_result_free(result);
}

bool is_hostile_alive(void *engine)
{
    gbx_call call = script_of("result 1");

    return call_code(engine, &call) == GBX_CODE_VALUE;
}

void check_one_line(const char *text)
{
    for (const char *at = text; *at != 0; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            fail_msg("a control character in '%s'", text);
}

double report_number(gbx_engine *engine, const char *key)
{
    char quoted[64];
    char *json = NULL;
    const char *at;
    double number;

    if (!loop_runner_report(engine, &json))
        return -1;
    (void)snprintf(quoted, sizeof quoted, "\"%s\":", key);
    at = strstr(json, quoted);
    number = at != NULL ? strtod(at + strlen(quoted), NULL) : -1;
    gbx_string_free(json);
    return number;
}

bool pool_is_full(gbx_engine *engine)
{
    double kept = report_number(engine, "kept");

    if (kept < 0) /* no call has needed one yet */
        return true;
    return report_number(engine, "ready") == kept &&
           report_number(engine, "workers") == report_number(engine, "ready") &&
           report_number(engine, "coldTemplates") == 0;
}

static bool is_full(void *user)
{
    return pool_is_full(user);
}

void wait_until_full(gbx_engine *engine)
{
    assert_true(until(is_full, engine, 60000));
}

void fill_pool(gbx_engine *engine)
{
    for (int i = 0; i < 3; i++)
        check_alive(engine);
    wait_until_full(engine);
}

static bool is_taken(void *user)
{
    return report_number(user, "ready") == 0 &&
           report_number(user, "running") + report_number(user, "waiting") > 0;
}

void wait_until_taken(gbx_engine *engine)
{
    assert_true(until(is_taken, engine, 60000));
}

/* ---- what this process has ------------------------------------------------ */

footprint footprint_take(void)
{
    proc_tree tree;

    gbx_zygote_end();
    proc_look(getpid(), &tree);
    return (footprint){proc_fds(),
                       tree.count +
                           proc_children_named(getpid(), "glovebox-spare\n", NULL),
                       tree.zombies};
}

static bool is_back(void *user)
{
    const footprint *before = user;
    footprint now = footprint_take();

    /* Fewer is well: an engine that is not called for a while ends its workers. */
    return now.fds <= before->fds && now.processes <= before->processes &&
           now.zombies <= before->zombies;
}

void footprint_check(const footprint *before)
{
    footprint copy = *before;
    footprint now;

    if (until(is_back, &copy, 60000))
        return;
    now = footprint_take();
    fail_msg("descriptors %zu -> %zu, processes %zu -> %zu, zombies %zu -> %zu",
             before->fds, now.fds, before->processes, now.processes, before->zombies,
             now.zombies);
}

/* ---- submitted calls ------------------------------------------------------ */

void inbox_init(inbox *box, size_t max_ticket)
{
    pthread_condattr_t attr;

    memset(box, 0, sizeof *box);
    box->max = max_ticket;
    box->results = calloc(max_ticket + 1, sizeof(gbx_result *));
    assert_non_null(box->results);
    (void)pthread_mutex_init(&box->lock, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&box->changed, &attr);
    (void)pthread_condattr_destroy(&attr);
}

void inbox_done(void *user, gbx_ticket ticket, gbx_result *result)
{
    inbox *box = user;

    (void)pthread_mutex_lock(&box->lock);
    if (ticket == 0 || ticket > box->max || box->results[ticket] != NULL) {
        box->twice++;
        gbx_result_free(result);
    } else {
        box->results[ticket] = result;
        box->by_code[gbx_result_code(result)]++;
        box->count++;
    }
    (void)pthread_cond_broadcast(&box->changed);
    (void)pthread_mutex_unlock(&box->lock);
}

bool inbox_wait(inbox *box, size_t count, int timeout_ms)
{
    struct timespec until_ts;
    bool has_all;

    (void)clock_gettime(CLOCK_MONOTONIC, &until_ts);
    until_ts.tv_nsec += timeout_ms % 1000 * 1000000L;
    until_ts.tv_sec += timeout_ms / 1000 + until_ts.tv_nsec / 1000000000;
    until_ts.tv_nsec %= 1000000000;
    (void)pthread_mutex_lock(&box->lock);
    while (box->count < count &&
           pthread_cond_timedwait(&box->changed, &box->lock, &until_ts) == 0)
        continue;
    has_all = box->count >= count;
    (void)pthread_mutex_unlock(&box->lock);
    return has_all;
}

gbx_code inbox_code(inbox *box, gbx_ticket ticket)
{
    gbx_code code = (gbx_code)-1;

    (void)pthread_mutex_lock(&box->lock);
    if (box->results[ticket] != NULL)
        code = gbx_result_code(box->results[ticket]);
    (void)pthread_mutex_unlock(&box->lock);
    return code;
}

void inbox_cleanup(inbox *box)
{
    for (size_t i = 0; i <= box->max; i++)
        gbx_result_free(box->results[i]);
    free(box->results);
    (void)pthread_cond_destroy(&box->changed);
    (void)pthread_mutex_destroy(&box->lock);
}

gbx_ticket call_submit(gbx_engine *engine, const gbx_call *call, inbox *box)
{
    gbx_ticket ticket = 0;
    gbx_error error = {0};

    if (gbx_submit(engine, call, inbox_done, box, &ticket, &error) != GBX_OK)
        fail_msg("not submitted: %s: %s", gbx_status_name(error.status), error.message);
    assert_int_not_equal(ticket, 0);
    return ticket;
}

void in_child(bool (*fn)(void))
{
    pid_t pid;
    int status = 0;

    (void)fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(fn() ? 0 : 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status))
        fail_msg("the child died of signal %d", WTERMSIG(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

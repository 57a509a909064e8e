/* SPDX-License-Identifier: MIT */
/*
 * A child of fork() has its parent's engines in its memory, and the sockets of their
 * workers: it can do nothing with them, and nothing to them. It makes its own.
 */
#include "calls.h"
#include "test.h"

#include <glovebox/drive.h>
#include <glovebox/host.h>
#include <glovebox/preload.h>

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENDLESS "() => { for (;;) {} }"

/* What the parent has when it forks. */
typedef struct family {
    gbx_engine *engine;
    gbx_signal *signal;
    gbx_drive *drive; /* of a call that runs; with the signal */
    gbx_ticket ticket;
} family;

static void no_host(void *user, gbx_engine *engine, const gbx_host_call *call)
{
}

static void no_end(void *user, gbx_ticket ticket, gbx_result *result)
{
    gbx_result_free(result);
}

static bool is_refused(gbx_status status, const gbx_error *error)
{
    return status == GBX_E_USAGE &&
           strstr(error->message, "belongs to the process that made it") != NULL;
}

/* Everything that asks for a gbx_status. */
static bool is_refused_everything(family *f)
{
    gbx_call call = {.struct_size = sizeof call, .code = "() => 1", .code_len = 7};
    gbx_engine *engine = f->engine;
    gbx_result *result = NULL;
    gbx_drive *drive = NULL;
    char *report = NULL;
    gbx_error e = {0};

    return is_refused(gbx_execute(engine, &call, &result, &e), &e) &&
           is_refused(gbx_submit(engine, &call, no_end, NULL, NULL, &e), &e) &&
           is_refused(gbx_drive_new(engine, &call, &drive, NULL, &e), &e) &&
           is_refused(gbx_engine_load(engine, "d", "1", 1, GBX_DATA_JSON, &e), &e) &&
           is_refused(gbx_engine_expose(engine, "f", no_host, NULL, &e), &e) &&
           is_refused(gbx_engine_preload(engine, "p", "1", 1, &e), &e) &&
           is_refused(gbx_engine_report(engine, &report, &e), &e) &&
           is_refused(gbx_answer(engine, 1, "1", 1, &e), &e) &&
           is_refused(gbx_answer_error(engine, 1, NULL, NULL, NULL, &e), &e);
}

/* What would end something. */
static void end_everything(family *f)
{
    gbx_abort(f->engine, f->ticket);
    gbx_signal_abort(f->signal);
    assert_null(gbx_drive_step(f->drive));
    gbx_drive_free(f->drive);
    gbx_engine_free(f->engine);
}

static bool has_its_own(void)
{
    gbx_call call = call_of("() => 6 * 7");
    gbx_engine *engine = NULL;
    bool is_well = gbx_engine_new(NULL, &engine, NULL) == GBX_OK &&
                   call_code(engine, &call) == GBX_CODE_VALUE;

    gbx_engine_free(engine);
    return is_well;
}

static int status_of(pid_t child)
{
    int status = 0;

    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

TEST(child__can_use_nothing_of_its_parents_engine)
{
    family *f = *state;
    pid_t child = fork();

    if (child == 0)
        _exit(is_refused_everything(f) ? 0 : 1);
    assert_int_equal(status_of(child), 0);
    check_alive(f->engine);
}

TEST(child__ends_nothing_of_its_parents_engine)
{
    gbx_call call = call_of(ENDLESS);
    family *f = *state;
    gbx_result *result;
    pid_t child;

    call.signal = f->signal;
    assert_int_equal(gbx_drive_new(f->engine, &call, &f->drive, &f->ticket, NULL),
                     GBX_OK);
    child = fork();
    if (child == 0) {
        end_everything(f);
        _exit(0);
    }
    assert_int_equal(status_of(child), 0);
    check_alive(f->engine);
    assert_null(gbx_drive_step(f->drive));
    gbx_abort(f->engine, f->ticket);
    do
        result = gbx_drive_step(f->drive);
    while (result == NULL);
    assert_int_equal(gbx_result_code(result), GBX_CODE_ABORTED);
    gbx_result_free(result);
    gbx_drive_free(f->drive);
}

TEST(child__makes_an_engine_of_its_own)
{
    family *f = *state;
    pid_t child = fork();

    if (child == 0)
        _exit(has_its_own() ? 0 : 1);
    assert_int_equal(status_of(child), 0);
    check_alive(f->engine);
}

static int start(void **state)
{
    static family f;

    f = (family){.engine = engine_start(NULL), .signal = gbx_signal_new()};
    *state = &f;
    return f.signal != NULL ? 0 : -1;
}

static int finish(void **state)
{
    family *f = *state;

    gbx_engine_free(f->engine);
    gbx_signal_free(f->signal);
    return 0;
}

TEST_MAIN_EACH(start, finish)

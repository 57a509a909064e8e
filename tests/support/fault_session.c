/* SPDX-License-Identifier: MIT */
/* fault_session - see fault_session.h. */
#include "support/fault_session.h"

#include "support/calls.h"
#include "test.h"

#include <glovebox/glovebox.h>

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

/* A sweep that gets here has gone astray. */
#define FAULTS_MAX 3000

typedef struct session {
    const fault *f;
    size_t nth;
    gbx_engine *engine;
    atomic_int ended;
    atomic_int codes; /* bits of the codes seen */
} session;

static void bad(const session *s, const char *what, const char *why)
{
    fail_msg("%s, number %zu: %s: %s", s->f->name, s->nth, what, why);
}

/* What a call may end as when the host could not do its part. */
static void check_result(session *s, const char *what, gbx_result *r)
{
    gbx_code code = gbx_result_code(r);

    if (code != GBX_CODE_VALUE && code != GBX_CODE_UNAVAILABLE &&
        code != GBX_CODE_CRASHED && code != GBX_CODE_ABORTED)
        bad(s, what, gbx_code_name(code));
    (void)gbx_result_json(r, NULL);
    gbx_result_free(r);
}

static void check_status(session *s, const char *what, gbx_status status,
                         const gbx_error *error)
{
    if (status == GBX_OK)
        return;
    if (status != GBX_E_NOMEM && status != GBX_E_OS && status != GBX_E_DATA)
        bad(s, what, gbx_status_name(status));
    if (error->status != status || *error->message == 0)
        bad(s, what, "no word of why");
}

static gbx_call adder(const session *s)
{
    gbx_call call = s->f->is_real
                        ? call_of("(d) => { console.log('x'); return d[0] + d[1] }")
                        : script_of("log 1 x\nresult 3");

    call.input = "[1,2]";
    call.input_len = 5;
    return call;
}

static void execute(session *s)
{
    gbx_call call = adder(s);
    gbx_error error = {.status = GBX_OK};
    gbx_result *r = NULL;
    gbx_status status = gbx_execute(s->engine, &call, &r, &error);

    check_status(s, "execute", status, &error);
    if (status == GBX_OK)
        check_result(s, "execute", r);
}

static void on_done(void *user, gbx_ticket ticket, gbx_result *result)
{
    session *s = user;

    atomic_fetch_or(&s->codes, 1 << gbx_result_code(result));
    gbx_result_free(result);
    atomic_fetch_add(&s->ended, 1);
}

/* One that adds and one that is aborted; both end, once each. */
static void submit(session *s)
{
    gbx_call sum = adder(s);
    gbx_call endless =
        s->f->is_real ? call_of("() => { for (;;); }") : script_of("hang");
    gbx_error error = {.status = GBX_OK};
    gbx_ticket ticket = 0;
    int taken = 0;
    gbx_status status;

    status = gbx_submit(s->engine, &sum, on_done, s, NULL, &error);
    check_status(s, "submit", status, &error);
    taken += status == GBX_OK;
    status = gbx_submit(s->engine, &endless, on_done, s, &ticket, &error);
    check_status(s, "submit", status, &error);
    taken += status == GBX_OK;
    if (status == GBX_OK)
        gbx_abort(s->engine, ticket);
    for (int i = 0; i < 10000 && atomic_load(&s->ended) < taken; i++)
        (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
    if (atomic_load(&s->ended) != taken)
        bad(s, "submit", "not every call ended once");
    if (atomic_load(&s->codes) & ~(1 << GBX_CODE_VALUE | 1 << GBX_CODE_UNAVAILABLE |
                                   1 << GBX_CODE_CRASHED | 1 << GBX_CODE_ABORTED))
        bad(s, "submit", "an ending that fits no fault of the host's");
}

static void load_and_report(session *s)
{
    gbx_error error = {.status = GBX_OK};
    gbx_status status;
    char *json = NULL;

    status =
        gbx_engine_load(s->engine, "lines", "[1]\n[2]\n", 8, GBX_DATA_NDJSON, &error);
    check_status(s, "load", status, &error);
    status = gbx_engine_report(s->engine, &json, &error);
    check_status(s, "report", status, &error);
    gbx_string_free(json);
}

/* With no help from anybody: at once, or, if the fault came so late that it met this
 * call, with the next one. */
static void check_recovery(session *s)
{
    gbx_call call = adder(s);

    for (int tries = 2; tries > 0; tries--) {
        gbx_error error = {.status = GBX_OK};
        gbx_result *r = NULL;
        gbx_code code;

        if (gbx_execute(s->engine, &call, &r, &error) != GBX_OK)
            bad(s, "afterwards", error.message);
        code = gbx_result_code(r);
        if (code != GBX_CODE_VALUE && tries == 1)
            bad(s, "afterwards", gbx_result_json(r, NULL));
        check_result(s, "afterwards", r);
        if (code == GBX_CODE_VALUE)
            return;
    }
}

/* True if something failed. */
static bool run(const fault *f, size_t nth)
{
    session s = {.f = f, .nth = nth};
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_error error = {.status = GBX_OK};
    gbx_status status;
    bool failed;

    if (!f->is_real)
        options.worker_path = hostile_worker("");
    options.pool_size = 1;
    f->arm(f->what, nth);
    status = gbx_engine_new(&options, &s.engine, &error);
    check_status(&s, "new", status, &error);
    if (status == GBX_OK) {
        load_and_report(&s);
        execute(&s);
        submit(&s);
    }
    failed = f->disarm();
    if (status == GBX_OK)
        check_recovery(&s);
    else if (!failed)
        bad(&s, "new", error.message);
    /* Its end as well: what was counted above is past by now. */
    if (status == GBX_OK && !failed) {
        f->arm(f->what, 1);
        gbx_engine_free(s.engine);
        (void)f->disarm();
    } else if (status == GBX_OK) {
        gbx_engine_free(s.engine);
    }
    return failed;
}

size_t fault_sweep(const fault *f)
{
    footprint before = footprint_take();

    for (size_t nth = 1; nth < FAULTS_MAX; nth++) {
        bool failed = run(f, nth);

        footprint_check(&before);
        if (!failed)
            return nth - 1;
    }
    fail_msg("%s: no end", f->name);
    return 0;
}

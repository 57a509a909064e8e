/* SPDX-License-Identifier: MIT */
/* host_functions - see host_functions.h. */
#include "host_functions.h"

#include "test.h"
#include "until.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

static atomic_size_t late_threads;

static void note(host_functions *f, gbx_status status)
{
    if (status == GBX_OK)
        f->answered++;
    else if (status == GBX_E_CLOSED)
        f->closed++;
    else
        f->other++;
}

static host_functions *begin(void *user, const gbx_host_call *call)
{
    host_functions *f = user;

    f->called++;
    f->last = call->request;
    return f;
}

static void on_echo(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    host_functions *f = begin(user, call);

    note(f, gbx_answer(engine, call->request, call->args, call->args_len, NULL));
}

static void on_nothing(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    note(begin(user, call), gbx_answer(engine, call->request, NULL, 0, NULL));
}

static void on_fail(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    note(begin(user, call), gbx_answer_error(engine, call->request, "TypeError",
                                             "no such table", "ENOTABLE", NULL));
}

typedef struct late {
    host_functions *f;
    gbx_request request;
    long ms;
} late;

static void *answer_late(void *arg)
{
    late *l = arg;
    struct timespec time = {l->ms / 1000, l->ms % 1000 * 1000000};

    (void)nanosleep(&time, NULL);
    note(l->f, gbx_answer(l->f->engine, l->request, "\"late\"", 6, NULL));
    free(l);
    late_threads--;
    return NULL;
}

static void on_late(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    late *l = malloc(sizeof *l);
    pthread_attr_t attr;
    pthread_t thread;

    *l = (late){begin(user, call), call->request, strtol(call->args + 1, NULL, 10)};
    late_threads++;
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attr, 65536);
    if (pthread_create(&thread, &attr, answer_late, l) != 0)
        abort();
    (void)pthread_attr_destroy(&attr);
}

static void on_never(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    (void)begin(user, call);
}

static void on_twice(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    host_functions *f = begin(user, call);

    note(f, gbx_answer(engine, call->request, "1", 1, NULL));
    note(f, gbx_answer(engine, call->request, "2", 1, NULL));
    note(f, gbx_answer_error(engine, call->request, NULL, "third", NULL, NULL));
}

/* No JSON; or, with a number, lists that are nested as deep as that. */
static void on_bad(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    host_functions *f = begin(user, call);
    size_t depth = (size_t)strtoul(call->args + 1, NULL, 10);
    char lists[4096];

    assert_in_range(depth, 0, sizeof lists / 2);
    memset(lists, '[', depth);
    memset(lists + depth, ']', depth);
    if (depth > 0)
        note(f, gbx_answer(engine, call->request, lists, 2 * depth, NULL));
    else
        note(f, gbx_answer(engine, call->request, "{\"a\":}", 6, NULL));
}

static void on_huge(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    host_functions *f = begin(user, call);
    size_t len = (size_t)strtoul(call->args + 1, NULL, 10);
    char *text = malloc(len + 2);

    memset(text, 'x', len + 2);
    text[0] = text[len + 1] = '"';
    note(f, gbx_answer(engine, call->request, text, len + 2, NULL));
    free(text);
}

static bool is_settled(void *user)
{
    return late_threads == 0;
}

/* ---- public to the tests -------------------------------------------------------- */

void host_functions_expose(host_functions *f, gbx_engine *engine)
{
    static const struct {
        const char *name;
        gbx_host_fn fn;
    } table[] = {
        {"echo", on_echo},    {"nothing", on_nothing}, {"fail", on_fail},
        {"db.late", on_late}, {"db.never", on_never},  {"db.twice", on_twice},
        {"db.bad", on_bad},   {"db.huge", on_huge},    {"db.keep", on_never},
    };

    *f = (host_functions){.engine = engine};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        gbx_error error = {0};

        if (gbx_engine_expose(engine, table[i].name, table[i].fn, f, &error) != GBX_OK)
            fail_msg("%s: %s", table[i].name, error.message);
    }
}

void host_functions_settle(host_functions *f)
{
    assert_true(until(is_settled, NULL, 60000));
}

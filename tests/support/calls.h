/* SPDX-License-Identifier: MIT */
/*
 * calls - engines and calls for tests, with real and hostile workers.
 *
 * What asserts may only be used on the test's own thread; the others say so in their
 * value.
 */
#ifndef GBX_TESTS_CALLS_H
#define GBX_TESTS_CALLS_H

#include <glovebox/glovebox.h>

#include <glovebox/policy.h>
#include <pthread.h>
#include <stdbool.h>

/* The hostile worker program with this plan ("" for none; see hostile_plan.h). The
 * file is gone when the test program ends. The path is valid until then. */
const char *hostile_worker(const char *plan);

/* Options with the hostile worker, a small pool, and a time limit of 2 s. */
gbx_options hostile_options(const char *plan);

/* A real call; and one whose code is a script of hostile_script.h. */
gbx_call call_of(const char *code);
gbx_call script_of(const char *script);

/* The same with other limits, which the call borrows. */
gbx_limits timeout_of(uint32_t timeout_ms);

/* Asserts. Free with gbx_policy_free(). */
gbx_policy *policy_of(const char *json);

/* Asserts. Where options name no time limit it is far longer than the product's own. */
gbx_engine *engine_start(const gbx_options *options);
/* Asserts. From now on templates of engines without options are forks of a zygote. */
void wait_for_zygote(void);
/* A test whose *state is an engine with a small pool, which is there before it;
 * after it no process is left. */
#define ENGINE_TEST(name) TEST_WITH(engine_before_test, engine_after_test, name)
int engine_before_test(void **state);
int engine_after_test(void **state);

gbx_result *call_run(gbx_engine *engine, const gbx_call *call);
gbx_code call_code(gbx_engine *engine, const gbx_call *call); /* -1: not GBX_OK */

/* Asserts that the call ends so; shows the whole result if it does not. */
void check_code(gbx_engine *engine, const gbx_call *call, gbx_code code);
void check_value(gbx_engine *engine, const char *code, const char *input,
                 const char *value);
void check_alive(gbx_engine *engine);         /* real worker: 1 + 1 */
void check_hostile_alive(gbx_engine *engine); /* hostile worker: a RESULT */
bool is_hostile_alive(void *engine);          /* the same as an until_fn */
void check_one_line(const char *text);        /* it has no control characters */

/* A number of gbx_engine_report(), by its key. */
double report_number(gbx_engine *engine, const char *key);

/* True once the pool is full, nothing else lives, and the template is one to last. */
bool pool_is_full(gbx_engine *engine);
void wait_until_full(gbx_engine *engine); /* asserts */

/* Calls until the engine keeps ready workers between calls, and waits for them: later
 * calls leave no more processes, or a few for two seconds. */
void fill_pool(gbx_engine *engine);

void wait_until_taken(gbx_engine *engine); /* a call has the last worker; asserts */

/* What this process has; and, asserting, that it comes back to that. */
typedef struct footprint {
    size_t fds;
    size_t processes;
    size_t zombies;
} footprint;
footprint footprint_take(void);
void footprint_check(const footprint *before);

/* Collects the ends of submitted calls. */
typedef struct inbox {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t count;
    size_t by_code[16];
    size_t twice; /* ends of a call that had ended */
    size_t max;
    gbx_result **results; /* by ticket */
} inbox;
void inbox_init(inbox *box, size_t max_ticket);
void inbox_done(void *user, gbx_ticket ticket, gbx_result *result); /* gbx_done_fn */
bool inbox_wait(inbox *box, size_t count, int timeout_ms);
gbx_code inbox_code(inbox *box, gbx_ticket ticket); /* -1: none yet */
void inbox_cleanup(inbox *box);

/* Asserts that the call was taken. */
gbx_ticket call_submit(gbx_engine *engine, const gbx_call *call, inbox *box);

/* Run fn in a forked child: it must return true. For what changes the process. The
 * parent must have no other thread. Asserts. */
void in_child(bool (*fn)(void));

#endif

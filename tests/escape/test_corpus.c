/* SPDX-License-Identifier: MIT */
/*
 * Every case of tests/escape/corpus: what JavaScript may try from inside a call, each
 * through the real engine and the seal, without the structural check and with it.
 * What must be so after each is in judge.h, the form of a case in cases.h.
 */
#include "base/cleanup.h"
#include "calls.h"
#include "judge.h"
#include "proc_memory.h"
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ALL_WORLDS ((1U << WORLD_COUNT) - 1)

static void test_case_ends_as_it_must(void **state)
{
    const test_case *c = *state;

    judge_calls(c, c->memories[0]);
    judge_after(c);
}

static size_t read_code(const char *name, char *to, size_t size)
{
    char path[1024];
    size_t len;
    FILE *f;

    (void)snprintf(path, sizeof path, GBX_ESCAPE "/%s", name);
    f = fopen(path, "re");
    assert_non_null(f);
    len = fread(to, 1, size - 1, f);
    (void)fclose(f);
    assert_true(len > 0 && len < size - 1);
    to[len] = 0;
    return len;
}

/* The check that follows every case is worth something only if it sees. */
static void test_fingerprint__shows_what_a_call_could_leave_behind(void **state)
{
    static const char *const traces[] = {
        "globalThis.__canary = 1",
        "JSON.parse = () => 1",
        "Object.prototype.valueOf = () => 1",
        "Object.defineProperty(Map.prototype, 'x', { get() {}, configurable: true })",
        "delete Set.prototype.has",
        "Object.freeze(Date)",
        "/(c)anary/.test('canary')",
        "Object.setPrototypeOf(Math, null)",
        "Reflect.getPrototypeOf([].values()).extra = 1",
    };
    gbx_engine *engine = judge_engine(WORLD_STANDARD);
    char code[8192] = "";
    char touched[9000];
    gbx_call call = call_of(code);
    gbx_result *before;

    call.code_len = read_code("fingerprint.js", code, sizeof code);
    before = call_run(engine, &call);
    for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++) {
        gbx_call with = call_of(touched);
        gbx_result *after;

        with.form = GBX_FORM_SCRIPT;
        with.flags = GBX_CALL_NO_GUARD;
        (void)snprintf(touched, sizeof touched, "%s; (%.*s)()", traces[i],
                       (int)(strrchr(code, '}') + 1 - code), code);
        with.code_len = strlen(touched);
        after = call_run(engine, &with);
        if (gbx_result_code(after) != GBX_CODE_VALUE)
            fail_msg("'%s': %s", traces[i], gbx_result_error(after));
        if (strcmp(gbx_result_value(after, NULL), gbx_result_value(before, NULL)) == 0)
            fail_msg("'%s' does not show", traces[i]);
        gbx_result_free(after);
    }
    gbx_result_free(before);
}

/* The engine's functions with odd arguments: whatever they do, they stay within the
 * system calls that a worker has, and the engine does not break. */
static void test_functions__with_odd_arguments_stay_within_the_seal(void **state)
{
    enum { SEEDS = 60 };
    static const case_world worlds[] = {WORLD_STANDARD, WORLD_JIT_OFF, WORLD_OPEN};
    static const uint32_t right = 1U << GBX_CODE_VALUE | 1U << GBX_CODE_RUNTIME |
                                  1U << GBX_CODE_TIMEOUT | 1U << GBX_CODE_MEMORY;
    char code[8192] = "";
    gbx_call call = call_of(code);
    gbx_limits limits = GBX_LIMITS_INIT;

    call.code_len = read_code("odd_calls.js", code, sizeof code);
    call.flags = GBX_CALL_SEEDED | GBX_CALL_NO_GUARD;
    call.limits = &limits;
    limits.timeout_ms = 300;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        gbx_result *result;

        call.seed = seed;
        result = call_run(judge_engine(worlds[seed % GBX_COUNTOF(worlds)]), &call);
        if ((right & 1U << gbx_result_code(result)) == 0)
            fail_msg("seed %d: %s: %s", (int)seed,
                     gbx_code_name(gbx_result_code(result)), gbx_result_error(result));
        gbx_result_free(result);
    }
}

/* ---- the host's secret is not in the processes either --------------------------- */

static void test_memory__of_template_and_workers_lacks_the_hosts_secret(void **state)
{
    proc_tree tree;

    proc_memory_needs_root();
    assert_int_equal(proc_memory_has(getpid(), judge_secret()), 1);
    for (int world = 0; world < WORLD_COUNT; world++)
        wait_until_full(judge_engine((case_world)world));
    proc_look(getpid(), &tree);
    assert_true(tree.count > 1);
    for (size_t i = 0; i < tree.count; i++)
        assert_int_equal(proc_memory_has(tree.pids[i], judge_secret()), 0);
}

/* ---- all of them ---------------------------------------------------------------- */

static int start(void **state)
{
    judge_start(ALL_WORLDS);
    return 0;
}

static int stop(void **state)
{
    judge_stop();
    return 0;
}

int main(void)
{
    static const struct CMUnitTest own[] = {
        cmocka_unit_test(test_fingerprint__shows_what_a_call_could_leave_behind),
        cmocka_unit_test(test_functions__with_odd_arguments_stay_within_the_seal),
        cmocka_unit_test(test_memory__of_template_and_workers_lacks_the_hosts_secret),
    };

    return cases_run("corpus", test_case_ends_as_it_must, own,
                     sizeof own / sizeof own[0], start, stop);
}

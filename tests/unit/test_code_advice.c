/* SPDX-License-Identifier: MIT */
/* code_advice - the engine's hints, as who can change nothing but code is told them. */
#include "engine/verdict.h"
#include "mcp/code/code.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const gbx_limits limits = {.timeout_ms = 1, .memory_bytes = GBX_MIB(8)};

static const char *told(gbx_evidence e)
{
    gbx_verdict v;

    e.limits = &limits;
    gbx_verdict_decide(&e, &v);
    assert_string_not_equal(v.hint, "");
    return gbx_advice_for_hint(v.hint);
}

static void test_limits__are_nothing_that_code_can_raise(void **state)
{
    static const gbx_exchange full = {.state = GBX_EXCHANGE_ERROR,
                                      .is_out_of_memory = true};
    static const gbx_evidence rows[] = {
        {.end = GBX_END_DEADLINE},
        {.end = GBX_END_CPU},
        {.end = GBX_END_SAID, .exchange = &full},
        {.end = GBX_END_SAID, .exchange = &full, .input_bytes = GBX_MIB(8)},
        {.end = GBX_END_DIED, .shortage = GBX_SHORTAGE_GROUP},
        {.end = GBX_END_DIED, .shortage = GBX_SHORTAGE_MACHINE},
        {.end = GBX_END_NO_WORKER, .is_late = true},
        {.end = GBX_END_QUEUE_FULL},
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++)
        assert_null(strstr(told(rows[i]), "raise"));
}

static void test_what_the_host_lacks__is_for_who_runs_the_server(void **state)
{
    gbx_evidence e = {.end = GBX_END_NO_WORKER, .lack = "too many open files"};
    (void)state;

    assert_memory_equal(told(e), "whoever runs this server must ", 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits__are_nothing_that_code_can_raise),
        cmocka_unit_test(test_what_the_host_lacks__is_for_who_runs_the_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

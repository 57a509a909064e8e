/* SPDX-License-Identifier: MIT */
/* code_advice - the engine's hints, as who can change nothing but code is told them. */
#include "engine/verdict.h"
#include "syntax/hint_table.h"
#include "test.h"

#include "base/cleanup.h"

static const gbx_limits limits = {.timeout_ms = 1, .memory_bytes = GBX_MIB(8)};

static const char *told(gbx_evidence e)
{
    gbx_verdict v;

    e.limits = &limits;
    gbx_verdict_decide(&e, &v);
    assert_string_not_equal(v.hint, "");
    return gbx_hint_for_code(v.hint, false);
}

TEST(limits__are_nothing_that_code_can_raise)
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

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++)
        assert_null(strstr(told(rows[i]), "raise"));
}

TEST(what_the_host_lacks__is_for_who_runs_the_server)
{
    gbx_evidence e = {.end = GBX_END_NO_WORKER, .lack = "too many open files"};

    assert_memory_equal(told(e), "whoever runs this must ", 23);
}

TEST_MAIN(NULL, NULL)

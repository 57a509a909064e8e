/* SPDX-License-Identifier: MIT */
/*
 * Every case of tests/escape/ordinary: code as people write it, which must not notice
 * the lockdown, the structural check, nor whether there is a compiler. That the
 * expected values are the language's own is checked by with-node.mjs.
 */
#include "judge.h"
#include "test.h"

#include <stdlib.h>

static void test_case_gives_its_value(void **state)
{
    const test_case *c = *state;
    test_case interpreted = *c;

    interpreted.world = WORLD_JIT_OFF;
    judge_calls(c, c->memories[0]);
    if (c->world == WORLD_STANDARD)
        judge_calls(&interpreted, c->memories[0]);
    judge_after(c);
}

static int start(void **state)
{
    judge_start(1U << WORLD_STANDARD | 1U << WORLD_JIT_OFF | 1U << WORLD_OPEN);
    return 0;
}

static int stop(void **state)
{
    judge_stop();
    return 0;
}

int main(void)
{
    return cases_run("ordinary", test_case_gives_its_value, NULL, 0, start, stop);
}

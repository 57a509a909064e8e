/* SPDX-License-Identifier: MIT */
/*
 * measured - one engine whose limits are wide, for calls that name narrower ones: each
 * must end as is said, with an error that its reader can use.
 */
#ifndef GBX_TESTS_MEASURED_H
#define GBX_TESTS_MEASURED_H

#include "calls.h"

#define MIB (UINT64_C(1) << 20)

/* Of the group that measured_start() sets up. */
extern gbx_engine *measured_engine;

/* For cmocka_run_group_tests(); the second fails if a process is left. */
int measured_start(void **state);
int measured_finish(void **state);

/* The result of code under these limits; asserts that it ended so. */
gbx_result *measured_run(const char *code, const gbx_limits *limits, gbx_code expected);

/* The same without the result; and the engine lives on. */
void measured_check(const char *code, const gbx_limits *limits, gbx_code expected);

#endif

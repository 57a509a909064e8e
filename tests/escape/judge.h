/* SPDX-License-Identifier: MIT */
/*
 * judge - run a case through the real engine and the seal, and see that nothing but
 * its answer came of it. Asserts; one thread.
 *
 * After every call: exactly one answer, valid JSON within its limits, in time, memory
 * within its limit, and nothing of the host in it. After every group of cases: the realm
 * of the next call is what it always was, and this process has no other children,
 * descriptors or control groups than before. That an engine answers after a case is seen
 * by the next.
 */
#ifndef GBX_TESTS_JUDGE_H
#define GBX_TESTS_JUDGE_H

#include "cases.h"

/* Before and after all cases; with_worlds has a bit for each world that is needed. */
void judge_start(uint32_t with_worlds);
void judge_stop(void);

/* The calls of a case, with one memory limit (MiB; 0: the default), and what must be
 * so after each. Every call is made twice at the same time: blocking without the
 * structural check, and submitted with it. What the check refuses must be stopped
 * without it too. Where memory or time stops a case and the check does not, one call is
 * enough. */
void judge_calls(const test_case *c, uint32_t memory_mib);

/* What must be so after a group of cases, if this case ends one. */
void judge_after(const test_case *c);

/* Engine of a world, for tests that make calls of their own. */
gbx_engine *judge_engine(case_world world);

/* A secret of the host: in its memory and its environment, and nowhere else. */
const char *judge_secret(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * hostile_plan - what the hostile worker program is to do before it has read a call.
 *
 * A host passes its worker nothing but bytes of the protocol, so the plan is in the
 * program's own file name: "hostile-worker@hello-version=9,at-ready=segv". Directives
 * are separated by commas; one may have a value.
 */
#ifndef GBX_TESTS_HOSTILE_PLAN_H
#define GBX_TESTS_HOSTILE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* Read the plan from the name of this program's file. */
void hostile_plan_read(void);

/* Is the directive there? */
bool hostile_plan_has(const char *name);

/* The directive's value; fallback if it is not there or has none. */
uint64_t hostile_plan_number(const char *name, uint64_t fallback);

/* The process has come to a step: do what "at-STEP=ACTION" says, if it is there. With
 * "first=N" only for workers 1 to N and with "only=N" for worker N alone (the template
 * itself counts as worker 0); ids go on in the template that replaces this one. */
void hostile_plan_step(const char *step, uint64_t worker_id);

/* Die or stop as the word says ("exit", "stop", "hang", or a signal: "segv"). */
void hostile_act(const char *action);

#endif

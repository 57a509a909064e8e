/* SPDX-License-Identifier: MIT */
/*
 * seccomp_table - what a sealed worker and its template may ask of the kernel.
 *
 * Three classes: EXECUTE enters the kernel, ANSWER returns a fixed value without
 * entering it, and a call that no line names kills the process. The filter, its test
 * and docs/internals/syscalls.md are made only from these tables.
 */
#ifndef GBX_SEAL_SECCOMP_TABLE_H
#define GBX_SEAL_SECCOMP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum gbx_rule_class {
    GBX_RULE_EXECUTE = 0,
    GBX_RULE_ANSWER = 1, /* -error, or 0 */
} gbx_rule_class;

/* One test of one argument, on all 64 bits of it: (argument & mask) == value, or, with
 * differs, argument != value. */
typedef struct gbx_rule_arg {
    uint8_t index;
    uint64_t mask; /* 0: no test */
    uint64_t value;
    bool differs;
} gbx_rule_arg;

#define GBX_RULE_ARGS_MAX 3

/* A rule applies to a call if all of its argument tests hold. Rules of one number
 * and different classes exclude each other by their tests. */
typedef struct gbx_rule {
    int number; /* negative: not on this architecture */
    const char *name;
    gbx_rule_class class_;
    int error; /* ANSWER: errno value, or 0 for success */
    const char *reason;
    gbx_rule_arg args[GBX_RULE_ARGS_MAX];
} gbx_rule;

const gbx_rule *gbx_rules_worker(size_t *ret_count);

/* Additional rules for a worker, used only if gbx_rules_need_clock(). */
const gbx_rule *gbx_rules_clock(size_t *ret_count);

/* True if reading this machine's clock needs a system call. Needs /sys. */
bool gbx_rules_need_clock(void);

const gbx_rule *gbx_rules_template(size_t *ret_count);

#endif

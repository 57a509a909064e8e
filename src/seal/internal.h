/* SPDX-License-Identifier: MIT */
/* Types and functions that only the files of src/seal share. */
#ifndef GBX_SEAL_INTERNAL_H
#define GBX_SEAL_INTERNAL_H

#include "seal/seal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- seccomp_table.c ----------------------------------------------------- */

/*
 * The system calls of a sealed worker and of its template.
 *
 * Three classes: EXECUTE enters the kernel, ANSWER returns a fixed value without
 * entering it, and a call that no line names kills the process. The filter, its test
 * and docs/internals/syscalls.md are made only from these tables.
 */

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

typedef struct gbx_rules {
    const gbx_rule *list;
    size_t count;
} gbx_rules;

extern const gbx_rules gbx_rules_worker;
extern const gbx_rules gbx_rules_clock; /* a worker's too, if gbx_rules_need_clock() */
extern const gbx_rules gbx_rules_template;

/* True if reading this machine's clock needs a system call. Needs /sys. */
bool gbx_rules_need_clock(void);

/* ---- steps --------------------------------------------------------------- */

/*
 * One kernel mechanism a file; seal.c calls them in order.
 *
 * A function that takes a gbx_seal * runs in the template, may allocate, and reports
 * its result in seal->layers. One that takes a const gbx_seal * runs in a worker, makes
 * only raw system calls, and returns false if the layer is not in effect.
 */

/* ---- the layers' states (layer_state.c) ----------------------------------------- */

/* True if the layer must be left out; sets its reason. */
bool gbx_layer_is_off(gbx_seal *seal, gbx_layer layer);
void gbx_layer_stands(gbx_seal *seal, gbx_layer layer);
void gbx_layer_lacks(gbx_seal *seal, gbx_layer layer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- before the engine ---------------------------------------------------- */

void gbx_identity_describe_layout(gbx_seal *seal); /* needs /proc */
void gbx_namespaces_check(gbx_seal *seal);
void gbx_cgroup_check(gbx_seal *seal);

/* Open the file that gives the size of this process, and set the stack's limit,
 * which the engine reads when it starts. */
void gbx_rlimits_prepare(gbx_seal *seal);

void gbx_seccomp_compile(gbx_seal *seal);

/* ---- in the template ------------------------------------------------------ */

/* Make the unused tail of the engine's address-space reservations inaccessible: no
 * limit would count growth inside them. Needs /proc. */
void gbx_reserve_close(gbx_seal *seal);

void gbx_root_empty(gbx_seal *seal);
void gbx_privs_drop(gbx_seal *seal);
void gbx_identity_describe_user(gbx_seal *seal);
void gbx_landlock_enforce(gbx_seal *seal);
void gbx_rlimits_template(gbx_seal *seal);
void gbx_seccomp_template(gbx_seal *seal);

/* ---- in a worker ----------------------------------------------------------- */

/* Move the channel to its number. Call before setting the limits, which forbid it. */
bool gbx_fds_place(int channel);
bool gbx_rlimits_worker(const gbx_seal *seal);
/* Close all other descriptors. Call after setting the limits, which read one. */
bool gbx_fds_close(const gbx_seal *seal);
bool gbx_privs_worker(const gbx_seal *seal);
bool gbx_seccomp_worker(const gbx_seal *seal);

/* Check the results of the steps above: in a probe, before its filter is installed. */
bool gbx_fds_verify(const gbx_seal *seal);
bool gbx_rlimits_verify(const gbx_seal *seal);
bool gbx_privs_verify(const gbx_seal *seal);

#endif

/* SPDX-License-Identifier: MIT */
/* policy_args - what code may reach, as options of every command that has a policy. */
#ifndef GBX_CLI_POLICY_ARGS_H
#define GBX_CLI_POLICY_ARGS_H

#include "cli/failure.h"
#include "cli/opt.h"

#include <glovebox/policy.h>

/* A row of every command that reads files that decide; the member is a bool. */
#define GBX_OPT_TRUST_FILES(type, member)                                                \
    {                                                                                    \
        "trust-files", NULL,                                                             \
            "take policies, configurations and secrets also from files that others can " \
            "change or read",                                                            \
            GBX_OPT_FLAG, offsetof(type, member), 0, 0, NULL                             \
    }

typedef struct gbx_policy_args {
    const char *file;
    gbx_opt_list allow;
    gbx_opt_list secrets;
    bool trust_files;
    char at_fault[96]; /* for gbx_trouble.file: the option that was refused */
} gbx_policy_args;

extern const gbx_opt_table gbx_policy_table;

/*
 * The policy that the options make, or NULL where none is given; free it with
 * gbx_policy_free(). Without a file it begins with what a call has by default: console
 * and timers. Its warnings go to standard error. False with *trouble filled, which
 * borrows from args.
 */
bool gbx_policy_args_make(gbx_policy_args *args, gbx_policy **ret,
                          gbx_trouble *trouble);

/* To standard error, unless nobody reads there. */
void gbx_policy_print_warnings(const gbx_policy *policy);

#endif

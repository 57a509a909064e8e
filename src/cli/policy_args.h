/* SPDX-License-Identifier: MIT */
/* policy_args - what code may reach, as options of every command that has a policy. */
#ifndef GBX_CLI_POLICY_ARGS_H
#define GBX_CLI_POLICY_ARGS_H

#include "cli/failure.h"
#include "cli/opt.h"

#include <glovebox/policy.h>

typedef struct gbx_policy_args {
    const char *file;
    gbx_opt_list allow;
    gbx_opt_list secrets;
    char at_fault[96]; /* for gbx_trouble.file: the option that was refused */
} gbx_policy_args;

extern const gbx_opt_table gbx_policy_table;

/*
 * The policy that the options make, or NULL where none is given; free it with
 * gbx_policy_free(). Without a file it begins with what a call has by default: console
 * and timers. False with *trouble filled, which borrows from args.
 */
bool gbx_policy_args_make(gbx_policy_args *args, gbx_policy **ret,
                          gbx_trouble *trouble);

#endif

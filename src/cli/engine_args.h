/* SPDX-License-Identifier: MIT */
/* engine_args - the options of every command that starts an engine. */
#ifndef GBX_CLI_ENGINE_ARGS_H
#define GBX_CLI_ENGINE_ARGS_H

#include "cli/opt.h"

/* Zero and NULL: the library's default. */
typedef struct gbx_limit_args {
    uint64_t timeout_ms;
    uint64_t cpu_ms;
    uint64_t memory_mib;
    uint64_t output_bytes;
} gbx_limit_args;

typedef struct gbx_engine_args {
    int require;        /* gbx_require */
    int jit;            /* gbx_jit */
    int globals;        /* gbx_globals */
    const char *runner; /* its name */
    uint64_t total_memory_mib;
    uint64_t total_cpu_percent;
    uint64_t worker_uid;
    int speculation; /* gbx_speculation */
} gbx_engine_args;

extern const gbx_opt_table gbx_limit_table;
extern const gbx_opt_table gbx_engine_table;

/* limits may be NULL. */
gbx_options gbx_engine_args_options(const gbx_engine_args *engine,
                                    const gbx_limit_args *limits);

#endif

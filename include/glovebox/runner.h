/* SPDX-License-Identifier: MIT */
#ifndef GLOVEBOX_RUNNER_H
#define GLOVEBOX_RUNNER_H

/**
 * @file runner.h
 * Where a call executes: how an embedder replaces the sealed processes with a runner of
 * its own. Included by glovebox.h.
 */

#include <glovebox/glovebox.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Where a call executes, behind two functions. "process" is the default and the only
 * one that isolates. "memory" runs the code in the caller's process, for unit tests of
 * embedders: a separate shared library, loaded only by that name.
 */
struct gbx_runner {
    size_t struct_size; /**< sizeof(gbx_runner) in the caller's build */
    const char *name;   /**< shown in the report and in every result; copied */
    void *user;         /**< first argument of both functions */

    /**
     * Run one call that has passed the guard. May be called from many threads at
     * once. Give the outcome to gbx_outcome_value() or gbx_outcome_error(), once.
     * Anything but GBX_OK is returned to the caller of gbx_execute().
     */
    gbx_status (*execute)(void *user, const gbx_call *call, gbx_outcome *outcome,
                          gbx_error *reterr);

    /** The engine is being freed; no call is running. May be NULL. */
    void (*dispose)(void *user);
};

/* clang-format off */
#define GBX_RUNNER_INIT {sizeof(gbx_runner), NULL, NULL, NULL, NULL}
/* clang-format on */

/** The code returned. @p json is copied without white space between its tokens; NULL
 *  means undefined. */
GBX_API GBX_MUST_USE gbx_status gbx_outcome_value(gbx_outcome *outcome,
                                                  const char *json, size_t json_len);

/** The call failed with @p code; @p message is copied; @p line and @p column may
 *  be 0. */
GBX_API GBX_MUST_USE gbx_status gbx_outcome_error(gbx_outcome *outcome, gbx_code code,
                                                  const char *message, uint32_t line,
                                                  uint32_t column);

/** One console line; copied. */
GBX_API GBX_MUST_USE gbx_status gbx_outcome_log(gbx_outcome *outcome,
                                                gbx_log_level level, const char *text,
                                                size_t text_len);

#ifdef __cplusplus
}
#endif

#endif

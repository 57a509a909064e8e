/* SPDX-License-Identifier: MIT */
#ifndef GLOVEBOX_RUNNER_H
#define GLOVEBOX_RUNNER_H

/**
 * @file runner.h
 * Where a call executes: how an embedder replaces the sealed processes with a runner of
 * its own, or has calls run in sealed processes of other machines. Included by
 * glovebox.h.
 */

#include <glovebox/glovebox.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- leases: a sealed worker on another machine ---------------------------------- */

/*
 * With lease set, a runner only carries bytes: it finds a worker elsewhere, which some
 * relay (relay.h) drives, and passes on what the worker and this engine say to each
 * other. Everything else stays here: the guard, host functions, files, fetch, secrets,
 * recording, and the verdict. What comes from there is checked as from a hostile worker.
 *
 * The engine calls lease(), then send() and receive() until the call is over, then
 * release(), once. It keeps the time. The runner calls wake() whenever one of them would
 * now do more than before: there is a worker, bytes, room, or an end.
 */

/** Bytes that a worker may send before receive() has fetched some of them. */
#define GBX_LEASE_WINDOW 262144

/** How a worker ended. The engine decides the code from it: gbx_ending.how. */
typedef enum gbx_ending_how {
    GBX_ENDING_SAID,      /**< it sent its last message */
    GBX_ENDING_BROKEN,    /**< it broke the protocol: reason */
    GBX_ENDING_DEADLINE,  /**< the wall clock ran out */
    GBX_ENDING_CPU,       /**< the processor time ran out */
    GBX_ENDING_ABORT,     /**< it was cancelled */
    GBX_ENDING_DIED,      /**< it ended by itself: wait_status */
    GBX_ENDING_CLOSED,    /**< it closed its channel and was killed */
    GBX_ENDING_LOST,      /**< its end is unknown, as its template died */
    GBX_ENDING_NO_WORKER, /**< none could be had: reason; the call was not begun */
    GBX_ENDING_FULL,      /**< too many calls wait there; the call was not begun */
    GBX_ENDING_GONE,      /**< nobody knows: reason; the call may have run */
} gbx_ending_how;

/** What the kernel of the worker's machine reports about its end. */
typedef struct gbx_ending {
    uint32_t how;        /**< gbx_ending_how; an unknown number counts as GONE */
    int32_t wait_status; /**< as wait() has it, with DIED */
    uint32_t shortage; /**< memory was out: 1 of the engine's group, 2 of the machine */
    uint64_t cpu_us;   /**< processor time of the call */
    uint64_t growth_bytes; /**< highest resident growth over the template */
    uint64_t group_bytes;  /**< memory limit of the engine's group, or 0 */
    char reason[200];      /**< hostile; "": none */
} gbx_ending;

/** Kinds of gbx_content. */
typedef enum gbx_content_kind {
    GBX_CONTENT_DATASET = 0,
    GBX_CONTENT_PRELOAD = 1,
} gbx_content_kind;

/** One dataset or preload. */
typedef struct gbx_content {
    uint32_t kind;      /**< gbx_content_kind */
    uint32_t format;    /**< of a dataset: gbx_data_format */
    const char *name;   /**< UTF-8 */
    uint64_t size;      /**< bytes */
    uint8_t sha256[32]; /**< of the bytes */
    int fd;             /**< a sealed memfd with the bytes; do not change its offset */
} gbx_content;

/** What a template must have for a call. Never changes. */
typedef struct gbx_contents {
    size_t struct_size;       /**< sizeof(gbx_contents) in the caller's build */
    uint32_t globals;         /**< gbx_globals */
    uint32_t jit;             /**< gbx_jit, not the default */
    uint32_t require;         /**< gbx_require */
    uint32_t speculation;     /**< gbx_speculation */
    uint32_t capabilities;    /**< gbx_capability bits */
    uint32_t cpu_ms;          /**< maximum for any call */
    uint64_t memory_bytes;    /**< maximum for any call */
    const char *functions;    /**< names of host functions, one a line */
    const gbx_content *items; /**< preloads in their order, then datasets */
    size_t count;             /**< entries in items */
} gbx_contents;

/** One call that waits for a worker elsewhere, or has one. The engine owns it until
 *  release() has returned. */
typedef struct gbx_lease {
    /* Set by the engine. */
    size_t struct_size;           /**< sizeof(gbx_lease) in the engine's build */
    const gbx_contents *contents; /**< of the worker's template */
    const gbx_limits *limits;     /**< of this call; all are set */
    uint32_t capabilities;        /**< of this call */
    uint64_t call_bytes;          /**< at most, of the whole call, which is one frame */
    void (*wake)(struct gbx_lease *lease); /**< from any thread, also within lease(),
                                                send() and receive(); never blocks */
    /* Set by the runner, before a function shows what they are of. */
    void *plugin;      /**< its own */
    char machine[65];  /**< where the worker is; hostile */
    char engine[65];   /**< its JavaScript engine; hostile */
    gbx_ending ending; /**< hostile */
} gbx_lease;

/* ---- runners --------------------------------------------------------------------- */

/**
 * Where a call executes. Either execute is set, or lease and the functions after it.
 *
 * "process" is the default, and sealed. "memory" runs the code in the caller's process,
 * for unit tests of embedders: a separate shared library, loaded only by that name.
 */
struct gbx_runner {
    size_t struct_size; /**< sizeof(gbx_runner) in the caller's build */
    const char *name;   /**< shown in the report and in every result; copied */
    void *user;         /**< first argument of all functions */

    /**
     * Run one call that has passed the guard. May be called from many threads at
     * once. Give the outcome to gbx_outcome_value() or gbx_outcome_error(), once.
     * Anything but GBX_OK is returned to the caller of gbx_execute().
     */
    gbx_status (*execute)(void *user, const gbx_call *call, gbx_outcome *outcome,
                          gbx_error *reterr);

    /** The engine is being freed; no call is running, no lease is open. May be NULL. */
    void (*dispose)(void *user);

    /**
     * With lease: wait until a worker elsewhere could have these contents. May block,
     * and is called by any thread. May be NULL.
     *
     * @retval GBX_E_DATA   they are not valid; message, line and column say where.
     * @retval GBX_E_CLOSED nobody answers.
     */
    gbx_status (*prepare)(void *user, const gbx_contents *contents, gbx_error *reterr);

    /**
     * Begin to look for a worker. Must not block, nor may the functions after it. Anything
     * but GBX_OK ends the call as UNAVAILABLE; release() follows then too.
     */
    gbx_status (*lease)(void *user, gbx_lease *lease, gbx_error *reterr);

    /** Bytes for the worker. Returns how many were taken over: 0 before there is one. */
    size_t (*send)(void *user, gbx_lease *lease, const void *data, size_t len);

    /**
     * Fetch at most @p size bytes of the worker, in order. Returns their number, or -1 if
     * none are there now, or 0 if all were fetched and there are no more: the worker has
     * ended, as lease->ending says, or none is to be had. If send() has taken nothing, the
     * call then ends as UNAVAILABLE, whatever the ending says.
     */
    ptrdiff_t (*receive)(void *user, gbx_lease *lease, void *to, size_t size);

    /** Kill the worker. The end should follow within 100 ms; the call ends in any
     *  case. */
    void (*cancel)(void *user, gbx_lease *lease);

    /** The call is over: cancel it if it has not ended. When this has returned, the
     *  lease no longer exists. */
    void (*release)(void *user, gbx_lease *lease);
};

/* clang-format off */
#define GBX_RUNNER_INIT {sizeof(gbx_runner), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}
/* clang-format on */

/** The machine whose worker ran the call, for people; "" if it ran here, or nowhere. In
 *  the result's JSON: "machine". */
GBX_API const char *gbx_result_machine(const gbx_result *result);

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

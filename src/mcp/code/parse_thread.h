/* SPDX-License-Identifier: MIT */
/*
 * parse_thread - one thread next to the loop that parses long code, one job at a time.
 *
 * Short code that parses quickly is parsed on the loop, which saves a thread switch.
 * Everything else is a job: work runs in the thread, within a time budget
 * (guard/guard.h), then done runs on the loop. If parsing exceeds its budget, run the
 * code unchanged.
 *
 * The caller owns the memory of a job and keeps it until done was called, the job was
 * withdrawn, or gbx_parse_thread_free() returned. Call all functions on the loop's
 * thread.
 */
#ifndef GBX_MCP_CODE_PARSE_THREAD_H
#define GBX_MCP_CODE_PARSE_THREAD_H

#include "guard/guard.h"
#include "mcp/rpc/rpc.h"

#include <stddef.h>

/* Longer code, in bytes, is never parsed on the loop. Ordinary code of this length
 * needs 2 ms for all steps before it runs. */
#define GBX_ASIDE_SHORT 2048

typedef struct gbx_parse_thread gbx_parse_thread;

typedef struct gbx_parse_thread_job {
    void (*work)(void *user); /* must not touch what the loop may touch meanwhile */
    void (*done)(void *user);
    void *user;
    gbx_time_budget *patience;         /* for everything done with one text */
    struct gbx_parse_thread_job *next; /* private, as is post */
    gbx_mcp_post post;
} gbx_parse_thread_job;

/* NULL: memory is out. The thread starts with the first job. */
gbx_parse_thread *gbx_parse_thread_new(gbx_mcp_loop *loop);

/* Returns soon: a running parse is aborted. Call after the loop has ended; done is not
 * called for open jobs. NULL is ignored. */
void gbx_parse_thread_free(gbx_parse_thread *aside);

/* The time budget for all parses of a call. */
gbx_time_budget gbx_parse_thread_patience(const gbx_parse_thread *aside,
                                          size_t code_len);

/* Queue a job. False: memory or threads are out, and nothing will be called. */
bool gbx_parse_thread_give(gbx_parse_thread *aside, gbx_parse_thread_job *job);

/* True: the job had not begun, and nothing will be called. False: done follows. */
bool gbx_parse_thread_withdraw(gbx_parse_thread *aside, gbx_parse_thread_job *job);

typedef enum gbx_parse_thread_when {
    GBX_ASIDE_NOW,   /* the work is done, and done is not called */
    GBX_ASIDE_LATER, /* done follows */
    GBX_ASIDE_NEVER, /* memory or threads are out */
} gbx_parse_thread_when;

/* Do the work on the loop if that is quick, else queue the job; the work may be done
 * twice. */
gbx_parse_thread_when gbx_parse_thread_read(gbx_parse_thread *aside,
                                            gbx_parse_thread_job *job, size_t code_len);

#endif

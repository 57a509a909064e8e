/* SPDX-License-Identifier: MIT */
/*
 * parse_thread - what reads code at length does so beside the loop: one thread, in turn.
 *
 * Code is read on the loop if it is short and soon read; that costs no change of threads.
 * All else is a job: its work is done in the thread, within a patience (guard/guard.h),
 * and then its done on the loop. Code that does not get through in its time goes on as it
 * is: the engine judges.
 *
 * A job is memory of its owner, who keeps it until done was called, until it was withdrawn,
 * or until gbx_parse_thread_free(). All functions are the loop's.
 */
#ifndef GBX_MCP_CODE_PARSE_THREAD_H
#define GBX_MCP_CODE_PARSE_THREAD_H

#include "guard/guard.h"
#include "mcp/rpc/rpc.h"

#include <stddef.h>

/* Code of more bytes is not read on the loop at all. Of so many ordinary code needs 2 ms,
 * in all that is done with it before it runs. */
#define GBX_ASIDE_SHORT 2048

typedef struct gbx_parse_thread gbx_parse_thread;

typedef struct gbx_parse_thread_job {
    void (*work)(void *user); /* touches nothing that the loop may touch meanwhile */
    void (*done)(void *user);
    void *user;
    gbx_time_budget *patience;         /* of all that is done with one text */
    struct gbx_parse_thread_job *next; /* its own, as the post */
    gbx_mcp_post post;
} gbx_parse_thread_job;

/* NULL: memory is out. The thread begins with the first job. */
gbx_parse_thread *gbx_parse_thread_new(gbx_mcp_loop *loop);

/* Soon: a parse that is being made is given up. Then the loop has ended: what was to be
 * done on it is not done. NULL is ignored. */
void gbx_parse_thread_free(gbx_parse_thread *aside);

/* What all parses of a call may take. */
gbx_time_budget gbx_parse_thread_patience(const gbx_parse_thread *aside,
                                          size_t code_len);

/* False: memory or threads are out, and nothing will be called. */
bool gbx_parse_thread_give(gbx_parse_thread *aside, gbx_parse_thread_job *job);

/* True: it was not begun, and nothing will be called. False: done follows. */
bool gbx_parse_thread_withdraw(gbx_parse_thread *aside, gbx_parse_thread_job *job);

typedef enum gbx_parse_thread_when {
    GBX_ASIDE_NOW,   /* the work is done, and done is not called */
    GBX_ASIDE_LATER, /* done follows */
    GBX_ASIDE_NEVER, /* memory or threads are out */
} gbx_parse_thread_when;

/* Do the work, which may be done twice, on the loop if it is soon done there; else give it. */
gbx_parse_thread_when gbx_parse_thread_read(gbx_parse_thread *aside,
                                            gbx_parse_thread_job *job, size_t code_len);

#endif

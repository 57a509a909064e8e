/* SPDX-License-Identifier: MIT */
/*
 * provider - the capabilities that the host itself answers: fetch and files.
 *
 * A request becomes a job of its own that holds copies of everything it needs. Fetches
 * run on the supervisor's loop, files on the I/O thread; both answer by number like any
 * function of the host, so that a call that has ended is no special case.
 */
#ifndef GBX_ENGINE_PROVIDER_H
#define GBX_ENGINE_PROVIDER_H

#include "file/file.h"
#include "policy/policy.h"
#include "wire/messages.h"

#include <glovebox/host.h>

struct gbx_run;
struct gbx_fetch;
struct gbx_fetcher;

typedef struct gbx_job {
    struct gbx_job *next;
    gbx_engine *engine;
    gbx_request request;
    gbx_policy *policy;      /* a reference of its own */
    struct gbx_fetch *fetch; /* the supervisor's; NULL: none, or not started */
    bool is_unwanted;        /* guarded by hostcalls.lock */
    gbx_span args;           /* these two point to data */
    gbx_span body;
    uint8_t data[];
} gbx_job;

/* The engine's part; guarded by hostcalls.lock but for what is the supervisor's. */
typedef struct gbx_providers {
    gbx_io *io;      /* NULL: no file was asked for yet */
    gbx_job *posted; /* fetches that the supervisor has not seen */
    gbx_job *active; /* fetches that it has; it alone links and unlinks them */
    struct gbx_fetcher *fetcher; /* the supervisor's */
} gbx_providers;

/* The name of the capability's function that is called so, if the run has it, else
 * NULL. The name lives for ever. */
const char *gbx_provider_name(const struct gbx_run *run, gbx_span name);

/* Answer request, now or later; name is what gbx_provider_name() gave. Driver only. */
void gbx_provider_start(struct gbx_run *run, gbx_request request, const char *name,
                        const gbx_msg_hostcall *msg);

/* Nobody waits for request any more. The lock is held. */
void gbx_provider_forget(gbx_engine *engine, gbx_request request);

/* ---- provider_fetch.c ---- */

/* Hand a fetch to the supervisor. */
bool gbx_provider_fetch(gbx_engine *engine, gbx_job *job);

/* Start what was posted, drop what was forgotten. Supervisor only. */
void gbx_provider_tick(gbx_engine *engine);

/* No run is left. In the supervisor's thread, at its end. */
void gbx_provider_end_fetches(gbx_engine *engine);

/* ---- provider.c ---- */

/* Answer from the supervisor's loop: what takes time is done on the I/O thread. */
void gbx_provider_reply(gbx_engine *engine, gbx_request request,
                        const gbx_msg_answer *answer);

/* No run is left, and the supervisor has ended: the I/O thread is joined. */
void gbx_provider_end(gbx_engine *engine);

void gbx_job_free(gbx_job *job);
/* Answer that the host is short of something. */
void gbx_job_refuse(gbx_engine *engine, gbx_request request, const char *name);

#endif

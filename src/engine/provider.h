/* SPDX-License-Identifier: MIT */
/*
 * provider - the capabilities that the host itself answers: fetch and files.
 *
 * A request becomes a job with copies of everything it needs. Fetches run on the
 * supervisor's loop, files on the I/O thread. Both answer by number like any host
 * function, so a call that has ended needs no special handling.
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
    struct gbx_fetch *fetch; /* owned by the supervisor; NULL: none, or not started */
    bool is_unwanted;        /* guarded by hostcalls.lock */
    gbx_span args;           /* these two point to data */
    gbx_span body;
    uint8_t data[];
} gbx_job;

/* The engine's part; guarded by hostcalls.lock, except what the supervisor owns. */
typedef struct gbx_providers {
    gbx_io *io;      /* NULL: no file was requested yet */
    gbx_job *posted; /* fetches that the supervisor has not seen */
    gbx_job *active; /* those that it has seen; it alone links and unlinks them */
    struct gbx_fetcher *fetcher; /* the supervisor's */
} gbx_providers;

/* The capability's function of that name, if the run has it, else NULL. The returned
 * name is never freed. */
const char *gbx_provider_name(const struct gbx_run *run, gbx_span name);

/* Answer request, now or later; name comes from gbx_provider_name(). Driver only. */
void gbx_provider_start(struct gbx_run *run, gbx_request request, const char *name,
                        const gbx_msg_hostcall *msg);

/* Nobody waits for request any more. The lock is held. */
void gbx_provider_forget(gbx_engine *engine, gbx_request request);

/* ---- provider_fetch.c ---- */

/* Hand a fetch to the supervisor. */
bool gbx_provider_fetch(gbx_engine *engine, gbx_job *job);

/* Start posted fetches, drop forgotten ones. Supervisor only. */
void gbx_provider_tick(gbx_engine *engine);

/* Call without remaining runs, in the supervisor's thread, at its end. */
void gbx_provider_end_fetches(gbx_engine *engine);

/* ---- provider.c ---- */

/* Answer from the supervisor's loop; slow work is done on the I/O thread. */
void gbx_provider_reply(gbx_engine *engine, gbx_request request,
                        const gbx_msg_answer *answer);

/* Call without remaining runs, after the supervisor has ended: joins the I/O thread. */
void gbx_provider_end(gbx_engine *engine);

void gbx_job_free(gbx_job *job);
/* Answer that the host lacks a resource. */
void gbx_job_refuse(gbx_engine *engine, gbx_request request, const char *name);

#endif

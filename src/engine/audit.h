/* SPDX-License-Identifier: MIT */
/*
 * audit - what an engine reports about its calls, to the security log and to the event
 * callback.
 *
 * Both are callbacks of the embedder. They are made without a lock, on the thread that
 * drives the call, so that the lines of one call stay in order. Code cannot exceed the
 * maximum numbers of lines per call and per engine; omitted lines are counted. Without
 * a listener, the cost is one check of a flag.
 */
#ifndef GBX_ENGINE_AUDIT_H
#define GBX_ENGINE_AUDIT_H

#include "audit/audit.h"
#include "engine/result.h"
#include "engine/verdict.h"
#include "policy/policy.h"
#include "wire/messages.h"

#include <pthread.h>
#include <stdatomic.h>

struct gbx_reply;
struct gbx_run;

/* Maximum number of lines of one call; further ones are only counted. */
#define GBX_AUDIT_HOST_LINES    200u
#define GBX_AUDIT_REFUSAL_LINES 50u

/* Rate limit for lines about refusals, over all calls of one engine. */
#define GBX_AUDIT_REFUSALS_AT_ONCE 500u
#define GBX_AUDIT_REFUSALS_PER_S   10u

/* The engine's part. */
typedef struct gbx_audit {
    char id[9];            /* eight hexadecimal digits: never sent to a worker */
    bool has_started;      /* engine.started was reported */
    bool is_heard;         /* a callback is set */
    atomic_ullong seq;     /* of the last line */
    atomic_ullong dropped; /* lines */
    int64_t start_ns;
    pthread_mutex_t lock; /* the last lock in the order; guards the following */
    gbx_bucket refusals;
    gbx_suspicion suspicion;
} gbx_audit;

/* A run's part; only its driver uses it. */
typedef struct gbx_run_audit {
    bool is_open; /* call.started was reported, call.ended was not */
    uint32_t host_lines;
    uint32_t refusal_lines;
    uint64_t bytes_in; /* of answers */
    uint32_t dropped;  /* lines */
    gbx_suspect_counts suspects;
} gbx_run_audit;

gbx_status gbx_audit_init(gbx_engine *engine, gbx_error *reterr);
void gbx_audit_engine_started(gbx_engine *engine);
void gbx_audit_engine_ended(gbx_engine *engine);

/* An event of the engine, not of a call. detail is one line written by the library. */
void gbx_audit_engine_event(gbx_engine *engine, gbx_audit_event event,
                            const char *detail);

/* The same, limited to the rate of refusals; the rest is counted as dropped. */
void gbx_audit_engine_refusal(gbx_engine *engine, gbx_audit_event event,
                              const char *detail);

/* The log's name of the call with this ticket; `to` has room for GBX_CALL_ID_SIZE. */
void gbx_call_id(const gbx_engine *engine, gbx_ticket ticket, char *to);

/* ---- audit_detail.c: the target of a request ----------------------------------- */

/*
 * The target of a request. Made when the request arrives, if there is a listener;
 * filled by the capability that serves it; freed once logged. Texts are cut, hostile.
 */
typedef struct gbx_audit_detail {
    char function[GBX_NAME_MAX]; /* the requested name, if it is unknown */
    char target[512]; /* fetch: the URL without query and user; a file: its path */
    /* Only for a fetch that was attempted: */
    char method[16];
    char address[80]; /* of the last peer, or of the refused one */
    char detail[256]; /* the reason, in more detail than the code gets */
    uint16_t status;
    uint32_t hops;
} gbx_audit_detail;

struct gbx_fetch_report;

/* What is kept of a request until it is answered and logged. */
typedef struct gbx_audit_asked {
    const char *name; /* lives as long as the engine; "": unknown function */
    bool is_ours;     /* a capability or an unknown name, not an embedder's function */
    gbx_audit_detail *note; /* owned; NULL: without a listener */
    uint64_t bytes_out;
    int64_t start_ns;
} gbx_audit_asked;

/* name: as in gbx_audit_asked. NULL if memory is out; free() it. */
gbx_audit_detail *gbx_audit_detail_new(const char *name, const gbx_msg_hostcall *msg);

/* Fill note from what a fetch reports; note->function stays. policy is the engine's:
 * values of its secrets are removed. */
void gbx_audit_detail_fetch(gbx_audit_detail *note, const gbx_policy *policy,
                            const struct gbx_fetch_report *report);

/* ---- one call; its driver only --------------------------------------------------- */

/* The first event of a call; once, if there is a listener. With a lease, when its machine
 * is known, or when the call ends without one. */
void gbx_audit_call_started(struct gbx_run *run);
void gbx_audit_guard(struct gbx_run *run, const gbx_report *report);

/* The call failed: how its worker ended, and the verdict. */
void gbx_audit_verdict(struct gbx_run *run, gbx_end how, const gbx_verdict *verdict);

/* A request has been answered, or will not be. */
void gbx_audit_answered(struct gbx_run *run, const struct gbx_reply *reply);

/* The worker did not send a request because of a limit; user is the run. */
void gbx_audit_limited(void *user, uint8_t limit);

/* The last event of a call. If status is not GBX_OK, the call has no result. */
void gbx_audit_call_ended(struct gbx_run *run, gbx_status status);

#endif

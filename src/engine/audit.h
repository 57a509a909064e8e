/* SPDX-License-Identifier: MIT */
/*
 * audit - what an engine says of its calls: to the security log, to the event callback.
 *
 * Both are callbacks of the embedder: no lock is held around them, and they are called
 * by whoever drives the call, so that the lines of one call have their order. What is
 * said of one call and of one engine is bounded, whatever code does; what is left out is
 * counted. Without a listener nothing of this costs more than a look at a flag.
 */
#ifndef GBX_ENGINE_AUDIT_H
#define GBX_ENGINE_AUDIT_H

#include "audit/audit.h"
#include "audit/events.h"
#include "audit/log_line.h"
#include "audit/suspicion.h"
#include "engine/audit_detail.h"
#include "engine/result.h"
#include "engine/verdict.h"

#include <pthread.h>
#include <stdatomic.h>

struct gbx_run;

/* Lines of one call: what comes after is counted. */
#define GBX_AUDIT_HOST_LINES    200u
#define GBX_AUDIT_REFUSAL_LINES 50u

/* Refusals of one engine, of all its calls. */
#define GBX_AUDIT_REFUSALS_AT_ONCE 500u
#define GBX_AUDIT_REFUSALS_PER_S   10u

/* The engine's part. */
typedef struct gbx_audit {
    char id[9];            /* eight hexadecimal digits: never told to a worker */
    bool has_started;      /* engine.started was said */
    bool is_heard;         /* anybody listens */
    atomic_ullong seq;     /* of the last line */
    atomic_ullong dropped; /* lines */
    int64_t start_ns;
    pthread_mutex_t lock; /* the last of all locks; of what follows */
    bool has_lock;
    gbx_bucket refusals;
    gbx_suspicion suspicion;
} gbx_audit;

/* A run's part; its driver's alone. */
typedef struct gbx_run_audit {
    bool is_open; /* call.started was said, call.ended was not */
    uint32_t host_lines;
    uint32_t refusal_lines;
    uint64_t bytes_in; /* answers */
    gbx_tally dropped;
    gbx_suspect_counts suspects;
} gbx_run_audit;

/* One event on its way out. */
typedef struct gbx_audit_entry {
    gbx_engine *engine;
    struct gbx_run *run; /* NULL: the engine's own */
    gbx_audit_event event;
    int64_t wall_ms;
    gbx_log_line line;
} gbx_audit_entry;

gbx_status gbx_audit_init(gbx_engine *engine, gbx_error *reterr);
void gbx_audit_cleanup(gbx_engine *engine);
void gbx_audit_engine_started(gbx_engine *engine);
void gbx_audit_engine_ended(gbx_engine *engine);

/* Something of the engine's, not of a call. detail is one line of ours. */
void gbx_audit_engine_event(gbx_engine *engine, gbx_audit_event event,
                            const char *detail);

/* The same, no oftener than refusals are said; the rest is counted as dropped. */
void gbx_audit_engine_refusal(gbx_engine *engine, gbx_audit_event event,
                              const char *detail);

/* How logs name the call with this ticket; to has room for GBX_CALL_ID_SIZE. */
void gbx_call_id(const gbx_engine *engine, gbx_ticket ticket, char *to);

/* The field "capabilities": an array of names. */
void gbx_audit_put_capabilities(gbx_log_line *line, uint32_t bits);

/* Does anybody listen to this one? */
bool gbx_audit_hears(const gbx_engine *engine, gbx_audit_event event);

/* Fields are added to entry->line in between. detail: one line, for the callback. */
void gbx_entry_begin(gbx_audit_entry *entry, gbx_engine *engine, struct gbx_run *run,
                     gbx_audit_event event);
void gbx_entry_emit(gbx_audit_entry *entry, const char *detail);

/* A call tried something that counts towards suspicion; said if it adds up. */
void gbx_audit_suspect(struct gbx_run *run, gbx_suspect kind);

/* ---- audit_call.c: one call; its driver only -------------------------------- */

void gbx_audit_call_started(struct gbx_run *run);
void gbx_audit_guard(struct gbx_run *run, const gbx_report *report);

/* The host ended the worker, or it ended itself. */
void gbx_audit_verdict(struct gbx_run *run, gbx_end how, const gbx_verdict *verdict);

/* A request has its answer, or will never have one. */
void gbx_audit_answered(struct gbx_run *run, const gbx_audit_asked *asked,
                        const gbx_audit_answer *answered);

/* The worker kept a call back; user is the run. */
void gbx_audit_limited(void *user, uint8_t limit);

/* Nothing follows. status: of the host; the result counts if it is GBX_OK. */
void gbx_audit_call_ended(struct gbx_run *run, gbx_status status);

#endif

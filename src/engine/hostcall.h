/* SPDX-License-Identifier: MIT */
/*
 * hostcall - the exposed functions of the host, and the requests that wait for answers.
 *
 * A worker's request waits in a list of its run. Its number is that of its call and the
 * one that the worker gave it. An answer names that number, and may come once, late or
 * never; it finds the request only while the request waits. A separate lock guards requests and
 * answers, and is not held while a host function runs.
 */
#ifndef GBX_ENGINE_HOSTCALL_H
#define GBX_ENGINE_HOSTCALL_H

#include "engine/audit.h"
#include "file/file.h"
#include "policy/policy.h"
#include "wire/messages.h"

#include <glovebox/host.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

struct gbx_run;
struct gbx_fetch_report;

/* One function of the host. */
typedef struct gbx_function {
    struct gbx_function *next;
    gbx_host_fn fn;
    void *user;
    uint32_t serial; /* in the order of exposing, from 1 */
    char name[];
} gbx_function;

/* One unanswered request. */
typedef struct gbx_pending {
    LIST_ENTRY(gbx_pending) link; /* in its run's list */
    gbx_request id;
    struct gbx_run *run;
    gbx_audit_asked asked;
} gbx_pending;

/* An answer on its way to its run. */
typedef struct gbx_reply {
    struct gbx_reply *next;
    gbx_audit_asked asked;
    int64_t end_ns;
    bool is_ours;       /* made by the library, not by the embedder */
    bool is_missing;    /* for the log: no answer came before the call ended */
    bool is_over;       /* an error in place of an answer that is over the limit */
    gbx_msg_answer msg; /* spans point to the bytes that follow */
} gbx_reply;

/* The engine's part. */
typedef struct gbx_hostcalls {
    pthread_mutex_t lock;
    gbx_function *functions;
    gbx_function *withdrawn;   /* those that could not be exposed */
    uint32_t function_serial;  /* of the latest function */
    LIST_HEAD(, gbx_run) runs; /* those that have unanswered requests */
} gbx_hostcalls;

/* A run's part; guarded by the engine's hostcalls.lock, except fields that only its
 * driver uses. */
typedef struct gbx_run_calls {
    LIST_ENTRY(gbx_run) link;         /* in gbx_hostcalls.runs */
    LIST_HEAD(, gbx_pending) pending; /* unanswered requests, the latest first */
    gbx_reply *replies, **replies_end;
    bool was_answered;          /* driver only: an answer was passed to the worker */
    uint64_t in_left;           /* bytes that further answers may have */
    bool is_nomem;              /* an answer was lost because memory was out */
    atomic_int wake_fd;         /* wakes the driver; -1: not needed yet */
    atomic_bool is_dispatching; /* the driver runs a function, and needs no wake */
    pthread_t driver;
} gbx_run_calls;

void gbx_hostcalls_cleanup(gbx_engine *engine);

/* Append the names of the functions that policy allows (withheld: false) or does not
 * allow (true), one per line. *ret_serial: that of the latest function; may be NULL. */
bool gbx_hostcalls_names(gbx_engine *engine, const gbx_policy *policy, bool withheld,
                         gbx_buf *to, uint32_t *ret_serial);

/* The run waits for no more answers: drop its open requests and the answers that have
 * arrived, and log both. Driver only. */
void gbx_run_calls_end(struct gbx_run *run);

/* Enter a request; 0 if memory is out. name lives as long as the engine; NULL: unknown
 * function. */
gbx_request gbx_hostcall_open(struct gbx_run *run, const char *name, bool is_ours,
                              const gbx_msg_hostcall *msg);

/* Answer with an error of the library. */
void gbx_hostcall_refuse(gbx_engine *engine, gbx_request request, const char *name,
                         const char *message, const char *code);

/* The code no longer wants an answer. Driver only. */
void gbx_hostcall_cancel(struct gbx_run *run, uint32_t wire_id);

/* The answers that have arrived, in their order. Driver only. */
gbx_reply *gbx_hostcall_replies(struct gbx_run *run);

/* Log and free an answer that was passed on or dropped. Returns the next. */
gbx_reply *gbx_hostcall_log(struct gbx_run *run, gbx_reply *reply);

/* The function of the oldest unanswered request of a waiting run, or NULL. */
const char *gbx_hostcall_awaited(struct gbx_run *run);

/* Keep a fetch's report for the log. Call when it has ended, before its answer. */
void gbx_hostcall_report(gbx_engine *engine, gbx_request request,
                         const struct gbx_fetch_report *report);

/* A copy in one block, for free(); NULL if memory is out. */
gbx_reply *gbx_reply_copy(const gbx_msg_answer *msg);
/* Free a copy that was not searched for secrets. NULL is ignored. */
void gbx_reply_wipe(gbx_reply *reply);

/* Answer a request by its number. Copies msg without the values of secrets; the search
 * takes time. False if the request no longer waits. */
bool gbx_hostcall_reply(gbx_engine *engine, gbx_request request,
                        const gbx_msg_answer *msg);

/* ---- providers.c: serving requests ----------------------------------------------- */

/*
 * A function of the embedder is called at once. A request for a capability that the
 * host serves itself, fetch or files, becomes a job with copies of everything it needs.
 * Fetches run on the supervisor's loop, files on the I/O thread. All answer by number,
 * so a call that has ended needs no special handling.
 */
struct gbx_fetch;
struct gbx_fetcher;

typedef struct gbx_job {
    LIST_ENTRY(gbx_job) link; /* of a fetch, in gbx_providers.fetches */
    gbx_engine *engine;
    gbx_request request;
    gbx_policy *policy;      /* a reference of its own */
    struct gbx_fetch *fetch; /* owned by the supervisor; NULL: none, or not started */
    bool has_begun;   /* the supervisor has taken it; guarded by hostcalls.lock */
    bool is_unwanted; /* guarded by hostcalls.lock */
    gbx_reply *reply; /* of a fetch that has ended; NULL: none to be searched */
    gbx_span args;    /* args and body point into data */
    gbx_span body;
    uint8_t data[];
} gbx_job;

/* The engine's part; guarded by hostcalls.lock, except what the supervisor owns. */
typedef struct gbx_providers {
    gbx_io *io;                   /* the I/O thread; NULL: not needed yet */
    LIST_HEAD(, gbx_job) fetches; /* only the supervisor unlinks one */
    struct gbx_fetcher *fetcher;  /* changed by the supervisor only */
} gbx_providers;

/* Start posted fetches, drop unwanted ones. Supervisor only. */
void gbx_provider_tick(gbx_engine *engine);

/* Call at the end of the supervisor's thread, when no runs remain. */
void gbx_provider_end_fetches(gbx_engine *engine);

/* Joins the I/O thread. Call after the supervisor has ended, when no runs remain. */
void gbx_provider_end(gbx_engine *engine);

#endif

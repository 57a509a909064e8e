/* SPDX-License-Identifier: MIT */
/*
 * hostcall - functions of the host: which exist, and which requests wait for answers.
 *
 * A worker's request gets a number that the worker never sees, and a place in the
 * engine's table. The answer, once, late or never, names that number: its place is
 * found and freed in one step, or found to belong to another request. A separate lock
 * guards table and answers; it is never held while a function of the host runs.
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
    gbx_request id; /* 0: the place is unused */
    struct gbx_run *run;
    gbx_audit_asked asked;
    uint32_t wire_id;
    uint32_t next; /* 1 + place: of the same run, or of the free ones; 0: none */
} gbx_pending;

/* An answer on its way to its run. */
typedef struct gbx_reply {
    struct gbx_reply *next;
    gbx_audit_asked asked;
    int64_t end_ns;
    bool is_ours;       /* the library's own */
    bool is_missing;    /* none came before the call ended */
    bool is_over;       /* replaces an answer over the limit */
    gbx_msg_answer msg; /* spans point to the bytes that follow */
} gbx_reply;

/* The engine's part. */
typedef struct gbx_hostcalls {
    pthread_mutex_t lock;
    gbx_function *functions;
    uint32_t function_serial; /* of the latest function */
    gbx_pending *pending;
    uint32_t capacity;
    uint32_t used; /* places ever used */
    uint32_t free; /* 1 + place; 0: none */
    uint32_t serial;
} gbx_hostcalls;

/* A run's part; guarded by the engine's hostcalls.lock, except fields that only its
 * driver uses. */
typedef struct gbx_run_calls {
    uint32_t first; /* 1 + place of a request without an answer; 0: none */
    uint32_t count; /* of them */
    gbx_reply *replies, **replies_end;
    bool was_answered;          /* driver's: an answer is on its way to the worker */
    uint64_t in_left;           /* bytes of answers */
    bool is_nomem;              /* an answer was lost because memory was out */
    atomic_int wake_fd;         /* wakes the driver; -1: there is no need yet */
    atomic_bool is_dispatching; /* answers by the driver itself need no wake */
    pthread_t driver;
} gbx_run_calls;

void gbx_hostcalls_cleanup(gbx_engine *engine);

/* Names of the functions that policy allows (withheld false) or does not (true), a
 * line each. *ret_serial: of the latest function; may be NULL. */
bool gbx_hostcalls_names(gbx_engine *engine, const gbx_policy *policy, bool withheld,
                         gbx_buf *to, uint32_t *ret_serial);

/* The run no longer waits: open requests are forgotten, arrived answers dropped, and
 * both logged. Driver only. */
void gbx_run_calls_end(struct gbx_run *run);

/* A place for a request; 0 if none is left. name lives as long as the engine; NULL:
 * unknown function. */
gbx_request gbx_hostcall_open(struct gbx_run *run, const char *name, bool is_ours,
                              const gbx_msg_hostcall *msg);

/* Answer with an error of our own. */
void gbx_hostcall_refuse(gbx_engine *engine, gbx_request request, const char *name,
                         const char *message, const char *code);

/* The code no longer wants an answer. Driver only. */
void gbx_hostcall_cancel(struct gbx_run *run, uint32_t wire_id);

/* The answers that have arrived, in their order. Driver only. */
gbx_reply *gbx_hostcall_replies(struct gbx_run *run);

/* An answer is in the exchange, or never will be: log and free it. Returns the next. */
gbx_reply *gbx_hostcall_log(struct gbx_run *run, gbx_reply *reply);

/* Has an answer arrived that the worker waits for? For the driver of a submitted
 * run. */
bool gbx_hostcall_can_deliver(struct gbx_run *run);

/* The name of a function that the run waits for, or NULL. */
const char *gbx_hostcall_awaited(struct gbx_run *run);

/* Must an answer be searched for secrets at all? policy may be NULL. */
bool gbx_redact_is_due(const gbx_policy *policy);

/* A fetch has ended: what the log will report about it. Call before its answer. */
void gbx_hostcall_report(gbx_engine *engine, gbx_request request,
                         const struct gbx_fetch_report *report);

/* A copy in one block, for free(); NULL if memory is out. */
gbx_reply *gbx_reply_copy(const gbx_msg_answer *msg);
/* Free a copy that was not searched for secrets. NULL is ignored. */
void gbx_reply_wipe(gbx_reply *reply);

/* Answer by number. Copies msg without the values of secrets, which takes time to
 * search for. False if nobody waits. */
bool gbx_hostcall_reply(gbx_engine *engine, gbx_request request,
                        const gbx_msg_answer *msg);

/* ---- providers.c: who serves a request ------------------------------------------- */

/*
 * A function of the embedder is called at once. The capabilities that the host itself
 * answers, fetch and files, make a job of a request, with copies of everything it
 * needs. Fetches run on the supervisor's loop, files on the I/O thread. All answer by
 * number, so a call that has ended needs no special handling.
 */
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

/* Start posted fetches, drop forgotten ones. Supervisor only. */
void gbx_provider_tick(gbx_engine *engine);

/* Call without remaining runs, in the supervisor's thread, at its end. */
void gbx_provider_end_fetches(gbx_engine *engine);

/* Call without remaining runs, after the supervisor has ended: joins the I/O thread. */
void gbx_provider_end(gbx_engine *engine);

#endif

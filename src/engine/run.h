/* SPDX-License-Identifier: MIT */
/*
 * run - one call, from its checks to its result, for all drivers.
 *
 * Every driver inits and enters the run, pumps it until it has ended, and closes it. In
 * between it sleeps until the channel, the clock or another thread needs attention.
 */
#ifndef GBX_ENGINE_RUN_H
#define GBX_ENGINE_RUN_H

#include "engine/audit.h"
#include "engine/exchange.h"
#include "engine/hostcall.h"
#include "engine/verdict.h"
#include "guard/guard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

struct event;
struct gbx_leased;
struct gbx_relay;
struct gbx_worker;

typedef enum gbx_run_phase {
    GBX_RUN_QUEUED,  /* waits for a worker */
    GBX_RUN_STARTED, /* has one */
    GBX_RUN_DYING,   /* its worker has closed the channel; its exit status is awaited */
    GBX_RUN_ENDED,   /* the result is complete */
} gbx_run_phase;

/* What pumps a run. */
typedef enum gbx_run_driver {
    GBX_DRIVER_CALLER,     /* the thread in gbx_execute(), with poll */
    GBX_DRIVER_LOOP,       /* the embedder's event loop, with gbx_drive_step() */
    GBX_DRIVER_SUPERVISOR, /* after gbx_submit(), with events */
} gbx_run_driver;

typedef struct gbx_run gbx_run;

/* What answers a run's requests: the host, the host with a recorder, or a recording. */
typedef struct gbx_run_host {
    /* The run has a worker: append the names of functions that its code may not use,
     * one per line, and its env as JSON. NULL: none. */
    void (*open)(gbx_run *run, gbx_buf *withheld, gbx_buf *env);

    /* After open: queue the run's CALL. NULL: what run->call says. */
    void (*call)(gbx_run *run);

    void (*request)(gbx_run *run, const gbx_msg_hostcall *msg);
    void (*cancel)(gbx_run *run, uint32_t id); /* or NULL */

    /* The worker waits: pass on the answers that have arrived. True: wake it. */
    bool (*wake)(gbx_run *run, int64_t now_ns);

    /* Put one answer into the exchange; false if memory is out. */
    bool (*answer)(gbx_run *run, const gbx_msg_answer *msg);

    /* The run has ended; in place of a verdict. Always true. NULL: the verdict. */
    bool (*ended)(gbx_run *run, const gbx_evidence *evidence);

    /* The run closes; it has a result only if status is GBX_OK. NULL: nothing to do. */
    void (*close)(gbx_run *run, gbx_status status);
} gbx_run_host;

extern const gbx_run_host gbx_live_host;

struct gbx_run {
    TAILQ_ENTRY(gbx_run) link;      /* in engine->running */
    TAILQ_ENTRY(gbx_run) wait_link; /* in engine->waiting or engine->inbox */
    LIST_ENTRY(gbx_run) signal_link;
    gbx_engine *engine;
    gbx_run_driver driver;
    gbx_ticket ticket;
    gbx_call call; /* its pointers are borrowed, or point into copy */
    gbx_limits limits;
    uint32_t capabilities;   /* GBX_CAP_* bits that are on for it */
    const gbx_policy *sites; /* policy with the sites its code may name; NULL: any */
    const gbx_run_host *host;
    struct gbx_replayer *replayer; /* of a replay */
    const uint8_t *entropy;        /* of a recording; NULL: random, or from the seed */
    gbx_guard_span span;
    char *copy; /* what the call lends, for runs that outlive their function */
    gbx_result *result;
    gbx_exchange exchange;
    gbx_run_calls calls;
    gbx_run_audit audit;
    struct gbx_worker *worker; /* set under the engine's lock */
    struct gbx_leased *lease;  /* its worker is on another machine; or NULL */
    struct gbx_relay *relay;   /* the call is another machine's; or NULL */
    atomic_bool is_told;       /* the supervisor was woken for it */
    gbx_end stopped;           /* with lease, DYING: why its end was requested */
    bool is_held;              /* with relay: do not read from the worker */
    gbx_run_phase phase;
    atomic_bool is_aborted;
    uint32_t woken_request; /* the last request before the worker was last woken */
    bool has_exchange;
    bool was_closed;  /* its worker closed the channel without ending: killed by us */
    gbx_end unserved; /* why it gets no worker; SAID: it may get one; under the lock */
    char lack[200];   /* with unserved: what its worker did; "": see engine->lack */
    bool is_driven;   /* the supervisor has started to drive it */
    bool is_linked;   /* in engine->running; under the lock */
    bool is_waiting;  /* in engine->waiting; under the lock */
    bool leaves_few;  /* took one of the last workers: request more */
    gbx_done_fn on_done;
    void *done_user;
    struct event *event; /* the supervisor's: channel and clock */
    int64_t queued_ns;
    int64_t deadline_ns;
    int64_t cpu_check_ns;
    int64_t wake_ns;      /* 0: not waiting */
    int64_t grace_ns;     /* in phase DYING */
    int64_t cpu_start_ns; /* the worker's processor time at the start; -1: unknown */
};

/* Make all checks that need no worker. On GBX_OK either run->phase is ENDED (by the
 * guard or an abort), or the run can enter the engine. */
gbx_status gbx_run_init(gbx_run *run, gbx_engine *engine, const gbx_call *call,
                        gbx_run_driver driver, gbx_error *reterr);

/* The run's policy: its own or the engine's; NULL: all exposed functions. */
const gbx_policy *gbx_run_policy(const gbx_run *run);

/* Let the guard check the code; a violation ends the run. */
gbx_status gbx_run_check_code(gbx_run *run, gbx_error *reterr);

/* Set the error's position in the code, and the lines around it. line 0: unknown. */
void gbx_run_point_at(gbx_run *run, uint32_t line, uint32_t column);

/* Enter the engine: its list of runs, where other threads may abort this one, and its
 * queue. The supervisor queues submitted runs that must wait. Copies what the call
 * lends, except for gbx_execute(). With an external runner, the run ends here. */
gbx_status gbx_run_enter(gbx_run *run, gbx_error *reterr);

/* If a queued run has a worker, start it and send what the worker accepts at once. If
 * it will get none, end it. */
void gbx_run_begin(gbx_run *run);

/* Do everything possible without blocking; true when the run has ended. */
bool gbx_run_pump(gbx_run *run);

/* End the run: memory is out, so that its driver cannot wait for it. */
void gbx_run_end_nomem(gbx_run *run);

/* Leave the engine, and free everything but the run itself. Returns the result, or NULL
 * if status is not GBX_OK. */
gbx_result *gbx_run_close(gbx_run *run, gbx_status status);

/* When to pump the run again even if the channel is silent. */
int64_t gbx_run_next_ns(const gbx_run *run);

/* True if the driver must watch the worker's channel. A lease has none, and wakes it. */
static inline bool gbx_run_hears(const gbx_run *run)
{
    return run->phase == GBX_RUN_STARTED && run->lease == NULL && !run->is_held;
}

/* True if this run is the only one, and its worker and the stepping thread take turns:
 * at most one request is open. With several runs the thread may be busy with others. */
bool gbx_run_takes_turns(const gbx_run *run);

/* Abort the run, from any thread; the engine's lock is held. */
void gbx_run_abort_locked(gbx_run *run);

/* Wake the driver: a worker, an answer, an abort or the worker's end has arrived. From
 * any thread. Hold a lock that keeps the run alive, unless no other thread knows it. */
void gbx_run_notify(gbx_run *run);

/* ---- verdict.c -------------------------------------------------------------- */

/* End the run: decide the verdict and fill the result. Its worker, if any, is alive or
 * its end has been reported. Always returns true: the run has ended. */
bool gbx_run_finish(gbx_run *run, gbx_end how);

/* ---- state.c: the link between runs and gbx_signal ------------------------- */

/* False if the signal has been thrown. */
bool gbx_signal_attach(gbx_signal *signal, gbx_run *run);
void gbx_signal_detach(gbx_signal *signal, gbx_run *run);

#endif

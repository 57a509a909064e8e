/* SPDX-License-Identifier: MIT */
/*
 * run - one call from its checks to its result, whoever drives it.
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
struct gbx_worker;

typedef enum gbx_run_phase {
    GBX_RUN_QUEUED,  /* waits for a worker */
    GBX_RUN_STARTED, /* has one */
    GBX_RUN_DYING,   /* its worker has closed the channel; its exit status is awaited */
    GBX_RUN_ENDED,   /* the result is complete */
} gbx_run_phase;

/* Who pumps a run. */
typedef enum gbx_run_driver {
    GBX_DRIVER_CALLER,     /* the thread in gbx_execute(), with poll */
    GBX_DRIVER_LOOP,       /* of the embedder, with gbx_drive_step() */
    GBX_DRIVER_SUPERVISOR, /* after gbx_submit(), with events */
} gbx_run_driver;

typedef struct gbx_run gbx_run;

/* Who answers a run's requests: the host itself, a recorder before it, or a recording. */
typedef struct gbx_run_host {
    /* The run has its worker: the functions that its code may not use, a name a line,
     * and its values of env. */
    void (*open)(gbx_run *run, gbx_buf *withheld, gbx_buf *env);

    void (*request)(gbx_run *run, const gbx_msg_hostcall *msg);
    void (*cancel)(gbx_run *run, uint32_t id);

    /* The worker waits: pass on what has been answered. True: it may go on. */
    bool (*wake)(gbx_run *run, int64_t now_ns);

    /* Put one answer into the exchange; false if memory is out. */
    bool (*answer)(gbx_run *run, const gbx_msg_answer *msg);

    /* For the guard: does a function's name begin with this name? */
    bool (*has_root)(const gbx_run *run, const char *name);

    /* No more answers. Without GBX_OK there is no result either. NULL: nothing to do. */
    void (*close)(gbx_run *run, gbx_status status);
} gbx_run_host;

extern const gbx_run_host gbx_live_host;

struct gbx_run {
    TAILQ_ENTRY(gbx_run) link;      /* in the engine's list of running ones */
    TAILQ_ENTRY(gbx_run) wait_link; /* in the queue, or the inbox */
    LIST_ENTRY(gbx_run) signal_link;
    gbx_engine *engine;
    gbx_run_driver driver;
    gbx_ticket ticket;
    gbx_call call; /* pointers borrowed, or into copy */
    gbx_limits limits;
    uint32_t capabilities;   /* GBX_CAP_* bits that are on for it */
    const gbx_policy *sites; /* that its code may name; NULL: any */
    const gbx_run_host *host;
    struct gbx_replayer *replayer; /* of a replay */
    const uint8_t *entropy;        /* of a recording; NULL: fresh, or from the seed */
    gbx_guard_span span;
    char *copy; /* copies of what a submitted call borrows */
    gbx_result *result;
    gbx_exchange exchange;
    gbx_run_calls calls;
    gbx_run_audit audit;
    struct gbx_worker *worker; /* set under the engine's lock */
    gbx_run_phase phase;
    atomic_bool is_aborted;
    uint32_t woken_request; /* the last request before it was woken */
    bool has_exchange;
    bool was_closed;  /* killed by us after it closed its channel */
    gbx_end unserved; /* why it never gets a worker; SAID: it may; under the lock */
    char lack[200];   /* with it, what its worker did; "": see the engine */
    bool is_driven;   /* the supervisor has started to drive it */
    bool is_linked;   /* is in the list of running ones; under the lock */
    bool is_waiting;  /* is in the queue; under the lock */
    bool leaves_few;  /* took one of the last workers: more should be requested */
    gbx_done_fn on_done;
    void *done_user;
    struct event *event; /* the supervisor's: channel and clock */
    int64_t queued_ns;
    int64_t deadline_ns;
    int64_t cpu_check_ns;
    int64_t wake_ns;      /* 0: not waiting */
    int64_t grace_ns;     /* in phase DYING */
    int64_t cpu_start_ns; /* of the worker's own clock; -1: unknown */
};

/* Check everything that needs no worker. On GBX_OK either run->phase is ENDED (by
 * the guard or an abort) or the run can enter. */
gbx_status gbx_run_init(gbx_run *run, gbx_engine *engine, const gbx_call *call,
                        gbx_run_driver driver, gbx_error *reterr);

/* What the run may reach: its own policy or the engine's; NULL: exposed functions. */
const gbx_policy *gbx_run_policy(const gbx_run *run);

/* The guard's objection ends the run. */
gbx_status gbx_run_check_code(gbx_run *run, gbx_error *reterr);

/* Does the name of an exposed function that it may use begin with this name? */
bool gbx_run_exposes(const gbx_run *run, const char *name);

/* Its error is here in its code: the place, and the lines around it. line 0: unknown. */
void gbx_run_point_at(gbx_run *run, uint32_t line, uint32_t column);

/* Enter the engine: its list, where others may end the run, and its queue. A submitted
 * run that would have to wait is left to the supervisor. With a runner of others, the
 * run ends here. A run that outlives its function copies what its call borrows. */
gbx_status gbx_run_enter(gbx_run *run, gbx_error *reterr);

/* A queued run: has it a worker, or no hope of one? Starts it and sends what the worker
 * accepts at once, or ends it. */
void gbx_run_begin(gbx_run *run);

/* Do everything possible without blocking; true when the run has ended. */
bool gbx_run_pump(gbx_run *run);

/* Memory is out, so the driver cannot wait for the run: it ends. */
void gbx_run_end_nomem(gbx_run *run);

/* Leave the engine, and free everything but the run itself. Returns the result, or NULL
 * if status is not GBX_OK. */
gbx_result *gbx_run_close(gbx_run *run, gbx_status status);

/* When to step again even if the channel is silent. */
int64_t gbx_run_next_ns(const gbx_run *run);

/* Does the stepping thread wait for the worker, or the worker for one answer at
 * most? False with several runs, since the thread may not get to this one for long. */
bool gbx_run_takes_turns(const gbx_run *run);

/* Request its end, from any thread; the engine's lock is held. */
void gbx_run_abort_locked(gbx_run *run);

/* Its worker, its end, its worker's end or an answer has arrived: wake its driver. From
 * any thread; a lock is held that keeps the run, unless nobody else knows it. */
void gbx_run_notify(gbx_run *run);

/* ---- verdict.c -------------------------------------------------------------- */

/* End it: judge, and fill the result; the worker, if any, is still alive or its end was
 * reported. Returns true: it has ended. */
bool gbx_run_finish(gbx_run *run, gbx_end how);

/* ---- state.c: the link between runs and gbx_signal ------------------------- */

/* False if the signal was thrown already. */
bool gbx_signal_attach(gbx_signal *signal, gbx_run *run);
void gbx_signal_detach(gbx_signal *signal, gbx_run *run);

#endif

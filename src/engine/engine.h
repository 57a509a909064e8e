/* SPDX-License-Identifier: MIT */
/*
 * engine - the structures behind the handle, shared by the files of this folder.
 *
 * One lock guards everything that more than one thread touches; it is never held
 * while guest bytes are read, a callback runs or anything blocks. The supervisor
 * thread owns the event loop, the templates' control sockets and the workers until
 * they are READY; a BUSY worker belongs to the run that has it.
 */
#ifndef GBX_ENGINE_ENGINE_H
#define GBX_ENGINE_ENGINE_H

#include "base/fail.h"
#include "base/sha256.h"
#include "cgroup/cgroup.h"
#include "engine/audit.h"
#include "engine/confine.h"
#include "engine/hostcall.h"
#include "engine/provider.h"
#include "engine/replayer.h"
#include "engine/result.h"
#include "engine/run.h"
#include "engine/spawn.h"
#include "guard/guard.h"
#include "policy/policy.h"
#include "replay/record.h"
#include "seal/seal.h"
#include "wire/messages.h"

#include <event2/event.h>
#include <glovebox/fetch.h>
#include <glovebox/glovebox.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- attack_mode.c ------------------------------------------------------- */

/*
 * Assume breach: let sealed processes of the real worker program attack their
 * own seal, with any set of layers left out. No code of a call is ever in them.
 *
 * A session is one template started in attack mode. Not thread-safe.
 */

typedef struct gbx_attack_session gbx_attack_session;

typedef enum gbx_attack_outcome {
    GBX_ATTACK_KILLED,    /* by the filter: SIGSYS */
    GBX_ATTACK_REFUSED,   /* the kernel said no, or answered without doing anything */
    GBX_ATTACK_SUCCEEDED, /* a breach */
    GBX_ATTACK_DIED,    /* of another signal, see detail: the attack came to nothing */
    GBX_ATTACK_UNKNOWN, /* no answer, or the process could not be made */
} gbx_attack_outcome;

/* Start a template without the layers of layers_off (bits of seal/seal.h). */
gbx_status gbx_attack_open(const char *worker_path, gbx_jit jit, uint32_t layers_off,
                           gbx_attack_session **ret, gbx_error *reterr);

/* Which layers do stand there, as bits. */
uint32_t gbx_attack_layers(const gbx_attack_session *session);

/* Fork a process, seal it, let it try attack number index of worker/attack_table.h.
 * *ret_detail is the exit status or the signal. */
gbx_attack_outcome gbx_attack_try(gbx_attack_session *session, uint32_t index,
                                  int *ret_detail);

/* What the last attack said of itself, in printable ASCII; "" if it was killed. */
const char *gbx_attack_note(const gbx_attack_session *session);

void gbx_attack_close(gbx_attack_session *session);

/* ---- spawn.c ------------------------------------------------------- */

/* What the worker program finds in its environment: all of it. */

/* Ends in NULL; constant. jit is not GBX_JIT_DEFAULT. */
const char *const *gbx_worker_environment(gbx_jit jit);

/* ---- guard_cache.c ------------------------------------------------------- */

/*
 * Code that the guard has lately let pass: the same text, called again, need not
 * be parsed again.
 *
 * Only clean verdicts are kept, and only those that nothing but text and form decide: a
 * call with a policy or bindings of its own is always looked at. The engine's policy does
 * not change, and functions are only ever added. A verdict that should
 * no longer hold would cost an early error, no safety: the guard is no boundary.
 *
 * Bounded in entries and bytes, the least recently used go first. Own lock, held while
 * text is compared; any thread.
 */

#define GBX_KNOWN_CODES_MAX 64
#define GBX_KNOWN_BYTES_MAX GBX_KIB(256)

typedef struct gbx_guard_cache {
    pthread_mutex_t lock;
    uint64_t hashes[GBX_KNOWN_CODES_MAX]; /* apart: the search reads nothing else */
    struct gbx_guard_cache_code {
        char *text; /* NULL: free */
        size_t len;
        gbx_form form;
        uint64_t used; /* when; larger is later */
        gbx_guard_span span;
    } codes[GBX_KNOWN_CODES_MAX];
    size_t bytes;
    uint64_t uses;
} gbx_guard_cache;

gbx_status gbx_guard_cache_init(gbx_guard_cache *known, gbx_error *reterr);
void gbx_guard_cache_cleanup(gbx_guard_cache *known);

/* As gbx_guard_check(), for one call. */
gbx_status gbx_guard_cache_check(gbx_guard_cache *known, const gbx_call *call,
                                 size_t max_len, const gbx_guard_world *world,
                                 gbx_guard_span *ret_span, gbx_report **ret_report,
                                 gbx_error *reterr);

/* ---- options.c ----------------------------------------------------------- */

/* Options, limits and calls as the caller gave them, checked and complete. */

/* Room in an engine for paths and names it copies. */
#define GBX_PATH_SIZE 512

/* Complete options: no zero means default any more. */
typedef struct gbx_settings {
    gbx_options options;             /* its strings point below, or are NULL */
    char worker_path[GBX_PATH_SIZE]; /* "" : search */
    char runner_name[64];
    gbx_fetch_transport transport;
} gbx_settings;

/* options may be NULL. */
gbx_status gbx_settings_init(gbx_settings *settings, const gbx_options *options,
                             gbx_error *reterr);

/* The limits of one call: the engine's, lowered by asked (which may be NULL). */
gbx_status gbx_limits_resolve(const gbx_limits *engine, const gbx_limits *asked,
                              gbx_form form, gbx_limits *ret, gbx_error *reterr);

/* What by says lowers limits; its zeros say nothing. */
void gbx_limits_lower(gbx_limits *limits, const gbx_limits *by);

/* Options as the caller's build knows them, as ours; NULL for all defaults. */
gbx_status gbx_options_import(const gbx_options *given, gbx_options *ret,
                              gbx_error *reterr);

/* A call as the caller's build knows it, as ours. */
gbx_status gbx_call_import(const gbx_call *given, gbx_call *ret, gbx_error *reterr);

/* ---- pidfd.c ------------------------------------------------------------- */

/*
 * What the kernel says of a process that is held by a pidfd.
 *
 * Much of it is asked for by number, and the number of a process that has been reaped may
 * be another's: what was found counts only if the process still has it afterwards.
 *
 * Any thread; nothing is kept.
 */

/* Has the process its number still: it runs, or nobody has reaped it? */
bool gbx_pidfd_is_there(int pidfd);

/* A descriptor that the template `parent` has sent: is it a pidfd, and of a child of the
 * template? Whatever else it is, we would send it SIGKILL. Returns the child's number as
 * this process sees it (0: it has ended, or is not in our pid namespace) and its
 * /proc/PID/status (-1: it has ended, or is not shown). */
bool gbx_pidfd_is_child(int pidfd, const gbx_spawned *parent, pid_t *ret_pid,
                        int *ret_status_fd);

/* A file of /proc/PID, or -1. */
int gbx_pidfd_open_proc(int pidfd, pid_t pid, const char *name);

/* Processor time; -1 if it is unknown. */
int64_t gbx_pidfd_cpu_ns(int pidfd, pid_t pid);

/* ---- recorder.c ---------------------------------------------------------- */

/*
 * A call as it is told to its recording: what the worker asked and what it
 * was told, at the one place where either goes through, whoever answered.
 *
 * All of it runs on the thread that drives the run. Without a recording each function
 * does nothing. What cannot be written leaves the recording cut, never the call.
 */

struct gbx_run;

/* The call is checked and has its limits and policy: fix its seed and clock, and write
 * down what it was given. */
gbx_status gbx_recorder_begin(struct gbx_run *run, gbx_error *reterr);

/* The run has its worker. */
void gbx_recorder_start(struct gbx_run *run);

void gbx_recorder_request(struct gbx_run *run, const gbx_msg_hostcall *msg);
void gbx_recorder_cancel(struct gbx_run *run, uint32_t id);
void gbx_recorder_wait(struct gbx_run *run, uint32_t ms);
void gbx_recorder_answer(struct gbx_run *run, const gbx_msg_answer *msg);
void gbx_recorder_wake(struct gbx_run *run);

/* The result is complete. */
void gbx_recorder_end(struct gbx_run *run);

/* The run is gone; one that never ended leaves its recording empty. */
void gbx_recorder_leave(struct gbx_run *run);

/* What a result has to say of itself; borrows from it. */
void gbx_record_end_of(const gbx_result *result, gbx_record_end *ret);

/* ---- source_digests.c ---------------------------------------------------------------------- */

/* Names and digests of what the engine was given beside calls, and the load_seq they
 * belong to. A digest is made once. */
gbx_status gbx_sources_take(gbx_engine *engine, gbx_record_head *to,
                            uint64_t *ret_load_seq, gbx_error *reterr);

/* ---- answer.c ----------------------------------------------------- */

/* Answers on their way into the box, without the value of any secret. */

/* An answer and what its spans may point to. */
typedef struct gbx_redacted {
    gbx_msg_answer msg;
    gbx_buf json, bytes, message, name, code;
} gbx_redacted;

/* Does an answer have to be looked through at all? policy may be NULL. */
bool gbx_redact_is_due(const gbx_policy *policy);

/* What is left of from, which *ret borrows from; clean it up in either case. False: it
 * could not be looked through, and must not be passed on. policy is the engine's. */
bool gbx_redact_answer(const gbx_policy *policy, const gbx_msg_answer *from,
                       gbx_redacted *ret);
void gbx_redacted_cleanup(gbx_redacted *stripped);

/* ---- runner_result.c ----------------------------------------------------- */

/* A call on a runner that is not ours: its word becomes a result. */

/* Run it on engine->runner, on this thread, to its end. */
gbx_status gbx_outcome_run(gbx_run *run, gbx_error *reterr);

/* ---- worker_uid.c -------------------------------------------------------- */

/*
 * The user that a root host's templates become.
 *
 * A configured one, else one between 61184 and 65519, the range that no distribution gives
 * to people, packages or containers, without a name and without a process; nobody only if
 * 64 of those in a row are in use. Processes of the same user may signal, and while they
 * are not sealed trace, each other.
 */

#define GBX_WORKER_UIDS_SIZE 32

/* The program's argument GBX_START_UIDS; asked: 0 if none is configured. "" where the host
 * is not root. Asks the system's directory of names, which may be slow: once an engine. */
void gbx_worker_uid_choose(uint32_t asked, char to[GBX_WORKER_UIDS_SIZE]);

/* ---- zygote.c ------------------------------------------------------------ */

/*
 * One process of this host from which templates are forked, in a tenth of the
 * time that it takes to execute the program and to warm its engine.
 *
 * It is started when a second template is wanted within ten seconds, and ended when none
 * was for as long. It is replaced when it has ended, does not answer, is old, or was
 * started for another program, JIT level, user or other limits. The thread that starts it
 * lives as long as this process: the death signal of a template follows that thread. Any
 * thread may ask.
 */

/* A template, as gbx_spawn() gives it. Waits for a zygote that is starting. False: there
 * is none to fork it from, execute the program. */
bool gbx_zygote_spawn(const gbx_spawn_options *options, gbx_spawned *ret);

typedef enum gbx_worker_state {
    GBX_WORKER_FORKING,  /* asked for; nothing is known of it yet */
    GBX_WORKER_STARTING, /* forked; not READY yet */
    GBX_WORKER_READY,
    GBX_WORKER_BUSY,
    GBX_WORKER_SPENT, /* killed; waits for the report of its end */
} gbx_worker_state;

/* One worker as the host knows it. */
typedef struct gbx_worker {
    struct gbx_worker *next; /* in engine->workers */
    struct gbx_worker *prev;
    struct gbx_worker *next_ready;
    uint64_t id;
    struct gbx_template *from;
    uint64_t load_seq; /* datasets it has */
    gbx_worker_state state;
    int64_t asked_ns; /* when its FORK was sent */
    int channel;      /* non-blocking; -1 until forked */
    int pidfd;
    int status_fd;       /* /proc/PID/status, or -1 where there is no /proc */
    pid_t pid;           /* in the host's pid namespace; 0: unknown */
    uint64_t rss_kib;    /* at READY */
    struct event *ready; /* waits for READY; owned by the supervisor */
    struct gbx_run *run; /* while BUSY */
    bool has_exited;
    bool died_early;       /* its channel has ended before READY */
    bool is_lost;          /* exited, but nobody knows how */
    gbx_shortage shortage; /* when it, or its template, was killed */
    gbx_msg_exited exit;
} gbx_worker;

typedef enum gbx_template_state {
    GBX_TEMPLATE_STARTING, /* CONFIG sent, no HELLO yet */
    GBX_TEMPLATE_LOADING,  /* LOADs sent, not all answered */
    GBX_TEMPLATE_SERVING,
    GBX_TEMPLATE_RETIRED, /* forks no more; lives while its workers do */
    GBX_TEMPLATE_DEAD,
} gbx_template_state;

/* One template process. */
typedef struct gbx_template {
    struct gbx_template *next; /* in engine->templates */
    struct gbx_engine *engine;
    gbx_spawned process;
    pid_t sender; /* of its first message, as the kernel says */
    gbx_template_state state;
    struct event *control;
    struct event *ended; /* killed, not reaped yet */
    gbx_buf in;
    int fds[8]; /* received, not yet claimed by a frame; -1: lost */
    size_t fd_count;
    uint64_t forks;
    uint32_t workers; /* alive or not yet reported */
    uint32_t loads_pending;
    uint64_t ready_rss_kib;   /* of its workers, with these datasets */
    uint64_t ready_load_seq;  /* with which; supervisor thread */
    bool was_useful;          /* a worker of it became READY */
    uint32_t function_serial; /* of the last function that its CONFIG names */
    uint64_t content_seq;     /* of the preloads and datasets it has */
    bool is_renewal;          /* somebody waits in gbx_template_restart() for it */
    uint64_t replaced_bytes;  /* in it, of datasets: their memory is lost to it */
    int64_t born_ns;
    int64_t watched_ns; /* the FORK that template_watchdog.c waits for the answer of */
    int64_t watched_cpu_ns; /* processor time when it began to */
    uint32_t still_ticks;   /* in a row, without a sign of life */
} gbx_template;

/* Everything HELLO said, kept for the report. */
typedef struct gbx_engine_facts {
    bool known;
    uint32_t threads;
    uint32_t landlock_abi;
    bool oom_known;
    bool jit_page;
    char engine[64];
    char user[256];
    char layout[256];
    char speculation[256];
    char time_zones[256];
    struct {
        bool stands;
        char reason[2 * GBX_LAYER_REASON_MAX + 2]; /* escaped */
    } layers[GBX_LAYER_COUNT];
} gbx_engine_facts;

typedef struct gbx_dataset {
    struct gbx_dataset *next;
    char name[GBX_NAME_MAX];
    int memfd;
    uint64_t size;
    uint64_t serial; /* never used again */
    bool has_sha256; /* made when a recording first asks for it */
    uint8_t sha256[GBX_SHA256_SIZE];
} gbx_dataset;

/* Who waits for a template with what the engine now has, on the stack of its thread. */
typedef struct gbx_renewal {
    bool is_started; /* the template is */
    bool is_done;
    gbx_error error; /* status OK: it serves */
} gbx_renewal;

typedef struct gbx_run_list {
    gbx_run *first;
    gbx_run *last;
    size_t count;
} gbx_run_list;

struct gbx_engine {
    uint32_t magic;
    pid_t owner; /* who made it: in a child of fork() it must not be used */
    gbx_settings settings;
    gbx_runner runner; /* execute NULL: processes of our own */
    void *runner_library;
    gbx_cgroup group;      /* of all templates and workers, where one can be had */
    gbx_kills kills;       /* for want of memory, where there is no group */
    gbx_guard_cache known; /* code that the guard has passed; a lock of its own */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* start, load, end: rare things */
    pthread_t thread;
    struct event_base *base;
    struct event *wake;
    struct event *tick;
    struct event *pause; /* calls have paused: time to fill the pool */
    int wake_fd;
    uint32_t executing; /* threads inside gbx_execute() */
    bool is_closing;
    bool is_spawning;      /* a template is being started; not in the list yet */
    bool has_started;      /* the first template said HELLO, or failed to */
    gbx_error start_error; /* status OK if it serves */
    gbx_engine_facts facts;
    char worker_uids[GBX_WORKER_UIDS_SIZE]; /* of its templates; "" before the first */
    gbx_template *templates;
    gbx_template *current;  /* forks are asked of it; NULL while none serves */
    uint32_t failed_starts; /* in a row: templates without one READY worker */
    int64_t retry_ns;       /* no new template before */
    char lack[200];         /* why no worker could be made since one was READY, or "" */
    uint32_t wasted;        /* workers in a row that ended before they had a call */
    int64_t fork_ns;        /* no FORK before */
    gbx_worker *workers;
    uint32_t alive;    /* entries of workers */
    uint32_t coming;   /* FORKING or STARTING, with the current datasets */
    uint32_t kept;     /* ready workers that demand is worth; at most pool_size */
    int64_t demand_ns; /* the last call came, or the engine was made */
    gbx_worker *ready; /* newest first: what it has just run is still in the caches */
    uint32_t ready_count;
    gbx_hostcalls hostcalls;
    gbx_providers providers;
    gbx_audit audit;
    int64_t called_ns; /* the last call came */
    int64_t ended_ns;  /* and the last one ended */
    uint32_t place;    /* of the last call among those without a pause between them */
    uint32_t load;     /* calls that came hardly after another, which still ran */
    gbx_run_list waiting;
    gbx_run_list running; /* every run not yet ended, for abort and free */
    gbx_run_list inbox;   /* submitted, not yet seen by the supervisor */
    gbx_dataset *datasets;
    gbx_dataset *preloads; /* their sources, in their order */
    uint64_t content_seq;  /* changes with what only a new template can be given */
    gbx_renewal *renewal;
    uint64_t load_seq;
    bool load_failed; /* of the load in progress */
    bool load_done;
    bool is_loading;
    char load_message[256];
    uint64_t next_worker;
    atomic_ullong next_ticket; /* the last one given */
    uint64_t next_dataset;
    uint64_t calls_ended;
    uint64_t templates_started;
};

/* After so many templates in a row that did not come up, calls are refused at once
 * instead of waiting for their time limit. */
#define GBX_FAILED_STARTS_MAX 3

/* So long after an answer its caller has had the processors, to make use of it. */
#define GBX_PAUSE_NS (INT64_C(400) * 1000)

#define GBX_ENGINE_MAGIC 0x67627845u

/* ---- engine.c ------------------------------------------------------------- */

/* A child of fork() shares the sockets of its parent's workers, and may have locks that
 * nobody will open: to be asked before anything else is done. */
bool gbx_engine_is_ours(const gbx_engine *engine);

/* Fails if it is none, or not ours. */
gbx_status gbx_engine_need(const gbx_engine *engine, gbx_error *reterr);

/* ---- pool.c: workers; the lock is held by the caller of all of these ----- */

/* Take a READY worker for run, or NULL. */
gbx_worker *gbx_pool_take(gbx_engine *engine, gbx_run *run);

/* The run is over: kill the worker, forget it when its end is reported. */
void gbx_pool_release(gbx_engine *engine, gbx_worker *worker);

/* A call comes: more of them are worth more ready workers. */
void gbx_pool_note_call(gbx_engine *engine, int64_t now_ns);

/* None has come for a while: fewer are; those that are left over are ended. */
void gbx_pool_trim(gbx_engine *engine);

/* Ask for as many forks as the pool and the queue want. */
void gbx_pool_fill(gbx_engine *engine);

/* The same, on the supervisor's thread, and again when calls pause: while a few of them
 * come and go, and there are workers for them, the pool is left as it is. */
void gbx_pool_fill_in_pauses(gbx_engine *engine);

/* The same, for a run that took one of the last workers; takes the lock itself. */
void gbx_pool_fill_for(gbx_run *run);

gbx_worker *gbx_pool_find(gbx_engine *engine, uint64_t worker_id);

/* The worker said READY: to the queue's head, or into the pool. */
void gbx_pool_ready(gbx_engine *engine, gbx_worker *worker);

/* The end of a worker is known (or, with exit NULL, that it ended). */
void gbx_pool_exited(gbx_engine *engine, gbx_worker *worker,
                     const gbx_msg_exited *exit);

/* Kill a worker that nobody has: it did not become READY. */
void gbx_pool_discard(gbx_engine *engine, gbx_worker *worker);

/* When the FORK was sent that t has left unanswered for longest; 0: none. */
int64_t gbx_pool_oldest_fork(const gbx_engine *engine, const gbx_template *t);

/* Kill what is idle and has other datasets than the engine now. */
void gbx_pool_discard_stale(gbx_engine *engine);

/* ---- queue.c: runs; the lock is held by the caller of all of these -------- */

/* Give the run a place among the running. */
void gbx_queue_link(gbx_engine *engine, gbx_run *run);
void gbx_queue_unlink(gbx_engine *engine, gbx_run *run);

/* Take a worker, or wait for one, or say in run->unserved why it gets none. */
void gbx_queue_enter(gbx_engine *engine, gbx_run *run);

/* Why no worker could be made, for those who wait; error: an errno, or 0. */
void gbx_queue_lacks(gbx_engine *engine, const char *what, int error);
void gbx_queue_remove(gbx_engine *engine, gbx_run *run);
gbx_run *gbx_queue_pop(gbx_engine *engine);

/* End the oldest run that waits, for this reason; lack says it in words, or is "". False
 * if nobody waits. */
bool gbx_queue_fail_first(gbx_engine *engine, gbx_end how, const char *lack);

/* No template can be had: nobody who waits will get a worker. */
void gbx_queue_fail_all(gbx_engine *engine);

/* ---- template.c: supervisor thread only, but for kill and send_load ---------- */

/* Start a template; it becomes current when it serves. The lock is not held. */
gbx_status gbx_template_start(gbx_engine *engine, gbx_error *reterr);

/* Send it the name of a function. */
bool gbx_template_send_expose(gbx_template *t, const char *name);

/* Send it a preload, before its HELLO. */
bool gbx_template_send_preload(gbx_template *t, const gbx_dataset *preload);

/* Send it a dataset. */
bool gbx_template_send_load(gbx_template *t, const gbx_dataset *dataset);

/* It does not do its part: end it, the supervisor will see. Any thread; the lock is
 * held and the template is the current one. */
void gbx_template_kill(const gbx_template *t);

/* No more forks from it; it ends with its last worker. The lock is held. */
void gbx_template_retire(gbx_template *t);

/* Free retired templates without workers, and dead ones. The lock is not held. */
void gbx_template_sweep(gbx_engine *engine);

/* Kill it and everything it forked, and free it. The lock is not held. */
void gbx_template_end(gbx_template *t);

/* ---- template_watchdog.c: supervisor thread only, at every tick ---------------------------- */

/* Kill templates that hang. The lock is not held. */
void gbx_watch_templates(gbx_engine *engine);

/* ---- control.c: supervisor thread only ------------------------------------- */

/* Act on every whole frame in t->in, with the descriptors in t->fds. False if one does
 * not fit: the template must end. The lock is not held. */
bool gbx_control_take_frames(gbx_template *t);

/* HELLO. GBX_E_PROTOCOL: it is malformed; any other failure is why the program does not
 * serve, and its version is read. On any thread. */
gbx_status gbx_hello_read(gbx_span body, gbx_msg_hello *ret, gbx_error *reterr);

/* ---- dataset_loader.c -------------------------------------------------------------- */

/* Is the template that serves being given something? It forks nobody meanwhile. The lock
 * is held. */
bool gbx_dataset_loader_is_busy(const gbx_engine *engine);

/* Give the template one more function's name, and wait until workers have it. */
gbx_status gbx_dataset_loader_expose(gbx_engine *engine, const gbx_function *function,
                                     gbx_error *reterr);

/* ---- preload_loader.c ------------------------------------------------------------- */

/* Keep those of the options. */
gbx_status gbx_preloads_init(gbx_engine *engine, gbx_error *reterr);
uint32_t gbx_preloads_count(const gbx_engine *engine);

/* All of them, after CONFIG. */
bool gbx_preloads_send(gbx_template *t);

/* ---- program.c ------------------------------------------------------------- */

#define GBX_SAID_SIZE 301

/* What the worker program wrote to its error output before it was ready, as one line to
 * print; a shared library that the loader did not find is named, with Debian's package of
 * it. Its first line only; "" if it said nothing. Returns `to`. */
const char *gbx_worker_said(const void *data, size_t len, char to[GBX_SAID_SIZE]);

/* The worker program ended before it was ready: fails with what it said itself, or else
 * with what is likely to have kept it. */
gbx_status gbx_worker_died_early(const gbx_spawned *process, gbx_error *reterr);

/* ---- template_restart.c --------------------------------------------------------------- */

/* Have a template started with what the lists now hold, and wait until it serves; nothing
 * changes if it fails. The lock is held, and the engine is settled. */
gbx_status gbx_template_restart(gbx_engine *engine, gbx_error *reterr);

/* The template (NULL: it did not even start) serves, or will not: then why. Tells who
 * waits for it. The lock is held. */
void gbx_template_restart_end(gbx_engine *engine, const gbx_template *t,
                              const gbx_error *error);

/* ---- supervisor.c ---------------------------------------------------------- */

gbx_status gbx_supervisor_start(gbx_engine *engine, gbx_error *reterr);
void gbx_supervisor_wake(gbx_engine *engine);

/* ---- execute.c ------------------------------------------------------------- */

/* gbx_engine_free() waits for whoever is between these two. */
gbx_status gbx_engine_enter(gbx_engine *engine, const gbx_call *call,
                            gbx_error *reterr);
void gbx_engine_leave(gbx_engine *engine);

/* ---- dataset_loader.c ---------------------------------------------------- */

/* What an engine is given beside calls: datasets, and a runner. */

/* Bytes as one entry of a list, in a memfd that nobody can change; what is "dataset" and
 * the like, for messages. */
gbx_status gbx_dataset_loader_keep(const char *what, const char *name, const void *data,
                                   size_t len, gbx_dataset **ret, gbx_error *reterr);
void gbx_dataset_loader_free(gbx_dataset *dataset);

/* Put it in the list, or in the place of the one of the same name, which is *ret_old
 * then. The lock is held. */
void gbx_dataset_loader_link(gbx_dataset **list, gbx_dataset *dataset,
                             gbx_dataset **ret_old);
void gbx_dataset_loader_unlink(gbx_dataset **list, gbx_dataset *dataset,
                               gbx_dataset *old);

/* Until a template serves and nothing else is on its way to it; the lock is held. */
gbx_status gbx_dataset_loader_settle(gbx_engine *engine, gbx_error *reterr);

/* GBX_E_USAGE unless there is a dataset of that name; "*" is what all are in. Takes the
 * lock. */
gbx_status gbx_dataset_loader_find(gbx_engine *engine, const char *name,
                                   gbx_error *reterr);

void gbx_dataset_loader_free_all(gbx_dataset **list);

/* Fill engine->runner from the options: nothing for "process". */
gbx_status gbx_dataset_loader_take_runner(gbx_engine *engine, gbx_error *reterr);
void gbx_dataset_loader_drop_runner(gbx_engine *engine);

/* ---- replayer_parts ------------------------------------------------------ */

/* What the files of the replayer share. */

struct gbx_replayer {
    gbx_record_head head;
    gbx_record_cursor cursor;
    gbx_record_event next; /* what must come now */
    gbx_limits limits;
    char dataset[GBX_NAME_MAX]; /* that the code is called with, or "" */
    gbx_policy *sites;          /* what the guard asks; nothing is ever fetched by it */
    bool is_over;
    uint32_t seen; /* requests of the worker */
};

/* ---- replay_box.c ------------------------------------------------------------------- */

gbx_status gbx_replayer_take_sites(struct gbx_replayer *replayer, gbx_error *reterr);

/* ---- compare.c ----------------------------------------------------------------------- */

/* Texts about what came and what should have, at most so long each. */
#define GBX_COMPARED_MAX GBX_KIB(4)

/* As a person would say it; appended. */
void gbx_describe_event(const gbx_record_event *event, gbx_buf *to);
void gbx_describe_request(const gbx_record_request *request, gbx_buf *to);
void gbx_describe_digest(const gbx_record_request *request, gbx_buf *to);

/* The call did something else: what differs, at which host call (0: none), and what
 * `came`, which is moved out of. What was recorded is in recorded, moved out of too. */
void gbx_replayer_diverge(gbx_run *run, const char *what, uint32_t host_call,
                          gbx_buf *recorded, gbx_buf *came);

bool gbx_request_equals(const gbx_record_request *a, const gbx_record_request *b);

/* Both calls ended by themselves. */
void gbx_replayer_compare_ends(gbx_run *run);

#endif

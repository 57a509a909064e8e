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
#include "engine/hostcall.h"
#include "engine/result.h"
#include "engine/run.h"
#include "engine/spawn.h"
#include "engine/verdict.h"
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
#include <sys/queue.h>

/* ---- confine.c ----------------------------------------------------------- */

/*
 * One control group for every process that an engine starts. Each worker has
 * limits of its own; the group limits their sum, and what no process is charged for.
 */

/* Call before the first template. Fails only if the options limit the sum and that
 * is not possible; otherwise the report says why the group is missing. */
gbx_status gbx_confine_open(gbx_engine *engine, gbx_error *reterr);

/* Call when the datasets have changed: sets the limit to what templates may now
 * need. The engine's lock is held, or nobody else has the engine yet. */
void gbx_confine_weigh(gbx_engine *engine);

/* The largest memory need for the engine's datasets and options; pure. */
uint64_t gbx_confine_memory(const gbx_options *options, uint64_t dataset_bytes);

/* At every tick; supervisor thread only. */
void gbx_confine_tick(gbx_engine *engine);

/* A process of the engine was killed, but not by us: was it the kernel, because
 * memory was out? Once for each kill; supervisor thread only. Without a group, the kills
 * of the whole machine in the last seconds are taken for ours. */
gbx_shortage gbx_confine_shortage(gbx_engine *engine);

/* ---- attack_mode.c ------------------------------------------------------- */

/*
 * Assume breach: sealed processes of the real worker program attack their own seal,
 * with any set of layers left out. They never contain a call's code.
 *
 * A session is one template started in attack mode. Not thread-safe.
 */

typedef struct gbx_attack_session gbx_attack_session;

typedef enum gbx_attack_outcome {
    GBX_ATTACK_KILLED,    /* by the filter: SIGSYS */
    GBX_ATTACK_REFUSED,   /* the kernel refused, or answered without acting */
    GBX_ATTACK_SUCCEEDED, /* a breach */
    GBX_ATTACK_DIED,      /* by another signal, see detail: the attack failed */
    GBX_ATTACK_UNKNOWN,   /* no answer, or the process could not be made */
} gbx_attack_outcome;

/* Start a template without the layers of layers_off (bits of seal/seal.h). */
gbx_status gbx_attack_open(const char *worker_path, gbx_jit jit, uint32_t layers_off,
                           gbx_attack_session **ret, gbx_error *reterr);

/* Which layers are in effect there, as bits. */
uint32_t gbx_attack_layers(const gbx_attack_session *session);

/* Fork a process, seal it, let it try attack number index of worker/attack_table.h.
 * *ret_detail is the exit status or the signal. */
gbx_attack_outcome gbx_attack_try(gbx_attack_session *session, uint32_t index,
                                  int *ret_detail);

/* The last attack's report about itself, in printable ASCII; "" if it was killed. */
const char *gbx_attack_note(const gbx_attack_session *session);

void gbx_attack_close(gbx_attack_session *session);

/* ---- code_check.c -------------------------------------------------------- */

/*
 * A cache of code that the guard has recently passed: the same text need not be parsed
 * again.
 *
 * Only clean verdicts are kept, and only if text and form alone decide: a call with a
 * policy or bindings of its own is always checked. The engine's policy does not change,
 * and functions are only ever added. An outdated verdict would cost an early error, not
 * safety: the guard is not a security boundary.
 *
 * Bounded in entries and bytes. A hash of the text chooses its place, and a new text
 * replaces the one that is there. Has a lock of its own, held while text is compared; any
 * thread.
 */

#define GBX_KNOWN_CODES_MAX 256
#define GBX_KNOWN_BYTES_MAX GBX_KIB(256) /* beyond it, all are forgotten */

typedef struct gbx_known_code {
    char *text; /* NULL: unused */
    size_t len;
    gbx_form form;
    gbx_guard_span span;
} gbx_known_code;

/* Zero, but for its lock. */
typedef struct gbx_guard_cache {
    pthread_mutex_t lock;
    gbx_known_code codes[GBX_KNOWN_CODES_MAX];
    size_t bytes;
} gbx_guard_cache;

void gbx_guard_cache_cleanup(gbx_guard_cache *known);

/* As gbx_guard_check(), for one call. */
gbx_status gbx_guard_cache_check(gbx_guard_cache *known, const gbx_call *call,
                                 size_t max_len, const gbx_guard_world *world,
                                 gbx_guard_span *ret_span, gbx_report **ret_report,
                                 gbx_error *reterr);

/* ---- settings.c ---------------------------------------------------------- */

/* Options, limits and calls of the caller, checked and completed. */

/* Room in an engine for the paths and names that it copies. */
#define GBX_PATH_SIZE 512

/* Complete options: zero no longer means a default. */
typedef struct gbx_settings {
    gbx_options options;             /* its strings point below, or are NULL */
    char worker_path[GBX_PATH_SIZE]; /* "" : search */
    char runner_name[64];
    gbx_fetch_transport transport;
} gbx_settings;

/* options may be NULL. */
gbx_status gbx_settings_init(gbx_settings *settings, const gbx_options *options,
                             gbx_error *reterr);

/* The limits of one call: the engine's, which are complete, lowered by asked (which may be
 * NULL). */
gbx_status gbx_limits_resolve(const gbx_limits *engine, const gbx_limits *asked,
                              gbx_form form, gbx_limits *ret, gbx_error *reterr);

/* Options as the caller's build knows them, as ours; NULL for all defaults. */
gbx_status gbx_options_import(const gbx_options *given, gbx_options *ret,
                              gbx_error *reterr);

/* Converts a call of the caller's build to ours. */
gbx_status gbx_call_import(const gbx_call *given, gbx_call *ret, gbx_error *reterr);

/* ---- pidfd.c ------------------------------------------------------------- */

/*
 * What the kernel reports about a process held by a pidfd.
 *
 * Much of that needs the process's number, and once the process has been reaped its
 * number may belong to another. A finding counts only if the process still has its
 * number afterwards.
 *
 * Any thread; nothing is kept.
 */

/* Does the process still have its number: it runs, or nobody has reaped it? */
bool gbx_pidfd_is_there(int pidfd);

/* Checks a descriptor that the template `parent` has sent: is it a pidfd of a child
 * of the template? Otherwise we might send SIGKILL to a stranger. Returns the
 * child's number as this process sees it (0: it has ended, or is not in our pid
 * namespace) and its /proc/PID/status (-1: it has ended, or is not shown). */
bool gbx_pidfd_is_child(int pidfd, const gbx_spawned *parent, pid_t *ret_pid,
                        int *ret_status_fd);

/* Send SIGKILL; -1 is ignored. */
void gbx_pidfd_kill(int pidfd);

/* Processor time; -1 if unknown. */
int64_t gbx_pidfd_cpu_ns(int pidfd, pid_t pid);

/* The number after a name in an open file of /proc; 0: it is not there. */
uint64_t gbx_proc_number(int fd, const char *name);

/* ---- recorder.c ---------------------------------------------------------- */

/* The call is checked and has its limits and policy: fix its seed and clock, record its
 * inputs, and stand between the run and the host from now on. A failed write leaves the
 * recording cut; the call is not affected. */
gbx_status gbx_recorder_begin(gbx_run *run, gbx_error *reterr);

/* The same seed gives the same randomness: a caller that sets a seed does not want
 * it secret. */
void gbx_recorder_spread_seed(uint64_t seed, uint8_t entropy[GBX_ENTROPY_SIZE]);

/* What the recording says about a result, cut where a recording cuts; borrows from it. */
void gbx_record_end_of(const gbx_result *result, gbx_record_end *ret);

/* Names and digests of everything the engine was given besides calls, with their
 * load_seq. A digest is computed once. */
gbx_status gbx_sources_take(gbx_engine *engine, gbx_record_head *to,
                            uint64_t *ret_load_seq, gbx_error *reterr);

/* ---- runner.c ------------------------------------------------------------ */

/* A call on an external runner: its outcome becomes a result. */

/* Set engine->runner from the options: nothing for "process". */
gbx_status gbx_runner_init(gbx_engine *engine, gbx_error *reterr);

/* Run it on engine->runner, on this thread, to its end. */
gbx_status gbx_outcome_run(gbx_run *run, gbx_error *reterr);

/* ---- program.c: its environment and its user ------------------------------- */

/* The complete environment of the worker program: ends in NULL; constant. jit is not
 * GBX_JIT_DEFAULT. */
const char *const *gbx_worker_environment(gbx_jit jit);

/*
 * The user that a root host's templates become.
 *
 * A configured one, else one between 61184 and 65519, the range that no distribution
 * gives to people, packages or containers, without a name and without a process. Only
 * if 64 of those in a row are in use it is nobody. Processes of the same user may
 * signal each other and, while they are not sealed, trace each other.
 */

#define GBX_WORKER_UIDS_SIZE 32

/* The program's argument GBX_START_UIDS; asked: 0 if not configured. "" if the host
 * is not root. Queries the system's user database, which may be slow: once an
 * engine. */
void gbx_worker_uid_choose(uint32_t asked, char to[GBX_WORKER_UIDS_SIZE]);

/* ---- zygote.c ------------------------------------------------------------ */

/*
 * One process of this host from which templates are forked, in a tenth of the time that
 * it takes to execute the program and to warm its engine.
 *
 * It is started when a second template is wanted within ten seconds, and ended when
 * none was wanted for as long. It is replaced when it has ended, does not answer, is
 * old, or was started for another program, JIT level, user or other limits. The thread
 * that starts it lives as long as this process: the death signal of a template follows
 * that thread. Any thread may call.
 */

/* A template, as gbx_spawn() gives it. Waits for a starting zygote. False: without a
 * zygote to fork from, execute the program. */
bool gbx_zygote_spawn(const gbx_spawn_options *options, gbx_spawned *ret);

typedef enum gbx_worker_state {
    GBX_WORKER_FORKING,  /* requested; nothing else is known */
    GBX_WORKER_STARTING, /* forked; not READY yet */
    GBX_WORKER_READY,
    GBX_WORKER_BUSY,
    GBX_WORKER_SPENT, /* killed; its end is not reported yet */
} gbx_worker_state;

/* The host's view of one worker. */
typedef struct gbx_worker {
    LIST_ENTRY(gbx_worker) link; /* in engine->workers */
    LIST_ENTRY(gbx_worker) ready_link;
    uint64_t id;
    struct gbx_template *from;
    uint64_t load_seq; /* datasets that it has */
    gbx_worker_state state;
    int64_t asked_ns; /* when its FORK was sent */
    int channel;      /* non-blocking; -1 until forked */
    int pidfd;
    int status_fd;       /* /proc/PID/status, or -1 where there is no /proc */
    pid_t pid;           /* in the host's pid namespace; 0: unknown */
    uint64_t rss_kib;    /* at READY */
    struct event *ready; /* waits for READY; owned by the supervisor */
    gbx_run *run;        /* while BUSY */
    bool has_exited;
    bool died_early;       /* its channel closed before READY */
    bool is_lost;          /* exited, but the exit status is unknown */
    gbx_shortage shortage; /* when the worker, or its template, was killed */
    gbx_msg_exited exit;
} gbx_worker;

typedef enum gbx_template_state {
    GBX_TEMPLATE_STARTING, /* CONFIG sent, HELLO not received */
    GBX_TEMPLATE_LOADING,  /* LOADs sent, not all answered */
    GBX_TEMPLATE_SERVING,
    GBX_TEMPLATE_RETIRED, /* forks no more; lives as long as its workers */
    GBX_TEMPLATE_DEAD,
} gbx_template_state;

/* One template process. */
typedef struct gbx_template {
    struct gbx_template *next; /* in engine->templates */
    struct gbx_engine *engine;
    gbx_spawned process;
    pid_t sender; /* of its first message, as the kernel reports it */
    gbx_template_state state;
    struct event *control;
    struct event *ended; /* killed, not reaped yet */
    gbx_buf in;
    int fds[8]; /* received, not yet used by a frame; -1: lost */
    size_t fd_count;
    uint64_t forks;
    uint32_t workers; /* alive or not yet reported */
    uint32_t loads_pending;
    uint64_t ready_rss_kib;   /* of its workers, with these datasets */
    uint64_t ready_load_seq;  /* the datasets of ready_rss_kib; supervisor thread */
    bool was_useful;          /* one of its workers became READY */
    uint32_t function_serial; /* of the last function that its CONFIG names */
    uint64_t content_seq;     /* of the preloads and datasets it has */
    bool is_renewal;          /* a thread waits for it: loader.c */
    bool is_cold;             /* not warmed up, and soon replaced: template.c */
    uint64_t replaced_bytes;  /* of replaced datasets: memory that it cannot reuse */
    int64_t born_ns;
} gbx_template;

#define GBX_ENGINE_NAME_SIZE 64

/* The contents of HELLO, kept for the report. */
typedef struct gbx_engine_facts {
    bool known;
    uint32_t threads;
    uint32_t landlock_abi;
    bool oom_known;
    bool jit_page;
    char engine[GBX_ENGINE_NAME_SIZE];
    char user[256], layout[256], speculation[256], time_zones[256];
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
    gbx_data_format format;
    uint64_t serial; /* never reused */
    bool has_sha256; /* computed when a recording first needs it */
    uint8_t sha256[GBX_SHA256_SIZE];
} gbx_dataset;

/* What a thread waits for: one at a time. */
typedef struct gbx_change {
    enum {
        GBX_CHANGE_START, /* the first template serves */
        GBX_CHANGE_NONE,
        GBX_CHANGE_UPDATE,  /* the serving template has one dataset or function more; it
                               does not fork meanwhile */
        GBX_CHANGE_RENEWAL, /* a new template serves, with the engine's new contents */
    } kind;
    bool is_started; /* RENEWAL: the template is */
    bool is_done;
    gbx_error error; /* status OK: it succeeded */
} gbx_change;

typedef struct gbx_run_list {
    TAILQ_HEAD(gbx_run_head, gbx_run) runs;
    size_t count;
} gbx_run_list;

struct gbx_engine {
    uint32_t magic;
    pid_t owner; /* creator: a child of fork() must not use the engine */
    gbx_settings settings;
    gbx_runner runner; /* execute NULL: our own processes */
    void *runner_library;
    gbx_cgroup group; /* of all templates and workers, where available */
    uint64_t kills; /* for want of memory on the whole machine, as last seen or taken */
    int64_t kills_ns;      /* when that was; 0: never; used without a group */
    gbx_guard_cache known; /* code that the guard has passed; has its own lock */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* start, load, end: rare events */
    pthread_t thread;
    struct event_base *base;
    struct event *wake;
    struct event *tick;
    struct event *pause; /* fires when calls have paused: time to fill the pool */
    int wake_fd;
    uint32_t executing; /* threads inside gbx_execute() */
    bool is_closing;
    bool is_spawning; /* a template is being started; not in the list yet */
    gbx_engine_facts facts;
    char worker_uids[GBX_WORKER_UIDS_SIZE]; /* of its templates; "" before the first */
    gbx_template *templates;
    gbx_template *current;  /* forks are requested of it; NULL while none serves */
    uint32_t failed_starts; /* in a row: templates without one READY worker */
    int64_t retry_ns;       /* no new template before this time */
    char lack[200];         /* why no worker could be made since a READY, or "" */
    uint32_t wasted;        /* workers in a row that ended before they got a call */
    int64_t fork_ns;        /* no FORK before this time */
    LIST_HEAD(, gbx_worker) workers;
    uint32_t alive;    /* entries of workers */
    uint32_t coming;   /* FORKING or STARTING, with the current datasets */
    uint32_t kept;     /* ready workers that demand justifies; at most pool_size */
    int64_t demand_ns; /* time of the last call, or of the engine's creation */
    LIST_HEAD(, gbx_worker) ready; /* newest first: its memory is still in the caches */
    uint32_t ready_count;
    gbx_hostcalls hostcalls;
    gbx_providers providers;
    gbx_audit audit;
    int64_t called_ns; /* time of the last call's arrival */
    int64_t ended_ns;  /* time of the last call's end */
    uint32_t place;    /* number of the last call in a sequence without pauses */
    gbx_run_list waiting;
    gbx_run_list running; /* every run not yet ended, for abort and free */
    gbx_run_list inbox;   /* submitted, not yet seen by the supervisor */
    gbx_dataset *datasets;
    gbx_dataset *preloads; /* their sources, in order */
    uint64_t content_seq;  /* changes with what only a new template can receive */
    gbx_change change;
    uint64_t load_seq;
    uint64_t next_worker;
    atomic_ullong next_ticket; /* the last one given */
    uint64_t next_dataset;
    uint64_t calls_ended;
    uint64_t templates_started;
};

/* After this many failed templates in a row, calls are refused at once instead of
 * waiting for their time limit. */
#define GBX_FAILED_STARTS_MAX 3

/* After an answer its caller gets the processors for this long, to use it. */
#define GBX_PAUSE_NS (INT64_C(400) * 1000)

#define GBX_ENGINE_MAGIC 0x67627845u

/* ---- state.c: lies lowest, and calls nothing above it ---------------------- */

/* A child of fork() shares the sockets of its parent's workers, and may have locks
 * that nobody will release: check this before anything else. */
bool gbx_engine_is_ours(const gbx_engine *engine);

/* Fails if engine is NULL or not ours. */
gbx_status gbx_engine_need(const gbx_engine *engine, gbx_error *reterr);

/* The JavaScript engine of its workers, with its version. */
void gbx_engine_name(gbx_engine *engine, char ret[GBX_ENGINE_NAME_SIZE]);

/* Wake the supervisor. */
void gbx_engine_wake(gbx_engine *engine);

/* Is a thread changing datasets, preloads or functions? The lock is held. */
bool gbx_engine_is_loading(const gbx_engine *engine);

/* Does a thread still wait for a change of this kind? The lock is held. */
bool gbx_change_is_open(const gbx_engine *engine, int kind);

/* The template (NULL: it could not even be started) serves or has what it was sent, or
 * never will: then why. Reports it to the thread that waits for that. The lock is held. */
void gbx_change_end(gbx_engine *engine, const gbx_template *t, const gbx_error *error);

/* Runs; the lock is held by the caller of all of these. */

void gbx_queues_init(gbx_engine *engine);

/* Give the run a place among the running. */
void gbx_queue_link(gbx_engine *engine, gbx_run *run);
void gbx_queue_unlink(gbx_engine *engine, gbx_run *run);

/* Record why no worker could be made, for waiting runs; error: an errno, or 0. */
void gbx_queue_lacks(gbx_engine *engine, const char *what, int error);

/* In engine->waiting or engine->inbox. */
void gbx_queue_add(gbx_run_list *list, gbx_run *run);
void gbx_queue_remove(gbx_run_list *list, gbx_run *run);
gbx_run *gbx_queue_pop(gbx_run_list *list);

/* End the oldest waiting run for this reason; lack says it in words, or is "". False
 * if none waits. */
bool gbx_queue_fail_first(gbx_engine *engine, gbx_end how, const char *lack);

/* No template is available: waiting runs will get no worker. */
void gbx_queue_fail_all(gbx_engine *engine);

/* ---- pool.c: workers; the lock is held by the caller of all of these ----- */

/* Free one whose end is known, or whose engine ends; its template is still there. */
void gbx_pool_forget(gbx_engine *engine, gbx_worker *worker);

/* The run is over: kill the worker; forget it when its end is reported. */
void gbx_pool_release(gbx_engine *engine, gbx_worker *worker);

/* No call for a while: fewer ready workers are justified; excess ones are ended. */
void gbx_pool_trim(gbx_engine *engine);

/* Take a worker, wait for one, or set run->unserved to the reason why it gets none. */
void gbx_queue_enter(gbx_engine *engine, gbx_run *run);

/* Request as many forks as the pool and the queue want. */
void gbx_pool_fill(gbx_engine *engine);

/* The same, on the supervisor's thread, and again when calls pause: while a few
 * calls come and go and workers suffice, the pool is left as it is. */
void gbx_pool_fill_in_pauses(gbx_engine *engine);

/* The same, for a run that took one of the last workers; takes the lock. */
void gbx_pool_fill_for(gbx_run *run);

gbx_worker *gbx_pool_find(gbx_engine *engine, uint64_t worker_id);

/* The worker sent READY: it goes to the queue's head, or into the pool. */
void gbx_pool_ready(gbx_engine *engine, gbx_worker *worker);

/* A worker's end is known (with exit NULL, only that it ended). */
void gbx_pool_exited(gbx_engine *engine, gbx_worker *worker,
                     const gbx_msg_exited *exit);

/* Kill a worker that no run has: it did not become READY. */
void gbx_pool_discard(gbx_engine *engine, gbx_worker *worker);

/* When t's oldest unanswered FORK was sent; 0: none. */
int64_t gbx_pool_oldest_fork(const gbx_engine *engine, const gbx_template *t);

/* Kill idle workers whose datasets are not the engine's current ones. */
void gbx_pool_discard_stale(gbx_engine *engine);

/* ---- template.c: supervisor thread only ------------------------------------ */

/* Start a template; it becomes current when it serves. The lock is not held. */
gbx_status gbx_template_start(gbx_engine *engine, gbx_error *reterr);

/* Free retired templates without workers, and dead ones. The lock is not held. */
void gbx_template_sweep(gbx_engine *engine);

/* Kill it and everything it forked, and free it. The lock is not held. */
void gbx_template_end(gbx_template *t);

/* At every tick: kill templates that have not answered a FORK for long. Replacing one ends
 * the calls of its workers, so a loaded machine must never look like that. The lock is not
 * held. */
void gbx_watch_templates(gbx_engine *engine);

/* ---- control.c: supervisor thread only, but for sending --------------------- */

/* Read what has arrived and act on it. False if something is not valid, or the template
 * is gone: it must end. The lock is not held. */
bool gbx_control_read(gbx_template *t);

/* Act on every whole frame in t->in, with the descriptors in t->fds. False if one is
 * not valid: the template must end. */
bool gbx_control_take_frames(gbx_template *t);

/* Send it the name of a function. */
bool gbx_template_send_expose(gbx_template *t, const char *name);

/* Send it a dataset. */
bool gbx_template_send_load(gbx_template *t, const gbx_dataset *dataset);

/* Send it a preload, before its HELLO. */
bool gbx_template_send_preload(gbx_template *t, const gbx_dataset *preload);

/* It forks no more, and ends with its last worker. The lock is held. */
void gbx_template_retire(gbx_template *t);

/* HELLO. GBX_E_PROTOCOL: it is malformed. Any other failure is the program's reason
 * for not serving, and its version has been read. Any thread. */
gbx_status gbx_hello_read(gbx_span body, gbx_msg_hello *ret, gbx_error *reterr);

/* ---- program.c: how it failed ------------------------------------------------ */

#define GBX_SAID_SIZE 301

/* The worker program's error output before it was ready, as one printable line. If
 * the loader did not find a shared library, names it and its Debian package. First
 * line only; "" without output. Returns `to`. */
const char *gbx_worker_said(const void *data, size_t len, bool is_bundled,
                            char to[GBX_SAID_SIZE]);

/* The worker program ended before it was ready: fails with its own message, or else
 * with the likely cause. */
gbx_status gbx_worker_died_early(const gbx_spawned *process, gbx_error *reterr);

/* ---- loader.c ------------------------------------------------------------------ */

/* Keep the preloads of the options. */
gbx_status gbx_loader_preloads_init(gbx_engine *engine, gbx_error *reterr);

/* GBX_E_USAGE unless a dataset of that name exists; "*" stands for all. Takes the
 * lock. */
gbx_status gbx_loader_find(gbx_engine *engine, const char *name, gbx_error *reterr);

void gbx_loader_free_all(gbx_dataset **list);

/* ---- supervisor.c ---------------------------------------------------------- */

gbx_status gbx_supervisor_start(gbx_engine *engine, gbx_error *reterr);

/* ---- replayer.c ------------------------------------------------------------ */

/*
 * A call that gets every answer from a recording.
 *
 * It replaces the host's functions and capabilities: nothing behind them is ever
 * reached. Each message of the worker is compared with the recorded one; the first
 * difference ends the call.
 */

/* call.replay is set: take the call from the recording, and answer the run from now on.
 * Call before its limits are resolved and its code is checked. */
gbx_status gbx_replayer_begin(gbx_run *run, gbx_error *reterr);

/* ---- replay_check.c ----------------------------------------------------------------- */

/* Errors in the parameters of a replay come from the recording, not from the caller. */
gbx_status gbx_replay_as_data(gbx_status status, gbx_error *reterr);

/* Does this engine have what the recorded call had? */
gbx_status gbx_replay_check(const gbx_run *run, const gbx_record_head *head,
                            gbx_error *reterr);

/* Is name the root of a function that the recorded call had? */
bool gbx_replay_has_root(const gbx_record_head *head, const char *name);

/* Names of the engine's functions that the recorded call did not have, a line each. */
void gbx_replay_put_withheld(const gbx_run *run, const gbx_record_head *head,
                             gbx_buf *to);

#endif

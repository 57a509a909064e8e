/* SPDX-License-Identifier: MIT */
/*
 * engine - the structures behind the handle, shared by the files of this folder.
 *
 * engine->lock guards what several threads use, except parts with a lock of their own.
 * It is never held while guest bytes are read, a callback runs or anything blocks. The
 * supervisor thread owns the event loop, the templates' control sockets and the workers
 * until they are READY. A BUSY worker belongs to its run.
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
#include <glovebox/drive.h>
#include <glovebox/fetch.h>
#include <glovebox/relay.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

/* ---- confine.c ----------------------------------------------------------- */

/*
 * One control group for all processes that an engine starts. Each worker has its own
 * limits; the group limits their sum, and memory that is charged to no process.
 */

/* Call before the first template. Fails only if the options limit the sum and no group
 * can be made. Without such options the report says why the group is missing. */
gbx_status gbx_confine_open(gbx_engine *engine, gbx_error *reterr);

/* Call when the datasets have changed: sets the limit to what templates may now
 * need. The engine's lock is held. */
void gbx_confine_weigh(gbx_engine *engine);

/* The largest memory need for the engine's datasets and options; pure. */
uint64_t gbx_confine_memory(const gbx_options *options, uint64_t dataset_bytes);

/* At every tick; supervisor thread only. */
void gbx_confine_tick(gbx_engine *engine);

/* A process of the engine was killed, but not by us: reports whether the kernel did it
 * because memory was out. Call once for each kill; supervisor thread only. Without a
 * group, any such kill on the machine in the last seconds is taken for ours. */
gbx_shortage gbx_confine_shortage(gbx_engine *engine);

/* ---- attack_mode.c ------------------------------------------------------- */

/*
 * Tests the seal: sealed processes of the real worker program attack it, with any set
 * of layers left out. They never contain a call's code.
 *
 * A session is one template started in attack mode. Not thread-safe.
 */

typedef struct gbx_attack_session gbx_attack_session;

typedef enum gbx_attack_outcome {
    GBX_ATTACK_UNKNOWN,   /* not tried, no answer, or the process could not be made */
    GBX_ATTACK_KILLED,    /* by the filter: SIGSYS */
    GBX_ATTACK_REFUSED,   /* the kernel refused, or answered without acting */
    GBX_ATTACK_SUCCEEDED, /* a breach */
    GBX_ATTACK_DIED,      /* by another signal, see detail: the attack failed */
    GBX_ATTACK_ABSENT,    /* the target does not exist on this machine */
} gbx_attack_outcome;

/* Start a template without the layers of layers_off (bits of seal/seal.h). */
gbx_status gbx_attack_open(const char *worker_path, gbx_jit jit, uint32_t layers_off,
                           gbx_attack_session **ret, gbx_error *reterr);

/* The layers in effect in the session's template, as bits. */
uint32_t gbx_attack_layers(const gbx_attack_session *session);

/* Fork and seal a process that tries attack number index of worker/attack_table.h.
 * *ret_detail is the exit status or the signal. */
gbx_attack_outcome gbx_attack_try(gbx_attack_session *session, uint32_t index,
                                  int *ret_detail);

/* The last attack's report about itself, in printable ASCII; "" if it was killed. */
const char *gbx_attack_note(const gbx_attack_session *session);

void gbx_attack_close(gbx_attack_session *session);

/* ---- code_check.c -------------------------------------------------------- */

/*
 * A cache of code that the guard has recently passed, so that it is not parsed again.
 *
 * Only clean verdicts are kept, and only if text and form alone decide them: a call
 * with its own policy or bindings is always checked. The engine's policy does not
 * change, and functions are only added. An outdated verdict would lose an early error,
 * not safety: the guard is not a security boundary.
 *
 * Bounded in entries and bytes. A hash of the text chooses its entry, and a new text
 * replaces the old one there. Any thread: it has its own lock, which is held while
 * texts are compared.
 */

#define GBX_KNOWN_CODES_MAX 256
#define GBX_KNOWN_BYTES_MAX GBX_KIB(256) /* beyond it, all are forgotten */

typedef struct gbx_known_code {
    char *text; /* NULL: unused */
    size_t len;
    gbx_form form;
    gbx_guard_span span;
} gbx_known_code;

/* Initialise with zeros, except the lock. */
typedef struct gbx_guard_cache {
    pthread_mutex_t lock;
    gbx_known_code codes[GBX_KNOWN_CODES_MAX];
    size_t bytes;
} gbx_guard_cache;

void gbx_guard_cache_cleanup(gbx_guard_cache *known);

/* gbx_guard_check() for one call, with the cache. */
gbx_status gbx_guard_cache_check(gbx_guard_cache *known, const gbx_call *call,
                                 size_t max_len, const gbx_guard_world *world,
                                 gbx_guard_span *ret_span, gbx_report **ret_report,
                                 gbx_error *reterr);

/* ---- settings.c ---------------------------------------------------------- */

/* Options, limits and calls of the caller, checked and completed. */

/* Size of an engine's copy of a path. */
#define GBX_PATH_SIZE 512

/* Complete options: zero no longer means a default. */
typedef struct gbx_settings {
    gbx_options options;             /* its strings point below, or are NULL */
    char worker_path[GBX_PATH_SIZE]; /* "" : search */
    char runner_name[1024]; /* what was asked for: a name, and perhaps more after ":" */
    char runner[64];        /* its name */
    gbx_fetch_transport transport;
} gbx_settings;

/* options may be NULL. */
gbx_status gbx_settings_init(gbx_settings *settings, const gbx_options *options,
                             gbx_error *reterr);

/* The limits of one call: the engine's, which are complete, lowered by asked (which may
 * be NULL). */
gbx_status gbx_limits_resolve(const gbx_limits *engine, const gbx_limits *asked,
                              gbx_form form, gbx_limits *ret, gbx_error *reterr);

/* Converts options of the caller's build to ours. given may be NULL: all defaults. */
gbx_status gbx_options_import(const gbx_options *given, gbx_options *ret,
                              gbx_error *reterr);

/* Converts a call of the caller's build to ours. */
gbx_status gbx_call_import(const gbx_call *given, gbx_call *ret, gbx_error *reterr);

/* Converts a runner of the caller's build to ours. */
gbx_status gbx_runner_import(const gbx_runner *given, gbx_runner *ret,
                             gbx_error *reterr);

/* Limits as an older or newer caller knows them; NULL: none. */
gbx_status gbx_limits_import(const gbx_limits *given, gbx_limits *ret,
                             gbx_error *reterr);

/* ---- pidfd.c ------------------------------------------------------------- */

/*
 * What the kernel reports about a process held by a pidfd.
 *
 * Most of it is looked up by pid, and once the process has been reaped its pid may
 * belong to another. So a result counts only if the process still has its pid then.
 *
 * Any thread; no state is kept.
 */

/* True if the process still has its pid: it runs, or has not been reaped. */
bool gbx_pidfd_is_there(int pidfd);

/* Checks that a descriptor sent by the template `parent` is a pidfd of a child of the
 * template: otherwise we might send SIGKILL to an unrelated process. *ret_pid is the
 * child's pid in our pid namespace (0: it has ended, or is not in it), *ret_status_fd
 * its /proc/PID/status (-1: it has ended, or /proc does not show it). */
bool gbx_pidfd_is_child(int pidfd, const gbx_spawned *parent, pid_t *ret_pid,
                        int *ret_status_fd);

/* Send SIGKILL; a pidfd of -1 is ignored. */
void gbx_pidfd_kill(int pidfd);

/* Processor time of the process; -1 if unknown. */
int64_t gbx_pidfd_cpu_ns(int pidfd, pid_t pid);

/* The number after a name in an open file of /proc; 0 if the name is missing. */
uint64_t gbx_proc_number(int fd, const char *name);

/* ---- recorder.c ---------------------------------------------------------- */

/* Call once the call is checked and has its limits and policy. Fixes its seed and
 * clock, records its inputs, and from then on records what passes between run and host.
 * A failed write marks the recording as cut and does not affect the call. */
gbx_status gbx_recorder_begin(gbx_run *run, gbx_error *reterr);

/* Derive a call's entropy from its seed, so that the same seed gives the same
 * randomness. The entropy need not be secret: the caller chose the seed. */
void gbx_recorder_spread_seed(uint64_t seed, uint8_t entropy[GBX_ENTROPY_SIZE]);

/* The recorded form of a result; its texts are cut as in a recording, and borrowed. */
void gbx_record_end_of(const gbx_result *result, gbx_record_end *ret);

/* Compute the digests that the engine's datasets and preloads still lack. Takes the
 * lock. */
gbx_status gbx_sources_digest(gbx_engine *engine, gbx_error *reterr);

/* Names and digests of the engine's datasets and preloads, with the load_seq of workers
 * that have them (0: none yet). A digest is computed once. */
gbx_status gbx_sources_take(gbx_engine *engine, gbx_record_head *to,
                            uint64_t *ret_load_seq, gbx_error *reterr);

/* ---- runner.c ------------------------------------------------------------ */

/* Runs calls on an external runner. */

/* Set engine->runner from the options; for "process" it stays empty. */
gbx_status gbx_runner_init(gbx_engine *engine, gbx_error *reterr);

/* Execute the run on engine->runner, on this thread, and fill its result. */
gbx_status gbx_outcome_run(gbx_run *run, gbx_error *reterr);

/* ---- program.c: the worker program's environment and user ------------------ */

/* The complete environment of the worker program, a constant that ends in NULL. jit is
 * not GBX_JIT_DEFAULT. */
const char *const *gbx_worker_environment(gbx_jit jit);

/*
 * The user that a root host's templates become.
 *
 * The configured one, or else one from 61184 to 65519 without a name and a process: no
 * distribution gives that range to people, packages or containers. If 64 of those in a
 * row are in use, it is "nobody". Processes of the same user may signal each other and,
 * while they are not sealed, trace each other.
 */

#define GBX_WORKER_UIDS_SIZE 32

/* Makes the program's argument GBX_START_UIDS; "" if the host is not root. asked: the
 * configured user, or 0. Call once for each engine: it queries the system's user
 * database, which may be slow. */
void gbx_worker_uid_choose(uint32_t asked, char to[GBX_WORKER_UIDS_SIZE]);

/* ---- zygote.c ------------------------------------------------------------ */

/*
 * A zygote: a process that templates are forked from, in a tenth of the time that it
 * takes to execute the program and to warm its engine.
 *
 * It is started when a second template is wanted within ten seconds, and ended when
 * none was wanted for as long. It is replaced when it has ended, does not answer or is
 * old. Up to four exist, one for each combination of program, JIT level, user and
 * limits. The thread that starts them lives as long as this process, since the death
 * signal of a template follows that thread. Any thread may call.
 */

/*
 * Fork a template and send it this CONFIG; *ret is as after gbx_spawn(). May wait for a
 * starting zygote. False without a zygote: execute the program instead.
 *
 * When several engines in a row have had the same CONFIG, the next one's template is
 * forked ahead. The engine that takes it takes its users too: uids.
 */
bool gbx_zygote_spawn(const gbx_spawn_options *options, gbx_span config,
                      char uids[GBX_WORKER_UIDS_SIZE], gbx_spawned *ret);

typedef enum gbx_worker_state {
    GBX_WORKER_FORKING,  /* requested; no FORKED received */
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
    uint64_t load_seq; /* version of the datasets that it has */
    gbx_worker_state state;
    int64_t asked_ns; /* when its FORK was sent */
    int channel;      /* non-blocking; -1 until forked */
    int pidfd;
    int status_fd;       /* /proc/PID/status; -1 if /proc does not show it */
    pid_t pid;           /* in the host's pid namespace; 0: unknown */
    uint64_t rss_kib;    /* at READY */
    struct event *ready; /* waits for READY; owned by the supervisor */
    gbx_run *run;        /* while BUSY */
    bool has_exited;
    bool died_early;       /* its channel closed before READY */
    bool is_lost;          /* exited, but the exit status is unknown */
    gbx_shortage shortage; /* seen when the worker, or its template, was killed */
    gbx_msg_exited exit;
} gbx_worker;

typedef enum gbx_template_state {
    GBX_TEMPLATE_STARTING, /* CONFIG sent, HELLO not received */
    GBX_TEMPLATE_LOADING,  /* LOADs sent, not all answered */
    GBX_TEMPLATE_SERVING,
    GBX_TEMPLATE_RETIRED, /* gets no more FORKs; ends with its last worker */
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
    struct event *ended; /* waits for its end after a kill */
    gbx_buf in;
    int fds[8]; /* received, not yet used by a frame; -1: lost */
    size_t fd_count;
    uint64_t forks;
    uint32_t workers; /* alive, or their end is not yet reported */
    uint32_t loads_pending;
    uint64_t ready_rss_kib;   /* resident memory of its workers at READY */
    uint64_t ready_load_seq;  /* load_seq of ready_rss_kib; supervisor thread */
    bool was_useful;          /* one of its workers became READY */
    uint32_t function_serial; /* of the last function that its CONFIG names */
    uint64_t content_seq;     /* version of the preloads and datasets it has */
    bool is_renewal;          /* a thread in loader.c waits for it */
    bool is_cold;             /* not warmed up, and soon replaced: template.c */
    uint64_t replaced_bytes;  /* of datasets replaced in it: memory it cannot reuse */
    int64_t born_ns;
} gbx_template;

#define GBX_ENGINE_NAME_SIZE 64

/* Contents of the last HELLO, for the report. */
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

/* The change that a thread waits for; one at a time. */
typedef struct gbx_change {
    enum {
        GBX_CHANGE_START, /* the first template serves */
        GBX_CHANGE_NONE,
        GBX_CHANGE_UPDATE,  /* the serving template takes one more dataset or function;
                               it does not fork meanwhile */
        GBX_CHANGE_RENEWAL, /* a new template serves, with the engine's new contents */
    } kind;
    bool is_started; /* RENEWAL: its template has been started */
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
    gbx_runner runner; /* name NULL: our own processes */
    void *runner_library;
    gbx_cgroup group; /* of all templates and workers, where available */
    uint64_t kills; /* without a group: the machine's out-of-memory kills seen so far */
    int64_t kills_ns;      /* when they were counted; 0: never */
    gbx_guard_cache known; /* code that the guard has passed; has its own lock */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* signals rare events: a start, a load, the end */
    pthread_t thread;
    struct event_base *base;
    struct event *wake;
    struct event *tick;
    struct event *pause; /* fires when calls have paused: time to fill the pool */
    int wake_fd;
    uint32_t executing; /* threads inside gbx_execute(), and drives not yet freed */
    bool is_closing;
    char machine[65]; /* this one, if it runs calls of others; or "" */
    bool is_spawning; /* a template is being started; not in the list yet */
    gbx_engine_facts facts;
    char worker_uids[GBX_WORKER_UIDS_SIZE]; /* for templates; "" before the first one */
    gbx_template *templates;
    gbx_template *current;  /* the one that forks workers; NULL while none serves */
    bool lost_spare;        /* one that was forked ahead has died: take no other */
    uint32_t failed_starts; /* in a row: templates without one READY worker */
    int64_t retry_ns;       /* no new template before this time */
    char lack[200];         /* why no worker was made since the last READY, or "" */
    uint32_t wasted;        /* workers in a row that ended before they got a call */
    int64_t fork_ns;        /* no FORK before this time */
    LIST_HEAD(, gbx_worker) workers;
    uint32_t alive;    /* entries of workers */
    uint32_t coming;   /* FORKING or STARTING, with the current datasets */
    uint32_t kept;     /* number of ready workers to keep; at most pool_size */
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
    gbx_dataset *preloads;         /* their sources, in order */
    struct gbx_snapshot *contents; /* with leases: what a template elsewhere has */
    uint64_t content_seq; /* changes when only a new template can have the contents */
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

/* Time after an answer that is left to its caller before the pool is filled. */
#define GBX_PAUSE_NS (INT64_C(400) * 1000)

#define GBX_ENGINE_MAGIC 0x67627845u

/* ---- state.c: the lowest layer of this folder ------------------------------ */

typedef struct gbx_layer_info {
    const char *name;
    const char *what; /* it takes away */
    bool is_required;
} gbx_layer_info;

/* The layers of the seal, by their number. */
extern const gbx_layer_info gbx_layers[GBX_LAYER_COUNT];

/* Check this before anything else: a child of fork() shares the sockets of its parent's
 * workers, and may have inherited locks that will never be released. */
bool gbx_engine_is_ours(const gbx_engine *engine);

/* Fails if engine is NULL or not ours. */
gbx_status gbx_engine_need(const gbx_engine *engine, gbx_error *reterr);

/* The JavaScript engine of its workers, with its version. */
void gbx_engine_name(gbx_engine *engine, char ret[GBX_ENGINE_NAME_SIZE]);

/* Wake the supervisor. */
void gbx_engine_wake(gbx_engine *engine);

/* True if calls of this engine run on other machines. */
static inline bool gbx_engine_leases(const gbx_engine *engine)
{
    return engine->runner.lease != NULL;
}

/* True while a thread changes datasets, preloads or functions. The lock is held. */
bool gbx_engine_is_loading(const gbx_engine *engine);

/* True while a change of this kind is not done. The lock is held. */
bool gbx_change_is_open(const gbx_engine *engine, int kind);

/* End the open change if it is about this template (NULL: it could not be started), and
 * wake the thread that waits. error: NULL or GBX_OK on success. The lock is held. */
void gbx_change_end(gbx_engine *engine, const gbx_template *t, const gbx_error *error);

/* Lists of runs; the caller of all of these holds the lock. */

void gbx_queues_init(gbx_engine *engine);

/* Add the run to engine->running, or remove it. */
void gbx_queue_link(gbx_engine *engine, gbx_run *run);
void gbx_queue_unlink(gbx_engine *engine, gbx_run *run);

/* Record in engine->lack why no worker could be made; error: an errno, or 0. */
void gbx_queue_lacks(gbx_engine *engine, const char *what, int error);

/* In engine->waiting or engine->inbox. */
void gbx_queue_add(gbx_run_list *list, gbx_run *run);
void gbx_queue_remove(gbx_run_list *list, gbx_run *run);
gbx_run *gbx_queue_pop(gbx_run_list *list);

/* End the oldest waiting run for this reason; lack: the reason in words, or "". False
 * if none waits. */
bool gbx_queue_fail_first(gbx_engine *engine, gbx_end how, const char *lack);

/* No template is available: waiting runs will get no worker. */
void gbx_queue_fail_all(gbx_engine *engine);

/* ---- pool.c: workers; the caller of all of these holds the lock ---------- */

/* Free a worker whose end is known, or whose engine ends. Its template still exists. */
void gbx_pool_forget(gbx_engine *engine, gbx_worker *worker);

/* The run is over: kill its worker, which is freed when its end is reported. */
void gbx_pool_release(gbx_engine *engine, gbx_worker *worker);

/* Keep fewer ready workers if no call has come for a while; kill the others. */
void gbx_pool_trim(gbx_engine *engine);

/* Give the run a worker, put it into the queue, or set run->unserved to the reason why
 * it gets none. */
void gbx_queue_enter(gbx_engine *engine, gbx_run *run);

/* Request as many forks as the pool and the queue need. */
void gbx_pool_fill(gbx_engine *engine);

/* The same, but while a few calls come and go and ready workers suffice, it waits for a
 * pause between calls. Supervisor thread only. */
void gbx_pool_fill_in_pauses(gbx_engine *engine);

/* The same, for a run that took one of the last workers. Takes the lock itself. */
void gbx_pool_fill_for(gbx_run *run);

gbx_worker *gbx_pool_find(gbx_engine *engine, uint64_t worker_id);

/* The worker sent READY: give it to the first waiting run, or put it in the pool. */
void gbx_pool_ready(gbx_engine *engine, gbx_worker *worker);

/* A worker has ended; exit: how, or NULL if unknown. */
void gbx_pool_exited(gbx_engine *engine, gbx_worker *worker,
                     const gbx_msg_exited *exit);

/* Kill a worker that did not become READY; no run has it. */
void gbx_pool_discard(gbx_engine *engine, gbx_worker *worker);

/* Kill idle workers whose datasets are not the engine's current ones. */
void gbx_pool_discard_stale(gbx_engine *engine);

/* ---- template.c: supervisor thread only ------------------------------------ */

/* Start a template; it becomes current when it serves. The lock is not held. */
gbx_status gbx_template_start(gbx_engine *engine, gbx_error *reterr);

/* Free retired templates without workers, and dead ones. The lock is not held. */
void gbx_template_sweep(gbx_engine *engine);

/* Kill it and everything it forked, and free it. The lock is not held. */
void gbx_template_end(gbx_template *t);

/* At every tick: kill templates that have not answered a FORK in time. That also ends
 * the calls of their workers, so the timeout is far above any delay of a loaded
 * machine. The lock is not held. */
void gbx_watch_templates(gbx_engine *engine);

/* ---- control.c: supervisor thread only, except sending ---------------------- */

/* Read and handle what has arrived. False if a frame is not valid or the template has
 * ended: end it. The lock is not held. */
bool gbx_control_read(gbx_template *t);

/* Handle every whole frame in t->in, with the descriptors in t->fds. False if one is
 * not valid: end the template. */
bool gbx_control_take_frames(gbx_template *t);

/* Send the template the name of a function. */
bool gbx_template_send_expose(gbx_template *t, const char *name);

/* Send the template a dataset; before its HELLO, a preload. */
bool gbx_template_send_load(gbx_template *t, const gbx_dataset *dataset);

/* The template gets no more FORKs, and ends with its last worker. The lock is held. */
void gbx_template_retire(gbx_template *t);

/* Decode a HELLO. GBX_E_PROTOCOL: it is malformed. After any other failure, which is
 * the program's reason for not serving, ret->version is set. Any thread. */
gbx_status gbx_hello_read(gbx_span body, gbx_msg_hello *ret, gbx_error *reterr);

/* ---- program.c: why the worker program failed -------------------------------- */

#define GBX_SAID_SIZE 301

/* The first line of the worker program's error output before it was ready, made
 * printable; "" without output. If the loader did not find a shared library, names the
 * library and its Debian package instead. Returns `to`. */
const char *gbx_worker_said(const void *data, size_t len, bool is_bundled,
                            char to[GBX_SAID_SIZE]);

/* The worker program ended before it was ready: fails with its own message, or else
 * with the likely cause. */
gbx_status gbx_worker_died_early(const gbx_spawned *process, gbx_error *reterr);

/* ---- loader.c ------------------------------------------------------------------ */

/* Copy the preloads of the options. */
gbx_status gbx_loader_preloads_init(gbx_engine *engine, gbx_error *reterr);

/* Put contents of another machine into the engine's lists. Descriptors are duplicated. */
gbx_status gbx_loader_contents_init(gbx_engine *engine, const gbx_contents *contents,
                                    gbx_error *reterr);

/* GBX_E_USAGE unless a dataset of that name exists; for "*", any. Takes the lock. */
gbx_status gbx_loader_find(gbx_engine *engine, const char *name, gbx_error *reterr);

void gbx_loader_free_all(gbx_dataset **list);

/* ---- contents.c ------------------------------------------------------------------ */

/* What a template for a call of this engine must have, as it was at one moment. */
typedef struct gbx_snapshot {
    gbx_contents pub; /* first: what a runner sees */
    unsigned holders; /* the engine and leases; under the engine's lock */
    gbx_content items[];
} gbx_snapshot;

/* Of an engine with leases: make what is in its lists its contents. If asks, the runner
 * first finds out whether a template can have them. The lock is held, but not meanwhile. */
gbx_status gbx_contents_renew(gbx_engine *engine, bool asks, gbx_error *reterr);

/* NULL is ignored. The lock is held, or nobody else has the engine. */
void gbx_snapshot_drop(gbx_snapshot *snapshot);

/* ---- lease.c --------------------------------------------------------------------- */

/* A run with a lease is pumped like any other, but its worker has neither a process nor a
 * channel here: the runner's functions take and give the bytes, and wake the driver. What
 * it passes on is as hostile as a worker, and so is its report of the end. No function of
 * the runner is called with the engine's lock held; wake() takes it. */

typedef struct gbx_leased {
    gbx_lease pub;     /* first: what the runner sees */
    gbx_worker worker; /* the run's */
    gbx_run *run;      /* it waits until the runner has taken bytes */
} gbx_leased;

/* Ask for a worker, for a queued run. SAID, or why none can be had. */
gbx_end gbx_lease_begin(gbx_run *run);

/* Give it back, if the run has one. */
void gbx_lease_release(gbx_run *run);

/* As send() and recv() on a channel that does not block. */
ssize_t gbx_lease_send(gbx_run *run, gbx_span bytes);
ssize_t gbx_lease_recv(gbx_run *run, void *to, size_t size);

/* How the worker has ended, after gbx_lease_recv() has returned 0. */
gbx_end gbx_lease_end(gbx_run *run);

/* Request the end of the worker; false if the run has none elsewhere. */
bool gbx_lease_cancel(gbx_run *run);

/* Evidence and cost, as the worker's machine reports them. */
void gbx_lease_measure(gbx_run *run, gbx_evidence *evidence);

/* ---- execute.c --------------------------------------------------------------------- */

/* Makes a run that is initialized a relay's. */
typedef gbx_status gbx_attach_fn(gbx_relay *relay, gbx_run *run, gbx_error *reterr);

/* gbx_drive_new(); for a relay if attach is not NULL. */
gbx_status gbx_drive_open(gbx_engine *engine, const gbx_call *call,
                          gbx_attach_fn *attach, gbx_relay *relay,
                          gbx_drive **ret_drive, gbx_error *reterr);

/* ---- engine.c ------------------------------------------------------------------ */

/* gbx_engine_new(); with contents, for calls of other machines that need these, and
 * with nothing behind its names. */
gbx_status gbx_engine_start(const gbx_options *options, const gbx_contents *contents,
                            gbx_engine **ret_engine, gbx_error *reterr);

/* ---- supervisor.c ---------------------------------------------------------- */

gbx_status gbx_supervisor_start(gbx_engine *engine, gbx_error *reterr);

/* ---- replayer.c ------------------------------------------------------------ */

/*
 * Replays a call: every answer comes from its recording.
 *
 * No function or capability of the host is ever called. Each message of the worker is
 * compared with the recorded one; the first difference ends the call.
 */

/* For a run with call.replay: takes the call from the recording, and answers the run
 * from then on. Call before its limits are resolved and its code is checked. */
gbx_status gbx_replayer_begin(gbx_run *run, gbx_error *reterr);

/* ---- replay_check.c -------------------------------------------------------------- */

/* Turns usage errors into GBX_E_DATA: a replay's parameters are the recording's. */
gbx_status gbx_replay_as_data(gbx_status status, gbx_error *reterr);

/* Fails unless this engine has what the recorded call had. */
gbx_status gbx_replay_check(const gbx_run *run, const gbx_record_head *head,
                            gbx_error *reterr);

#endif

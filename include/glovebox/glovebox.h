/* SPDX-License-Identifier: MIT */
#ifndef GLOVEBOX_H
#define GLOVEBOX_H

/**
 * @file glovebox.h
 * Run untrusted JavaScript next to data that must not leak.
 *
 * The general pattern of use:
 *   1. make an engine with gbx_engine_new();
 *   2. optionally give it datasets with gbx_engine_load();
 *   3. run code with gbx_execute(), which blocks, or gbx_submit(), which does not;
 *   4. read the gbx_result, free it with gbx_result_free();
 *   5. end the engine with gbx_engine_free().
 *
 * Every call runs in a process of its own. That process is forked ahead of time, sealed
 * by the kernel before it reads a byte of the call, and killed after its one result.
 * The library contains no JavaScript engine; `glovebox-worker` does.
 *
 * Threads: many threads may use one engine at once, but only one at a time may use a
 * result. Each engine has one thread, and a second one if slow work such as reading
 * files needs it. Both block every signal; the library installs no signal handler. An
 * engine has one child process, the template, which a host may reap. A child of fork()
 * must make its own engines: its parent's return GBX_E_USAGE, and it cannot end them.
 *
 * Two kinds of failure never mix. A negative gbx_status says that the HOST could not do
 * its part; the gbx_code of a result says how the CODE ended.
 *
 * Structures for options begin with struct_size: use the initialiser macro, then set
 * what differs. Zero in any other field means the documented default. Fields missing
 * from a shorter structure have their defaults; the unknown tail of a longer one must
 * be zero.
 */

#include <glovebox/status.h>
#include <glovebox/version.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#    define GBX_API      __attribute__((visibility("default")))
#    define GBX_MUST_USE __attribute__((warn_unused_result))
#else
#    define GBX_API
#    define GBX_MUST_USE
#endif

/** Bytes in gbx_error.message, its NUL included. */
#define GBX_ERROR_MESSAGE_SIZE 512

/** What went wrong on the host's side. Caller-owned; filled on failure only. */
typedef struct gbx_error {
    gbx_status status; /**< what the function returned */
    int os_errno;      /**< errno of the failed system call, or 0 */
    uint32_t line;     /**< in the offending input, from 1; 0: no position */
    uint32_t column;   /**< in characters, from 1; 0: no position */
    char message[GBX_ERROR_MESSAGE_SIZE]; /**< lower case, one line, ends in NUL */
} gbx_error;

/** One policy, one set of datasets, one pool of workers. */
typedef struct gbx_engine gbx_engine;

/** What sandboxed code may reach; see policy.h. */
typedef struct gbx_policy gbx_policy;
/** Makes HTTP requests in place of the library; see fetch.h. */
typedef struct gbx_fetch_transport gbx_fetch_transport;
/** A record of what one call received from its host; see record.h. */
typedef struct gbx_recording gbx_recording;
/** A script that the host provides; see preload.h. */
typedef struct gbx_preload gbx_preload;

/** How one call ended, with its value, logs and cost. */
typedef struct gbx_result gbx_result;

/** The violations that the guard found in a piece of code. */
typedef struct gbx_report gbx_report;

/** A switch that aborts the calls that use it. */
typedef struct gbx_signal gbx_signal;

/** Identifies a submitted call; never reused within an engine, never 0. */
typedef uint64_t gbx_ticket;

/** How the code is written, which decides how it is called. In every form, "export" is
 *  removed, and so are TypeScript types that can be erased. */
typedef enum gbx_form {
    GBX_FORM_FUNCTION = 0, /**< one function expression, called with the input */
    GBX_FORM_EXECUTE = 1,  /**< declarations that define execute(input) or run(input) */
    GBX_FORM_BODY = 2, /**< the body of an async function; sees params, env, context */
    GBX_FORM_SCRIPT = 3, /**< statements, top-level await; the value is the returned or
                              last one, or that of a last function, run() or main() */
} gbx_form;

/** What to do if a layer of the seal is not available on this machine. */
typedef enum gbx_require {
    GBX_REQUIRE_DEFAULT = 0, /**< needs seccomp, no_new_privs and rlimits */
    GBX_REQUIRE_STRICT = 1,  /**< needs every layer; JIT off unless named */
} gbx_require;

/** How much of the engine's just-in-time compiler runs. */
typedef enum gbx_jit {
    GBX_JIT_DEFAULT = 0,  /**< full, or off with GBX_REQUIRE_STRICT */
    GBX_JIT_FULL = 1,     /**< every tier */
    GBX_JIT_BASELINE = 2, /**< without the optimising tiers, which have most bugs */
    GBX_JIT_OFF = 3,  /**< interpreter only: no writable and executable page exists */
    GBX_JIT_LONG = 4, /**< for calls of seconds: optimises early, omits the last tier */
} gbx_jit;

/** Which globals the code finds. */
typedef enum gbx_globals {
    GBX_GLOBALS_STANDARD = 0, /**< all of ECMAScript but what the lockdown removes */
    GBX_GLOBALS_MINIMAL = 1,  /**< the 28 names of the manual, plus capabilities */
} gbx_globals;

/** Where a call's process comes from. */
typedef enum gbx_fresh {
    GBX_FRESH_FORK = 0, /**< a fork of the template: about 0.1 ms, shared layout */
    GBX_FRESH_EXEC = 1, /**< a new template for each call: about 20 ms, own layout */
} gbx_fresh;

/** Where an engine's first template comes from. */
typedef enum gbx_zygote {
    GBX_ZYGOTE_ON = 0, /**< a fork of a warm process that all engines of a host share */
    GBX_ZYGOTE_OFF = 1, /**< an executed program, with its own address layout */
} gbx_zygote;

/** Limits on speculative execution in workers, where the kernel supports them. */
typedef enum gbx_speculation {
    GBX_SPECULATION_DEFAULT = 0, /**< the kernel's default for programs */
    GBX_SPECULATION_GUARDED = 1, /**< no store bypass, no indirect branches; slower */
} gbx_speculation;

/** Bits of gbx_options.capabilities. */
typedef enum gbx_capability {
    GBX_CAP_CONSOLE = 1, /**< console.log and friends, captured */
    GBX_CAP_TIMERS = 2,  /**< setTimeout, setInterval, their clears, and sleep */
    GBX_CAP_FETCH = 4,   /**< fetch, to the sites that the policy lists */
    GBX_CAP_FILE = 8, /**< fs.readFile, below the directories that the policy lists */
    GBX_CAP_CRYPTO = 16, /**< hashes and message authentication codes */
    GBX_CAP_ENV = 32,    /**< env, the values that the policy lists */
    GBX_CAP_HELPERS =
        64, /**< URL, structuredClone ...: on, unless a policy turns them off */
    GBX_CAP_NONE = 256, /**< no capability: its own bit, as 0 means the default */
} gbx_capability;

/**
 * Limits on one call. Zero means the engine's limit; in the engine's options it means
 * the default. No limit can be switched off.
 */
typedef struct gbx_limits {
    size_t struct_size;    /**< sizeof(gbx_limits) in the caller's build */
    uint32_t timeout_ms;   /**< wall clock; default 5000, at most 600000 */
    uint32_t cpu_ms;       /**< processor time; default: timeout_ms */
    uint64_t memory_bytes; /**< growth over the template; default 128 MiB, from 8 MiB
                                to 4 GiB */
    uint64_t output_bytes; /**< value as JSON; default 1048576, at most 256 MiB */
    uint32_t code_bytes;   /**< default 65536 (form script: 51200), at most 1 MiB */
    uint32_t log_bytes; /**< console text of one call; default 10 MiB, at most 64 MiB */
    uint32_t host_calls;         /**< calls of host functions; default 10000 */
    uint32_t host_calls_at_once; /**< more of them wait in the worker; default 256 */
    uint64_t host_out_bytes;     /**< all arguments; default 16 MiB, at most 1 GiB */
    uint64_t host_in_bytes;      /**< all answers; default 64 MiB, at most 1 GiB */
    uint64_t reserved[8];        /**< zero: room to grow inside gbx_options */
} gbx_limits;

/* clang-format off */
#define GBX_LIMITS_INIT {sizeof(gbx_limits), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}}
/* clang-format on */

/** One event of an engine; all pointers are borrowed until the callback returns. */
typedef struct gbx_event {
    const char *name;    /**< constant: "worker.killed", "protocol.violation", ... */
    gbx_ticket call;     /**< the call it belongs to, or 0 */
    const char *detail;  /**< one line of UTF-8 without control characters; may be "" */
    uint64_t time_ms;    /**< wall clock, since 1970 */
    const char *call_id; /**< the call's name in the security log, or "" */
} gbx_event;

/**
 * Called on the engine's thread or on a thread inside gbx_execute(). Must not block and
 * must not call into the same engine. The last call comes inside gbx_engine_free().
 */
typedef void (*gbx_event_fn)(void *user, const gbx_event *event);

/**
 * One line of the security log: one JSON object and a newline, then NUL. The text
 * cannot break the line or control a terminal, so write(fd, line, len) keeps a log.
 * Borrowed until the callback returns. docs/internals/security-log.md describes the
 * lines.
 *
 * Called like gbx_event_fn, and also on threads inside gbx_submit(). Several threads
 * may call it at once; no lock is held. The lines of one call come in order; "seq"
 * orders all lines.
 */
typedef void (*gbx_audit_fn)(void *user, const char *line, size_t len);

/** Severity of one console line. */
typedef enum gbx_log_level {
    GBX_LOG_DEBUG = 0,
    GBX_LOG_LOG = 1,
    GBX_LOG_INFO = 2,
    GBX_LOG_WARN = 3,
    GBX_LOG_ERROR = 4,
} gbx_log_level;

/** One console line; text is UTF-8 written by the code: hostile. */
typedef struct gbx_log {
    gbx_log_level level;
    double time_ms;   /**< since the call began, by the host's clock */
    const char *text; /**< ends in NUL; may contain any character but NUL */
    size_t text_len;  /**< bytes, without the NUL */
} gbx_log;

/**
 * Receives console lines live, in order, before the result. Called on the thread that
 * drives the call (gbx_execute(): the caller's; gbx_submit(): the engine's). Must not
 * block on the same engine; may call gbx_abort() and gbx_signal_abort().
 */
typedef void (*gbx_log_fn)(void *user, const gbx_log *log);

/** Where a runner stores the outcome of a call. */
typedef struct gbx_outcome gbx_outcome;

/** Where calls execute; see runner.h. */
typedef struct gbx_runner gbx_runner;

/** How to make an engine. The total_* options limit all of its processes together.
 *  They need a delegated control group; without one the engine fails with
 *  GBX_E_UNSUPPORTED. */
typedef struct gbx_options {
    size_t struct_size;       /**< sizeof(gbx_options) in the caller's build */
    gbx_limits limits;        /**< defaults of every call, and its upper bounds */
    uint32_t pool_size;       /**< ready workers, double in bursts; 5, at most 64 */
    uint32_t max_workers;     /**< workers alive at once; default 64, at most 1024 */
    uint32_t queue_length;    /**< calls waiting for a worker; default 1024 */
    gbx_require require;      /**< what to do about missing layers */
    gbx_jit jit;              /**< just-in-time compilation */
    gbx_globals globals;      /**< the realm's globals */
    gbx_fresh fresh;          /**< fork or exec */
    uint32_t capabilities;    /**< gbx_capability bits; default console and timers */
    uint32_t recycle_calls;   /**< new template after this many forks; default 10000 */
    uint32_t recycle_ms;      /**< and after this time; default 600000 */
    const char *worker_path;  /**< or $GLOVEBOX_WORKER, next to us, installed; copied */
    const char *runner_name;  /**< "process" (default) or "memory"; copied */
    const gbx_runner *runner; /**< the embedder's runner, instead of a name; copied */
    gbx_event_fn on_event;    /**< may be NULL */
    void *event_user;   /**< passed to on_event; borrowed until the engine is freed */
    gbx_policy *policy; /**< what code may reach besides capabilities; the engine
                             keeps a reference; NULL: exposed functions only */
    const gbx_fetch_transport *transport; /**< for fetch; copied; NULL: the library's */
    gbx_audit_fn on_audit;                /**< receives the security log; may be NULL */
    void *audit_user; /**< passed to on_audit; borrowed until the engine is freed */
    uint32_t suspicious_refusals; /**< or kills, for "suspicious"; default 5, to 100 */
    uint32_t suspicious_ms;       /**< window, or one call; 60000, 1000 to 3600000 */
    const gbx_preload *preloads; /**< run in this order before the first call; copied */
    size_t preload_count;        /**< entries in preloads; at most 64 */
    uint64_t total_memory_bytes; /**< from 64 MiB; 0: what all workers may need */
    uint64_t total_cpu_percent;  /**< of one processor; 0: no limit */
    uint32_t huge_pages;         /**< 2 MiB pages for engine code; default 3, to 16 */
    uint32_t worker_uid; /**< user and group of a root host's workers; 0: a free one */
    gbx_speculation speculation; /**< GBX_E_UNSUPPORTED if not available */
    gbx_zygote zygote;           /**< whether engines share a warm start */
} gbx_options;

/* clang-format off */
#define GBX_OPTIONS_INIT {sizeof(gbx_options), GBX_LIMITS_INIT, 0, 0, 0, GBX_REQUIRE_DEFAULT, \
    GBX_JIT_DEFAULT, GBX_GLOBALS_STANDARD, GBX_FRESH_FORK, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, 0, 0, 0, 0, 0, GBX_SPECULATION_DEFAULT, GBX_ZYGOTE_ON}
/* clang-format on */

/** Bits of gbx_call.flags. */
typedef enum gbx_call_flag {
    GBX_CALL_SEEDED = 1,    /**< Math.random follows gbx_call.seed */
    GBX_CALL_FIXED_NOW = 2, /**< the clock is fixed at gbx_call.now_ms */
    GBX_CALL_NO_GUARD = 4,  /**< skip the structural check; the seal still protects */
    GBX_CALL_LENT = 8,      /**< gbx_submit() borrows all text until on_done */
    GBX_CALL_COMPILE = 16,  /**< compile in a worker and run nothing; no value */
} gbx_call_flag;

/** One call. Every pointer is borrowed until gbx_execute() or gbx_submit() returns,
 *  except signal, on_log, log_user, record and replay, which are borrowed until the
 *  call has ended. */
typedef struct gbx_call {
    size_t struct_size; /**< sizeof(gbx_call) in the caller's build */
    gbx_form form;      /**< how the code is written */
    uint32_t flags;     /**< gbx_call_flag bits */
    const char *code;   /**< UTF-8; need not end in NUL */
    size_t code_len;    /**< bytes */
    const char *input;  /**< one JSON value, UTF-8; NULL: the only dataset, else null */
    size_t input_len;   /**< bytes */
    const char *bindings;     /**< form body: a JSON object of named values, or NULL */
    size_t bindings_len;      /**< bytes */
    const gbx_limits *limits; /**< can only lower the engine's; NULL: the engine's */
    uint64_t seed;            /**< with GBX_CALL_SEEDED */
    int64_t now_ms;           /**< with GBX_CALL_FIXED_NOW; since 1970 */
    gbx_signal *signal;       /**< aborts the call; may be NULL */
    gbx_log_fn on_log;        /**< may be NULL */
    void *log_user;           /**< passed to on_log */
    gbx_policy *policy;       /**< narrower than the engine's; NULL: the engine's */
    gbx_recording *record;    /**< must be empty; gets filled; NULL: no recording */
    const gbx_recording *replay; /**< what to run instead of code; see record.h */
    const char *dataset; /**< name of a dataset, or "*" for all in one object. It is the
                              first argument (script: data) and input the second. Not
                              with form body */
} gbx_call;

/* clang-format off */
#define GBX_CALL_INIT {sizeof(gbx_call), GBX_FORM_FUNCTION, 0, NULL, 0, NULL, 0, NULL, 0, NULL, \
    0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL}
/* clang-format on */

/** What a call cost, measured by the host, never by the worker. */
typedef struct gbx_stats {
    double wall_ms;             /**< from dispatch to the end of the call */
    double cpu_ms;              /**< processor time of the worker */
    uint64_t peak_memory_bytes; /**< highest resident growth over the template */
    uint64_t input_bytes;       /**< JSON handed in */
    uint64_t output_bytes;      /**< JSON handed out */
    uint64_t log_bytes;         /**< console text */
    uint32_t host_calls;        /**< host functions called */
} gbx_stats;

/** A position in the caller's code; line and column from 1, column in characters. */
typedef struct gbx_location {
    uint32_t line;     /**< 0: unknown */
    uint32_t column;   /**< 0: unknown */
    const char *frame; /**< the line, its neighbours and a caret; "" if unknown */
} gbx_location;

/* ---- engine ------------------------------------------------------------- */

/**
 * Start an engine: its template process and the first workers.
 *
 * @param options    NULL for all defaults; copied.
 * @param ret_engine set on GBX_OK only; free with gbx_engine_free().
 * @param reterr     filled on failure only; may be NULL.
 *
 * @retval GBX_E_USAGE       an option is out of range; the message names it.
 * @retval GBX_E_UNSUPPORTED a required layer is missing, or the worker has another
 *                           version.
 * @retval GBX_E_OS          the worker program could not be started.
 */
GBX_API GBX_MUST_USE gbx_status gbx_engine_new(const gbx_options *options,
                                               gbx_engine **ret_engine,
                                               gbx_error *reterr);

/**
 * End an engine. Calls in flight end as ABORTED and their callbacks run; every process
 * of the engine has ended when this returns. No thread may be inside another call on
 * the engine, except gbx_execute(). Not from a callback of the same engine. NULL is
 * ignored.
 */
GBX_API void gbx_engine_free(gbx_engine *engine);

/**
 * End the zygote, the process that this host's engines are forked from, if it runs. It
 * would end ten seconds after the last engine was made. Engines are not affected, and
 * the next one may start it again. Any thread. The library's thread that starts it
 * remains, asleep, until the host ends.
 */
GBX_API void gbx_zygote_end(void);

/** The format of a dataset's text. */
typedef enum gbx_data_format {
    GBX_DATA_JSON = 0,   /**< one value */
    GBX_DATA_NDJSON = 1, /**< one value a line: an array of them */
    GBX_DATA_CSV = 2, /**< an array with an object for each record; the first line has
                              the names, and the delimiter is detected */
    GBX_DATA_TSV = 3, /**< the same, with tabs */

    /** Not with JSON. For a file that is being written: a last record without a line
        end is left out if it alone is at fault; datasets.NAME.isCut is then true. */
    GBX_DATA_UNFINISHED = 0x10,
    /** The same, and also if more text could continue that record. */
    GBX_DATA_GROWS = 0x20,
    /** With CSV and TSV: the first line is a record; columns are column_1, column_2 ... */
    GBX_DATA_NO_HEADER = 0x40,
    /** Malformed records are left out; datasets.NAME.skipped is their number. */
    GBX_DATA_SKIP_BAD = 0x80
} gbx_data_format;

/** With CSV and TSV, or'ed with the others: n lines before the table, at most 65535. */
#define GBX_DATA_SKIP_LINES(n) ((unsigned)(n) << 8)

/**
 * Load a dataset: parsed once, present in every later call as datasets.NAME,
 * pristine each time. Replaces one of the same name. Calls in flight keep what
 * they had. Blocks until the template has it. CSV is parsed by the template, in the
 * sandbox.
 *
 * @param name an identifier, at most 64 bytes; copied.
 * @param text in UTF-8; copied.
 * @param len  bytes.
 * @param format one of the formats, or'ed with the flags that apply to it.
 * @retval GBX_E_DATA not valid (the message says where), or too large for the machine.
 */
GBX_API GBX_MUST_USE gbx_status gbx_engine_load(gbx_engine *engine, const char *name,
                                                const char *text, size_t len,
                                                gbx_data_format format,
                                                gbx_error *reterr);

/**
 * Load rows of an SQLite database as a dataset. A separate process, sealed like a
 * worker, runs the query, which can only read. Changes that are still in the log (-wal)
 * are read as well. The rows are those of one moment, and no file is created. Takes at
 * most a minute and 512 MiB of memory, and needs libsqlite3.
 *
 * @param query NULL: all tables (at most 256), as an object with an array for each.
 *              Else one SELECT: an array of objects. Integers that a double cannot hold
 *              become text, and blobs base64.
 * @retval GBX_E_OS   the file cannot be opened.
 * @retval GBX_E_DATA not a database, or the query is at fault (with line and column);
 *                    with os_errno EBUSY another process writes: try again.
 */
GBX_API GBX_MUST_USE gbx_status gbx_engine_load_sqlite(gbx_engine *engine,
                                                       const char *name,
                                                       const char *path,
                                                       const char *query,
                                                       gbx_error *reterr);

/**
 * Describe the engine as one JSON object: runner, JIT level, versions, each layer of
 * the seal and whether it is in effect, pool figures.
 *
 * @param ret_json ends in NUL; owned by the caller, free with gbx_string_free().
 */
GBX_API GBX_MUST_USE gbx_status gbx_engine_report(gbx_engine *engine, char **ret_json,
                                                  gbx_error *reterr);

/* ---- calls -------------------------------------------------------------- */

/**
 * Run one call and wait for its end. Any number of threads may do so at once.
 *
 * @param ret_result set on GBX_OK only, whatever the code did; free with
 *                   gbx_result_free().
 * @retval GBX_E_USAGE  a field of @p call is out of range; nothing ran.
 * @retval GBX_E_POLICY the call's policy is wider than the engine's; nothing ran.
 * @retval GBX_E_NOMEM  nothing ran, or what ran was killed.
 * @retval GBX_E_CLOSED the engine is being freed.
 */
GBX_API GBX_MUST_USE gbx_status gbx_execute(gbx_engine *engine, const gbx_call *call,
                                            gbx_result **ret_result, gbx_error *reterr);

/**
 * Receives the end of a submitted call, exactly once, on the engine's thread, also
 * when the engine is freed. The result is owned by the callee from now on. Must not
 * block; may submit and abort, must not execute, load or free the engine.
 */
typedef void (*gbx_done_fn)(void *user, gbx_ticket ticket, gbx_result *result);

/**
 * Start one call and return at once.
 *
 * @param ret_ticket set on GBX_OK only; names the call for gbx_abort(). May be NULL.
 *                   It is written before @p on_done can run.
 */
GBX_API GBX_MUST_USE gbx_status gbx_submit(gbx_engine *engine, const gbx_call *call,
                                           gbx_done_fn on_done, void *user,
                                           gbx_ticket *ret_ticket, gbx_error *reterr);

/**
 * Abort one submitted call: its process is killed, its result is ABORTED. Any thread,
 * any number of times; it does nothing after the call has ended.
 */
GBX_API void gbx_abort(gbx_engine *engine, gbx_ticket ticket);

/** A switch not yet thrown, or NULL if memory is out. */
GBX_API gbx_signal *gbx_signal_new(void);

/** Throw the switch: every call that has it ends as ABORTED, and calls started with
 *  it later use no worker. Any thread; idempotent; not from a signal handler. */
GBX_API void gbx_signal_abort(gbx_signal *signal);

/** Free a switch that no call uses any more. NULL is ignored. */
GBX_API void gbx_signal_free(gbx_signal *signal);

/* ---- results ------------------------------------------------------------ */

/** How the call ended. */
GBX_API gbx_code gbx_result_code(const gbx_result *result);

/** The value as JSON, in UTF-8, ending in NUL; "" unless the code is VALUE and the value
 *  is not undefined. Borrowed until gbx_result_free(). @p ret_len may be NULL. */
GBX_API const char *gbx_result_value(const gbx_result *result, size_t *ret_len);

/** The error in one line, for the code's author, e.g. "TypeError: x is not a function";
 *  "" on success. UTF-8; the code writes parts of it: hostile. Borrowed. */
GBX_API const char *gbx_result_error(const gbx_result *result);

/** What was thrown, or why the code does not compile; "" if neither. Hostile.
 *  Borrowed. */
GBX_API const char *gbx_result_thrown_name(const gbx_result *result);
GBX_API const char *gbx_result_thrown_message(const gbx_result *result);

/** How to repair the code, or "". For a script without a value: which function it may
 *  have meant to call. Borrowed. */
GBX_API const char *gbx_result_hint(const gbx_result *result);

/** The JavaScript stack, the code's own frames only, or "". Borrowed. */
GBX_API const char *gbx_result_stack(const gbx_result *result);

/** Where the error happened in the caller's code. */
GBX_API gbx_location gbx_result_location(const gbx_result *result);

/** Console lines, in order. @p index counts from 0 below gbx_result_log_count(). */
GBX_API size_t gbx_result_log_count(const gbx_result *result);
GBX_API gbx_log gbx_result_log(const gbx_result *result, size_t index);

/** 1 if console text was cut at limits.log_bytes. */
GBX_API int gbx_result_logs_truncated(const gbx_result *result);

/** The cost of the call. */
GBX_API gbx_stats gbx_result_stats(const gbx_result *result);

/** The call's name in the security log and in events, "9f3a61c2-17": eight digits
 *  for the engine, then the call's ticket. The code never sees it. Borrowed. */
GBX_API const char *gbx_result_call_id(const gbx_result *result);

/** The whole result as one JSON object, ending in NUL; borrowed. NULL: no memory. */
GBX_API const char *gbx_result_json(gbx_result *result, size_t *ret_len);

/** NULL is ignored. */
GBX_API void gbx_result_free(gbx_result *result);

/* ---- the guard ---------------------------------------------------------- */

/**
 * Check code without running it: no engine, no process. The syntax of code that may be
 * TypeScript is not checked here, but where it runs.
 *
 * @param limits     only code_bytes is used; NULL for the default.
 * @param ret_report set on GBX_OK, whatever was found; free with gbx_report_free().
 */
GBX_API GBX_MUST_USE gbx_status gbx_check(const char *code, size_t code_len,
                                          gbx_form form, const gbx_limits *limits,
                                          gbx_report **ret_report, gbx_error *reterr);

/** One thing that must be repaired; pointers are borrowed from the report. */
typedef struct gbx_violation {
    gbx_code code;       /**< INVALID_CODE or SYNTAX */
    uint32_t line;       /**< from 1 */
    uint32_t column;     /**< in characters, from 1 */
    const char *rule;    /**< constant name: "require", "eval", "form", "size", ... */
    const char *message; /**< what is wrong */
    const char *hint;    /**< what to do, or "" */
    const char *frame;   /**< the lines around it */
} gbx_violation;

GBX_API size_t gbx_report_count(const gbx_report *report);
GBX_API gbx_violation gbx_report_get(const gbx_report *report, size_t index);
GBX_API void gbx_report_free(gbx_report *report);

/* ---- names -------------------------------------------------------------- */

/** "GBX_E_USAGE" and the like; never NULL. */
GBX_API const char *gbx_status_name(gbx_status status);
/** "TIMEOUT" and the like; "OK" for GBX_CODE_VALUE; never NULL. */
GBX_API const char *gbx_code_name(gbx_code code);
/** What the code means, in one line; never NULL. */
GBX_API const char *gbx_code_text(gbx_code code);
/** The exit status of the glovebox command for this code. */
GBX_API int gbx_code_exit(gbx_code code);
/** "function", "execute", "body" or "script"; never NULL. */
GBX_API const char *gbx_form_name(gbx_form form);
/** GBX_VERSION of the library that is loaded. */
GBX_API const char *gbx_version(void);
/** Free a string that the library returned. NULL is ignored. */
GBX_API void gbx_string_free(char *string);

#ifdef __cplusplus
}
#endif

#include <glovebox/runner.h>

#endif

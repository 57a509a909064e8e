/* SPDX-License-Identifier: MIT */
/*
 * addon - the library for one JavaScript thread.
 *
 * Whatever happens on other threads (a call ended, a function is called, a line was
 * written) is an event: posted from any thread, and delivered on the JavaScript thread
 * in the order of posting. One turn delivers many waiting events, but only for a short
 * time: then other work of the event loop goes first. When the JavaScript thread ends,
 * the addon waits for its threads, ends the engines, and drops undelivered events.
 */
#ifndef GBX_NODE_SRC_ADDON_H
#define GBX_NODE_SRC_ADDON_H

#include <glovebox/fetch.h>
#include <glovebox/glovebox.h>
#include <glovebox/host.h>
#include <glovebox/policy.h>
#include <glovebox/preload.h>
#include <node_api.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The functions for JavaScript: XX(its name, the C name after gbx_node_). */
#define GBX_NODE_FUNCTION_MAP(XX)   \
    XX("open", open)                \
    XX("close", close)              \
    XX("load", load)                \
    XX("loadSqlite", load_sqlite)   \
    XX("preload", preload)          \
    XX("report", report)            \
    XX("expose", expose)            \
    XX("submit", submit)            \
    XX("callOf", call_of)           \
    XX("abort", abort)              \
    XX("answer", answer)            \
    XX("answerError", answer_error) \
    XX("answerFetch", answer_fetch) \
    XX("check", check)              \
    XX("proper", proper)            \
    XX("explain", explain)          \
    XX("advise", advise)            \
    XX("gather", gather)            \
    XX("append", append)            \
    XX("drain", drain)              \
    XX("hold", hold)

#define XX(name, function) \
    napi_value gbx_node_##function(napi_env env, napi_callback_info info);
GBX_NODE_FUNCTION_MAP(XX)
#undef XX

/* ---- text.c -------------------------------------------------------------- */

/* NUL-terminated UTF-8. Short texts are not allocated: do not copy the structure. */
typedef struct gbx_node_text {
    char *data; /* NULL: the value was undefined */
    size_t len;
    char room[2048];
} gbx_node_text;

/* False, with an exception thrown, if the value is neither a string nor undefined. */
bool gbx_node_text_take(napi_env env, napi_value value, gbx_node_text *ret);
void gbx_node_text_cleanup(gbx_node_text *text);

/* The same in allocated memory, for free(). NULL with an exception pending on failure;
 * NULL without one: undefined. */
char *gbx_node_string(napi_env env, napi_value value, size_t *ret_len);

/* The property, if it is a number (u64: not negative); else *ret is unchanged. */
bool gbx_node_get_number(napi_env env, napi_value object, const char *name,
                         double *ret);
void gbx_node_get_u64(napi_env env, napi_value object, const char *name, uint64_t *ret);

/* True only if the property is true. */
bool gbx_node_get_bool(napi_env env, napi_value object, const char *name);

bool gbx_node_is_undefined(napi_env env, napi_value value);

/* A value that cannot be made becomes undefined: at worst JavaScript gets less. */
napi_value gbx_node_undefined(napi_env env);
napi_value gbx_node_boolean(napi_env env, bool value);
napi_value gbx_node_number(napi_env env, double value);
napi_value gbx_node_utf8(napi_env env, const char *text, size_t len);

/* The arguments of a function that JavaScript calls; missing ones are undefined. */
bool gbx_node_args(napi_env env, napi_callback_info info, size_t count,
                   napi_value *ret);

/* Throw the library's error: wrong use as TypeError, else as Error; .code is the
 * status' name. */
void gbx_node_throw(napi_env env, const gbx_error *error);

/* A gather is a large text that JavaScript passes piece by piece, so that none holds up
 * the event loop. Moves the text out, for free(); NULL with an exception thrown. */
char *gbx_node_gather_take(napi_env env, napi_value value, size_t *ret_len);

/* ---- env.c: one JavaScript thread ---------------------------------------- */

struct gbx_node_engine;
typedef struct gbx_node_env gbx_node_env;
typedef struct gbx_node_event gbx_node_event;

/* The first member of every structure that is posted. */
struct gbx_node_event {
    gbx_node_event *next;
    /* Report to the dispatcher. Only on the JavaScript thread, inside a handle scope.
     * False: it has more to report, and is called again later. */
    bool (*tell)(gbx_node_event *event, gbx_node_env *e, napi_env env);
    /* Always called once, after the last tell or instead of it. */
    void (*drop)(gbx_node_event *event);
};

/* Figures of the result that is being reported. The dispatcher reads them from a shared
 * array: seven values fewer to make for each call. */
enum {
    GBX_NODE_WALL_MS,
    GBX_NODE_CPU_MS,
    GBX_NODE_PEAK_MEMORY,
    GBX_NODE_INPUT,
    GBX_NODE_OUTPUT,
    GBX_NODE_LOG,
    GBX_NODE_HOST_CALLS,
    GBX_NODE_TICKET,
    GBX_NODE_FIGURES
};

struct gbx_node_env {
    napi_env env;
    napi_threadsafe_function wake;
    napi_ref dispatch;
    napi_ref figures_ref;
    double *figures;                 /* GBX_NODE_FIGURES of them */
    struct gbx_node_engine *engines; /* JavaScript thread only */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    gbx_node_event *first;
    gbx_node_event *last;
    unsigned threads;
    unsigned references; /* the JavaScript thread's own, and one per engine */
    bool is_awake;       /* a wake-up is pending, or its events are being delivered */
    bool is_ending;
};

/* A new one for this thread; events are reported to the dispatcher. Throws and returns
 * NULL on failure. */
gbx_node_env *gbx_node_env_new(napi_env env, napi_value dispatch);

void gbx_node_env_ref(gbx_node_env *e);
void gbx_node_env_unref(gbx_node_env *e);

/* From any thread; takes ownership of the event. */
void gbx_node_post(gbx_node_env *e, gbx_node_event *event);

/* Call the dispatcher. Its exceptions cannot be caught: they are fatal to the thread,
 * as those of a timer are. */
void gbx_node_dispatch(gbx_node_env *e, napi_env env, size_t argc,
                       const napi_value *argv);

/* Run work(arg) on a new thread; false if none can be started. */
bool gbx_node_run(gbx_node_env *e, void (*work)(void *), void *arg);

/* ---- engine.c ------------------------------------------------------------ */

/*
 * Slow operations (starting, loading, exposing, preloading, ending) are jobs on threads
 * of their own; their ends are reported to the dispatcher. Fast operations (submitting
 * a small call, aborting, answering) run on the JavaScript thread. An engine ends when
 * it is closed, when its handle is collected, or with its JavaScript thread.
 */
typedef struct gbx_node_engine {
    struct gbx_node_engine *next; /* of the env's; JavaScript thread only */
    gbx_node_env *e;
    gbx_engine *core;     /* NULL before it has started and after it is freed */
    double id;            /* its number in JavaScript */
    pthread_mutex_t lock; /* over what follows */
    pthread_cond_t changed;
    unsigned users;                   /* threads that use it in the library */
    unsigned references;              /* the handle, jobs, calls */
    struct gbx_node_call *submitting; /* calls on threads */
    bool is_closing;                  /* written by the JavaScript thread alone */
} gbx_node_engine;

/* Kinds of reports to the dispatcher: its first argument, then the others. */
enum {
    GBX_NODE_DONE = 0,  /* call, code, value, its id, failure, log lines, were they cut,
                          machine */
    GBX_NODE_JOB = 1,   /* job, status, message, line, column, text */
    GBX_NODE_ASKED = 2, /* engine, request, name, arguments, call's ticket */
    GBX_NODE_LINE = 3,  /* call, level, text, time: while it runs */
    GBX_NODE_FETCH = 4, /* engine, token, method, url, headers, body, bytes, ms */
    GBX_NODE_AUDIT = 5, /* engine, line */
    GBX_NODE_LINES = 6, /* call, log lines: before its end, if they are many */
    GBX_NODE_MORE = 7,  /* events remain: drain() when the event loop has time */
};

/* The arguments, and the engine whose handle is the first; NULL with an exception
 * thrown if it is not a handle. */
gbx_node_engine *gbx_node_args_engine(napi_env env, napi_callback_info info,
                                      size_t count, napi_value *ret);

/* The library's engine for a short use on the JavaScript thread, or NULL: not started,
 * or closed. */
gbx_engine *gbx_node_engine_core(gbx_node_engine *engine);

/* Between these two calls a thread uses the engine in the library; the JavaScript
 * thread enters on its behalf. */
void gbx_node_engine_enter(gbx_node_engine *engine);
void gbx_node_engine_leave(gbx_node_engine *engine);

void gbx_node_engine_ref(gbx_node_engine *engine);
void gbx_node_engine_unref(gbx_node_engine *engine);

/* End it now and wait, because the JavaScript thread is ending. */
void gbx_node_engine_end(gbx_node_engine *engine);

/* ---- hostcall.c, transport.c --------------------------------------------- */

/* Requests of the worker's code to JavaScript: made on the engine's thread, reported to
 * the dispatcher, and answered on the JavaScript thread at any later time. */

/* Callbacks of the library; user is the gbx_node_engine. */
void gbx_node_on_fetch(void *user, gbx_engine *core, gbx_transport_token token,
                       const gbx_transport_request *given);
void gbx_node_on_audit(void *user, const char *line, size_t len);
void gbx_node_on_host_call(void *user, gbx_engine *core, const gbx_host_call *call);

/* The arguments of an answer, the engine and the request; false: there is no engine to
 * answer. */
bool gbx_node_take_request(napi_env env, napi_callback_info info, size_t argc,
                           napi_value *argv, gbx_engine **ret_core,
                           uint64_t *ret_request);

/* ---- options.c ----------------------------------------------------------- */

/* Options of an engine or a call, from JavaScript's objects to the library's
 * structures. JavaScript has checked types and ranges; the library checks again. */

typedef struct gbx_node_options {
    gbx_options core;
    gbx_fetch_transport transport;
    gbx_preload *preloads;
    bool has_transport;
    bool has_audit;
} gbx_node_options;

/* NULL with an exception thrown. */
gbx_node_options *gbx_node_options_take(napi_env env, napi_value object);
/* Set the library's callbacks, for engine. */
void gbx_node_options_for(gbx_node_options *options, gbx_node_engine *engine);
void gbx_node_options_free(gbx_node_options *options);

/* The members of object that are limits. */
void gbx_node_limits_take(napi_env env, napi_value object, gbx_limits *ret);

/* The policy in a JSON text, or NULL for none. Its relative paths begin at base_dir, if
 * that is a string; its files are not examined if trust_files is true. False with an
 * exception thrown. */
bool gbx_node_policy_take(napi_env env, napi_value json, napi_value base_dir,
                          napi_value trust_files, gbx_policy **ret);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * addon - the library for one JavaScript thread.
 *
 * Everything that happens elsewhere (a call ended, a function is asked for, a line was
 * written) is an event: posted from any thread, delivered on the JavaScript thread in
 * the order of posting, many at once if many wait, but never for long: then the event
 * loop has other work first. When the JavaScript thread ends, the addon waits for the
 * threads that work for it, ends the engines, and drops what was not delivered.
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

/* What JavaScript may call: XX(its name, the function after gbx_node_). */
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

/* UTF-8 that ends in NUL. Short ones cost no allocation: do not copy the structure. */
typedef struct gbx_node_text {
    char *data; /* NULL: the value was undefined */
    size_t len;
    char room[2048];
} gbx_node_text;

/* False, with an exception thrown, if the value is neither a string nor undefined. */
bool gbx_node_text_take(napi_env env, napi_value value, gbx_node_text *ret);
void gbx_node_text_cleanup(gbx_node_text *text);

/* The same in memory of its own, for free(). NULL with an exception pending on failure;
 * NULL without one: undefined. */
char *gbx_node_string(napi_env env, napi_value value, size_t *ret_len);

/* The property, if it is a number; of the second, not negative, else *ret stays. */
bool gbx_node_get_number(napi_env env, napi_value object, const char *name,
                         double *ret);
void gbx_node_get_u64(napi_env env, napi_value object, const char *name, uint64_t *ret);

/* True only if the property is. */
bool gbx_node_get_bool(napi_env env, napi_value object, const char *name);

bool gbx_node_is_undefined(napi_env env, napi_value value);

/* A value that cannot be made is undefined: what JavaScript sees is then at worst less. */
napi_value gbx_node_undefined(napi_env env);
napi_value gbx_node_boolean(napi_env env, bool value);
napi_value gbx_node_number(napi_env env, double value);
napi_value gbx_node_utf8(napi_env env, const char *text, size_t len);

/* The arguments of a function that JavaScript calls; missing ones are undefined. */
bool gbx_node_args(napi_env env, napi_callback_info info, size_t count,
                   napi_value *ret);

/* Throw what the library said: wrong use as TypeError, else as Error; .code is the
 * status' name. */
void gbx_node_throw(napi_env env, const gbx_error *error);

/* A large text, taken over from JavaScript piece by piece: no piece holds the event loop
 * up for long. What was gathered, for free(), moved out; NULL with an exception thrown. */
char *gbx_node_gather_take(napi_env env, napi_value value, size_t *ret_len);

/* ---- env.c: one JavaScript thread ---------------------------------------- */

struct gbx_node_engine;
typedef struct gbx_node_env gbx_node_env;
typedef struct gbx_node_event gbx_node_event;

/* The first member of whatever is posted. */
struct gbx_node_event {
    gbx_node_event *next;
    /* Tell the dispatcher. Only on the JavaScript thread, inside a handle scope. False: it
     * has more to say than should be said at once, and comes to word again. */
    bool (*tell)(gbx_node_event *event, gbx_node_env *e, napi_env env);
    /* Always, after the last tell or instead of it. */
    void (*drop)(gbx_node_event *event);
};

/* Figures of the result that is being told, read by the dispatcher through an array of
 * its own: seven values fewer to make for each call. */
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
    bool is_awake;       /* asked to come, or not through with what it came for */
    bool is_ending;
};

/* A new one for this thread; the dispatcher is called with what events tell. Throws and
 * returns NULL on failure. */
gbx_node_env *gbx_node_env_new(napi_env env, napi_value dispatch);

void gbx_node_env_ref(gbx_node_env *e);
void gbx_node_env_unref(gbx_node_env *e);

/* From any thread; the event is owned from now on. */
void gbx_node_post(gbx_node_env *e, gbx_node_event *event);

/* Call the dispatcher. An exception out of it is nobody's to catch: it is fatal to the
 * thread, as one out of a timer is. */
void gbx_node_dispatch(gbx_node_env *e, napi_env env, size_t argc,
                       const napi_value *argv);

/* Run work(arg) on a thread of its own; false if none can be had. */
bool gbx_node_run(gbx_node_env *e, void (*work)(void *), void *arg);

/* ---- engine.c ------------------------------------------------------------ */

/*
 * What may take long (starting, loading, exposing, preloading, ending) is a job on a
 * thread of its own; its end is told to the dispatcher. What does not (submitting a
 * small call, aborting, answering) happens on the JavaScript thread itself. An engine is
 * ended when it is closed, when its handle is collected, or with its thread.
 */
typedef struct gbx_node_engine {
    struct gbx_node_engine *next; /* of the env's; JavaScript thread only */
    gbx_node_env *e;
    gbx_engine *core;     /* NULL until it has started; then until it is freed */
    double id;            /* the dispatcher's name for it */
    pthread_mutex_t lock; /* over what follows */
    pthread_cond_t changed;
    unsigned users;                   /* threads inside the library with it */
    unsigned references;              /* the handle, jobs, calls */
    struct gbx_node_call *submitting; /* on threads */
    bool is_closing;                  /* written by the JavaScript thread alone */
} gbx_node_engine;

/* Kinds of what is told to the dispatcher: its first argument. */
enum {
    GBX_NODE_DONE =
        0,            /* call, code, value, its id, failure, log lines, were they cut */
    GBX_NODE_JOB = 1, /* job, status, message, line, column, text */
    GBX_NODE_ASKED = 2, /* engine, request, name, arguments, call's ticket */
    GBX_NODE_LINE = 3,  /* call, level, text, time: while it runs */
    GBX_NODE_FETCH = 4, /* engine, token, method, url, headers, body, bytes, ms */
    GBX_NODE_AUDIT = 5, /* engine, line */
    GBX_NODE_LINES = 6, /* call, log lines: before its end, if they are many */
    GBX_NODE_MORE = 7,  /* there is more: drain() when the event loop has time */
};

/* The arguments, and the engine whose handle is the first; NULL with an exception thrown
 * if that is none. */
gbx_node_engine *gbx_node_args_engine(napi_env env, napi_callback_info info,
                                      size_t count, napi_value *ret);

/* The library's engine for a short use on the JavaScript thread, or NULL: not started,
 * or closed. */
gbx_engine *gbx_node_engine_core(gbx_node_engine *engine);

/* Between these two a thread is inside the library with the engine; the JavaScript
 * thread enters for it. */
void gbx_node_engine_enter(gbx_node_engine *engine);
void gbx_node_engine_leave(gbx_node_engine *engine);

void gbx_node_engine_ref(gbx_node_engine *engine);
void gbx_node_engine_unref(gbx_node_engine *engine);

/* End it now and wait; the JavaScript thread is ending too. */
void gbx_node_engine_end(gbx_node_engine *engine);

/* ---- hostcall.c, transport.c --------------------------------------------- */

/* What code in the box asks of JavaScript: asked on the engine's thread, told to the
 * dispatcher, answered on the JavaScript thread whenever it likes. */

/* Callbacks of the library; user is the gbx_node_engine. */
void gbx_node_on_fetch(void *user, gbx_engine *core, gbx_transport_token token,
                       const gbx_transport_request *given);
void gbx_node_on_audit(void *user, const char *line, size_t len);
void gbx_node_on_host_call(void *user, gbx_engine *core, const gbx_host_call *call);

/* The arguments of an answer, the engine and the request; false: there is nobody to
 * answer. */
bool gbx_node_take_request(napi_env env, napi_callback_info info, size_t argc,
                           napi_value *argv, gbx_engine **ret_core,
                           uint64_t *ret_request);

/* ---- options.c ----------------------------------------------------------- */

/* What JavaScript said about an engine or a call, as the library wants it. JavaScript has
 * checked types and ranges; the library checks once more. */

typedef struct gbx_node_options {
    gbx_options core;
    gbx_fetch_transport transport;
    gbx_preload *preloads;
    bool has_transport;
    bool has_audit;
} gbx_node_options;

/* NULL with an exception thrown. */
gbx_node_options *gbx_node_options_take(napi_env env, napi_value object);
/* What the library calls back belongs to engine. */
void gbx_node_options_for(gbx_node_options *options, gbx_node_engine *engine);
void gbx_node_options_free(gbx_node_options *options);

/* The members of object that are limits. */
void gbx_node_limits_take(napi_env env, napi_value object, gbx_limits *ret);

/* The policy in a JSON text, or NULL for none; relative paths of it begin at base_dir, if
 * that is a string, and its files are taken unexamined if trust_files is true. False with
 * an exception thrown. */
bool gbx_node_policy_take(napi_env env, napi_value json, napi_value base_dir,
                          napi_value trust_files, gbx_policy **ret);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * env - what one JavaScript thread has of the addon: a way for other threads to reach
 * it, the engines it made, and a count of the threads that work for it.
 *
 * Everything that happens elsewhere (a call ended, a function is asked for, a line was
 * written) is an event: posted from any thread, delivered on the JavaScript thread in
 * the order of posting, many at once if many wait, but never for long: then the event
 * loop has other work first. When the JavaScript thread ends,
 * gbx_node_env_end() waits for the threads, ends the engines, and drops what was not
 * delivered.
 */
#ifndef GBX_NODE_SRC_ENV_H
#define GBX_NODE_SRC_ENV_H

#include <node_api.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

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

/* Go on telling; the dispatcher asked for it after other work of the event loop. */
napi_value gbx_node_drain(napi_env env, napi_callback_info info);

/* From any thread; the event is owned from now on. */
void gbx_node_post(gbx_node_env *e, gbx_node_event *event);

/* Call the dispatcher. An exception out of it is nobody's to catch: it is fatal to the
 * thread, as one out of a timer is. */
void gbx_node_dispatch(gbx_node_env *e, napi_env env, size_t argc,
                       const napi_value *argv);

/* Run work(arg) on a thread of its own; false if none can be had. */
bool gbx_node_run(gbx_node_env *e, void (*work)(void *), void *arg);

#endif

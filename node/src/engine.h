/* SPDX-License-Identifier: MIT */
/*
 * engine - an engine of the library, as one JavaScript thread has it.
 *
 * What may take long (starting, loading, exposing, preloading, ending) is a job on a
 * thread of its own; its end is told to the dispatcher. What does not (submitting a
 * small call, aborting, answering) happens on the JavaScript thread itself. An engine is
 * ended when it is closed, when its handle is collected, or with its thread.
 */
#ifndef GBX_NODE_SRC_ENGINE_H
#define GBX_NODE_SRC_ENGINE_H

#include "env.h"

#include <glovebox/glovebox.h>
#include <glovebox/policy.h>

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

/* What a handle stands for; NULL with an exception thrown if it is none. */
gbx_node_engine *gbx_node_engine_of(napi_env env, napi_value handle);

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

/* Functions of the addon. */
napi_value gbx_node_open(napi_env env, napi_callback_info info);
napi_value gbx_node_close(napi_env env, napi_callback_info info);

#endif

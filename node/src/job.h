/* SPDX-License-Identifier: MIT */
/*
 * job - something that may take long, done on a thread of its own; its end is told to
 * the dispatcher with the number that JavaScript gave it.
 */
#ifndef GBX_NODE_SRC_JOB_H
#define GBX_NODE_SRC_JOB_H

#include "engine.h"

typedef struct gbx_node_job gbx_node_job;

struct gbx_node_job {
    gbx_node_event event;
    gbx_node_engine *engine;
    double id;
    void (*work)(gbx_node_job *job); /* on the thread */
    void (*free_more)(gbx_node_job *job);
    gbx_status status; /* work's outcome */
    gbx_error error;
    char *text; /* with the outcome, or NULL; for gbx_string_free() */
    char *name; /* what work needs; for free() */
    char *data;
    size_t data_len;
    uint32_t format; /* gbx_data_format of data */
    void *more;
};

/* A job without work yet; NULL, with an exception thrown, if memory is out. */
gbx_node_job *gbx_node_job_new(napi_env env, gbx_node_engine *engine, double id);

/* Start it: owned from now on. If no thread can be had, that is its outcome. */
void gbx_node_job_start(gbx_node_job *job);

void gbx_node_job_free(gbx_node_job *job);

/* Functions of the addon: load, which has the format as a fifth argument; preload;
 * report. */
napi_value gbx_node_load(napi_env env, napi_callback_info info);
napi_value gbx_node_load_sqlite(napi_env env, napi_callback_info info);
napi_value gbx_node_preload(napi_env env, napi_callback_info info);
napi_value gbx_node_report(napi_env env, napi_callback_info info);

#endif

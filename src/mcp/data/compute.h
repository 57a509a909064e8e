/* SPDX-License-Identifier: MIT */
/*
 * compute - a call of `compute`, as shared by compute.c and running.c.
 *
 * Before it gets a ticket, we and the guard parse its code. For long code that is a job
 * (mcp/code/code.h); the fields that the job fills belong to its thread until
 * it is done.
 */
#ifndef GBX_MCP_DATA_COMPUTE_H
#define GBX_MCP_DATA_COMPUTE_H

#include "mcp/code/code.h"
#include "mcp/data/datasets.h"

struct gbx_compute {
    gbx_compute *next; /* in data->calls */
    gbx_mcp_data *data;
    gbx_mcp_request *request;
    gbx_view arguments;
    gbx_buf code;
    gbx_script script;
    const gbx_dataset_state *set;   /* the dataset to call it with; NULL: all of them */
    const gbx_dataset_state *needs; /* the dataset it waits for; NULL: all of them */
    gbx_parse_thread_job job;
    gbx_time_budget patience;        /* time for parsing the code, in total */
    bool *in_doubt;                  /* datasets not loaded that the code may use */
    const gbx_dataset_state *unread; /* the one of them that it needs */
    gbx_ticket submitted;
    gbx_ticket ticket; /* 0: not submitted */
    gbx_result *result;
    gbx_buf advice;  /* what to do about its error */
    gbx_buf lines;   /* under data->log_lock; per line: level, text, NUL */
    gbx_error error; /* from parsing or submitting */
    bool is_begun;   /* it no longer waits for data */
    bool has_script;
    bool is_given;     /* to a job, which parses the code or submits the call */
    bool is_cancelled; /* meanwhile */
    bool is_over;      /* while the job is with the thread */
    gbx_mcp_post lines_post;
    gbx_mcp_post end_post;
};

/* ---- compute.c ------------------------------------------------------------------- */

void gbx_compute_forget(gbx_compute *call);
/* Answer with an error and free the call. */
void gbx_compute_refuse_call(gbx_compute *call, const char *code, const char *error,
                             const char *hint);
/* The result has arrived: send the answer. */
void gbx_compute_end(gbx_compute *call);

/* From the engine's thread. */
void gbx_compute_on_log(void *user, const gbx_log *log);
void gbx_compute_on_done(void *user, gbx_ticket ticket, gbx_result *result);

/* ---- running.c ------------------------------------------------------------------- */

/* The data it waited for is ready. */
void gbx_compute_begin(gbx_compute *call);
/* Cancel a call without a ticket. */
void gbx_compute_cancel(gbx_compute *call);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * compute - a call of `compute`, as the two files that are about it know it.
 *
 * Before it has a ticket its code is read, and the guard reads it: of long code that is a
 * job (mcp/code/parse_thread.h), and what the job fills in is the thread's until it is done.
 */
#ifndef GBX_MCP_DATA_COMPUTE_H
#define GBX_MCP_DATA_COMPUTE_H

#include "mcp/code/code.h"
#include "mcp/code/parse_thread.h"
#include "mcp/data/datasets.h"

struct gbx_compute {
    gbx_compute *next; /* in data->calls */
    gbx_mcp_data *data;
    gbx_mcp_request *request;
    gbx_view arguments;
    gbx_buf code;
    gbx_script script;
    const gbx_dataset_state *set;   /* that it is called with; NULL: all of them */
    const gbx_dataset_state *needs; /* what it waits for; NULL: all of them */
    gbx_parse_thread_job job;
    gbx_time_budget patience; /* with the code, in all */
    bool *in_doubt; /* the datasets that the code may name and that are not loaded */
    const gbx_dataset_state *unread; /* the one of them that it counts on */
    gbx_ticket submitted;
    gbx_ticket ticket; /* 0: not submitted yet */
    gbx_result *result;
    gbx_buf advice;  /* what to do about its error */
    gbx_buf lines;   /* under data->log_lock: of each its level, its text, NUL */
    gbx_error error; /* of reading or submitting */
    bool is_begun;   /* it does not wait any more */
    bool has_script;
    bool is_given;     /* the job, which reads the code or submits the call */
    bool is_cancelled; /* meanwhile */
    bool is_over;      /* the engine is through with it */
    gbx_mcp_post lines_post;
    gbx_mcp_post end_post;
};

/* ---- compute.c ------------------------------------------------------------------------ */

void gbx_compute_forget(gbx_compute *call);
/* Answered, and forgotten. */
void gbx_compute_refuse_call(gbx_compute *call, const char *code, const char *error,
                             const char *hint);
/* It has a result: its answer follows. */
void gbx_compute_end(gbx_compute *call);

/* From the engine's thread. */
void gbx_compute_on_log(void *user, const gbx_log *log);
void gbx_compute_on_done(void *user, gbx_ticket ticket, gbx_result *result);

/* ---- running.c ------------------------------------------------------------------------- */

/* What it waited for is there. */
void gbx_compute_begin(gbx_compute *call);
/* It has no ticket yet. */
void gbx_compute_cancel(gbx_compute *call);

#endif

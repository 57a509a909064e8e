/* SPDX-License-Identifier: MIT */
/*
 * recorder - a call as it is told to its recording: what the worker asked and what it
 * was told, at the one place where either goes through, whoever answered.
 *
 * All of it runs on the thread that drives the run. Without a recording each function
 * does nothing. What cannot be written leaves the recording cut, never the call.
 */
#ifndef GBX_ENGINE_RECORDER_H
#define GBX_ENGINE_RECORDER_H

#include "base/fail.h"
#include "replay/record.h"

struct gbx_run;

/* The call is checked and has its limits and policy: fix its seed and clock, and write
 * down what it was given. */
gbx_status gbx_recorder_begin(struct gbx_run *run, gbx_error *reterr);

/* The run has its worker. */
void gbx_recorder_start(struct gbx_run *run);

void gbx_recorder_request(struct gbx_run *run, const gbx_msg_hostcall *msg);
void gbx_recorder_cancel(struct gbx_run *run, uint32_t id);
void gbx_recorder_wait(struct gbx_run *run, uint32_t ms);
void gbx_recorder_answer(struct gbx_run *run, const gbx_msg_answer *msg);
void gbx_recorder_wake(struct gbx_run *run);

/* The result is complete. */
void gbx_recorder_end(struct gbx_run *run);

/* The run is gone; one that never ended leaves its recording empty. */
void gbx_recorder_leave(struct gbx_run *run);

/* What a result has to say of itself; borrows from it. */
void gbx_record_end_of(const gbx_result *result, gbx_record_end *ret);

/* ---- source_digests.c ---------------------------------------------------------------------- */

/* Names and digests of what the engine was given beside calls, and the load_seq they
 * belong to. A digest is made once. */
gbx_status gbx_sources_take(gbx_engine *engine, gbx_record_head *to,
                            uint64_t *ret_load_seq, gbx_error *reterr);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * replayer - a call that gets every answer from a recording.
 *
 * It replaces the host's functions and capabilities: nothing behind them is ever
 * reached. Each message of the worker is compared with the recorded one; the first
 * difference ends the call.
 */
#ifndef GBX_ENGINE_REPLAYER_H
#define GBX_ENGINE_REPLAYER_H

#include "base/fail.h"
#include "replay/record.h"

struct gbx_run;
typedef struct gbx_replayer gbx_replayer;

/* call.replay is set: take the call from the recording. Call before its limits are
 * resolved and its code is checked. */
gbx_status gbx_replayer_begin(struct gbx_run *run, gbx_error *reterr);

/* Does this engine have what the recorded call had? */
gbx_status gbx_replayer_check(const struct gbx_run *run, gbx_error *reterr);

/* The capabilities that the recorded code had. */
uint32_t gbx_replayer_capabilities(const struct gbx_run *run);
bool gbx_replayer_has_root(const struct gbx_run *run, const char *name);

/* A policy that lists the recorded sites, only for the guard; NULL: none recorded. */
const gbx_policy *gbx_replayer_sites(const struct gbx_run *run);

/* Names of the engine's functions that the recorded call did not have, a line each,
 * and the recorded values of env. */
void gbx_replayer_put_lists(const struct gbx_run *run, gbx_buf *withheld, gbx_buf *env);

/* For the exchange; user is the run. */
void gbx_replayer_request(void *user, const gbx_msg_hostcall *msg);
void gbx_replayer_cancel(void *user, uint32_t id);

/* The worker waits: send it the recorded answers. False if the call is over. */
bool gbx_replayer_wake(struct gbx_run *run);

/* Has the worker nothing more to say? False without a replay. */
bool gbx_replayer_is_over(const struct gbx_run *run);

/* The result is complete, like that of any call: add how it compares. */
void gbx_replayer_end(struct gbx_run *run);

void gbx_replayer_free(gbx_replayer *replayer);

#endif

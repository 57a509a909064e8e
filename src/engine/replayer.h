/* SPDX-License-Identifier: MIT */
/*
 * replayer - a call whose every answer comes from a recording.
 *
 * It stands where functions of the host and capabilities stand in other calls: nothing
 * behind it is ever reached. What the worker says is compared with what it said then,
 * one event after the other; the first that differs ends the call.
 */
#ifndef GBX_ENGINE_REPLAYER_H
#define GBX_ENGINE_REPLAYER_H

#include "base/fail.h"
#include "replay/record.h"

struct gbx_run;
typedef struct gbx_replayer gbx_replayer;

/* call.replay is set: take the call from the recording. Before its limits are resolved
 * and its code is looked at. */
gbx_status gbx_replayer_begin(struct gbx_run *run, gbx_error *reterr);

/* Has this engine what the recorded call had? */
gbx_status gbx_replayer_check(const struct gbx_run *run, gbx_error *reterr);

/* What the code found in its box. */
uint32_t gbx_replayer_capabilities(const struct gbx_run *run);
bool gbx_replayer_has_root(const struct gbx_run *run, const char *name);

/* A policy that lists the recorded sites, for the guard alone; NULL: there was none. */
const gbx_policy *gbx_replayer_sites(const struct gbx_run *run);

/* Names of the engine's functions that the recorded call did not have, a line each, and
 * the values of env as they were. */
void gbx_replayer_put_lists(const struct gbx_run *run, gbx_buf *withheld, gbx_buf *env);

/* For the exchange; user is the run. */
void gbx_replayer_request(void *user, const gbx_msg_hostcall *msg);
void gbx_replayer_cancel(void *user, uint32_t id);

/* The worker waits: tell it what it was told. False if the call is over. */
bool gbx_replayer_wake(struct gbx_run *run);

/* Is there nothing more to hear from the worker? False without a replay. */
bool gbx_replayer_is_over(const struct gbx_run *run);

/* The result is complete, as that of any call: say how it compares. */
void gbx_replayer_end(struct gbx_run *run);

void gbx_replayer_free(gbx_replayer *replayer);

#endif

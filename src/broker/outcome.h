/* SPDX-License-Identifier: MIT */
/* outcome - a call on a runner that is not ours: its word becomes a result. */
#ifndef GBX_BROKER_OUTCOME_H
#define GBX_BROKER_OUTCOME_H

#include "broker/run.h"

/* Run it on engine->runner, on this thread, to its end. */
gbx_status gbx_outcome_run(gbx_run *run, gbx_error *reterr);

#endif

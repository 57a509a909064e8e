/* SPDX-License-Identifier: MIT */
/* runner_result - a call on a runner that is not ours: its word becomes a result. */
#ifndef GBX_ENGINE_RUNNER_RESULT_H
#define GBX_ENGINE_RUNNER_RESULT_H

#include "engine/run.h"

/* Run it on engine->runner, on this thread, to its end. */
gbx_status gbx_outcome_run(gbx_run *run, gbx_error *reterr);

#endif

/* SPDX-License-Identifier: MIT */
/* loader - what an engine is given beside calls: datasets, and a runner. */
#ifndef GBX_BROKER_LOADER_H
#define GBX_BROKER_LOADER_H

#include "broker/engine.h"

void gbx_loader_free_datasets(gbx_engine *engine);

/* Fill engine->runner from the options: nothing for "process". */
gbx_status gbx_loader_take_runner(gbx_engine *engine, gbx_error *reterr);
void gbx_loader_drop_runner(gbx_engine *engine);

#endif

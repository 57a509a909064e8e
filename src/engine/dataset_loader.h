/* SPDX-License-Identifier: MIT */
/* dataset_loader - what an engine is given beside calls: datasets, and a runner. */
#ifndef GBX_ENGINE_DATASET_LOADER_H
#define GBX_ENGINE_DATASET_LOADER_H

#include "engine/engine.h"

/* Bytes as one entry of a list, in a memfd that nobody can change; what is "dataset" and
 * the like, for messages. */
gbx_status gbx_dataset_loader_keep(const char *what, const char *name, const void *data,
                                   size_t len, gbx_dataset **ret, gbx_error *reterr);
void gbx_dataset_loader_free(gbx_dataset *dataset);

/* Put it in the list, or in the place of the one of the same name, which is *ret_old
 * then. The lock is held. */
void gbx_dataset_loader_link(gbx_dataset **list, gbx_dataset *dataset,
                             gbx_dataset **ret_old);
void gbx_dataset_loader_unlink(gbx_dataset **list, gbx_dataset *dataset,
                               gbx_dataset *old);

/* Until a template serves and nothing else is on its way to it; the lock is held. */
gbx_status gbx_dataset_loader_settle(gbx_engine *engine, gbx_error *reterr);

/* GBX_E_USAGE unless there is a dataset of that name; "*" is what all are in. Takes the
 * lock. */
gbx_status gbx_dataset_loader_find(gbx_engine *engine, const char *name,
                                   gbx_error *reterr);

void gbx_dataset_loader_free_all(gbx_dataset **list);

/* Fill engine->runner from the options: nothing for "process". */
gbx_status gbx_dataset_loader_take_runner(gbx_engine *engine, gbx_error *reterr);
void gbx_dataset_loader_drop_runner(gbx_engine *engine);

#endif

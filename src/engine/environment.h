/* SPDX-License-Identifier: MIT */
/* environment - what the worker program finds in its environment: all of it. */
#ifndef GBX_ENGINE_ENVIRONMENT_H
#define GBX_ENGINE_ENVIRONMENT_H

#include <glovebox/glovebox.h>

/* Ends in NULL; constant. jit is not GBX_JIT_DEFAULT. */
const char *const *gbx_worker_environment(gbx_jit jit);

#endif

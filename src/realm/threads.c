/* SPDX-License-Identifier: MIT */
/*
 * threads - with the JIT on, the engine's allocator of compiled code starts a thread
 * that gives memory back, even with Malloc=1. A fork would not have that thread, would
 * try to start it again some seconds later and die in the filter. The engine's library
 * exports a switch in 2.50, declared in no header. If a version lacks it, the template,
 * which counts its threads before it serves, refuses to serve with two.
 */
#include "realm/realm.h"

#include <stdbool.h>

extern bool pas_scavenger_is_enabled __attribute__((weak));

/* ---- public to other modules -------------------------------------------- */

void gbx_realm_forbid_threads(void)
{
    bool *is_enabled = &pas_scavenger_is_enabled;

    if (is_enabled != 0)
        *is_enabled = false;
}

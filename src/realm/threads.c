/* SPDX-License-Identifier: MIT */
/*
 * threads - with the JIT on, the engine's allocator of compiled code starts a thread
 * that gives memory back, whatever Malloc=1 says. A fork would not have it, would try
 * to start it again some seconds later and die in the filter. The switch is exported
 * by the engine's library in 2.50 and in no header; where a version lacks it, the
 * template counts its threads before it serves and refuses if there are two.
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

/* SPDX-License-Identifier: MIT */
/* stack - see worker.h. */
#include "worker/worker.h"

#include "base/cleanup.h"

#include <string.h>

__attribute__((noinline)) void gbx_stack_clear(void)
{
    char below[GBX_KIB(32)];

    explicit_bzero(below, sizeof below);
}

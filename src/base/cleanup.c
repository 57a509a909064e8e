/* SPDX-License-Identifier: MIT */
/* cleanup - see cleanup.h. */
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- public to other modules -------------------------------------------- */

void gbx_fd_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

int gbx_fd_take(int *fd)
{
    int taken = *fd;

    *fd = -1;
    return taken;
}

void gbx_free(void *pointer_to_pointer)
{
    void *p;

    memcpy(&p, pointer_to_pointer, sizeof p);
    free(p);
}

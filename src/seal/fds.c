/* SPDX-License-Identifier: MIT */
/*
 * fds - a worker holds one descriptor. The engine's own descriptors (two of
 * /dev/urandom, an eventfd that siblings would share, the template's statm) are closed
 * too: it runs without them.
 */
#include "seal/internal.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Above any descriptor of the template: its limit (rlimits.c). */
#define FDS_MAX 1024

/* ---- public to other modules -------------------------------------------- */

bool gbx_fds_place(int channel)
{
    return channel == GBX_CHANNEL_FD || dup2(channel, GBX_CHANNEL_FD) == GBX_CHANNEL_FD;
}

bool gbx_fds_close(const gbx_seal *seal)
{
    if (seal->layers_off & GBX_LAYER_BIT(GBX_LAYER_NO_FDS))
        return true;
    for (int fd = 0; fd < GBX_CHANNEL_FD; fd++)
        (void)close(fd);
    return syscall(SYS_close_range, GBX_CHANNEL_FD + 1, ~0u, 0) == 0;
}

bool gbx_fds_verify(const gbx_seal *seal)
{
    if (seal->layers_off & GBX_LAYER_BIT(GBX_LAYER_NO_FDS))
        return true;
    for (int fd = 0; fd < FDS_MAX; fd++)
        if (fd != GBX_CHANNEL_FD && fcntl(fd, F_GETFD) >= 0)
            return false;
    return true;
}

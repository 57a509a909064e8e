/* SPDX-License-Identifier: MIT */
#include "worker/worker.h"

#include "base/cleanup.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- public to other modules -------------------------------------------- */

int gbx_memfile_new(const char *name, size_t size)
{
    struct rlimit limit;
    int fd;

    if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur < size)
        return -1;
    fd = memfd_create(name, MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)size) < 0)
        gbx_fd_close(&fd);
    return fd;
}

/* SPDX-License-Identifier: MIT */
/*
 * rlimits - sets a worker's limits. Memory is limited by growth: the size at the fork is
 * the template's, all of it shared with the template until it is written.
 *
 * RLIMIT_DATA counts private writable memory. A worker can reduce that count only by
 * giving memory back (see mprotect in seccomp_table.c), so the limit also holds for
 * code that has broken out. RLIMIT_AS counts every mapping, for when that filter is
 * missing. It leaves room for the reservations that were closed: if RLIMIT_AS is
 * reached as well, the kernel fails to refuse their reopening by RLIMIT_DATA
 * (mprotect_fixup).
 *
 * The template measures itself just before the fork, by its statm, which stays open. The
 * worker must not look: the template may be loading a dataset by then, and be larger.
 */
#include "base/cleanup.h"
#include "seal/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The engine uses 5 MiB of the stack, and throws an error on deeper recursion. */
#define STACK_BYTES GBX_MIB(8)

/* The template's limit: it passes a channel and a pidfd for each worker to the host. */
#define TEMPLATE_NOFILE 1024

/* Limits that fit template and workers alike. */
static const struct shared {
    int resource;
    rlim_t value;
} shared[] = {
    {RLIMIT_CORE, 0},     {RLIMIT_FSIZE, 0},      {RLIMIT_MEMLOCK, 0},
    {RLIMIT_MSGQUEUE, 0}, {RLIMIT_SIGPENDING, 0}, {RLIMIT_RTPRIO, 0},
    {RLIMIT_NICE, 0},     {RLIMIT_LOCKS, 0},      {RLIMIT_NOFILE, TEMPLATE_NOFILE},
};

static bool set(int resource, rlim_t value)
{
    struct rlimit limit = {.rlim_cur = value, .rlim_max = value};

    return syscall(SYS_prlimit64, 0, resource, &limit, NULL) == 0;
}

/* Set a limit, but never above the host's hard limit. */
static bool set_at_most(int resource, rlim_t value)
{
    struct rlimit now;

    if (getrlimit((__rlimit_resource_t)resource, &now) < 0)
        return false;
    return set(resource, now.rlim_max < value ? now.rlim_max : value);
}

void gbx_seal_measure(gbx_seal *seal)
{
    uint64_t pages[6] = {0};
    char text[128];
    size_t field = 0;
    ssize_t n = pread(seal->statm_fd, text, sizeof text, 0);

    for (ssize_t i = 0; i < n && field < GBX_COUNTOF(pages); i++) {
        if (text[i] >= '0' && text[i] <= '9')
            pages[field] = pages[field] * 10 + (uint64_t)(text[i] - '0');
        else
            field++;
    }
    /* The first and sixth number of statm, in pages: all mappings, and data. */
    seal->total_pages = field == GBX_COUNTOF(pages) ? pages[0] : 0;
    if (n > 0)
        seal->data_pages = pages[5];
}

void gbx_rlimits_prepare(gbx_seal *seal)
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    struct rlimit now;

    if (gbx_layer_is_off(seal, GBX_LAYER_RLIMITS))
        return;
    /* If the process that started us has a lower limit, a worker gets that. */
    if (getrlimit(RLIMIT_CPU, &now) == 0 && now.rlim_max < seal->cpu_s)
        seal->cpu_s = (uint32_t)now.rlim_max;
    fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    /* Keep it away from the channel's number. */
    if (fd >= 0)
        seal->statm_fd = fcntl(fd, F_DUPFD_CLOEXEC, GBX_CHANNEL_FD + 1);
    if (seal->statm_fd < 0)
        gbx_layer_lacks(seal, GBX_LAYER_RLIMITS,
                        "cannot read the size of a process: /proc/self/statm: %s",
                        strerror(errno));
    else if (!set_at_most(RLIMIT_STACK, STACK_BYTES))
        gbx_layer_lacks(seal, GBX_LAYER_RLIMITS, "cannot limit the stack: %s",
                        strerror(errno));
}

void gbx_rlimits_template(gbx_seal *seal)
{
    if (gbx_layer_is_off(seal, GBX_LAYER_RLIMITS))
        return;
    for (size_t i = 0; i < GBX_COUNTOF(shared); i++)
        if (!set_at_most(shared[i].resource, shared[i].value))
            gbx_layer_lacks(seal, GBX_LAYER_RLIMITS, "cannot set limit %d: %s",
                            shared[i].resource, strerror(errno));
}

bool gbx_rlimits_worker(const gbx_seal *seal)
{
    uint64_t page = (uint64_t)getpagesize();
    uint64_t growth = seal->memory_bytes - seal->room_bytes;

    if (seal->layers_off & GBX_LAYER_BIT(GBX_LAYER_RLIMITS))
        return true;
    /* Forbids new processes and new descriptors: the template has done all that a
     * fork needs. */
    return seal->total_pages > 0 &&
           set_at_most(RLIMIT_DATA, seal->data_pages * page + growth) &&
           set_at_most(RLIMIT_AS, seal->total_pages * page + growth +
                                      seal->closed_bytes + STACK_BYTES) &&
           set(RLIMIT_CPU, seal->cpu_s) && set(RLIMIT_NPROC, 0) &&
           set(RLIMIT_NOFILE, 0);
}

bool gbx_rlimits_verify(const gbx_seal *seal)
{
    static const int resources[] = {RLIMIT_CPU, RLIMIT_NPROC, RLIMIT_NOFILE};
    rlim_t wanted[] = {seal->cpu_s, 0, 0};
    struct rlimit now;

    if (seal->layers_off & GBX_LAYER_BIT(GBX_LAYER_RLIMITS))
        return true;
    for (size_t i = 0; i < GBX_COUNTOF(resources); i++)
        if (getrlimit((__rlimit_resource_t)resources[i], &now) < 0 ||
            now.rlim_cur != wanted[i] || now.rlim_max != wanted[i])
            return false;
    return getrlimit(RLIMIT_DATA, &now) == 0 && now.rlim_max != RLIM_INFINITY &&
           getrlimit(RLIMIT_AS, &now) == 0 && now.rlim_max != RLIM_INFINITY;
}

/* ---- descriptors ------------------------------------------------------------- */

/*
 * A worker holds one descriptor. The engine's own descriptors (two of
 * /dev/urandom, an eventfd that siblings would share, the template's statm) are closed
 * too: it runs without them.
 */

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
    for (int fd = 0; fd < TEMPLATE_NOFILE; fd++)
        if (fd != GBX_CHANNEL_FD && fcntl(fd, F_GETFD) >= 0)
            return false;
    return true;
}

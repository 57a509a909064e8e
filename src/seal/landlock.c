/* SPDX-License-Identifier: MIT */
/*
 * landlock - handles every right that the running kernel knows, and grants none.
 *
 * The constants are our own: a distribution's headers are older than the kernels it
 * runs on, and a right that is not handled is a right that is granted.
 */
#include "base/cleanup.h"
#include "seal/internal.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#    define SYS_landlock_create_ruleset 444
#    define SYS_landlock_restrict_self  446
#endif

#define CREATE_RULESET_VERSION 1u

/* struct landlock_ruleset_attr as of ABI 6. */
struct attributes {
    uint64_t fs;
    uint64_t net;
    uint64_t scoped;
};

/* What each ABI added, and the size of the structure that it accepts. */
static const struct version {
    uint32_t abi;
    struct attributes added;
    size_t size;
} versions[] = {
    {1, {.fs = (UINT64_C(1) << 13) - 1}, 8}, /* files: read, write, execute, make... */
    {2, {.fs = UINT64_C(1) << 13}, 8},       /* rename and link across directories */
    {3, {.fs = UINT64_C(1) << 14}, 8},       /* truncate */
    {4, {.net = 3}, 16},                     /* TCP: bind, connect */
    {5, {.fs = UINT64_C(1) << 15}, 16},      /* ioctl of devices */
    {6, {.scoped = 3}, 24},                  /* abstract sockets, signals */
};

static bool enforce(uint32_t abi)
{
    GBX_CLEANUP(gbx_fd_close) int ruleset = -1;
    struct attributes attributes = {0};
    size_t size = 0;

    for (size_t i = 0; i < GBX_COUNTOF(versions) && versions[i].abi <= abi; i++) {
        attributes.fs |= versions[i].added.fs;
        attributes.net |= versions[i].added.net;
        attributes.scoped |= versions[i].added.scoped;
        size = versions[i].size;
    }
    ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, size, 0);
    return ruleset >= 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
}

void gbx_landlock_enforce(gbx_seal *seal)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);

    seal->landlock_abi = abi > 0 ? (uint32_t)abi : 0;
    if (gbx_layer_is_off(seal, GBX_LAYER_LANDLOCK))
        return;
    if (abi <= 0)
        gbx_layer_lacks(
            seal, GBX_LAYER_LANDLOCK,
            errno == EOPNOTSUPP
                ? "switched off: add landlock to the kernel's lsm= parameter"
                : "needs Linux 5.13 or later, built with "
                  "CONFIG_SECURITY_LANDLOCK");
    else if (!enforce(seal->landlock_abi))
        gbx_layer_lacks(seal, GBX_LAYER_LANDLOCK, "the kernel refuses: %s",
                        strerror(errno));
    else
        gbx_layer_stands(seal, GBX_LAYER_LANDLOCK);
}

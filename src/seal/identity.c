/* SPDX-License-Identifier: MIT */
/*
 * identity - the template's user, and two protections that are not layers: an
 * unpredictable address layout, and no speculation that others can steer.
 */
#include "seal/internal.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NOBODY 65534

/* A single id that was configured, not one that the host has searched for. */
static bool is_configured(const gbx_identity *identity)
{
    return identity->wanted[0] != 0 && identity->wanted[1] == 0;
}

/* The kernel's setting, "" if it cannot be read. */
static char randomize_va_space(void)
{
    GBX_CLEANUP(gbx_fd_close)
    int fd = open("/proc/sys/kernel/randomize_va_space", O_RDONLY | O_CLOEXEC);
    char digit = 0;

    if (fd < 0 || read(fd, &digit, 1) != 1)
        return 0;
    return digit;
}

static const char *layout(void)
{
    int bits = personality(0xffffffff);

    if (bits == -1)
        return "unknown: the kernel does not say";
    if (bits & ADDR_NO_RANDOMIZE)
        return "fixed: the host was started without randomisation (setarch -R) and the "
               "kernel refuses to change that";
    switch (randomize_va_space()) {
    case '0': return "fixed: sysctl kernel.randomize_va_space is 0, set it to 2";
    case '1': return "random but for the heap: sysctl kernel.randomize_va_space is 1";
    default: return "random";
    }
}

/* ---- speculation ----------------------------------------------------------- */

static const struct speculation {
    unsigned long what;
    const char *name;
} speculations[] = {
    {PR_SPEC_STORE_BYPASS, "store bypass"},
    {PR_SPEC_INDIRECT_BRANCH, "indirect branches"},
};

static const char *state_of(const struct speculation *s)
{
    int state = prctl(PR_GET_SPECULATION_CTRL, s->what, 0, 0, 0);

    if (state < 0)
        return "not controlled by this kernel";
    if (state == PR_SPEC_NOT_AFFECTED)
        return "not affected";
    if (state & (PR_SPEC_DISABLE | PR_SPEC_FORCE_DISABLE))
        return "off";
    return state & PR_SPEC_PRCTL ? "on" : "on, not controllable here";
}

static bool is_safe(const char *state)
{
    return strcmp(state, "off") == 0 || strcmp(state, "not affected") == 0;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_identity_take(gbx_identity *identity)
{
    if (geteuid() != 0)
        return true;
    if (setgroups(0, NULL) < 0 && errno != EPERM)
        return false;
    for (size_t i = 0; identity->wanted[i] != 0; i++) {
        uid_t id = identity->wanted[i];

        if (setresgid(id, id, id) == 0 && setresuid(id, id, id) == 0) {
            identity->uid = id;
            return true;
        }
        if (errno != EPERM && errno != EINVAL)
            return false;
    }
    return !is_configured(identity);
}

void gbx_identity_describe_layout(gbx_seal *seal)
{
    (void)snprintf(seal->layout, sizeof seal->layout, "%s", layout());
}

bool gbx_identity_guard_speculation(gbx_seal *seal, bool is_asked)
{
    bool are_safe = true;

    seal->speculation[0] = 0;
    for (size_t i = 0; i < GBX_COUNTOF(speculations); i++) {
        size_t len = strlen(seal->speculation);
        const char *state;

        if (is_asked)
            (void)prctl(PR_SET_SPECULATION_CTRL, speculations[i].what,
                        PR_SPEC_FORCE_DISABLE, 0, 0);
        state = state_of(&speculations[i]);
        are_safe = are_safe && is_safe(state);
        (void)snprintf(seal->speculation + len, sizeof seal->speculation - len,
                       "%s%s %s", i > 0 ? ", " : "", speculations[i].name, state);
    }
    return are_safe || !is_asked;
}

void gbx_identity_describe_user(gbx_seal *seal)
{
    const gbx_identity *identity = &seal->identity;
    char *to = seal->user;
    size_t size = sizeof seal->user;

    if (identity->uid == NOBODY)
        (void)
            snprintf(to, size,
                     "nobody, whose processes may be others' too: no uid from 61184 to "
                     "65519 is free and mapped here");
    else if (identity->uid != 0)
        (void)snprintf(to, size, "%u, %s", identity->uid,
                       is_configured(identity) ? "as configured"
                                               : "of no other process");
    else if (identity->hosts_uid == 0)
        (void)snprintf(to, size,
                       "root without capabilities: it may not change its ids");
    else
        (void)snprintf(to, size, "%u, the host's own", identity->hosts_uid);
}

/* SPDX-License-Identifier: MIT */
/*
 * privs - user, capabilities, no_new_privs, new code, dumps, orphans, speculation.
 *
 * Inside its user namespace the template is root and holds every capability over that
 * namespace; without one, a root host's template is real root. This file drops both.
 */
#include "base/cleanup.h"
#include "seal/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Linux 6.3; not in Debian 12's headers. */
#ifndef PR_SET_MDWE
#    define PR_SET_MDWE              65
#    define PR_GET_MDWE              66
#    define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

#define CAPS_MAX  64 /* bits of the widest set the kernel can have */
#define CAP_WORDS _LINUX_CAPABILITY_U32S_3

#define LOCKED_SECUREBITS                                            \
    (SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | \
     SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |       \
     SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

/* ---- the template's user ----------------------------------------------------- */

#define NOBODY 65534

/* True if the only wanted id was configured, not found by the host's search. */
static bool is_configured(const gbx_identity *identity)
{
    return identity->wanted[0] != 0 && identity->wanted[1] == 0;
}

/* For a root host without a user namespace: become one of identity->wanted, if one is
 * available. False with errno. */
static bool take_identity(gbx_identity *identity)
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

/* ---- privileges -------------------------------------------------------------- */

static bool have_no_caps(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[CAP_WORDS] = {0};

    if (syscall(SYS_capget, &header, data) != 0)
        return false;
    for (size_t i = 0; i < CAP_WORDS; i++)
        if ((data[i].effective | data[i].permitted | data[i].inheritable) != 0)
            return false;
    return true;
}

static void drop_caps(gbx_seal *seal)
{
    static const struct __user_cap_data_struct none[CAP_WORDS];
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    bool made_user_ns = seal->ns_made & GBX_LAYER_BIT(GBX_LAYER_USER_NS);

    if (gbx_layer_is_off(seal, GBX_LAYER_NO_CAPS))
        return;
    /* Lowering the bounding set and the securebits needs a capability; without it
     * there is nothing to lose. */
    for (unsigned long cap = 0; cap < CAPS_MAX; cap++)
        (void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
    (void)prctl(PR_SET_SECUREBITS, LOCKED_SECUREBITS, 0, 0, 0);
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (!made_user_ns && !take_identity(&seal->identity))
        gbx_layer_lacks(seal, GBX_LAYER_NO_CAPS, "cannot become user %u: %s",
                        seal->identity.wanted[0], strerror(errno));
    else if (syscall(SYS_capset, &header, none) != 0 || !have_no_caps())
        gbx_layer_lacks(seal, GBX_LAYER_NO_CAPS, "cannot drop the capabilities: %s",
                        strerror(errno));
    else
        gbx_layer_stands(seal, GBX_LAYER_NO_CAPS);
}

/* Landlock and seccomp need it. If it is left out while one of them is not, it is
 * set all the same, but not reported as a layer. */
static void forbid_new_privs(gbx_seal *seal)
{
    uint32_t needs_it =
        GBX_LAYER_BIT(GBX_LAYER_LANDLOCK) | GBX_LAYER_BIT(GBX_LAYER_SECCOMP);
    bool off = gbx_layer_is_off(seal, GBX_LAYER_NO_NEW_PRIVS);

    if (off && (seal->layers_off & needs_it) == needs_it)
        return;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        gbx_layer_lacks(seal, GBX_LAYER_NO_NEW_PRIVS, "the kernel refuses: %s",
                        strerror(errno));
    else if (!off)
        gbx_layer_stands(seal, GBX_LAYER_NO_NEW_PRIVS);
}

static void forbid_new_code(gbx_seal *seal)
{
    if (gbx_layer_is_off(seal, GBX_LAYER_MDWE))
        return;
    if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) == 0 &&
        prctl(PR_GET_MDWE, 0, 0, 0, 0) == PR_MDWE_REFUSE_EXEC_GAIN)
        gbx_layer_stands(seal, GBX_LAYER_MDWE);
    else
        gbx_layer_lacks(seal, GBX_LAYER_MDWE, "needs Linux 6.3 or later: %s",
                        strerror(errno));
}

static void forbid_dumps(gbx_seal *seal)
{
    if (gbx_layer_is_off(seal, GBX_LAYER_NOT_DUMPABLE)) {
        /* Changing ids has cleared it: if the layer is off, restore it. */
        (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
        return;
    }
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 &&
        prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0)
        gbx_layer_stands(seal, GBX_LAYER_NOT_DUMPABLE);
    else
        gbx_layer_lacks(seal, GBX_LAYER_NOT_DUMPABLE, "the kernel refuses: %s",
                        strerror(errno));
}

void gbx_privs_drop(gbx_seal *seal)
{
    /* The engine handles SIGSEGV and SIGBUS for WebAssembly and for threads, which are not
     * in use here. With its handlers, a call that the filter kills would look like a
     * crash, and a worker that ran out of memory like a violation. */
    for (int signal_number = 1; signal_number < NSIG; signal_number++)
        (void)signal(signal_number, SIG_DFL);
    drop_caps(seal);
    forbid_new_privs(seal);
    forbid_new_code(seal);
    forbid_dumps(seal);
    /* Changing ids has cleared what launch.c set. */
    if (!(seal->layers_off & GBX_LAYER_BIT(GBX_LAYER_DEATH_SIGNAL)))
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

/* A death signal is not inherited. The parent may have died before it was set. */
bool gbx_privs_worker(const gbx_seal *seal)
{
    if (seal->layers_off & GBX_LAYER_BIT(GBX_LAYER_DEATH_SIGNAL))
        return true;
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 &&
           getppid() == seal->template_pid;
}

bool gbx_privs_verify(const gbx_seal *seal)
{
    int signal_number = 0;

    if (seal->layers_off & GBX_LAYER_BIT(GBX_LAYER_DEATH_SIGNAL))
        return true;
    return prctl(PR_GET_PDEATHSIG, &signal_number, 0, 0, 0) == 0 &&
           signal_number == SIGKILL;
}

/* ---- two protections that are not layers: address layout, speculation -------- */

static const char *layout(void)
{
    int bits = personality(0xffffffff);
    char text[2]; /* the kernel's setting, a digit; empty if it cannot be read */

    if (bits == -1)
        return "unknown: the kernel does not say";
    if (bits & ADDR_NO_RANDOMIZE)
        return "fixed: the host was started without randomisation (setarch -R) and the "
               "kernel refuses to change that";
    (void)gbx_fd_start(AT_FDCWD, "/proc/sys/kernel/randomize_va_space", text,
                       sizeof text);
    switch (text[0]) {
    case '0': return "fixed: sysctl kernel.randomize_va_space is 0, set it to 2";
    case '1': return "random but for the heap: sysctl kernel.randomize_va_space is 1";
    default: return "random";
    }
}

void gbx_identity_describe_layout(gbx_seal *seal)
{
    (void)snprintf(seal->layout, sizeof seal->layout, "%s", layout());
}

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
        are_safe = are_safe &&
                   (strcmp(state, "off") == 0 || strcmp(state, "not affected") == 0);
        (void)snprintf(seal->speculation + len, sizeof seal->speculation - len,
                       "%s%s %s", i > 0 ? ", " : "", speculations[i].name, state);
    }
    return are_safe || !is_asked;
}

/* SPDX-License-Identifier: MIT */
/*
 * seal - the order of the steps. Each may remove what a later one would need, so never
 * move a step up without a test run as root and as an ordinary user:
 *
 *   reservations first (they are found in /proc), then the root (removes /proc and
 *   needs the capabilities), then capabilities and no_new_privs, then landlock (needs
 *   the latter; refuses mounts from then on), the limits, the template's filter.
 */
#include "seal/seal.h"

#include "base/cleanup.h"
#include "seal/internal.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A probe's findings, as its exit status. */
enum {
    PROBE_FILTER = 10, /* the filter could not be set */
    PROBE_FDS = 11,    /* a descriptor was left open */
    PROBE_LIMITS = 12, /* a limit could not be set, or differs from the request */
    PROBE_DEATH = 13,  /* the death signal is missing */
    PROBE_ALIVE = 14,  /* a forbidden call returned */
    PROBE_DIED = 15,   /* the probe could not be forked */
};

static const gbx_layer by_worker[] = {GBX_LAYER_NO_FDS, GBX_LAYER_RLIMITS,
                                      GBX_LAYER_DEATH_SIGNAL, GBX_LAYER_SECCOMP};

/* 0, or the PROBE_ status of the failure. */
static int before_filter(const gbx_seal *seal)
{
    if (!gbx_rlimits_worker(seal))
        return PROBE_LIMITS;
    if (!gbx_fds_close(seal))
        return PROBE_FDS;
    return gbx_privs_worker(seal) ? 0 : PROBE_DEATH;
}

/* In the child: seal as a worker, check the result, then make a forbidden call. */
static _Noreturn void probe(const gbx_seal *seal)
{
    int status = before_filter(seal);

    if (status != 0)
        _exit(status);
    status = PROBE_ALIVE;
    if (!gbx_fds_verify(seal))
        status = PROBE_FDS;
    else if (!gbx_rlimits_verify(seal))
        status = PROBE_LIMITS;
    else if (!gbx_privs_verify(seal))
        status = PROBE_DEATH;
    else if (!gbx_seccomp_worker(seal))
        status = PROBE_FILTER;
    else
        (void)syscall(SYS_getppid);
    _exit(status);
}

/* Turn the probe's end into the state of the layers that only a worker has. */
static void judge(gbx_seal *seal, int status)
{
    bool filtered = WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
    bool off = seal->layers_off & GBX_LAYER_BIT(GBX_LAYER_SECCOMP);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;

    for (size_t i = 0; i < GBX_COUNTOF(by_worker); i++) {
        if (gbx_layer_is_off(seal, by_worker[i]) ||
            seal->layers[by_worker[i]].reason[0])
            continue;
        if (filtered ||
            (code == PROBE_ALIVE && (off || by_worker[i] != GBX_LAYER_SECCOMP)))
            gbx_layer_stands(seal, by_worker[i]);
        else if (code == PROBE_ALIVE)
            gbx_layer_lacks(seal, by_worker[i],
                            "a forbidden system call was not stopped");
        else
            gbx_layer_lacks(seal, by_worker[i], "a worker cannot be sealed: %s",
                            code == PROBE_FDS      ? "a descriptor stays open"
                            : code == PROBE_LIMITS ? "a limit cannot be set"
                            : code == PROBE_DEATH  ? "no death signal"
                            : code == PROBE_FILTER ? "the filter cannot be set"
                                                   : "the probe died");
    }
}

void gbx_seal_prepare(void)
{
    gbx_seal seal = {.statm_fd = -1};

    gbx_rlimits_prepare(&seal);
    gbx_seccomp_compile(&seal);
    gbx_fd_close(&seal.statm_fd);
}

void gbx_seal_init(gbx_seal *seal, uint32_t layers_off, uint32_t ns_made,
                   const gbx_identity *identity, uint64_t memory_bytes, uint32_t cpu_s)
{
    *seal = (gbx_seal){.layers_off = layers_off,
                       .ns_made = ns_made,
                       .identity = *identity,
                       .memory_bytes = memory_bytes,
                       .cpu_s = cpu_s,
                       .statm_fd = -1};
    gbx_identity_describe_layout(seal);
    gbx_namespaces_check(seal);
    gbx_cgroup_check(seal);
    gbx_rlimits_prepare(seal);
    gbx_seccomp_compile(seal);
}

void gbx_seal_template(gbx_seal *seal)
{
    int status = 0;
    pid_t pid;

    seal->template_pid = getpid();
    gbx_reserve_close(seal);
    gbx_root_empty(seal);
    gbx_privs_drop(seal);
    gbx_identity_describe_user(seal);
    gbx_landlock_enforce(seal);
    gbx_rlimits_template(seal);
    gbx_seccomp_template(seal);
    gbx_seal_measure(seal);
    pid = fork();
    if (pid == 0)
        probe(seal);
    if (pid > 0)
        while (wait4(pid, &status, 0, NULL) < 0 && errno == EINTR)
            continue;
    judge(seal, pid > 0 ? status : PROBE_DIED << 8);
}

bool gbx_seal_worker(const gbx_seal *seal, int channel)
{
    assert(channel >= 0);
    return gbx_fds_place(channel) && before_filter(seal) == 0 &&
           gbx_seccomp_worker(seal);
}

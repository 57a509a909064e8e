/* SPDX-License-Identifier: MIT */
/*
 * zygote_main - forks each template as a child of the host (CLONE_PARENT), so that the
 * host reaps and kills it like an executed one. The kernel allows that because this
 * process stays in the host's pid namespace.
 */
#include "worker/worker.h"

#include "base/cleanup.h"
#include "realm/realm.h"
#include "seal/seal.h"
#include "wire/wire.h"
#include "zones/zones.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Descriptors of a request: control socket, error output, directory of a control
 * group. */
enum { FD_CONTROL, FD_SAID, FD_CGROUP, FDS_MAX };

typedef struct request {
    gbx_zygote_request text;
    int fds[FDS_MAX]; /* -1: none */
} request;

static bool receive(int control, request *ret)
{
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof ret->fds)];
    } space;
    struct iovec iov = {.iov_base = &ret->text, .iov_len = sizeof ret->text};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &space,
                         .msg_controllen = sizeof space};
    const struct cmsghdr *c;
    ssize_t n;

    memset(ret, 0xff, sizeof *ret);
    do
        n = recvmsg(control, &msg, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
    if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(ret->fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
    ret->text.uids[sizeof ret->text.uids - 1] = 0;
    return n == (ssize_t)sizeof ret->text && ret->fds[FD_SAID] >= 0;
}

static bool answer(int control, const gbx_zygote_answer *text, int pidfd)
{
    return pidfd >= 0 ? gbx_channel_write_fds(control, text, sizeof *text, &pidfd, 1)
                      : gbx_channel_write(control, text, sizeof *text);
}

static void close_request(request *r)
{
    for (size_t i = 0; i < FDS_MAX; i++)
        gbx_fd_close(&r->fds[i]);
}

/* In the fork: become what the program is at its exec. What the engine has opened
 * stays. */
static _Noreturn void be_template(const gbx_prepared *prepared, request *r,
                                  bool is_grouped)
{
    gbx_launch launch;

    if (syscall(SYS_setpgid, 0, 0) < 0 || dup3(r->fds[FD_SAID], 2, 0) < 0 ||
        dup3(r->fds[FD_CONTROL], GBX_CONTROL_FD, O_CLOEXEC) < 0)
        _exit(3);
    close_request(r);
    (void)prctl(PR_SET_NAME, "glovebox-worker");
    gbx_launch_fork(r->text.layers_off, is_grouped, r->text.uids, &launch);
    _exit(gbx_template_serve(&launch, prepared));
}

/* The raw call: one thread, outside the C library's locks. Enters its group at once
 * or fails: an executed program may find another way into it. */
static void fork_template(int control, const gbx_prepared *prepared, request *r)
{
    gbx_zygote_answer text = {0};
    int pidfd = -1;
    struct clone_args args = {.flags = CLONE_PARENT | CLONE_PIDFD | CLONE_INTO_CGROUP,
                              .pidfd = (uintptr_t)&pidfd,
                              .cgroup = (unsigned)r->fds[FD_CGROUP]};
    bool is_grouped = r->fds[FD_CGROUP] >= 0;
    long pid = is_grouped ? syscall(SYS_clone3, &args, sizeof args)
                          : syscall(SYS_clone, CLONE_PARENT | CLONE_PIDFD | SIGCHLD,
                                    NULL, &pidfd, NULL, NULL);

    if (pid == 0)
        be_template(prepared, r, is_grouped);
    text.error = pid < 0 ? errno : 0;
    text.pid = (int32_t)pid;
    if (!answer(control, &text, pidfd) && pid > 0)
        (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    gbx_fd_close(&pidfd);
}

int gbx_zygote_serve(char **argv, int argc)
{
    gbx_zygote_answer ready = {0};
    const int control = GBX_CONTROL_FD;
    static gbx_prepared prepared;
    const char *reason = "";
    request r;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)prctl(PR_SET_NAME, "glovebox-zygote");
    gbx_launch_check_version(argv, argc, GBX_ZYGOTE_VERSION, GBX_ZYGOTE_ARGS);
    gbx_template_block_signals();
    gbx_seal_prepare();
    prepared.realm = gbx_template_begin_realm(prepared.time_zones, &reason);
    if (prepared.realm == NULL) {
        (void)fprintf(stderr, "glovebox-worker: %s\n", reason);
        return 4;
    }
    gbx_pagemap_open();
    gbx_realm_warm(prepared.realm, 1);
    gbx_realm_settle(prepared.realm, 1);
    gbx_template_forget_handlers();
    gbx_template_make_light(prepared.realm,
                            strtoul(argv[GBX_ZYGOTE_HUGE_PAGES], NULL, 10));
    gbx_freeze_end();
    if (!answer(control, &ready, -1))
        return 0;
    while (receive(control, &r)) {
        fork_template(control, &prepared, &r);
        close_request(&r);
    }
    return 0;
}

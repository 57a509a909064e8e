/* SPDX-License-Identifier: MIT */
/* launch - from the exec of the program to a template, or to the zygote that templates
 * are forked from; see worker.h for the order. */
#include "worker/worker.h"

#include "base/cleanup.h"
#include "realm/realm.h"
#include "seal/seal.h"
#include "wire/messages.h"
#include "wire/wire.h"
#include "zones/zones.h"

#include <errno.h>
#include <fcntl.h>
#include <glovebox/version.h>
#include <grp.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct space {
    int flag;
    gbx_layer layer;
} spaces[] = {
    {CLONE_NEWPID, GBX_LAYER_PID_NS}, {CLONE_NEWNS, GBX_LAYER_MOUNT_NS},
    {CLONE_NEWNET, GBX_LAYER_NET_NS}, {CLONE_NEWIPC, GBX_LAYER_IPC_NS},
    {CLONE_NEWUTS, GBX_LAYER_UTS_NS}, {CLONE_NEWCGROUP, GBX_LAYER_CGROUP_NS},
};

/* The helper's report once it is in a user namespace, or why it is not. */
typedef struct helper_said {
    int error;
    int pid; /* as numbered in /proc, which may be mounted for another pid namespace */
} helper_said;

static _Noreturn void end(const char *what)
{
    (void)fprintf(stderr, "glovebox-worker: %s: %s\n", what, strerror(errno));
    _exit(3);
}

/* ---- the arguments ------------------------------------------------------- */

static uint32_t number_of(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 10);
}

/* ---- the user namespace ---------------------------------------------------- */

/* Keeps the namespace alive until its socket is closed. It stays traceable, since it
 * has nothing worth protecting: an untraceable process has files in /proc that
 * belong to root alone. */
static _Noreturn void be_helper(int sock)
{
    helper_said said = {0};
    char link[16] = "";

    if (dup2(sock, 0) < 0 || syscall(SYS_close_range, 1, ~0u, 0) < 0)
        _exit(1);
    (void)prctl(PR_SET_DUMPABLE, 1);
    (void)!readlink("/proc/self", link, sizeof link - 1);
    said.pid = (int)number_of(link);
    if (unshare(CLONE_NEWUSER) < 0)
        said.error = errno;
    (void)!write(0, &said, sizeof said);
    (void)!read(0, &said, sizeof said);
    _exit(0);
}

static bool write_file(int dir, const char *name, const char *text)
{
    GBX_CLEANUP(gbx_fd_close) int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);

    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* Map root inside to `uid` outside. */
static bool map(int dir, uid_t uid, gid_t gid)
{
    char text[24];

    (void)snprintf(text, sizeof text, "0 %u 1\n", uid);
    if (!write_file(dir, "uid_map", text))
        return false;
    (void)snprintf(text, sizeof text, "0 %u 1\n", gid);
    return write_file(dir, "gid_map", text);
}

/* dir is the helper's directory in /proc. A map can be written once; a refused write
 * leaves it unwritten. */
static bool map_ids(gbx_identity *identity, int dir)
{
    const uid_t *wanted = identity->wanted;

    (void)write_file(dir, "setgroups", "deny");
    for (size_t i = 0; wanted[i] != 0; i++) {
        if (map(dir, wanted[i], wanted[i])) {
            identity->uid = wanted[i];
            return true;
        }
    }
    if (wanted[0] != 0 && wanted[1] == 0)
        return false; /* it was the only acceptable id */
    return map(dir, geteuid(), getegid());
}

/* The namespace that the helper has made, with mapped ids; -1 with errno. */
static int open_user_ns(gbx_identity *identity, int sock)
{
    GBX_CLEANUP(gbx_fd_close) int dir = -1;
    helper_said said;
    char path[32];

    errno = ECHILD;
    if (read(sock, &said, sizeof said) != (ssize_t)sizeof said)
        end("wait for the process that makes the user namespace");
    errno = said.error;
    if (said.error != 0)
        return -1;
    (void)snprintf(path, sizeof path, "/proc/%d", said.pid);
    dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 || !map_ids(identity, dir))
        return -1;
    return openat(dir, "ns/user", O_RDONLY | O_CLOEXEC);
}

static bool enter_user_ns(gbx_identity *identity)
{
    GBX_CLEANUP(gbx_fd_close) int ns = -1;
    int pair[2];
    pid_t helper;
    int error;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return false;
    helper = fork();
    if (helper == 0)
        be_helper(pair[1]);
    (void)close(pair[1]);
    if (helper > 0)
        ns = open_user_ns(identity, pair[0]);
    error = errno;
    (void)close(pair[0]);
    while (helper > 0 && waitpid(helper, NULL, 0) < 0 && errno == EINTR)
        continue;
    errno = error;
    return ns >= 0 && setns(ns, CLONE_NEWUSER) == 0;
}

/* ---- the other namespaces and the template ------------------------------------ */

static void make_namespaces(gbx_launch *l)
{
    if (geteuid() == 0)
        (void)setgroups(0, NULL); /* a user namespace would keep them */
    if (!(l->layers_off & GBX_LAYER_BIT(GBX_LAYER_USER_NS))) {
        if (enter_user_ns(&l->identity))
            l->made |= GBX_LAYER_BIT(GBX_LAYER_USER_NS);
        else
            l->identity.uid = 0;
    }
    for (size_t i = 0; i < GBX_COUNTOF(spaces); i++)
        if (!(l->layers_off & GBX_LAYER_BIT(spaces[i].layer)) &&
            unshare(spaces[i].flag) == 0)
            l->made |= GBX_LAYER_BIT(spaces[i].layer);
}

/* Ends the process if the library is of another version. */
static void gbx_launch_check_version(char **argv, int argc, int index, int count)
{
    if (argc == count && number_of(argv[index]) == GBX_WIRE_VERSION)
        return;
    (void)fprintf(stderr,
                  "glovebox-worker: this is version " GBX_VERSION
                  " (protocol %u), the library speaks protocol %s: install both of "
                  "one version\n",
                  GBX_WIRE_VERSION, argc > index ? argv[index] : "?");
    _exit(3);
}

/* In the process that becomes a template: executed by the host, or a fork of the
 * zygote, which has no arguments. */
static void gbx_launch_fork(uint32_t layers_off, bool is_grouped, const char *uids,
                            gbx_launch *ret)
{
    *ret = (gbx_launch){.layers_off = layers_off,
                        .made = is_grouped ? GBX_LAYER_BIT(GBX_LAYER_CGROUP) : 0,
                        .identity.hosts_uid = geteuid()};
    uid_t *wanted = ret->identity.wanted;
    char *at = NULL;
    long pid = 0;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* The last element stays 0. */
    for (size_t i = 0; i + 1 < GBX_COUNTOF(ret->identity.wanted) && *uids != 0; i++) {
        wanted[i] = (uid_t)strtoul(uids, &at, 10);
        uids = *at == ',' ? at + 1 : at;
    }
    make_namespaces(ret);
    /* The raw call: makes a child of the host, which identifies it by its process
     * group. */
    if (ret->made & GBX_LAYER_BIT(GBX_LAYER_PID_NS))
        pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid < 0)
        end("fork the template");
    if (pid > 0)
        _exit(0);
    gbx_pagemap_open();
    /* Become the mapped root of the user namespace. After a change of ids only root can
     * trace the process. */
    if (ret->identity.uid != 0 && (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0 ||
                                   prctl(PR_SET_DUMPABLE, 0) < 0))
        end("take the identity of a user of its own");
    /* A fork and a change of ids clear it. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* argv comes from the host (wire/wire.h). Returns in the template. A failure is
 * printed on the error output and ends the process. */
static void gbx_launch_template(char **argv, int argc, gbx_launch *ret)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    gbx_launch_check_version(argv, argc, GBX_START_VERSION, GBX_START_ARGS);
    (void)gbx_realm_engine(); /* another user may not read its files */
    gbx_launch_fork(number_of(argv[GBX_START_LAYERS_OFF]),
                    strcmp(argv[GBX_START_IS_GROUPED], "1") == 0, argv[GBX_START_UIDS],
                    ret);
}

/* ---- the zygote ------------------------------------------------------------ */

/*
 * The zygote forks each template as a child of the host (CLONE_PARENT), so that the host
 * reaps and kills it like an executed one. The kernel allows that because this
 * process stays in the host's pid namespace.
 */

/* Descriptors of a request: control socket, error output, directory of a control
 * group. */
enum { FD_CONTROL, FD_SAID, FD_CGROUP, FDS_MAX };

typedef struct request {
    gbx_zygote_request text;
    int fds[FDS_MAX]; /* -1: none */
} request;

static bool receive(int control, request *ret)
{
    ssize_t n =
        gbx_fd_receive(control, &ret->text, sizeof ret->text, ret->fds, FDS_MAX, 0);

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

/* In the fork: take the state that an executed program begins with. The files that the
 * engine has opened stay open. */
static _Noreturn void be_template(const gbx_prepared *prepared, request *r,
                                  bool is_grouped)
{
    gbx_launch launch;

    if (syscall(SYS_setpgid, 0, 0) < 0 || dup3(r->fds[FD_SAID], 2, 0) < 0 ||
        dup3(r->fds[FD_CONTROL], GBX_CONTROL_FD, O_CLOEXEC) < 0)
        _exit(3);
    close_request(r);
    (void)prctl(PR_SET_NAME, r->text.is_spare ? "glovebox-spare" : "glovebox-worker");
    gbx_launch_fork(r->text.layers_off, is_grouped, r->text.uids, &launch);
    launch.is_spare = r->text.is_spare != 0;
    _exit(gbx_template_serve(&launch, prepared));
}

/* The raw call: one thread, outside the C library's locks. The fork starts in its group
 * or fails; an executed program may enter its group in another way. */
static void serve_request(int control, const gbx_prepared *prepared, request *r)
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

/* argv comes from the host (wire/wire.h). Returns the exit status of the process: of the
 * zygote when its socket closes, of a template in a fork. */
static int gbx_zygote_serve(char **argv, int argc)
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
    (void)gbx_realm_engine(); /* the same in all forks */
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
                            strtoul(argv[GBX_ZYGOTE_HUGE_PAGES], NULL, 10),
                            &prepared.pages);
    gbx_freeze_end();
    if (!answer(control, &ready, -1))
        return 0;
    while (receive(control, &r)) {
        serve_request(control, &prepared, &r);
        close_request(&r);
    }
    return 0;
}

/* ---- the program ----------------------------------------------------------- */

/*
 * The untrusted program. The library starts it with one socket and an environment that
 * it builds; started by hand the program only prints what it is.
 */
int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "--serve") == 0) {
        gbx_launch launch;

        gbx_stack_clear();
        gbx_launch_template(argv, argc, &launch);
        _exit(gbx_template_serve(&launch, NULL)); /* worker/worker.h explains _exit() */
    }
    if (argc >= 2 && strcmp(argv[1], "--sqlite") == 0) {
        gbx_launch launch;

        gbx_launch_template(argv, argc, &launch);
        _exit(gbx_sqlite_serve(&launch));
    }
    if (argc >= 2 && strcmp(argv[1], "--zygote") == 0) {
        gbx_stack_clear();
        _exit(gbx_zygote_serve(argv, argc));
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        (void)printf("glovebox-worker " GBX_VERSION "\n");
        return 0;
    }
    (void)fprintf(stderr, "glovebox-worker: started by libglovebox, not by hand; "
                          "see glovebox(1)\n");
    return 64;
}

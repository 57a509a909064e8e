/* SPDX-License-Identifier: MIT */
/*
 * hostile-worker - started in place of glovebox-worker, it speaks the protocol, runs no
 * JavaScript and misbehaves as it is told: before a call by its plan (hostile_plan.h),
 * in a call by the call's code (hostile_script.h).
 *
 * It seals nothing: what is tested with it is the host. "--fds" counts the descriptors
 * it was started with beside 0 to 2; "--exit N" exits.
 */
#include "hostile_plan.h"
#include "hostile_script.h"
#include "seal/seal.h"
#include "wire/messages.h"
#include "wire/wire.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONTROL      3
#define CHILDREN_MAX 2048

typedef struct child {
    pid_t pid;
    uint64_t worker_id;
} child;

static child children[CHILDREN_MAX];
static size_t child_count;

static void put_all(const void *data, size_t len)
{
    const uint8_t *at = data;

    while (len > 0) {
        ssize_t n = send(CONTROL, at, len, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(0);
        at += n;
        len -= (size_t)n;
    }
}

static void put_buf(gbx_buf *buf)
{
    put_all(buf->data, buf->len);
    gbx_buf_cleanup(buf);
}

/* With as many descriptors as are given. */
static void put_fds(gbx_buf *buf, const int *fds, size_t count)
{
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int) * 8)];
    } control = {0};
    struct iovec iov = {.iov_base = buf->data, .iov_len = buf->len};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

    if (count > 0) {
        struct cmsghdr *c;

        msg.msg_control = &control;
        msg.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(c), fds, sizeof(int) * count);
    }
    (void)sendmsg(CONTROL, &msg, MSG_NOSIGNAL);
    gbx_buf_cleanup(buf);
}

/* One whole frame of the host; a descriptor that came with it is closed. */
static bool get_frame(gbx_header *header, uint8_t *body, size_t size)
{
    uint8_t head[GBX_FRAME_HEADER_SIZE];
    size_t have = 0;

    while (have < sizeof head) {
        ssize_t n = read(CONTROL, head + have, sizeof head - have);

        if (n <= 0)
            return false;
        have += (size_t)n;
    }
    if (!gbx_header_decode(head, header) || header->body_len > size)
        return false;
    for (have = 0; have < header->body_len;) {
        ssize_t n = read(CONTROL, body + have, header->body_len - have);

        if (n <= 0)
            return false;
        have += (size_t)n;
    }
    return true;
}

/* ---- what the template says ---------------------------------------------- */

static void say_hello(void)
{
    gbx_msg_hello hello = {
        .version = (uint32_t)hostile_plan_number("hello-version", GBX_WIRE_VERSION),
        .threads = 1,
        .oom_known = 1,
        .engine = gbx_span_of("hostile"),
        .layer_count = GBX_LAYER_COUNT,
    };
    gbx_buf buf;

    for (uint8_t i = 0; i < GBX_LAYER_COUNT; i++) {
        hello.layers[i] = (gbx_layer_report){.layer = i, .stands = 1};
        if (i == hostile_plan_number("missing-layer", GBX_LAYER_COUNT)) {
            hello.layers[i].stands = 0;
            hello.layers[i].reason = gbx_span_of("the kernel \x1b[31mlacks\nit");
        }
    }
    if (hostile_plan_has("hello-fails"))
        hello.failure = gbx_span_of("no \x1b]52;c;\x07 engine\n\xff");
    if (hostile_plan_has("hello-engine"))
        hello.engine = gbx_span_of("\x1b[2J\xff\xfe");
    if (hostile_plan_has("hello-layers"))
        hello.layer_count = (uint32_t)hostile_plan_number("hello-layers", 0);
    gbx_buf_init(&buf, GBX_KIB(64));
    (void)gbx_msg_put(&buf, 0, &hello);
    if (hostile_plan_has("hello-garbage"))
        memset(buf.data, 0xa5, buf.len);
    if (hostile_plan_has("hello-length"))
        memset(buf.data, 0xff, 4);
    if (hostile_plan_has("hello-reserved"))
        buf.data[6] = 1;
    if (hostile_plan_has("hello-type"))
        buf.data[4] = (uint8_t)hostile_plan_number("hello-type", 0);
    if (hostile_plan_has("hello-short"))
        buf.data[0]--;
    if (hostile_plan_has("hello-drip"))
        for (; buf.len > 0; gbx_buf_consume(&buf, 1))
            put_all(buf.data, 1);
    if (hostile_plan_has("hello-half"))
        buf.len /= 2;
    put_all(buf.data, buf.len);
    if (hostile_plan_has("hello-half"))
        _exit(0);
    if (hostile_plan_has("hello-twice"))
        put_all(buf.data, buf.len);
    gbx_buf_cleanup(&buf);
}

static void say_exited(uint64_t worker_id, int status, const struct rusage *usage)
{
    gbx_msg_exited exited = {
        .worker_id = worker_id,
        .status = (uint32_t)hostile_plan_number("exited-status", (uint64_t)status),
        .cpu_us =
            (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000u +
            (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec),
        .max_rss_kib = (uint64_t)usage->ru_maxrss,
    };
    gbx_buf buf;

    if (hostile_plan_has("exited-lies"))
        exited.cpu_us = exited.max_rss_kib = UINT64_MAX;
    gbx_buf_init(&buf, 256);
    (void)gbx_msg_put(&buf, 0, &exited);
    if (hostile_plan_has("exited-twice"))
        put_all(buf.data, buf.len);
    put_buf(&buf);
}

static void say_empty(gbx_msg_type type)
{
    gbx_buf buf;

    gbx_buf_init(&buf, 64);
    (void)gbx_msg_write(&buf, type, 0, NULL);
    put_buf(&buf);
}

/* Unasked messages right after HELLO. */
static void say_more(void)
{
    static const struct rusage none;

    if (hostile_plan_has("say"))
        say_empty((gbx_msg_type)hostile_plan_number("say", 0));
    for (uint64_t i = hostile_plan_number("exited-unknown", 0); i > 0; i--)
        say_exited(UINT64_MAX - i, 0, &none);
    if (hostile_plan_has("fds-unasked")) {
        const int fds[] = {CONTROL, CONTROL};
        gbx_msg_exited exited = {.worker_id = UINT64_MAX};
        gbx_buf buf;

        for (int i = 0; i < 20; i++) {
            gbx_buf_init(&buf, 64);
            (void)gbx_msg_put(&buf, 0, &exited);
            put_fds(&buf, fds, 2);
        }
    }
}

/* ---- workers ------------------------------------------------------------- */

static _Noreturn void be_worker(int channel, uint64_t worker_id)
{
    sigset_t none;
    gbx_buf buf;

    (void)close(CONTROL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    hostile_plan_step("start", worker_id);
    gbx_buf_init(&buf, 64);
    (void)gbx_msg_write(&buf, GBX_MSG_READY, hostile_plan_number("ready-id", 0), NULL);
    if (hostile_plan_has("ready-type"))
        buf.data[4] = (uint8_t)hostile_plan_number("ready-type", 0);
    if (hostile_plan_has("ready-reserved"))
        buf.data[5] = 1;
    if (hostile_plan_has("ready-half") &&
        worker_id <= hostile_plan_number("first", UINT64_MAX))
        buf.len /= 2;
    if (!hostile_plan_has("ready-never") ||
        worker_id > hostile_plan_number("first", UINT64_MAX))
        (void)send(channel, buf.data, buf.len, MSG_NOSIGNAL);
    if (hostile_plan_has("ready-twice"))
        (void)send(channel, buf.data, buf.len, MSG_NOSIGNAL);
    hostile_plan_step("ready", worker_id);
    hostile_script_serve(channel, worker_id);
}

static void say_forked(uint64_t worker_id, int host_end, int pidfd)
{
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    int fds[8] = {host_end, pidfd, null_fd, null_fd, null_fd, null_fd};
    int own = (int)syscall(SYS_pidfd_open, getpid(), 0);
    size_t count = hostile_plan_number("forked-fds", 2);
    gbx_msg_forked msg = {.worker_id = worker_id};
    gbx_buf buf;

    if (hostile_plan_has("forked-unknown"))
        msg.worker_id += 1000000;
    if (hostile_plan_has("forked-null"))
        fds[0] = fds[1] = null_fd;
    if (hostile_plan_has("forked-no-pidfd"))
        fds[1] = null_fd;
    if (hostile_plan_has("forked-own"))
        fds[1] = own;
    if (hostile_plan_has("forked-swapped")) {
        fds[0] = pidfd;
        fds[1] = host_end;
    }
    for (int i = hostile_plan_has("forked-twice") ? 2 : 1; i > 0; i--) {
        gbx_buf_init(&buf, 64);
        (void)gbx_msg_put(&buf, 0, &msg);
        put_fds(&buf, fds, count);
    }
    if (null_fd >= 0)
        (void)close(null_fd);
    if (own >= 0)
        (void)close(own);
}

static void say_fork_failed(uint64_t worker_id)
{
    gbx_msg_forked msg = {.worker_id = worker_id, .error = EAGAIN};
    gbx_buf buf;

    gbx_buf_init(&buf, 64);
    (void)gbx_msg_put(&buf, 0, &msg);
    put_buf(&buf);
}

static void fork_worker(uint64_t worker_id)
{
    static const struct rusage none;
    int pair[2];
    pid_t pid;
    int pidfd;

    hostile_plan_step("fork", worker_id);
    if (worker_id <= hostile_plan_number("fail-first", 0) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
        child_count == CHILDREN_MAX) {
        say_fork_failed(worker_id);
        return;
    }
    pid = fork();
    if (pid == 0) {
        (void)close(pair[0]);
        be_worker(pair[1], worker_id);
    }
    (void)close(pair[1]);
    if (pid < 0) {
        (void)close(pair[0]);
        say_fork_failed(worker_id);
        return;
    }
    children[child_count++] = (child){pid, worker_id};
    pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    hostile_plan_step("forked", worker_id);
    if (hostile_plan_has("exited-early"))
        say_exited(worker_id, 0, &none);
    say_forked(worker_id, pair[0], pidfd);
    if (hostile_plan_has("exited-alive"))
        say_exited(worker_id, 0, &none);
    hostile_plan_step("sent", worker_id);
    (void)close(pair[0]);
    (void)close(pidfd);
}

static void reap(int signals)
{
    struct signalfd_siginfo info;
    struct rusage usage;
    int status;
    pid_t pid;

    (void)!read(signals, &info, sizeof info);
    while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0)
        for (size_t i = 0; i < child_count; i++)
            if (children[i].pid == pid) {
                uint64_t id = children[i].worker_id;

                children[i] = children[--child_count];
                if (!hostile_plan_has("exited-never"))
                    say_exited(id, status, &usage);
                break;
            }
}

/* Larger than the directive says, if it is there at all. */
static bool is_too_large(const char *directive, gbx_span body)
{
    gbx_msg_load msg;

    return hostile_plan_has(directive) && gbx_msg_get(body, &msg) &&
           msg.size > hostile_plan_number(directive, 0);
}

static void load(gbx_span body)
{
    bool fails = is_too_large("load-fails", body);
    gbx_msg_loaded loaded = {.ok = !fails,
                             .message =
                                 gbx_span_of(fails ? "it does \x1b[7mnot\n fit" : "")};
    gbx_buf buf;

    if (is_too_large("load-exits", body))
        _exit(0);
    if (is_too_large("load-hangs", body))
        hostile_act("hang");

    hostile_plan_step("load", 0);
    gbx_buf_init(&buf, 256);
    (void)gbx_msg_put(&buf, 0, &loaded);
    put_buf(&buf);
}

static int serve(void)
{
    struct pollfd fds[2] = {{.fd = CONTROL, .events = POLLIN}, {.events = POLLIN}};
    uint8_t body[GBX_KIB(4)];
    gbx_header header;
    sigset_t set;

    if (hostile_plan_has("begin-forked") && /* as a template is, a child of the host */
        syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL) == 0) {
        (void)close(CONTROL);
        for (;;)
            (void)pause();
    }
    hostile_plan_step("begin", 0);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    (void)sigprocmask(SIG_SETMASK, &set, NULL);
    fds[1].fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (!get_frame(&header, body, sizeof body) || header.type != GBX_MSG_CONFIG)
        return 3;
    hostile_plan_step("config", 0);
    if (hostile_plan_has("hello-stranger")) { /* it is of no group of the host's */
        if (fork() != 0)
            (void)pause();
        (void)setsid();
    }
    say_hello();
    hostile_plan_step("hello", 0);
    say_more();
    while (poll(fds, 2, -1) > 0 || errno == EINTR) {
        gbx_msg_fork fork;

        if (fds[1].revents != 0)
            reap(fds[1].fd);
        if (fds[0].revents == 0)
            continue;
        if (!get_frame(&header, body, sizeof body))
            return 0;
        if (header.type == GBX_MSG_LOAD || header.type == GBX_MSG_EXPOSE)
            load((gbx_span){body, header.body_len});
        else if (gbx_msg_get(((gbx_span){body, header.body_len}), &fork))
            fork_worker(fork.worker_id);
    }
    return 0;
}

static int count_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;

    if (dir == NULL)
        return 100;
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        count +=
            e->d_name[0] != '.' && atoi(e->d_name) > 2 && atoi(e->d_name) != dirfd(dir);
    (void)closedir(dir);
    return count;
}

/* In place of the reader of a database: answers what the database holds. */
static int answer_file(void)
{
    char data[4096];
    ssize_t n = read(CONTROL, data, sizeof data); /* or closing it would be an error */

    n = n > 0 ? read(GBX_SQLITE_DATABASE_FD, data, sizeof data) : -1;

    return n >= 0 && write(CONTROL, data, (size_t)n) == n ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--sqlite") == 0)
        return answer_file();
    if (argc > 1 && strcmp(argv[1], "--serve") == 0) {
        hostile_plan_read();
        return serve();
    }
    if (argc == 2 && strcmp(argv[1], "--fds") == 0)
        return count_fds();
    return argc == 3 ? atoi(argv[2]) : 64;
}

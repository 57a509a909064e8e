/* SPDX-License-Identifier: MIT */
/* attack_network - attacks with sockets and with descriptors. */
#include "worker/worker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Nothing listens there: an answer still shows that it was reached. */
#define DISCARD_PORT 9

#define FDS_TRIED 1024

/* Connected, or refused by the other side: both show that it was reached. */
static gbx_attack_verdict reach(long result)
{
    return result < 0 && errno == ECONNREFUSED ? GBX_BREACH : gbx_attack_done(result);
}

static struct sockaddr_in loopback(void)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons(DISCARD_PORT),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* ---- network --------------------------------------------------------------------- */

static gbx_attack_verdict connect_inet(gbx_attack *a)
{
    struct sockaddr_in to = loopback();
    long fd = TRY(socket, AF_INET, SOCK_STREAM, 0);

    return fd < 0 ? gbx_attack_done(fd) : reach(TRY(connect, fd, P(&to), sizeof to));
}

static gbx_attack_verdict connect_inet6(gbx_attack *a)
{
    struct sockaddr_in6 to = {.sin6_family = AF_INET6,
                              .sin6_port = htons(DISCARD_PORT),
                              .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    long fd = TRY(socket, AF_INET6, SOCK_STREAM, 0);

    return fd < 0 ? gbx_attack_done(fd) : reach(TRY(connect, fd, P(&to), sizeof to));
}

static gbx_attack_verdict send_udp(gbx_attack *a)
{
    struct sockaddr_in to = loopback();
    long fd = TRY(socket, AF_INET, SOCK_DGRAM, 0);

    return fd < 0 ? gbx_attack_done(fd)
                  : gbx_attack_done(TRY(sendto, fd, P(""), 0, 0, P(&to), sizeof to));
}

/* A listener that cannot be reached even from here does not count. */
static gbx_attack_verdict listen_inet(gbx_attack *a)
{
    struct sockaddr_in at = loopback();
    socklen_t len = sizeof at;
    long fd = TRY(socket, AF_INET, SOCK_STREAM, 0);
    long other;

    at.sin_port = 0;
    at.sin_addr.s_addr = htonl(INADDR_ANY);
    if (fd < 0 || TRY(bind, fd, P(&at), sizeof at) < 0 || TRY(listen, fd, 1) < 0 ||
        TRY(getsockname, fd, P(&at), P(&len)) < 0)
        return gbx_attack_done(-1);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    other = TRY(socket, AF_INET, SOCK_STREAM, 0);
    return gbx_attack_done(other < 0 ? other : TRY(connect, other, P(&at), sizeof at));
}

static gbx_attack_verdict connect_abstract(gbx_attack *a)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t len = strlen(GBX_ATTACK_VICTIM_NAME);
    long fd = TRY(socket, AF_UNIX, SOCK_STREAM, 0);

    memcpy(to.sun_path + 1, GBX_ATTACK_VICTIM_NAME, len);
    if (fd < 0)
        return gbx_attack_done(fd);
    /* A refusal here means that the name is unknown. */
    return gbx_attack_done(
        TRY(connect, fd, P(&to),
            (long)(offsetof(struct sockaddr_un, sun_path) + 1 + len)));
}

/* Any interface besides the loopback, which every namespace has. */
static gbx_attack_verdict list_interfaces(gbx_attack *a)
{
    struct {
        struct nlmsghdr header;
        struct ifinfomsg info;
    } request = {.header = {.nlmsg_len = sizeof request,
                            .nlmsg_type = RTM_GETLINK,
                            .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}};
    _Alignas(struct nlmsghdr) char answer[16384];
    long fd = TRY(socket, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
    long len;
    size_t links = 0;

    if (fd < 0 || TRY(sendto, fd, P(&request), sizeof request, 0, 0, 0) < 0)
        return gbx_attack_done(-1);
    len = TRY(recvfrom, fd, P(answer), sizeof answer, 0, 0, 0);
    for (struct nlmsghdr *h = (void *)answer; len > 0 && NLMSG_OK(h, len);
         h = NLMSG_NEXT(h, len))
        links += h->nlmsg_type == RTM_NEWLINK;
    (void)snprintf(a->note, sizeof a->note, "%zu interfaces", links);
    return links > 1 ? GBX_BREACH : GBX_REFUSED;
}

/* ---- descriptors ----------------------------------------------------------------- */

/* All but the channel, with zero bytes: an open one returns anything but EBADF. */
static gbx_attack_verdict try_all(gbx_attack *a, long number, const char *name)
{
    char byte;

    for (long fd = 0; fd < FDS_TRIED; fd++) {
        const long args[6] = {fd, P(&byte), 0};
        long result = fd == GBX_CHANNEL_FD ? -1 : gbx_try(a, name, number, args);

        if (fd != GBX_CHANNEL_FD && (result >= 0 || errno != EBADF)) {
            (void)snprintf(a->note, sizeof a->note, "%s: descriptor %ld is open", name,
                           fd);
            return GBX_BREACH;
        }
    }
    return GBX_REFUSED;
}

static gbx_attack_verdict send_control(gbx_attack *a, int type, const void *data,
                                       size_t len)
{
    char newline = '\n';
    struct iovec iov = {.iov_base = &newline, .iov_len = 1};
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(struct ucred))];
    } control = {0};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = CMSG_SPACE(len)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = type;
    c->cmsg_len = CMSG_LEN(len);
    memcpy(CMSG_DATA(c), data, len);
    return gbx_attack_done(TRY(sendmsg, GBX_CHANNEL_FD, P(&msg), MSG_NOSIGNAL));
}

static gbx_attack_verdict send_rights(gbx_attack *a)
{
    int fd = GBX_CHANNEL_FD;

    return send_control(a, SCM_RIGHTS, &fd, sizeof fd);
}

static gbx_attack_verdict send_credentials(gbx_attack *a)
{
    struct ucred us = {.pid = (pid_t)syscall(SYS_getpid),
                       .uid = (uid_t)syscall(SYS_getuid),
                       .gid = (gid_t)syscall(SYS_getgid)};

    return send_control(a, SCM_CREDENTIALS, &us, sizeof us);
}

static gbx_attack_verdict own_descriptor(gbx_attack *a)
{
    if (TRY(fcntl, GBX_CHANNEL_FD, F_SETOWN, syscall(SYS_getppid)) < 0)
        return gbx_attack_done(-1);
    return gbx_attack_done(TRY(fcntl, GBX_CHANNEL_FD, F_SETSIG, 0));
}

/* A terminal that was left open treats our input as its user's. */
static gbx_attack_verdict push_input(gbx_attack *a)
{
    char byte = 0;

    for (int fd = 0; fd < GBX_CHANNEL_FD; fd++)
        if (TRY(ioctl, fd, TIOCSTI, P(&byte)) == 0)
            return GBX_BREACH;
    return errno == ENOTTY ? GBX_ABSENT : GBX_REFUSED;
}

static gbx_attack_verdict splice_pages(gbx_attack *a)
{
    struct iovec iov = {.iov_base = a, .iov_len = 1};
    int ends[2];

    if (TRY(pipe2, P(ends), 0) < 0)
        return gbx_attack_done(-1);
    return gbx_attack_done(TRY(vmsplice, ends[1], P(&iov), 1, 0));
}

static gbx_attack_verdict event_descriptors(gbx_attack *a)
{
    unsigned long mask = 1;

    if (TRY(eventfd2, 0, 0) >= 0 || TRY(epoll_create1, 0) >= 0 ||
        TRY(timerfd_create, CLOCK_MONOTONIC, 0) >= 0 ||
        TRY(signalfd4, -1, P(&mask), sizeof mask, 0) >= 0)
        return GBX_BREACH;
    return gbx_attack_done(-1);
}

GBX_ATTACK_LINES(gbx_attack_network, GBX_ATTACKS_ON_NETWORK)

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

#define CHANNEL   3
#define FDS_TRIED 1024

/* Connected, or refused by the other side: both show that it was reached. */
static gbx_attack_verdict reach(long result)
{
    return result < 0 && errno == ECONNREFUSED ? GBX_BREACH
                                               : gbx_attack_verdict_of(result);
}

static struct sockaddr_in loopback(void)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons(DISCARD_PORT),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* ---- network --------------------------------------------------------------------- */

gbx_attack_verdict gbx_attack_connect_inet(gbx_attack *a)
{
    struct sockaddr_in to = loopback();
    long fd = GBX_TRY(a, socket, AF_INET, SOCK_STREAM, 0);

    return fd < 0 ? gbx_attack_verdict_of(fd)
                  : reach(GBX_TRY(a, connect, fd, GBX_P(&to), sizeof to));
}

gbx_attack_verdict gbx_attack_connect_inet6(gbx_attack *a)
{
    struct sockaddr_in6 to = {.sin6_family = AF_INET6,
                              .sin6_port = htons(DISCARD_PORT),
                              .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    long fd = GBX_TRY(a, socket, AF_INET6, SOCK_STREAM, 0);

    return fd < 0 ? gbx_attack_verdict_of(fd)
                  : reach(GBX_TRY(a, connect, fd, GBX_P(&to), sizeof to));
}

gbx_attack_verdict gbx_attack_send_udp(gbx_attack *a)
{
    struct sockaddr_in to = loopback();
    long fd = GBX_TRY(a, socket, AF_INET, SOCK_DGRAM, 0);

    return fd < 0 ? gbx_attack_verdict_of(fd)
                  : gbx_attack_verdict_of(
                        GBX_TRY(a, sendto, fd, GBX_P(""), 0, 0, GBX_P(&to), sizeof to));
}

/* A listener that cannot be reached even from here does not count. */
gbx_attack_verdict gbx_attack_listen_inet(gbx_attack *a)
{
    struct sockaddr_in at = loopback();
    socklen_t len = sizeof at;
    long fd = GBX_TRY(a, socket, AF_INET, SOCK_STREAM, 0);
    long other;

    at.sin_port = 0;
    at.sin_addr.s_addr = htonl(INADDR_ANY);
    if (fd < 0 || GBX_TRY(a, bind, fd, GBX_P(&at), sizeof at) < 0 ||
        GBX_TRY(a, listen, fd, 1) < 0 ||
        GBX_TRY(a, getsockname, fd, GBX_P(&at), GBX_P(&len)) < 0)
        return gbx_attack_verdict_of(-1);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    other = GBX_TRY(a, socket, AF_INET, SOCK_STREAM, 0);
    return gbx_attack_verdict_of(
        other < 0 ? other : GBX_TRY(a, connect, other, GBX_P(&at), sizeof at));
}

gbx_attack_verdict gbx_attack_connect_abstract(gbx_attack *a)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t len = strlen(GBX_ATTACK_VICTIM_NAME);
    long fd = GBX_TRY(a, socket, AF_UNIX, SOCK_STREAM, 0);

    memcpy(to.sun_path + 1, GBX_ATTACK_VICTIM_NAME, len);
    if (fd < 0)
        return gbx_attack_verdict_of(fd);
    /* A refusal here means that the name is unknown. */
    return gbx_attack_verdict_of(
        GBX_TRY(a, connect, fd, GBX_P(&to),
                (long)(offsetof(struct sockaddr_un, sun_path) + 1 + len)));
}

/* Any interface besides the loopback, which every namespace has. */
gbx_attack_verdict gbx_attack_list_interfaces(gbx_attack *a)
{
    struct {
        struct nlmsghdr header;
        struct ifinfomsg info;
    } request = {.header = {.nlmsg_len = sizeof request,
                            .nlmsg_type = RTM_GETLINK,
                            .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}};
    _Alignas(struct nlmsghdr) char answer[16384];
    long fd = GBX_TRY(a, socket, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
    long len;
    size_t links = 0;

    if (fd < 0 || GBX_TRY(a, sendto, fd, GBX_P(&request), sizeof request, 0, 0, 0) < 0)
        return gbx_attack_verdict_of(-1);
    len = GBX_TRY(a, recvfrom, fd, GBX_P(answer), sizeof answer, 0, 0, 0);
    for (struct nlmsghdr *h = (void *)answer; len > 0 && NLMSG_OK(h, len);
         h = NLMSG_NEXT(h, len))
        links += h->nlmsg_type == RTM_NEWLINK;
    (void)snprintf(a->note, sizeof a->note, "%zu interfaces", links);
    return links > 1 ? GBX_BREACH : GBX_REFUSED;
}

gbx_attack_verdict gbx_attack_packet_socket(gbx_attack *a)
{
    return gbx_attack_verdict_of(GBX_TRY(a, socket, AF_PACKET, SOCK_RAW, 0));
}

gbx_attack_verdict gbx_attack_raw_socket(gbx_attack *a)
{
    return gbx_attack_verdict_of(GBX_TRY(a, socket, AF_INET, SOCK_RAW, IPPROTO_ICMP));
}

gbx_attack_verdict gbx_attack_vsock_socket(gbx_attack *a)
{
    return gbx_attack_verdict_of(GBX_TRY(a, socket, AF_VSOCK, SOCK_STREAM, 0));
}

gbx_attack_verdict gbx_attack_alg_socket(gbx_attack *a)
{
    return gbx_attack_verdict_of(GBX_TRY(a, socket, AF_ALG, SOCK_SEQPACKET, 0));
}

gbx_attack_verdict gbx_attack_unix_socket(gbx_attack *a)
{
    return gbx_attack_verdict_of(GBX_TRY(a, socket, AF_UNIX, SOCK_DGRAM, 0));
}

gbx_attack_verdict gbx_attack_socket_pair(gbx_attack *a)
{
    int pair[2];

    return gbx_attack_verdict_of(
        GBX_TRY(a, socketpair, AF_UNIX, SOCK_STREAM, 0, GBX_P(pair)));
}

/* ---- descriptors ----------------------------------------------------------------- */

/* All but the channel, with zero bytes: an open one returns anything but EBADF. */
static gbx_attack_verdict try_all(gbx_attack *a, long number, const char *name)
{
    char byte;

    for (long fd = 0; fd < FDS_TRIED; fd++) {
        const long args[6] = {fd, GBX_P(&byte), 0};
        long result = fd == CHANNEL ? -1 : gbx_try(a, name, number, args);

        if (fd != CHANNEL && (result >= 0 || errno != EBADF)) {
            (void)snprintf(a->note, sizeof a->note, "%s: descriptor %ld is open", name,
                           fd);
            return GBX_BREACH;
        }
    }
    return GBX_REFUSED;
}

gbx_attack_verdict gbx_attack_write_descriptors(gbx_attack *a)
{
    return try_all(a, SYS_write, "write");
}

gbx_attack_verdict gbx_attack_read_descriptors(gbx_attack *a)
{
    return try_all(a, SYS_read, "read");
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
    return gbx_attack_verdict_of(
        GBX_TRY(a, sendmsg, CHANNEL, GBX_P(&msg), MSG_NOSIGNAL));
}

gbx_attack_verdict gbx_attack_send_rights(gbx_attack *a)
{
    int fd = CHANNEL;

    return send_control(a, SCM_RIGHTS, &fd, sizeof fd);
}

gbx_attack_verdict gbx_attack_send_credentials(gbx_attack *a)
{
    struct ucred us = {.pid = (pid_t)syscall(SYS_getpid),
                       .uid = (uid_t)syscall(SYS_getuid),
                       .gid = (gid_t)syscall(SYS_getgid)};

    return send_control(a, SCM_CREDENTIALS, &us, sizeof us);
}

gbx_attack_verdict gbx_attack_own_descriptor(gbx_attack *a)
{
    if (GBX_TRY(a, fcntl, CHANNEL, F_SETOWN, syscall(SYS_getppid)) < 0)
        return gbx_attack_verdict_of(-1);
    return gbx_attack_verdict_of(GBX_TRY(a, fcntl, CHANNEL, F_SETSIG, 0));
}

gbx_attack_verdict gbx_attack_duplicate(gbx_attack *a)
{
    return gbx_attack_verdict_of(GBX_TRY(a, dup, CHANNEL));
}

gbx_attack_verdict gbx_attack_duplicate2(gbx_attack *a)
{
    return gbx_attack_verdict_of(GBX_TRY(a, dup3, CHANNEL, 500, 0));
}

/* A terminal that was left open treats our input as its user's. */
gbx_attack_verdict gbx_attack_push_input(gbx_attack *a)
{
    char byte = 0;

    for (int fd = 0; fd < CHANNEL; fd++)
        if (GBX_TRY(a, ioctl, fd, TIOCSTI, GBX_P(&byte)) == 0)
            return GBX_BREACH;
    return errno == ENOTTY ? GBX_ABSENT : GBX_REFUSED;
}

gbx_attack_verdict gbx_attack_splice_pages(gbx_attack *a)
{
    struct iovec iov = {.iov_base = a, .iov_len = 1};
    int ends[2];

    if (GBX_TRY(a, pipe2, GBX_P(ends), 0) < 0)
        return gbx_attack_verdict_of(-1);
    return gbx_attack_verdict_of(GBX_TRY(a, vmsplice, ends[1], GBX_P(&iov), 1, 0));
}

gbx_attack_verdict gbx_attack_event_descriptors(gbx_attack *a)
{
    unsigned long mask = 1;

    if (GBX_TRY(a, eventfd2, 0, 0) >= 0 || GBX_TRY(a, epoll_create1, 0) >= 0 ||
        GBX_TRY(a, timerfd_create, CLOCK_MONOTONIC, 0) >= 0 ||
        GBX_TRY(a, signalfd4, -1, GBX_P(&mask), sizeof mask, 0) >= 0)
        return GBX_BREACH;
    return gbx_attack_verdict_of(-1);
}
